"""Reports: what the page holds, and that it works in a browser."""

import html.parser
import inspect
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff.aot.job import Job, Wanted
from srcdiff.cli import main
from srcdiff.report.view import view

pytest.importorskip("jinja2", reason="reports need Jinja2, which is an extra")
pytest.importorskip("pygments", reason="reports need Pygments, which is an extra")

EXAMPLE = (np.ones((6, 4)), np.ones(6), 5)


def clipped(v):
    return np.maximum(v, 0.0)


def relax(x, b, steps):
    """A few steps of a damped iteration."""
    h = np.zeros(4)
    total = 0.0
    for k in range(steps):
        r = x.T @ np.tanh(x @ h - b)
        h = clipped(h - 0.3 * r)
        total += np.sum(h**2) * (1 if k < 3 else 2)
    return total


def written(u, v):
    u[1:] += v[:-1]
    return np.sum(u * v)


def shifted(u):
    u[1:] += u[:-1]
    return np.sum(u * u)


def pages():
    from srcdiff.report import page

    return page


class Page(html.parser.HTMLParser):
    """The elements of a page that have lines, and whether all elements are closed."""

    EMPTY = ("meta", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.lines, self.data, self.links = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [v for k, v in attrs if k in ("src", "href")]
        if tag not in self.EMPTY:
            side = next((c for t, c in reversed(self.open) if t == "ol"), "")
            self.open.append((tag, found.get("class", "")))
            if "data-line" in found:
                self.lines.append((side, found["data-line"], found))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        key = self.open[-1][0] if self.open else ""
        self.data[key] = self.data.get(key, "") + data


def line_of(text):
    """The key of a line of this file."""
    lines = Path(__file__).read_text().split("\n")
    return f"test_view.py:{next(k for k, line in enumerate(lines, 1) if text in line)}"


def test_page():
    text = pages()(relax, inputs=("x", "b"), example=EXAMPLE)
    page = Page(text)
    assert page.open == [] and page.links == [] and "@import" not in text and "url(" not in text
    sides = {}
    for side, key, attrs in page.lines:
        sides.setdefault(side, set()).add(key)
        assert attrs["tabindex"] == "0"
    assert sides["primal"] <= sides["adjoint"]
    assert {line_of("return np.maximum(v, 0.0)"), line_of("r = x.T @ np.tanh")} <= sides["primal"]
    assert "clipped (test_view.py)" in page.data["h2"] and "relax (test" in page.data["h2"]
    assert re.search(rf"Line {line_of('return np.maximum(v').split(':')[1]}: maximum may", text)
    shown = re.sub(r"<[^>]*>", "", text)
    assert "k &lt; 3" in shown and "d_x += " in shown
    assert re.search(r"h_saved\s*</code>.*return np\.|h_saved</code>.*160 B", text)
    assert "prefers-color-scheme: dark" in text


def test_lines_that_a_derivative_flows_through_are_marked():
    text = pages()(relax, inputs="x", example=EXAMPLE)
    active = {a["data-line"] for _, _, a in Page(text).lines if a.get("class") == "active"}
    assert line_of("r = x.T @ np.tanh") in active and line_of("total = 0.0") not in active


def test_warnings():
    text = pages()(written, inputs=("u", "v"), example=(np.ones(3), np.ones(3)))
    assert "`u` is copied, because the function writes into it." in text
    text = pages()(written, inputs="v")
    assert ">size</th>" not in text  # of which nothing is known


def branched(x, k, z):
    n = max(len(x), 3)
    y = x * 2.0
    if x[0] > 1.0 and n > 2:
        y = np.where(x > k, x, 0.0)
    s = np.floor(x)
    return np.sum(y) * abs(k) + np.sum(s)


def shown(f, inputs=0, example=None, symbols=False, **options):
    """The view of a derivative; with `symbols` for an example of which the lengths are not used."""
    job = Job(f, Wanted.of({"inputs": inputs, "example": example, **options}))
    return view(job.made, job.kinds, None if example is None or symbols else job.arguments)


def number(text):
    """The line of this file that has a text."""
    return line_of(text).partition(":")[2]


def test_warnings_are_of_what_a_derivative_flows_through():
    found = shown(branched, ("x", "z"), (np.ones(3), 2.0, 1.0), allow_unused=True).warnings
    assert found == (
        "`z` has no influence on the output.",
        f"Line {number('if x[0] > 1.0')}: the branch depends on the inputs: "
        "the derivative is that of what is chosen.",
        f"Line {number('y = np.where(x > k')}: where depends on the inputs: "
        "the derivative is that of what is chosen.",
        f"Line {number('s = np.floor(x)')}: floor has steps, and between them no slope.",
    )
    found = shown(branched, "k", (np.ones(3), 2.0, 1.0)).warnings
    assert f"Line {number('return np.sum(y) * abs(k)')}: abs may have a kink" in "\n".join(found)
    assert not any(f"Line {number('n = max(len(x)')}:" in w for w in found)
    found = shown(written, ("u", "v"), (np.ones(3), np.ones(3))).warnings
    assert found[0] == "`u` is copied, because the function writes into it."
    assert len(found) == 1
    found = shown(shifted, "u", (np.ones(3),)).warnings
    assert f"Line {number('u[1:] += u[:-1]')}: backwards a part of an adjoint is copied" in found[1]


def by_methods(x):
    top = x.max()
    return top * np.sum(x.round() * x)


def test_warnings_are_of_methods_as_well():
    found = shown(by_methods, "x", (np.arange(3.0),)).warnings
    assert found == (
        f"Line {number('top = x.max()')}: max may have a kink, where the slope jumps.",
        f"Line {number('return top')}: round has steps, and between them no slope.",
    )


def product(a, b):
    c = a @ b
    return np.sum(np.exp(c))


def swept(u, n):
    total = 0.0
    for _ in range(n):
        for i in range(1, len(u) - 1):
            total += u[i] * u[i + 1]
    return total


def test_operations():
    """Counted by hand: a product of 5x4 and 4x6 is 2 * 5 * 4 * 6."""
    example = np.ones((5, 4)), np.ones((4, 6))
    work = {w.code.partition(": ")[2]: w for w in shown(product, ("a", "b"), example).work}
    assert work["c = a @ b"].forward == "240" and work["c = a @ b"].backward == "480"
    # The exponentials are needed there alone.
    assert work["return np.sum(np.exp(c))"].backward == "60"
    work = {w.code.partition(": ")[2]: w for w in shown(product, ("a", "b"), example, True).work}
    assert work["c = a @ b"].forward == "2·a₀·a₁·b₁"
    assert work["c = a @ b"].backward == "4·a₀·a₁·b₁"
    work = {w.code.partition(": ")[2]: w for w in shown(product).work}
    assert work["c = a @ b"].forward == "2·n³"
    work = {w.code.partition(": ")[2]: w for w in shown(swept, 0, (np.ones(7), 3)).work}
    assert work["total += u[i] * u[i + 1]"].backward == str(3 * 5 * 4)


def test_other_modes():
    forward = shown(relax, "x", EXAMPLE, mode="forward")
    assert forward.what == "Derivative along a direction of" and not forward.saved
    assert all(w.backward == "0" for w in forward.work) and not forward.has_backward
    second = shown(product, "a", (np.ones((2, 3)), np.ones((3, 2))), order=2)
    assert second.primals[0].title == "product_grad (generated)"
    assert any(line.key for line in second.primals[0].lines)
    text = pages()(relax, inputs="x", example=EXAMPLE, mode="forward", order=2)
    assert Page(text).open == [] and "<h2>What is kept" not in text


def test_source_is_text_not_markup():
    def f(x):
        y = "<script>alert(1)</script>"
        return x * len(y)

    assert "<script>alert" not in pages()(f)


def test_notebooks_show_both_sides():
    g = srcdiff.grad(relax, "x")
    assert 'class="srcdiff-report"' in g._repr_html_()
    g(*EXAMPLE)
    shown = Page(g._repr_html_())
    assert shown.open == [] and any(side == "primal" for side, _, _ in shown.lines)

    def refused(x):
        with open(x) as file:
            return file

    assert srcdiff.grad(refused)._repr_html_() is None


def test_what_notebooks_show_keeps_its_indentation_in_any_page():
    """Each line stands in a `<pre>` of its own: exported pages have no style of ours."""
    g = srcdiff.grad(relax, "x")
    g(*EXAMPLE)
    html = g._repr_html_()
    parts = re.findall(r"<pre>(.*?)</pre>", html, re.DOTALL)
    lines = [unescape(re.sub(r"<[^>]*>", "", part)) for part in parts]
    for text in (inspect.getsource(relax), g.source):
        wanted = text.splitlines()
        at = lines.index(wanted[0])
        assert lines[at : at + len(wanted)] == wanted
    assert any(line.startswith("        ") for line in lines)
    assert "without an example" not in html


def test_missing_packages_are_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"needs Jinja2 and Pygments .*pip install 'srcdiff\[rep"):
        pages()(relax)
    assert srcdiff.grad(relax)._repr_html_() is None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m_report.py").write_text("def f(x):\n    return x * x\n")
    assert main(["report", "m_report.py:f"]) == 2
    assert "pip install" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert main(["report", "m_report.py:f", "-o", "p.html"]) == 0
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")


# --- in a browser --------------------------------------------------------------------------------

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROBE = """
<script>
const out = [];
const lit = () => [...document.querySelectorAll(".lit")].map((l) => l.dataset.line);
const first = (side) => document.querySelector(`.${side} [data-line$=":LINE"]`);
const at = first("primal");
at.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
out.push(lit().length > 2 && new Set(lit()).size === 1);
document.querySelector(".srcdiff-report").dispatchEvent(new MouseEvent("mouseleave"));
out.push(lit().length === 0);
at.focus();
if (!document.hasFocus()) at.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
out.push(lit().length > 2 && document.activeElement === at);
const press = (key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
press("Enter");
out.push(document.activeElement.closest("ol").className === "adjoint");
press("ArrowDown");
out.push(document.activeElement.closest("ol").className === "adjoint");
const fill = (e, name) => getComputedStyle(e).getPropertyValue(name);
const shades = [[".srcdiff-report", "color"], ["ol", "background-color"]].map(
  ([of, name]) => fill(document.querySelector(of), name));
const wide = document.documentElement.scrollWidth <= window.innerWidth;
const [left, right] = document.querySelectorAll(".panes > div");
const side = left.getBoundingClientRect().top === right.getBoundingClientRect().top;
document.body.dataset.result = JSON.stringify([...out, wide, side]);
document.body.dataset.shades = shades.join(";");
</script>
"""


def browser_command():
    """The start of a command of a browser; skips where there is none."""
    browser = next((p for name in BROWSERS if (p := shutil.which(name))), None)
    if browser is None:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)}")
    return [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width, beside", [(1300, True), (600, False)])
def test_in_a_browser(width, beside, scheme, tmp_path):
    """Partners light up, keys move the focus, nothing is wider than the window, colours fit."""
    text = pages()(relax, inputs=("x", "b"), example=EXAMPLE)
    probe = PROBE.replace("LINE", line_of("r = x.T @ np.tanh").split(":")[1])
    (tmp_path / "page.html").write_text(text.replace("</body>", probe + "</body>"))
    command = [*browser_command(), f"--user-data-dir={tmp_path}/profile"]
    command += [f"--window-size={width},900"]
    command += [f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"]
    done = subprocess.run(
        [*command, (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    found = re.search(r'data-result="\[([^"]*)\]"', done.stdout)
    assert found, done.stderr
    assert found[1].split(",") == ["true"] * 6 + [str(beside).lower()]
    ink, paper = (
        sum(map(int, re.findall(r"\d+", c)[:3]))
        for c in re.search(r'data-shades="([^"]*)"', done.stdout)[1].split(";")
    )
    assert ink < 200 and paper > 700 if scheme == "light" else ink > 600 and paper < 150
