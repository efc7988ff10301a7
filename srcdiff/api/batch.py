"""Cotangents with a batch axis: one forward run, and one backward run for all of them.

A function whose backward part cannot be written for a batch runs it once for each item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff.api.point import leaves, with_leaves, zeros
from srcdiff.driver.chosen import Path, at
from srcdiff.driver.many import CANNOT
from srcdiff.driver.pullback import Pullback
from srcdiff.errors import CotangentError
from srcdiff.runtime.batched import by_attribute, rows
from srcdiff.runtime.devices import is_device_array

_HELD = 1 << 21
"""More numbers than these do not stay with the process: they get memory of their own each time."""


def batched(
    pull: Pullback, grad_outputs: Any, output: Any, inputs: Any, retain_graph: bool = True
) -> Any:
    """The gradients for a batch of cotangents, each with the batch axis in front.

    `retain_graph=False`: it is the last use of the pullback.

    Raises:
        CotangentError: a cotangent has no batch axis, or they are of different lengths.
    """
    size = batch_size(grad_outputs, output)
    if size == 0:  # one run says which gradients there are
        there = {path for path, _ in leaves(pull(zeros(output)))}
        return stacked(inputs, [], there)
    arrays = as_arrays(grad_outputs, output)
    found = in_parts(pull, arrays, inputs, size, widest(inputs, output), retain_graph)
    if found is CANNOT:
        rows_ = (pull(item(grad_outputs, output, k)) for k in range(size))
        return stacked(inputs, [dict(leaves(row)) for row in rows_])
    return found


def widest(*trees: Any) -> int:
    """The size of the largest array in some structures."""
    return max((np.size(leaf) for tree in trees for _, leaf in leaves(tree)), default=1) or 1


def in_parts(
    pull: Pullback, cotangents: Any, inputs: Any, size: int, width: int, retain_graph: bool = True
) -> Any:
    """The gradients for a batch of cotangents, for as many at a time as stay in the cache.

    `CANNOT` where the function has no backward part for batches.
    """
    step = pull.step(size, width)
    hold_memory(size * sum(np.size(x) for _, x in leaves(inputs)) + 2 * step * width)
    if step >= size:
        found = pull.many(cotangents, size, retain_graph)
        return found if found is CANNOT else like_inputs(found, inputs, size, cotangents)
    new: dict[Path, Any] = {}
    for start in range(0, size, step):
        count = min(step, size - start)
        found = pull.many(rows(cotangents, start, count), count)
        if found is CANNOT:
            return CANNOT
        for path, leaf in leaves(inputs):
            gradient = _checked(at(found, path), leaf, count)
            if gradient is not None:
                if path not in new:
                    new[path] = np.empty((size, *np.shape(leaf)), np.result_type(leaf))
                new[path][start : start + count] = gradient
    return with_leaves(inputs, new)


def hold_memory(numbers: int) -> None:
    """Let memory for so many numbers stay with the process when it is freed.

    The C library gives free memory back to the system as soon as it is more than twice the largest
    block that has been freed so far.  To get it again, page by page, takes longer than the
    arithmetic of a batch.  So a block of this size is freed, which nobody has touched.
    """
    if numbers <= _HELD:
        np.empty(numbers)


def like_inputs(found: Any, inputs: Any, size: int, cotangents: Any) -> Any:
    """Gradients with the dtypes of their inputs, in memory of their own."""
    new: dict[Path, Any] = {}
    taken = [leaf for _, leaf in leaves(cotangents)]
    for path, leaf in leaves(inputs):
        gradient = _checked(at(found, path), leaf, size)
        if gradient is None:
            continue
        gradient = np.asarray(gradient, np.result_type(leaf))
        shared = any(np.may_share_memory(gradient, other) for other in taken)
        ready = gradient.flags.writeable and gradient.flags.c_contiguous and not shared
        new[path] = gradient if ready else np.array(gradient, order="C")
        taken.append(new[path])
    return with_leaves(inputs, new)


def _checked(gradient: Any, leaf: Any, size: int) -> Any:
    """A gradient, which has the batch axis before the axes of its input."""
    if gradient is not None and np.shape(gradient) != (size, *np.shape(leaf)):
        raise AssertionError(f"a batched gradient of shape {np.shape(gradient)}")
    return gradient


def as_arrays(given: Any, output: Any) -> Any:
    """A batch of cotangents with arrays for leaves, in the structure of the output."""
    if given is None:
        return None
    given, output = by_attribute(given, output)
    if isinstance(output, dict):
        return {key: as_arrays(given[key], value) for key, value in output.items()}
    if isinstance(output, (list, tuple)):
        return [as_arrays(g, value) for g, value in zip(given, output)]
    return given if is_device_array(given) else np.asarray(given)


def stacked(inputs: Any, rows: list[dict[Path, Any]], there: Any = None) -> Any:
    """Gradients one above the other, None where there is none; `there` are those that are."""
    new: dict[Path, Any] = {}
    there = rows[0] if rows else there
    for path, leaf in leaves(inputs):
        dtype, shape = np.result_type(leaf), np.shape(leaf)
        if there is None or path in there:
            whole = (len(rows), *shape)
            device = is_device_array(leaf)
            block = np.empty_like(leaf, shape=whole) if device else np.empty(whole, dtype)
            for k, row in enumerate(rows):
                block[k] = row[path]
            new[path] = block
    return with_leaves(inputs, new)


def batch_size(grad_outputs: Any, output: Any) -> int:
    """The length of the batch axis."""
    sizes: dict[str, int] = {}
    _sizes(grad_outputs, output, "grad_outputs", sizes)
    if not sizes:
        raise CotangentError(
            "grad_outputs: expected at least one cotangent with a batch axis, as "
            "is_grads_batched=True says, given None"
        )
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{path} has {n}" for path, n in sizes.items())
        raise CotangentError(f"grad_outputs: expected one size of the batch axis, but {found}")
    return next(iter(sizes.values()))


def _sizes(given: Any, output: Any, path: str, sizes: dict[str, int]) -> None:
    """The length of the first axis of every cotangent, whose other axes are the output's."""
    if given is None:
        return
    given, output = by_attribute(given, output)
    if isinstance(output, (dict, list, tuple)):
        keys = output if isinstance(output, dict) else range(len(output))
        if isinstance(given, Mapping) != isinstance(output, dict) or len(given) != len(output):
            raise CotangentError(f"{path}: expected {len(output)} items like the output")
        for key in keys:
            _sizes(given[key], output[key], f"{path}[{key!r}]", sizes)
        return
    shape, expected = np.shape(given), np.shape(output)
    if len(shape) != len(expected) + 1 or shape[1:] != expected:
        wanted = f"(B, {', '.join(map(str, expected))})" if expected else "(B,)"
        raise CotangentError(
            f"{path}: expected shape {wanted}, the batch axis before that of the output, "
            f"given shape {shape}"
        )
    sizes[path] = shape[0]


def item(given: Any, output: Any, k: int) -> Any:
    """The cotangent of one item of the batch."""
    if given is None:
        return None
    given, output = by_attribute(given, output)
    if isinstance(output, dict):
        return {key: item(given[key], value, k) for key, value in output.items()}
    if isinstance(output, (list, tuple)):
        return [item(g, value, k) for g, value in zip(given, output)]
    return given[k] if is_device_array(given) else np.asarray(given)[k]
