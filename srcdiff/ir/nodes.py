"""The nodes: atoms, right-hand sides, statements and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Union


@dataclass(frozen=True)
class Loc:
    """A place in the user's source: file, line and column (both from 1; column 0 if unknown)."""

    file: str
    line: int
    col: int = 0


NOWHERE = Loc("<unknown>", 0, 0)


def _loc() -> Any:
    return field(default=NOWHERE, compare=False, repr=False)


# --- atoms -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name:
    """A local variable."""

    id: str


@dataclass(frozen=True, eq=False)
class Const:
    """A literal: None, bool, int, float, complex, str, bytes or Ellipsis."""

    value: Any

    def _key(self) -> tuple[type, str]:
        return type(self.value), repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, eq=False)
class Ref:
    """An object found outside the function (`np.pi`): its spelling and its value."""

    text: str
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and self.value is other.value

    def __hash__(self) -> int:
        return hash(id(self.value))


@dataclass(frozen=True)
class Slice:
    """`lower:upper:step` inside a subscript; a missing part is `Const(None)`."""

    lower: Atom
    upper: Atom
    step: Atom


@dataclass(frozen=True)
class Tup:
    """A tuple display of atoms: an index, a shape, several results."""

    items: tuple[Atom, ...]


@dataclass(frozen=True)
class Star:
    """`*value` among the positional arguments of a call."""

    value: Atom


Atom = Union[Name, Const, Ref, Slice, Tup, Star]

NONE = Const(None)


# --- right-hand sides --------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """The callee of `args[0].name(*args[1:])`.

    `after`: `super().name(...)` in a method of that class; the name is looked up behind it.
    """

    name: str
    after: type | None = None


@dataclass(frozen=True)
class Attr:
    """The callee of the attribute read `args[0].name`; `after` as for a `Method`."""

    name: str
    after: type | None = None


@dataclass(frozen=True)
class Derived:
    """A function still to be generated: one part of the derivative of `function`.

    `part` is "forward" (returns the value and the residuals) or "backward".  `key` identifies the
    specialisation; the pipeline maps it to a generated function.
    """

    name: str
    part: str
    key: Any


Callee = Union[Callable[..., Any], Method, Attr, Derived, Name]


@dataclass(frozen=True)
class Call:
    """`fn(*args, **kwargs)`.

    `fn` is the function object itself (operators are functions of the module `operator`), a
    `Method`, an `Attr`, or a `Name` where the callee is known only when running.  A keyword `None`
    in `kwargs` stands for `**value`.
    """

    fn: Callee
    args: tuple[Atom, ...] = ()
    kwargs: tuple[tuple[str | None, Atom], ...] = ()
    text: str | None = field(default=None, compare=False)  # the user's spelling of the callee


@dataclass(frozen=True)
class Opaque:
    """An expression kept as text: no derivative flows through it.

    `harmless` says that its result is no number (an f-string), so that active reads are no error.
    """

    text: str
    reads: tuple[Name, ...] = ()
    refs: tuple[tuple[str, Any], ...] = field(default=(), compare=False)  # global names it uses
    harmless: bool = False

    @property
    def is_pure(self) -> bool:
        """Whether leaving it out changes nothing."""
        return self.harmless


Rhs = Union[Atom, Call, Opaque]


def make_list(*items: Any) -> list[Any]:
    """The callee of a list display."""
    return list(items)


def make_dict(*items: Any) -> dict[Any, Any]:
    """The callee of a dict display: keys and values in turn."""
    return dict(zip(items[::2], items[1::2]))


def set_attr(base: Any, name: str, value: Any, op: str | None = None) -> None:
    """The callee of `base.name = value`, or `base.name op= value`."""
    from srcdiff.ir.operators import OPERATORS

    setattr(base, name, value if op is None else OPERATORS[op](getattr(base, name), value))


def new_object(cls: type) -> Any:
    """The callee of what makes an object without attributes, before its `__init__` runs."""
    return object.__new__(cls)


# --- statements --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    """`target = rhs`."""

    target: Name
    rhs: Rhs
    loc: Loc = _loc()


@dataclass(frozen=True)
class Permute:
    """`a, b = b, a`: `targets` take the values of `sources`, a permutation of the same names."""

    targets: tuple[Name, ...]
    sources: tuple[Name, ...]
    loc: Loc = _loc()


@dataclass(frozen=True)
class SetItem:
    """`base[index] op= value`; `index` None is the whole of an array or number, `base op= value`.

    `op` is None for a plain store, else the operator's text: "+", "-", "*", "/", "@", "**", ...
    """

    base: Name
    index: Atom | None
    value: Atom
    op: str | None = None
    loc: Loc = _loc()


@dataclass(frozen=True)
class Effect:
    """A call for its effect: `print(x)`, `xs.append(h)`, `np.add.at(x, i, v)`."""

    rhs: Call | Opaque
    loc: Loc = _loc()


@dataclass(frozen=True)
class Verbatim:
    """A statement kept as text that computes nothing (`assert`, `raise`, an import)."""

    text: str
    reads: tuple[Name, ...] = ()
    writes: tuple[Name, ...] = ()
    refs: tuple[tuple[str, Any], ...] = field(default=(), compare=False)
    loc: Loc = _loc()


@dataclass(frozen=True)
class If:
    """`if test: body else: orelse`."""

    test: Atom
    body: Block
    orelse: Block = ()
    loc: Loc = _loc()


@dataclass(frozen=True)
class For:
    """`for target in iter: body`, left after an iteration at whose end `stop` is true."""

    target: Name
    iter: Atom | Call
    body: Block
    stop: Name | None = None
    loc: Loc = _loc()


@dataclass(frozen=True)
class While:
    """Run `cond`; leave unless `test`; run `body`; leave if `stop` is true; again."""

    cond: Block
    test: Atom
    body: Block
    stop: Name | None = None
    loc: Loc = _loc()


@dataclass(frozen=True)
class Return:
    """The single exit at the end of a function."""

    value: Atom
    loc: Loc = _loc()


@dataclass(frozen=True)
class Comment:
    """A line of comment in generated code."""

    text: str
    loc: Loc = _loc()


# Statements that live only between `reverse` and `tape`.


@dataclass(frozen=True)
class Pair:
    """A primal statement (or None) and the adjoint statements that undo it, in their run order."""

    primal: Stmt | None
    adjoint: Block
    loc: Loc = _loc()


@dataclass(frozen=True)
class Undo:
    """Inside `Pair.adjoint`: the primal state before the statement is restored here.

    Without a marker it is restored at the end.
    """

    loc: Loc = _loc()


@dataclass(frozen=True)
class Accum:
    """Add `value` to the adjoint `target` of the primal `like`."""

    target: Name
    value: Atom
    like: Name
    loc: Loc = _loc()


@dataclass(frozen=True)
class Demand:
    """From here on the adjoint `target` of the primal `like` is a buffer of its own."""

    target: Name
    like: Name
    loc: Loc = _loc()


@dataclass(frozen=True)
class Reset:
    """The adjoint `target` is absent (zero) from here on."""

    target: Name
    loc: Loc = _loc()


Stmt = Union[
    Assign, Permute, SetItem, Effect, Verbatim, If, For, While, Return, Comment,
    Pair, Undo, Accum, Demand, Reset,
]  # fmt: skip
Block = tuple[Stmt, ...]


@dataclass(frozen=True)
class Param:
    """A parameter; `style` is "pos", "any", "kw", "*" or "**"."""

    name: str
    default: Atom | None = None
    style: str = "any"
    annotation: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Function:
    """A function: its parameters, its body (which ends in `Return`) and where it came from."""

    name: str
    params: tuple[Param, ...]
    body: Block
    doc: str | None = field(default=None, compare=False)
    loc: Loc = _loc()
    comments: Mapping[int, str] = field(default_factory=dict, compare=False, repr=False)
    returns: tuple[Loc, ...] = field(default=(), compare=False, repr=False)
