"""`gradcheck` and `gradgradcheck`: derivatives against differences, element by element."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcdiff.api.again import with_cotangent
from srcdiff.api.batch import batched
from srcdiff.api.compare import Check, Tolerance, Wrong, compared, random_like, source_of
from srcdiff.api.matrices import pushed
from srcdiff.api.point import leaves, with_leaves
from srcdiff.driver.chosen import at
from srcdiff.driver.derivative import Derivative
from srcdiff.errors import GradcheckError
from srcdiff.frontend.request import spelled
from srcdiff.runtime.tracebacks import entry
from srcdiff.runtime.trees import kept

MOST = 12
"""How many wrong elements a report shows."""


@entry
def gradcheck(
    f: Callable[..., Any],
    args: Sequence[Any],
    *,
    inputs: Any = None,
    outputs: Any = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    check_batched_forward_grad: bool = False,
    fast_mode: bool = False,
    **kwargs: Any,
) -> bool:
    """Whether the derivatives of a function agree with central differences.

    Args:
        f: the function.
        args: its positional arguments, in a tuple or list; an array stands for itself alone.
        inputs, outputs: as in `grad`; None for all arguments that can carry a derivative.
        eps: the step of the differences.
        atol, rtol: they agree where `|analytic - numeric| <= atol + rtol * |numeric|`.
        raise_exception: raise where they do not agree, instead of returning False.
        nondet_tol: by how much two runs of the derivative may differ.
        check_grad_dtypes: check that gradients have the dtypes of their inputs.
        check_batched_grad: check that a batch of cotangents gives what they give one by one.
        check_forward_ad, check_backward_ad: which modes are checked; one at least.
        check_batched_forward_grad: check that a batch of tangents gives what they give one by one.
        fast_mode: one random direction instead of every element.
        kwargs: keyword arguments of the function.

    Raises:
        ValueError: no mode is checked, or a batch of one that is not.
        GradcheckError: they do not agree; the message names input, element, both numbers, and
            says where the function has a kink.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.gradcheck(lambda x, y: np.sin(x) * y, (np.array([0.3, 0.7]), 2.0))
    True
    """
    batches = check_batched_grad, check_batched_forward_grad
    _check_modes(check_forward_ad, check_backward_ad, *batches)
    check = Check(f, args, inputs, outputs, eps, **kwargs)
    _warn_single(check)
    tol = Tolerance(atol, rtol)
    modes = [m for m, on in (("reverse", check_backward_ad), ("forward", check_forward_ad)) if on]
    wrong = compared(check, tol, modes, fast_mode)
    report = [_title(f, wrong), *map(str, wrong[:MOST])] if wrong else []
    if len(wrong) > MOST:
        report.append(f"  and {len(wrong) - MOST} more")
    if check_backward_ad:
        report += _further(check, nondet_tol, check_grad_dtypes, check_batched_grad)
    if check_batched_forward_grad:
        report += _batch_of_tangents(check)
    if report and raise_exception:
        raise GradcheckError("\n".join(report))
    return not report


def _check_modes(forward: bool, backward: bool, batch: bool, batch_forward: bool) -> None:
    """Raise where nothing is checked, or what is not differentiated."""
    text = "Setting check_batched{}_grad=True requires check_{}_ad to be True"
    if not (forward or backward):
        names = "check_forward_ad or check_backward_ad"
        raise ValueError(f"Expected at least one of {names} to be True")
    if batch and not backward:
        raise ValueError(text.format("", "backward"))
    if batch_forward and not forward:
        raise ValueError(text.format("_forward", "forward"))


def _title(f: Any, wrong: list[Wrong]) -> str:
    name = getattr(f, "__name__", type(f).__name__)
    kinks = sum(bool(w.kink) for w in wrong)
    at_kinks = f", {kinks} of them at a kink" if kinks else ""
    count = f"{len(wrong)} element{'s' if len(wrong) != 1 else ''}"
    return f"the Jacobian of `{name}` does not agree with differences: {count}{at_kinks}"


def _warn_single(check: Check) -> None:
    for _, leaf in leaves(check.at):
        if np.result_type(leaf).itemsize < (16 if np.iscomplexobj(leaf) else 8):
            warnings.warn(
                f"an input has dtype {np.result_type(leaf)}: differences need double precision, "
                "and this check will likely fail",
                stacklevel=4,
            )
            return


def _further(check: Check, nondet_tol: float, dtypes: bool, batch: bool) -> list[str]:
    """What else is asked of the gradients."""
    value, pull = check.point.pullback()
    output = check.point.output(value)
    cotangent = random_like(np.random.default_rng(1), output)
    first, second = pull(cotangent), check.point.pullback()[1](cotangent)
    report: list[str] = []
    again = dict(leaves(second))
    off = max((np.max(np.abs(g - again[p]), initial=0.0) for p, g in leaves(first)), default=0.0)
    if off > nondet_tol:
        report.append(f"two runs of the gradient differ by {off:.3g}, more than {nondet_tol:.3g}")
    if dtypes:
        mine = dict(leaves(first))
        for path, leaf in leaves(check.at):
            if np.result_type(mine[path]) != np.result_type(leaf):
                report.append(
                    f"the gradient of {source_of(check, path, ())} has dtype "
                    f"{np.result_type(mine[path])}, the input {np.result_type(leaf)}"
                )
    if batch:
        report += _batch(check, pull, output)
    return report


def _batch(check: Check, pull: Any, output: Any) -> list[str]:
    """Whether a batch of cotangents gives what they give one by one."""
    rng = np.random.default_rng(2)
    many = [random_like(rng, output) for _ in range(3)]
    together = {p: np.stack([at(m, p) for m in many]) for p, _ in leaves(output)}
    found = dict(leaves(batched(pull, with_leaves(output, together), output, check.at)))
    for k, one in enumerate(many):
        for path, gradient in leaves(pull(one)):
            tol = 1e3 * np.finfo(np.result_type(gradient)).eps
            if not np.allclose(found[path][k], gradient, rtol=tol, atol=tol):
                return [f"the batched gradient of {source_of(check, path, ())} differs"]
    return []


def _batch_of_tangents(check: Check) -> list[str]:
    """Whether a batch of tangents gives what they give one by one."""
    rng = np.random.default_rng(4)
    many = [random_like(rng, check.at) for _ in range(3)]
    together = {p: np.stack([at(m, p) for m in many]) for p, _ in leaves(check.at)}
    found = dict(leaves(pushed(check.point, with_leaves(check.at, together), check.at, 3)))
    for k, one in enumerate(many):
        for path, tangent in leaves(check.point.along(one)[1]):
            tol = 1e3 * np.finfo(np.result_type(tangent)).eps
            if not np.allclose(found[path][k], tangent, rtol=tol, atol=tol):
                return [f"the batched tangent of {spelled('the output', path)} differs"]
    return []


@entry
def gradgradcheck(
    f: Callable[..., Any],
    args: Sequence[Any],
    grad_outputs: Any = None,
    *,
    inputs: Any = None,
    outputs: Any = None,
    **options: Any,
) -> bool:
    """Whether the second derivatives of a function agree with differences of the first.

    The gradient is checked as a function of the arguments and of the cotangent.

    Args:
        f, args, inputs, outputs: as in `gradcheck`.
        grad_outputs: a cotangent; random numbers if None.
        options: the other parameters of `gradcheck`.

    Raises:
        GradcheckError: they do not agree.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.gradgradcheck(lambda x: np.sum(x ** 3), (np.array([0.3, 0.7]),))
    True
    """
    check = Check(f, args, inputs, outputs, 1e-6)
    value, _ = check.point.pullback()
    output = check.point.output(value)
    if grad_outputs is None:
        grad_outputs = random_like(np.random.default_rng(3), output)
    made: Derivative = check.point.made
    function, seed = with_cotangent(made, check.point.values)
    names = check.point.params
    full = {**check.point.kwargs, seed: kept(grad_outputs)}
    return gradcheck(function, check.point.args, inputs=(*names, seed), **full, **options)
