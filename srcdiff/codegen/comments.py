"""Comments in generated text: the user's own, and notes of the primal lines."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence, Set
from itertools import takewhile
from typing import Any

import gast

from srcdiff.codegen.printer import WIDTH, Remark
from srcdiff.ir import NOWHERE, Comment, Function, Loc, walk
from srcdiff.texts import line_of

_SAVED = re.compile(r"_saved(_\d+)?\Z")
_SAVES = re.compile(r" *\w+_saved(_\d+)?(\.append\(| = )")
_COLUMN = 64  # notes are aligned in one column, unless a line is longer than this


class Comments:
    """Puts the user's comment lines before the forward statements that they stood before."""

    def __init__(self, function: Function) -> None:
        self.file = function.loc.file
        code = statement_lines(function) if function.comments else frozenset()
        self.waiting = sorted(line for line in function.comments if line not in code)
        self.texts = function.comments
        self.statements: Any = None

    def attach(self, statements: Any) -> None:
        """Be told of every statement before it is written."""
        if self.waiting:
            self.statements = statements
            statements.before, statements.mark = self.before, self.mark
            statements.settled = settled

    def before(self, loc: Loc) -> None:
        """Writes the comments that stood before a statement."""
        if loc.file != self.file:
            return
        while self.waiting and self.waiting[0] < loc.line:
            text = plain(self.texts[self.waiting.pop(0)])
            self.statements.out.append(Remark(text, theirs=True))

    def mark(self) -> None:
        """Nothing that stood before a statement of the user belongs to the backward part."""
        self.waiting.clear()


def settled(nodes: list[Any]) -> list[Any]:
    """Statements in which the user's comments stand behind what was put before their statement."""
    out: list[Any] = []
    waiting: list[Any] = []
    for k, node in enumerate(nodes):
        if isinstance(node, Remark) and node.theirs:
            waiting.append(node)
            continue
        if waiting and not _is_ahead(nodes, k):
            out += waiting
            waiting = []
        out.append(node)
    return out + waiting


def _is_ahead(nodes: list[Any], k: int) -> bool:
    """Whether a statement saves something for the next one, or makes a loop ready."""
    place = _line(nodes[k])
    same = list(takewhile(lambda n: _line(n) == place, nodes[k + 1 :]))
    if not same:
        return False
    loop = next((i for i, n in enumerate(same) if isinstance(n, (gast.For, gast.While))), None)
    if loop is not None:
        return all(isinstance(n, gast.Assign) for n in (nodes[k], *same[:loop]))
    return _is_save(nodes[k])


def _line(node: Any) -> tuple[str, int] | None:
    loc = getattr(node, "loc", None)
    return None if loc is None else (loc.file, loc.line)


def _filled(node: Any) -> Any:
    """`xs` of `xs.append(x)`."""
    call = node.value if isinstance(node, gast.Expr) else None
    return getattr(call.func, "value", None) if isinstance(call, gast.Call) else None


def _is_save(node: Any) -> bool:
    """`x_saved.append(x)` or `x_saved = x`."""
    target = node.targets[0] if isinstance(node, gast.Assign) else _filled(node)
    return isinstance(target, gast.Name) and _SAVED.search(target.id) is not None


def statement_lines(function: Function) -> frozenset[int]:
    """The primal lines on which statements begin."""
    return frozenset(s.loc.line for s in walk(function.body) if s.loc.file == function.loc.file)


def plain(comment: str) -> str:
    """The text of a comment without its sign."""
    return comment.strip().removeprefix("#").strip()


def noted(
    function: Function, lines: Sequence[str], places: Sequence[Loc], notes: bool, header: int
) -> list[str]:
    """The lines with comments behind them; the first `header` ones get none."""
    if not notes and not function.comments:
        return list(lines)
    found = _notes(function, lines, places, notes, header)
    if not any(found):
        return list(lines)
    short = [len(line) for line, note in zip(lines, found) if note and len(line) <= _COLUMN]
    column = max(short, default=0)
    return [_joined(line, note, column if notes else 0) for line, note in zip(lines, found)]


def _joined(line: str, note: str, column: int) -> str:
    """A line with a note behind it, if there is room."""
    if not note:
        return line
    padded = line.ljust(column) if len(line) <= column else line
    text = f"{padded}  # {note}"
    return text if len(text) <= WIDTH else line


def _notes(
    function: Function, lines: Sequence[str], places: Sequence[Loc], notes: bool, header: int
) -> list[str]:
    """The note of every line: the user's comment in the forward part, else the primal line."""
    code = statement_lines(function)
    end = _backward(lines, function)
    own = _own(function, code, lines[:end], places[:end], header)
    shown = {loc.line for loc in places[:end]}
    out, previous = [], NOWHERE
    for i, loc in enumerate(places):
        note = ""
        if loc.line and i >= header:
            if i in own:
                note = own[i]
            elif notes and (loc.file, loc.line) != (previous.file, previous.line):
                note = _note(loc, i >= end, shown)
                shown.add(loc.line)
            previous = loc
        out.append(note)
    return out


def _own(
    function: Function, code: Set[int], lines: Sequence[str], places: Sequence[Loc], header: int
) -> dict[int, str]:
    """The user's comments by the generated line that is most like the one that they stood on."""
    found: dict[int, tuple[int, int]] = {}
    for i, (line, loc) in enumerate(zip(lines, places)):
        if i < header or loc.file != function.loc.file or loc.line not in code:
            continue
        if _SAVES.match(line):
            continue
        theirs = line_of(loc.file, loc.line).strip()
        alike = len(os.path.commonprefix([line.strip(), theirs]))
        if loc.line not in found or alike > found[loc.line][0]:
            found[loc.line] = alike, i
    known = function.comments
    return {i: plain(known[n]) for n, (_, i) in found.items() if n in known}


def _backward(lines: Sequence[str], function: Function) -> int:
    """Where the backward part begins."""
    if any(isinstance(s, Comment) and s.text == "backward" for s in function.body):
        return next(i for i, line in enumerate(lines) if line.strip() == "# backward")
    return len(lines)


def _note(loc: Loc, is_backward: bool, shown: set[int]) -> str:
    """`model.py:13` in the forward part; `13` in the backward part, with the text if not shown."""
    if not is_backward:
        return f"{os.path.basename(loc.file)}:{loc.line}"
    text = "" if loc.line in shown else line_of(loc.file, loc.line).strip()
    return f"{loc.line}: {text}" if text else str(loc.line)
