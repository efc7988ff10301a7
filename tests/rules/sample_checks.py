"""Derivatives of samples as numbers, which the tests of rules compare."""

from __future__ import annotations

import linecache

import numpy as np

import srcdiff
from tests.rules.samples import Sample, direction, inner, moved, slope

TOLERANCE = 1e-7


def in_single(sample):
    """Whether a sample computes in single precision."""
    return "float32" in sample.id or "complex64" in sample.id


def weighted(sample: Sample):
    """The program of a sample as a function of one real number: its weighted sum."""
    program = sample.program()
    value = program.function(*copies(program.args))
    return program, weights(value, np.random.default_rng(1))


def weights(value, rng):
    """Random weights of the structure of a value."""
    if isinstance(value, (tuple, list)):
        return [weights(v, rng) for v in value]
    if np.asarray(value).dtype.kind not in "fc":
        return None
    w = rng.standard_normal(np.shape(value))
    if np.iscomplexobj(value):
        w = w + 1j * rng.standard_normal(np.shape(value))
    return w if np.ndim(value) else w[()]


def copies(args):
    """Arguments that may be written into."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)


def close(a, b, tolerance=TOLERANCE):
    """Whether two numbers agree."""
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def gradient(program):
    """The gradient with respect to all arguments."""
    inputs = tuple(range(len(program.args)))
    return srcdiff.grad(program.function, inputs, materialize_grads=True)


def leaves(value):
    """The arrays and numbers of a structure."""
    if isinstance(value, (tuple, list)):
        return [leaf for v in value for leaf in leaves(v)]
    return [value]


def same_class(a, b):
    """Whether both are arrays, or both numbers: `+=` writes into the one, and makes another one."""
    if np.ndim(b) == 0 and str(getattr(b, "dtype", "")) == "bool":
        return True  # a flag: since SciPy 1.18 `cho_factor` gives its own as an array
    return isinstance(a, np.ndarray) == isinstance(b, np.ndarray)


def is_complex(sample):
    """Whether a sample has complex arguments."""
    return any(of_complex for of_complex, _ in sample.kinds)


# Differences of derivatives of higher orders are of larger numbers.
TOLERANCES = {2: 1e-6, 3: 1e-5, 4: 1e-4}


def follow(sample, order):
    """The derivatives of the gradients below some order against differences of these."""
    program, w = weighted(sample)
    args = copies(program.args)
    inputs = tuple(range(len(args)))
    rng = np.random.default_rng(3)
    g = gradient(program)
    for k in range(2, order + 1):
        found = g(*args, grad_outputs=w)
        f = source_of_twice(", ".join(f"p{i}" for i in inputs), g, w)
        g = srcdiff.grad(f, inputs, materialize_grads=True)
        w = tuple(weights(d, rng) for d in found)
        agree(f, g, args, w, rng, TOLERANCES[k])


def agree(f, g, args, w, rng, tolerance):
    """A gradient against differences of its function, along a random direction."""
    way = [direction(a, rng) for a in args]
    found = inner(g(*args, grad_outputs=w), way)
    expected = slope(lambda h: inner(w, f(*moved(args, h, way))))
    assert close(found, expected, tolerance), f"{found}, differences: {expected}"


def source_of_twice(names, g, w):
    """The gradient for fixed weights, as a function with source."""
    text = f"def twice({names}):\n    return g({names}, grad_outputs=w)\n"
    file = f"<twice {id(g)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"g": g, "w": w, "__name__": "samples"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["twice"]
