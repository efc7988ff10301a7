"""The rules on the stand-in: every sample call, its gradient against that of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import srcdiff
from srcdiff.errors import MissingRuleError, SrcdiffError
from tests.rules.samples import Sample, collected

from .corpus import Outcome, alike, to_device, to_host
from .device import Device
from .exceptions import UNDEFINED


def weights(value: Any, rng: np.random.Generator) -> Any:
    """Random weights of the structure of a value, on the host."""
    if isinstance(value, (tuple, list)):
        return [weights(v, rng) for v in value]
    dtype = np.asarray(value).dtype
    if dtype.kind not in "fc":
        return None
    w = rng.standard_normal(np.shape(value)) + (1j if dtype.kind == "c" else 0.0)
    return np.asarray(w, dtype) if np.ndim(value) else w[()]


def run(sample: Sample, device: Device) -> Outcome:
    """One sample: right, or why not."""
    program = sample.program()
    if sample.id in UNDEFINED:
        return Outcome(sample.id, "undefined")
    if not any(isinstance(a, np.ndarray) for a in program.args):
        return Outcome(sample.id, "numbers")
    value = program.function(*map(_copied, program.args))
    ct = weights(value, np.random.default_rng(1))
    inputs = tuple(range(len(program.args)))
    g = srcdiff.grad(program.function, inputs, materialize_grads=True)
    expected = g(*map(_copied, program.args), grad_outputs=ct)
    args = [to_device(a, device) for a in program.args]
    try:
        if sample.rule.name in ("eigh", "svd") and isinstance(ct, list):
            there = srcdiff.value_and_grad(program.function, inputs)(
                *args, grad_outputs=_on_device(ct, value, device)
            )[0]
            ct = _turned(ct, value, to_host(there))
        found = g(*args, grad_outputs=_on_device(ct, value, device))
    except MissingRuleError as error:
        verdict = "missing" if "CuPy has no" in str(error) else "refused"
        return Outcome(sample.id, verdict, str(error))
    except SrcdiffError as error:
        return Outcome(sample.id, "refused", str(error))
    except NotImplementedError as error:  # of CuPy itself: most ufuncs have no `at` there
        return Outcome(sample.id, "missing", str(error))
    except Exception as error:  # what CuPy does not take, in the function or in the rule
        return Outcome(sample.id, "failed", f"{type(error).__name__}: {error}"[:200])
    right = alike(expected, tuple(map(to_host, found)))
    return Outcome(sample.id, "right" if right else "wrong", g.source)


def _turned(ct: list[Any], host: Any, there: Any) -> list[Any]:
    """Weights of vectors that are determined up to a phase, as the vectors have it there."""
    turned = []
    for k, (c, x, y) in enumerate(zip(ct, host, there, strict=True)):
        if np.ndim(x) == np.ndim(host[-1]):
            axis = -1 if k == 2 else -2  # `vh` has the vectors as its rows
            c = c * np.sign(np.sum(np.conj(x) * y, axis, keepdims=True))
        turned.append(c)
    return turned


def _on_device(ct: Any, value: Any, device: Device) -> Any:
    """The cotangent, with arrays without axes where NumPy has numbers."""
    if isinstance(ct, list):
        return [_on_device(c, v, device) for c, v in zip(ct, value, strict=True)]
    number = ct is None or type(value) in (float, complex)
    return ct if number else device.array(np.asarray(ct, np.asarray(value).dtype))


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def outcomes(device: Device, only: str = "", every: int = 1) -> Iterator[Outcome]:
    """The samples of the rules, or some of them."""
    for sample in collected()[::every]:
        if only in sample.id:
            yield run(sample, device)
