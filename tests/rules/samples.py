"""Sample calls of rules as programs, and numerical derivatives of programs."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import operator
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcdiff
from srcdiff.ir import Attr, Method
from srcdiff.primitives import registry
from tests.rules import packages

# What the source of a sample may call: each makes an argument to differentiate with respect to.
MAKERS = ("A", "P", "U", "C", "S", "H", "V")


class Makers:
    """`A(2, 3)`: any numbers; `P`: positive; `U`: in (-1, 1); `C`: complex; `S(n)`: a symmetric
    positive definite matrix; `H(n)`: a Hermitian one; `V(x)`: these values.  Without a shape, a
    Python float.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.calls = 0

    def _shaped(self, draw: Any, shape: tuple[int, ...]) -> Any:
        return draw(shape) if shape else float(draw(()))

    def A(self, *shape: int) -> Any:
        return self._shaped(self._apart, shape)

    def _apart(self, shape: tuple[int, ...]) -> Any:
        """Numbers that are neither close to each other nor to zero."""
        n = int(np.prod(shape))
        self.calls += 1
        grid = np.arange(n) - (n - 1) / 2 + 0.25 + 0.37 * (self.calls - 1)
        values = self.rng.permutation(grid * (2.0 / max(n, 2)))
        return np.reshape(values + self.rng.uniform(-0.02, 0.02), shape)

    def P(self, *shape: int) -> Any:
        return self._shaped(lambda s: self.rng.uniform(0.5, 2.0, s), shape)

    def U(self, *shape: int) -> Any:
        return self._shaped(lambda s: self.rng.uniform(-0.8, 0.8, s), shape)

    def C(self, *shape: int) -> Any:
        return self.rng.standard_normal(shape) + 1j * self.rng.standard_normal(shape)

    def S(self, n: int) -> Any:
        a = self.rng.standard_normal((n, n))
        return a @ a.T + n * np.eye(n)

    def H(self, n: int) -> Any:
        a = self.C(n, n)
        b = a @ np.conj(a.T)
        return 0.5 * (b + np.conj(b.T)) + n * np.eye(n)  # to the last bit

    def V(self, values: Any) -> Any:
        return np.array(values, dtype=float)


class _Parameters(ast.NodeTransformer):
    """Replaces the makers in a sample by parameters, and keeps what they were."""

    def __init__(self) -> None:
        self.found: list[ast.expr] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in MAKERS:
            self.found.append(node)
            return ast.Name(f"p{len(self.found) - 1}")
        self.generic_visit(node)
        return node


@dataclass(frozen=True)
class Sample:
    """One function of a rule with one of its sample calls."""

    rule: registry.Rule
    function: Any
    call: str

    @functools.cached_property
    def id(self) -> str:
        """The name of the test."""
        key = self.function
        if isinstance(key, registry.Given):
            of = getattr(key.function, "name", None) or registry.name_of(key.function)
            return f"{self.rule.name}:{of}({self.call})"
        name = getattr(key, "name", None) or getattr(key, "__name__", None) or f"store{key.op}"
        mark = "." if isinstance(key, (Method, Attr)) else ""
        return f"{self.rule.name}:{mark}{name}({self.call})"

    @functools.cached_property
    def kinds(self) -> tuple[tuple[bool, int], ...]:
        """Of every argument whether it is complex, and its rank."""
        return tuple((np.iscomplexobj(a), np.ndim(a)) for a in self.program().args)

    def _seed(self) -> str:
        """What the arguments are drawn by."""
        given = isinstance(self.function, registry.Given)
        return f"{self.rule.name}({self.call})" if given else self.id

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the sample call."""
        env = {**_environment(self._seed()), "f": lambda *args, **kwargs: (args, kwargs)}
        found: tuple[tuple[Any, ...], dict[str, Any]] = eval(f"f({self.call})", env)
        return found

    def program(self) -> Program:
        """The sample as a function of the arguments that can be differentiated."""
        tree = ast.parse(f"f({self.call})", mode="eval").body
        assert isinstance(tree, ast.Call)
        makers = _Parameters()
        args = [ast.unparse(ast.fix_missing_locations(makers.visit(a))) for a in tree.args]
        kwargs = [f"{k.arg}={ast.unparse(makers.visit(k.value))}" for k in tree.keywords]
        params = [f"p{k}" for k in range(len(makers.found))]
        env = _environment(self._seed())
        values = tuple(
            eval(compile(ast.Expression(e), "<sample>", "eval"), env) for e in makers.found
        )
        body = _body(self.rule, self.function, args, kwargs)
        return Program(_compiled(self.id, params, body, self.function), values)


def _environment(name: str) -> dict[str, Any]:
    """What the source of a sample may name."""
    make = Makers(zlib.crc32(name.encode()))
    return {**_modules(), **{n: getattr(make, n) for n in MAKERS}}


def _modules() -> dict[str, Any]:
    """The modules that a sample may name."""
    return {"np": np, "srcdiff": srcdiff, "sparse": sys.modules.get("scipy.sparse")}


@dataclass(frozen=True)
class Program:
    """A function and arguments for it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


def _body(rule: registry.Rule, function: Any, args: list[str], kwargs: list[str]) -> list[str]:
    """The lines that make the call."""
    if isinstance(function, registry.Given):
        return _body(rule, function.function, args, kwargs)
    if isinstance(function, registry.Store):
        return _store(function, args)
    rest = ", ".join((*args[1:], *kwargs))
    if rule.mutates is not None:
        method = isinstance(function, Method)
        call = f"x.{function.name}({rest})" if method else f"fn(x, {rest})"
        return [f"x = 1.0 * {args[0]}", call, "return x"]
    if isinstance(function, Method):
        return [f"return ({args[0]}).{function.name}({rest})"]
    if isinstance(function, Attr):
        return [f"return ({args[0]}).{function.name}"]
    return [f"return fn({', '.join((*args, *kwargs))})"]


def _store(function: registry.Store, args: list[str]) -> list[str]:
    """The lines that make a store."""
    target = "x" if function.whole else f"x[{args[1]}]"
    return [f"x = 1.0 * {args[0]}", f"{target} {function.op or ''}= {args[-1]}", "return x"]


def _compiled(name: str, params: Sequence[str], body: list[str], function: Any) -> Any:
    """A function made of lines, with source that can be found."""
    text = f"def program({', '.join(params)}):\n" + "".join(f"    {line}\n" for line in body)
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    function = function.function if isinstance(function, registry.Given) else function
    namespace = {**_modules(), "fn": function, "operator": operator, "__name__": "samples"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["program"]


@functools.cache
def collected() -> Sequence[Sample]:
    """Every function of every rule with every sample call that fits it."""
    out = []
    packages.installed()
    for key in registry.builtin().by_key:
        rule = registry.lookup(key)
        assert rule is not None
        if rule.template is not None or rule.definition is not None:
            out += [s for call in rule.samples if _fits(s := Sample(rule, key, call))]
    return tuple(sorted(out, key=lambda s: s.id))


def _fits(sample: Sample) -> bool:
    """Whether a sample call can be made with a function: methods need an array, some fewer
    arguments.
    """
    try:
        program = sample.program()
        program.function(*map(_copied, program.args))
    except (TypeError, AttributeError, ValueError):
        return False
    return True


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


# --- numbers -----------------------------------------------------------------------------------


def direction(x: Any, rng: np.random.Generator) -> Any:
    """A random direction of the kind of `x`."""
    v = rng.standard_normal(np.shape(x))
    if np.iscomplexobj(x):
        v = v + 1j * rng.standard_normal(np.shape(x))
    return np.where(np.isfinite(x), v, 0.0) if np.ndim(x) else np.asarray(v).item()


def inner(a: Any, b: Any) -> float:
    """The real inner product of two structures."""
    if a is None or b is None:
        return 0.0
    if isinstance(a, (tuple, list)):
        return sum(inner(p, q) for p, q in zip(a, b, strict=True))
    return float(np.sum(np.real(np.conj(a) * b)))


def slope(value: Callable[[float], float]) -> float:
    """The derivative at 0 by central differences, extrapolated twice."""
    steps = [(value(h) - value(-h)) / (2 * h) for h in (2e-3, 1e-3, 5e-4)]
    first = [(4 * b - a) / 3 for a, b in zip(steps, steps[1:], strict=False)]
    return (16 * first[1] - first[0]) / 15


def moved(args: Sequence[Any], step: float, way: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments moved along a direction."""
    return tuple(x + step * v for x, v in zip(args, way, strict=True))


def signature_of(function: Any) -> list[str]:
    """The names of the parameters of a program."""
    return list(inspect.signature(function).parameters)
