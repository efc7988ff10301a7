"""Cotangents with a batch axis: one forward run, and a backward run for every item of the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcdiff.api.point import Path, leaves, with_leaves, zeros
from srcdiff.errors import CotangentError


def batched(pull: Callable[..., Any], grad_outputs: Any, output: Any, inputs: Any) -> Any:
    """The gradients for a batch of cotangents, each with the batch axis in front.

    Raises:
        CotangentError: a cotangent has no batch axis, or they are of different lengths.
    """
    size = batch_size(grad_outputs, output)
    if size == 0:  # one run says which gradients there are
        there = {path for path, _ in leaves(pull(zeros(output)))}
        return stacked(inputs, [], there)
    rows: list[dict[Path, Any]] = []
    for k in range(size):
        gradient = pull(item(grad_outputs, output, k))
        rows.append(dict(leaves(gradient)))
    return stacked(inputs, rows)


def stacked(inputs: Any, rows: list[dict[Path, Any]], there: Any = None) -> Any:
    """Gradients one above the other, None where there is none; `there` are those that are."""
    new: dict[Path, Any] = {}
    there = rows[0] if rows else there
    for path, leaf in leaves(inputs):
        dtype, shape = np.result_type(leaf), np.shape(leaf)
        if there is None or path in there:
            block = np.empty((len(rows), *shape), dtype)
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
    if isinstance(output, dict):
        return {key: item(given[key], value, k) for key, value in output.items()}
    if isinstance(output, (list, tuple)):
        return [item(g, value, k) for g, value in zip(given, output)]
    return np.asarray(given)[k]
