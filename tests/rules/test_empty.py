"""Arrays without elements: gradients and tangents have their shapes, and the rest is right."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient, define

NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
NONE, ROWS, WIDE = np.zeros(0), np.zeros((0, 3)), np.zeros((2, 0))
SOME, FULL = np.array([0.3, -0.7, 1.1]), np.array([[0.2, 0.5, -0.4], [1.0, 0.1, 0.6]])

CASES = {
    "np.sin(x) * y": (NONE, NONE),
    "x * y + y": (ROWS, SOME),
    "np.where(x > 0, x, y)": (WIDE, np.zeros((2, 1))),
    "np.sum(x) + np.sum(y, axis=0)": (NONE, FULL),
    "np.sum(x, axis=0) * np.prod(x, axis=0) + y": (ROWS, SOME),
    "np.cumsum(x, axis=1).sum() + y": (WIDE, SOME),
    "np.cumprod(x) * np.sum(y)": (NONE, SOME),
    "np.max(x, axis=1).sum() + y": (ROWS, SOME),
    "np.sort(x)[:2].sum() * y": (NONE, SOME),
    "x @ y": (WIDE, np.zeros((0, 3))),
    "np.dot(x, y.T)": (ROWS, FULL),
    "np.einsum('ij,j->i', x, y)": (ROWS, SOME),
    "np.outer(x, y).sum() + y": (NONE, SOME),
    "np.concatenate([x, y])": (ROWS, FULL),
    "np.stack([x, x], axis=1).sum() + y": (ROWS, SOME),
    "np.reshape(x, (0, 2)).T @ np.zeros((0, 1)) + np.sum(y)": (NONE, SOME),
    "np.pad(x, 1) * np.sum(y)": (NONE, SOME),
    "np.resize(x, (2, 2)) * y[0]": (NONE, SOME),
    "np.trim_zeros(x).sum() + y": (NONE, SOME),
    "np.trim_zeros(x * 0.0).sum() + y": (SOME, SOME),
    "np.linalg.norm(x) + y": (ROWS, SOME),
    "np.linalg.norm(x, axis=0) * y": (ROWS, SOME),
    "np.diff(x, axis=1).sum() + y": (ROWS, SOME),
    "np.repeat(x, 3, axis=0) * y": (ROWS, SOME),
    "np.take(y, np.zeros(0, int)) * x": (NONE, SOME),
    "y[np.zeros(3, bool)] * x": (NONE, SOME),
    "np.dot(np.fft.rfft(y).real, y[:2]) + x": (NONE, SOME),
}


@pytest.mark.parametrize("expression", CASES)
def test_empty(expression):
    f = define(f"def f(x, y):\n    return {expression}\n", "f", {"np": np})
    args = CASES[expression]
    check_gradient(f, args, (0, 1))
    value, tangent = srcdiff.jvp(f, args, tuple(map(np.ones_like, args)), unused="zeros")
    assert np.shape(tangent) == np.shape(value)


LINE, TALL = np.zeros((3, 0)), np.zeros((0, 4))
CUBE, BLOCK = np.zeros((2, 3, 0)), np.zeros((0, 3, 4))
# Of nothing at all, or over an axis without elements: many are nan, and NumPy warns.
OF_NOTHING = {
    "np.mean(x)": (NONE, ROWS, LINE), "np.mean(x, axis=(0, 1))": (ROWS, LINE),
    "np.mean(x, axis=0)": (NONE, ROWS, WIDE), "np.mean(x, dtype=np.float64)": (NONE,),
    "np.mean(x[x > 0.0])": (SOME * 0.0, FULL * 0.0, NONE), "np.mean(x[:0])": (SOME, FULL),
    "np.var(x)": (NONE, ROWS, LINE), "np.var(x, axis=0, ddof=1)": (ROWS, WIDE),
    "np.var(x, ddof=1)": (NONE,), "np.var(x, dtype=np.float64)": (NONE,),
    "np.var(x, mean=np.zeros(()))": (NONE,), "np.var(x, 1, ddof=1, mean=np.zeros((2, 1)))": (WIDE,),
    "np.std(x)": (NONE, ROWS, LINE), "np.std(x, 1, ddof=1, mean=np.zeros((2, 1)))": (WIDE,),
    "np.nanstd(x, 0, ddof=1)": (TALL,), "np.nanvar(x, 0, ddof=1)": (TALL,),
    "np.nanmean(x)": (NONE, ROWS), "np.average(x)": (NONE, ROWS, LINE),
    "np.cov(x)": (NONE, LINE), "np.cov(x, rowvar=False)": (ROWS,), "np.cov(x, x)": (NONE,),
    "np.diff(x, 2)": (LINE, NONE, np.ones(1), np.ones((2, 1))), "np.diff(x, 3, 0)": (ROWS, SOME),
    "np.diff(x, prepend=0.0)": (NONE, LINE), "np.diff(x, append=1.0)": (NONE, LINE),
    "np.diff(x, prepend=x, append=2.0)": (NONE,),
    "np.ediff1d(x)": (NONE, ROWS, WIDE), "np.ediff1d(x, 1.0, np.zeros(0))": (NONE,),
    "np.ediff1d(x, 1.0, np.zeros(2))": (NONE,),
    "np.resize(x, (2, 2))": (ROWS, WIDE), "np.resize(x, 7)": (NONE,),
    "np.max(x, initial=0.1)": (NONE, ROWS), "np.max(x, 0, initial=0.1)": (ROWS,),
    "np.min(x, 0, initial=0.1)": (ROWS,), "np.max(x, 0, where=True, initial=0.1)": (ROWS,),
    "np.min(x, where=x > 0.0, initial=9.0)": (NONE, ROWS),
    "np.max(x[x > 9.0], initial=0.5)": (SOME,), "np.nanmax(x, 0, initial=0.1)": (NONE, ROWS),
    "np.nanmin(x, initial=0.1)": (NONE, ROWS, LINE),
    "np.nanmin(x, where=x > 0.0, initial=9.0)": (NONE, ROWS),
    "np.prod(x, axis=(0, 2))": (CUBE, BLOCK, np.zeros((2, 0, 4))),
    "np.linalg.norm(x)": (NONE, ROWS), "np.linalg.norm(x, 1)": (LINE,),
    "np.linalg.norm(x, 2)": (TALL, LINE), "np.linalg.norm(x, np.inf)": (TALL,),
    "np.linalg.norm(x, 1, (2, 0))": (BLOCK,), "np.linalg.norm(x, 2, (0, 2), True)": (BLOCK, CUBE),
    "np.linalg.matrix_norm(x, ord=1)": (CUBE,), "np.linalg.norm(x, 'nuc')": (TALL, LINE),
    "np.linalg.lstsq(x, np.zeros((len(x), 3)), None)[0]": (np.zeros((0, 2)), np.zeros((4, 0))),
    "np.linalg.lstsq(x, np.zeros(len(x)), None)[0]": (TALL, WIDE),
    "np.histogram(x, 4)[1]": (NONE, ROWS, WIDE), "np.histogram(x, 3, weights=x)[0]": (NONE,),
    "np.histogram_bin_edges(x, 4)": (NONE, ROWS),
    "np.histogramdd(np.zeros((0, 2)), 3, weights=x)[0]": (NONE,),
    "np.median(x)": (NONE, ROWS), "np.nanmedian(x)": (NONE, ROWS, LINE),
    "np.nanmedian(x, 1)": (WIDE,), "np.nanquantile(x, 0.4)": (NONE,),
    "np.nanquantile(x, 0.3, 1)": (WIDE,), "np.nanpercentile(x, 40)": (NONE,),
    "np.nanquantile(x, [0.1, 0.2], 0, keepdims=True)": (WIDE, LINE, ROWS),
    "np.nanmedian(x[x > 9.0])": (SOME,), "np.nanmedian(x, 0, keepdims=True)": (ROWS,),
    "np.apply_along_axis(np.cumsum, 0, x)": (TALL,), "np.apply_along_axis(np.sum, 1, x)": (LINE,),
    "np.poly(x)": (NONE,), "np.roots(x)": (NONE,), "np.trim_zeros(x)": (NONE, 0.0 * SOME),
    "np.polymul(x, x)": (NONE,), "np.polymul(x, np.ones(2))": (NONE,),
    "np.polymul(np.ones(2), x)": (NONE,), "np.unique(x)": (NONE, ROWS),
    "np.unique_values(x)": (NONE, ROWS),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("expression", OF_NOTHING)
def test_of_nothing(expression):
    if "unique_values" in expression and not hasattr(np, "unique_values"):
        pytest.skip("a function of a later NumPy")
    f = define(f"def f(x):\n    return {expression}\n", "f", {"np": np})
    for x in OF_NOTHING[expression]:
        if "norm" in expression and NUMPY < (2, 4):
            continue  # the largest of no singular values was an error
        expected = f(x)
        found = srcdiff.grad(f)(x, grad_outputs=np.ones_like(expected))
        assert found.shape == x.shape and found.dtype == x.dtype
        assert not found.any() or "nan" in str(expected)
        value, tangent = srcdiff.jvp(f, (x,), (np.ones_like(x),))
        np.testing.assert_array_equal(value, expected)
        assert np.shape(tangent) == np.shape(expected)


ONE, TWO = np.array([2.0]), np.array([1.0, 4.0])
# The variance of what has no degrees of freedom: nan (infinite, given a mean), with its warning.
TOO_FEW = {
    "np.var(x, ddof=1)": (ONE, 2.0, np.float32([2.0])), "x.var(ddof=1)": (ONE,),
    "np.var([x, x], ddof=2)": (2.0,), "np.var(x, ddof=2)": (ONE, TWO * 0.0 + 1.0, 2.0),
    "np.var(x, 0, ddof=1)": (TWO[None],), "np.std(x, ddof=1)": (ONE, 2.0),
    "x.std(ddof=3)": (TWO * 0.0,), "np.std(x, 0, ddof=1, keepdims=True)": (TWO[None],),
    "np.var(x, ddof=1, mean=x)": (ONE, 2.0), "np.std(x, ddof=1, where=x > 1.0)": (ONE,),
    "np.nanvar(x, ddof=1)": (ONE,), "np.cov(x)": (ONE,), "np.var(x, ddof=len(x))": (TWO * 0.0,),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("expression", TOO_FEW)
def test_too_few(expression):
    f = define(f"def f(x):\n    return np.sum({expression})\n", "f", {"np": np})
    for x in TOO_FEW[expression]:
        value, found = srcdiff.value_and_grad(f)(x)
        assert np.isnan(f(x)) and np.isnan(value)
        assert np.shape(found) == np.shape(x) and np.all(np.isnan(found))
        assert np.asarray(found).dtype == np.asarray(x).dtype
        assert np.isnan(srcdiff.jvp(f, (x,), (x + 1.0,))[1])
        assert not np.any(np.isfinite(srcdiff.hessian(f)(x)))


def test_fewer_than_none():
    """NumPy divides by 0 where less is left."""
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(
            srcdiff.grad(lambda x: np.var(x, ddof=3))(TWO), [-np.inf, np.inf]
        )


STORES = ("np.put(x, [0, 2], y)", "np.putmask(x, x > 0.0, y)", "x.put([1], y)")


@pytest.mark.parametrize("statement", STORES)
def test_stores_of_nothing(statement):
    f = define(f"def f(x, y):\n    x = x * 2.0\n    {statement}\n    return x\n", "f", {"np": np})
    check_gradient(f, (SOME, NONE), (0, 1))
    value, _ = srcdiff.jvp(f, (SOME, NONE), (SOME, NONE))
    np.testing.assert_array_equal(value, 2.0 * SOME)


SQUARE, NO_ROWS, NO_COLUMNS = np.zeros((0, 0)), np.zeros((0, 3)), np.zeros((3, 0))
# Of SciPy, where it has a value itself.
OF_SCIPY = {
    "linalg.lu(x)": (SQUARE, NO_ROWS, NO_COLUMNS, NO_ROWS[:, :1], NO_COLUMNS[:1]),
    "linalg.lu(x, True)": (SQUARE, NO_ROWS, NO_COLUMNS, NO_ROWS[:, :1], NO_COLUMNS[:1]),
    "linalg.lu_factor(x)[0]": (SQUARE, NO_ROWS, NO_COLUMNS, NO_ROWS[:, :1], NO_COLUMNS[:1]),
    "linalg.expm(x)": (SQUARE,),
    "linalg.solve_banded((1, 1), NO_COLUMNS, x)": (NONE,),
    "linalg.lu_solve((x, np.zeros(0, int)), x)": (SQUARE,),
    "linalg.qr(x)": (SQUARE, NO_ROWS), "linalg.svd(x, False)": (SQUARE, NO_ROWS, NO_COLUMNS),
    "linalg.svdvals(x)": (SQUARE, NO_ROWS), "linalg.eigh(x)": (SQUARE,),
    "linalg.eigvalsh(x)": (SQUARE,), "linalg.cholesky(x)": (SQUARE,), "linalg.det(x)": (SQUARE,),
    "linalg.inv(x)": (SQUARE,), "linalg.pinv(x)": (SQUARE, NO_ROWS),
    "linalg.sqrtm(x)": (SQUARE,), "linalg.solve(x, x)": (SQUARE,),
    "linalg.solve_triangular(x, x)": (SQUARE,), "linalg.solve_sylvester(x, x, x)": (SQUARE,),
    "linalg.block_diag(x, x)": (SQUARE, NO_ROWS), "linalg.toeplitz(x)": (NONE,),
    "special.logsumexp(x)": (NONE,), "special.logsumexp(x, 1)": (NO_ROWS, NO_COLUMNS),
    "special.logsumexp(x, b=x)": (NONE,), "special.logsumexp(x, b=2.0)": (NONE,),
    "special.logsumexp(x, axis=1, b=x)": (NO_ROWS, NO_COLUMNS),
    "special.logsumexp(x, return_sign=True)": (NONE,),
    "special.softmax(x, 0)": (NO_COLUMNS,), "special.log_softmax(x, 0)": (NO_COLUMNS,),
    "special.erf(x) * special.gammaln(x)": (NONE, NO_ROWS),
    "ndimage.gaussian_filter(x, 1.0)": (NONE, NO_ROWS),
    "ndimage.gaussian_filter(x, 1.0, 1, mode='nearest')": (NONE, NO_ROWS, NO_COLUMNS),
    "ndimage.gaussian_filter(x, (1.0, 0.5), mode='mirror')": (NO_ROWS, NO_COLUMNS),
    "ndimage.gaussian_filter1d(x, 1.0, 0, mode='nearest')": (NONE, NO_ROWS, NO_COLUMNS),
    "ndimage.uniform_filter(x, 4)": (NONE, NO_ROWS, NO_COLUMNS),
    "ndimage.uniform_filter1d(x, 2, mode='wrap')": (NONE, NO_ROWS, NO_COLUMNS),
    "ndimage.convolve(x, FULL)": (NO_ROWS, NO_COLUMNS, SQUARE),
    "ndimage.convolve(x, FULL, mode='constant', cval=1.0)": (NO_ROWS, NO_COLUMNS, SQUARE),
    "ndimage.correlate(x, SOME, mode='mirror')": (NONE,),
    "ndimage.correlate(x, SOME, mode='constant')": (NONE,),
    "ndimage.convolve1d(x, SOME, 0, mode='nearest')": (NONE, NO_ROWS, NO_COLUMNS),
    "ndimage.sobel(x) + ndimage.laplace(x)": (NONE, NO_ROWS, NO_COLUMNS),
    "signal.fftconvolve(x, SOME)": (NONE,), "signal.oaconvolve(SOME, x)": (NONE,),
    "signal.fftconvolve(x, x, 'same')": (NONE,),
    "signal.fftconvolve(x, x, 'valid', axes=0)": (NONE, NO_COLUMNS),
    "signal.convolve2d(x, FULL)": (NO_ROWS, NO_COLUMNS, SQUARE),
    "signal.convolve2d(FULL, x, 'same', 'symm')": (NO_ROWS, SQUARE),
    "signal.convolve2d(x, FULL, fillvalue=2.5)": (NO_ROWS, NO_COLUMNS),
    "signal.correlate2d(x, FULL, 'same')": (NO_ROWS, NO_COLUMNS, SQUARE),
    "signal.correlate2d(FULL, x)": (NO_ROWS, SQUARE),
    "signal.correlate2d(x, FULL, 'valid')": (SQUARE,),
    "stats.norm.logpdf(x)": (NONE, NO_ROWS), "integrate.trapezoid(x, axis=0)": (NO_COLUMNS,),
    "integrate.odeint(lambda y, t: y * y, SOME, x)": (NONE,),
    "stats.gamma.logpdf(x, 2.0)": (NONE,),
    "stats.multivariate_normal.logpdf(x, None, np.eye(3))": (NO_ROWS,),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("expression", OF_SCIPY)
def test_of_nothing_in_scipy(expression):
    pytest.importorskip("scipy", reason="SciPy is an extra")
    from scipy import integrate, linalg, ndimage, signal, special, stats

    spaces = {"integrate": integrate, "linalg": linalg, "ndimage": ndimage, "special": special}
    spaces |= {"signal": signal, "stats": stats, "np": np}
    spaces |= {"NO_COLUMNS": NO_COLUMNS, "SOME": SOME, "FULL": FULL}
    f = define(f"def f(x):\n    return {expression}\n", "f", spaces)
    if "expm" in expression and NUMPY < (2, 4):
        pytest.skip("SciPy takes a norm of nothing for the derivative, which was an error")
    for x in OF_SCIPY[expression]:
        expected = f(x)
        found = srcdiff.grad(f)(x, grad_outputs=structures(expected))
        assert found.shape == x.shape and found.dtype == x.dtype
        _, tangent = srcdiff.jvp(f, (x,), (np.ones_like(x),))
        assert structures(tangent, np.shape) == structures(expected, np.shape)


def structures(value, fn=np.ones_like):
    """A function of every array of a structure."""
    if isinstance(value, tuple):
        return tuple(structures(v, fn) for v in value)
    return fn(value)


@pytest.mark.parametrize("mode", ["reflect", "constant"])
def test_the_kernel_of_a_filter_of_nothing(mode):
    ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is an extra")
    for name in ("convolve", "correlate"):
        text = f"def f(w, x):\n    return np.sum(ndimage.{name}(x, w, mode={mode!r})) + w[0, 0]\n"
        f = define(text, "f", {"np": np, "ndimage": ndimage})
        for x in (NO_ROWS, NO_COLUMNS):
            check_gradient(f, (FULL, x), (0,))
