"""`grad`, `value_and_grad`, `source` and `stages`.

Take a function and options; give its gradient as a callable, the text of that, or the passes one by
one.  Inputs may be variables outside of the function: `grad(f, "global:W")`, read when the gradient
is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from srcdiff.driver.callables import Transformed, offers, transform
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import OfGradients, Options, each_input, resolved
from srcdiff.errors import entry
from srcdiff.frontend.request import items_of
from srcdiff.frontend.signatures import PREFIX, WithFree, with_free
from srcdiff.ir.frozen import replace

P = ParamSpec("P")
G = TypeVar("G")
R = TypeVar("R")

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class Gradient(Derivative, Generic[P, G]):
        """A derivative for type checkers: it takes what its function takes, and a cotangent."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> G: ...
        @overload
        def __call__(self, *args: Any, grad_outputs: Any, **kwargs: Any) -> G: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """The gradients for these arguments."""


def free_names(inputs: Any) -> tuple[str, ...]:
    """The names after `global:` among some inputs."""
    found = (i for i in items_of(inputs)[1] if isinstance(i, str) and i.startswith(PREFIX))
    return tuple(dict.fromkeys(_name(i) for i in found))


def _name(item: str) -> str:
    """`W` of `global:W['w'][0]`."""
    return item[len(PREFIX) :].partition("[")[0].strip()


def _plain(item: Any) -> Any:
    """An input without `global:`."""
    return item.removeprefix(PREFIX) if isinstance(item, str) else item


@offers("primal", "source", release_workspace=lambda made: made.made.target.workspace)
class FreeDerivative(Transformed):
    """A derivative that reads the variables when it is called."""

    described = "a gradient by a variable (`global:`)"

    def __init__(self, f: Any, options: Options) -> None:
        super().__init__(f, options)
        free = isinstance(f, FreeDerivative)
        self.variables: WithFree = f.variables if free else with_free(f, free_names(options.inputs))
        inner: Any = f.made if free else self.variables
        self.made = made_of(inner, replace(options, inputs=each_input(_plain, options.inputs)))

    @entry
    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients for these arguments and for what the variables hold."""
        return self.made(*args, grad_outputs=grad_outputs, **kwargs, **self.variables.values())

    def generic(self) -> Any:
        """The specialisation for parameters of which nothing is known."""
        return self.made.generic()

    def specialised(self, *args: Any, **kwargs: Any) -> Any:
        """The generated Python function for these arguments."""
        return self.made.specialised(*args, **kwargs, **self.variables.values())

    def release_workspace(self) -> None:
        """Let go of the memory that `workspace=True` keeps."""
        self.made.release_workspace()

    def __repr__(self) -> str:
        return repr(self.made)


def with_variables(made: Any) -> tuple[Derivative, dict[str, Any]]:
    """A derivative that takes variables outside by keyword, and what these hold now."""
    return (made.made, made.variables.values()) if isinstance(made, FreeDerivative) else (made, {})


# --- the passes, one by one ----------------------------------------------------------------------


def all_stages(made: Any, example: Any) -> dict[str, str]:
    """Pass -> text of the function after it; the last is the generated source."""
    from srcdiff.codegen.emit import emit
    from srcdiff.driver.pipeline import run
    from srcdiff.ir.printer import show

    made, held = with_variables(made)
    given = (*made.receiver, *(example or ()))
    kinds = made.declared_kinds() if example is None else made.kinds(given, held)
    texts: dict[str, str] = {}
    for label, state in run(made.origin, made.request, kinds, made.target):
        texts[label] = show(state.function)
    texts["emit"] = emit(state.function).text
    return texts


# --- the transforms -------------------------------------------------------------------------------


@overload
def grad(
    f: Callable[P, Any], inputs: Any = 0, outputs: Any = None, **options: Unpack[OfGradients]
) -> Gradient[P, Any]: ...
@overload
def grad(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfGradients]
) -> Callable[[Callable[P, Any]], Gradient[P, Any]]: ...
@transform(OfGradients)
def grad(
    f: Callable[..., Any] | None = None, inputs: Any = 0, outputs: Any = None, **options: Any
) -> Any:
    """The gradient of a function: a function that computes its vector-Jacobian product.

    Args:
        f: an ordinary Python function of NumPy arrays, numbers and containers of them.
        inputs: what to differentiate by: a position, a name, a path such as `"params['w']"`, or a
            tuple, list or dict of those.  `"global:W"` is the variable `W` that the function reads
            from its module or from the functions around it (a closure cell), as it is at the call.
            Positions from that of `*args` on are of its items, as is the path `"args[0]"`.
        outputs: None for all that `f` returns; a position or key of it; a tuple of those; or the
            name of a parameter that `f` writes into, whose final value is then the output.  Of
            several outputs the gradient is that of their sum, weighted by `grad_outputs`.
        unused: what becomes of an input that no output depends on: "error" (UnusedInputError),
            "none" or "zeros".
        create_graph: False makes the gradient a constant where `g` is called in a function that is
            itself differentiated.
        is_grads_batched: the first axis of each cotangent is a batch, and so is that of each
            gradient; `f` runs once.
        has_aux: `f` returns `(output, aux)`, and only `output` is differentiated; `g` gives
            `(gradient, aux)`.
        check_nan, check_inf: raise AnomalyError, with the line of `f`, the variable and the loop
            counters, as soon as an adjoint is nan, or infinite; it says whether a value of the
            forward part was so already.
        strong_zeros: a cotangent that is zero stays zero through a derivative that is infinite.
        compile: "numba" has the generated function compiled by Numba; what Numba does not compile
            is refused.  "loops" has the array statements compiled that are fused loops; Python runs
            the rest, whatever it is.  "auto": the one or the other, whichever pays.  "cupy", for
            arrays of CuPy, makes kernels of runs of array statements: one launch computes them all.
        workspace: True keeps the memory of large arrays, and uses it again as soon as nobody holds
            them.  `g.release_workspace()` gives it back.
        threads: how many may share the rows of a loop over large arrays, with `compile="loops"` or
            "auto"; sums are then those of the sums of the parts.
        strict: True leaves loops over elements the loops that they are, so that what they add up is
            added in the same order.  With `compile` it gives each number to the last bit as NumPy
            gives it without: compiled loops have no sums and none of `exp` and its like, which stay
            calls of NumPy; `compile="numba"` refuses what Numba may round otherwise.
        verify: "first" holds the gradient, at the first call for each kind of arguments, against
            forward mode and differences of `f` along a random direction.  None: as the variable
            `SRCDIFF_VERIFY` of the environment says when `g` is made; "off": whatever that says.

        allow_unused, materialize_grads: torch's words for `unused`: True gives None instead of an
            error, and zeros instead of None.

    Returns:
        `g` with `g(*args, grad_outputs=None, **kwargs)`: the gradient in the structure of
        `inputs`; each has the shape, dtype and structure of its input.  Without `f`, a decorator.

    Raises:
        TransformError: the function cannot be differentiated, with the place and the reason.
        DtypeError: at the call, an input is no floating point or complex value.
        CotangentError: at the call, `grad_outputs` does not fit the output.
        AnomalyError: at the call, an adjoint is nan or infinite, and a check asks for it.
        WrongDerivativeError: at the first call, the gradient is wrong, and `verify` asks for it.

    >>> import srcdiff
    >>> def f(x, y):
    ...     return x * x * y
    >>> srcdiff.grad(f)(3.0, 2.0)
    12.0
    """
    return _made(f, resolved(OfGradients, inputs, outputs, **options))


@overload
def value_and_grad(
    f: Callable[P, R], inputs: Any = 0, outputs: Any = None, **options: Unpack[OfGradients]
) -> Gradient[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfGradients]
) -> Callable[[Callable[P, R]], Gradient[P, tuple[R, Any]]]: ...
@transform(OfGradients)
def value_and_grad(
    f: Callable[..., Any] | None = None, inputs: Any = 0, outputs: Any = None, **options: Any
) -> Any:
    """Like `grad`, but the function that it makes returns `(value, gradient)`.

    >>> import srcdiff
    >>> def f(x):
    ...     return x ** 3
    >>> srcdiff.value_and_grad(f)(2.0)
    (8.0, 12.0)
    """
    return _made(f, resolved(OfGradients, inputs, outputs, value=True, **options))


def _made(f: Any, options: Options) -> Any:
    """A derivative, by parameters or by variables outside, or a decorator that makes one."""
    is_free = isinstance(f, FreeDerivative) or bool(free_names(options.inputs))
    if f is None:
        return lambda g: _made(g, options)
    if is_free:
        return FreeDerivative(f, options)
    return made_of(f, options)


def made_of(f: Any, options: Options) -> Derivative:
    """The derivative of a function by its parameters."""
    if options.is_grads_batched:
        from srcdiff.api.batch import Batched

        return Batched(f, options)
    return Derivative(f, options)


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
        return made.text(example, backend)
    if example is None:
        return made.source
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
    >>> list(srcdiff.aot.stages(f))[:2]
    ['lower', 'inline']
    """
    return all_stages(grad(f, inputs, **options), example)


for _transform in (grad, value_and_grad):
    _transform.__srcdiff_transform__ = True  # type: ignore[union-attr]
