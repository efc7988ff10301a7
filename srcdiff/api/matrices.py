"""Matrices of derivatives by products with many unit vectors at a time, dense and sparse.

Takes a function at some arguments; gives the blocks of its Jacobian, by rows or by columns.  Of a
sparse Jacobian, columns that share no row are computed together, and so are rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcdiff.api.batch import batched, hold_memory
from srcdiff.api.point import Point
from srcdiff.driver.executable import CANNOT
from srcdiff.driver.pullback import Pullback
from srcdiff.driver.structures import Path, at, leaves, with_leaves, zeros
from srcdiff.errors import DtypeError
from srcdiff.frontend.request import spelled
from srcdiff.ir.frozen import frozen
from srcdiff.runtime.batched import stacked, taken
from srcdiff.runtime.checkpoint import Before
from srcdiff.runtime.devices import is_any_array, is_device_array

Blocks = dict[Path, dict[Path, Any]]

_MOST = 1 << 22
"""How many numbers the derivatives of a batch may hold together, as far as can be foreseen."""


def real(tree: Any, what: str) -> Any:
    """A structure; raises a DtypeError if it holds complex numbers."""
    for path, leaf in leaves(tree):
        if np.iscomplexobj(leaf):
            raise DtypeError(
                f"{spelled(what, path)} is complex: a Jacobian is made of real numbers; take the "
                "real and the imaginary part, or use jvp or vjp"
            )
    return tree


def count(tree: Any) -> int:
    """How many real or complex numbers a structure holds."""
    return sum(np.size(leaf) for _, leaf in leaves(tree))


def by_rows(inputs: Any, output: Any, pull: Pullback) -> Any:
    """The Jacobian by backward runs for many elements of the outputs at a time."""
    blocks = _blocks(inputs, output)
    for rows in chunks(count(output), pull.weight + count(inputs)):
        found = dict(leaves(batched(pull, units(output, rows), output, inputs)))
        for path, part, place in _parts(output, rows):
            for inner, block in blocks[path].items():
                of_output = at(output, path)
                flat = block.reshape(np.size(of_output), *block.shape[np.ndim(of_output) :])
                flat[place] = found[inner][part]
    return _arranged(blocks, inputs, output)


def by_columns(point: Point, inputs: Any) -> tuple[Any, Any]:
    """The value, and the Jacobian by forward runs for many elements of the inputs at a time."""
    blocks: Blocks = {}
    value: Any = None
    output: Any = None
    drawn = Before(True, *point.args)
    for columns in chunks(count(inputs), 4 * count(inputs)):
        drawn.put_back(point.args)  # every run draws the same random numbers
        value, tangents = pushed(point, units(inputs, columns), inputs, len(columns))
        if not blocks:
            output = with_leaves(tangents, {p: t[0] for p, t in leaves(tangents)})
            blocks = _blocks(inputs, real(output, "the output"))
        for inner, part, place in _parts(inputs, columns):
            for outer, tangent in leaves(tangents):
                block = blocks[outer][inner]
                flat = block.reshape(*tangent.shape[1:], np.size(at(inputs, inner)))
                flat[..., place] = np.moveaxis(tangent[part], 0, -1)
    if not blocks:
        value, output = point.along(zeros(inputs))
        blocks = _blocks(inputs, real(output, "the output"))
    return value, _arranged(blocks, inputs, output)


def pushed(point: Point, directions: Any, inputs: Any, size: int) -> tuple[Any, Any]:
    """The value, and the tangents of the outputs along a batch of directions, that in front."""
    hold_memory(6 * size * count(inputs))
    found = point.along_many(directions, size)
    if found is not CANNOT:
        value, tangents = found
        return value, tangents
    drawn, each = Before(True, *point.args), []
    for k in range(size):
        drawn.put_back(point.args)
        each.append(point.along(taken(directions, k)))
    return each[-1][0], stacked([tangent for _, tangent in each])


def chunks(total: int, weight: int) -> Iterator[range]:
    """So many numbers in parts, each of which is a batch of derivatives of a weight."""
    step = max(1, _MOST // (1 + weight))
    return (range(start, min(start + step, total)) for start in range(0, total, step))


def units(tree: Any, numbers: range) -> Any:
    """A batch of structures, each zero but for a one at one of the numbers that it holds."""
    shapes = {path: (len(numbers), np.size(x)) for path, x in leaves(tree)}
    new = {p: _zeros((x,), shapes[p], np.result_type(x)) for p, x in leaves(tree)}
    for path, part, place in _parts(tree, numbers):
        new[path][range(part.start, part.stop), range(place.start, place.stop)] = 1.0
    return with_leaves(
        tree, {p: new[p].reshape(len(numbers), *np.shape(x)) for p, x in leaves(tree)}
    )


def _parts(tree: Any, numbers: range) -> Iterator[tuple[Path, slice, slice]]:
    """Which of some numbers belong to each leaf, and which elements of it they are."""
    start = 0
    for path, leaf in leaves(tree):
        end = start + np.size(leaf)
        low, high = max(start, numbers.start), min(end, numbers.stop)
        if low < high:
            own = slice(low - numbers.start, high - numbers.start)
            yield path, own, slice(low - start, high - start)
        start = end


def _blocks(inputs: Any, output: Any) -> Blocks:
    """An array for every leaf of the outputs and leaf of the inputs."""
    return {
        outer: {
            inner: _zeros((x, z), np.shape(z) + np.shape(x), np.result_type(z, x))
            for inner, x in leaves(inputs)
        }
        for outer, z in leaves(output)
    }


def _zeros(like: tuple[Any, ...], shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros in the array module of what they are like."""
    device = next((v for v in like if is_device_array(v)), None)
    return np.zeros(shape, dtype) if device is None else np.zeros_like(device, dtype, shape=shape)


def _arranged(blocks: Blocks, inputs: Any, output: Any) -> Any:
    """The blocks in the structure of the outputs, each in that of the inputs."""
    rows = {
        outer: with_leaves(inputs, {k: _plain(b, at(inputs, k)) for k, b in found.items()})
        for outer, found in blocks.items()
    }
    return with_leaves(output, rows)


def _plain(block: Any, by: Any) -> Any:
    """A block of one number by a number as that, of Python if it is as precise."""
    if np.ndim(block) or is_any_array(by):
        return block
    return float(block) if block.dtype == np.float64 else block[()]


# --- sparse Jacobians -----------------------------------------------------------------------------


Vectors = np.ndarray[Any, Any]


@frozen
class Pattern:
    """The places of a matrix of `shape` at which it may not be zero."""

    rows: Vectors
    columns: Vectors
    shape: tuple[int, int]

    @functools.cached_property
    def column_colours(self) -> Vectors:
        """A number for every column; two with the same one share no row."""
        return colours(self.columns, self.rows, self.shape[1], self.shape[0])

    @functools.cached_property
    def row_colours(self) -> Vectors:
        """A number for every row; two with the same one share no column."""
        return colours(self.rows, self.columns, *self.shape)

    def joined(self, other: Pattern) -> Pattern:
        """The places of both."""
        both = [(pattern.rows, pattern.columns) for pattern in (self, other)]
        rows, columns = np.unique(np.concatenate(both, axis=1), axis=1)
        return Pattern(rows, columns, self.shape)


def colours(lines: Vectors, crossing: Vectors, many: int, across: int) -> Vectors:
    """Greedy colours of lines, the fullest first: the least that none has which crosses the same.

    `lines` and `crossing` are the coordinates of what is not zero; `many` and `across` how many
    there are of each.  The colours that lines through a crossing have are bits of an integer.
    """
    order = np.argsort(lines, kind="stable")
    ends = np.cumsum(np.bincount(lines, minlength=many))
    crossed = np.split(crossing[order], ends[:-1]) if many else []
    taken = [0] * across
    found = np.zeros(many, np.intp)
    for line in sorted(range(many), key=lambda k: -len(crossed[k])):
        places = crossed[line].tolist()
        used = 0
        for place in places:
            used |= taken[place]
        free = ~used & (used + 1)
        for place in places:
            taken[place] |= free
        found[line] = free.bit_length() - 1
    return found


def pattern_of(given: Any, output: Any, inputs: Any) -> Pattern:
    """A pattern as it was given, of the shape of the Jacobian: boolean, or sparse of SciPy."""
    shape = np.size(output), np.size(inputs)
    full = np.shape(output) + np.shape(inputs)
    if hasattr(given, "tocoo"):
        found = given.tocoo()
        if found.shape == shape:
            return Pattern(found.row.astype(np.intp), found.col.astype(np.intp), shape)
    elif np.shape(given) in (shape, full):
        rows, columns = np.nonzero(np.reshape(given, shape))
        return Pattern(rows, columns, shape)
    raise ValueError(
        f"sparsity: expected a pattern of shape {shape}, for an output of shape "
        f"{np.shape(output)} and an input of shape {np.shape(inputs)}, given {np.shape(given)}"
    )


class Sparse:
    """Sparse Jacobians of one function; a pattern that is detected is kept."""

    def __init__(self, sparsity: Any, mode: str | None) -> None:
        if isinstance(sparsity, str) and sparsity != "detect":
            raise ValueError(f"sparsity: expected a pattern or 'detect', given {sparsity!r}")
        self.sparsity, self.mode = sparsity, mode
        self.pattern: Pattern | None = None

    def __call__(self, point: Point) -> tuple[Any, Any]:
        """The value, and the Jacobian at a point; a ValueError where the pattern does not fit."""
        matrix, products = _scipy_matrix(), Products(point, self.mode)
        is_detected = isinstance(self.sparsity, str)
        if self.pattern is None or self.pattern.shape != products.shape:
            given = products.output, products.inputs
            self.pattern = products.detected() if is_detected else pattern_of(self.sparsity, *given)
        data = products.compressed(self.pattern)
        if data is None and is_detected:
            self.pattern = self.pattern.joined(products.detected())
            data = products.compressed(self.pattern)
        if data is None:
            raise ValueError(
                "sparsity: the Jacobian has entries at places that the pattern leaves out; pass a "
                "larger pattern, or sparsity='detect'"
            )
        places = self.pattern.rows, self.pattern.columns
        return products.value, matrix((data, places), shape=self.pattern.shape)


def _scipy_matrix() -> Any:
    """The class of the result."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise ImportError(
            "jacobian(..., sparsity=...) returns a SciPy sparse matrix: install srcdiff[scipy]"
        ) from error
    return csr_matrix


class Products:
    """The products of the Jacobian of one output by one input, at a point, with many vectors."""

    def __init__(self, point: Point, mode: str | None) -> None:
        self.point, self.mode = point, mode
        self.inputs = _one(real(point.inputs, "the input"), "input")
        self.value, self.pull = point.pullback(at_once=True)
        self.output = _one(real(point.output(self.value), "the output"), "output")
        self.shape = np.size(self.output), np.size(self.inputs)
        self.weight = self.pull.weight + count(self.inputs)

    def taken(self, pushes: bool, vectors: Vectors) -> Vectors:
        """The products with the rows of a matrix, as rows: with directions, or cotangents."""
        size = len(vectors)
        if pushes:
            given = vectors.reshape(size, *np.shape(self.inputs))
            given = given.astype(np.result_type(self.inputs))
            _, found = pushed(self.point, given, self.inputs, size)
        else:
            given = vectors.reshape(size, *np.shape(self.output))
            found = batched(self.pull, given, self.output, self.inputs)
        return np.reshape(found, (size, -1))

    def detected(self) -> Pattern:
        """The places at which the Jacobian is not zero at the point, by products with all units."""
        shape = self.shape
        pushes = shape[1] < shape[0] if self.mode is None else self.mode == "forward"
        lines, across = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        total = shape[1] if pushes else shape[0]
        for part in chunks(total, self.weight):
            line, place = np.nonzero(self.taken(pushes, units(np.zeros(total), part)))
            lines.append(line + part.start)
            across.append(place)
        one, two = np.concatenate(lines), np.concatenate(across)
        return Pattern(two, one, shape) if pushes else Pattern(one, two, shape)

    def compressed(self, pattern: Pattern) -> Vectors | None:
        """The entries of the Jacobian in the order of the pattern; None where it has others.

        One product more, with a random vector, says whether it has.
        """
        colours = pattern.column_colours, pattern.row_colours
        fewer = np.max(colours[0], initial=0) < np.max(colours[1], initial=0)
        pushes = bool(fewer) if self.mode is None else self.mode == "forward"
        lines, across = pattern.columns, pattern.rows
        if not pushes:
            lines, across = across, lines
        colour = colours[0] if pushes else colours[1]
        many = int(np.max(colour, initial=-1)) + 1
        seeds = np.zeros((many + 1, len(colour)))
        seeds[colour, np.arange(len(colour))] = 1.0
        seeds[-1] = np.random.default_rng(0).uniform(0.5, 1.5, len(colour))
        parts = chunks(len(seeds), self.weight)
        found = np.concatenate([self.taken(pushes, seeds[p.start : p.stop]) for p in parts])
        data = found[colour[lines], across]
        return data if _agrees(data, seeds[-1][lines], across, found[-1]) else None


def _one(tree: Any, what: str) -> Any:
    """A structure that is a single array or number."""
    if [path for path, _ in leaves(tree)] != [()]:
        raise ValueError(f"sparsity: expected one array as {what}, not a structure of them")
    return tree


def _agrees(data: Vectors, weights: Vectors, across: Vectors, expected: Vectors) -> bool:
    """Whether the entries account for the product with a random vector, as far as it is finite."""
    size = len(expected)
    terms = data * weights
    found = np.bincount(across, terms, size)
    scale = np.bincount(across, np.abs(terms), size)
    eps = np.finfo(data.dtype).eps
    finite = np.isfinite(found) & np.isfinite(expected)
    largest = np.max(scale[finite], initial=0.0)
    allowed = eps**0.5 * scale + eps**0.75 * largest
    return bool(np.all(np.abs(found - expected)[finite] <= allowed[finite]))
