"""Gradients against directional derivatives by extrapolated differences."""

from __future__ import annotations

import copy
import inspect
import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

import srcdiff
from srcdiff.runtime import arrays, trees
from tests.support import structures as st

DIRECTIONS = 3
LEVELS = 8
_numbers = itertools.count()
FIRST_STEP = 0.02


def difference(phi: Callable[[float], float]) -> tuple[float, float]:
    """The derivative of `phi` at 0 by Ridders' extrapolated central differences, and its error."""
    table = np.zeros((LEVELS, LEVELS))
    best, error = np.nan, np.inf
    step = FIRST_STEP
    for i in range(LEVELS):
        table[i, 0] = (phi(step) - phi(-step)) / (2 * step)
        for j in range(1, i + 1):
            factor = 4.0**j
            table[i, j] = (factor * table[i, j - 1] - table[i - 1, j - 1]) / (factor - 1)
            new = max(abs(table[i, j] - table[i, j - 1]), abs(table[i, j] - table[i - 1, j - 1]))
            if new <= error:
                best, error = float(table[i, j]), float(new)
        step /= 2
    return best, error


class Problem:
    """A function, its arguments, and what is differentiated with respect to what."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], inputs: Any, outputs: Any = None
    ) -> None:
        self.function, self.inputs, self.outputs = function, inputs, outputs
        self.names = st.bound_arguments(function, args)
        self.at = copy.deepcopy(st.selected(function, inputs, self.names))

    def output(self, values: Any = None) -> Any:
        """The selected outputs of a run of the function itself, on copies of the arguments."""
        values = self.at if values is None else values
        names = st.replaced(self.function, self.inputs, self.names, values)
        result = st.call(self.function, names)
        return pick(result, self.outputs, names)

    def slope(self, direction: Any, cotangent: Any) -> tuple[float, float]:
        """d/dt of <cotangent, f(x + t direction)> by differences."""
        return difference(
            lambda t: st.inner(cotangent, self.output(st.plus(self.at, t, direction)))
        )

    def arguments(self) -> dict[str, Any]:
        """A copy of the arguments."""
        return copy.deepcopy(self.names)

    def gradient(self, g: Callable[..., Any], cotangent: Any) -> Any:
        """Call a gradient function; its arguments must come out unchanged."""
        names = self.arguments()
        args = positional(self.function, names)
        result = g(*args[0], grad_outputs=cotangent, **args[1])
        assert_unchanged(self.names, names)
        assert_form(result, self.at, st.arrays(names) + st.arrays(cotangent))
        return result


def pick(result: Any, outputs: Any, names: dict[str, Any]) -> Any:
    """The outputs of a result, or the final values of parameters written in place."""
    if outputs is None:
        return result
    if isinstance(outputs, (tuple, list)):
        return tuple(pick(result, one, names) for one in outputs)
    if isinstance(outputs, str) and outputs in names:
        return names[outputs]
    return result[outputs]


def positional(
    function: Callable[..., Any], names: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by name as `*args` and `**kwargs`."""
    bound = inspect.BoundArguments(inspect.signature(function), {})  # type: ignore[arg-type]
    bound.arguments.update(names)
    return bound.args, bound.kwargs


def assert_unchanged(before: Any, after: Any) -> None:
    """A gradient function never changes its caller's arrays or containers."""
    old, new = list(st.leaves(before)), list(st.leaves(after))
    assert len(old) == len(new), "a container of the caller was changed"
    for x, y in zip(old, new, strict=True):
        if isinstance(x, np.ndarray):
            np.testing.assert_array_equal(x, y, err_msg="an argument was changed")


def assert_form(gradient: Any, at: Any, others: list[np.ndarray]) -> None:
    """Gradients have the form of their inputs, are writable and share no memory."""
    found = list(st.leaves_as(at, gradient))
    own = [leaf for leaf in found if isinstance(leaf, np.ndarray)]
    for x, g in zip(st.leaves(at), found, strict=True):
        if not st.is_number(x):
            assert g is None, f"gradient {g!r} of {x!r}"
        elif isinstance(x, np.ndarray):
            assert isinstance(g, np.ndarray), f"gradient of an array is {type(g).__name__}"
            assert g.shape == x.shape, f"gradient has shape {g.shape}, input {x.shape}"
            assert g.dtype == x.dtype, f"gradient has dtype {g.dtype}, input {x.dtype}"
            assert g.flags.writeable, "gradient is not writable"
        elif type(x) in (float, complex):
            assert type(g) is type(x), f"gradient of a {type(x).__name__} is {type(g).__name__}"
    for i, g in enumerate(own):
        assert not any(np.shares_memory(g, o) for o in others), "gradient aliases an argument"
        assert not any(np.shares_memory(g, o) for o in own[:i]), "gradients alias each other"


def assert_slope(found: float, slope: tuple[float, float], scale: float, tolerance: float) -> None:
    """A directional derivative agrees with differences."""
    expected, error = slope
    bound = tolerance * max(abs(expected), scale, 1e-3) + 4 * min(error, tolerance * 10)
    assert np.isfinite(found), f"derivative is {found}, differences give {expected}"
    assert abs(found - expected) <= bound, f"derivative is {found}, differences give {expected}"


def close(found: Any, expected: Any) -> None:
    """Two numbers or arrays agree but for rounding."""
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def magnitude(gradient: Any, direction: Any) -> float:
    """A scale for the rounding error of <gradient, direction>."""
    size = lambda v: st.mapped(lambda x: None if x is None else np.abs(x), v)  # noqa: E731
    return 1e-2 * st.inner(size(gradient), size(direction))


def check_gradient(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Any = 0,
    outputs: Any = None,
    *,
    g: Callable[..., Any] | None = None,
    seed: int = 1,
    tolerance: float = 1e-6,
    **options: Any,
) -> None:
    """The gradient of a function against differences, along random directions."""
    problem = Problem(function, args, inputs, outputs)
    if g is None:
        g = srcdiff.grad(function, inputs, outputs, **options)
    check_problem(problem, g, seed, tolerance)


def check_problem(problem: Problem, g: Callable[..., Any], seed: int, tolerance: float) -> None:
    """A gradient function against differences of its problem."""
    rng = np.random.default_rng(seed)
    for _ in range(DIRECTIONS):
        cotangent = st.random_like(rng, problem.output())
        direction = st.random_like(rng, problem.at)
        gradient = problem.gradient(g, cotangent)
        found = st.inner(gradient, direction)
        scale = magnitude(gradient, direction)
        assert_slope(found, problem.slope(direction, cotangent), scale, tolerance)


# --- order two ----------------------------------------------------------------------------------


def is_scalar(output: Any) -> bool:
    """Whether an output needs no cotangent."""
    return st.children(output) is None and np.size(output) == 1 and not np.iscomplexobj(output)


def with_cotangent(g: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """`g` as a plain function with one more parameter, by keyword: `ct_`, the cotangent."""
    params = list(inspect.signature(function).parameters.values())
    heads = [str(p.replace(annotation=p.empty, default=p.empty)) for p in params]
    uses = [
        f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else head
        for p, head in zip(params, heads, strict=True)
    ]
    last = [heads.pop()] if params[-1].kind is inspect.Parameter.VAR_KEYWORD else []
    kinds = {p.kind for p in params}
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        first = next(i for i, p in enumerate(params) if p.kind is p.KEYWORD_ONLY)
        heads.insert(first, "*")
    elif inspect.Parameter.VAR_POSITIONAL not in kinds:
        heads.append("*")
    head = ", ".join([*heads, "ct_", *last])
    text = f"def second({head}):\n    return g_({', '.join(uses)}, grad_outputs=ct_)\n"
    return define(text, "second", {"g_": g})


def define(text: str, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """Run source text whose functions can be read again, and take one name of it."""
    file = f"<checked {name} {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def check_second_order(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Any = 0,
    outputs: Any = None,
    *,
    seed: int = 2,
    tolerance: float = 1e-6,
) -> None:
    """The gradient of <grad f(x), w>, by nesting `grad`, against differences of the gradient."""
    rng = np.random.default_rng(seed)
    first = Problem(function, args, inputs, outputs)
    cotangent = st.random_like(rng, first.output())
    g = srcdiff.grad(function, inputs, outputs)
    if is_scalar(first.output()) and outputs is None:
        inner, extra = g, {}
    else:
        inner, extra = with_cotangent(g, function), {"ct_": cotangent}
    second = srcdiff.grad(inner, inputs, materialize_grads=True)

    def gradient_at(values: Any) -> Any:
        names = st.replaced(function, inputs, first.names, values)
        pos, kw = positional(function, names)
        return g(*pos, grad_outputs=extra.get("ct_"), **kw)

    for _ in range(DIRECTIONS - 1):
        w = st.random_like(rng, first.at)
        u = st.random_like(rng, first.at)
        names = first.arguments()
        pos, kw = positional(function, names)
        result = second(*pos, **extra, grad_outputs=w, **kw)
        assert_unchanged(first.names, names)
        assert_form(result, first.at, st.arrays(names) + st.arrays(w))

        def phi(t: float, u: Any = u, w: Any = w) -> float:
            return st.inner(w, gradient_at(st.plus(first.at, t, u)))

        assert_slope(st.inner(result, u), difference(phi), magnitude(result, u), tolerance)


# --- printed source -----------------------------------------------------------------------------


def namespace_of(function: Callable[..., Any]) -> dict[str, Any]:
    """What generated source may refer to: the primal's names, NumPy and the helpers."""
    names: dict[str, Any] = {"np": np, "numpy": np}
    for module in (arrays, trees):
        names.update({k: v for k, v in vars(module).items() if not k.startswith("__")})
    target = inspect.unwrap(function)
    names.update(getattr(target, "__globals__", {}))
    closed = inspect.getclosurevars(target) if inspect.isfunction(target) else None
    names.update(closed.nonlocals if closed else {})
    return names


def from_source(
    text: str, name: str, function: Callable[..., Any], more: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """A function defined by generated text; `more` are names of objects that have no spelling."""
    return define(text, name, {**namespace_of(function), **(more or {})})
