"""Functions that are values: lambdas and nested functions that are passed on or returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import gast

from srcdiff.errors import UnsupportedError
from srcdiff.frontend.closures import lifted, local
from srcdiff.frontend.closures.settled import MARK
from srcdiff.frontend.lower import jumps, quiet
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node
from srcdiff.ir import (
    NOWHERE,
    Assign,
    Atom,
    Call,
    Function,
    Loc,
    Name,
    Opaque,
    Return,
    Rhs,
    Site,
    Star,
)


@dataclass(frozen=True)
class Closure(Opaque):
    """A function made here: its text, and what to inline where it is called.

    `reads` are the variables of the enclosing function that it reads when it is called, and
    `captured` what `function` calls them; `keywords` what it calls its parameters.  `whole` is
    false where the text alone is no expression that makes the function.  `held` are those of the
    captured names that may be replaced by their values where the function is made.
    """

    name: str = field(default="lambda", compare=False)
    function: Function | None = field(default=None, compare=False, repr=False)
    captured: tuple[str, ...] = field(default=(), compare=False)
    keywords: Mapping[str, str] = field(default_factory=dict, compare=False)
    whole: bool = field(default=True, compare=False)
    loc: Loc = field(default=NOWHERE, compare=False, repr=False)
    held: frozenset[str] = field(default=frozenset(), compare=False)
    site: Site | None = field(default=None, compare=False, repr=False)

    @property
    def is_pure(self) -> bool:
        """Making a function does nothing."""
        return True

    @property
    def variables(self) -> dict[str, Atom] | None:
        """What each captured name is called now; None if that is not known any more."""
        if len(self.captured) != len(self.reads):
            return None
        return {n: v for n, v in zip(self.captured, self.reads) if not n.startswith(MARK)}

    @property
    def marks(self) -> dict[str, Name]:
        """The marks of captured names whose variables may be bound after the function is made."""
        pairs = zip(self.captured, self.reads)
        return {n[len(MARK) :]: v for n, v in pairs if n.startswith(MARK)}


def anonymous(b: Builder, node: Node) -> Opaque:
    """A lambda that is passed on; one that cannot be lowered stays text."""
    try:
        quiet.check(b, node)
        text = b.opaque(node)
    except UnsupportedError:  # its text would not do: it must be inlined
        return _closure(b, local.local_function(b, node, "lambda"), node, None)
    mark = len(b.out)
    try:
        return _closure(b, local.local_function(b, node, "lambda"), node, text)
    except UnsupportedError:
        del b.out[mark:]
        return text


def named(b: Builder, fn: LocalFunction, node: Node) -> Opaque:
    """A nested function that is used as a value; a lambda is the same wherever it stands."""
    if type(fn.node).__name__ == "Lambda" and not fn.defaults:
        return anonymous(b, fn.node)
    return _closure(b, fn, node, None)


def decorated(b: Builder, fn: LocalFunction, node: Node) -> Rhs:
    """A nested function as its decorators make it."""
    value: Rhs = named(b, fn, node)
    for decorator in reversed(node.decorator_list):
        if jumps.is_transparent(b, decorator):
            continue
        held = b.temp(value, b.loc(node))
        b.scope[held.id] = held
        argument = gast.copy_location(gast.Name(held.id, gast.Load(), None, None), decorator)
        made = gast.copy_location(gast.Call(decorator, [argument], []), decorator)
        b.made.append(made)
        value = b.rhs(made)
    return value


def _closure(b: Builder, fn: LocalFunction, node: Node, text: Opaque | None) -> Closure:
    """The value of a local function; `text` makes it too."""
    top = lifted.head(b, fn)
    if lifted.is_recursive(fn):
        function = _calling(b, fn, top, node)
    else:
        function = lifted.function(b, fn, top)
    before = text.reads if text is not None else ()
    reads = tuple(dict.fromkeys((*before, *map(Name, lifted.free(function)))))
    return Closure(
        fn.name if text is None else text.text, reads, () if text is None else text.refs,
        name=fn.name, function=function, captured=tuple(n.id for n in reads),
        keywords=top.keywords, whole=text is not None, loc=b.loc(node),
        held=frozenset(a.id for a in fn.defaults.values() if isinstance(a, Name)),
    )  # fmt: skip


def _calling(b: Builder, fn: LocalFunction, top: lifted.Head, node: Node) -> Function:
    """A function that calls a recursive one."""
    loc = b.loc(node)
    args = tuple(Name(p.name) for p in top.params if p.style in ("pos", "any"))
    rest = tuple(Star(Name(p.name)) for p in top.params if p.style == "*")
    kwargs = tuple(
        (None if p.style == "**" else name, Name(p.name))
        for name, p in zip(_sources(top), top.params, strict=True)
        if p.style in ("kw", "**")
    )
    given = Call(fn.name, (*args, *rest), kwargs)  # type: ignore[arg-type]
    result = b.fresh("_t")
    body = b.collect(lambda: b.emit(Assign(result, lifted.call(b, fn, given, loc), loc)))
    return Function(fn.name, top.params, (*body, Return(result, loc)), loc=loc)


def _sources(top: lifted.Head) -> list[str]:
    """The parameters' names in the source, in the order of the parameters."""
    names = {new: name for name, new in top.keywords.items()}
    return [names[p.name] for p in top.params]


__all__ = ["Closure", "anonymous", "named"]
