"""`jacobian` and `hessian`: whole matrices of derivatives.

Take a function; give its matrices as callables.  A Jacobian that stands in a function which is
differentiated is a Python function of its own, written here column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, overload

import numpy as np

from srcdiff.api.batch import reached
from srcdiff.api.forward import forward_of
from srcdiff.api.jvp import along_by
from srcdiff.api.matrices import Sparse, by_columns, by_rows, count, real
from srcdiff.api.point import Point
from srcdiff.driver.callables import Transformed, offers, transform
from srcdiff.driver.derivative import Derivative, derivative_of
from srcdiff.driver.options import OfAll, Options, resolved, where_of
from srcdiff.errors import entry
from srcdiff.frontend.request import parse_path
from srcdiff.frontend.signatures import signature_of
from srcdiff.ir import Fresh
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime.implicit import basis_of, with_source
from srcdiff.runtime.service import is_jacobian, made_once

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")

_BODY = """\
{columns} = [{along}({f}, ({tangents},), {primals})[1] for {e} in {basis_of}({x})]
if isinstance({columns}[0], (tuple, list, dict)) or {np}.iscomplexobj({columns}[0]):
    raise TypeError("the derivative of a Jacobian is for one real output")
return {np}.reshape({np}.stack({columns}, -1), {np}.shape({columns}[0]) + {np}.shape({x}))[()]
"""
_GLOBALS: dict[str, Any] = {"np": np, "basis_of": basis_of}


def columns_of(f: Any, item: Any, unused: str) -> Any:
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
    return made_once(f, ("columns", name, unused), lambda: _made(f, params, name, unused))


def _made(f: Any, params: Mapping[str, Any], x: str, unused: str) -> Any:
    fresh = Fresh({*params})
    space = {**_GLOBALS, "f": f, "along": along_by(unused=unused, again=True)}
    names = {base: fresh(base).id for base in (*space, "columns", "e")}
    tangents = ", ".join(names["e"] if name == x else "None" for name in params)
    names |= {"tangents": tangents, "x": x}
    body = _BODY.format(primals=", ".join(params), **names)
    named = {names[base]: value for base, value in space.items()}
    return with_source(f"def jacobian({', '.join(params)}):", body.splitlines(), named)


# --- the transforms -------------------------------------------------------------------------------


MODES = (None, "reverse", "forward")
Mode = Literal["reverse", "forward"] | None


@offers("primal", "source")
class Jacobian(Transformed, Generic[P]):
    """The function that computes the Jacobian of `primal`."""

    what = "The Jacobian"
    def __init__(
        self, primal: Any, options: Options, mode: str | None, sparsity: Any = None
    ) -> None:
        super().__init__(primal, options)
        self.mode, self.sparsity = mode, sparsity
        self._sparse = None if sparsity is None else Sparse(sparsity, mode)

    @entry
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The matrix at these arguments."""
        value, matrix = self.at(Point(self._function, self._asked, *self.given(args, kwargs)))
        return self.options.with_aux(value, matrix)

    def at(self, point: Point) -> tuple[Any, Any]:
        """The value at a point, and the matrix; None for an input without one."""
        inputs = real(_used(point), "the input")
        if self._sparse is not None and inputs is not None:
            return self._sparse(point)
        if self.mode == "forward":
            return by_columns(point, inputs)
        value, pull = point.pullback(at_once=True)
        output = real(point.output(value), "the output")
        if self.mode is None and count(inputs) < count(output) and not point.holds_objects:
            return by_columns(point, inputs)
        return value, by_rows(inputs, output, pull)

    def by_columns(self) -> Any:
        """A Python function that computes the same, to be read; None where it would not.

        It is for one array or number as the input, and one output.
        """
        asked = self._asked
        plain = isinstance(asked.inputs, (int, str)) and asked.outputs is None
        if not plain or self.sparsity is not None or asked.has_aux or self.options.unused == "none":
            return None
        return columns_of(self._function, asked.inputs, asked.unused)

    @property
    @entry
    def source(self) -> str:
        """The text that computes one row, or in forward mode one column."""
        made = derivative_of(self._function, self._asked)
        if self.mode == "forward":
            made = forward_of(self._function, self._asked, made.request.params)
        return made.source

    def made_of(self) -> tuple[Any, ...]:
        """What it is made of beside the function."""
        return self.options, self.mode, self.sparsity


def _used(point: Point) -> Any:
    """The inputs; with `unused="none"`, None for each that no output depends on."""
    inputs = point.inputs
    if point.options.unused != "none":
        return inputs
    kinds = {name: kind_of(value, name) for name, value in point.values.items()}
    used = reached(point.made, point.request.outputs, kinds)
    each = zip(point.request.inputs, point.request.listed(inputs))
    return point.request.arranged([x if item.param in used else None for item, x in each])


class Hessian(Jacobian[P]):
    """The function that computes the Hessian of `primal`: the Jacobian of its gradient."""

    what = "The Hessian"
    def __init__(
        self, primal: Any, options: Options, mode: str | None = "forward", sparsity: Any = None
    ) -> None:
        super().__init__(primal, options, mode, sparsity)
        self._function, self._asked = of_gradient(self._function, self._asked)

    def at(self, point: Point) -> tuple[Any, Any]:
        """The value of the gradient at a point, and the matrix; None for an input without one."""
        value, rows = super().at(point)
        return value, without_unused(point, value, rows, 2)


def of_gradient(f: Any, options: Options) -> tuple[Derivative, Options]:
    """The gradient of a function whose derivatives are second ones, and how to ask for these.

    They are zero where there are none: what is unused is asked of the function alone.
    """
    given = "inputs", "outputs", "unused", "has_aux", "verify"
    made = gradient(f, **{name: getattr(options, name) for name in given})
    asked = Options(options.inputs, None, "zeros", options.has_aux, **where_of(options))
    return made, asked


def gradient(f: Any, inputs: Any, outputs: Any = None, unused: str = "zeros", **more: Any) -> Any:
    """The gradient whose derivatives are those of a Hessian."""
    return derivative_of(f, Options(inputs, outputs, unused, **more))


def without_unused(point: Point, value: Any, found: Any, depth: int) -> Any:
    """What has an item for every input, to a depth, but for those without a gradient."""
    gradients = value[0] if point.request.has_aux else value
    there = [g is not None for g in point.request.listed(gradients)]
    if all(there):
        return found

    def kept(items: Any, depth: int) -> Any:
        """The items that are there, and what is there in each."""
        if not depth:
            return items
        each = zip(there, point.request.listed(items))
        return point.request.arranged([kept(i, depth - 1) if t else None for t, i in each])

    return kept(found, depth)


gradient.__srcdiff_transform__ = True  # type: ignore[attr-defined]


@overload
def jacobian(
    f: Callable[P, Any],
    inputs: Any = 0,
    outputs: Any = None,
    mode: Mode = None,
    sparsity: Any = None,
    **options: Unpack[OfAll],
) -> Jacobian[P]: ...
@overload
def jacobian(
    *,
    inputs: Any = 0,
    outputs: Any = None,
    mode: Mode = None,
    sparsity: Any = None,
    **options: Unpack[OfAll],
) -> Callable[[Callable[P, Any]], Jacobian[P]]: ...
@transform(OfAll)
def jacobian(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    mode: str | None = None,
    sparsity: Any = None,
    **options: Any,
) -> Any:
    """The Jacobian of a function: a function that computes the derivative of every output element
    by every input element.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs, unused, has_aux, compile, workspace, threads, strict, verify: as in `grad`.
            What is compiled runs for one row or column after the other.
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
        With `sparsity`, a `scipy.sparse.csr_matrix`.  `(jacobian, aux)` with `has_aux`.

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
    return Jacobian.of(f, resolved(OfAll, inputs, outputs, **options), mode, sparsity)


@overload
def hessian(
    f: Callable[P, Any], inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Hessian[P]: ...
@overload
def hessian(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[P, Any]], Hessian[P]]: ...
@transform(OfAll)
def hessian(
    f: Callable[..., Any] | None = None, inputs: Any = 0, outputs: Any = None, **options: Any
) -> Any:
    """The Hessian of a function of one real output: its second derivatives, forward over reverse.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs, unused, has_aux, compile, workspace, threads, strict, verify: as in `grad`.
            An input is unused if the output does not depend on it; second derivatives that are zero
            are no error.

    Returns:
        `h` with `h(*args, **kwargs)`: an array of shape `input.shape + input.shape`; for several
        inputs in their structure, twice.  `(hessian, aux)` with `has_aux`.

    Raises:
        CotangentError: at the call, the output is not one real number.

    >>> import srcdiff
    >>> srcdiff.hessian(lambda x: x ** 3)(2.0)
    12.0
    """
    return Hessian.of(f, resolved(OfAll, inputs, outputs, **options))


for _matrix in (jacobian, hessian):
    _matrix.__srcdiff_matrix__ = True  # type: ignore[union-attr]
