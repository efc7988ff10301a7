"""The intermediate representation: flat operands, nested control flow, frozen nodes.

Every operand of a call is an atom; every intermediate result has a name; control flow stays nested
as the user wrote it.  Locations are carried along but never compared, so two functions that do the
same are equal.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    """An object found outside the function (`np.pi`, a module's constant): its spelling and value."""

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
    """The callee of `args[0].name(*args[1:])`."""

    name: str


@dataclass(frozen=True)
class Attr:
    """The callee of the attribute read `args[0].name`."""

    name: str


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


Rhs = Union[Atom, Call, Opaque]


def make_list(*items: Any) -> list[Any]:
    """The callee of a list display."""
    return list(items)


def make_dict(*items: Any) -> dict[Any, Any]:
    """The callee of a dict display: keys and values in turn."""
    return dict(zip(items[::2], items[1::2]))


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


# --- looking at nodes --------------------------------------------------------------------------


def atoms(node: Rhs | None) -> Iterator[Atom]:
    """Every atom of an atom or right-hand side, inner ones included."""
    if node is None:
        return
    if isinstance(node, Call):
        if isinstance(node.fn, Name):
            yield node.fn
        for item in (*node.args, *(v for _, v in node.kwargs)):
            yield from atoms(item)
    elif isinstance(node, Opaque):
        yield from node.reads
    else:
        yield node
        for item in parts(node):
            yield from atoms(item)


def parts(atom: Atom) -> tuple[Atom, ...]:
    """The atoms directly inside an atom."""
    if isinstance(atom, Tup):
        return atom.items
    if isinstance(atom, Slice):
        return atom.lower, atom.upper, atom.step
    if isinstance(atom, Star):
        return (atom.value,)
    return ()


def names(node: Rhs | None) -> tuple[str, ...]:
    """The names read by an atom or right-hand side, in order, each once."""
    return tuple(dict.fromkeys(a.id for a in atoms(node) if isinstance(a, Name)))


def operands(stmt: Stmt) -> tuple[Rhs, ...]:
    """What a statement itself reads (not what the statements inside it read)."""
    if isinstance(stmt, Assign):
        return (stmt.rhs,)
    if isinstance(stmt, Permute):
        return stmt.sources
    if isinstance(stmt, SetItem):
        return (stmt.base, *(() if stmt.index is None else (stmt.index,)), stmt.value)
    if isinstance(stmt, Effect):
        return (stmt.rhs,)
    if isinstance(stmt, Verbatim):
        return stmt.reads
    if isinstance(stmt, If):
        return (stmt.test,)
    if isinstance(stmt, For):
        return (stmt.iter,)
    if isinstance(stmt, Return):
        return (stmt.value,)
    if isinstance(stmt, Accum):
        return (stmt.value, stmt.like)
    if isinstance(stmt, Demand):
        return (stmt.like,)
    return ()


def reads(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads; the base of a store counts as read.

    The test and the stop flag of a `While`, and the stop flag of a `For`, are read inside the loop
    (after `cond`, at the end of the body), so they are not listed here.
    """
    return tuple(dict.fromkeys(n for o in operands(stmt) for n in names(o)))


def writes(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself binds (a store into an array binds nothing)."""
    if isinstance(stmt, (Assign, Accum, Demand)):
        return (stmt.target.id,)
    if isinstance(stmt, Permute):
        return tuple(t.id for t in stmt.targets)
    if isinstance(stmt, For):
        return (stmt.target.id,)
    if isinstance(stmt, Verbatim):
        return tuple(w.id for w in stmt.writes)
    return ()


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    if isinstance(stmt, If):
        return stmt.body, stmt.orelse
    if isinstance(stmt, For):
        return (stmt.body,)
    if isinstance(stmt, While):
        return stmt.cond, stmt.body
    if isinstance(stmt, Pair):
        return (() if stmt.primal is None else (stmt.primal,)), stmt.adjoint
    return ()


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement of a block, outer ones first, in source order."""
    for stmt in block:
        yield stmt
        for inner in blocks(stmt):
            yield from walk(inner)


def bound(block: Block) -> frozenset[str]:
    """Every name bound anywhere in a block."""
    return frozenset(n for s in walk(block) for n in writes(s))


def used(block: Block) -> frozenset[str]:
    """Every name read anywhere in a block, tests and stop flags included."""
    found: set[str] = set()
    for stmt in walk(block):
        found.update(reads(stmt))
        if isinstance(stmt, While):
            found.update(names(stmt.test))
        if isinstance(stmt, (For, While)) and stmt.stop is not None:
            found.add(stmt.stop.id)
    return frozenset(found)


# --- rebuilding nodes --------------------------------------------------------------------------


def map_atom(fn: Callable[[Name], Atom], atom: Atom) -> Atom:
    """An atom with every name replaced by `fn(name)`."""
    if isinstance(atom, Name):
        return fn(atom)
    if isinstance(atom, Tup):
        return Tup(tuple(map_atom(fn, a) for a in atom.items))
    if isinstance(atom, Slice):
        return Slice(map_atom(fn, atom.lower), map_atom(fn, atom.upper), map_atom(fn, atom.step))
    if isinstance(atom, Star):
        return Star(map_atom(fn, atom.value))
    return atom


def map_rhs(fn: Callable[[Name], Atom], rhs: Rhs) -> Rhs:
    """A right-hand side with every name that it reads replaced."""
    if isinstance(rhs, Call):
        callee = rhs.fn
        if isinstance(callee, Name):
            new = fn(callee)
            callee = new.value if isinstance(new, Ref) else new  # type: ignore[assignment]
        args = tuple(map_atom(fn, a) for a in rhs.args)
        return replace(
            rhs, fn=callee, args=args, kwargs=tuple((k, map_atom(fn, v)) for k, v in rhs.kwargs)
        )
    if isinstance(rhs, Opaque):
        return map_opaque(fn, rhs)
    return map_atom(fn, rhs)


def map_opaque(fn: Callable[[Name], Atom], rhs: Opaque) -> Opaque:
    """An opaque expression with its names replaced, by names only."""
    new = {n.id: fn(n) for n in rhs.reads}
    if all(isinstance(v, Name) and v.id == k for k, v in new.items()):
        return rhs
    return replace(rhs, text=rename_text(rhs.text, new), reads=_only_names(new))


def _only_names(new: Mapping[str, Atom]) -> tuple[Name, ...]:
    return tuple(v for v in new.values() if isinstance(v, Name))


_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def rename_text(text: str, new: Mapping[str, Atom]) -> str:
    """Source text with whole identifiers replaced (attributes and keywords are left alone)."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    out, done = [], 0
    for i, tok in enumerate(tokens):
        string = _renamed_token(tokens, i, new)
        if string != tok.string:
            start = starts[tok.start[0] - 1] + tok.start[1]
            out += [text[done:start], string]
            done = start + len(tok.string)
    return "".join((*out, text[done:]))


def _renamed_token(tokens: list[tokenize.TokenInfo], i: int, new: Mapping[str, Atom]) -> str:
    """The new text of one token; before Python 3.12 a whole f-string is one token."""
    tok = tokens[i]
    if tok.type == tokenize.STRING and "f" in tok.string[:2].lower():
        return re.sub(r"\{[^{}]*\}", lambda field: _renamed_field(field.group(), new), tok.string)
    if tok.type != tokenize.NAME or tok.string not in new:
        return tok.string
    last = tokens[i - 1].string if i else ""
    following = tokens[i + 1].string if i + 1 < len(tokens) else ""
    if last == "." or (following == "=" and last in ("(", ",")):
        return tok.string
    return _atom_text(new[tok.string])


def _renamed_field(text: str, new: Mapping[str, Atom]) -> str:
    """One replacement field of an f-string with its names replaced."""
    expr, colon, spec = text.partition(":")

    def one(found: re.Match[str]) -> str:
        word = found.group()
        if word not in new or expr[: found.start()].endswith("."):
            return word
        return _atom_text(new[word])

    return _IDENTIFIER.sub(one, expr) + colon + spec


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Name):
        return atom.id
    return atom.text if isinstance(atom, Ref) else repr(getattr(atom, "value", None))


def map_stmt(
    stmt: Stmt,
    read: Callable[[Name], Atom],
    write: Callable[[Name], Name],
    block: Callable[[Block], Block],
) -> Stmt:
    """A statement with its reads, its bound names and its inner blocks mapped.

    The base of a store and the names of stop flags must map to names.
    """

    def name(n: Name) -> Name:
        new = read(n)
        assert isinstance(new, Name), f"{n.id} must stay a name"
        return new

    def stop(n: Name | None) -> Name | None:
        return None if n is None else name(n)

    if isinstance(stmt, Assign):
        return replace(stmt, rhs=map_rhs(read, stmt.rhs), target=write(stmt.target))
    if isinstance(stmt, Permute):
        sources = tuple(name(s) for s in stmt.sources)
        return replace(stmt, sources=sources, targets=tuple(write(t) for t in stmt.targets))
    if isinstance(stmt, SetItem):
        index = None if stmt.index is None else map_atom(read, stmt.index)
        return replace(stmt, base=name(stmt.base), index=index, value=map_atom(read, stmt.value))
    if isinstance(stmt, Effect):
        return replace(stmt, rhs=map_rhs(read, stmt.rhs))  # type: ignore[arg-type]
    if isinstance(stmt, Verbatim):
        new: dict[str, Atom] = {n.id: read(n) for n in stmt.reads}
        bound_new = {n.id: write(n) for n in stmt.writes}
        text = rename_text(stmt.text, {**new, **bound_new})
        return replace(stmt, text=text, reads=_only_names(new), writes=_only_names(bound_new))
    if isinstance(stmt, If):
        test = map_atom(read, stmt.test)
        return replace(stmt, test=test, body=block(stmt.body), orelse=block(stmt.orelse))
    if isinstance(stmt, For):
        it = map_rhs(read, stmt.iter)
        target = write(stmt.target)
        body = block(stmt.body)
        return replace(stmt, iter=it, target=target, body=body, stop=stop(stmt.stop))  # type: ignore[arg-type]
    if isinstance(stmt, While):
        cond = block(stmt.cond)
        test = map_atom(read, stmt.test)
        return replace(stmt, cond=cond, test=test, body=block(stmt.body), stop=stop(stmt.stop))
    if isinstance(stmt, Return):
        return replace(stmt, value=map_atom(read, stmt.value))
    if isinstance(stmt, Accum):
        value = map_atom(read, stmt.value)
        return replace(stmt, value=value, like=name(stmt.like), target=write(stmt.target))
    if isinstance(stmt, Demand):
        return replace(stmt, like=name(stmt.like), target=write(stmt.target))
    if isinstance(stmt, Reset):
        return replace(stmt, target=write(stmt.target))
    if isinstance(stmt, Pair):
        primal = None if stmt.primal is None else block((stmt.primal,))[0]
        return replace(stmt, primal=primal, adjoint=block(stmt.adjoint))
    return stmt


def rename(block: Block, new: Mapping[str, str]) -> Block:
    """A block with names replaced, where they are read and where they are bound."""

    def one(n: Name) -> Name:
        return Name(new[n.id]) if n.id in new else n

    def many(inner: Block) -> Block:
        return tuple(map_stmt(s, one, one, many) for s in inner)

    return many(block)


class Fresh:
    """Makes names that no other name of a function has; temporaries start with `_`."""

    def __init__(self, taken: Iterator[str] | frozenset[str] | set[str] = frozenset()) -> None:
        self.taken = set(taken)
        self.count: dict[str, int] = {}

    def __call__(self, base: str = "_t") -> Name:
        number = self.count.get(base, 0)
        candidate = base if number == 0 and base != "_t" else f"{base}_{number}"
        while candidate in self.taken:
            number += 1
            candidate = f"{base}_{number}"
        self.count[base] = number + 1
        self.taken.add(candidate)
        return Name(candidate)

    def state(self) -> tuple[set[str], dict[str, int]]:
        """A state to which `reset` goes back."""
        return set(self.taken), dict(self.count)

    def reset(self, state: tuple[set[str], dict[str, int]]) -> None:
        """Forget the names made since `state`."""
        self.taken, self.count = set(state[0]), dict(state[1])


def all_names(function: Function) -> frozenset[str]:
    """Every name of a function: parameters, bound and read ones."""
    params = {p.name for p in function.params}
    return frozenset(params) | bound(function.body) | used(function.body)
