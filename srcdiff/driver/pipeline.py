"""The compiler: a visible row of passes from a Python function to the text of its derivative.

Takes a function, a request and the kinds of the arguments; gives the text, or the state after each
pass (`PASSES`, and `FORWARD_PASSES` of forward mode).  Every function that is printed is in its
plainest form, and calls that have bodies (functions, functionals, derivatives) have been replaced
by them before anything is differentiated.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from srcdiff import ir
from srcdiff.analysis.activity import activity, edges
from srcdiff.analysis.aliases import aliases
from srcdiff.analysis.facts import Facts, Shapes, adjoint_names, sampled
from srcdiff.analysis.subscripts import distinct_places
from srcdiff.autodiff.accumulate import accumulate
from srcdiff.autodiff.assemble import assemble, assemble_pair, consumes, seeds
from srcdiff.autodiff.calls import at_run_time, unmarked, user_calls
from srcdiff.autodiff.reverse import reverse
from srcdiff.autodiff.tape.split import Parts, split
from srcdiff.backends.target import legalized
from srcdiff.check import check_flow, check_source
from srcdiff.check.objects import check_arrays
from srcdiff.codegen.emit import Emitted, Made
from srcdiff.codegen.link import alone, module_text
from srcdiff.codegen.naming import name, shorten
from srcdiff.codegen.tapes import Places, joined_pair, popped, with_joined
from srcdiff.frontend.free_variables import check_reads
from srcdiff.frontend.lowering import flows, lower
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import Variable, WithFree, as_call, is_one_call
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import SEED
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import Seen, Typed, infer
from srcdiff.normalize.copy_in import (
    bound_first,
    entered,
    mirrored_memory,
    own_memory,
    said_to_be_written,
)
from srcdiff.normalize.decompose import compose, without_functionals
from srcdiff.normalize.displays import apart, displays
from srcdiff.normalize.displays import returned as with_returned_tuple
from srcdiff.normalize.in_place import inplace, prepare, with_foreign_methods
from srcdiff.normalize.live_ranges import webs
from srcdiff.normalize.options import without_idle_outs
from srcdiff.normalize.outputs import returned_kinds, select, selected_names, with_written
from srcdiff.normalize.stacks import unzipped
from srcdiff.normalize.summaries.induction import computes_complex
from srcdiff.normalize.unpacking import unpacked
from srcdiff.optimize.coalesce import coalesce, with_first_names, with_last_names
from srcdiff.optimize.copies import read_at_once, returned_at_once
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.finish import finish, repeated, reused, spell
from srcdiff.optimize.finish import returned as recursive_results
from srcdiff.optimize.memory import Memory
from srcdiff.optimize.rewrite import numbered
from srcdiff.optimize.schedule import in_order, sink
from srcdiff.optimize.simplify import simplify, simplify_pairs
from srcdiff.optimize.stores import with_first_stores
from srcdiff.primitives.operation import Writing, op_of
from srcdiff.primitives.ops import MODES, calling
from srcdiff.runtime.service import is_derivative
from srcdiff.specialize.inline import function_of, inline
from srcdiff.specialize.lifting import Variables, lent, returned
from srcdiff.specialize.nested.derivatives import (
    detached,
    generated,
    has_derivatives,
    is_detached,
    seed_free,
    without_seed,
)
from srcdiff.specialize.nested.transforms import with_columns, with_copies_of_now
from srcdiff.specialize.objects.places import has_objects, mentions_objects, read_apart
from srcdiff.specialize.resolve import resolved
from srcdiff.specialize.unroll import asks_kinds, decided

if TYPE_CHECKING:
    from srcdiff.specialize.objects.scalar_replacement import Fields


def with_bodies(
    function: ir.Function,
    params: ir.Kinds,
    origin: object,
    inputs: tuple[str, ...],
    by_tangent: bool = False,
) -> ir.Function:
    """The function with bodies for calls, and with derivatives generated for their arguments."""
    function = _once(function, params, origin, inputs)
    while has_derivatives(function):
        named = webs(prepare(function))
        made = generated(named, infer(named, params), by_tangent)
        function = _once(made, params, origin, inputs)
        function = with_returned_tuple(function)
    return with_copies_of_now(function, params)


def _once(
    function: ir.Function, params: ir.Kinds, origin: object, inputs: tuple[str, ...]
) -> ir.Function:
    function = inline(function, origin)
    while (written := with_columns(function, inputs)) != function:
        function = inline(written, origin)
    function = without_functionals(function, origin, inputs)
    function = _decided(Typed(resolved(function, params, origin), params)).function
    check_reads(function, origin)
    return function


def _decided(typed: Typed) -> Typed:
    """Without branches that are never taken: of the names that only these bind no kind is known."""
    return typed.by(decided, typed.kinds) if asks_kinds(typed.function) else typed


# --- what runs at the end over each generated function --------------------------------------------


def polished(
    function: ir.Function, params: ir.Kinds, facts: Facts, seen: Seen | None = None
) -> ir.Function:
    """A finished function in its plainest form."""
    views = {facts.adjoints[v] for v in facts.aliases.views if v in facts.adjoints}
    typed = Typed(function, params, seen)
    typed = typed.by(webs, lambda n: ir.is_temporary(n) or n in views).by(_temporary, views)
    kinds = infer(typed.function, params)
    counts = _counts(typed.function, kinds)
    if counts:
        from srcdiff.codegen.loops import fold, items_in_reverse, upwards

        typed = typed.by(fold, kinds)
    typed = typed.by(simplify, params, kinds, (facts.seed,), seen)
    kinds = infer(typed.function, params)
    typed = typed.by(finish, kinds)
    theirs = ir.VariableRole.ADJOINT, ir.VariableRole.STEPS  # those of a derivative
    ours = frozenset(n for n in ir.bound(typed.function) if ir.role_of(n) in theirs)
    ours -= recursive_results(typed.function)
    # Before items of unpackings stand for the check of their number: those may be dead.
    typed = typed.by(spell, kinds, ours)
    typed = typed.by(upwards, kinds) if counts else typed
    typed = typed.by(unpacked)
    typed = (typed.by(items_in_reverse) if counts else typed).by(sink, kinds)
    typed = typed.by(read_at_once, kinds).by(returned_at_once, kinds)
    typed = typed.by(with_first_names, kinds)
    typed = by_rare(typed, "with_fitting", params, facts.kinds)
    typed = typed.by(in_order, facts.adjoints.values())
    typed = typed.by(with_first_stores, kinds).by(with_last_names, kinds)
    typed = typed.by(shorten, facts.theirs)
    return by_rare(typed, "placed_calls", params).function


def _counts(function: ir.Function, kinds: ir.Kinds) -> bool:
    """Whether a function has loops, or whole numbers of Python."""
    whole = (ir.is_integer(k) and k.python for k in kinds.values())
    return any(whole) or any(type(s) is ir.For for s in ir.walk(function))


def _temporary(function: ir.Function, views: set[str]) -> ir.Function:
    """The function with the adjoints of views as temporaries, to stand where they are used."""
    bound = sorted(ir.bound(function))
    mine = [n for n in bound if n in views or n.rsplit("_", 1)[0] in views]
    if not mine:
        return function
    fresh = ir.Fresh(ir.all_names(function))
    new = {n: fresh("_" + n.replace("d__", "d_")).id for n in mine}
    return ir.rebuilt(function, body=ir.rename(function.body, new))


# --- functions themselves, where no derivative flows through a call -------------------------------


def primal_part(
    origin: Any, request: Request, params: ir.Kinds, target: ir.Target
) -> ir.Function:
    """A function as it is, in the form of generated ones."""
    function = replace(function_of(origin), target=target)
    function = resolved(inline(function, origin), params, origin)
    function = _decided(Typed(function, params)).function
    function = steady_params(webs(prepare(function)))
    typed = Typed(function, params)
    typed = by_rare(typed, "iterated", typed.kinds, params)
    typed = _vectorized(settled(typed.then(user_calls(typed))))
    function = webs(typed.function)
    doc = f"The function `{function.name}` itself."
    function = replace(function, name=request.name, doc=doc, body=unmarked(function.body))
    typed = Typed(function, params).by(simplify, params).by(unpacked)
    return by_rare(typed, "placed_calls", params).by(name).function


def itself(origin: Any, request: Request, target: ir.Target) -> ir.Function:
    """A function that is made in another one as one beside it, the same for all arguments."""
    function = replace(function_of(origin), target=target)
    function = simplify(inline(function, origin), {})
    return name(replace(function, name=request.name))


def settled(typed: Typed) -> Typed:
    """Operators in place resolved until what is in place makes nothing else so."""
    typed = by_rare(typed, "without_overlaps", typed.kinds)
    while True:
        new = inplace(typed.function, typed.kinds)
        same = new == typed.function
        typed = typed.then(new, "inplace")
        if same:
            return typed


def _vectorized(typed: Typed) -> Typed:
    """Statements of whole arrays for loops that can be such, inner ones before outer."""
    while True:
        new = by_rare(typed, "vectorized", typed.kinds)
        if _loops(new) == _loops(typed):
            return new
        typed = new


def _loops(typed: Typed) -> int:
    """How many loops a function has."""
    return sum(type(s) is ir.For for s in ir.walk(typed.function))


def steady_params(function: ir.Function) -> ir.Function:
    """Parameters that are bound again in a loop are copied to a variable first."""
    changed = [p.name for p in function.params if p.name in ir.bound(function)]
    return bound_first(function, {p: ir.Name(p) for p in changed}) if changed else function


# --- passes for what few functions have ----------------------------------------------------------


def by_rare(typed: Typed, name: str, *more: Any) -> Typed:
    """The function after a pass for what few have, which is given `more` beside it."""
    one = rare(typed, name, *more)
    return typed if one is None else typed.by(one, *more)


def rare(typed: Typed, name: str, *more: Any) -> Callable[..., Any] | None:
    """A pass that is read where a function has what it is for; None elsewhere."""
    home, occurs = _RARE[name]
    if not occurs(typed, *more):
        return None
    found: Callable[..., Any] = getattr(import_module(f"srcdiff.{home}"), name)
    return found


def _holds_more(typed: Typed, *_: Any) -> bool:
    """Whether a function has loops, takes something apart, or has more than numbers and arrays."""
    if not all(map(ir.is_numeric, typed.kinds.values())):
        return True
    if any(isinstance(call.role, ir.Unpacks) for call in ir.calls(typed.function)):
        return True
    *stmts, last = ir.walk(typed.function)  # it returns a tuple
    found = (a for s in stmts for o in ir.operands(s) for a in ir.atoms(o))
    plain = all(isinstance(a, (ir.Name, ir.Const, ir.Slice)) for a in found)
    plain = plain and not ir.refs_of(last)
    return not plain or not all(isinstance(s, (ir.Assign, ir.Store)) for s in stmts)


def _writes_as_it_reads(typed: Typed, *_: Any) -> bool:
    """Whether a function stores, or calls what may write before it has read all its operands."""
    stores = any(isinstance(s, ir.Store) for s in ir.walk(typed.function))
    calls = ir.calls(typed.function)
    return stores or any(op_of(c.fn).writing is not Writing.AT_ONCE for c in calls)


def _has_plain_loops(typed: Typed, *_: Any) -> bool:
    """Whether a function has loops that may be statements, and need not give each bit."""
    if typed.function.target.strict:
        return False
    from srcdiff.normalize.vectorize import is_plain

    return any(map(is_plain, ir.walk(typed.function)))


def _has_several_axes(typed: Typed, _: ir.Kinds, primal: ir.Kinds) -> bool:
    """Whether the arguments of the primal have lengths that it may need to fit together."""
    found = [primal[p.name] for p in typed.function.params if p.name in primal]
    axes = [d for kind in found if type(kind) is ir.Array for d in kind.dims or ()]
    known = any(isinstance(d, int) for d in axes)
    return not all(map(ir.is_numeric, found)) or len(axes) > 1 or known


_RARE: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "entrywise": ("normalize.sparse", lambda *_: "scipy.sparse" in sys.modules),
    "fetched": ("backends.cupy.transfers", lambda typed, *_: typed.function.target.on_device),
    "iterated": ("normalize.iteration", _holds_more),
    "placed_calls": ("backends.cupy.calls", lambda typed, *_: typed.function.target.on_device),
    "plain_containers": ("normalize.containers.methods", _holds_more),
    "restored": ("specialize.objects.scalar_replacement", lambda _, fields: fields is not None),
    "vectorized": ("normalize.vectorize", _has_plain_loops),
    "with_fitting": ("autodiff.argument_shapes", _has_several_axes),
    "with_squares": (
        "optimize.squares",
        lambda typed, *_: any(op_of(call.fn).root for call in ir.calls(typed.function)),
    ),
    "without_modes": ("normalize.no_grad", lambda typed, *_: calling(typed.function, *MODES)),
    "without_overlaps": ("normalize.overlaps", _writes_as_it_reads),
}
"""The modules of such passes, and whether a function has what they are for."""


# --- the row of passes ----------------------------------------------------------------------------


@frozen
class State:
    """What the passes hand on: the function as it is now, and what is known of it."""

    function: ir.Function
    request: Request
    params: ir.Kinds
    origin: Any
    facts: Facts | None = None
    theirs: frozenset[str] = frozenset()  # the names of the user's function
    extra: Mapping[str, Any] = field(default_factory=dict)
    fields: Fields | None = None  # of the objects that were taken apart
    outside: Variables = field(default_factory=dict)  # what is a parameter for a while
    source: Typed | None = None  # with operators in place as the source says them
    seen: Seen | None = None  # what is told of every pass

    @property
    def target(self) -> ir.Target:
        """Where the function is to run."""
        return self.function.target

    @functools.cached_property
    def typed(self) -> Typed:
        """The function as it is now, with the kinds of its names."""
        return Typed(self.function, self.params, self.seen)

    @property
    def kinds(self) -> ir.Kinds:
        """The kinds of the names of the function as it is now."""
        return self.typed.kinds

    @property
    def inputs(self) -> tuple[str, ...]:
        """The parameters whose adjoints are asked for."""
        return tuple(p for i in self.request.inputs for p in i.params)

    @property
    def stored(self) -> tuple[str, ...]:
        """The attributes that are assigned, of objects that were taken apart."""
        return () if self.fields is None else self.fields.stored


Pass = Callable[[State], State]


def _with(state: State, function: ir.Function, by: str, **more: Any) -> State:
    """The state with another function, which a pass of some name has made."""
    return _typed(state, state.typed.then(function, by), **more)


def _typed(state: State, typed: Typed, **more: Any) -> State:
    """The state with another function, of whose names the kinds may be known."""
    new = replace(state, function=typed.function, **more)
    vars(new)["typed"] = typed
    return new


def lower_pass(state: State) -> State:
    """Source to IR; a derivative is read in the text generated for these kinds."""
    by_tangent = is_derivative(state.origin) and state.request.by_tangent
    inner: Mapping[str, Any] = {}
    if is_derivative(state.origin) and not by_tangent:
        text = state.origin.for_kinds(state.params, state.target.arrays)
        inner = {"inner": getattr(text, "__srcdiff_copies__", ())}
        function = simplify(without_seed(lower(parse(text))), state.params)
        function = detached(function) if is_detached(state.origin) else function
    elif by_tangent or is_one_call(state.origin):
        function = as_call(state.origin, state.params)
    else:
        function = function_of(state.origin)
    function = replace(function, target=state.target)
    names = frozenset(ir.all_names(function))
    return _with(state, function, "lower", theirs=names, extra=inner)


def inline_pass(state: State) -> State:
    """Bodies for calls."""
    function, params, outside = lent(state.function, state.params)
    outside = {**state.outside, **outside}
    state = replace(state, function=function, params=params, outside=outside)
    given = state.params, state.origin, state.inputs, state.request.by_tangent
    typed = state.typed.then(with_bodies(state.function, *given), "with_bodies").by(seed_free)
    state = _typed(state, by_rare(typed, "without_modes", typed.params, state.inputs))
    found = any(map(has_objects, state.params.values())) or mentions_objects(state.function.body)
    if not found and state.request.mode == "reverse":
        found = bool(read_apart(state.typed))
    if not found:
        return state
    from srcdiff.specialize.objects.scalar_replacement import take_apart

    function = steady_params(webs(state.function))
    done = take_apart(function, state.params, state.request)
    return replace(
        state, function=done.function, params=done.params, request=done.request,
        fields=done.fields, theirs=state.theirs | set(done.fields.places),
    )  # fmt: skip


def select_pass(state: State) -> State:
    """The outputs asked for, and loops and conditions in their plain form."""
    written = with_written(state.function, state.request.written, state.params)
    function = prepare(displays(written))
    asks = state.request.outputs is not None or state.request.has_aux
    kinds = returned_kinds(function, state.params) if asks else {}
    return _with(state, select(function, state.request, kinds), "select")


def webs_pass(state: State) -> State:
    """Names of their own for independent values."""
    return _typed(state, state.typed.by(unzipped).by(coalesce).by(webs).by(apart).by(steady_params))


def compose_pass(state: State) -> State:
    """Calls that stand for several others written out, and `out=` as a store."""
    inputs = tuple(i.param for i in state.request.inputs)
    outputs = selected_names(state.function)
    # Of an array of another class what is written out may ask for the shape alone.
    check_arrays(state.function, state.kinds)
    typed = state.typed.by(without_idle_outs, state.kinds)
    typed = by_rare(typed, "entrywise", typed.kinds, inputs, outputs)
    typed = compose(typed, state.request)
    return _typed(state, _decided(typed.by(steady_params)))


def _plain_containers(typed: Typed) -> Typed:
    """The function with containers in their plain form, by several passes."""
    passes = rare(typed, "plain_containers")
    plain: Typed = typed if passes is None else passes(typed)
    return plain


def inplace_pass(state: State) -> State:
    """Operators in place by what they do, and parameters that are written into copied."""
    typed = _plain_containers(state.typed)
    if typed.function != state.function:  # lists that have just been made may meet NumPy
        typed = _plain_containers(compose(typed, state.request))
    state = _typed(state, _decided(typed))
    before = ir.bound(state.function)
    state = _with(state, user_calls(state.typed), "user_calls")
    state = _typed(state, state.typed, source=state.typed)
    changed = ir.bound(state.function) - before  # lists among the parameters
    if state.request.mode == "reverse":
        state = _typed(state, state.typed.by(at_run_time, state.kinds, state.inputs))
    # Of `x += y`, which may become `x_1 = x + y`, the caller has to see as much as of `x[:] += y`.
    said = said_to_be_written(state.function, state.kinds, state.params)
    state = _typed(state, settled(state.typed))
    function, copied = entered(state.function, state.kinds, state.params)
    typed = by_rare(state.typed.then(function, "entered"), "fetched", state.params)
    lists = (p.name for p in function.params if p.name in changed)
    # A derivative does not show in its text what it copies for its primal to write into.
    inner = state.extra.get("inner", ())
    written = tuple(dict.fromkeys((*said, *lists, *copied, *state.stored, *inner)))
    state = _typed(state, typed.by(webs), extra={"written": written})
    typed = by_rare(state.typed, "with_squares", state.kinds, state.inputs)
    return _typed(state, typed.by(with_foreign_methods, typed.kinds))


def analyse_pass(state: State) -> State:
    """What is known of the function, where nothing of it is refused."""
    assert state.source is not None
    outside = state.outside, state.stored
    put = check_source(state.source, state.typed, state.request, *outside)
    # Who looks for the place where something goes wrong is told the iteration as well.
    typed = state.typed if state.request.checks else _vectorized(state.typed)
    typed = typed.by(numbered, typed.kinds)
    state = _typed(state, typed, source=None, extra={**state.extra, "put": put})
    state = _tangents(state) if state.request.mode == "forward" else _adjoints(state)
    check_flow(state.typed, _facts(state), state.request)
    return state


def _adjoints(state: State) -> State:
    """Aliases and activity, and names for the adjoints."""
    function, kinds = state.function, state.kinds
    shared = aliases(function, kinds)
    if shared.shadows:
        function, copied = own_memory(function, state.params)
        more = {**state.extra, "written": (*state.extra["written"], *copied)}
        state = _with(state, function, "own_memory", extra=more)
        kinds = state.kinds
        shared = aliases(function, kinds)
    found = edges(function.body, kinds, shared, flows)
    active = activity(state.inputs, selected_names(function), found)
    fresh = ir.Fresh(ir.all_names(function))
    seed = fresh(SEED).id
    names = adjoint_names(function, active, fresh)
    mixed = state.request.mixed or computes_complex(function, kinds)
    how = mixed, sampled(function, kinds), state.request.strong_zeros
    alike = Shapes(function, kinds).alike
    facts = Facts(
        kinds, shared, active, names, fresh, seed, state.theirs, *how, target=state.target,
        alike=alike, places=distinct_places(function, kinds),
    )  # fmt: skip
    if shared.shadows:
        from srcdiff.autodiff.shadows import with_shadows

        facts = with_shadows(facts)
    return _typed(state, state.typed, facts=facts)


def _tangents(state: State) -> State:
    """The same for tangents."""
    from srcdiff.autodiff.forward import tangent_facts

    state = _typed(state, state.typed.by(mirrored_memory, state.kinds))
    request, outputs = state.request, selected_names(state.function)
    facts = tangent_facts(state.function, state.kinds, request, outputs, state.theirs)
    return _typed(state, state.typed, facts=facts)


def tangents_pass(state: State) -> State:
    """Tangents beside the values."""
    from srcdiff.autodiff.forward import forward, tangent_kinds

    facts, request = _facts(state), state.request
    function = forward(state.function, facts, request)
    params = {**state.params, **tangent_kinds(facts, request)}
    return replace(state, function=function, params=params)


def reverse_pass(state: State) -> State:
    """Every statement with its adjoint, and the seeds."""
    facts = _facts(state)
    paired, facts = reverse(state.function, facts)
    return _with(state, seeds(paired, facts, state.request), "seeds", facts=facts)


def _facts(state: State) -> Facts:
    assert state.facts is not None
    return state.facts


def accumulate_pass(state: State) -> State:
    """How each adjoint is added to."""
    facts = _facts(state)
    wanted = {facts.adjoints[p]: ir.Name(p) for p in state.inputs if p in facts.adjoints}
    function, final = accumulate(state.function, facts, wanted)
    typed = state.typed.then(function, "accumulate")
    typed = typed.by(simplify_pairs, facts.kinds, facts.adjoints, wanted, facts.fresh, facts.alike)
    return _typed(state, typed, extra={**state.extra, "final": final})


def tape_pass(state: State) -> State:
    """Forward and backward part, with what is saved."""
    facts, final = _facts(state), state.extra["final"]
    whole = assemble(state.function, _parts(state, facts), facts, state.request, final)
    return _with(state, whole, "assemble")


def _parts(state: State, facts: Facts) -> Parts:
    """The forward and the backward part, with checks where they are asked for."""
    function = state.function
    if state.request.checks:
        from srcdiff.autodiff.diagnostics import checked

        function = checked(function, facts, state.request.checks)
    parts = split(function, facts)
    return replace(parts, forward=unmarked(parts.forward), backward=unmarked(parts.backward))


def simplify_pass(state: State) -> State:
    """Without what nobody needs."""
    function = polished(state.function, state.params, _facts(state), state.seen)
    typed = state.typed.then(function, "polished").by(reused, state.params)
    return _typed(state, by_rare(typed, "restored", state.fields))


def name_pass(state: State) -> State:
    """With names that a person would have given."""
    typed = state.typed.by(legalized, state.params, state.request)
    typed = typed.by(repeated, state.params).by(name)
    state = _typed(state, typed.by(returned, state.outside))
    return _typed(state, state.typed.by(alone, state.kinds)) if state.request.alone else state


def pair_pass(state: State) -> State:
    """The forward and the backward part as two functions."""
    from srcdiff.specialize.objects.scalar_replacement import plain_names

    facts = _facts(state)
    parts = _parts(state, facts)
    one, two = assemble_pair(state.function, parts, facts, state.request, state.extra["final"])
    two = plain_names(two)
    known = _kinds_of_pair(one, state.params, facts)
    residuals = _residuals(two, known)
    plain = polished(two, residuals, facts, state.seen)
    if state.request.saves:
        from srcdiff.autodiff.saved_hooks import used_residuals, with_hooks

        one, two, facts = with_hooks(one, two, used_residuals(plain), parts.tapes, facts)
        residuals = _residuals(two, _kinds_of_pair(one, state.params, facts))
        plain = polished(two, residuals, facts)
    parts_of = one, two
    one = polished(one, state.params, facts, state.seen)
    typed = by_rare(Typed(reused(one, state.params), state.params), "restored", state.fields)
    residuals = _given_back(typed, residuals)
    typed = typed.by(legalized, state.params, state.request, (), popped(plain))
    typed = typed.by(repeated, state.params).by(name)
    forward = returned(typed.function, state.outside)
    if state.target.native:  # which has to know how much they hold
        residuals = _given_back(typed, residuals)
    plain = legalized(reused(plain, residuals), residuals, state.request, tuple(residuals))
    backward = name(repeated(plain, residuals))
    if state.request.alone:
        backward = alone(backward, infer(backward, residuals))
    more = {"backward": backward, "residuals": residuals, "consumes": consumes(two, facts)}
    more["parts"] = parts_of
    return _with(state, forward, "forward", facts=facts, extra={**state.extra, **more})


Row = tuple[tuple[str, Pass], ...]

_PLAIN: Row = (
    ("lower", lower_pass),
    ("inline", inline_pass),
    ("select", select_pass),
    ("webs", webs_pass),
    ("compose", compose_pass),
    ("inplace", inplace_pass),
    ("analyse", analyse_pass),
)
_PAIRED: Row = (
    *_PLAIN,
    ("reverse", reverse_pass),
    ("accumulate", accumulate_pass),
)
_LAST: Row = (("simplify", simplify_pass), ("name", name_pass))

PASSES: Row = (*_PAIRED, ("tape", tape_pass), *_LAST)
FORWARD_PASSES: Row = (*_PLAIN, ("tangents", tangents_pass), *_LAST)
PAIR_PASSES: Row = (*_PAIRED, ("pair", pair_pass))

PRIMAL_PASSES = tuple(label for label, _ in _PLAIN)
"""The passes over the function itself, before it has a derivative."""


Watch = Callable[[str, str, ir.Function, ir.Function], None]
"""What is told of every pass: the row's name of it, its own, the function before and after it."""


def run(
    origin: Any,
    request: Request,
    params: ir.Kinds,
    target: ir.Target,
    watch: Watch | None = None,
    pair: bool = False,
    numbers: Sequence[Variable] = (),
) -> Iterator[tuple[str, State]]:
    """The state after every pass; with `pair` the last makes a forward and a backward part.

    `numbers` are variables that are parameters until the end, where they are read as they are.
    """
    passes = FORWARD_PASSES if request.mode == "forward" else PAIR_PASSES if pair else PASSES
    outside = {v.name: ir.Ref(v.name, v) for v in numbers}
    start = ir.Function("", (), (), target=target)
    state = State(start, request, params, origin, outside=outside)
    for label, step in passes:
        if watch is None:
            state = step(state)
        else:
            before = state.function
            state = step(replace(state, seen=functools.partial(watch, label)))
            watch(label, "", before, state.function)
        yield label, state


def analysed(origin: Any, request: Request, params: ir.Kinds, target: ir.Target) -> State:
    """The function with what is known of its values."""
    states = run(origin, request, params, target)
    return next(state for label, state in states if label == "analyse")


def finished(
    origin: Any,
    request: Request,
    params: ir.Kinds,
    target: ir.Target,
    pair: bool = False,
    numbers: Sequence[Variable] = (),
) -> State:
    """The state after all passes; with `pair` its function is the forward part."""
    *_, (_, last) = run(origin, request, params, target, pair=pair, numbers=numbers)
    return last


def derive(
    origin: Any,
    request: Request,
    params: ir.Kinds,
    target: ir.Target,
    pair: bool = False,
    numbers: Sequence[Variable] = (),
) -> Made:
    """The text of a derivative, or of its two parts, with those of the functions that it calls."""
    state = finished(origin, request, params, target, pair, numbers)
    extra, made, places = state.extra, [(state.function, state.params)], Places()
    if pair:
        one, two, places = _as_joined(state.function, extra["backward"], target)
        made = [(one, state.params), (two, extra["residuals"])]
    text = _text([function for function, _ in made], origin, request)
    consumes = extra.get("consumes", False)
    returns, put = state.function.returns, extra["put"]
    return Made(text, extra["written"], returns, tuple(made), consumes, put, places)


def _as_joined(
    one: ir.Function, two: ir.Function, target: ir.Target
) -> tuple[ir.Function, ir.Function, Places]:
    """Both parts with lists of tuples, where Python runs them."""
    plain = not (target.fused or target.kernels)
    return joined_pair(one, two) if plain else (one, two, ())


def _text(functions: list[ir.Function], origin: Any, request: Request) -> Emitted:
    """Functions as one text, with the names that the user's function has for what is outside."""
    primal = origin.primal if isinstance(origin, WithFree) else origin
    return module_text(functions, pair_of, primal, request)


def _given_back(forward: Typed, residuals: ir.Kinds) -> dict[str, ir.Kind]:
    """The kind of the residuals as a finished forward part gives them back."""
    last = forward.function.body[-1]
    assert type(last) is ir.Return
    both = ir.known_items(atom_kind(last.value, forward.kinds)) or ()
    pairs = [(n, g, k) for g in both[1:] for n, k in residuals.items()]
    found = {n: known for n, g, k in pairs if (known := _known_items(g, k))}
    return {**residuals, **found}


def _known_items(given: ir.Kind, kind: ir.Kind) -> ir.Kind | None:
    """The kind of residuals, with the integers and with what lists hold as far as it is known."""
    if type(given) is not ir.Tuple or type(kind) is not ir.Tuple:
        return None
    if given.items is None or kind.items is None or len(given.items) != len(kind.items):
        return None
    more = map(_is_more, given.items, kind.items)
    return ir.Tuple(tuple(g if m else k for g, k, m in zip(given.items, kind.items, more)))


def _is_more(given: ir.Kind, kind: ir.Kind) -> bool:
    """Whether an integer is known, or how much a list holds, or what one of which nothing is."""
    if type(given) is ir.Scalar:
        return given.dtype == "int64" and given.value is not None
    return type(given) is ir.List and (given.items is not None or kind == ir.UNKNOWN)


def _kinds_of_pair(forward: ir.Function, params: ir.Kinds, facts: Facts) -> ir.Kinds:
    """The kinds of the names of a pair; a list of a branch that is not taken is None."""
    kinds: dict[str, ir.Kind] = {**infer(forward, params), **facts.kinds}
    unset = (s.target.id for s in forward.body if type(s) is ir.Assign and s.rhs == ir.NONE)
    lists = [n for n in unset if type(kinds.get(n)) is ir.List]
    return {**kinds, **{n: ir.maybe(kinds[n]) for n in lists}}


def _residuals(backward: ir.Function, kinds: ir.Kinds) -> dict[str, ir.Kind]:
    """The kind of the parameter that a backward part unpacks."""
    from srcdiff.specialize.objects.scalar_replacement import residual_kinds

    kinds = residual_kinds(backward, kinds)
    return {backward.params[0].name: ir.Tuple(tuple(kinds.values()))}


def pair_of(
    origin: Any, request: Request, params: ir.Kinds, target: ir.Target
) -> tuple[ir.Function, ...]:
    """The forward and the backward part of a derivative, or one function: of forward mode, say."""
    if request.mode == "primal":
        return (legalized(primal_part(origin, request, params, target), params, request),)
    if request.mode == "itself":
        return (legalized(itself(origin, request, target), {}, request),)
    if request.mode in ("forward", "whole"):
        mode = "reverse" if request.mode == "whole" else "forward"
        return (finished(origin, replace(request, mode=mode), params, target).function,)
    state = finished(origin, request, params, target, pair=True)
    return state.function, state.extra["backward"]


# --- functions for a batch of cotangents or of directions --------------------------------------


def derive_backward(
    origin: Any,
    request: Request,
    params: ir.Kinds,
    target: ir.Target,
    watch: Watch | None = None,
    numbers: Sequence[Variable] = (),
    places: Places = (),
) -> Made:
    """The text of the forward part, and of the backward part for a batch, or a NoBatchError.

    `places` are those of the residuals that the pair gives which it is for.
    """
    from srcdiff.autodiff.batch.transform import batch_backward, with_axis
    from srcdiff.specialize.objects.scalar_replacement import residual_kinds

    state = finished(origin, request, params, target, True, numbers)
    one, two = state.extra["parts"]
    facts = _facts(state)
    known = _kinds_of_pair(one, state.params, facts)
    residuals = residual_kinds(two, known)
    seeds = {two.params[0].name: ir.Tuple(tuple(residuals.values())), **_cotangent(one, two, known)}
    plain = polished(two, seeds, facts)
    shadowed = with_axis(one, known, facts.shadows)
    shadows = frozenset(k for k, n in enumerate(residuals) if n in shadowed)
    memory = Memory(one, known)
    classes = [memory.find(n) for n in residuals]
    # A workspace hands out arrays row by row.
    columns = not target.workspace
    typed = Typed(plain, seeds, watch and functools.partial(watch, "batch"))
    typed = typed.by(batch_backward, infer(plain, seeds), shadows, classes, columns)
    many = with_joined(typed.by(remove_dead).by(reused, seeds).by(name).function, places)
    return Made(_text([state.function, many], origin, request), (), (), ())


def _cotangent(one: ir.Function, two: ir.Function, kinds: ir.Kinds) -> ir.Kinds:
    """The kind of the cotangent by its name, where that is one number."""
    last = one.body[-1]
    assert type(last) is ir.Return and type(last.value) is ir.Tup
    kind = atom_kind(last.value.items[0], kinds)
    return {two.params[1].name: kind} if type(kind) is ir.Scalar else {}


def derive_forward(
    origin: Any,
    request: Request,
    params: ir.Kinds,
    target: ir.Target,
    watch: Watch | None = None,
    numbers: Sequence[Variable] = (),
) -> Made:
    """The text of a function of forward mode for a batch of directions, or a NoBatchError."""
    from srcdiff.autodiff.batch.transform import batch_forward
    from srcdiff.autodiff.forward import tangent_kinds

    plain = replace(target, workspace=False)
    states = run(origin, request, params, plain, numbers=numbers)
    state = next(s for label, s in states if label == "simplify")
    tangents = frozenset(tangent_kinds(_facts(state), request))
    typed = Typed(state.function, state.params, watch and functools.partial(watch, "batch"))
    typed = typed.by(batch_forward, state.kinds, tangents).by(remove_dead)
    single = {n: k for n, k in state.params.items() if n not in tangents}
    many = reused(replace(typed.function, target=target), single)
    many = returned(name(many), state.outside)
    return Made(_text([many], origin, request), (), (), ())
