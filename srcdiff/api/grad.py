"""`grad`, `value_and_grad`, `source` and `stages`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcdiff.api.batched import Batched
from srcdiff.api.free import derivative
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options
from srcdiff.driver.reusing import Reusing
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.onecall import place_of
from srcdiff.runtime.devices import generating_for
from srcdiff.runtime.tracebacks import entry
from srcdiff.runtime.workspace import check_counts


@entry
def grad(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    *,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    create_graph: bool | None = None,
    is_grads_batched: bool = False,
    has_aux: bool = False,
    check_nan: bool = False,
    check_inf: bool = False,
    strong_zeros: bool = False,
    compile: str | None = None,
    workspace: bool = False,
) -> Any:
    """The gradient of a function: a function that computes its vector-Jacobian product.

    Args:
        f: an ordinary Python function of NumPy arrays, numbers and containers of them.
        inputs: what to differentiate by: a position, a name, a path such as `"params['w']"`, or a
            tuple, list or dict of those.  `"global:W"` is the variable `W` that the function reads
            from its module or from the functions around it (a closure cell), as it is at the call.
            Positions from that of `*args` on are of its items, as is the path `"args[0]"`.
        outputs: None for all that `f` returns; a position or key of it; a tuple of those; or the
            name of a parameter that `f` writes into, whose final value is then the output.
        allow_unused: True gives None for an input that no output depends on, instead of an error.
        materialize_grads: zeros instead of None.
        create_graph: False makes the gradient a constant where `g` is called in a function that is
            itself differentiated.
        is_grads_batched: the first axis of each cotangent is a batch, and so is that of each
            gradient; `f` runs once.
        has_aux: `f` returns `(output, aux)`, and only `output` is differentiated.
        check_nan, check_inf: raise AnomalyError, with the line of `f`, the variable and the loop
            counters, as soon as an adjoint is nan, or infinite; it says whether a value of the
            forward part was so already.
        strong_zeros: a cotangent that is zero stays zero through a derivative that is infinite.
        compile: "numba" has the generated function compiled by Numba; what Numba does not compile
            is refused.
        workspace: True keeps the memory of large arrays, and uses it again as soon as nobody holds
            them.  `g.release_workspace()` gives it back.

    Returns:
        `g` with `g(*args, grad_outputs=None, **kwargs)`: the gradient in the structure of
        `inputs`; each has the shape, dtype and structure of its input.  Without `f`, a decorator.

    Raises:
        TransformError: the function cannot be differentiated, with the place and the reason.
        DtypeError: at the call, an input is no floating point or complex value.
        CotangentError: at the call, `grad_outputs` does not fit the output.
        AnomalyError: at the call, an adjoint is nan or infinite, and a check asks for it.

    >>> import srcdiff
    >>> def f(x, y):
    ...     return x * x * y
    >>> srcdiff.grad(f)(3.0, 2.0)
    12.0
    """
    options = Options(
        inputs, outputs, allow_unused, materialize_grads, has_aux, False, "reverse",
        create_graph, is_grads_batched, check_nan, check_inf, strong_zeros, compile,
        workspace=workspace,
    )  # fmt: skip
    return _made(f, options)


@entry
def value_and_grad(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    *,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    create_graph: bool | None = None,
    is_grads_batched: bool = False,
    has_aux: bool = False,
    check_nan: bool = False,
    check_inf: bool = False,
    strong_zeros: bool = False,
    compile: str | None = None,
    workspace: bool = False,
) -> Any:
    """Like `grad`, but the function that it makes returns `(value, gradient)`.

    >>> import srcdiff
    >>> def f(x):
    ...     return x ** 3
    >>> srcdiff.value_and_grad(f)(2.0)
    (8.0, 12.0)
    """
    options = Options(
        inputs, outputs, allow_unused, materialize_grads, has_aux, True, "reverse",
        create_graph, is_grads_batched, check_nan, check_inf, strong_zeros, compile,
        workspace=workspace,
    )  # fmt: skip
    return _made(f, options)


def _made(f: Any, options: Options) -> Any:
    """A derivative, or a decorator that makes one."""
    kind = _class(f, options)
    if f is None:
        return lambda g: derivative(g, options, kind)
    return derivative(f, options, kind)


def _class(f: Any, options: Options) -> type[Derivative]:
    """The class of the derivative.

    Raises:
        UnsupportedError: a workspace is asked for where there can be none.
    """
    if options.workspace:
        check_counts()
    if options.compile and options.workspace:
        raise UnsupportedError(
            "workspace=True is not supported with compile='numba', which makes its arrays itself",
            None if f is None else place_of(f),
            remedy="Leave one of them out.",
        )
    if options.compile:
        from srcdiff.driver.native import Native

        return Native
    if options.is_grads_batched:
        return Batched
    return Reusing if options.workspace else Derivative


@entry
def source(
    f: Callable[..., Any],
    inputs: Any = 0,
    *,
    example: Any = None,
    backend: str | None = None,
    **options: Any,
) -> str:
    """The text of the gradient of a function, without calling it.

    `example` is a tuple of arguments whose kinds the text is specialised on; without it parameters
    are numbers or arrays of any rank.  `backend="cupy"` gives the text for arrays of CuPy, which
    need not be installed; the example may hold arrays of NumPy then.

    >>> import srcdiff
    >>> def f(x: float):
    ...     return x * x
    >>> "def f_grad(x: float, grad_outputs=1.0):" in srcdiff.source(f)
    True
    """
    if backend not in (None, "numpy", "cupy"):
        raise ValueError(f"backend: expected 'numpy' or 'cupy', given {backend!r}")
    made: Derivative = grad(f, inputs, **options)
    if backend is not None:
        with generating_for(backend):
            return made.text(example)
    if example is None:
        return made.generic().text
    made.specialised(*example)
    return made.source


@entry
def stages(
    f: Callable[..., Any], inputs: Any = 0, *, example: Any = None, **options: Any
) -> dict[str, str]:
    """The text of a function after every pass, by the name of the pass.

    >>> import srcdiff
    >>> def f(x):
    ...     return x * x
    >>> list(srcdiff.stages(f))[:2]
    ['lower', 'inline']
    """
    from srcdiff.api.inspect import all_stages

    return all_stages(grad(f, inputs, **options), example)


for _transform in (grad, value_and_grad):
    _transform.__srcdiff_transform__ = True  # type: ignore[attr-defined]
