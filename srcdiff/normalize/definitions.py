"""A definition at one call: what is known of the arguments decides its `if`s and its loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.errors import MissingRuleError
from srcdiff.ir.kinds import Callable, Kind, Unknown
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.options import trimmed
from srcdiff.primitives import notation
from srcdiff.primitives.arguments import REMEDY
from srcdiff.specialize.folding import Folder
from srcdiff.specialize.forms import UNSET

Kinds = Mapping[str, Kind]

_ROUNDS = 4


def inferred(block: ir.Block, kinds: Kinds) -> Kinds:
    """The kinds of the names that a block binds."""
    free = sorted(ir.used(block) - ir.bound(block))
    params = tuple(ir.Param(n) for n in free)
    known = {n: kinds[n] for n in free if n in kinds}
    plain = tuple(s for s in block if not isinstance(s, (ir.Accum, ir.Demand, ir.Reset)))
    return infer(ir.Function("", params, (*plain, ir.Return(ir.NONE))), known)


class Specialiser:
    """Decides what is known of a definition at one call."""

    def __init__(
        self, kinds: Kinds, fresh: ir.Fresh, name: str, loc: ir.Loc, mixed: bool = False
    ) -> None:
        self.kinds = kinds
        self.mixed = mixed  # what has no known dtype may be complex
        self.fresh = fresh
        self.name = name
        self.loc = loc
        self.before: list[ir.Stmt] = []  # what has to run before the statement at hand

    def emit(self, rhs: ir.Rhs) -> ir.Name:
        """A name for a value that the statement at hand needs."""
        name = self.fresh()
        self.before.append(ir.Assign(name, rhs, self.loc))
        return name

    def settled(self, block: ir.Block) -> ir.Block:
        """The block with what is known decided, until nothing changes."""
        for _ in range(_ROUNDS):
            known = {**self.kinds, **inferred(block, self.kinds)}
            folder = Folder(known, self.emit, mixed=self.mixed)
            new = self.block(block, folder, {})
            if new == block:
                break
            block = new
        return self.checked(block)

    def checked(self, block: ir.Block, certain: bool = True) -> ir.Block:
        """The block; an error where the definition refuses the call, there or when it runs."""
        out: list[ir.Stmt] = []
        for stmt in block:
            reason = _refusal(stmt)
            if reason and certain:
                raise MissingRuleError(
                    f"the rule of {self.name} does not cover this call: {reason}",
                    self.loc,
                    REMEDY,
                )
            if reason:
                stmt = ir.Verbatim(f"raise NotImplementedError({reason!r})", loc=self.loc)
            out.append(
                ir.map_blocks(stmt, lambda b: self.checked(b, False))
            )
        return tuple(out)

    def block(self, block: ir.Block, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """A block with what is known put in; `env` takes the names of known values."""
        out: list[ir.Stmt] = []
        for stmt in block:
            out += self.stmt(stmt, folder, env)
        return tuple(out)

    def stmt(self, stmt: ir.Stmt, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """One statement with what is known put in."""

        def read(n: ir.Name) -> ir.Atom:
            return env.get(n.id, n)

        if isinstance(stmt, ir.If):
            return self.branch(stmt, folder, env)
        if isinstance(stmt, ir.For):
            return self.loop(stmt, folder, env)
        if isinstance(stmt, ir.Assign):
            rhs = ir.map_rhs(read, stmt.rhs)
            if isinstance(rhs, ir.Call) and rhs.fn is not ir.make_list:
                rhs = _answered(rhs, folder) or folder.call(rhs)
                rhs = trimmed(rhs) if isinstance(rhs, ir.Call) else rhs
            env.pop(stmt.target.id, None)
            if isinstance(rhs, (ir.Const, ir.Tup, ir.Ref)):
                env[stmt.target.id] = rhs
            before, self.before = self.before, []
            return (*before, replace(stmt, rhs=rhs))
        if isinstance(stmt, ir.While):
            _forget(env, stmt)
        return (ir.map_stmt(stmt, read, lambda n: n, lambda b: self.block(b, folder, dict(env))),)

    def branch(self, stmt: ir.If, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """An `if`: the branch that is taken, where that is known."""
        test = env.get(stmt.test.id, stmt.test) if isinstance(stmt.test, ir.Name) else stmt.test
        known = folder.static(test)
        if known is not UNSET:
            return self.block(stmt.body if known else stmt.orelse, folder, env)
        body = self.block(stmt.body, folder, dict(env))
        orelse = self.block(stmt.orelse, folder, dict(env))
        _forget(env, stmt)
        return (replace(stmt, test=test, body=body, orelse=orelse),)

    def loop(self, stmt: ir.For, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """A loop: written out where its range is known."""

        def read(n: ir.Name) -> ir.Atom:
            return env.get(n.id, n)

        rhs = ir.map_rhs(read, stmt.iter)
        steps = _range_of(rhs, folder)
        if steps is not None and stmt.stop is None:
            out: list[ir.Stmt] = []
            for k in steps:
                out += self.block(self.own(stmt, k), folder, env)
            return tuple(out)
        _forget(env, stmt)
        assert not isinstance(rhs, ir.Opaque)
        return (replace(stmt, iter=rhs, body=self.block(stmt.body, folder, dict(env))),)

    def own(self, stmt: ir.For, k: int) -> ir.Block:
        """The body of one iteration, with its temporaries renamed apart."""
        start = ir.Assign(stmt.target, ir.Const(k), stmt.loc)
        inner = sorted(n for n in ir.bound(stmt.body) if n.startswith("_t"))
        return (start, *ir.rename(stmt.body, {n: self.fresh().id for n in inner}))


def _refusal(stmt: ir.Stmt) -> str:
    """The reason that a statement of a definition gives for a refusal, "" if it is none."""
    call = ir.call_of(stmt)
    if call is None or call.fn is not notation.refuse:
        return ""
    assert isinstance(call.args[0], ir.Const)
    return str(call.args[0].value)


def _forget(env: dict[str, ir.Atom], stmt: ir.Stmt) -> None:
    """What a statement may bind is not known from here on."""
    for name in ir.bound((stmt,)):
        env.pop(name, None)


def _answered(call: ir.Call, folder: Folder) -> ir.Const | None:
    """The answer of `callable` and `np.iscomplexobj` where the kind tells."""
    if call.fn is callable:
        return _is_callable(folder, call.args[0])
    if call.fn is not np.iscomplexobj:
        return None
    dtype = getattr(folder.kind(call.args[0]), "dtype", None)
    return None if dtype is None else ir.Const(np.dtype(dtype).kind == "c")


def _is_callable(folder: Folder, atom: ir.Atom) -> ir.Const | None:
    kind = folder.kind(atom)
    if isinstance(kind, Unknown):
        return None
    return ir.Const(isinstance(kind, Callable))


def _range_of(rhs: ir.Rhs, folder: Folder) -> range | None:
    """The range that a loop runs over, where it is known."""
    if not isinstance(rhs, ir.Call) or rhs.fn is not range:
        return None
    known = [folder.static(a) for a in rhs.args]
    return None if any(type(k) is not int for k in known) else range(*known)

