"""Reports: what the page holds, and that it works in a browser."""

import html.parser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff.cli import main

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
    return f"test_report.py:{next(k for k, line in enumerate(lines, 1) if text in line)}"


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
    assert "clipped (test_report.py)" in page.data["h2"] and "relax (test" in page.data["h2"]
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
    assert "unknown without an example" in text or "Nothing but the arguments" in text


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


def test_graph():
    from srcdiff.report import graph

    text = graph(relax, inputs="x", example=EXAMPLE)
    assert text.startswith('digraph "relax" {') and text.count("{") == text.count("}")
    nodes = dict(re.findall(r'^ *(n\d+) \[label=("(?:[^"\\]|\\.)*")', text, re.M))
    edges = re.findall(r"^ *(n\d+) -> (n\d+);", text, re.M)
    assert edges and all(a in nodes and b in nodes for a, b in edges)
    assert "subgraph cluster_" in text and 'label="for k in range(steps):"' in text
    filled = {n for n in nodes if re.search(rf"\b{n} \[[^\n]*fillcolor", text)}
    named = {label.strip('"'): n for n, label in nodes.items()}
    assert named["x"] in filled and named["steps"] not in filled


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
const wide = document.documentElement.scrollWidth <= window.innerWidth;
const [one, two] = document.querySelectorAll(".panes > div");
const side = one.getBoundingClientRect().top === two.getBoundingClientRect().top;
document.body.dataset.result = JSON.stringify([...out, wide, side]);
</script>
"""


@pytest.mark.parametrize("width, beside", [(1300, True), (600, False)])
def test_in_a_browser(width, beside, tmp_path):
    browser = next((p for name in BROWSERS if (p := shutil.which(name))), None)
    if browser is None:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)}")
    text = pages()(relax, inputs=("x", "b"), example=EXAMPLE)
    probe = PROBE.replace("LINE", line_of("r = x.T @ np.tanh").split(":")[1])
    (tmp_path / "page.html").write_text(text.replace("</body>", probe + "</body>"))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path}/profile", f"--window-size={width},900"]
    done = subprocess.run(
        [*command, (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    found = re.search(r'data-result="\[([^"]*)\]"', done.stdout)
    assert found, done.stderr
    assert found[1].split(",") == ["true"] * 6 + [str(beside).lower()]
