"""Every Python block of README and docs runs, and generated ones show what is generated."""

import functools
import inspect
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from urllib.parse import urlsplit

import numpy as np
import pytest

import srcdiff
from srcdiff.cli.options import parser
from tests import documents
from tests.programs import PROGRAMS
from tests.rules import table as rule_table


@pytest.mark.parametrize("path", documents.DOCUMENTS, ids=lambda p: p.name)
def test_document(path, tmp_path):
    """`make golden` rewrites the generated blocks."""
    text = path.read_text()
    for block, value in documents.run(text, tmp_path):
        assert block.code == value, block.what
    assert documents.tabled(text) == text


PAGES = (*documents.DOCUMENTS, *sorted(documents.WRITTEN))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    text = documents.prose(path.read_text())
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        if not target.startswith(("http:", "https:")):
            there = path.parent / target if target else path
            assert there.exists(), target
            assert not anchor or anchor in documents.anchors(there.read_text()), (target, anchor)


HOSTS = {
    "arxiv.org", "cupy.dev", "docs.jax.dev", "docs.pytorch.org", "github.com",
    "pythran.readthedocs.io", "spcldace.readthedocs.io", "tapenade.gitlabpages.inria.fr",
}  # fmt: skip
"""Whose pages are linked: those of other projects, and of papers."""


def outside():
    """What all pages link to outside of the project."""
    texts = (documents.prose(path.read_text()) for path in PAGES)
    return {link for text in texts for link in re.findall(r"\b(?:https?|ftp)://[^\s)>`\"]+", text)}


def test_links_to_others_are_of_one_form():
    """No page is asked for: addresses are safe, of a few hosts, and one for each page."""
    found = [urlsplit(link) for link in outside()]
    assert found and all(link.scheme == "https" and not link.query for link in found)
    assert {link.netloc for link in found} == HOSTS
    pages = [(link.netloc, link.path.rstrip("/").removesuffix(".html").lower()) for link in found]
    assert len(pages) == len(set(pages)), pages


def cells(page, *titles):
    """The first and the last cells of the lines of tables below some titles of a page."""
    text = text_of(page)
    for title in titles:
        part = text.split(f"## {title}\n")[1].split("\n## ")[0]
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert len(lines) > 5 and set(lines[1]) <= set("|- "), title
        yield from ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:])


def test_lines_of_the_comparison_cite_what_others_say():
    mine, *others = cells("index.md", "Beside others")
    assert mine[0] == "srcdiff" and len(others) >= 7
    assert all(re.fullmatch(r"\[[^]]+\]\(https://[^)]+\)", name) for name, *_ in others)


def test_lines_of_migrations_are_run_or_lead_to_a_page():
    """The code of a line that leads nowhere stands in a block of the page, which is run."""
    page = text_of("migrating.md")
    blocks = "".join(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S))
    run = set(re.findall(r"\w+", blocks))
    for theirs, ours in cells("migrating.md", "From autograd", "From JAX", "From torch"):
        said = re.findall(r"`([^`]+)`", theirs if ours == "the same words" else ours)
        words = {word for code in said for word in re.findall(r"\b[a-z]\w+", code)}
        assert "](" in ours or words and words <= run, (theirs, ours, words - run)


def commands(text):
    """The words of the commands of srcdiff that a page gives, and where each stands."""
    blocks = r"(?<=^```sh\n)(srcdiff (?:.*\\\n)*.*)(?=\n```$)"
    for one in re.finditer(rf"{blocks}|`(srcdiff [a-z][^`\n]*)`", text, re.M):
        yield shlex.split((one[1] or one[2]).replace("\\\n", " "))[1:], one.start()


def is_whole(words):
    """Whether a command stands there as it is typed."""
    needs_more = words[0] in ("generate", "show", "check", "stages", "report", "rules")
    return "..." not in words and (not needs_more or any(set(":.") & {*w} for w in words[1:]))


WITH_COMMANDS = [path for path in PAGES if any(commands(path.read_text()))]


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=lambda p: p.name)
def test_commands_of_pages(path, tmp_path):
    """They run where the files are that a page speaks of; options of parts of them are known."""
    text, folder = path.read_text(), tmp_path / "project"
    shutil.copytree(documents.ROOT / "examples" / "shipped", folder)
    env = {**os.environ, "PYTHONPATH": str(documents.ROOT)}
    run = functools.partial(subprocess.run, cwd=folder, env=env, capture_output=True, text=True)
    known = parser().format_help()
    for words, at in commands(text):
        assert re.search(rf"^ +{words[0]}\b", known, re.M), words
        modules = [w.partition(":")[0] for w in words[1:] if ":" in w]
        if modules and not (folder / f"{modules[0]}.py").exists():
            code = "\n".join(b.code for b in documents.blocks(text[:at]) if b.what is None)
            (folder / f"{modules[0]}.py").write_text(code)
        if is_whole(words) or "--all" in words:
            done = run([sys.executable, "-m", "srcdiff", *words], check=False)
            assert done.returncode == 0, (words, done.stderr)
        else:
            options = run([sys.executable, "-m", "srcdiff", words[0], "--help"], check=True).stdout
            assert all(w in options for w in words if w.startswith("--")), words


def test_pages_have_commands():
    assert {"ahead_of_time.md", "tutorial.md", "ship.md"} <= {p.name for p in WITH_COMMANDS}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_commands_are_there(name):
    """The targets of the Makefile that a page names, and the modules and tests that it runs."""
    makefile = (documents.ROOT / "Makefile").read_text()
    text = (documents.ROOT / name).read_text()
    targets = re.findall(r"(?:^|`)make (\w+)", text, re.M)
    assert targets and not [t for t in targets if not re.search(rf"^{t}:", makefile, re.M)]
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert find_spec(module), module
    for path in re.findall(r"\b(?:tests|srcdiff)/[\w/.]+", text):
        assert (documents.ROOT / path).exists(), path


def test_commands_of_contributors_do_something():
    """What is chosen by name in tests is there."""
    found = re.findall(r"pytest -q (\S+) -k (\w+)", documents.CONTRIBUTING.read_text())
    assert {name for _, name in found} == {"tanh", "recurrence"}
    assert any(p.function.__name__ == "recurrence" for p in PROGRAMS)
    assert "| `np.tanh` |" in documents.RULES.read_text()


def test_the_reference_has_every_public_name():
    text = text_of("reference.md")
    named = set(re.findall(r"^\.\. auto\w+:: srcdiff\.([\w.]+)", text, re.M))
    public = {n for n in srcdiff.__all__ if not inspect.ismodule(getattr(srcdiff, n))}
    for module in (srcdiff.aot, srcdiff.autograd, srcdiff.testing, srcdiff.errors):
        inside = module.__name__.removeprefix("srcdiff.")
        public |= {n if n in public else f"{inside}.{n}" for n in module.__all__}
    assert public <= named
    assert all(pkgutil.resolve_name(f"srcdiff.{name}") for name in named)


def test_the_gallery_has_every_example():
    examples = documents.ROOT / "examples"
    linked = re.findall(r"^## .*\(\.\./examples/(.*)\)$", text_of("gallery.md"), re.M)
    scripts = [path.name for path in examples.glob("*.py")]
    assert sorted(linked) == sorted([*scripts, "shipped/design.py"])


def text_of(page):
    return (documents.ROOT / "docs" / page).read_text()


def rows(text):
    """The lines of the tables of a page by what they begin with; counts are left out."""
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return {line.split("|")[1]: line for line in lines if not re.search(r"\| \d+ \|$", line)}


def test_table_of_rules():
    """`make golden` rewrites it; other versions of NumPy have some functions more or less."""
    scipy = pytest.importorskip("scipy", reason="the table covers SciPy, which is an extra")
    page, now = documents.RULES.read_text(), rule_table.text()
    if np.__version__.startswith("2.4.") and scipy.__version__.startswith("1.17."):
        assert page == now
    there, here = rows(page), rows(now)
    assert len(there.keys() & here.keys()) > 0.9 * len(there)
    assert all(there[name] == here[name] for name in there.keys() & here.keys())
