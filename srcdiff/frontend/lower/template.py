"""Templates: rules written as ordinary functions with one `yield`, read like user code."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from srcdiff.errors import UnsupportedError
from srcdiff.frontend.lower import expressions, jumps, statements, targets
from srcdiff.frontend.lower.builder import Adjoint, Builder, Node, Table
from srcdiff.frontend.lower.functions import EXPRESSIONS, STATEMENTS, builder, params
from srcdiff.frontend.source.parse import Source, parse
from srcdiff.ir import (
    Accum,
    Assign,
    Atom,
    Block,
    Call,
    Const,
    Demand,
    Effect,
    Loc,
    Name,
    Opaque,
    Param,
    Rhs,
    SetItem,
    bound,
    walk,
)
from srcdiff.primitives.rule import Rule


@dataclass(frozen=True)
class Template:
    """A rule's source: what runs forwards, the result, what runs backwards.

    `d[x]` is the name `Name("d[x]")`.  In `below`, `d[x] += e` is `Accum(d[x], e, like=x)`;
    a store into `d[x][i]`, or a call that writes into `d[x]`, follows a `Demand(d[x], x)`.
    """

    name: str
    params: tuple[Param, ...]
    above: Block
    result: Atom | None
    below: Block
    loc: Loc
    doc: str | None = None

    @property
    def forward_names(self) -> frozenset[str]:
        """The names bound above the `yield`."""
        return bound(self.above)


T = TypeVar("T")


def template_of(rule: Rule) -> Template:
    """The template of a rule, lowered at the first use."""
    assert rule.template is not None, f"{rule.name} has no template"
    source = rule.template
    return _once(rule, "template", lambda: lower_template(parse(source), rule.mutates))


def tangent_template_of(rule: Rule) -> Template:
    """The template of a rule's tangent, lowered at the first use."""
    assert rule.tangent is not None, f"{rule.name} has no tangent of its own"
    source = rule.tangent
    return _once(rule, "tangent", lambda: lower_template(parse(source), rule.mutates))


def differentiable(rule: Rule) -> frozenset[str]:
    """The parameters that a rule gives a derivative, not one that is zero on purpose."""
    return _once(rule, "differentiable", lambda: _differentiable(rule))


def mentioned(rule: Rule) -> frozenset[str]:
    """The parameters whose adjoint the template of a rule writes."""
    return _once(
        rule, "mentioned", lambda: frozenset(s.like.id for s in walk(template_of(rule).below)
        if isinstance(s, (Accum, Demand))),
    )


def _once(rule: Rule, key: str, make: Callable[[], T]) -> T:
    """What is made of a rule once, and kept beside it."""
    if key not in rule.lowered:
        rule.lowered[key] = make()
    found: T = rule.lowered[key]
    return found


def _differentiable(rule: Rule) -> frozenset[str]:
    if rule.template is None:
        return frozenset()
    below = tuple(walk(template_of(rule).below))
    zero = {s for s in below if isinstance(s, Accum) and isinstance(s.value, Const)}
    found = (s for s in below if isinstance(s, (Accum, Demand)) and s not in zero)
    return frozenset(s.like.id for s in found)


def adjoint_name(name: str) -> Name:
    """The name that stands for `d[name]` in a template."""
    return Name(f"d[{name}]")


def adjoint_of(name: str) -> str | None:
    """The `x` of the name `d[x]`; None for other names."""
    return name[2:-1] if name.startswith("d[") else None


def lower_template(source: Source, mutates: str | None = None) -> Template:
    """The two halves of a template, of a function that writes into the parameter `mutates`."""
    b = builder(source, TEMPLATE_EXPRESSIONS, TEMPLATE_STATEMENTS)
    if "d" in b.scope:
        _refuse(source, source.tree, "`d` is the adjoint in a template, and cannot be bound")
    b.scope["d"] = Adjoint()
    body = source.tree.body
    at = _yield_index(b, source)
    doc = body[0].value.value if _is_docstring(body[0]) else None
    above = jumps.block(b, body[:at], tail=False)
    found: list[Atom | None] = []
    ending = b.collect(lambda: found.append(_result(b, body[at].value)))
    below = jumps.block(b, body[at + 1 :], tail=False)
    above += ending
    if found[0] is None and mutates is None and below:
        _refuse(source, body[at], "the `yield` of a template gives the result")
    loc = source.loc(source.tree)
    return Template(source.name, params(source), above, found[0], below, loc, doc)


def _is_docstring(node: Node) -> bool:
    value = getattr(getattr(node, "value", None), "value", None)
    return type(node).__name__ == "Expr" and isinstance(value, str)


def _is_yield(node: Node) -> bool:
    return type(node).__name__ == "Expr" and type(node.value).__name__ == "Yield"


def _yield_index(b: Builder, source: Source) -> int:
    """Where the one `yield` stands."""
    places = [i for i, n in enumerate(source.tree.body) if _is_yield(n)]
    if len(places) != 1:
        node = source.tree if not places else source.tree.body[places[1]]
        _refuse(source, node, f"a template has one `yield` at its top level, not {len(places)}")
    for node in jumps.returns(b, source.tree.body):
        _refuse(source, node, "a template has no `return`")
    return places[0]


def _refuse(source: Source, node: Node, reason: str) -> NoReturn:
    loc = source.loc(node)
    remedy = "See templates/README.md for how a rule is written."
    raise UnsupportedError(reason, loc, remedy, source.line(loc.line))


def _result(b: Builder, node: Node) -> Atom | None:
    """The atom that the `yield` gives, if any."""
    return None if node.value is None else b.atom(node.value)


# --- `d[x]` ------------------------------------------------------------------------------------


def _primal(b: Builder, node: Node) -> str | None:
    """The `x` of a node `d[x]`; None for other nodes."""
    if type(node).__name__ != "Subscript" or type(node.value).__name__ != "Name":
        return None
    if not isinstance(b.scope.get(node.value.id), Adjoint):
        return None
    meaning = b.scope.get(getattr(node.slice, "id", ""))
    if not isinstance(meaning, Name):
        b.refuse(node, "`d[...]` takes a name of the template", "Name the value above the `yield`.")
    return meaning.id


def _subscript(b: Builder, node: Node) -> Rhs:
    """`x[i]`, or the adjoint `d[x]`."""
    primal = _primal(b, node)
    return expressions.subscript(b, node) if primal is None else adjoint_name(primal)


def _buffer(b: Builder, node: Node) -> str | None:
    """The `x` of a node `d[x]...[i]`, a part of an adjoint."""
    while type(node).__name__ == "Subscript":
        primal = _primal(b, node)
        if primal is not None:
            return primal
        node = node.value
    return None


def _demand(b: Builder, node: Node, loc: Loc) -> None:
    """Ask for a buffer where a part of `d[x]` is written."""
    primal = _buffer(b, node)
    if primal is not None:
        b.emit(Demand(adjoint_name(primal), Name(primal), loc))


def _assign(b: Builder, node: Node) -> None:
    """`d[x] = e`, `d[x][i] = e`, and ordinary assignments."""
    loc = b.loc(node)
    target = node.targets[0]
    primal = _primal(b, target)
    if primal is not None:
        b.emit(Assign(adjoint_name(primal), b.rhs(node.value), loc))
        return
    _demand(b, target, loc)
    statements.assign(b, node)


def _augmented(b: Builder, node: Node) -> None:
    """`d[x] += e`, `d[x][i] += e`, and ordinary ones."""
    loc = b.loc(node)
    op = statements.OPERATORS[type(node.op).__name__]
    primal = _primal(b, node.target)
    if primal is None:
        _demand(b, node.target, loc)
        targets.augmented(b, node.target, node.value, op, loc)
        return
    value, adjoint = b.atom(node.value), adjoint_name(primal)
    if op in "+-":
        if op == "-":
            value = b.temp(Call(operator.neg, (value,)), loc)
        b.emit(Accum(adjoint, value, Name(primal), loc))
    else:
        b.emit(Demand(adjoint, Name(primal), loc))
        b.emit(SetItem(adjoint, None, value, op, loc))


def _expression(b: Builder, node: Node) -> None:
    """A call for its effect: one that writes into `d[x]` needs a buffer."""
    if _is_yield(node):
        _refuse(b.source, node, "a template has one `yield`, at its top level")
    args = getattr(node.value, "args", ())
    if type(node.value).__name__ == "Call" and args:
        _demand(b, args[0], b.loc(node))
    rhs = b.rhs(node.value)
    if isinstance(rhs, (Call, Opaque)):
        b.emit(Effect(rhs, b.loc(node)))


TEMPLATE_EXPRESSIONS: Table = {**EXPRESSIONS, "Subscript": _subscript}
TEMPLATE_STATEMENTS: Table = {
    **STATEMENTS,
    "Assign": _assign,
    "AugAssign": _augmented,
    "Expr": _expression,
}
