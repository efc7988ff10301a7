"""Regions without derivatives: the bodies of `with srcdiff.autograd.no_grad():`.

`flattened` writes such a `with` as an `if` whose test is the call of the mode.  Here, when calls
have been replaced by bodies, the `if` goes: what is computed inside is a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.analysis.links import is_marked, stored_names
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.lowering import flows
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.effects import makes_object, mutated_args
from srcdiff.primitives.ops import MODES, Op, is_op
from srcdiff.runtime.arrays import stop_gradient
from srcdiff.specialize.inline import is_user_function


def without_modes(function: ir.Function, params: ir.Kinds, inputs: Iterable[str]) -> ir.Function:
    """The function with what is computed in regions without derivatives as constants."""
    tests = {
        s.target.id: s.rhs
        for s in ir.walk(function)
        if isinstance(s, ir.Assign) and is_op(s.rhs, *MODES)
    }
    _check_used(function.body, tests)
    if not tests:
        return function
    kinds = infer(function, params)
    varied = reachable(inputs, edges_of(function, kinds, flows))
    stored, _ = stored_names(function.body, kinds)
    writer = _Regions(tests, kinds, varied, stored, ir.Fresh(ir.all_names(function)))
    done = ir.rebuilt(function, body=writer.block(function.body, True))
    active = reachable(inputs, edges_of(done, kinds, flows))
    for name, loc in writer.written:
        if name in active:
            raise _written(name, loc)
    return done


def _check_used(block: ir.Block, tests: Mapping[str, ir.Rhs]) -> None:
    """Refuse modes that are not used in `with` or as decorators."""
    for stmt in ir.walk(block):
        call = ir.call_of(stmt)
        stray = isinstance(stmt, ir.Effect) and is_op(stmt.rhs, *MODES)
        called = call is not None and isinstance(call.fn, ir.Name) and call.fn.id in tests
        named = not isinstance(stmt, ir.If) and any(n in tests for n in ir.reads(stmt))
        if stray or called or named:
            raise refused("loops.modes", getattr(stmt, "loc", ir.NOWHERE))


@state
class _Regions:
    """The walk; `on` says whether derivatives are recorded where it is."""

    tests: Mapping[str, ir.Rhs]
    kinds: ir.Kinds
    varied: frozenset[str]
    stored: frozenset[str]
    fresh: ir.Fresh
    written: list[tuple[str, ir.Loc]] = field(default_factory=list)
    inner: frozenset[str] = frozenset()  # parts of expressions whose value is a constant

    def block(self, block: ir.Block, on: bool) -> ir.Block:
        """A block without modes."""
        if not on:
            self.inner |= self.parts(block)
        return tuple(s for stmt in block for s in self.stmt(stmt, on))

    def parts(self, block: ir.Block) -> frozenset[str]:
        """The temporaries of a block that are read once, where a constant is computed from them."""
        uses: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(block):
            for name in ir.reads(stmt):
                uses.setdefault(name, []).append(stmt)
        return frozenset(
            n for n, (first, *more) in uses.items()
            if ir.is_temporary(n) and not more and first in block and self.is_stopped(first)
        )  # fmt: skip

    def is_stopped(self, stmt: ir.Stmt) -> bool:
        """Whether the value of a statement, or what it stores, becomes a constant."""
        if isinstance(stmt, ir.Store):
            return not self.holds(stmt.base)
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if not isinstance(stmt, ir.Assign) or not isinstance(rhs, (ir.Call, ir.Opaque)):
            return False
        return self.computes(rhs) and not self.written_by(rhs)

    def written_by(self, rhs: ir.Call | ir.Opaque) -> tuple[ir.Atom, ...]:
        """What an expression may write into."""
        if is_marked(rhs):
            return rhs.args[:1]
        return mutated_args(rhs, self.kinds) if isinstance(rhs, ir.Call) else ()

    def stmt(self, stmt: ir.Stmt, on: bool) -> ir.Block:
        """What stands for one statement."""
        if isinstance(stmt, ir.Assign) and stmt.target.id in self.tests:
            return ()
        if isinstance(stmt, ir.If) and isinstance(stmt.test, ir.Name):
            mode = self.tests.get(stmt.test.id)
            if isinstance(mode, ir.Call):
                return self.region(mode, stmt)
        if on or isinstance(stmt, (ir.If, ir.For, ir.While)):
            return (ir.map_blocks(stmt, lambda b: self.block(b, on)),)
        if isinstance(stmt, ir.Assign):
            return self.assign(stmt)
        if isinstance(stmt, ir.Store):
            return self.store(stmt)
        return self.effect(stmt) if isinstance(stmt, ir.Effect) else (stmt,)

    def region(self, mode: ir.Call, stmt: ir.If) -> ir.Block:
        """The body of a `with`; of one with a flag that is not known, both."""
        if not is_op(mode, Op.SET_GRAD_ENABLED):
            return self.block(stmt.body, is_op(mode, Op.ENABLE_GRAD))
        flag = mode.args[0] if mode.args else mode.kwargs[0][1]
        if isinstance(flag, (ir.Const, ir.Ref)):
            return self.block(stmt.body, bool(flag.value))
        one, two = self.block(stmt.body, True), self.block(stmt.body, False)
        return one if one == two else (ir.If(flag, one, two, stmt.loc),)

    # --- statements in a region without derivatives ---

    def assign(self, stmt: ir.Assign) -> ir.Block:
        """`y = f(x)` as `t = f(x); y = stop_gradient(t)`."""
        rhs, loc = stmt.rhs, stmt.loc
        if not isinstance(rhs, (ir.Call, ir.Opaque)) or not self.computes(rhs):
            return (stmt,)
        if isinstance(rhs, ir.Call) and self.written_by(rhs):
            return self.writing(stmt, rhs)
        if not ir.carries(stmt.target.id, self.kinds) or stmt.target.id in self.inner:
            return (stmt,)
        if stmt.target.id in self.stored and isinstance(rhs, ir.Call):
            return self.writing(stmt, rhs)  # it has memory of its own, and keeps it
        held = self.fresh("_" + stmt.target.id.lstrip("_"))
        stopped = ir.Call(stop_gradient, (held,))
        return (ir.Assign(held, rhs, loc), ir.Assign(stmt.target, stopped, loc))

    def computes(self, rhs: ir.Call | ir.Opaque) -> bool:
        """Whether an expression makes new numbers from some that carry a derivative."""
        if not any(n in self.varied for n in ir.names(rhs)):
            return False
        return isinstance(rhs, ir.Opaque) or not self.moves(rhs)

    def moves(self, call: ir.Call) -> bool:
        """Whether a call only puts values into containers or takes them out."""
        if is_op(call, Op.MAKE_LIST, Op.MAKE_DICT, Op.SET_ATTR) or makes_object(call.fn):
            return True
        if is_op(call, Op.MAX, Op.MIN):
            return len(call.args) > 1
        taken = is_op(call, *_MOVING) or isinstance(call.fn, (ir.Method, ir.Attr))
        return taken and any(self.holds(a) for a in call.args[:1])

    def holds(self, atom: ir.Atom) -> bool:
        """Whether a value is a container or an object."""
        kind = atom_kind(atom, self.kinds)
        return ir.is_container(kind) or isinstance(kind, ir.Object)

    def store(self, stmt: ir.Store) -> ir.Block:
        """A store into an array."""
        if self.holds(stmt.base):
            return (stmt,)
        self.note_written(stmt.base, stmt.loc)
        before, (value,) = self.stopped((stmt.value,), stmt.loc)
        return (*before, replace(stmt, value=value))

    def effect(self, stmt: ir.Effect) -> ir.Block:
        """A call for its effect."""
        call = stmt.rhs
        if not isinstance(call, ir.Call) or self.moves(call):
            return (stmt,)
        return self.writing(stmt, call)

    def writing(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> ir.Block:
        """A call that may write into its arguments gets constants."""
        if is_marked(call) and ir.is_scalar(atom_kind(call.args[0], self.kinds)):
            assert isinstance(stmt, ir.Assign)
            return self.assign(replace(stmt, rhs=replace(call, text=None)))
        kept: frozenset[str] = frozenset()
        if not is_user_function(call.fn):
            kept = frozenset(n for atom in self.written_by(call) for n in ir.names(atom))
            for name in kept:
                self.note_written(ir.Name(name), stmt.loc)
        before, args = self.stopped(call.args, stmt.loc, kept)
        more, values = self.stopped(tuple(v for _, v in call.kwargs), stmt.loc, kept)
        kwargs = tuple((k, v) for (k, _), v in zip(call.kwargs, values, strict=True))
        return (*before, *more, replace(stmt, rhs=replace(call, args=args, kwargs=kwargs)))

    def stopped(
        self, atoms: tuple[ir.Atom, ...], loc: ir.Loc, kept: frozenset[str] = frozenset()
    ) -> tuple[ir.Block, tuple[ir.Atom, ...]]:
        """Operands as constants where they carry a derivative, but those that are `kept`."""
        lines = Builder(self.fresh, loc)

        def constant(name: ir.Name) -> ir.Atom:
            if name.id in kept or name.id not in self.varied or not ir.carries(name.id, self.kinds):
                return name
            return lines.temp(ir.Call(stop_gradient, (name,)), "_" + name.id.lstrip("_"))

        new = tuple(ir.map_atom(constant, a) for a in atoms)
        return tuple(lines.out), new

    def note_written(self, atom: ir.Atom, loc: ir.Loc) -> None:
        """Note what is written into: it must not carry a derivative."""
        for name in ir.names(atom):
            kind = self.kinds.get(name, ir.UNKNOWN)
            if ir.is_numeric(kind) or kind is ir.UNKNOWN:
                self.written.append((name, loc))


_MOVING = (
    Op.GETITEM, Op.LIST, Op.TUPLE, Op.DICT, Op.ZIP, Op.REVERSED, Op.SORTED, Op.ENUMERATE, Op.ADD,
    Op.MUL, Op.OR,
)  # fmt: skip
"""What makes one container of another, or takes something out of it."""


def _written(name: str, loc: ir.Loc) -> TransformError:
    return refused("memory.not_recorded", loc, name=ir.said(name))
