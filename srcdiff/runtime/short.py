"""Shorter forms of helpers, for values of which more is known: they are copied into files.

`leaf` is for one number or array of floating point numbers, `tree` for dicts, lists and tuples of
such, and of what has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.runtime.guards import type_error


def array_cotangent(given: Any, output: Any) -> Any:
    """A copy of the cotangent of a real array, ones where it is left out for one element."""
    given = np.ones(output.shape) if given is None and output.size == 1 else given
    if not isinstance(given, np.ndarray) or given.shape != output.shape or np.iscomplexobj(given):
        raise type_error("grad_outputs", given, f"a real array of shape {output.shape}")
    return np.array(given, output.dtype)


def leaf_cotangent(given: Any, output: Any, path: str = "grad_outputs") -> Any:
    """A copy of the cotangent of a real number or array, ones where it is left out for one."""
    shape = np.shape(output)
    given = np.ones(shape) if given is None and np.size(output) == 1 else given
    real = isinstance(given, (np.ndarray, np.number, float, int)) and not np.iscomplexobj(given)
    if not real or np.shape(given) != shape:
        raise type_error(path, given, f"real numbers of shape {shape}")
    return np.array(given, output.dtype) if isinstance(output, np.ndarray) else type(output)(given)


def leaves_cotangent(given: Any, outputs: Any) -> Any:
    """Copies of the cotangents of several real numbers or arrays."""
    given = [None] * len(outputs) if given is None else given
    if not isinstance(given, (list, tuple)) or len(given) != len(outputs):
        raise type_error("grad_outputs", given, f"a tuple of {len(outputs)} items like the output")
    pairs = enumerate(zip(given, outputs))
    return [leaf_cotangent(d, x, f"grad_outputs[{k}]") for k, (d, x) in pairs]


def array_like(d: Any, x: Any) -> Any:
    """The adjoint `d` in the shape and dtype of the array `x`, sharing no memory."""
    out = np.empty_like(x)
    out[...] = np.real(d)
    return out


def object_of(x: Any, /, **found: Any) -> Any:
    """An object of the class of `x` with these attributes; its constructor does not run."""
    made = object.__new__(type(x))
    vars(made).update((name, found[name]) for name in vars(x))
    return made


def object_like(x: Any, /, **found: Any) -> Any:
    """The gradient of an object: one of its class with the gradients found, zeros elsewhere."""
    made = object.__new__(type(x))
    for name, value in vars(x).items():
        known = name in found
        vars(made)[name] = found[name] if known else tree_like(tree_of_zeros(value), value)
    return made


def tree_like(d: Any, x: Any) -> Any:
    """The adjoint `d` in the structure, shapes and dtypes of the input `x`, sharing no memory."""
    if isinstance(x, dict):
        return {key: tree_like(d[key], value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(tree_like(p, q) for p, q in zip(d, x, strict=True))
    if isinstance(x, np.ndarray) and d is not None:
        out = np.empty_like(x)
        out[...] = np.real(d)
        return out
    if isinstance(x, (float, np.floating)) and d is not None:
        return type(x)(np.asarray(d).real.item())
    return d


def tree_of_zeros(x: Any) -> Any:
    """Zeros in the structure of `x`, tuples as lists; None where nothing is differentiable."""
    if isinstance(x, dict):
        return {key: tree_of_zeros(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [tree_of_zeros(value) for value in x]
    if isinstance(x, np.ndarray):
        return np.zeros_like(x)
    return type(x)(0) if isinstance(x, (float, np.floating)) else None
