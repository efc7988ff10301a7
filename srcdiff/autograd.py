"""What has torch's names: `grad` and `backward`, over recorded runs of functions, and contexts.

`run` records a run.  `no_grad`, `enable_grad` and `set_grad_enabled` are read in the source of a
function; `hook` changes an adjoint, `saved_hooks` what is saved; `detect_anomaly` looks for nan.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from srcdiff.api.run import Output, Run, accumulate, gradients, run
from srcdiff.driver.anomaly import detect_anomaly
from srcdiff.driver.options import with_unused
from srcdiff.errors import CotangentTypeError, entry
from srcdiff.runtime.contexts import enable_grad, no_grad, saved_hooks, set_grad_enabled
from srcdiff.runtime.trees import hook

__all__ = [
    "Run", "backward", "detect_anomaly", "enable_grad", "grad", "hook", "no_grad", "run",
    "saved_hooks", "set_grad_enabled",
]  # fmt: skip


@entry
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The sum of gradients of outputs with respect to the inputs, as `torch.autograd.grad`.

    Args:
        outputs: a `Run`, an output of one (`run[0]`), or a sequence of those.
        inputs: names, positions, paths, or the very arrays that were passed; one or a sequence.
        grad_outputs: the cotangent of each output; None where it is one real number.
        retain_graph: False frees the residuals afterwards; None: as `create_graph` says.
        create_graph: the gradients are outputs again, of a run of the gradient function.
        only_inputs: ignored, with a FutureWarning unless True.
        allow_unused: True gives None for an input that no output depends on, instead of an error.
        is_grads_batched: the first axis of each cotangent is a batch.
        materialize_grads: zeros instead of None.

    Returns:
        A tuple with a gradient for every input.

    >>> import srcdiff
    >>> r = srcdiff.autograd.run(lambda x, y: x * x * y, 3.0, 2.0)
    >>> dx, dy = srcdiff.autograd.grad(r, ("x", "y"), create_graph=True)
    >>> dx.value, srcdiff.autograd.grad(dx, "x")
    (12.0, (4.0,))
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "srcdiff.autograd.backward.",
            FutureWarning,
            stacklevel=3,
        )
    many = _outputs(outputs)
    items = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    asked = with_unused({"allow_unused": allow_unused, "materialize_grads": materialize_grads})
    cotangents = _cotangents(grad_outputs, outputs, many)
    return tuple(
        gradients(many, items, cotangents, retain_graph, create_graph, is_grads_batched, **asked)
    )


@entry
def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of outputs into `.grads` of their runs, as `torch.autograd.backward`.

    Args:
        tensors: a `Run`, an output of one, or a sequence of those.
        grad_tensors: the cotangent of each; None where it is one real number.
        retain_graph: as in `grad`.
        create_graph: the entries of `.grads` become outputs again.
        grad_variables: the old name of `grad_tensors`, with a FutureWarning.
        inputs: the inputs whose gradients are added up; None for all.

    >>> import srcdiff
    >>> r = srcdiff.autograd.run(lambda x: x * x, 3.0)
    >>> srcdiff.autograd.backward(r, retain_graph=True)
    >>> srcdiff.autograd.backward(r)
    >>> r.grads
    {'x': 12.0}
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=3,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if isinstance(inputs, (tuple, list)) and not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    many = _outputs(tensors)
    items = None
    if inputs is not None:
        items = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    cotangents = _cotangents(grad_tensors, tensors, many)
    accumulate(many, cotangents, retain_graph, create_graph, items, None)


def _outputs(outputs: Any) -> list[Output]:
    """One or several outputs as a list."""
    if isinstance(outputs, Output):
        return [outputs]
    if isinstance(outputs, (tuple, list)) and all(isinstance(o, Output) for o in outputs):
        return list(outputs)
    raise TypeError(
        "outputs: expected a Run (of srcdiff.autograd.run), an output of one, or a sequence of "
        f"those, given {type(outputs).__name__}"
    )


def _cotangents(given: Any, outputs: Any, many: Sequence[Output]) -> list[Any]:
    """A cotangent for every output."""
    if given is None:
        return [None] * len(many)
    if isinstance(outputs, Output):
        whole = isinstance(outputs.value, (tuple, list, dict))
        single = isinstance(given, (tuple, list)) and len(given) == 1 and not whole
        return [given[0]] if single else [given]
    if isinstance(given, (tuple, list)):
        return list(given)
    if len(many) == 1 and not isinstance(given, Mapping):
        return [given]
    raise CotangentTypeError(
        f"grad_outputs: expected a sequence of {len(many)} items, one for each of the outputs, "
        f"given {type(given).__name__}"
    )
