"""Where the text of a gradient is not accepted again, the gradient as one call.

See `srcdiff/runtime/second_order.py`.  `derived` takes what makes a text of a derivative; where
that refuses a text that was generated, printed or not, it makes one with `Request.by_tangent`, for
which `one_call` writes calls of gradients as calls of `gradients_at`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from srcdiff import ir
from srcdiff.analysis.manager import remembering, uncollected
from srcdiff.driver.options import Options
from srcdiff.driver.repeated import check_repeatable
from srcdiff.driver.reprinted import Gradient, as_call_of_gradient
from srcdiff.errors import TransformError, UnsupportedError
from srcdiff.frontend.onecall import signature_of
from srcdiff.frontend.request import Request
from srcdiff.ir import SEED
from srcdiff.ir.kinds import Callable as Function
from srcdiff.ir.kinds import Kind, Object, is_active_kind
from srcdiff.normalize.summaries.assumed import kind_of_atom
from srcdiff.runtime.second_order import call_of, gradient_by, gradients_at, tangent_along
from srcdiff.runtime.service import is_derivative
from srcdiff.runtime.trees import hooked

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
