"""Builds the documentation site: `make docs`, after `make examples` has drawn the pictures.

The pages are those of `docs/`, as they are; what they link to outside of it (examples, the manual
of rules, the changes, the page for contributors) becomes a page of the site as well.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
SOURCE, SITE = ROOT / "build" / "docs", ROOT / "build" / "site"

SCRIPTS = [*sorted(EXAMPLES.glob("*.py")), EXAMPLES / "shipped" / "design.py"]
# Files outside of `docs/` that are pages: where they lie in the site.
PAGES = {
    ROOT / "templates" / "README.md": "rule_manual.md",
    ROOT / "CHANGELOG.md": "changes.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "README.md": "index.md",
    **{path: f"examples/{path.stem}.md" for path in SCRIPTS},
}

CONTENTS = {
    "Start": ["tutorial", "migrating", "gallery"],
    "How to": [
        "howto/optimise", "howto/likelihood", "howto/solver", "howto/rule", "howto/memory",
        "howto/nan", "howto/compile", "howto/gpu", "howto/ship", "howto/notebook", "howto/machines",
    ],  # fmt: skip
    "More of it": ["ahead_of_time", "cupy"],
    "Reference": ["interface", "reference", "rules", "rule_manual", "refusals", "changes"],
    "Background": ["limits", "performance", "how_it_works", "architecture", "contributing"],
}


def linked(text: str, origin: Path, page: str) -> str:
    """A page whose links outside of `docs/` lead to pages of the site, or are plain words."""

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        there = (origin.parent / target).resolve() if target else origin
        if "://" in target or there == origin:
            return found[0]
        inside = PAGES.get(there)
        if inside is None and there.is_file() and there.is_relative_to(DOCS):
            inside = str(there.relative_to(DOCS))
        if inside is None:
            return words
        return f"[{words}]({os.path.relpath(inside, Path(page).parent)}{anchor})"

    blocks = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    parts = [re.sub(r"\[([^\]]*)\]\(([^)#\s]*)(#[^)]*)?\)", link, part) for part in blocks[::2]]
    blocks[::2] = parts
    return "".join(blocks)


def write(page: str, text: str) -> None:
    """One page of the site."""
    path = SOURCE / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def picture_of(script: Path) -> Path:
    """What an example has drawn."""
    name = "shipped" if script.parent.name == "shipped" else script.stem
    path = EXAMPLES / "build" / f"{name}.png"
    if not path.exists():
        raise SystemExit(f"{path.relative_to(ROOT)} is not there: run `make examples` first")
    return path


def titles() -> dict[Path, str]:
    """What the gallery calls the examples, in its order."""
    text = (DOCS / "gallery.md").read_text()
    found = re.findall(r"^## \[(.*)\]\(\.\./examples/(.*)\)$", text, re.M)
    return {EXAMPLES / path: title for title, path in found}


def example(script: Path, title: str) -> str:
    """The page of an example: what it says, what it draws, and its text."""
    text = script.read_text()
    tree = ast.parse(text)
    said = re.sub(r"\n    (.*)\n?", r"\n```sh\n\1\n```\n", ast.get_docstring(tree) or "")
    code = "\n".join(text.split("\n")[tree.body[1].lineno - 1 :]).strip()
    picture = f"![{title}]({picture_of(script).name})"
    return f"# {title}\n\n{said}\n\n{picture}\n\n```python\n{code}\n```\n"


def gallery(text: str) -> str:
    """The gallery, whose links lead to pages already, with pictures below its headings."""
    pictures = {PAGES[path]: picture_of(path).name for path in titles()}

    def shown(found: re.Match[str]) -> str:
        title, page = found[1], found[2]
        return f"{found[0]}\n\n[![{title}](examples/{pictures[page]})]({page})"

    return re.sub(r"^## \[(.*)\]\((.*)\)$", shown, text, flags=re.M)


def contents() -> str:
    """The tables of contents, which stand in the menu alone."""
    trees = (
        f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```"
        for caption, pages in CONTENTS.items()
    )
    return "\n\n".join(trees)


def assemble() -> None:
    """All pages, in `build/docs`."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    (SOURCE / "examples").mkdir(parents=True)
    for path in sorted(DOCS.rglob("*")):
        page = str(path.relative_to(DOCS))
        if path.suffix == ".svg":
            shutil.copy(path, SOURCE / page)
        elif path.suffix == ".md":
            write(page, linked(path.read_text(), path, page))
    for path, page in PAGES.items():
        if path.suffix == ".md" and page != "index.md":
            write(page, linked(path.read_text(), path, page))
    for path, title in titles().items():
        shutil.copy(picture_of(path), SOURCE / "examples")
        write(PAGES[path], example(path, title))
    write("gallery.md", gallery((SOURCE / "gallery.md").read_text()))
    examples = "\n".join(PAGES[path].removesuffix(".md") for path in titles())
    with (SOURCE / "gallery.md").open("a") as file:
        file.write(f"\n```{{toctree}}\n:hidden:\n\n{examples}\n```\n")
    with (SOURCE / "index.md").open("a") as file:
        file.write(f"\n{contents()}\n")


def main() -> int:
    """Pages, then Sphinx; a warning is an error."""
    assemble()
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto"]
    command += ["-c", str(DOCS / "site"), str(SOURCE), str(SITE)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
