"""`docs/rules.md`: what has a derivative, out of the registry of rules."""

from __future__ import annotations

import builtins
import cmath
import functools
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

import srcdiff
from srcdiff.backends.cupy.calls import check_known
from srcdiff.ir import NOWHERE, Attr, Method
from srcdiff.primitives import registry
from srcdiff.primitives.operation import distribution
from tests.rules import counts, native, packages
from tests.rules import orders as rule_orders
from tests.rules.samples import Sample, collected

HEAD = """# What has a derivative

This page is written by `python -m tests.documents` from the rules in `templates/`; a test keeps
it so.

Every function in the tables has derivatives of any order (but the vectors of `svd`: of three), in
reverse and in forward mode, in single and double precision, for numbers and for arrays of any
layout (`scipy.integrate.odeint` and `solve_ivp`: in double precision). *Rule* is how:
**elementwise** and **linear** functions and general **rules** are templates, a **definition**
says which other functions a call stands for. *Reverse* and *forward* are where its adjoint and its
tangent come from: **written** in a template (the tangent beside the adjoint, `@forward`),
**transposed** from the backward lines of the template, or those of the **steps** of a definition.
*Orders* is to which order its samples are differentiated and compared with differences
(`python -m tests.rules.orders 3`; objects have tests of their own); the notes say what is refused.
*Complex* says that complex arguments are tested (the gradient is dL/dRe + i dL/dIm). *Numba* says
that Numba compiles the gradient of one of its first samples of real numbers (`compile="numba"`) to
what NumPy computes (`python -m tests.rules.native`; SciPy is not asked); what Numba does not
compile is an error. *CuPy* says that its samples are right on the stand-in for CuPy (see
`docs/cupy.md`; none has been run on a GPU); without it CuPy has no such function, and an error says
so. The notes have arguments beside those that every function of its kind has (*also*); `out=`, and
for ufuncs `where=` and `dtype=`, work everywhere.

Conventions at kinks are those of PyTorch: ties of `max`, `min`, `maximum` and `minimum` share
equally, `abs` and norms have slope 0 at 0, `clip` has slope 1 at its bounds, `prod` is exact with
zeros. Even powers of `abs`, of norms, distances and `std`, and their products with themselves, have
the derivatives of sums of squares at 0 too. A function that reads one triangle of a matrix
(`cholesky`, `eigh`, `UPLO`, `lower=`, `assume_a=`) has its gradient in that triangle: beside the
diagonal, that of both elements of the symmetric matrix that it stands for. Between equal
eigenvalues or singular values the vectors have no derivative: gradients and tangents are nan where
something depends on them. What is symmetric in equal eigenvalues of a symmetric matrix or in equal
singular values, such as a sum of a function of each, has its gradient there, and its second
derivatives in `hvp` and `hessian`; by reverse mode alone (`vhp`, the gradient of a gradient) they
are nan, as is the gradient of what is not symmetric. Tangents of such values are those of the
sorted ones, to one side. Of equal values of `eig`, and between singular values that are zero,
second derivatives are nan. Equal are
values which differ by less than `n` units in the last place of the largest, for `n` of them.
Vectors of `eig`, and of complex `eigh` and `svd`, have the phase that LAPACK gives them: a function
that depends on it has no meaning. `sort`,
`median`, `quantile` and `partition` follow the elements that were chosen. Rules
of SciPy are read when a program that has imported it uses them; orders, degrees and other
parameters of its special functions are constants, except where the samples in `templates/scipy/`
differentiate them: an active one is refused.
"""

SPACES = {
    "NumPy": ("np", np),
    "Linear algebra": ("np.linalg", np.linalg),
    "Fourier transforms": ("np.fft", np.fft),
    "Numbers": ("math", math),
    "Complex numbers": ("cmath", cmath),
    "Builtin functions": ("", builtins),
    "Operators": ("operator", operator),
}

COLUMNS = (
    "function", "rule", "reverse", "forward", "orders", "complex", "Numba", "CuPy", "notes"
)  # fmt: skip

# What newer versions of SciPy no longer have.
GONE = {"sph_harm", "lpmn", "clpmn", "lpn"}


def text() -> str:
    """The whole page."""
    found = groups()
    parts = [HEAD, *counts.table(found), "", counts.length()]
    for title, functions in found.items():
        parts += _section(title, functions)
    return "\n".join(parts).rstrip() + "\n"


def groups() -> dict[str, dict[str, Any]]:
    """The functions that are decided, by their names, in groups with titles."""
    found = {t: dict(_named(prefix, space)) for t, (prefix, space) in SPACES.items()}
    for name, space in packages.installed().items():
        found[f"`{name}`"] = {**dict(_named(name, space)), **dict(_distributions(name))}
    found["Methods of ufuncs"] = dict(_ufunc_methods())
    found["Methods and attributes of arrays"] = dict(_members())
    return found


def _named(prefix: str, space: Any) -> Iterator[tuple[str, Any]]:
    """The functions of a namespace that have a rule, by their names; aliases once."""
    seen: set[int] = set()
    for name in sorted(vars(space)):
        value = vars(space)[name]
        if name.startswith("_") or not callable(value) or id(value) in seen or name in GONE:
            continue
        rule = registry.builtin().find(value)
        if rule is not None or registry.given(value):
            seen.add(id(value))
            yield (f"{prefix}.{name}" if prefix else name), value


def _distributions(module: str) -> Iterator[tuple[str, Any]]:
    """The methods of the distributions of `scipy.stats`."""
    for key in registry.builtin().by_key:
        base = distribution(getattr(key, "__self__", None))
        if module == "scipy.stats" and base is not None:
            yield f"{module}.{base}.{key.__name__}", key


def _ufunc_methods() -> Iterator[tuple[str, Any]]:
    for key in registry.builtin().by_key:
        ufunc = getattr(key, "__self__", None)
        if isinstance(ufunc, np.ufunc):
            yield f"np.{ufunc.__name__}.{key.__name__}", key


def _members() -> Iterator[tuple[str, Any]]:
    for key in registry.builtin().by_key:
        if isinstance(key, Method):
            yield f"x.{key.name}()", key
        elif isinstance(key, Attr):
            yield f"x.{key.name}", key


def _section(title: str, found: dict[str, Any]) -> list[str]:
    """The tables of one group of functions."""
    rows, zero, refused = [], [], []
    for name, function in sorted(found.items()):
        rule = registry.builtin().find(function)
        if rule is not None and rule.reason:
            refused.append(f"| `{name}` | {rule.reason} |")
        elif rule is not None and rule.flavour == "nondifferentiable":
            zero.append(f"`{name}`")
        else:
            rows.append(_row(name, function, rule))
    out = [f"\n## {title}"]
    if rows:
        out += [f"\n| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", *rows]
    if zero:
        out += ["\nZero on purpose: " + ", ".join(zero) + "."]
    if refused:
        out += ["\n| not supported | instead |", "|---|---|", *refused]
    return out


def _row(name: str, function: Any, rule: registry.Rule | None) -> str:
    """The line of one function."""
    options = registry.given(function)
    defined = rule is None or rule.definition is not None
    found = [*options.values(), *(() if rule is None else (rule,))]
    calls = [s for r in found for s in r.samples]
    orders, refused = _orders(function)
    also = [f"also {', '.join(f'`{a}`' for a in options)}"] if options else []
    cells = (
        f"`{name}`",
        "definition" if defined else rule.flavour,
        "its steps" if defined else "written",
        _forward(rule),
        orders,
        "yes" if any("C(" in s or "H(" in s for s in calls) else "",
        "yes" if name in native.compiled() else "",
        _on_cupy(function),
        "; ".join((*also, *refused)),
    )
    return f"| {' | '.join(cells)} |"


def _forward(rule: registry.Rule | None) -> str:
    """Where the tangent of a function comes from."""
    if rule is None or rule.definition is not None:
        return "its steps"
    return "transposed" if rule.tangent is None else "written"


def _orders(function: Any) -> tuple[str, list[str]]:
    """The highest order at which samples of a function are right, and what is refused below it."""
    found = [rule_orders.refusals(s) for s in _samples().get(function, [])]
    limits = [min((n for n, _ in r), default=4) - 1 for r in found]
    notes = dict.fromkeys(f"order {n} is refused: {why}" for r in found for n, why in r)
    return str(max(limits, default="")), list(notes)


@functools.cache
def _samples() -> dict[Any, list[Sample]]:
    """The samples of every function."""
    found: dict[Any, list[Sample]] = {}
    for sample in collected():
        key = sample.function
        key = key.function if isinstance(key, registry.Given) else key
        found.setdefault(key, []).append(sample)
    return found


def _on_cupy(function: Any) -> str:
    """Whether a function is right for arrays of CuPy."""
    try:
        check_known(function, NOWHERE)
    except srcdiff.errors.MissingRuleError:
        return ""
    return "yes"
