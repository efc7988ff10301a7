"""The Python blocks of README and docs: run in order, and generated ones compared or rewritten."""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srcdiff
from srcdiff.errors import refusals
from srcdiff.primitives import registry
from tests import limits
from tests.rules import table as rule_table

from .limits.table import LIMITS

ROOT = Path(__file__).parent.parent
RULES = ROOT / "docs" / "rules.md"
REFUSALS = ROOT / "docs" / "refusals.md"
WRITTEN = {REFUSALS, RULES}
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DOCUMENTS = (ROOT / "README.md", CONTRIBUTING, *sorted({*(ROOT / "docs").rglob("*.md")} - WRITTEN))

_BLOCK = re.compile(
    r"(?:<!-- generated: (?P<what>[^\n]*?) -->\n```(?:python|text)|^```python)\n(?P<code>.*?)^```$",
    re.S | re.M,
)


@dataclass(frozen=True)
class Block:
    """One block: its code, where it stands, and for a generated one the expression it shows."""

    code: str
    start: int
    end: int
    what: str | None


def blocks(text: str) -> Iterator[Block]:
    """The Python blocks of a document in order."""
    for found in _BLOCK.finditer(text):
        yield Block(found["code"], found.start("code"), found.end("code"), found["what"])


def prose(text: str) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def anchors(text: str) -> set[str]:
    """The names by which links lead to the headings of a document."""
    return {limits.anchor(heading) for heading in re.findall(r"^#+ (.*)$", prose(text), re.M)}


def run(text: str, folder: Path) -> list[tuple[Block, str]]:
    """Run the blocks; returns the generated ones with what they should show.

    The code is written to `model.py` in `folder`, because srcdiff reads source from files.
    """
    ordinary = [b for b in blocks(text) if b.what is None]
    file = folder / "model.py"
    file.write_text("\n".join(b.code for b in ordinary))
    namespace: dict[str, Any] = {"__name__": "model"}
    shown, line = [], 0
    for block in blocks(text):
        if block.what is None:
            padded = "\n" * line + block.code
            exec(compile(padded, str(file), "exec"), namespace)
            line += block.code.count("\n") + 1
        else:
            value = eval(block.what, {"srcdiff": srcdiff, "quoted": quoted, **namespace})
            shown.append((block, str(value).replace(str(file), file.name).rstrip() + "\n"))
    return shown


def quoted(path: str, first: str, end: str) -> str:
    """The lines of a file from the one that begins with `first` to the one before `end`."""
    text = (ROOT / path).read_text()
    start = text.index(f"\n{first}") + 1
    return textwrap.dedent(text[start : text.index(f"\n{end}", start)])


def updated(text: str, folder: Path) -> str:
    """The document with what its generated blocks should show."""
    for block, value in reversed(run(text, folder)):
        text = text[: block.start] + value + text[block.end :]
    return text


_ROWS = re.compile(r"(<!-- refusals: (\w+) -->\n)(?:\|.*\n)*")


def tabled(text: str) -> str:
    """The document with the rows that the table of refusals has for a topic."""
    return _ROWS.sub(lambda found: found[1] + _table(found[2]), text)


def _table(topic: str) -> str:
    """What is refused by a topic, and what to write instead."""
    entries = (lines for name, lines in refusals().items() if name.startswith(f"{topic}."))
    rows = [line for lines in entries for line in lines if line.startswith("| ")]
    return "\n".join(["| refused | write instead |", "|---|---|", *rows, ""])


def main() -> None:
    """Rewrite generated blocks of documents, the table of rules and the page of refusals."""
    (registry.folder() / registry.INDEX).write_text(registry.indexed())
    RULES.write_text(rule_table.text())
    for path in DOCUMENTS:
        with tempfile.TemporaryDirectory() as folder:
            new = tabled(updated(path.read_text(), Path(folder)))
        if new != path.read_text():
            path.write_text(new)
            print(f"wrote {path.relative_to(ROOT)}")
    page = limits.page(LIMITS)
    if not REFUSALS.exists() or REFUSALS.read_text() != page:
        REFUSALS.write_text(page)
        print(f"wrote {REFUSALS.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
