"""Where the text of a gradient is not accepted again, the gradient as one call.

See `srcdiff/runtime/second_order.py`.  `derived` takes what makes a text of a derivative; where
that refuses a text that was generated, printed or not, it makes one with `Request.by_tangent`, for
which `one_call` writes calls of gradients as calls of `gradients_at`.

Where the text of a printed gradient is not accepted, and the gradient of the function that it names
is, generated once more, the same but for names of variables, the text is differentiated as a call
of that gradient, by the tangent.

Functions that run more often than they are called must compute the same each time.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import gast

from srcdiff import ir
from srcdiff.analysis.facts import remembering, uncollected
from srcdiff.driver.options import Options
from srcdiff.errors import SrcdiffError, TransformError, UnsupportedError
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import place_of, signature_of
from srcdiff.frontend.source.code_objects import named_primal, same_function
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import SEED
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import Callable as Function
from srcdiff.ir.kinds import Kind, Object, is_active_kind
from srcdiff.normalize.summaries.effects import kind_of_atom
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.effects import is_pure, module_of, only_writes
from srcdiff.runtime.implicit import with_source
from srcdiff.runtime.service import is_derivative, made_once
from srcdiff.runtime.trees import hooked


def check_repeatable(generated: Any, f: Any) -> None:
    """Refuse a function whose derivative draws random numbers, prints, or counts.

    `generated` is the derivative, as a function with a source, and `f` the function.
    """
    call = first_effect(generated)
    if call is not None:
        raise UnsupportedError(
            f"the function runs more than once here, and {spelling(call)} may do something "
            "else each time",
            place_of(f),
            remedy="Draw random numbers, and print, outside of it, and pass it the numbers.",
        )


def first_effect(generated: Any) -> ir.Call | None:
    """The first call of a generated function that does more than compute, None if there is none."""
    return next((c for c in _calls(generated, set()) if not _is_repeatable(c)), None)


def _calls(generated: Any, seen: set[Any]) -> Iterator[ir.Call]:
    """All calls in a generated function, and in those that it calls."""
    seen.add(generated)
    for stmt in ir.walk(lower(parse(generated)).body):
        call = ir.call_of(stmt)
        if call is None:
            continue
        if _is_generated(call.fn) and call.fn not in seen:
            yield from _calls(call.fn, seen)
        elif not _is_generated(call.fn):
            yield call


def _is_generated(fn: Any) -> bool:
    """Whether a callee is a part of a recursive function that was generated."""
    return isinstance(fn, types.FunctionType) and fn.__code__.co_filename.startswith(ir.GENERATED)


def _is_repeatable(call: ir.Call) -> bool:
    """Whether a call computes, or writes into what the generated function has made."""
    own = is_pure(call.fn) or only_writes(call.fn)
    if isinstance(call.fn, (ir.Name, ir.Method)):
        return own
    if getattr(call.fn, "__name__", "") in ("Before", "run_again"):
        return False  # a checkpoint, which puts back random generators
    return own or module_of(call.fn).startswith("srcdiff.")


# --- printed gradients ----------------------------------------------------------------------------


Gradient = Callable[[types.FunctionType, str | tuple[str, ...]], Any]
"""What makes the gradient of a function by some inputs."""


def primals_in_text(f: Any) -> tuple[types.FunctionType, ...]:
    """The function that a text says it is the gradient of; none for any other function."""
    named = named_primal(f)
    return (named[0],) if named else ()


def as_call_of_gradient(f: Any, kinds: Mapping[str, Kind], gradient: Gradient) -> Any:
    """A printed gradient as a function that calls the gradient; None if `f` is none of these.

    It has the parameters of `f`, of which the last is the cotangent.  `gradient` makes the gradient
    with options that a text shows: no inputs without a gradient are left out.
    """
    named = named_primal(f)
    params = list(signature_of(f).parameters.values())
    if named is None or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in params):
        return None
    primal, inputs = named
    theirs = list(signature_of(primal).parameters)
    if len(params) != len(theirs) + 1 or not {*inputs} <= {*theirs}:
        return None
    by_name = {n: kinds[p.name] for n, p in zip(theirs, params) if p.name in kinds}
    for chosen in (inputs[0], inputs) if len(inputs) == 1 else (inputs,):
        found = gradient(primal, chosen)
        if _generates(found, by_name, f):
            key = "as call of gradient", primal, chosen, f.__code__
            return made_once(f, key, partial(_call, f, found))
    return None


def _generates(gradient: Any, kinds: Mapping[str, Kind], f: types.FunctionType) -> bool:
    """Whether a gradient for these kinds is `f`."""
    try:
        return same_function(gradient.for_kinds(kinds), f)
    except SrcdiffError:
        return False


def _call(f: types.FunctionType, gradient: Any) -> Any:
    """The function that calls a gradient with the parameters of `f`."""
    params = ast.unparse(gast.gast_to_ast(parse(f).tree.args))
    *given, seed = f.__code__.co_varnames[: f.__code__.co_argcount]
    body = f"return gradient({', '.join(given)}, grad_outputs={seed})"
    space = {**f.__globals__, "gradient": gradient}
    return with_source(f"def {f.__name__}({params}):", [body], space)


# --- the gradient as one call ---------------------------------------------------------------------


T = TypeVar("T")
Kinds = Mapping[str, Kind]
Make = Callable[[Any, Request, Kinds], T]
OneCall = tuple[ir.Call, "int | tuple[int, ...]"]


@uncollected()
def derived(
    make: Make[T], origin: Any, request: Request, kinds: Kinds, gradient: Gradient
) -> T:
    """What `make` makes of a derivative; with gradients in it as calls where it refuses them.

    `gradient` makes the gradient of a function by some inputs.

    Raises:
        TransformError: it is refused either way, with what was said of it at first.
    """
    try:
        with remembering():
            return make(origin, request, kinds)
    except UnsupportedError as error:
        calls = _with_calls(error, origin, request, kinds, gradient)
        if calls is None:
            raise
        refused = error
    try:
        with remembering():
            return make(calls, replace(request, by_tangent=True), kinds)
    except TransformError:
        raise refused from None


def _with_calls(
    error: TransformError, origin: Any, request: Request, kinds: Kinds, gradient: Gradient
) -> Any:
    """What was refused as a function that calls gradients; None if it has no text of gradients.

    Free inputs are no arguments of a call.
    """
    primal = origin
    while is_derivative(primal):
        primal = primal.primal
    if not isinstance(primal, types.FunctionType) or request.alone:
        return None
    if error.loc is not None and error.loc.file.startswith(ir.GENERATED):
        return origin
    return as_call_of_gradient(origin, kinds, gradient)


def one_call(made: Any, call: ir.Call, kinds: Kinds) -> OneCall | None:
    """The call of a gradient as one of `gradients_at`, and which items of that it is.

    None where it cannot be told that its derivative goes by the tangent.
    """
    from srcdiff.runtime.second_order import call_of, gradients_at

    if not _is_plain(made, call):
        return None
    keywords = tuple(str(k) for k, _ in call.kwargs if k != SEED)
    atoms = (*call.args, *(v for k, v in call.kwargs if k != SEED))
    seed = dict(call.kwargs).get(SEED, ir.NONE)
    params = list(signature_of(made.primal).parameters)
    order = (*params[: len(call.args)], *keywords)
    wanted = [i.param for i in made.request.inputs]
    if any(i.path or i.parts for i in made.request.inputs) or not {*wanted} <= {*order}:
        return None
    inputs = tuple(order.index(n) for n in wanted)
    f = call_of(made.primal, len(call.args), keywords) if keywords else made.primal
    found = [kind_of_atom(a, kinds) for a in atoms]
    if not _goes_by_tangent(made, f, inputs, dict(zip(order, found)), found):
        return None
    args = (ir.Ref(f.__name__, f), ir.Const(inputs), seed, *atoms)
    new = ir.Call(gradients_at, args, text="gradients_at")
    return new, inputs if made.request.form == "tuple" else inputs[0]


def _is_plain(made: Any, call: ir.Call) -> bool:
    """Whether a gradient has no options that a tangent knows nothing of."""
    if made.receiver or not call.args:
        return False
    own = Options(made.options.inputs, allow_unused=made.options.allow_unused)
    options = replace(made.options, materialize_grads=False, create_graph=None)
    plain = not any(isinstance(a, ir.Star) for a in call.args) and None not in dict(call.kwargs)
    plain = plain and isinstance(made.primal, types.FunctionType)
    complete = made.options.materialize_grads or made.options.allow_unused is None
    return plain and complete and options == own and isinstance(made.request.form, str)


def _goes_by_tangent(
    made: Any, f: Any, inputs: tuple[int, ...], by_name: Kinds, found: list[Kind]
) -> bool:
    """Whether a gradient is that of the tangent, after all was generated that the call needs.

    Raises:
        TransformError: something of it is refused.
    """
    from srcdiff.runtime.second_order import gradient_by, tangent_along

    function = made.for_kinds(by_name)
    check_repeatable(function, made.primal)
    if any(value is hooked for value in function.__globals__.values()):
        return False  # a hook changes the gradient alone
    tangent = tangent_along(f, inputs, len(found))
    active = tuple(
        k for k, kind in enumerate(found)
        if is_active_kind(kind) and not isinstance(kind, (Object, Function))
    )  # fmt: skip
    again = gradient_by(tangent, active)
    names = list(signature_of(tangent).parameters)
    again.for_kinds(dict(zip(names, (*found, *(found[k] for k in inputs)))))
    return True
