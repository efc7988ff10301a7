"""Gradients of SciPy's functions against JAX, which has many of them under the same name."""

import ast
import importlib

import numpy as np
import pytest

from tests.oracles.test_oracles import (
    compare,
    define,
    has_derivative,
    jax_gradients,
    jax_modules,
    ours,
)

pytestmark = pytest.mark.oracles
pytest.importorskip("scipy", reason="SciPy is an extra")

# Expressions of x and y, positive (3, 4); u, in (0, 1); a, positive definite (3, 3); b (3, 3);
# v (6,), w (3,).
SPECIAL = {
    "beta": "special.beta(x, y)",
    "betainc": "special.betainc(2.0, 1.5, u)",
    "betaln": "special.betaln(x, y)",
    "dawsn": "special.dawsn(x)",
    "digamma": "special.digamma(x)",
    "entr": "special.entr(x)",
    "erf": "special.erf(x)",
    "erfc": "special.erfc(x)",
    "erfinv": "special.erfinv(u)",
    "exp1": "special.exp1(x)",
    "expi": "special.expi(x)",
    "expit": "special.expit(x)",
    "expn": "special.expn(3, x)",
    "gamma": "special.gamma(x)",
    "gammainc": "special.gammainc(2.0, x)",
    "gammaincc": "special.gammaincc(2.0, x)",
    "gammaln": "special.gammaln(x)",
    "i0": "special.i0(x)",
    "i0e": "special.i0e(x)",
    "i1": "special.i1(x)",
    "i1e": "special.i1e(x)",
    "kl_div": "special.kl_div(x, y)",
    "log_ndtr": "special.log_ndtr(x)",
    "log_softmax": "special.log_softmax(x, axis=1)",
    "logit": "special.logit(u)",
    "logsumexp": "special.logsumexp(x, axis=1)",
    "multigammaln": "special.multigammaln(x + 1.0, 2)",
    "ndtr": "special.ndtr(x)",
    "ndtri": "special.ndtri(u)",
    "poch": "special.poch(x, y)",
    "polygamma": "special.polygamma(1, x)",
    "rel_entr": "special.rel_entr(x, y)",
    "softmax": "special.softmax(x, axis=1)",
    "spence": "special.spence(u)",
    "xlog1py": "special.xlog1py(x, y)",
    "xlogy": "special.xlogy(x, y)",
    "zeta": "special.zeta(2.5, x)",
    "hyp1f1": "special.hyp1f1(1.5, 2.5, x)",
    "hyp2f1": "special.hyp2f1(0.5, 1.5, 2.5, 0.5 * u)",
    "boxcox": "special.boxcox(x, 0.7)",
    "boxcox1p": "special.boxcox1p(x, 0.7)",
    "erfcx": "special.erfcx(x)",
    "loggamma": "special.loggamma(x)",
    "owens_t": "special.owens_t(x, u)",
    "sici": "special.sici(x)[0] * special.sici(x)[1]",
    "fresnel": "special.fresnel(x)[0] * special.fresnel(x)[1]",
}
LINALG = {
    "block_diag": "linalg.block_diag(b, x) ** 2",
    "cho_solve": "linalg.cho_solve((linalg.cholesky(b @ b.T + np.eye(3), lower=True), True), b)",
    "cho_factor": "linalg.cho_factor(b @ b.T + np.eye(3))[0][0] ** 2",
    "cholesky": "linalg.cholesky(b @ b.T + np.eye(3)) ** 2",
    "circulant": "linalg.circulant(w) ** 2",
    "det": "linalg.det(b) * w",
    "eigh": "linalg.eigh(a + a.T)[0] * linalg.eigh(a + a.T)[1] ** 2",
    "expm": "linalg.expm(b)",
    "expm_frechet": "linalg.expm_frechet(b, a)[1]",
    "hankel": "linalg.hankel(w, w[::-1] * 2.0)[:, :2]",
    "inv": "linalg.inv(b)",
    "lu": "linalg.lu(b)[1] @ linalg.lu(b)[2] ** 2",
    "lu_factor": "linalg.lu_factor(b)[0] ** 2",
    "lu_solve": "linalg.lu_solve(linalg.lu_factor(b), w)",
    "qr": "linalg.qr(b, mode='economic')[0] ** 2 @ linalg.qr(b, mode='economic')[1]",
    "solve": "linalg.solve(b, w)",
    "solve_triangular": "linalg.solve_triangular(a, w, lower=True)",
    "svd": "linalg.svd(b)[1] * linalg.svd(b)[0] ** 2",
    "toeplitz": "linalg.toeplitz(w, w * w)",
}
STATS = {
    "bernoulli": {"pmf logpmf": "(np.array([0, 1, 1]), u[:, 0])"},
    "beta": {"pdf logpdf": "(u, x + 1.0, y)", "cdf logcdf sf logsf": "(u, 2.0, 1.5)"},
    "binom": {"pmf logpmf": "(np.array([0, 2, 3]), 4, u[:, 0])"},
    "cauchy": {"pdf logpdf cdf logcdf sf logsf": "(x, y, 1.5)", "ppf isf": "(u, x, y)"},
    "chi2": {"pdf logpdf": "(x, y + 1.0)", "cdf logcdf sf logsf": "(x, 3.0)"},
    "dirichlet": {"pdf logpdf": "(np.array([0.2, 0.3, 0.5]), x[:, 0] + 1.0)"},
    "expon": {"pdf logpdf cdf logcdf sf logsf": "(x, 0.1, y)", "ppf": "(u, x, y)"},
    "gamma": {"pdf logpdf": "(x, y)", "cdf logcdf sf logsf": "(x, 2.5)"},
    "laplace": {"pdf logpdf cdf": "(x, 0.1, y)"},
    "logistic": {"pdf logpdf cdf sf": "(x, 0.1, y)", "ppf isf": "(u, x, y)"},
    "multivariate_normal": {"pdf logpdf": "(w, w * w, a + a.T)"},
    "nbinom": {"pmf logpmf": "(np.array([0, 2, 3]), 4, u[:, 0])"},
    "norm": {"pdf logpdf cdf logcdf sf logsf": "(x, 0.1, y)", "ppf isf": "(u, x, y)"},
    "poisson": {"pmf logpmf": "(np.array([0, 2, 3]), x[:, 0])", "cdf": "(2, x[:, 0])"},
    "t": {"pdf logpdf": "(x, y + 1.0)"},
    "uniform": {"pdf logpdf": "(0.3, 0.0, y)", "cdf": "(u, 0.0, y + 1.0)", "ppf": "(u, x, y)"},
}
SIGNAL = {
    "convolve": "signal.convolve(v, w, 'same')",
    "convolve2d": "signal.convolve2d(x, b, 'same')",
    "correlate": "signal.correlate(v, w)",
    "correlate2d": "signal.correlate2d(x, b, 'valid')",
    "detrend": "signal.detrend(v) * v",
    "detrend_pieces": "signal.detrend(v, bp=[2, 4]) * v",
    "fftconvolve": "signal.fftconvolve(x, b)",
}
OTHERS = {
    "trapezoid": "integrate.trapezoid(x, y)",
    "dct": "fft.dct(x, norm='ortho') ** 2",
    "idct": "fft.idct(x, norm='ortho') ** 2",
    "dctn": "fft.dctn(x, norm='ortho') ** 2",
    "idctn": "fft.idctn(x, norm='ortho') ** 2",
}
METHODS = {
    f"{name}.{method}": f"stats.{name}.{method}{args}"
    for name, rows in STATS.items()
    for methods, args in rows.items()
    for method in methods.split()
}
ROWS = {**SPECIAL, **{f"linalg.{k}": e for k, e in LINALG.items()}, **SIGNAL, **OTHERS, **METHODS}
WITHOUT = {
    "linalg.polar", "linalg.solve_sylvester", "linalg.sqrtm",
    "special.wofz",
}  # fmt: skip
"""What has no derivative in JAX."""

FOLDERS = ("special", "linalg", "stats", "signal", "integrate", "fft")


def arguments():
    rng = np.random.default_rng(6)
    x, y, u = (rng.uniform(*ends, (3, 4)) for ends in ((0.3, 2.0), (0.5, 2.0), (0.1, 0.9)))
    b = rng.standard_normal((3, 3))
    a = b @ b.T + np.eye(3)
    return {"x": x, "y": y, "u": u, "a": a, "b": b,
            "v": rng.standard_normal(6), "w": rng.uniform(0.5, 1.5, 3)}  # fmt: skip


def mentioned(expression, names):
    found = {n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)}
    return [n for n in names if n in found]


@pytest.mark.parametrize("name", sorted(ROWS))
def test_function(name):
    jax_modules()
    expression, values = ROWS[name], arguments()
    inputs = mentioned(expression, values)
    text = f"def f({', '.join(inputs)}):\n    return {expression}\n"
    args = [values[n] for n in inputs]
    theirs = {n: importlib.import_module(f"jax.scipy.{n}") for n in mentioned(expression, FOLDERS)}
    mine = {n: importlib.import_module(f"scipy.{n}") for n in theirs}
    f = define(text, "f", {"np": np, **mine})
    cotangent = np.random.default_rng(3).standard_normal(np.shape(f(*args)))
    expected = jax_gradients(define(text, "f", {"np": np, **theirs}), args, inputs, cotangent)
    compare(ours(f, args, tuple(inputs), cotangent), expected)


def common(folder):
    """The functions of a folder of SciPy, with a derivative here, that JAX has as well."""
    mine, theirs = (importlib.import_module(f"{m}.{folder}") for m in ("scipy", "jax.scipy"))
    for name in vars(theirs):
        found = getattr(mine, name, None)
        if name[0] == "_" or found is None or isinstance(found, type):
            continue
        if folder == "stats" and not callable(getattr(theirs, name)):
            methods = (m for m in vars(getattr(theirs, name)) if hasattr(found, m))
            yield from (f"{name}.{m}" for m in methods if has_derivative(getattr(found, m)))
        elif callable(found) and has_derivative(found):
            yield f"linalg.{name}" if folder == "linalg" else name


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_function_that_jax_has_is_compared(folder):
    jax_modules()
    missing = {n for n in common(folder) if n not in ROWS and not WITHOUT & {n, f"{folder}.{n}"}}
    assert not missing
