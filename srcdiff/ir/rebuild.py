"""Rebuilding nodes: names mapped, and names that are new."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, TypeVar, Union

from srcdiff.ir.look import PLAIN, occurrences, parts
from srcdiff.ir.nodes import (
    Accum,
    Assign,
    Atom,
    Block,
    Call,
    Const,
    Demand,
    Effect,
    For,
    Function,
    If,
    Name,
    Opaque,
    Pair,
    Permute,
    Ref,
    Reset,
    Return,
    Rhs,
    SetItem,
    Slice,
    Star,
    Stmt,
    Tup,
    Verbatim,
    While,
)
from srcdiff.ir.text import rename_text

S = TypeVar("S", bound=Union[Stmt, Function])

_NO_WORD = re.compile(r"\W+")


def map_atom(fn: Callable[[Name], Atom], atom: Atom) -> Atom:
    """An atom with every name replaced by `fn(name)`."""
    kind = type(atom)
    if kind is Name:
        return fn(atom)  # type: ignore[arg-type]
    if kind is Const or kind is Ref or not occurrences(atom):
        return atom
    old = parts(atom)
    new = tuple([map_atom(fn, a) for a in old])
    if all(map(operator.is_, old, new)):
        return atom
    if isinstance(atom, Tup):
        return Tup(new, atom.listed)
    return Slice(*new) if isinstance(atom, Slice) else Star(*new)


def map_rhs(fn: Callable[[Name], Atom], rhs: Rhs) -> Rhs:
    """A right-hand side with every name that it reads replaced (itself if they all stay)."""
    if isinstance(rhs, Call):
        return _map_call(fn, rhs) if occurrences(rhs) else rhs
    if isinstance(rhs, Opaque):
        return map_opaque(fn, rhs)
    return map_atom(fn, rhs)


def _map_call(fn: Callable[[Name], Atom], call: Call) -> Call:
    """A call with every name that it reads replaced."""
    callee, text = call.fn, call.text
    if isinstance(callee, Name):
        new = fn(callee)
        if isinstance(new, Ref):
            callee, text = new.value, new.text
        else:
            callee = new  # type: ignore[assignment]
    args = [map_atom(fn, a) for a in call.args]
    kwargs = [(k, map_atom(fn, v)) for k, v in call.kwargs]
    same = callee is call.fn and all(map(operator.is_, args, call.args))
    if same and all(a[1] is b[1] for a, b in zip(kwargs, call.kwargs)):
        return call
    return Call(callee, tuple(args), tuple(kwargs), text)


def map_opaque(fn: Callable[[Name], Atom], rhs: Opaque) -> Opaque:
    """An opaque expression with its names replaced, by names only."""
    new = {n.id: fn(n) for n in rhs.reads}
    if all(isinstance(v, Name) and v.id == k for k, v in new.items()):
        return rhs
    return replace(rhs, text=rename_text(rhs.text, new), reads=_only_names(new))


def _only_names(new: Mapping[str, Atom]) -> tuple[Name, ...]:
    return tuple(v for v in new.values() if isinstance(v, Name))


def map_stmt(
    stmt: Stmt,
    read: Callable[[Name], Atom],
    write: Callable[[Name], Name],
    block: Callable[[Block], Block],
) -> Stmt:
    """A statement with its reads, its bound names and its inner blocks mapped.

    The base of a store and the names of stop flags must map to names.
    """
    if isinstance(stmt, Assign):
        rhs, target = map_rhs(read, stmt.rhs), write(stmt.target)
        if rhs is stmt.rhs and target is stmt.target:
            return stmt
        return Assign(target, rhs, stmt.loc)

    def name(n: Name) -> Name:
        new = read(n)
        assert isinstance(new, Name), f"{n.id} must stay a name"
        return new

    def stop(n: Name | None) -> Name | None:
        return None if n is None else name(n)

    if isinstance(stmt, Permute):
        sources = tuple(name(s) for s in stmt.sources)
        return replace(stmt, sources=sources, targets=tuple(write(t) for t in stmt.targets))
    if isinstance(stmt, SetItem):
        index = None if stmt.index is None else map_atom(read, stmt.index)
        return rebuilt(stmt, base=name(stmt.base), index=index, value=map_atom(read, stmt.value))
    if isinstance(stmt, Effect):
        return rebuilt(stmt, rhs=map_rhs(read, stmt.rhs))
    if isinstance(stmt, Verbatim):
        new: dict[str, Atom] = {n.id: read(n) for n in stmt.reads}
        bound_new = {n.id: write(n) for n in stmt.writes}
        text = rename_text(stmt.text, {**new, **bound_new})
        return replace(stmt, text=text, reads=_only_names(new), writes=_only_names(bound_new))
    if isinstance(stmt, If):
        test = map_atom(read, stmt.test)
        return rebuilt(stmt, test=test, body=block(stmt.body), orelse=block(stmt.orelse))
    if isinstance(stmt, For):
        it = map_rhs(read, stmt.iter)
        target = write(stmt.target)
        body = block(stmt.body)
        return rebuilt(stmt, iter=it, target=target, body=body, stop=stop(stmt.stop))
    if isinstance(stmt, While):
        cond = block(stmt.cond)
        test = map_atom(read, stmt.test)
        return rebuilt(stmt, cond=cond, test=test, body=block(stmt.body), stop=stop(stmt.stop))
    if isinstance(stmt, Return):
        return rebuilt(stmt, value=map_atom(read, stmt.value))
    if isinstance(stmt, Accum):
        value, like = map_atom(read, stmt.value), name(stmt.like)
        return Accum(write(stmt.target), value, like, stmt.loc)
    if isinstance(stmt, Demand):
        like = name(stmt.like)
        return Demand(write(stmt.target), like, stmt.loc)
    if isinstance(stmt, Reset):
        return Reset(write(stmt.target), stmt.loc)
    if isinstance(stmt, Pair):
        primal = None if stmt.primal is None else block((stmt.primal,))[0]
        return Pair(primal, block(stmt.adjoint), stmt.loc)
    return stmt


def map_blocks(stmt: Stmt, block: Callable[[Block], Block]) -> Stmt:
    """A statement with its inner blocks mapped; the same object if nothing in them changed."""
    if type(stmt) in PLAIN:
        return stmt
    if isinstance(stmt, If):
        return rebuilt(stmt, body=block(stmt.body), orelse=block(stmt.orelse))
    if isinstance(stmt, For):
        return rebuilt(stmt, body=block(stmt.body))
    if isinstance(stmt, While):
        return rebuilt(stmt, cond=block(stmt.cond), body=block(stmt.body))
    if isinstance(stmt, Pair):
        primal = None if stmt.primal is None else block((stmt.primal,))[0]
        return rebuilt(stmt, primal=primal, adjoint=block(stmt.adjoint))
    return stmt


def rebuilt(stmt: S, **fields: Any) -> S:
    """A statement or function with other fields; the same object if they are what it has.

    What is remembered beside its fields then stays known.
    """
    old = vars(stmt)
    for name, new in fields.items():
        if not (new is old[name] or _are_items(new, old[name])):
            return replace(stmt, **fields)
    return stmt


def _are_items(new: Any, old: Any) -> bool:
    """Whether two blocks have the very same statements."""
    if type(new) is not tuple or type(old) is not tuple or len(new) != len(old):
        return False
    return all(map(operator.is_, new, old))


def rename(block: Block, new: Mapping[str, str]) -> Block:
    """A block with names replaced, where they are read and where they are bound."""
    made = {old: Name(name) for old, name in new.items()}

    def one(n: Name) -> Name:
        return made.get(n.id, n)

    def many(inner: Block) -> Block:
        return tuple(map_stmt(s, one, one, many) for s in inner)

    return many(block)


def without(block: Block, gone: Set[str]) -> Block:
    """A block that does not assign to some names."""
    kept = (s for s in block if not (isinstance(s, Assign) and s.target.id in gone))
    return tuple(map_blocks(s, lambda b: without(b, gone)) for s in kept)


class Fresh:
    """Makes names that no other name of a function has; temporaries start with `_`."""

    def __init__(self, taken: Iterator[str] | frozenset[str] | set[str] = frozenset()) -> None:
        self.taken = set(taken)
        self.count: dict[str, int] = {}

    def __call__(self, base: str = "_t") -> Name:
        if not base.isidentifier():  # `d_self.w`: after an attribute
            base = _NO_WORD.sub("_", base.replace("self.", "")).rstrip("_")
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
