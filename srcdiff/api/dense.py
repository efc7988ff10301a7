"""`jacobian`, `hessian` and `hvp`: whole matrices of derivatives, and products with the Hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from srcdiff.api.batch import like_inputs
from srcdiff.api.bound import Bound, found_as
from srcdiff.api.derivative import Derivative
from srcdiff.api.made import made_once
from srcdiff.api.options import Options
from srcdiff.api.point import Path, Point, at, leaves, unit, with_leaf, with_leaves, zeros
from srcdiff.api.pullback import CANNOT, Pullback
from srcdiff.device import is_device_array
from srcdiff.errors import DtypeError
from srcdiff.request import spelled

MODES = (None, "reverse", "forward")


class Jacobian:
    """The function that computes the Jacobian of `primal`."""

    def __init__(self, primal: Any, options: Options, mode: str | None) -> None:
        self.primal, self.options, self.mode = primal, options, mode
        functools.update_wrapper(self, primal, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The Jacobian at these arguments."""
        point = Point(self.primal, self.options, args, kwargs)
        inputs = _real(point.inputs, "the input")
        if self.mode == "forward":
            return _by_columns(point, inputs)
        value, pull = point.pullback(at_once=True)
        output = _real(point.output(value), "the output")
        if self.mode is None and _count(inputs) < _count(output):
            return _by_columns(point, inputs)
        return _by_rows(inputs, output, pull)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The Jacobian of a method."""
        return self if instance is None else Bound(self, instance)

    def __reduce__(self) -> Any:
        """Pickled by reference: to itself where its name leads to it, else to its function."""
        return found_as(self) or (type(self), (self.primal, self.options, self.mode))


class Hessian(Jacobian):
    """The function that computes the Hessian of `primal`: the Jacobian of its gradient."""

    def __init__(self, primal: Any, options: Options, mode: str | None = "forward") -> None:
        super().__init__(primal, options, mode)
        self.gradient = _gradient(primal, options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The Hessian at these arguments."""
        point = Point(self.gradient, self.options, args, kwargs)
        return _by_columns(point, _real(point.inputs, "the input"))


def _gradient(f: Any, options: Options) -> Derivative:
    """The gradient of a function, zero where there is none, made once."""
    full = Options(options.inputs, options.outputs, materialize_grads=True)
    return made_once(f, ("grad", repr(full)), lambda: Derivative(f, full))


def _real(tree: Any, what: str) -> Any:
    """A structure that holds no complex numbers.

    Raises:
        DtypeError: it does.
    """
    for path, leaf in leaves(tree):
        if np.iscomplexobj(leaf):
            raise DtypeError(
                f"{spelled(what, path)} is complex: a Jacobian is made of real numbers; take the "
                "real and the imaginary part, or use jvp or vjp"
            )
    return tree


def _count(tree: Any) -> int:
    return sum(np.size(leaf) for _, leaf in leaves(tree))


Blocks = dict[Path, dict[Path, Any]]


def _by_rows(inputs: Any, output: Any, pull: Callable[..., Any]) -> Any:
    """The Jacobian by a pullback for every element of the outputs."""
    blocks = _blocks(inputs, output)
    base = zeros(output)
    for path, leaf in leaves(output):
        for index in np.ndindex(np.shape(leaf)):
            gradient = pull(with_leaf(base, path, unit(leaf, index)))
            for inner, block in blocks[path].items():
                block[index] = at(gradient, inner)
    return _arranged(blocks, inputs, output)


_MOST = 1 << 22
"""How many numbers the adjoints of a batch may hold together, as far as that can be foreseen."""


def _by_batches(inputs: Any, output: Any, pull: Pullback) -> Any:
    """The Jacobian by one backward run for many elements of the outputs at a time."""
    blocks = _blocks(inputs, output)
    total = _count(output)
    step = max(1, _MOST // (1 + pull.weight + _count(inputs)))
    for start in range(0, total, step):
        rows = range(start, min(start + step, total))
        found = pull.many(_units(output, rows), len(rows))
        if found is CANNOT:
            return _by_rows(inputs, output, pull)
        gradients = dict(leaves(like_inputs(found, inputs, len(rows))))
        for path, part, place in _parts(output, rows):
            for inner, block in blocks[path].items():
                flat = block.reshape(-1, *block.shape[np.ndim(at(output, path)) :])
                flat[place] = gradients[inner][part]
    return _arranged(blocks, inputs, output)


def _parts(output: Any, rows: range) -> Iterator[tuple[Path, slice, slice]]:
    """Which of some rows belong to each leaf of the outputs, and which elements of it they are."""
    start = 0
    for path, leaf in leaves(output):
        end = start + np.size(leaf)
        low, high = max(start, rows.start), min(end, rows.stop)
        if low < high:
            yield path, slice(low - rows.start, high - rows.start), slice(low - start, high - start)
        start = end


def _units(output: Any, rows: range) -> Any:
    """A batch of cotangents, each one at one element of the outputs."""
    shapes = {path: (len(rows), np.size(leaf)) for path, leaf in leaves(output)}
    new = {path: np.zeros(shape) for path, shape in shapes.items()}
    for path, part, place in _parts(output, rows):
        np.fill_diagonal(new[path][part, place], 1.0)
    full = {p: new[p].reshape(len(rows), *np.shape(leaf)) for p, leaf in leaves(output)}
    return with_leaves(output, full)


def _by_columns(point: Point, inputs: Any) -> Any:
    """The Jacobian by a tangent for every element of the inputs."""
    base = zeros(inputs)
    blocks: Blocks | None = None
    output: Any = None
    for path, leaf in leaves(inputs):
        for index in np.ndindex(np.shape(leaf)):
            column = (..., *index)
            _, output = point.along(with_leaf(base, path, unit(leaf, index)))
            if blocks is None:
                blocks = _blocks(inputs, _real(output, "the output"))
            for outer, tangent in leaves(output):
                blocks[outer][path][column] = tangent
    if blocks is None:
        output = point.along(base)[1]
        blocks = _blocks(inputs, output)
    return _arranged(blocks, inputs, output)


def _blocks(inputs: Any, output: Any) -> Blocks:
    """An array for every leaf of the outputs and leaf of the inputs."""
    return {
        outer: {
            inner: _zeros(x, z, np.shape(z) + np.shape(x), np.result_type(z, x))
            for inner, x in leaves(inputs)
        }
        for outer, z in leaves(output)
    }


def _zeros(x: Any, z: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros in the array module of two leaves."""
    device = next((v for v in (x, z) if is_device_array(v)), None)
    return np.zeros(shape, dtype) if device is None else np.zeros_like(device, dtype, shape=shape)


def _arranged(blocks: Blocks, inputs: Any, output: Any) -> Any:
    """The blocks in the structure of the outputs, each in that of the inputs."""
    rows = {
        outer: with_leaves(inputs, {k: _plain(b) for k, b in found.items()})
        for outer, found in blocks.items()
    }
    return with_leaves(output, rows)


def _plain(block: Any) -> Any:
    """A block of one number as a number."""
    return block if np.ndim(block) else float(block)


def jacobian(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    mode: str | None = None,
) -> Any:
    """The Jacobian of a function: a function that computes the derivative of every output element
    by every input element.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs: as in `grad`.
        mode: "reverse" (a backward run for every element of the outputs), "forward" (a forward
            run for every element of the inputs), or None for the one that needs fewer.

    Returns:
        `j` with `j(*args, **kwargs)`: an array of shape `output.shape + input.shape`; in the
        structure of the outputs, each in the structure of `inputs`, where there are several.

    Raises:
        TransformError: the function cannot be differentiated, with the place and the reason.
        DtypeError: at the call, an input is no real floating point value, or an output complex.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.jacobian(lambda x: x * x)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    if mode not in MODES:
        raise ValueError(f"mode: expected 'reverse', 'forward' or None, given {mode!r}")
    options = Options(inputs, outputs, materialize_grads=True)
    return (lambda g: Jacobian(g, options, mode)) if f is None else Jacobian(f, options, mode)


def hessian(f: Callable[..., Any] | None = None, inputs: Any = 0, outputs: Any = None) -> Any:
    """The Hessian of a function of one real output: its second derivatives, forward over reverse.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs: as in `grad`.

    Returns:
        `h` with `h(*args, **kwargs)`: an array of shape `input.shape + input.shape`; for several
        inputs in their structure, twice.

    Raises:
        CotangentError: at the call, the output is not one real number.

    >>> import srcdiff
    >>> srcdiff.hessian(lambda x: x ** 3)(2.0)
    12.0
    """
    options = Options(inputs, outputs)
    return (lambda g: Hessian(g, options)) if f is None else Hessian(f, options)


def hvp(f: Callable[..., Any], args: Sequence[Any], v: Any, inputs: Any = 0, **kwargs: Any) -> Any:
    """The product of the Hessian of a function with a vector, by one forward-over-reverse run.

    Args:
        f: a function of one real output.
        args: its positional arguments.
        v: the vector, in the structure and shapes of the inputs.
        inputs: as in `grad`.
        kwargs: its keyword arguments.

    Returns:
        The product, in the structure and shapes of the inputs.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    options = Options(inputs)
    point = Point(_gradient(f, options), options, tuple(args), kwargs)
    return point.along(v)[1]


def vhp(f: Callable[..., Any], args: Sequence[Any], v: Any, inputs: Any = 0, **kwargs: Any) -> Any:
    """The product of a vector with the Hessian of a function, by reverse over reverse.

    It takes what `hvp` takes, and gives the same numbers, as the Hessian is symmetric.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.vhp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    options = Options(inputs, materialize_grads=True)
    gradient = _gradient(f, Options(inputs))
    point = Point(gradient, options, tuple(args), kwargs)
    return point.pullback()[1](v)
