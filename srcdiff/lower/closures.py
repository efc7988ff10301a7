"""Functions that are values: lambdas and nested functions that are passed on or returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from srcdiff.errors import UnsupportedError
from srcdiff.ir import NOWHERE, Atom, Block, Function, Loc, Name, Opaque, Param, Return, names, used
from srcdiff.ir import bound as bound_names
from srcdiff.lower import calls
from srcdiff.lower.builder import Builder, LocalFunction, Meaning, Node
from srcdiff.lower.scope import parameters, scan_function


@dataclass(frozen=True)
class Closure(Opaque):
    """A function made here: its text, and what to inline where it is called.

    `reads` are the variables of the enclosing function that it reads when it is called, and
    `captured` what `function` calls them; `keywords` what it calls its parameters.  `whole` is
    false where the text alone is no expression that makes the function.
    """

    name: str = field(default="lambda", compare=False)
    function: Function | None = field(default=None, compare=False, repr=False)
    captured: tuple[str, ...] = field(default=(), compare=False)
    keywords: Mapping[str, str] = field(default_factory=dict, compare=False)
    whole: bool = field(default=True, compare=False)
    loc: Loc = field(default=NOWHERE, compare=False, repr=False)

    @property
    def variables(self) -> dict[str, Atom] | None:
        """What each captured name is called now; None if that is not known any more."""
        if len(self.captured) != len(self.reads):
            return None
        return dict(zip(self.captured, self.reads))


def anonymous(b: Builder, node: Node) -> Opaque:
    """A lambda that is passed on; one that cannot be lowered stays text."""
    try:
        text = b.opaque(node)
    except UnsupportedError:  # its text would not do: it must be inlined
        return _closure(b, calls.local_function(b, node, "lambda"), node, None)
    mark = len(b.out)
    try:
        return _closure(b, calls.local_function(b, node, "lambda"), node, text)
    except UnsupportedError:
        del b.out[mark:]
        return text


def named(b: Builder, fn: LocalFunction, node: Node) -> Opaque:
    """A nested function that is used as a value."""
    return _closure(b, fn, node, None)


def _closure(b: Builder, fn: LocalFunction, node: Node, text: Opaque | None) -> Closure:
    """The value of a local function; `text` makes it too."""
    function, keywords = _function(b, fn)
    before = text.reads if text is not None else ()
    reads = tuple(dict.fromkeys((*before, *map(Name, _free(function)))))
    return Closure(
        fn.name if text is None else text.text, reads, () if text is None else text.refs,
        name=fn.name, function=function, captured=tuple(n.id for n in reads),
        keywords=keywords, whole=text is not None, loc=b.loc(node),
    )  # fmt: skip


def _function(b: Builder, fn: LocalFunction) -> tuple[Function, dict[str, str]]:
    """A local function by itself, its locals renamed apart, and its parameters' names."""
    scan = scan_function(fn.node)
    b.walrus = b.walrus or scan.walrus
    scope: dict[str, Meaning] = dict(fn.scope)
    new: dict[str, str] = {}
    for local in scan.bound:
        name = b.fresh(local)
        scope[local], new[local] = name, name.id
    values: list[Atom] = []
    body = b.collect(lambda: values.append(calls.body_of(b, fn, scope, scan)))
    params = tuple(
        Param(new[name], fn.defaults.get(name), style) for name, style in _styles(fn.node.args)
    )
    block: Block = (*body, Return(values[0], b.loc(fn.node)))
    function = Function(fn.name, params, block, loc=b.loc(fn.node))
    return function, {name: new[name] for name in parameters(fn.node.args)}


def _styles(args: Node) -> list[tuple[str, str]]:
    """The parameters of a definition and how they are given."""
    return [
        *((a.id, "pos") for a in args.posonlyargs),
        *((a.id, "any") for a in args.args),
        *((a.id, "kw") for a in args.kwonlyargs),
    ]


def _free(function: Function) -> tuple[str, ...]:
    """The names that a function reads from outside, in the order of the text."""
    own = bound_names(function.body) | {p.name for p in function.params}
    read = used(function.body)
    defaults = [n for p in function.params if p.default is not None for n in names(p.default)]
    return tuple(sorted((read | set(defaults)) - own))


__all__ = ["Closure", "anonymous", "named"]
