"""`jacobian`, `hessian` and `hvp`: whole matrices of derivatives, and products with the Hessian.

Take a function; give its matrices as callables, or products with them at some arguments.  A
Jacobian that stands in a function which is differentiated is a Python function of its own, written
here column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, overload

import numpy as np

from srcdiff.api.jvp import forward_of, jvp_again
from srcdiff.api.matrices import Sparse, by_columns, by_rows, count, real, units
from srcdiff.api.point import Point
from srcdiff.driver.callables import Transformed, offers
from srcdiff.driver.derivative import Derivative, derivative_of
from srcdiff.driver.options import Options, apart, target_of, where_of
from srcdiff.errors import CotangentError, entry
from srcdiff.frontend.request import parse_path
from srcdiff.frontend.signatures import signature_of
from srcdiff.ir import Fresh
from srcdiff.runtime.implicit import basis_of, with_source
from srcdiff.runtime.service import is_jacobian, made_once

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from srcdiff.driver.options import Where

P = ParamSpec("P")

_BODY = """\
{columns} = [{jvp}({f}, ({primals},), ({tangents},))[1] for {e} in {basis_of}({x})]
if isinstance({columns}[0], (tuple, list, dict)) or {np}.iscomplexobj({columns}[0]):
    raise TypeError("the derivative of a Jacobian is for one real output")
return {np}.reshape({np}.stack({columns}, -1), {np}.shape({columns}[0]) + {np}.shape({x}))[()]
"""
_GLOBALS: dict[str, Any] = {"np": np, "jvp": jvp_again, "basis_of": basis_of}


def columns_of(f: Any, item: Any) -> Any:
    """The Jacobian of a function by one parameter as a function whose source can be read.

    None where the input is a part of a parameter, or parameters have defaults or stars.
    """
    f = f.by_columns() if is_jacobian(f) else f
    if f is None:
        return None
    params = signature_of(f).parameters
    plain = all(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        for p in params.values()
    )
    name = list(params)[item] if isinstance(item, int) else item
    if not plain or name not in params or parse_path(name).path:
        return None
    return made_once(f, ("columns", name), lambda: _made(f, params, name))


def _made(f: Any, params: Mapping[str, Any], x: str) -> Any:
    fresh = Fresh({*params})
    names = {base: fresh(base).id for base in (*_GLOBALS, "f", "columns", "e")}
    tangents = ", ".join(names["e"] if name == x else "None" for name in params)
    body = _BODY.format(primals=", ".join(params), tangents=tangents, x=x, **names)
    space = {names[base]: value for base, value in {**_GLOBALS, "f": f}.items()}
    return with_source(f"def jacobian({', '.join(params)}):", body.splitlines(), space)


# --- the transforms -------------------------------------------------------------------------------


MODES = (None, "reverse", "forward")
Mode = Literal["reverse", "forward"] | None


@offers("primal", "source")
class Jacobian(Transformed, Generic[P]):
    """The function that computes the Jacobian of `primal`."""

    def __init__(
        self, primal: Any, options: Options, mode: str | None, sparsity: Any = None
    ) -> None:
        super().__init__(primal, options, signature_of(primal))
        target_of(primal, options)  # what is refused is said at once
        self.mode, self.sparsity = mode, sparsity
        self._sparse = None if sparsity is None else Sparse(sparsity, mode)
        self._function, self._asked = primal, options

    @entry
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The matrix at these arguments."""
        point = Point(self._function, self._asked, args, kwargs)
        if self._sparse is not None:
            return self._sparse(point)
        inputs = real(point.inputs, "the input")
        if self.mode == "forward":
            return by_columns(point, inputs)
        value, pull = point.pullback(at_once=True)
        output = real(point.output(value), "the output")
        if self.mode is None and count(inputs) < count(output) and not point.holds_objects:
            return by_columns(point, inputs)
        return by_rows(inputs, output, pull)

    def by_columns(self) -> Any:
        """A Python function that computes the same, to be read; None where it would not.

        It is for one array or number as the input, and one output.
        """
        plain = isinstance(self._asked.inputs, (int, str)) and self._asked.outputs is None
        if not plain or self.sparsity is not None:
            return None
        return columns_of(self._function, self._asked.inputs)

    @property
    @entry
    def source(self) -> str:
        """The text that computes one row, or in forward mode one column."""
        made = derivative_of(self._function, self._asked)
        if self.mode == "forward":
            params, outputs = made.request.params, made.request.outputs
            made = forward_of(self._function, params, outputs, False, **where_of(self._asked))
        return made.source

    def made_of(self) -> tuple[Any, ...]:
        """What it is made of beside the function."""
        return self.options, self.mode, self.sparsity


class Hessian(Jacobian[P]):
    """The function that computes the Hessian of `primal`: the Jacobian of its gradient."""

    def __init__(
        self, primal: Any, options: Options, mode: str | None = "forward", sparsity: Any = None
    ) -> None:
        super().__init__(primal, options, mode, sparsity)
        self._function = gradient(primal, options.inputs, options.outputs, options.verify)
        self._asked = Options(options.inputs, **where_of(options))


def gradient(f: Any, inputs: Any, outputs: Any = None, verify: str | None = None) -> Derivative:
    """The gradient whose derivatives are those of a Hessian, zero where there is none."""
    return derivative_of(f, Options(inputs, outputs, materialize_grads=True, verify=verify))


gradient.__srcdiff_transform__ = True  # type: ignore[attr-defined]


@overload
def jacobian(
    f: Callable[P, Any],
    inputs: Any = 0,
    outputs: Any = None,
    mode: Mode = None,
    sparsity: Any = None,
    **options: Unpack[Where],
) -> Jacobian[P]: ...
@overload
def jacobian(
    *,
    inputs: Any = 0,
    outputs: Any = None,
    mode: Mode = None,
    sparsity: Any = None,
    **options: Unpack[Where],
) -> Callable[[Callable[P, Any]], Jacobian[P]]: ...
@entry
def jacobian(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    mode: str | None = None,
    sparsity: Any = None,
    *,
    compile: str | None = None,
    workspace: bool = False,
    threads: int = 1,
    verify: str | None = None,
) -> Any:
    """The Jacobian of a function: a function that computes the derivative of every output element
    by every input element.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs, compile, workspace, threads, verify: as in `grad`.  What is compiled runs
            for one row or column after the other.
        mode: "reverse" (one backward run with all elements of the outputs as a batch), "forward"
            (one forward run with all elements of the inputs), or None for the smaller batch.
        sparsity: the places at which the Jacobian of one output by one input may not be zero, as
            a boolean array or a SciPy sparse matrix of shape `(output.size, input.size)`, or
            "detect": those at which it is not zero when first called.  Columns (forward) or rows
            (reverse) that have no such place in common are computed together, and `mode` None
            takes what needs fewer.  A product with a random vector checks every result.

    Returns:
        `j` with `j(*args, **kwargs)`: an array of shape `output.shape + input.shape`; in the
        structure of the outputs, each in the structure of `inputs`, where there are several.
        With `sparsity`, a `scipy.sparse.csr_matrix`.

    Raises:
        TransformError: the function cannot be differentiated, with the place and the reason.
        DtypeError: at the call, an input is no real floating point value, or an output complex.
        ValueError: at the call, the pattern is of another shape, or leaves out what is not zero.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.jacobian(lambda x: x * x)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    if mode not in MODES:
        raise ValueError(f"mode: expected 'reverse', 'forward' or None, given {mode!r}")
    where: dict[str, Any] = {
        "compile": compile, "workspace": workspace, "threads": threads, "verify": verify
    }  # fmt: skip
    options = Options(inputs, outputs, materialize_grads=True, **where)
    return Jacobian.of(f, options, mode, sparsity)


@overload
def hessian(
    f: Callable[P, Any], inputs: Any = 0, outputs: Any = None, **options: Unpack[Where]
) -> Hessian[P]: ...
@overload
def hessian(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[Where]
) -> Callable[[Callable[P, Any]], Hessian[P]]: ...
@entry
def hessian(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    *,
    compile: str | None = None,
    workspace: bool = False,
    threads: int = 1,
    verify: str | None = None,
) -> Any:
    """The Hessian of a function of one real output: its second derivatives, forward over reverse.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs, compile, workspace, threads, verify: as in `grad`.

    Returns:
        `h` with `h(*args, **kwargs)`: an array of shape `input.shape + input.shape`; for several
        inputs in their structure, twice.

    Raises:
        CotangentError: at the call, the output is not one real number.

    >>> import srcdiff
    >>> srcdiff.hessian(lambda x: x ** 3)(2.0)
    12.0
    """
    where: dict[str, Any] = {
        "compile": compile, "workspace": workspace, "threads": threads, "verify": verify
    }  # fmt: skip
    return Hessian.of(f, Options(inputs, outputs, **where))


for _matrix in (jacobian, hessian):
    _matrix.__srcdiff_matrix__ = True  # type: ignore[union-attr]


@entry
def hvp(f: Callable[..., Any], args: Sequence[Any], v: Any, inputs: Any = 0, **kwargs: Any) -> Any:
    """The product of the Hessian of a function with a vector, by one forward-over-reverse run.

    Args:
        f: a function of one real output.
        args: its positional arguments.
        v: the vector, in the structure and shapes of the inputs; None is 1 for one number.
        inputs: as in `grad`.
        kwargs: its keyword arguments; `compile`, `workspace`, `threads` and `verify` are options,
            as in `grad`.

    Returns:
        The product, in the structure and shapes of the inputs.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    where, kwargs = apart(f, kwargs)
    made = gradient(f, inputs, verify=where.get("verify"))
    point = Point(made, Options(inputs, **where), tuple(args), kwargs)
    return point.along(_one(point) if v is None else v)[1]


def _one(point: Point) -> Any:
    """The vector of one number, which need not be given; raises where there are several."""
    if point.request.form != "bare" or count(point.inputs) != 1:
        raise CotangentError(
            "The vector v can only be None if the input to the user-provided function is a single "
            "number, or an array with a single element."
        )
    return units(point.inputs, range(1))[0]


@entry
def vhp(f: Callable[..., Any], args: Sequence[Any], v: Any, inputs: Any = 0, **kwargs: Any) -> Any:
    """The product of a vector with the Hessian of a function, by reverse over reverse.

    It takes what `hvp` takes, and gives the same numbers, as the Hessian is symmetric.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.vhp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    where, kwargs = apart(f, kwargs)
    made = gradient(f, inputs, verify=where.get("verify"))
    options = Options(inputs, materialize_grads=True, **where)
    return Point(made, options, tuple(args), kwargs).pullback()[1](v)
