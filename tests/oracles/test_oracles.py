"""Comparisons with torch and JAX: the same text runs in all three (`make oracles`)."""

import ast
import functools
import inspect
import textwrap

import numpy as np
import pytest

import srcdiff
from srcdiff.primitives import registry
from tests.oracles.functions import FUNCTIONS, NONE, WITHOUT
from tests.programs import golden_programs, ml, physics, stats
from tests.support.differences import define, with_cotangent

pytestmark = [pytest.mark.oracles, pytest.mark.filterwarnings("default")]

UNARY = {
    "sin": (-2, 2), "cos": (-2, 2), "tan": (-1, 1), "arcsin": (-0.9, 0.9), "arccos": (-0.9, 0.9),
    "arctan": (-2, 2), "sinh": (-2, 2), "cosh": (-2, 2), "tanh": (-2, 2), "arcsinh": (-2, 2),
    "arccosh": (1.1, 3), "arctanh": (-0.9, 0.9), "exp": (-2, 2), "exp2": (-2, 2),
    "expm1": (-2, 2), "log": (0.2, 3), "log2": (0.2, 3), "log10": (0.2, 3), "log1p": (-0.5, 3),
    "sqrt": (0.2, 3), "square": (-2, 2), "reciprocal": (0.2, 3), "abs": (-2, 2),
    "negative": (-2, 2), "deg2rad": (-2, 2), "rad2deg": (-2, 2), "absolute": (-2, 2),
    "acos": (-0.9, 0.9), "acosh": (1.1, 3), "asin": (-0.9, 0.9), "asinh": (-2, 2),
    "atan": (-2, 2), "atanh": (-0.9, 0.9), "cbrt": (0.2, 3), "degrees": (-2, 2),
    "fabs": (-2, 2), "positive": (-2, 2), "radians": (-2, 2), "sign": (-2, 2),
}  # fmt: skip
BINARY = {
    "add": (-2, 2), "subtract": (-2, 2), "multiply": (-2, 2), "divide": (0.5, 2),
    "hypot": (0.5, 2), "arctan2": (0.5, 2), "maximum": (-2, 2), "minimum": (-2, 2),
    "logaddexp": (-2, 2), "power": (0.5, 2), "atan2": (0.5, 2),
    "float_power": (0.5, 2), "fmax": (-2, 2), "fmin": (-2, 2), "fmod": (0.5, 2),
    "logaddexp2": (-2, 2), "true_divide": (0.5, 2),
}  # fmt: skip
NOT_IN_TORCH = {"cbrt", "degrees", "fabs", "radians"}

# Expressions of x (3, 4), y (4, 3) and v (4): where torch or JAX spell it otherwise, their text.
EXPRESSIONS = {
    "sum_axis": ("np.sum(x, axis=0) * v", {}),
    "sum_keepdims": ("x * np.sum(x, axis=1, keepdims=True)", {}),
    "mean": ("np.mean(x, axis=1) * np.mean(x)", {}),
    "prod": ("np.prod(x, axis=1)", {"torch": "np.prod(x, 1)"}),
    "var": ("np.var(x, axis=0, ddof=1)", {"torch": "np.var(x, 0, correction=1)"}),
    "std": ("np.std(x, axis=1)", {"torch": "np.std(x, 1, correction=0)"}),
    "max": ("np.max(x, axis=1) * np.max(x)", {"torch": "np.amax(x, 1) * np.max(x)"}),
    "min": ("np.min(x, axis=0)", {"torch": "np.amin(x, 0)"}),
    "cumsum": ("np.cumsum(x, axis=1) * x", {"torch": "np.cumsum(x, 1) * x"}),
    "cumprod": ("np.cumprod(x, axis=0) * x", {"torch": "np.cumprod(x, 0) * x"}),
    "matmul": ("x @ y @ x @ v", {}),
    "dot": ("np.dot(v, v) * v", {}),
    "outer": ("np.outer(v, v * v)", {}),
    "inner": ("np.inner(x, v)", {}),
    "tensordot": ("np.tensordot(x, y, axes=([1], [0]))",
                  {"torch": "np.tensordot(x, y, dims=([1], [0]))"}),
    "einsum": ("np.einsum('ij,jk->k', x, y)", {}),
    "einsum_diagonal": ("np.einsum('ii->i', x @ y)", {}),
    "trace": ("np.trace(x @ y) * v", {}),
    "triu_tril": ("np.triu(x, 1) * x + np.tril(x)", {}),
    "diag": ("np.diag(x @ y) @ x", {}),
    "getitem": ("x[1:, ::2] * x[0, 1] + v[-1]", {}),
    "getitem_new": ("x[:, None, 1:3] * v[None, :, None]", {}),
    "gather": ("x[[0, 2, 0]] * x[[1, 1, 1]]",
               {"jax": "x[np.array([0, 2, 0])] * x[np.array([1, 1, 1])]"}),
    "gather_pairs": ("x[[0, 2, 0], [1, 3, 1]] * v[[1, 1, 0]]",
                     {"jax": "x[np.array([0, 2, 0]), np.array([1, 3, 1])] "
                             "* v[np.array([1, 1, 0])]"}),
    "mask": ("x[x > 0.0] ** 3", {}),
    "where": ("np.where(x > 0.0, x * x, v)", {}),
    "clip": ("np.clip(x, -0.5, 0.5) * x", {}),
    "reshape": ("np.reshape(x, (2, 6)) * x.reshape(2, 6)", {}),
    "transpose": ("x.T @ x", {}),
    "stack": ("np.stack([v, v * v], axis=1)", {"torch": "np.stack([v, v * v], 1)"}),
    "concatenate": ("np.concatenate((x, x * v))", {}),
    "roll": ("np.roll(x, 1, 0) * x", {}),
    "flip": ("np.flip(x, (0,)) * x", {}),
    "tile": ("np.tile(v, (2,)) ** 2", {}),
    "repeat": ("np.repeat(v, 2) ** 2", {"torch": "np.repeat_interleave(v, 2) ** 2"}),
    "broadcast": ("x * v + v", {}),
    "power": ("(x * x + 0.5) ** v", {}),
    "logsumexp": ("np.log(np.sum(np.exp(x), axis=1))", {}),
    "remainder": ("x * (x % 0.7)", {}),
    "norm": ("np.linalg.norm(x) * v", {}),
    "sort": ("np.sort(v) * v", {"torch": "np.sort(v)[0] * v"}),
}  # fmt: skip

LINALG = {
    "eigh": ("np.linalg.eigh(x @ x.T)[0] * np.sum(x)", {}),
    "eigh_vectors": ("np.linalg.eigh(x @ x.T)[1] ** 2", {}),
    "eigvalsh": ("np.linalg.eigvalsh(x @ x.T)", {}),
    "svd": ("np.linalg.svd(x, full_matrices=False)[1] * np.sum(x)", {}),
    "svd_vectors": ("np.linalg.svd(x, full_matrices=False)[0] ** 2", {}),
    "svd_right": ("np.linalg.svd(x, full_matrices=False)[2] ** 2", {}),
    "svdvals": ("np.linalg.svdvals(y)", {}),
    "qr": ("np.linalg.qr(y)[0] ** 2 @ np.linalg.qr(y)[1]", {}),
    "qr_wide": ("np.linalg.qr(x)[1] ** 2", {"jax": None}),
    "pinv": ("np.linalg.pinv(x) * y", {}),
    "cholesky": ("np.linalg.cholesky(x @ x.T)", {}),
    "slogdet": ("np.linalg.slogdet(x @ y)[1]", {}),
    "det": ("np.linalg.det(x @ y)", {}),
    "inv": ("np.linalg.inv(x @ y)", {}),
    "solve": ("np.linalg.solve(x @ y, x)", {}),
    "matrix_power": ("np.linalg.matrix_power(x @ y, 3)", {}),
    "matrix_power_negative": ("np.linalg.matrix_power(x @ y, -2)", {}),
    "multi_dot": ("np.linalg.multi_dot([x, y, x])", {}),
    "norm_1": ("np.linalg.norm(x, 1)", {}),
    "norm_2": ("np.linalg.norm(x, 2)", {}),
    "norm_nuc": ("np.linalg.norm(x, 'nuc')", {}),
    "norm_inf": ("np.linalg.norm(v, np.inf)", {}),
    "norm_3": ("np.linalg.vector_norm(x, axis=1, ord=3)",
               {"torch": "np.linalg.vector_norm(x, dim=1, ord=3)"}),
    "cond": ("np.linalg.cond(x @ y)", {}),
    "lstsq": ("np.linalg.lstsq(y, v[:, None])[0]", {}),
    "kron": ("np.kron(x, y)", {}),
    "vecdot": ("np.linalg.vecdot(x, v)", {}),
}  # fmt: skip
OTHERS = {
    "fft": ("np.real(np.fft.fft(x) * np.fft.fft(x, n=6)[:, :4])", {}),
    "rfft": ("np.fft.irfft(np.fft.rfft(x) ** 2)", {}),
    "rfft_odd": ("np.fft.irfft(np.fft.rfft(x, n=5) ** 2, n=5)", {}),
    "fft2": ("np.abs(np.fft.fft2(x, norm='ortho')) ** 2", {}),
    "hfft": ("np.fft.hfft(np.fft.ihfft(v) ** 2)", {}),
    "fftshift": ("np.fft.fftshift(x) * x", {}),
    "quantile": ("np.quantile(x, 0.3, axis=1)", {"torch": "np.quantile(x, 0.3, dim=1)"}),
    "percentile": ("np.percentile(v, 35.0) * v", NONE),
    "median": ("np.median(x, axis=1)", NONE),
    "gradient": ("np.gradient(v, 0.5) * v", {"torch": "np.gradient(v, spacing=0.5)[0] * v"}),
    "cov": ("np.cov(x)", {}),
    "corrcoef": ("np.corrcoef(x)", {}),
    "convolve": ("np.convolve(v, v * v, 'same')", NONE),
    "correlate": ("np.correlate(v, v[1:] * v[1:], 'full')", NONE),
    "interp": ("np.interp(v, np.array([-1.0, 0.0, 1.0, 2.0]), v * v)", NONE),
    "trapezoid": ("np.trapezoid(x, v)", {}),
    "polyval": ("np.polyval(v, x)", NONE),
    "vander": ("np.vander(v, 3)", NONE),
    "nansum": ("np.nansum(x, axis=0)", {"torch": "np.nansum(x, 0)"}),
    "nanstd": ("np.nanstd(x, axis=0)", NONE),
    "diff": ("np.diff(x, n=2) * np.sum(x)", {}),
    "sinc": ("np.sinc(x)", {}),
    "i0": ("np.i0(x)", {}),
    "logaddexp_reduce": ("np.logaddexp.reduce(v)", {"torch": "np.logsumexp(v, 0)"}),
    "take_along_axis": ("np.take_along_axis(x, np.argsort(x * x, axis=1), axis=1)",
                        {"torch": "np.take_along_dim(x, np.argsort(x * x, dim=1), dim=1)"}),
    "unwrap": ("np.unwrap(4.0 * v) * v", NONE),
    "select": ("np.select([x > 0.5, x < 0.0], [x * x, -x], v)", NONE),
    "block": ("np.block([[x, x], [x * x, x]])", NONE),
}  # fmt: skip

# Functions of SciPy: `s` is scipy.special, torch.special or jax.scipy.special; x is positive,
# u in (0, 1).
SPECIAL = {
    "gammaln": ("s.gammaln(x)", {}),
    "digamma": ("s.digamma(x)", NONE),  # torch keeps few terms of a series
    "polygamma": ("s.polygamma(1, x)", {}),
    "erf": ("s.erf(x)", {}),
    "erfc": ("s.erfc(x)", {}),
    "erfinv": ("s.erfinv(u)", {}),
    "expit": ("s.expit(x)", {}),
    "logit": ("s.logit(u)", {}),
    "ndtr": ("s.ndtr(x)", {}),
    "ndtri": ("s.ndtri(u)", {}),
    "log_ndtr": ("s.log_ndtr(x)", {}),
    "i0": ("s.i0(x)", {}),
    "i0e": ("s.i0e(x)", {}),
    "i1": ("s.i1(x)", {}),
    "i1e": ("s.i1e(x)", {}),
    "xlogy": ("s.xlogy(x, u)", {}),
    "xlog1py": ("s.xlog1py(x, u)", {}),
    "entr": ("s.entr(x)", {}),
    "rel_entr": ("s.rel_entr(x, u)", NONE),
    "kl_div": ("s.kl_div(x, u)", NONE),
    "betaln": ("s.betaln(x, u)", NONE),
    "gammainc": ("s.gammainc(2.0, x)", NONE),
    "betainc": ("s.betainc(2.0, 1.5, u)", NONE),
    "logsumexp": ("s.logsumexp(x, axis=1)", {"torch": "s.logsumexp(x, 1)"}),
    "softmax": ("s.softmax(x, axis=1)", NONE),
    "log_softmax": ("s.log_softmax(x, axis=1)", NONE),
}  # fmt: skip

# Conventions at kinks are torch's.
KINKS = {
    "abs": ("np.abs(x)", [0.0, -1.0, 2.0]),
    "maximum_tie": ("np.maximum(x, 0.0 * x)", [0.0, -1.0, 2.0]),
    "minimum_tie": ("np.minimum(x, x * 1.0)", [0.0, -1.0, 2.0]),
    "max_tie": ("np.amax(x) * 3.0", [2.0, -1.0, 2.0]),
    "min_tie": ("np.min(x)", [-1.0, -1.0, 2.0]),
    "clip_bound": ("np.clip(x, -1.0, 1.0)", [-1.0, 0.0, 1.0]),
    "sqrt_zero": ("np.sqrt(x)", [0.0, 1.0, 4.0]),
    "square_power": ("x ** 2", [0.0, 1.0, -2.0]),
    "power_zero": ("x ** 0", [0.0, 1.0, -2.0]),
    "prod_zero": ("np.prod(x) * 2.0", [0.0, 3.0, 2.0]),
    "prod_zeros": ("np.prod(x) * 2.0", [0.0, 0.0, 2.0]),
    "hypot_zero": ("np.hypot(x, 0.0 * x)", [0.0, 3.0, 2.0]),
    "where_nan": ("np.where(x > 0.0, np.sqrt(x), x)", [0.0, 4.0, 1.0]),
    "sinc_zero": ("np.sinc(x)", [0.0, 0.5, 1.0]),
    "sort_ties": ("np.sort(x)", [2.0, 1.0, 1.0]),
    "division": ("1.0 / x", [0.0, 1.0, -2.0]),
}
KINKS_TORCH = {
    "max_tie": "np.amax(x) * 3.0",
    "min_tie": "np.amin(x)",
    "sort_ties": "np.sort(x, stable=True)[0]",
}


def function(expression, module, parameters="x, y, v"):
    """`expression` as a function in the language of `module`."""
    text = f"def f({parameters}):\n    return {expression}\n"
    return define(text, "f", {"np": module})


def arguments(rng):
    return rng.standard_normal((3, 4)), rng.standard_normal((4, 3)), rng.standard_normal(4)


def used(expression):
    """The parameters that an expression reads: the inputs of the comparison."""
    names = {n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)}
    return tuple(n for n in ("x", "y", "v") if n in names)


def ours(f, args, inputs, cotangent):
    return srcdiff.grad(f, inputs)(*args, grad_outputs=cotangent)


def torch_gradients(f, args, inputs, cotangent, second=None):
    """Torch's gradients; with `second`, those of <gradients, second>."""
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    names = list(inspect.signature(f).parameters)
    values = [
        torch.tensor(np.asarray(a)) if isinstance(a, (np.ndarray, float)) else a for a in args
    ]
    leaves = [values[names.index(n)].requires_grad_() for n in inputs]
    out = f(*values)
    found = torch.autograd.grad(out, leaves, torch.tensor(cotangent), create_graph=bool(second))
    if second:
        total = sum((g * torch.tensor(w)).sum() for g, w in zip(found, second, strict=True))
        if not total.requires_grad:
            return [np.zeros_like(w) for w in second]
        found = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    return [g.numpy(force=True) for g in found]


@functools.cache
def jax_modules():
    jax = pytest.importorskip("jax", reason="JAX is not installed: extra oracles")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy

    return jax, jax.numpy


def jax_gradients(f, args, inputs, cotangent):
    jax, _ = jax_modules()
    names = list(inspect.signature(f).parameters)
    where = [names.index(n) for n in inputs]

    def of_inputs(*values):
        full = list(args)
        for i, value in zip(where, values, strict=True):
            full[i] = value
        return f(*full)

    _, pullback = jax.vjp(of_inputs, *(jax.numpy.asarray(args[i]) for i in where))
    return [np.asarray(g) for g in pullback(jax.numpy.asarray(cotangent))]


def compare(found, expected, rtol=1e-10):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12)


def check_expression(expression, args, spelled, inputs=None, second=True):
    """One expression of x, y, v against both oracles, to order two against torch."""
    inputs = inputs or used(expression)
    rng = np.random.default_rng(11)
    f = function(expression, np)
    cotangent = np.asarray(rng.standard_normal(np.shape(f(*args))))
    found = ours(f, args, inputs, cotangent)
    if spelled.get("torch", "") is not None:
        torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
        theirs = function(spelled.get("torch", expression), torch)
        compare(found, torch_gradients(theirs, args, inputs, cotangent))
        if second:
            w = [rng.standard_normal(np.shape(g)) for g in found]
            inner = with_cotangent(srcdiff.grad(f, inputs), f)
            twice = srcdiff.grad(inner, inputs, materialize_grads=True)
            result = twice(*args, ct_=cotangent, grad_outputs=tuple(w))
            compare(result, torch_gradients(theirs, args, inputs, cotangent, w), 1e-8)
    if spelled.get("jax", "") is not None:
        theirs = function(spelled.get("jax", expression), jax_modules()[1])
        compare(found, jax_gradients(theirs, args, inputs, cotangent))


@pytest.mark.parametrize("name", sorted(UNARY))
def test_unary(name):
    rng = np.random.default_rng(7)
    x = rng.uniform(*UNARY[name], (3, 4))
    check_expression(f"np.{name}(x)", (x, x, x), NONE if name in NOT_IN_TORCH else {})


@pytest.mark.parametrize("name", sorted(BINARY))
def test_binary(name):
    rng = np.random.default_rng(8)
    x, v = rng.uniform(*BINARY[name], (3, 4)), rng.uniform(*BINARY[name], 4)
    spelled = {"torch": "np.pow(x, v)"} if name == "power" else {}
    check_expression(f"np.{name}(x, v)", (x, x, v), spelled)


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
def test_expression(name):
    expression, spelled = EXPRESSIONS[name]
    args = arguments(np.random.default_rng(9))
    check_expression(expression, args, spelled)


@pytest.mark.parametrize("name", sorted(LINALG | OTHERS | FUNCTIONS))
def test_function(name):
    expression, spelled = (LINALG | OTHERS | FUNCTIONS)[name]
    args = arguments(np.random.default_rng(5))
    check_expression(expression, args, spelled)


def compared():
    """The functions that some expression calls."""
    rows = [e for e, _ in (EXPRESSIONS | LINALG | OTHERS | FUNCTIONS).values()]
    nodes = (n for row in rows for n in ast.walk(ast.parse(row)) if isinstance(n, ast.Attribute))
    return {ast.unparse(n) for n in nodes} | {f"np.{n}" for n in (*UNARY, *BINARY)}


def test_every_function_that_they_have_is_compared():
    """What NumPy, and torch or JAX have, and what has a derivative here."""
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    numpy = jax_modules()[1]
    for part in ("", "linalg", "fft"):
        ours, *others = (getattr(m, part) if part else m for m in (np, torch, numpy))
        prefix = f"np.{part}." if part else "np."
        functions = {n: f for n, f in vars(ours).items() if n[0] != "_" and callable(f)}
        both = [n for n in functions if any(hasattr(m, n) for m in others)]
        missing = {prefix + n for n in both if has_derivative(functions[n])} - compared()
        assert missing <= {*WITHOUT}, sorted(missing - {*WITHOUT})


def has_derivative(function):
    """Whether a function has a rule that says more than that it is zero, or refused."""
    rule = registry.builtin().find(function)
    if rule is None:
        return bool(registry.given(function))
    return not rule.reason and rule.flavour != "nondifferentiable"


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_special_function(name):
    special = pytest.importorskip("scipy.special", reason="SciPy is an extra")
    expression, spelled = SPECIAL[name]
    rng = np.random.default_rng(6)
    args = rng.uniform(0.3, 2.0, (3, 4)), rng.uniform(0.1, 0.9, (3, 4))
    inputs = tuple(n for n in ("x", "u") if n in expression.replace("xlog", "").split("(", 1)[1])
    text = "def f(x, u):\n    return {}\n"
    f = define(text.format(expression), "f", {"s": special})
    cotangent = rng.standard_normal(np.shape(f(*args)))
    found = ours(f, args, inputs, cotangent)
    if spelled.get("torch", "") is not None:
        torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
        g = define(text.format(spelled.get("torch", expression)), "f", {"s": torch.special})
        compare(found, torch_gradients(g, args, inputs, cotangent))
    jax, _ = jax_modules()
    g = define(text.format(expression), "f", {"s": jax.scipy.special})
    compare(found, jax_gradients(g, args, inputs, cotangent))


@pytest.mark.parametrize("name", sorted(KINKS))
def test_convention_at_a_kink(name):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    expression, at = KINKS[name]
    x = np.array(at)
    f = function(expression, np, "x")
    theirs = function(KINKS_TORCH.get(name, expression), torch, "x")
    with np.errstate(all="ignore"):
        cotangent = np.asarray(np.random.default_rng(3).standard_normal(np.shape(f(x))))
        found = ours(f, (x,), ("x",), cotangent)
    compare(found, torch_gradients(theirs, (x,), ("x",), cotangent))


# --- programs of the corpus ---------------------------------------------------------------------

WITH_TORCH = (
    golden_programs.least_squares,
    golden_programs.logistic_regression,
    golden_programs.mlp,
    golden_programs.newton_root,
    golden_programs.tanh_recurrence,
    golden_programs.rosenbrock,
    golden_programs.soft_kmeans,
    golden_programs.power_iteration,
    golden_programs.black_scholes,
    golden_programs.kalman,
    golden_programs.power,
    physics.lennard_jones,
    stats.correlation,
)
WITH_JAX = (
    golden_programs.least_squares,
    golden_programs.logistic_regression,
    golden_programs.mlp,
    golden_programs.newton_root,
    golden_programs.tanh_recurrence,
    golden_programs.rosenbrock,
    golden_programs.cross_entropy,
    golden_programs.gaussian_mixture,
    golden_programs.soft_kmeans,
    golden_programs.power_iteration,
    golden_programs.rk4,
    golden_programs.horner,
    physics.lennard_jones,
    ml.attention,
    ml.layer_norm,
    stats.correlation,
    stats.hidden_markov,
)


def programs_of(functions):
    """The registered programs of some functions, the first of each."""
    from tests.programs import PROGRAMS

    found = {}
    for program in PROGRAMS:
        if program.function in functions:
            found.setdefault(program.function, program)
    return [found[f] for f in functions]


def rewritten(f, module):
    """The whole module of `f`, with `np` meaning another module; its `f`."""
    source = textwrap.dedent(inspect.getsource(inspect.getmodule(f)))
    body = "".join(
        line for line in source.splitlines(True) if not line.startswith(("import ", "from "))
    )
    import math

    return define(body, f.__name__, {"np": module, "math": math, "sample": lambda *a, **k: None})


def flat_inputs(program):
    inputs = program.inputs
    names = list(inspect.signature(program.function).parameters)
    several = inputs if isinstance(inputs, tuple) else (inputs,)
    return tuple(names[i] if isinstance(i, int) else i for i in several)


def check_program(program, gradients, module):
    args, inputs = program.arguments(), flat_inputs(program)
    rng = np.random.default_rng(12)
    value = program.function(*program.arguments())
    if isinstance(value, tuple):
        pytest.skip("one output at a time")
    cotangent = np.asarray(rng.standard_normal(np.shape(value)))
    found = ours(program.function, args, inputs, cotangent if cotangent.ndim else float(cotangent))
    theirs = rewritten(program.function, module)
    compare(found, gradients(theirs, args, inputs, cotangent), 1e-9)


@pytest.mark.parametrize("function", WITH_TORCH, ids=lambda f: f.__name__)
def test_program_with_torch(function):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    (program,) = programs_of((function,))
    check_program(program, torch_gradients, torch)


@pytest.mark.parametrize("function", WITH_JAX, ids=lambda f: f.__name__)
def test_program_with_jax(function):
    (program,) = programs_of((function,))
    check_program(program, jax_gradients, jax_modules()[1])
