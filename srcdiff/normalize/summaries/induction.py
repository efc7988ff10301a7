"""What a call of a function that stays a call does: to its arguments, and what it returns.

Takes the calls in a function, and what each does for arguments of some kinds; gives what is
inferred of the function if each call does that for the kinds of its own arguments, by induction
over the calls of functions that call each other.  The invariant: calls that nothing has reached
give nothing, so that what a loop or a recursion brings back does not count before it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from srcdiff import ir
from srcdiff.analysis.links import Groups, groups
from srcdiff.analysis.manager import once
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.shadows import may_copy
from srcdiff.errors import TransformError, UnsupportedError
from srcdiff.frontend.signatures import bind
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, rhs_kind
from srcdiff.kinds.complexes import has_complex
from srcdiff.kinds.interpreter import Typed, infer
from srcdiff.kinds.lattice import join, join_all
from srcdiff.kinds.probing import answered_by
from srcdiff.normalize.in_place import inplace, prepare
from srcdiff.normalize.live_ranges import webs
from srcdiff.normalize.summaries.effects import (
    NOTHING_YET,
    Does,
    Summary,
    assuming,
    calls_function,
    holds_values,
    is_entangled,
    is_value,
    together,
)
from srcdiff.specialize.inline import function_of, inline, is_user_function, lowered
from srcdiff.specialize.resolve import without_modules

T = TypeVar("T")

ROUNDS = 12


def consistent(
    calls: Sequence[ir.Call],
    first: Does,
    at: Callable[[Any, ir.Kinds], Summary],
    make: Callable[[Does], tuple[T, ir.Kinds]],
) -> T | None:
    """What `make` finds, with the kinds, if calls do what `at` says of these kinds.

    `first` is what they do to begin with.  None if that does not come to an end.
    """
    does, before, all_reached = first, None, False
    for _ in range(ROUNDS):
        found, kinds = make(does)
        given = [
            given_to(c, kinds) if all_reached or _is_reached(c, kinds) else None for c in calls
        ]
        if given == before and None not in given:
            return found
        # What is never reached is taken for reached: kinds may be missing for another reason.
        all_reached = all_reached or given == before
        before = given
        does = partial(_at, at, {id(c): g for c, g in zip(calls, given)})
    return None


def _at(
    at: Callable[[Any, ir.Kinds], Summary], known: Mapping[int, ir.Kinds | None], call: ir.Call
) -> Summary:
    """What a call does for what it is given, if anything."""
    kinds = known.get(id(call))
    return NOTHING_YET if kinds is None else at(call.fn, kinds)


def _is_reached(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether all that a call is given has a kind by now."""
    return all(kinds.get(n) is not ir.UNREACHED for n in ir.names(call))


def given_to(call: ir.Call, kinds: ir.Kinds) -> ir.Kinds:
    """The kinds of what a call gives the parameters of a function."""
    bound = bind(function_of(call.fn), call, ir.NOWHERE)
    return {p: plain_kind(atom_kind(a, kinds)) for p, a in bound.items()}


_RANK = 4
"""How many axes an array has at most whose number of axes counts: recursion may add some."""

_DEPTH = 3
"""How deep containers are looked at: what a tangent returns is a pair of tuples with lists."""

_LENGTH = 8
"""How many items a tuple has at most that are told apart: recursion may add some as well."""


def plain_kind(kind: ir.Kind, depth: int = 0) -> ir.Kind:
    """A kind without what differs from call to call: values, names of lengths, deep structure."""
    if isinstance(kind, ir.Scalar):
        return ir.Scalar(kind.dtype, kind.python)
    if isinstance(kind, ir.Array):
        known = kind.dims is not None and len(kind.dims) <= _RANK
        dims = (None,) * len(kind.dims or ()) if known else None
        return ir.Array(kind.dtype, dims, kind.maybe_scalar)
    if isinstance(kind, ir.Tuple) and depth < _DEPTH:
        items = tuple(plain_kind(k, depth + 1) for k in ir.inside(kind))
        known = kind.items is not None and len(items) <= _LENGTH
        return ir.Tuple(items) if known else ir.Tuple(None, join_all(items))
    if isinstance(kind, ir.List) and kind.items == () and kind.item is None:
        return ir.List(None, ())
    if isinstance(kind, ir.List) and depth < _DEPTH:
        return ir.List(join_all(plain_kind(k, depth + 1) for k in ir.contents(kind)))
    if isinstance(kind, (ir.Callable, ir.Module, ir.NoneKind)):
        return kind
    return ir.UNKNOWN


# --- what a call of a function that stays a call does: to its arguments, and what it returns -----


AT_RUN_TIME = "at run time"  # the part of what only the running program knows


def is_at_run_time(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is a marked call."""
    fn = rhs.fn if isinstance(rhs, ir.Call) else None
    return isinstance(fn, ir.Derived) and fn.part == AT_RUN_TIME


def near(function: ir.Function, kinds: ir.Kinds) -> Groups:
    """The names that may share memory, whatever calls of Python functions may return."""
    known = PointsTo.of(function, kinds)
    return groups(k for k in (*known.links, *known.marks) if not calls_function(k.stmt))


@answered_by
def result_kind(fn: Any, args: tuple[ir.Kind, ...]) -> ir.Kind:
    """The kind of what a Python function returns for arguments of some kinds, if that is known."""
    try:
        callee = function_of(fn)
    except TransformError:
        return ir.UNKNOWN
    plain = all(p.style in ("pos", "any") for p in callee.params)
    if not plain or len(callee.params) != len(args):
        return ir.UNKNOWN
    names = (p.name for p in callee.params)
    # Where arrays live on a device, what is called with the function makes arrays of its numbers.
    return summary(fn, dict(zip(names, map(plain_kind, args), strict=True)), ir.HOST).result


def summary(fn: Any, kinds: ir.Kinds, target: ir.Target) -> Summary:
    """What a function returns and writes into, by induction over the calls in it."""
    key = "summary", fn, tuple(kinds.items()), target.on_device
    return once(key, lambda: _Induction(target).settled(fn, kinds))


_MOST = 6
"""For how many kinds of its arguments a function is looked at before they count as unknown."""


_Spec = tuple[Any, tuple[tuple[str, ir.Kind], ...]]  # a function and the kinds of its arguments


class _Induction:
    """What functions do that call each other, each for the kinds of its arguments.

    `known` has what is assumed of those that were met so far; it grows until it follows from
    itself.
    """

    def __init__(self, target: ir.Target) -> None:
        self.target = target
        self.known: dict[_Spec, Summary] = {}
        self.asked: set[_Spec] = set()
        self.by: dict[_Spec, dict[_Spec, Summary]] = {}  # what each summary was found by

    def settled(self, fn: Any, kinds: ir.Kinds) -> Summary:
        """The summary of a function."""
        self.of(fn, kinds)
        (first,) = self.known
        for _ in range(ROUNDS):
            for spec in (open_ := [s for s in self.known if self.is_open(s)]):
                self.asked = {spec}
                found = _summary_if(spec[0], dict(spec[1]), self)
                self.by[spec] = {s: self.known[s] for s in self.asked}
                self.known[spec] = _joined(self.known[spec], found)
            if not open_:
                return self.known[first]
        return replace(self.known[first], result=ir.UNKNOWN, same=(), items=())

    def is_open(self, spec: _Spec) -> bool:
        """Whether what a summary was found by has changed since."""
        return any(self.known[s] != seen for s, seen in self.by.get(spec, {spec: None}).items())

    def of(self, fn: Any, kinds: ir.Kinds) -> Summary:
        """What is assumed of a function: to begin with, what it does where it calls none."""
        spec = (fn, tuple(kinds.items()))
        if spec not in self.known and sum(fn == other for other, _ in self.known) >= _MOST:
            kinds = dict.fromkeys(kinds, ir.UNKNOWN)
            spec = (fn, tuple(kinds.items()))
        if spec not in self.known:
            self.known[spec] = _base_case(fn, kinds, self.target)
        self.asked.add(spec)
        return self.known[spec]


def _reached(function: ir.Function) -> Iterator[ir.Function]:
    """A function, and those of which calls stay calls in it, or in one of them."""
    found, seen = [function], list[Any]()
    for one in found:  # it grows
        yield one
        for callee in (call.fn for call in ir.calls(one)):
            primal = isinstance(callee, ir.Derived) and callee.part == "primal"
            fn: Any = callee.key.function if primal else callee  # type: ignore[union-attr]
            if is_user_function(fn) and fn not in seen and lowered(fn) is not None:
                seen.append(fn)
                found.append(inline(function_of(fn), fn))


def reshapes(fn: Any) -> bool:
    """Whether a function does what is a view or a copy by the layout of the memory."""
    reached = _reached(inline(function_of(fn), fn))
    return any(may_copy(call) for one in reached for call in ir.calls(one))


def computes_complex(function: ir.Function, kinds: ir.Kinds) -> bool:
    """Whether complex numbers may occur in a function, or in those whose calls stay calls."""
    for one in _reached(function):
        unseen = any(map(is_at_run_time, ir.calls(one)))
        if unseen or has_complex(one, kinds if one is function else {}):
            return True
    return False


def _joined(a: Summary, b: Summary) -> Summary:
    """What holds if either of two summaries may."""
    result = join(a.result, b.result) if type(a.result) is type(b.result) else b.result
    written = (*a.written, *(p for p in b.written if p not in a.written))
    returned = (*a.returned, *(p for p in b.returned if p not in a.returned))
    entangled, together = a.entangled or b.entangled, a.together or b.together
    return Summary(result, written, returned, entangled, together, b.same, b.items)


def _base_case(fn: Any, kinds: ir.Kinds, target: ir.Target) -> Summary:
    """The kind of what a function returns where it does not call itself."""
    typed = _typed(_prepared(fn, kinds, target), kinds, lambda _: NOTHING_YET)
    function, inferred = typed.function, typed.kinds
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    return Summary(_known_kind(last.value, function, inferred) or ir.Scalar("float64", None))


def _known_kind(value: ir.Atom, function: ir.Function, kinds: ir.Kinds) -> ir.Kind | None:
    """The kind of what a function returns by those of its values that are known, if one is."""
    given = [value] if isinstance(value, ir.Tup) else _given_to(value, function)
    rows = [rhs.items for rhs in given if isinstance(rhs, ir.Tup)]
    if rows and len(rows) == len(given) and len({*map(len, rows)}) == 1:
        columns = ([_known_item(a, function, kinds) for a in column] for column in zip(*rows))
        items = (join_all(k for k in column if k is not None) for column in columns)
        return ir.Tuple(tuple(ir.Scalar("float64", None) if k is None else k for k in items))
    found = [plain_kind(rhs_kind(rhs, kinds, function.target.on_device)) for rhs in given]
    whole = [k for k in found if _is_known(k)]
    return join_all(whole or [k for k in found if k != ir.UNKNOWN])


def _is_known(kind: ir.Kind) -> bool:
    """Whether nothing in a kind is unknown."""
    return kind != ir.UNKNOWN and all(map(_is_known, ir.inside(kind)))


def _given_to(value: ir.Atom, function: ir.Function) -> list[ir.Rhs]:
    """What is assigned to a name."""
    stmts = (s for s in ir.walk(function) if isinstance(s, ir.Assign))
    return [s.rhs for s in stmts if s.target == value]


def _known_item(value: ir.Atom, function: ir.Function, kinds: ir.Kinds) -> ir.Kind | None:
    """The same of one of several values, which may be a parameter."""
    if isinstance(value, ir.Tup) or _given_to(value, function):
        return _known_kind(value, function, kinds)
    found = plain_kind(atom_kind(value, kinds))
    return None if found == ir.UNKNOWN else found


def _summary_if(fn: Any, kinds: ir.Kinds, known: _Induction) -> Summary:
    """What holds of a function if the calls in it do what is known or assumed."""
    function = _prepared(fn, kinds, known.target)
    typed = _assumed(function, kinds, known, {fn: known.of(fn, kinds)})
    lent = frozenset(p.name for p in typed.function.params)
    typed = typed.then(webs(inplace(typed.function, typed.kinds, lent)))
    function, inferred = typed.function, typed.kinds
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    written = PointsTo.of(function, inferred).written_params
    group = near(function, inferred)
    names = [n for n in ir.names(last.value) if not ir.is_scalar(inferred.get(n, ir.UNKNOWN))]
    own = [p.name for p in function.params if not ir.is_scalar(kinds.get(p.name, ir.UNKNOWN))]
    returned = tuple(p for p in own if any(group.share(p, n) for n in names))
    twice, ours = is_entangled(function, inferred), function.loc.file.startswith(ir.GENERATED)
    kind = plain_kind(atom_kind(last.value, inferred))
    values = [p for p in returned if holds_values(kinds.get(p))]
    same = tuple(p for p in values if _has_flat_lists(kind))
    one = together(function, inferred)
    items = tuple(p for p in values if not any(one.share(p, n) for n in names))
    return Summary(kind, written, returned, twice and not ours, twice and ours, same, items)


def _has_flat_lists(kind: ir.Kind) -> bool:
    """Whether a result is a list of values, or a tuple that holds such lists and values alone."""
    if isinstance(kind, ir.Tuple) and kind.items is not None and not is_value(kind):
        return all(is_value(k) or _has_flat_lists(k) for k in kind.items)
    return holds_values(kind)


def _prepared(fn: Any, kinds: ir.Kinds, target: ir.Target) -> ir.Function:
    """A function as its kinds are inferred."""
    plain = once(("prepared", fn), lambda: webs(prepare(inline(function_of(fn), fn))))
    return without_modules(ir.rebuilt(plain, target=target), kinds)


def _assumed(
    function: ir.Function, kinds: ir.Kinds, known: _Induction, first: Mapping[Any, Summary]
) -> Typed:
    """A function with the kinds of its names, each call doing what it does for its arguments."""
    calls = [c for c in ir.calls(function) if is_user_function(c.fn)]

    def make(does: Does) -> tuple[Typed, ir.Kinds]:
        typed = _typed(function, kinds, does)
        return typed, typed.kinds

    start: Does = lambda call: first.get(call.fn, NOTHING_YET)  # noqa: E731
    found = consistent(calls, start, known.of, make)
    return found or _typed(function, kinds, partial(_of_anything, known))


def _of_anything(known: _Induction, call: ir.Call) -> Summary:
    """What a call does whatever it is given."""
    return known.of(call.fn, dict.fromkeys(given_to(call, {}), ir.UNKNOWN))


def _typed(function: ir.Function, kinds: ir.Kinds, does: Does) -> Typed:
    """A function with the kinds of its names if its calls do what is said."""
    from srcdiff.normalize.containers.methods import plain_containers

    body = assuming(function.body, does, ir.Fresh(ir.all_names(function)))
    return plain_containers(Typed(ir.rebuilt(function, body=body), kinds))


def refined_kinds(typed: Typed) -> ir.Kinds:
    """The kinds of names if calls do to lists what their summaries say, and not anything."""
    function, kinds = typed.function, typed.kinds
    calls = [c for c in ir.calls(function) if _is_readable(c.fn)]
    if not any(isinstance(kinds.get(n), ir.List) for call in calls for n in ir.names(call)):
        return kinds
    readable = {id(call) for call in calls}

    def make(does: Does) -> tuple[ir.Kinds, ir.Kinds]:
        does = partial(_if_readable, readable, does)
        body = assuming(function.body, does, ir.Fresh(ir.all_names(function)), lent=True)
        found = infer(ir.rebuilt(function, body=body), typed.params)
        return found, found

    at = partial(summary, target=function.target)
    return consistent(calls, lambda _: NOTHING_YET, at, make) or kinds


def _is_readable(fn: Any) -> bool:
    """Whether a callee is a Python function of which everything is understood."""
    if not is_user_function(fn):
        return False
    try:
        function_of(fn)
    except UnsupportedError:
        return False
    return True


def _if_readable(readable: set[int], found: Does, call: ir.Call) -> Summary | None:
    """What is known of one of some calls; of the others nothing is."""
    return found(call) if id(call) in readable else None
