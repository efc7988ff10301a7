"""Functions that are values: lambdas and nested functions that are passed on or returned.

Nested functions that call themselves become functions of their own (`Lifted`).  What one captures
are parameters behind its own; a call passes the variables as they are then, which is what a closure
sees.

`wanted` says how many arguments a function takes: what `*xs` in a call of it must stand for.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Set
from dataclasses import field
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend import local_functions
from srcdiff.frontend.local_functions import MARK
from srcdiff.frontend.lower import jumps
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Meaning, Node
from srcdiff.frontend.scopes import Scan, declared, scan_function
from srcdiff.frontend.signatures import STYLES, bind, bind_displays
from srcdiff.ir.frozen import frozen, replace
from srcdiff.runtime import records


class Lifted:
    """A function without source of its own: its IR, in which `captured` are the last parameters."""

    __srcdiff_function__ = True

    def __init__(self, name: str, own: tuple[str, ...], module: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = module
        self.own = own
        self.captured: tuple[str, ...] = ()
        self.function: ir.Function | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Lifted functions are only compiled."""
        raise NotImplementedError(f"`{self.__name__}` is known only as a part of its function")

    @property
    def __signature__(self) -> inspect.Signature:
        """All its parameters."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(n, kind) for n in (*self.own, *self.captured)])

    def __repr__(self) -> str:
        return f"<nested function {self.__name__}>"


@frozen
class Head:
    """The parameters of a local function by itself, and the scope of its body.

    `keywords` are the parameters' names in the IR by those in the source.
    """

    params: tuple[ir.Param, ...]
    keywords: Mapping[str, str]
    scope: dict[str, Meaning]
    scan: Scan


def head(b: Builder, fn: LocalFunction) -> Head:
    """What a local function's body is lowered in, its locals renamed apart."""
    scan = scan_function(fn.node)
    if scan.outer:
        b.refuse(
            fn.node,
            f"the nested function `{fn.name}` has `nonlocal`, and is a value, takes `*` or `**`, "
            "or calls itself",
            "Pass the value as an argument and return it.",
        )  # fmt: skip
    b.walrus = b.walrus or scan.walrus
    scope: dict[str, Meaning] = dict(fn.scope)
    new: dict[str, str] = {}
    for name in scan.bound:
        made = b.fresh(name)
        scope[name], new[name] = made, made.id
    params = {
        n.id: ir.Param(new[n.id], fn.defaults.get(n.id), style)
        for n, style, _ in declared(fn.node.args)
    }
    return Head(tuple(params.values()), {n: p.name for n, p in params.items()}, scope, scan)


def lifted_function(b: Builder, fn: LocalFunction, top: Head) -> ir.Function:
    """A local function by itself."""
    body, value = b.collected(lambda: local_functions.body_of(b, fn, top.scope, top.scan))
    block: ir.Block = (*body, ir.Return(value, b.loc(fn.node)))
    return ir.Function(fn.name, top.params, block, loc=b.loc(fn.node))


# --- derivatives of nested functions -------------------------------------------------------------


def lifted_closure(closure: Closure) -> Lifted:
    """A closure as a function of its parameters, by their names in the source, and of the rest."""
    inner = closure.function
    assert inner is not None
    captured = closure.variables or {}
    names = _source_names(closure, ir.all_names(inner) | set(captured))
    own = tuple(names[p.name] for p in inner.params)
    made = Lifted(inner.name, own, "nested")
    made.captured = tuple(names[n] for n in captured)
    params = tuple(ir.Param(n) for n in (*own, *made.captured))
    made.function = replace(inner, params=params, body=ir.rename(inner.body, names))
    return made


def _source_names(closure: Closure, names: frozenset[str]) -> dict[str, str]:
    """Names of a closure by those that it has here; its parameters are called as in the source."""
    new = {name: source for source, name in closure.keywords.items() if name in names}
    fresh = ir.Fresh(names | set(new.values()))
    taken = set(new.values())
    for name in sorted(names - set(new)):
        new[name] = name if name not in taken else fresh(name).id
    return new


def passing(closure: Closure, callee: Any, call: ir.Call) -> ir.Call:
    """A call of a derivative of a closure, with what the closure captures as arguments."""
    inner, variables = closure.function, closure.variables
    assert inner is not None and variables is not None
    seed = tuple((k, v) for k, v in call.kwargs if str(k).startswith((ir.SEED, ir.TANGENT)))
    rest = tuple(kv for kv in call.kwargs if kv not in seed)
    kwargs = tuple((closure.keywords.get(str(k), k), v) for k, v in rest)
    head_of = ir.Function(inner.name, defaults_now(inner.params, variables), ())
    bound = bind(head_of, replace(call, kwargs=kwargs), inner.loc)
    return ir.Call(callee, (*bound.values(), *variables.values()), seed)


def defaults_now(
    params: tuple[ir.Param, ...], variables: Mapping[str, ir.Atom]
) -> tuple[ir.Param, ...]:
    """Parameters of a closure whose defaults read the variables by their names outside."""

    def now(n: ir.Name) -> ir.Atom:
        return variables.get(n.id, n)

    return tuple(
        p if p.default is None else replace(p, default=ir.map_atom(now, p.default)) for p in params
    )


# --- recursion -----------------------------------------------------------------------------------


def is_recursive(fn: LocalFunction) -> bool:
    """Whether a local function can come to call itself."""
    return any(g is fn for g in _reached(fn))


def _reached(fn: LocalFunction) -> list[LocalFunction]:
    """The local functions that a call of one may lead to."""
    found: list[LocalFunction] = []
    todo = [fn]
    while todo:
        here = todo.pop()
        for name in scan_function(here.node).free:
            meaning = here.scope.get(name)
            if isinstance(meaning, LocalFunction) and not any(meaning is f for f in found):
                found.append(meaning)
                todo.append(meaning)
    return found


def call(b: Builder, fn: LocalFunction, given: ir.Call, loc: ir.Loc) -> ir.Call:
    """A call of a recursive local function; `given` has the arguments as they were written."""
    made, top = _lifted(b, fn)
    kwargs = tuple((None if k is None else top.keywords.get(k, k), v) for k, v in given.kwargs)
    signature = ir.Function(fn.name, top.params, ())
    bound = bind_displays(signature, ir.Call(made, given.args, kwargs), loc)
    args: list[ir.Atom] = []
    for value in bound.values():
        args.append(b.temp(value, loc) if isinstance(value, ir.Call) else value)
    return ir.Call(made, (*args, *map(ir.Name, made.captured)), text=fn.name)


def _lifted(b: Builder, fn: LocalFunction) -> tuple[Lifted, Head]:
    """The function, lifted together with those that it calls and that call it."""
    for known, made, top in b.lifted:
        if known is fn:
            return made, top
    members: list[tuple[LocalFunction, Lifted, Head]] = []
    for g in _reached(fn):
        if any(fn is h for h in _reached(g)):
            top = head(b, g)
            made = Lifted(
                g.name, tuple(p.name for p in top.params), str(b.source.function.__module__)
            )
            members.append((g, made, top))
    b.lifted += members
    bodies = [lifted_function(b, g, top) for g, _, top in members]
    captured = tuple(dict.fromkeys(n for f in bodies for n in free(f)))
    group = {id(made) for _, made, _ in members}
    for function, (_, made, _) in zip(bodies, members, strict=True):
        made.captured = captured
        plain = tuple(ir.Param(n) for n in (*(p.name for p in function.params), *captured))
        body = _passing(function.body, captured, group)
        made.function = replace(function, params=plain, body=body)
    return _lifted(b, fn)


def _passing(block: ir.Block, captured: tuple[str, ...], group: set[int]) -> ir.Block:
    """A block whose calls inside a group pass on what the group captures."""

    def rhs(old: ir.Rhs) -> ir.Rhs:
        if isinstance(old, ir.Call) and id(old.fn) in group:
            return replace(old, args=(*old.args, *map(ir.Name, captured)))
        return old

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, (ir.Assign, ir.Effect)):
            return ir.rebuilt(s, rhs=rhs(s.rhs))
        return s

    return ir.replaced(block, stmt)


def free(fn: ir.Function) -> tuple[str, ...]:
    """The names that a function reads from outside."""
    own = ir.bound(fn.body) | {p.name for p in fn.params}
    read = set(ir.used(fn.body))
    for param in fn.params:
        if isinstance(param.default, ir.Name):
            read.add(param.default.id)
    return tuple(sorted(read - own))


# --- functions that are values: lambdas and nested functions that are passed on or returned ------


@frozen(slots=True)
class Closure(ir.Opaque):
    """A function made here: its text, and what to inline where it is called.

    `reads` are the variables of the enclosing function that it reads when it is called, and
    `captured` what `function` calls them; `keywords` what it calls its parameters.  `whole` is
    false where the text alone is no expression that makes the function.  `held` are those of the
    captured names that may be replaced by their values where the function is made.
    """

    name: str = field(default="lambda", compare=False)
    function: ir.Function | None = field(default=None, compare=False, repr=False)
    captured: tuple[str, ...] = field(default=(), compare=False)
    keywords: Mapping[str, str] = field(default_factory=dict, compare=False)
    whole: bool = field(default=True, compare=False)
    loc: ir.Loc = field(default=ir.NOWHERE, compare=False, repr=False)
    held: frozenset[str] = field(default=frozenset(), compare=False)
    site: ir.Site | None = field(default=None, compare=False, repr=False)

    @property
    def is_pure(self) -> bool:
        """Making a function does nothing."""
        return True

    @property
    def variables(self) -> dict[str, ir.Atom] | None:
        """What each captured name is called now; None if that is not known any more."""
        if len(self.captured) != len(self.reads):
            return None
        return {n: v for n, v in zip(self.captured, self.reads) if not n.startswith(MARK)}

    @property
    def marks(self) -> dict[str, ir.Name]:
        """The marks of captured names whose variables may be bound after the function is made."""
        pairs = zip(self.captured, self.reads)
        return {n[len(MARK) :]: v for n, v in pairs if n.startswith(MARK)}


def anonymous(b: Builder, node: Node) -> ir.Opaque:
    """A lambda that is passed on; one that cannot be lowered stays text."""
    from srcdiff.frontend.lower import purity

    try:
        purity.check_text(b, node)
        text = b.opaque(node)
    except UnsupportedError:  # its text would not do: it must be inlined
        return _closure(b, local_functions.local_function(b, node, "lambda"), node, None)
    return _closure(b, local_functions.local_function(b, node, "lambda"), node, text)


def named(b: Builder, fn: LocalFunction, node: Node) -> ir.Opaque:
    """A nested function that is used as a value; a lambda is the same wherever it stands."""
    if type(fn.node).__name__ == "Lambda" and not fn.defaults:
        return anonymous(b, fn.node)
    return _closure(b, fn, node, None)


def decorated(b: Builder, fn: LocalFunction, node: Node) -> ir.Rhs:
    """A nested function as its decorators make it."""
    value: ir.Rhs = named(b, fn, node)
    for decorator in reversed(node.decorator_list):
        if jumps.is_transparent(b, decorator):
            continue
        held = b.temp(value, b.loc(node))
        b.scope[held.id] = held
        value = b.rhs(b.quoted("made(fn)", decorator, made=decorator, fn=held.id))
    return value


def _closure(b: Builder, fn: LocalFunction, node: Node, text: ir.Opaque | None) -> Closure:
    """The value of a local function; `text` makes it too."""
    top = head(b, fn)
    function = lifted_function(b, fn, top)
    before = text.reads if text is not None else ()
    shown = b.source.text(node) if type(node).__name__ == "Lambda" else fn.name
    reads = tuple(dict.fromkeys((*before, *map(ir.Name, free(function)))))
    return Closure(
        shown if text is None else text.text, reads, () if text is None else text.refs,
        name=fn.name, function=function, captured=tuple(n.id for n in reads),
        keywords=top.keywords, whole=text is not None, loc=b.loc(node), is_lambda=text is not None,
        held=frozenset(a.id for a in fn.defaults.values() if isinstance(a, ir.Name)),
    )  # fmt: skip


# --- how many arguments a function takes: what `*xs` in a call of it must stand for --------------


def wanted(call: ir.Call, fn: Any) -> int | None:
    """How many arguments the one `*xs` of a call of `fn` stands for; None if there is a choice."""
    stars = [a for a in call.args if isinstance(a, ir.Star)]
    if len(stars) != 1 or any(k is None for k, _ in call.kwargs):
        return None
    free = _places(fn, {k for k, _ in call.kwargs})
    return None if free is None else free - len(call.args) + 1


def _places(fn: Any, named: Set[str | None]) -> int | None:
    """How many positional arguments a function takes beside named ones; None if it may be more."""
    if isinstance(fn, np.ufunc):
        return fn.nin  # what is written into is given by name
    if isinstance(fn, Closure) and fn.function is not None:
        params = [(p.name, p.style, p.default is not None) for p in fn.function.params]
    elif isinstance(fn, types.FunctionType) or records.is_record(fn):
        every = inspect.signature(fn).parameters.values()
        params = [(p.name, STYLES[p.kind], p.default is not p.empty) for p in every]
    else:
        return None
    free = [p for p in params if p[1] not in ("kw", "**") and p[0] not in named]
    return None if any(style == "*" or optional for _, style, optional in free) else len(free)
