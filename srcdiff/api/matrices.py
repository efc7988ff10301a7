"""Matrices of derivatives by products with many unit vectors at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from srcdiff.api.batch import batched, hold_memory, item, stacked
from srcdiff.api.point import Point, leaves, with_leaves, zeros
from srcdiff.driver.chosen import Path, at
from srcdiff.driver.many import CANNOT
from srcdiff.driver.pullback import Pullback
from srcdiff.errors import DtypeError
from srcdiff.frontend.request import spelled
from srcdiff.runtime.checkpoint.recompute import Before
from srcdiff.runtime.devices import is_any_array, is_device_array

Blocks = dict[Path, dict[Path, Any]]

_MOST = 1 << 22
"""How many numbers the derivatives of a batch may hold together, as far as can be foreseen."""


def real(tree: Any, what: str) -> Any:
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


def by_columns(point: Point, inputs: Any) -> Any:
    """The Jacobian by forward runs for many elements of the inputs at a time."""
    blocks: Blocks = {}
    output: Any = None
    drawn = Before(True, *point.args)
    for columns in chunks(count(inputs), 4 * count(inputs)):
        drawn.put_back(point.args)  # every run draws the same random numbers
        tangents = pushed(point, units(inputs, columns), inputs, len(columns))
        if not blocks:
            output = with_leaves(tangents, {p: t[0] for p, t in leaves(tangents)})
            blocks = _blocks(inputs, real(output, "the output"))
        for inner, part, place in _parts(inputs, columns):
            for outer, tangent in leaves(tangents):
                block = blocks[outer][inner]
                flat = block.reshape(*tangent.shape[1:], np.size(at(inputs, inner)))
                flat[..., place] = np.moveaxis(tangent[part], 0, -1)
    if not blocks:
        output = point.along(zeros(inputs))[1]
        blocks = _blocks(inputs, real(output, "the output"))
    return _arranged(blocks, inputs, output)


def pushed(point: Point, directions: Any, inputs: Any, size: int) -> Any:
    """The tangents of the outputs along a batch of directions, with the batch axis in front."""
    hold_memory(6 * size * count(inputs))
    found = point.along_many(directions, size)
    if found is not CANNOT:
        return found
    drawn, tangents = Before(True, *point.args), []
    for k in range(size):
        drawn.put_back(point.args)
        tangents.append(point.along(item(directions, inputs, k))[1])
    return stacked(tangents[0], [dict(leaves(one)) for one in tangents])


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
