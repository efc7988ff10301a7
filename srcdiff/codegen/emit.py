"""Printing: from the IR to the source that a person would have written.

Takes a function; gives its text, the primal place of every line, and the global names that it
needs.  The user's comments stand in it, before and behind the statements that they stood at.
`Made` is what the compiler gives: a generated text, and what its callers have to know of it.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import takewhile
from typing import Any

import gast

from srcdiff import ir
from srcdiff.analysis.effects import Scan
from srcdiff.codegen.expressions import LOAD, Expressions, Globals
from srcdiff.codegen.nest import Plan, Planner
from srcdiff.codegen.printer import WIDTH, Printer, Remark
from srcdiff.codegen.statements import Statements
from srcdiff.codegen.structure import with_jumps, with_late_breaks, with_sequences
from srcdiff.ir.frozen import frozen
from srcdiff.texts import line_of

_SAVES = re.compile(r" *\w+_saved(_\d+)?(\.append\(| = )")


class Comments:
    """Puts the user's comment lines before the forward statements that they stood before."""

    def __init__(self, function: ir.Function) -> None:
        self.file = function.loc.file
        code = statement_lines(function) if function.comments else frozenset()
        self.waiting = sorted(line for line in function.comments if line not in code)
        self.texts = function.comments
        self.settled = _settled if self.waiting else list

    def before(self, loc: ir.Loc) -> list[Remark]:
        """The comments that stood before a statement."""
        found: list[Remark] = []
        while self.waiting and loc.file == self.file and self.waiting[0] < loc.line:
            found.append(Remark(plain(self.texts[self.waiting.pop(0)]), theirs=True))
        return found


def _settled(nodes: list[Any]) -> list[Any]:
    """Statements in which the user's comments stand behind what was put before their statement."""
    out: list[Any] = []
    waiting: list[Any] = []
    for k, node in enumerate(nodes):
        if isinstance(node, Remark) and node.theirs:
            waiting.append(node)
        elif waiting and not _is_ahead(nodes, k):
            out, waiting = [*out, *waiting, node], []
        else:
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


def _is_save(node: Any) -> bool:
    """`x_saved.append(x)` or `x_saved = x`."""
    printer = Printer()
    printer.dispatch(node)
    printer.flush()
    return _SAVES.match(printer.lines[0]) is not None


def statement_lines(function: ir.Function) -> frozenset[int]:
    """The primal lines on which statements begin."""
    return frozenset(s.loc.line for s in ir.walk(function) if s.loc.file == function.loc.file)


def plain(comment: str) -> str:
    """The text of a comment without its sign."""
    return comment.strip().removeprefix("#").strip()


def _with_comments(
    function: ir.Function, lines: Sequence[str], places: Sequence[ir.Loc], forward: int
) -> list[str]:
    """The lines with the user's comments behind those of the forward part, where there is room."""
    out = list(lines)
    if function.comments:
        for i, comment in _own(function, lines[:forward], places).items():
            text = f"{out[i]}  # {comment}"
            out[i] = text if len(text) <= WIDTH else out[i]
    return out


def _own(function: ir.Function, lines: Sequence[str], places: Sequence[ir.Loc]) -> dict[int, str]:
    """The user's comments by the generated line that is most like the one that they stood on."""
    code = statement_lines(function)
    found: dict[int, tuple[int, int]] = {}
    for i, (line, loc) in enumerate(zip(lines, places)):
        if loc.file != function.loc.file or loc.line not in code or _SAVES.match(line):
            continue
        theirs = line_of(loc.file, loc.line).strip()
        alike = len(os.path.commonprefix([line.strip(), theirs]))
        if loc.line not in found or alike > found[loc.line][0]:
            found[loc.line] = alike, i
    known = function.comments
    return {i: plain(known[n]) for n, (_, i) in found.items() if n in known}


# --- printing: from the IR to the source that a person would have written ------------------------


@frozen
class Emitted:
    """Generated functions: the text of each by its name, and the global names that they need.

    `loops` are those that are loops over elements alone, and how threads share them; `outer` those
    that call what is compiled and are not compiled themselves.

    `lines` are the primal places of the lines of the whole text.
    """

    functions: Mapping[str, str]
    lines: Mapping[int, ir.Loc]
    refs: Mapping[str, Any]
    loops: Mapping[str, ir.Rows | None] = field(default_factory=dict)
    outer: frozenset[str] = frozenset()

    @functools.cached_property
    def text(self) -> str:
        """The text of all of them."""
        return "\n\n".join(self.functions.values())


def emit(
    function: ir.Function,
    *,
    namespace: Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None,
) -> Emitted:
    """The source of a function.

    `namespace` tells what the user's global names mean, so that `helpers.f` can be spelled as the
    user does; `others` are the global names of the functions that stand beside this one.
    """
    scan, planned, body, gone = _structured(function)
    build = Expressions(Globals(_locals(scan), namespace, others, function.target))
    arguments = _arguments(function.params, build)
    writer = Statements(build, scan.uses.keys(), planned, gone, Comments(function))
    nodes = writer.block(body) or [gast.Pass()]
    if function.doc is not None:
        nodes.insert(0, gast.Expr(gast.Constant(_indented(function.doc), None)))
    tree = gast.FunctionDef(function.name, arguments, nodes, [], None, None, [])
    tree.loc = function.loc
    printer = Printer()
    printer.dispatch(tree)
    printer.flush()
    locs = [getattr(node, "loc", ir.NOWHERE) for node in printer.nodes]
    inside = [ir.NOWHERE if node is tree else loc for node, loc in zip(printer.nodes, locs)]
    ours = (i for i, n in enumerate(printer.nodes) if isinstance(n, Remark) and not n.theirs)
    text = _with_comments(function, printer.lines, inside, next(ours, len(inside)))
    places = {i: loc for i, loc in enumerate(locs, 1) if loc.line}
    return Emitted({function.name: "\n".join(text) + "\n"}, places, build.globals.refs)


def _structured(function: ir.Function) -> tuple[Scan, Plan, ir.Block, frozenset[str]]:
    """A function as a person writes it, what to nest, its body with jumps, and the flags gone."""
    scan = with_sequences(Scan(with_late_breaks(function)))
    planned = _planned(function, scan)
    return scan, planned, *with_jumps(scan, planned.inline)


def shown(function: ir.Function) -> dict[str, None]:
    """The names bound in the text of a function, in order: not those that expressions replace."""
    scan, planned, _, gone = _structured(function)
    hidden = planned.inline | gone | planned.targets.keys()
    return dict.fromkeys([n for s in scan.stmts for n in ir.writes(s) if n not in hidden])


def renamed(function: ir.Function, new: Mapping[str, str]) -> ir.Function:
    """A function with names that are shown replaced; what is nested in it stays nested."""
    if not new:
        return function
    made = ir.rebuilt(function, body=ir.rename(function.body, new))
    planned = vars(function).get("_plan")
    given = [n for n in new.values() if n != "_"]  # nothing reads `_`
    apart = len(set(given)) == len(given) and ir.all_names(function).isdisjoint(given)
    if planned is not None and apart:
        vars(made)["_plan"] = planned[0], planned[1].renamed(new)
    return made


def _planned(function: ir.Function, scan: Scan) -> Plan:
    """What to nest in a function (remembered beside its fields: naming asks, and then printing).

    With other names, loops over indices may become loops over items that were none before.
    """
    form = tuple([(type(s), _looped(s) if type(s) is ir.For else None) for s in scan.stmts])
    known, found = vars(function).get("_plan") or ((), Plan())
    if known != form:
        found = Planner(scan).plan
        vars(function)["_plan"] = form, found
    return found


def _looped(stmt: ir.For) -> Any:
    """What a loop goes over, but for names: `range`, `zip`, `enumerate`, a sequence."""
    return stmt.iter.fn if type(stmt.iter) is ir.Call else type(stmt.iter)


def _locals(scan: Scan) -> frozenset[str]:
    """The names that no global may have: all local ones but those that only an import binds."""
    imported = {w.id for s in scan.stmts if type(s) is ir.Verbatim for w in s.writes}
    if not imported:
        return frozenset(scan.names)
    others = (w for s in scan.stmts if type(s) is not ir.Verbatim for w in ir.writes(s))
    return frozenset(scan.names - (imported - {*others, *(p.name for p in scan.function.params)}))


def _indented(doc: str) -> str:
    """A docstring with its lines indented as those of the body."""
    lines = inspect.cleandoc(doc).split("\n")
    text = "\n".join(part for line in lines for part in _wrapped(line, len(lines) == 1))
    if "\n" not in text:
        return text
    return "\n".join(line and "    " + line for line in f"{text}\n".split("\n")).lstrip() + "    "


def _wrapped(line: str, alone: bool) -> list[str]:
    """A line of a docstring, in several if it is too long."""
    room = WIDTH - (10 if alone else 7)  # indentation and quotes
    if len(line) <= room:
        return [line]
    first, stop, rest = line.partition(". ")
    if alone and rest and len(first) < room:
        return [first + stop.strip(), "", *_wrapped(rest, False)]
    return textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False)


def _arguments(params: tuple[ir.Param, ...], build: Expressions) -> Any:
    """The parameters."""
    by = {k: [p for p in params if p.style == k] for k in ("pos", "any", "*", "kw", "**")}
    made = {style: [_parameter(p) for p in found] for style, found in by.items()}

    def defaults(found: list[ir.Param]) -> list[Any]:
        return [None if p.default is None else build.atom(p.default) for p in found]

    return gast.arguments(
        made["any"], made["pos"], (made["*"] or [None])[0], made["kw"], defaults(by["kw"]),
        (made["**"] or [None])[0], [d for d in defaults(by["pos"] + by["any"]) if d is not None],
    )  # fmt: skip


def _parameter(param: ir.Param) -> Any:
    annotation = param.annotation and gast.parse(param.annotation, mode="eval").body
    return gast.Name(param.name, LOAD, annotation or None, None)


# --- what the compiler gives: a generated text, and what its callers have to know of it ----------


@frozen
class Made:
    """A generated text, the parameters that its primal writes into, and where that returns.

    `functions` are those that it was printed from, with the kinds of their parameters; not those
    of recursive functions.
    """

    emitted: Emitted
    written: tuple[str, ...]
    returns: tuple[ir.Loc, ...]
    functions: tuple[tuple[ir.Function, ir.Kinds], ...]
    consumes: bool = False  # of a pair: the backward part uses its residuals up
    put: tuple[Any, ...] = ()  # containers outside that values with a derivative are put into
    places: tuple[tuple[int, ...], ...] = ()  # of the residuals of a pair, where they are joined
