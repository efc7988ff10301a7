"""Printing: from the IR to the source that a person would have written."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from srcdiff.analysis.uses import Scan, is_temporary
from srcdiff.codegen.callees import Globals
from srcdiff.codegen.comments import Comments, noted
from srcdiff.codegen.expressions import LOAD, Expressions
from srcdiff.codegen.jumps import with_jumps
from srcdiff.codegen.late import with_late_breaks
from srcdiff.codegen.nest import Plan, plan
from srcdiff.codegen.printer import WIDTH, Printer, expression_text, to_text
from srcdiff.codegen.sequences import with_sequences
from srcdiff.codegen.statements import Statements
from srcdiff.ir import (
    NOWHERE,
    Call,
    Derived,
    For,
    Function,
    Loc,
    Param,
    Stmt,
    Verbatim,
    all_names,
    rename,
    writes,
)

__all__ = ["Emitted", "emit", "expression_text", "is_temporary", "renamed", "shown", "to_text"]


@dataclass(frozen=True)
class Emitted:
    """Generated text, the primal place of every line, and the global names that it needs.

    `derived` are the functions that it calls and that are still to be generated, by name.
    """

    text: str
    lines: Mapping[int, Loc]
    refs: Mapping[str, Any]
    derived: Mapping[str, Derived] = field(default_factory=dict)


def emit(
    function: Function,
    *,
    notes: bool = False,
    namespace: Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None,
) -> Emitted:
    """The source of a function.

    `notes` appends the primal file and line to lines; `namespace` tells what the user's global
    names mean, so that `helpers.f` can be spelled as the user does; `others` are the global names
    of the functions that stand beside this one.
    """
    tree, build = _tree(function, namespace, others)
    printer = Printer()
    printer.dispatch(tree)
    printer.flush()
    lines = [getattr(node, "loc", NOWHERE) for node in printer.nodes]
    header = sum(node is tree for node in printer.nodes)
    text = noted(function, printer.lines, lines, notes, header)
    places = {i: loc for i, loc in enumerate(lines, 1) if loc.line}
    return Emitted("\n".join(text) + "\n", places, build.globals.refs, build.derived)


def _tree(
    function: Function,
    namespace: Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None,
) -> tuple[Any, Expressions]:
    """The gast tree of a function, and what was found out while building it."""
    scan = with_sequences(Scan(with_late_breaks(function)))
    build = Expressions(Globals(_locals(scan), namespace, others))
    planned = _planned(function, scan)
    body, gone = with_jumps(scan, planned.inline)
    statements = Statements(build, planned, gone)
    Comments(function).attach(statements)
    arguments = _arguments(function.params, build)
    nodes = statements.block(body) or [gast.Pass()]
    if function.doc is not None:
        nodes.insert(0, gast.Expr(gast.Constant(_indented(function.doc), None)))
    tree = gast.FunctionDef(function.name, arguments, nodes, [], None, None, [])
    tree.loc = function.loc
    return tree, build


def shown(function: Function) -> dict[str, None]:
    """The names bound in the text of a function, in order: not those that expressions replace."""
    scan = with_sequences(Scan(with_late_breaks(function)))
    planned = _planned(function, scan)
    _, gone = with_jumps(scan, planned.inline)
    hidden = planned.inline | gone | planned.unpack.keys() | planned.targets.keys()
    return dict.fromkeys(n for s in scan.stmts for n in writes(s) if n not in hidden)


def renamed(function: Function, new: Mapping[str, str]) -> Function:
    """A function with names that are shown replaced; what is nested in it stays nested."""
    if not new:
        return function
    made = replace(function, body=rename(function.body, new))
    planned = vars(function).get("_plan")
    given = [n for n in new.values() if n != "_"]  # nothing reads `_`
    apart = len(set(given)) == len(given) and all_names(function).isdisjoint(given)
    if planned is not None and apart:
        vars(made)["_plan"] = planned[0], planned[1].renamed(new)
    return made


def _planned(function: Function, scan: Scan) -> Plan:
    """What to nest in a function (remembered beside its fields: naming asks, and then printing).

    With other names, loops over indices may become loops over items that were none before.
    """
    form = tuple((type(s), _looped(s)) for s in scan.stmts)
    known, found = vars(function).get("_plan") or ((), Plan())
    if known != form:
        found = plan(scan)
        vars(function)["_plan"] = form, found
    return found


def _looped(stmt: Stmt) -> Any:
    """What a loop goes over, but for names: `range`, `zip`, `enumerate`, a sequence."""
    if not isinstance(stmt, For):
        return None
    return stmt.iter.fn if isinstance(stmt.iter, Call) else type(stmt.iter)


def _locals(scan: Scan) -> frozenset[str]:
    """The names that no global may have: all local ones but those that only an import binds."""
    imported = {w.id for s in scan.stmts if isinstance(s, Verbatim) for w in s.writes}
    if not imported:
        return frozenset(scan.names)
    others = (w for s in scan.stmts if not isinstance(s, Verbatim) for w in writes(s))
    return frozenset(scan.names - (imported - {*others, *(p.name for p in scan.function.params)}))


def _indented(doc: str) -> str:
    """A docstring with its lines indented as those of the body."""
    lines = inspect.cleandoc(doc).split("\n")
    text = "\n".join(part for line in lines for part in _filled(line, len(lines) == 1))
    if "\n" not in text:
        return text
    return "\n".join(line and "    " + line for line in f"{text}\n".split("\n")).lstrip() + "    "


def _filled(line: str, alone: bool) -> list[str]:
    """A line of a docstring, in several if it is too long."""
    room = WIDTH - (10 if alone else 7)  # indentation and quotes
    if len(line) <= room:
        return [line]
    first, stop, rest = line.partition(". ")
    if alone and rest and len(first) < room:
        return [first + stop.strip(), "", *_filled(rest, False)]
    return textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False)


def _arguments(params: tuple[Param, ...], build: Expressions) -> Any:
    """The parameters."""
    groups: dict[str, list[Any]] = {"pos": [], "any": [], "*": [], "kw": [], "**": []}
    defaults, keyword_defaults = [], []
    for param in params:
        groups[param.style].append(_parameter(param))
        default = None if param.default is None else build.atom(param.default)
        if param.style == "kw":
            keyword_defaults.append(default)
        elif default is not None:
            defaults.append(default)
    return gast.arguments(
        groups["any"], groups["pos"], (groups["*"] or [None])[0], groups["kw"], keyword_defaults,
        (groups["**"] or [None])[0], defaults,
    )  # fmt: skip


def _parameter(param: Param) -> Any:
    annotation = param.annotation and gast.parse(param.annotation, mode="eval").body
    return gast.Name(param.name, LOAD, annotation or None, None)
