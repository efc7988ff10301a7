"""Where the text of a gradient is not accepted again, the gradient as one call.

See `srcdiff/runtime/second_order.py`.  `derived` takes what makes a text of a derivative; where
that refuses a text that was generated, it makes one with `Request.by_tangent`, for which `one_call`
writes calls of gradients as calls of `gradients_at`.

Functions that run more often than they are called must compute the same each time.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from srcdiff import ir
from srcdiff.analysis.manager import remembering, uncollected
from srcdiff.driver.options import Options
from srcdiff.errors import TransformError, UnsupportedError
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import place_of, signature_of
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import SEED
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.effects import is_pure, module_of, only_writes
from srcdiff.primitives.operation import op_of
from srcdiff.runtime.service import compiler, is_derivative
from srcdiff.runtime.trees import hooked


def check_repeatable(generated: Any, f: Any) -> None:
    """Refuse a function `f` whose generated derivative draws random numbers, prints, or counts."""
    call = next(effects(generated), None)
    if call is not None:
        raise UnsupportedError(
            f"the function runs more than once here, and {spelling(call)} may do something "
            "else each time",
            place_of(f),
            remedy="Draw random numbers, and print, outside of it, and pass it the numbers.",
        )


def effects(generated: Any) -> Iterator[ir.Call]:
    """The calls of a generated function that do more than compute."""
    return (call for call in _calls(generated, set()) if not _is_repeatable(call))


def _calls(generated: Any, seen: set[Any]) -> Iterator[ir.Call]:
    """All calls in a generated function, and in those that it calls."""
    seen.add(generated)
    for call in ir.calls(lower(parse(generated)).body):
        fn = call.fn
        code = fn.__code__ if isinstance(fn, types.FunctionType) else None
        if code is None or not code.co_filename.startswith(ir.GENERATED):
            yield call
        elif fn not in seen:  # a part of a recursive function
            yield from _calls(fn, seen)


_CHECKPOINTS = ("srcdiff.runtime.checkpoint.Before", "srcdiff.runtime.checkpoint.run_again")


def _is_repeatable(call: ir.Call) -> bool:
    """Whether a call computes, or writes into what the generated function has made."""
    own = is_pure(call.fn) or only_writes(call.fn)
    if isinstance(call.fn, (ir.Name, ir.Method)):
        return own
    if op_of(call.fn).name in _CHECKPOINTS:
        return False  # which puts back random generators
    return own or module_of(call.fn).startswith("srcdiff.")


# --- the gradient as one call ---------------------------------------------------------------------


T = TypeVar("T")
Make = Callable[[Any, Request, ir.Kinds], T]
OneCall = tuple[ir.Call, "int | tuple[int, ...]"]


@uncollected()
def derived(make: Make[T], origin: Any, request: Request, kinds: ir.Kinds) -> T:
    """What `make` makes of a derivative; with gradients in it as calls where it refuses them.

    Raises:
        TransformError: it is refused either way, with what was said of it at first.
    """
    try:
        with remembering():
            return make(origin, request, kinds)
    except UnsupportedError as error:
        in_text = error.loc is not None and error.loc.file.startswith(ir.GENERATED)
        if request.alone or not in_text or not _calls_function(origin):
            raise
        refused = error
    try:
        with remembering():
            return make(origin, replace(request, by_tangent=True), kinds)
    except TransformError:
        raise refused from None


def _calls_function(origin: Any) -> bool:
    """Whether what is differentiated is that of a plain function, without free inputs."""
    while is_derivative(origin):
        origin = origin.primal
    return isinstance(origin, types.FunctionType)


def one_call(made: Any, call: ir.Call, kinds: ir.Kinds, arrays: str) -> OneCall | None:
    """The call of a gradient as one of `gradients_at`, and which items of that it is.

    None where it cannot be told that its derivative goes by the tangent.
    """
    from srcdiff.runtime.second_order import call_of, gradients_at

    if not _is_plain(made, call):
        return None
    keywords = tuple(str(k) for k, _ in call.kwargs if k != SEED)
    atoms = (*call.args, *(v for k, v in call.kwargs if k != SEED))
    seed = dict(call.kwargs).get(SEED, ir.NONE)
    params = list(signature_of(made).parameters)
    order = (*params[: len(call.args)], *keywords)
    wanted = [i.param for i in made.request.inputs]
    if any(i.path or i.parts for i in made.request.inputs) or not {*wanted} <= {*order}:
        return None
    inputs = tuple(order.index(n) for n in wanted)
    f = call_of(made.primal, len(call.args), keywords) if keywords else made.primal
    found = [atom_kind(a, kinds) for a in atoms]
    if not _goes_by_tangent(made, f, inputs, dict(zip(order, found)), found, arrays):
        return None
    args = (ir.Ref(f.__name__, f), ir.Const(inputs), seed, *atoms)
    new = ir.Call(gradients_at, args, text="gradients_at")
    return new, inputs if made.request.form == "tuple" else inputs[0]


def _is_plain(made: Any, call: ir.Call) -> bool:
    """Whether a gradient has no options that a tangent knows nothing of."""
    if made.receiver or not call.args:
        return False
    own = Options(made.options.inputs)
    options = replace(made.options, unused="error", create_graph=None, again=False, verify=None)
    plain = not any(isinstance(a, ir.Star) for a in call.args) and None not in dict(call.kwargs)
    plain = plain and isinstance(made.primal, types.FunctionType)
    complete = made.options.unused != "none"
    return plain and complete and options == own and isinstance(made.request.form, str)


def _goes_by_tangent(
    made: Any,
    f: Any,
    inputs: tuple[int, ...],
    by_name: ir.Kinds,
    found: list[ir.Kind],
    arrays: str,
) -> bool:
    """Whether a gradient is that of the tangent, after all was generated that the call needs."""
    from srcdiff.runtime.second_order import tangent_along

    function = made.for_kinds(by_name, arrays)
    check_repeatable(function, made.primal)
    if any(value is hooked for value in function.__globals__.values()):
        return False  # a hook changes the gradient alone
    tangent = tangent_along(f, inputs, len(found))
    again = compiler().gradient(tangent, active_places(found))
    names = list(signature_of(tangent).parameters)
    again.for_kinds(dict(zip(names, (*found, *(found[k] for k in inputs)))), arrays)
    return True


def active_places(kinds: Sequence[ir.Kind]) -> tuple[int, ...]:
    """Which arguments can carry a derivative, of some kinds."""
    opaque = ir.Object, ir.Callable
    known = (ir.is_active_kind(kind) and not isinstance(kind, opaque) for kind in kinds)
    return tuple(k for k, is_active in enumerate(known) if is_active)
