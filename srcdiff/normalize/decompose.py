"""Calls that stand for several others are written out, where a derivative flows through them.

Takes a function after `live_ranges`, the kinds of its names, and its inputs and outputs; returns it
with the definitions of `@composed` functions in place of their calls.  What is known of the
arguments of a call decides the `if`s of a definition, and loops over known items are written out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import field

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import activity, edges_of
from srcdiff.analysis.shadows import laid_origins
from srcdiff.errors import MissingRuleError, refused
from srcdiff.frontend.closures import Closure
from srcdiff.frontend.lowering import flows
from srcdiff.frontend.request import Request
from srcdiff.ir import kinds as kind_types
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.complexes import has_complex, is_complex_kind
from srcdiff.kinds.interpreter import Typed, infer
from srcdiff.normalize.displays import displays, with_names
from srcdiff.normalize.in_place import prepare
from srcdiff.normalize.live_ranges import webs
from srcdiff.normalize.operands import with_arrays
from srcdiff.normalize.options import Plain, options, trimmed, variant
from srcdiff.normalize.outputs import selected_names
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.effects import mutated_args, ufunc_method
from srcdiff.primitives.operation import Writing, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import Rule, find, lookup
from srcdiff.specialize.fold import UNSET, Folder
from srcdiff.specialize.inline import inline, lowered, written_out

_ROUNDS = 4


def inferred(block: ir.Block, kinds: ir.Kinds, target: ir.Target) -> ir.Kinds:
    """The kinds of the names that a block binds."""
    free = sorted(ir.used(block) - ir.bound(block))
    params = tuple(ir.Param(n) for n in free)
    known = {n: kinds[n] for n in free if n in kinds}
    plain = tuple(s for s in block if not isinstance(s, (ir.Accum, ir.Demand, ir.Reset)))
    whole = ir.Function("", params, (*plain, ir.Return(ir.NONE)), target=target)
    return infer(whole, known)


@state
class Specialiser(Builder):
    """Decides what is known of a definition at one call."""

    kinds: ir.Kinds
    fresh: ir.Fresh
    name: str
    loc: ir.Loc
    target: ir.Target
    mixed: bool = False  # what has no known dtype may be complex
    out: list[ir.Stmt] = field(default_factory=list)  # what has to run before the statement at hand

    def settled(self, block: ir.Block) -> ir.Block:
        """The block with what is known decided, until nothing changes."""
        for _ in range(_ROUNDS):
            known = {**self.kinds, **inferred(block, self.kinds, self.target)}
            folder = Folder(known, self.temp, self.target.on_device, mixed=self.mixed)
            new = self.block(block, folder, {})
            if new == block:
                break
            block = new
        return self.checked(block)

    def checked(self, block: ir.Block) -> ir.Block:
        """The block; an error where the definition refuses the call, there or when it runs."""
        for reason in filter(None, map(_refusal, block)):
            what = f"does not cover this call: {reason}"
            raise refused("callees.rule", self.loc, MissingRuleError, name=self.name, what=what)
        return ir.replaced(block, self.refused)

    def refused(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement that runs or not, as an error if it refuses the call."""
        reason = _refusal(stmt)
        text = f"raise NotImplementedError({reason!r})"
        return ir.Verbatim(text, raises=True, loc=self.loc) if reason else stmt

    def block(self, block: ir.Block, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """A block with what is known put in; `env` takes the names of known values."""
        out: list[ir.Stmt] = []
        for stmt in block:
            out += self.stmt(stmt, folder, env)
        return tuple(out)

    def stmt(self, stmt: ir.Stmt, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """One statement with what is known put in."""
        read = _reader(env)
        if isinstance(stmt, ir.If):
            return self.if_(stmt, folder, env)
        if isinstance(stmt, ir.For):
            return self.for_(stmt, folder, env)
        if isinstance(stmt, ir.Assign):
            rhs = ir.map_rhs(read, stmt.rhs)
            if isinstance(rhs, ir.Call) and not is_op(rhs, Op.MAKE_LIST):
                rhs = _answered(rhs, folder) or folder.call(rhs)
                rhs = trimmed(rhs) if isinstance(rhs, ir.Call) else rhs
            env.pop(stmt.target.id, None)
            if isinstance(rhs, (ir.Const, ir.Tup, ir.Ref)):
                env[stmt.target.id] = rhs
            before, self.out = self.out, []
            return (*before, replace(stmt, rhs=rhs))
        if isinstance(stmt, ir.While):
            _forget(env, stmt)
        return (ir.map_stmt(stmt, read, lambda n: n, lambda b: self.block(b, folder, dict(env))),)

    def if_(self, stmt: ir.If, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """An `if`: the branch that is taken, where that is known."""
        test = ir.map_atom(_reader(env), stmt.test)
        known = folder.static(test)
        if known is not UNSET:
            return self.block(stmt.body if known else stmt.orelse, folder, env)
        body = self.block(stmt.body, folder, dict(env))
        orelse = self.block(stmt.orelse, folder, dict(env))
        _forget(env, stmt)
        return (replace(stmt, test=test, body=body, orelse=orelse),)

    def for_(self, stmt: ir.For, folder: Folder, env: dict[str, ir.Atom]) -> ir.Block:
        """A loop: written out where its range is known."""
        rhs = ir.map_rhs(_reader(env), stmt.iter)
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
        inner = sorted(n for n in ir.bound(stmt.body) if ir.is_temporary(n))
        return (start, *ir.rename(stmt.body, {n: self.fresh().id for n in inner}))


def _reader(env: Mapping[str, ir.Atom]) -> Callable[[ir.Name], ir.Atom]:
    """What stands for a name that is read, which may be a known value."""
    return lambda name: env.get(name.id, name)


def _refusal(stmt: ir.Stmt) -> str:
    """The reason that a statement of a definition gives for a refusal, "" if it is none."""
    call = ir.call_of(stmt)
    if not is_op(call, Op.REFUSE):
        return ""
    assert isinstance(call.args[0], ir.Const)
    return str(call.args[0].value)


def _forget(env: dict[str, ir.Atom], stmt: ir.Stmt) -> None:
    """What a statement may bind is not known from here on."""
    for name in ir.bound_in(stmt):
        env.pop(name, None)


def _answered(call: ir.Call, folder: Folder) -> ir.Const | None:
    """The answer of `callable` and `np.iscomplexobj` where the kind tells."""
    if not is_op(call, Op.CALLABLE, Op.ISCOMPLEXOBJ):
        return None
    kind = folder.kind(call.args[0])
    if is_op(call, Op.CALLABLE):
        return None if isinstance(kind, ir.Unknown) else ir.Const(isinstance(kind, ir.Callable))
    dtype = getattr(kind, "dtype", None)
    return None if dtype is None else ir.Const(np.dtype(dtype).kind == "c")


def _range_of(rhs: ir.Rhs, folder: Folder) -> range | None:
    """The range that a loop runs over, where it is known."""
    if not is_op(rhs, Op.RANGE):
        return None
    known = [folder.static(a) for a in rhs.args]
    return None if any(type(k) is not int for k in known) else range(*known)


# --- calls that stand for several others are written out, where a derivative flows through them --


_LEVELS = 8
"""How deep composed functions may be made of each other."""


def compose(typed: Typed, request: Request) -> Typed:
    """The function with all active calls of composed functions written out."""
    inputs, forward = tuple(i.param for i in request.inputs), request.mode == "forward"
    if any(op_of(c.fn).writing is not Writing.AT_ONCE for c in ir.calls(typed.function)):
        from srcdiff.normalize.overlaps import check_outs

        check_outs(typed.function, typed.kinds)
    typed = _with_arrays(typed, inputs, forward)
    for _ in range(_LEVELS):
        function = typed.function
        if not any(map(_may_change, ir.walk(function))):
            break
        new = composed(function, typed.kinds, inputs, selected_names(function))
        if new == function:
            break
        typed = typed.then(new, "composed").by(displays).by(with_names).by(prepare).by(webs)
        typed = _with_arrays(typed, inputs, forward)
    return typed


def _with_arrays(typed: Typed, inputs: tuple[str, ...], forward: bool) -> Typed:
    """The function with arrays for lists, among them those that meet what was a list before."""
    while True:
        function = typed.function
        outputs = selected_names(function)
        new = with_arrays(function, typed.kinds, inputs, outputs, forward)
        if new == function:
            return typed
        typed = typed.then(new, "with_arrays")


def composed(
    function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> ir.Function:
    """The function with active calls of composed functions written out, one level of them."""
    found = edges_of(function, kinds, flows)
    active = activity(inputs, outputs, found)

    def matters(call: ir.Call, results: tuple[str, ...]) -> bool:
        """Whether a derivative flows through a call."""
        if mutated_args(call, kinds):
            return True  # what it writes into may be a view of something active
        return any(n in active for n in results) and any(n in active for n in ir.names(call))

    fresh = ir.Fresh(ir.all_names(function))
    laid = laid_origins(function, kinds)
    mixed = has_complex(function, kinds)
    writer = _Writer(kinds, fresh, matters, mixed, function.target, laid)
    return ir.replaced_in(function, writer.stmt)


def without_functionals(
    function: ir.Function, origin: object, inputs: tuple[str, ...]
) -> ir.Function:
    """The function with calls that take functions, and what these call, written out."""
    while (plain := early(function, inputs)) != function:
        function = inline(plain, origin)
    return function


def early(function: ir.Function, inputs: tuple[str, ...]) -> ir.Function:
    """The function with calls that take functions, `np.piecewise`, written out.

    Calls that meet nothing that depends on an input stay.
    """
    if not any(_is_early(ir.call_of(s)) for s in ir.walk(function)):
        return function
    from srcdiff.specialize.early_activity import met_calls

    made = {s.target.id for s in ir.assignments(function) if isinstance(s.rhs, Closure)}
    shown = displays(function)
    met = met_calls(shown, inputs, _is_early)
    if not met:
        return function
    fresh = ir.Fresh(ir.all_names(function))
    writer = _Writer(
        dict.fromkeys(made, kind_types.Callable()), fresh,
        lambda call, _: any(call is one for one in met), True, function.target,
        laid_origins(shown, {}),
    )  # fmt: skip
    return ir.rebuilt(function, body=ir.replaced(shown.body, writer.stmt))


def _is_early(call: ir.Call | None) -> bool:
    rule = None if call is None else lookup(call.fn)
    return rule is not None and rule.early


def in_full(block: ir.Block, kinds: ir.Kinds, fresh: ir.Fresh, target: ir.Target) -> ir.Block:
    """A block of plain statements with all calls of composed functions written out."""
    while any(_is_defined(ir.call_of(s)) for s in ir.walk(block)):
        known = {**kinds, **inferred(block, kinds, target)}
        mixed = any(map(is_complex_kind, known.values()))
        writer = _Writer(known, fresh, lambda call, _: _is_defined(call), mixed, target)
        block = _bound_once(ir.replaced(block, writer.stmt), fresh)
    return block


def _bound_once(block: ir.Block, fresh: ir.Fresh) -> ir.Block:
    """Plain statements in which no name is bound twice."""
    new: dict[str, ir.Name] = {}

    def read(name: ir.Name) -> ir.Name:
        return new.get(name.id, name)

    def bind(name: ir.Name) -> ir.Name:
        new[name.id] = fresh(name.id) if name.id in new else name
        return new[name.id]

    def same(name: ir.Name) -> ir.Name:
        return new.setdefault(name.id, name)

    writes = ((s, bind if isinstance(s, ir.Assign) else same) for s in block)
    return tuple(ir.map_stmt(s, read, write, lambda inner: inner) for s, write in writes)


def _is_defined(call: ir.Call | None) -> bool:
    if call is None:
        return False
    return _definition(call) is not None or variant(call) is not None


def _may_change(stmt: ir.Stmt) -> bool:
    """Whether a statement may stand for others."""
    call = ir.call_of(stmt)
    if call is None:
        return False
    field = isinstance(call.fn, ir.Attr) and call.fn.name in _FIELDS
    return field or _is_defined(call) or _is_outer(call) or options(call) is not None


# The names of the parts of what functions of `np.linalg` return.
_FIELDS = {
    "eigenvalues": 0, "eigenvectors": 1, "U": 0, "S": 1, "Vh": 2, "Q": 0, "R": 1, "sign": 0,
    "logabsdet": 1,
}  # fmt: skip


def _is_field(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call reads a part of a named tuple by its name."""
    named = isinstance(call.fn, ir.Attr) and call.fn.name in _FIELDS
    return named and isinstance(atom_kind(call.args[0], kinds), ir.Tuple)


def _is_outer(call: ir.Call) -> bool:
    """Whether a call is of the method `outer` of a ufunc that has no rule of its own."""
    return ufunc_method(call.fn) == "outer" and len(call.args) == 2 and lookup(call.fn) is None


def _definition(call: ir.Call) -> object | None:
    """What a call is made of, None if it is no composed function."""
    rule = lookup(call.fn)
    return None if rule is None else rule.definition


@frozen
class _Writer:
    """The pass over one function; `wanted` says, of a call and its results, what is written out."""

    kinds: ir.Kinds
    fresh: ir.Fresh
    wanted: Callable[[ir.Call, tuple[str, ...]], bool]
    mixed: bool  # complex numbers may occur
    target: ir.Target
    laid: frozenset[str] = frozenset()  # the names of which it matters how they lie in memory

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement with its call written out."""
        call = ir.call_of(stmt)
        if call is None or not self.wanted(call, ir.writes(stmt)):
            return stmt
        assert isinstance(stmt, (ir.Assign, ir.Effect))
        return self.written(stmt, call)

    def written(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> ir.Block:
        """The statements that a call stands for."""
        target = stmt.target if isinstance(stmt, ir.Assign) else None
        found = options(call)
        if found is not None:
            device = self.target.on_device
            return Plain(found, self.fresh, stmt.loc, self.kinds, device).statements(target)
        if target is not None and _is_field(call, self.kinds):
            part = ir.Call(operator.getitem, (call.args[0], ir.Const(_FIELDS[call.fn.name])))  # type: ignore[union-attr]
            return (ir.Assign(target, part, stmt.loc),)
        outer = self.outer(call, stmt)
        if outer is not None:
            return outer
        made = variant(call)
        if made is None and _definition(call) is None:
            return (stmt,)
        if made is None:
            bound = find(call, self.kinds, stmt.loc)
            made = bound.rule, bound.args
        rule, args = made
        if target is not None and target.id in self.laid:
            self.check_order(target, call, stmt.loc)
        return self.defined(rule, args, target, call, stmt.loc)

    def check_order(self, target: ir.Name, call: ir.Call, loc: ir.Loc) -> None:
        """Refuse a result whose order in memory decides what is written into.

        Raises:
            UnsupportedError: written out it may lie in another order.
        """
        rank = ir.rank_of(self.kinds.get(target.id, ir.UNKNOWN))
        if rank is None or rank > 1:
            raise refused("memory.layout", loc, callee=spelling(call))

    def outer(self, call: ir.Call, stmt: ir.Assign | ir.Effect) -> ir.Block | None:
        """`np.hypot.outer(a, b)` as `np.hypot(a[:, None], b)`."""
        if not _is_outer(call):
            return None
        rank = ir.rank_of(atom_kind(call.args[1], self.kinds))
        if rank is None:
            raise refused("callees.rank", stmt.loc, MissingRuleError, name=spelling(call))
        axes = ir.Tup(tuple(ir.Const(k) for k in range(-rank, 0)))
        lines = Builder(self.fresh, stmt.loc)
        wide = lines.call(np.expand_dims, call.args[0], axes)
        plain = ir.Call(call.fn.__self__, (wide, call.args[1]), call.kwargs)  # type: ignore[union-attr]
        return (*lines.out, replace(stmt, rhs=plain))

    def defined(
        self,
        rule: Rule,
        args: Mapping[str, ir.Atom],
        target: ir.Name | None,
        call: ir.Call,
        loc: ir.Loc,
    ) -> ir.Block:
        """The definition of a rule for these arguments."""
        callee = lowered(rule.definition)
        assert callee is not None, f"the definition {rule.name} cannot be lowered"
        body = written_out(callee, args, target, loc, self.fresh)
        known = self.kinds, self.fresh, spelling(call), loc, self.target, self.mixed
        specialised = Specialiser(*known)
        return ir.replaced(specialised.settled(body), lambda s: replace(s, loc=loc))
