"""Calls of Python functions that stay calls, and their derivatives.

A function that calls itself is no part of its caller.  `user_calls` marks its calls, with the kind
of their result and what each does to its arguments, and refuses callees that write into what
somebody else can see.  `call_adjoint` turns an active one that is marked into a call of the
function's forward part, and, on the way down, of its backward part; the pipeline generates both,
once for each combination of kinds and active parameters.

Some functions only the running program knows: `y, pull = call_vjp(f, (0,), x)`.  `at_run_time`
marks their calls where a derivative may pass through; what they write into cannot be known, so that
`call_vjp` refuses functions that write into their arguments.  `run_time_adjoint` makes the pairs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.links import Groups
from srcdiff.analysis.points_to import PointsTo
from srcdiff.autodiff.containers import Lines, Pairs, copied
from srcdiff.errors import UnsupportedError, refused
from srcdiff.frontend.closures import Closure, Lifted
from srcdiff.frontend.lowering import flows
from srcdiff.frontend.signatures import bind
from srcdiff.ir.builder import Builder, Rewriter
from srcdiff.ir.frozen import replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import Typed
from srcdiff.normalize.summaries.effects import (
    Key,
    Summary,
    calls_function,
    is_user_call,
    written_names,
)
from srcdiff.normalize.summaries.induction import (
    AT_RUN_TIME,
    near,
    plain_kind,
    refined_kinds,
    summary,
)
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import trees
from srcdiff.runtime.copies import kept_together
from srcdiff.runtime.layout import laid_copy, view_like
from srcdiff.specialize.inline import function_of
from srcdiff.specialize.resolve import declined


def call_adjoint(stmt: ir.Assign, facts: Facts) -> Pairs:
    """An active call as pairs: the forward part runs; its backward part is the adjoint."""
    call, loc = stmt.rhs, stmt.loc
    assert type(call) is ir.Call and type(call.fn) is ir.Derived
    key, given = active_key(call, facts)
    kinds, name = dict(key.kinds), call.fn.name
    gradients = ir.Tuple(tuple(_gradient_kind(kinds[p]) for p in key.active))
    there = replace(key, result=ir.Tuple((key.result, ir.UNKNOWN)))
    back = replace(key, result=gradients)
    both, kept = facts.fresh("_both"), facts.fresh(f"{name}_residuals")
    copies, args = _own_arguments(call, facts, loc)
    forward = ir.Call(ir.Derived(name, "forward", there), args)
    adjoint = _taken_back(stmt, ir.Derived(name, "backward", back), kept, given, facts)
    if key.returned or key.taken or not may_be_written(stmt.target.id, key, facts):
        return (*copies, *_parts(stmt, forward, both, kept, adjoint))
    # What is kept for the backward part may hold the value that is written into from here on.
    result = facts.fresh(f"_{stmt.target.id.lstrip('_')}")
    copy = replace(copied(stmt.target.id, facts, laid_copy), args=(result,))
    copy = replace(copy, fn=kept_together) if key.together else copy
    own = ir.Pair(ir.Assign(stmt.target, copy, loc), adjoint, loc)
    return (*copies, *_parts(replace(stmt, target=result), forward, both, kept, ()), own)


def key_of(call: ir.Call) -> Key:
    """What a marked call is a call of."""
    assert type(call.fn) is ir.Derived
    key: Key = call.fn.key
    return key


def active_key(call: ir.Call, facts: Facts) -> tuple[Key, list[ir.Atom]]:
    """What a marked call is a call of, and those of its arguments that carry a derivative."""
    key = key_of(call).within(facts.complex)
    pairs = zip((name for name, _ in key.kinds), call.args)
    active = [(p, a) for p, a in pairs if any(n in facts.active for n in ir.names(a))]
    return replace(key, active=tuple(p for p, _ in active)), [a for _, a in active]


def may_be_written(name: str, key: Key, facts: Facts) -> bool:
    """Whether something may write into what a call returns, or into a part of it."""
    if name in facts.aliases.classes or key.written:
        return True
    kind = facts.kinds.get(name, ir.UNKNOWN)
    return bool(facts.aliases.classes) and not ir.is_numeric(kind)


def _taken_back(
    stmt: ir.Assign, fn: ir.Callee, kept: ir.Name, given: Sequence[ir.Atom], facts: Facts
) -> ir.Block:
    """What `fn` gives of what was kept is added to the adjoints of what the call was given."""
    b = Lines(facts, stmt.loc)
    grads = b.call(fn, kept, facts.adjoint(stmt.target.id), base="_grads")
    b.reset(stmt.target)
    for k, atom in enumerate(given):
        assert type(atom) is ir.Name
        b.give(atom, b.temp(item_of(grads, k, len(given))))
    return tuple(b.out)


def _parts(
    stmt: ir.Assign, forward: ir.Call, both: ir.Name, kept: ir.Name, adjoint: ir.Block
) -> Pairs:
    """A call whose forward part gives the value and what is kept, as pairs."""
    loc = stmt.loc
    return (
        ir.Pair(ir.Assign(both, forward, loc), (), loc),
        ir.Pair(ir.Assign(kept, item_of(both, 1), loc), (), loc),
        ir.Pair(ir.Assign(stmt.target, item_of(both, 0), loc), adjoint, loc),
    )


def _own_arguments(call: ir.Call, facts: Facts, loc: ir.Loc) -> tuple[Pairs, tuple[ir.Atom, ...]]:
    """Copies of the arguments that somebody writes into: residuals may hold them for long."""
    key = key_of(call)
    lent = [a for (p, _), a in zip(key.kinds, call.args) if p not in key.written]
    names = [n for a in lent for n in ir.names(a) if n in facts.aliases.classes]
    new = {n: facts.fresh(f"_{n.lstrip('_')}") for n in names}
    copies = (ir.Assign(copy, copied(n, facts, laid_copy), loc) for n, copy in new.items())
    args = tuple(ir.map_atom(lambda n: new.get(n.id, n), a) for a in call.args)
    return tuple(ir.Pair(copy, (), loc) for copy in copies), args


def _gradient_kind(kind: ir.Kind) -> ir.Kind:
    """The kind of the gradient of an argument.

    Its numbers are those of Python or of NumPy, and of what the cotangent is where that is wider.
    """
    if not isinstance(kind, (ir.Scalar, ir.Array)):
        return ir.mapped(_gradient_kind, kind)
    dtype = kind.dtype if kind.dtype in ("float64", "complex128") else None
    return ir.Scalar(dtype, None) if type(kind) is ir.Scalar else replace(kind, dtype=dtype)


def item_of(base: ir.Name, k: int, of: int = 2) -> ir.Call:
    """One of several things that a call gives."""
    return ir.Call(operator.getitem, (base, ir.Const(k)), role=ir.Unpacks(of))


def unmarked(block: ir.Block) -> ir.Block:
    """A block whose marked calls that have no derivative are plain calls again.

    A value with another slope than its own is itself again.
    """
    return ir.replaced(block, _unmarked)


def _unmarked(stmt: ir.Stmt) -> ir.Stmt:
    if type(stmt) is ir.Assign and is_op(stmt.rhs, Op.WITH_SLOPE):
        stmt = replace(stmt, rhs=stmt.rhs.args[0])
    if isinstance(stmt, (ir.Assign, ir.Effect)) and is_user_call(stmt.rhs):
        call: Any = stmt.rhs
        if not isinstance(call.fn.key.function, Lifted):  # that has no name of its own
            return replace(stmt, rhs=_primal_call(call))
        if call.fn.key.written:
            raise refused("callees.recursive_nested", stmt.loc, name=call.fn.name)
    return stmt


def _primal_call(call: ir.Call) -> ir.Call:
    """A marked call as one of the function itself, on copies of what that writes into."""
    key = key_of(call)
    if not key.written:
        return replace(call, fn=key.function)
    at = tuple(ir.Const(k) for k, (p, _) in enumerate(key.kinds) if p in key.written)
    assert type(call.fn) is ir.Derived
    fn = ir.Ref(call.text or call.fn.name, key.function)
    return ir.Call(trees.on_copies, (fn, ir.Tup(at), *call.args))


# --- marks on calls of Python functions that stay calls, with what each does to its arguments ----


def user_calls(typed: Typed) -> ir.Function:
    """The function with calls of Python functions marked as `Derived` calls of their primal.

    A call that writes into an argument becomes one that returns the final contents as well, and a
    store of these: `y = h(a)` becomes `t = h(a); a[...] = t[1]; y = t[0]`.  What it returns of an
    array that somebody writes into is looked up there: `y = view_like(a, t[0], t[1], copy)`.

    Raises:
        UnsupportedError: what is written into is no array, or may be another argument.
    """
    function, kinds = typed.function, refined_kinds(typed)
    marker = _Marker(function, kinds, {}, None, frozenset())
    marked = ir.rebuilt(function, body=marker.block(function.body))
    if not any(s.written or s.returned or s.entangled or s.together for s in marker.known.values()):
        return marked
    from srcdiff.check.callees import check_returned

    check_returned(marked, kinds)
    # What that shows of memory decides what may be written into, and what is looked up.
    stored = frozenset(PointsTo.of(marked, kinds).classes)
    names = written_names(marked, kinds)
    marker = _Marker(function, kinds, marker.known, near(marked, kinds), stored, names)
    return marker.function(function)


@state
class _Marker(Rewriter):
    """The pass over the blocks of a function; `stored`: the names of memory that is written."""

    whole: ir.Function
    kinds: ir.Kinds
    known: dict[Any, Summary]
    near: Groups | None
    stored: frozenset[str]
    written: frozenset[str] = frozenset()  # the names by which it is

    def __post_init__(self) -> None:
        super().__init__(ir.Fresh(ir.all_names(self.whole)))

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement with its call marked."""
        if not isinstance(stmt, (ir.Assign, ir.Effect)) or not calls_function(stmt):
            return self.inside(stmt)
        assert type(stmt.rhs) is ir.Call
        call = _marked_call(stmt.rhs, self.kinds, stmt.loc, self.known, self.whole.target)
        if not is_user_call(call):
            return replace(stmt, rhs=call)
        call = replace(call, args=tuple(map(self.named, call.args)))
        self.check_entangled(stmt, call)
        shared = self.shared(stmt, call)
        if not shared and not key_of(call).written:
            return replace(stmt, rhs=call)
        self.stored_back(stmt, call, shared)
        return ()

    def named(self, atom: ir.Atom) -> ir.Atom:
        """An argument; `*args` from a sequence, and displays of variables, get a name."""
        plain = not isinstance(atom, ir.Call) and not (type(atom) is ir.Tup and ir.names(atom))
        return atom if plain else self.temp(atom)

    def check_entangled(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> None:
        """Of what shares memory in the result of a call nothing is written into."""
        if self.near is None or type(stmt) is not ir.Assign:
            return
        assert type(call.fn) is ir.Derived
        key = key_of(call)
        found = self.known.get((key.function, key.kinds))
        if found is None or not (found.entangled or found.together):
            return
        if any(self.near.share(stmt.target.id, n) for n in self.written):
            raise refused("callees.recursive_results", stmt.loc, name=call.fn.name)

    def shared(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> tuple[str, ...]:
        """The parameters whose memory the result may share, and that somebody writes into."""
        key = key_of(call)
        result: Any = key.result
        result = result.items[0] if key.written else result
        if type(stmt) is not ir.Assign or not is_array(result):
            return ()
        stored = {p for (p, _), a in zip(key.kinds, call.args) if self.stored & {*ir.names(a)}}
        return tuple(p for p in key.returned if p in key.written or p in stored)

    def stored_back(
        self, stmt: ir.Assign | ir.Effect, call: ir.Call, shared: tuple[str, ...]
    ) -> None:
        """A call that writes into arguments, and what it has written stored in them."""
        assert type(call.fn) is ir.Derived
        key, count = key_of(call), 1 + len(key_of(call).written)
        args = dict(zip(dict(key.kinds), call.args))
        if self.near is not None:
            _check_apart(key, shared, args, self.near, stmt)
        olds = {p: self.apply(laid_copy, args[p]) for p in shared if p not in key.written}
        both = self.fresh()
        for_nothing = type(stmt) is ir.Effect
        rest = () if for_nothing else tuple(p for p in key.returned if p not in shared)
        taken = bool(shared) or for_nothing
        fn = replace(call.fn, key=replace(key, returned=rest, taken=taken))
        given = tuple(olds.get(p, a) for p, a in args.items())
        self.assign(both, replace(call, fn=fn, args=given))
        for k, param in enumerate(key.written, 1):
            base = args[param]
            if type(base) is not ir.Name or not is_array(self.kinds.get(base.id)):
                raise refused("callees.recursive_unknown", stmt.loc, name=call.fn.name, param=param)
            olds[param] = self.temp(item_of(both, k, count))
            self.store(base, ir.Const(...), olds[param])
        if type(stmt) is ir.Assign:
            result = item_of(both, 0, count) if key.written else both
            if shared:
                result = _looked_up(result, [(args[p], olds[p]) for p in shared], self)
            self.assign(stmt.target, result)


def _looked_up(
    result: ir.Rhs, shared: Sequence[tuple[ir.Atom, ir.Name]], lines: Builder
) -> ir.Call:
    """What a call returns, as a part of the arrays whose copies it may be a part of."""
    given = lines.temp(result)
    other = lines.apply(laid_copy, given)
    *first, last = shared
    for base, old in first:
        other = lines.call(view_like, base, given, old, other)
    return ir.Call(view_like, (last[0], given, last[1], other), text="view_like")


def _check_apart(
    key: Key,
    shared: tuple[str, ...],
    args: Mapping[str, ir.Atom],
    near: Groups,
    stmt: ir.Assign | ir.Effect,
) -> None:
    """What is written into is no other argument, and is returned only as an array."""
    name, loc = getattr(key.function, "__name__", "the function"), stmt.loc
    if type(stmt) is ir.Assign and set(key.returned) & set(key.written) - set(shared):
        raise refused("callees.recursive_returned", loc, name=name, param=key.returned[0])
    for param in key.written:
        for other, atom in args.items():
            one, two = ir.names(args[param]), ir.names(atom)
            if other != param and any(near.share(a, b) for a in one for b in two):
                raise refused("callees.recursive_shared", loc, name=name, param=param, other=other)


def _marked_call(
    call: ir.Call, kinds: ir.Kinds, loc: ir.Loc, known: dict[Any, Summary], target: ir.Target
) -> ir.Call:
    """A call with its arguments in the order of the parameters; `known` takes its summary."""
    fn: Any = call.fn
    try:
        callee = function_of(fn)
    except UnsupportedError:
        return call
    bound = bind(callee, call, loc)
    given = tuple((p, plain_kind(atom_kind(a, kinds))) for p, a in bound.items())
    if (fn, given) not in known:
        known[fn, given] = summary(fn, dict(given), target)
    mark = _mark(fn, given, known[fn, given])
    return ir.Call(mark, tuple(bound.values()), (), call.text)


def _mark(fn: Any, given: tuple[tuple[str, ir.Kind], ...], found: Summary) -> ir.Derived:
    """The callee of a marked call."""
    result = found.result
    if found.written:
        result = ir.Tuple((result, *(dict(given).get(p, ir.UNKNOWN) for p in found.written)))
    key = Key(
        fn, given, (), result, found.written, found.returned, together=found.together,
        items=found.items,
    )  # fmt: skip
    return ir.Derived(getattr(fn, "__name__", ""), "primal", key)


# --- calls of functions that only the running program knows: `y, pull = call_vjp(f, (0,), x)` ----


def at_run_time(function: ir.Function, kinds: ir.Kinds, inputs: Iterable[str]) -> ir.Function:
    """The function with calls marked whose callee is found when they run.

    A callee that depends on an input might hold values with a derivative that nobody sees, and so
    might one that the function itself makes: their calls stay as they are, and are refused.  So
    are those of what `np.vectorize` makes, which has no derivative for a declared reason.
    """
    calls = [s for s in ir.walk(function) if _is_candidate(s, kinds)]
    if not calls or any(isinstance(s.rhs, Closure) for s in ir.assignments(function)):
        return function
    varied = reachable(inputs, edges_of(function, kinds, flows))
    unfit = {*varied, *declined(function)}

    def value(stmt: ir.Assign) -> ir.Rhs:
        call = stmt.rhs
        if not _is_candidate(stmt, kinds):
            return call
        assert type(call) is ir.Call and type(call.fn) is ir.Name
        active = {n for a in call.args for n in ir.names(a) if ir.carries(n, kinds)} & varied
        if not active or call.fn.id in unfit:
            return call
        fn = ir.Derived(call.fn.id, AT_RUN_TIME, Summary(ir.UNKNOWN))
        return replace(call, fn=fn, args=(call.fn, *call.args))

    return ir.with_values(function, value)


def _is_candidate(stmt: ir.Stmt, kinds: ir.Kinds) -> bool:
    """Whether a statement keeps the result of a plain call of something that may be a function."""
    call = stmt.rhs if type(stmt) is ir.Assign else None
    if type(call) is not ir.Call or type(call.fn) is not ir.Name or call.kwargs:
        return False
    plain = all(isinstance(a, (ir.Name, ir.Const, ir.Ref)) for a in call.args)
    kind = kinds.get(call.fn.id, ir.UNKNOWN)
    return plain and isinstance(kind, (ir.Unknown, ir.Object, ir.Callable))


def run_time_adjoint(stmt: ir.Assign, facts: Facts) -> Pairs:
    """A marked call as pairs: it runs with a pullback, which is the adjoint."""
    call = stmt.rhs
    assert type(call) is ir.Call
    fn, args = call.args[0], call.args[1:]
    at = [k for k, a in enumerate(args) if type(a) is ir.Name and a.id in facts.active]
    both, pull = facts.fresh("_both"), facts.fresh("pull")
    places = ir.Tup(tuple(map(ir.Const, at)))
    strong = (("strong_zeros", ir.Const(True)),) if facts.strong else ()
    forward = ir.Call(trees.call_vjp, (fn, places, *args), strong, text="call_vjp")
    adjoint = _taken_back(stmt, trees.pull_back, pull, [args[k] for k in at], facts)
    return _parts(stmt, forward, both, pull, adjoint)
