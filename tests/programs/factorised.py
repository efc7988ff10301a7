"""Programs with matrix factorisations, norms and transforms, real and complex."""

import numpy as np

from .registry import sample


def spectral_function(a):
    w, v = np.linalg.eigh(a + a.T)
    return (v * np.exp(w)) @ v.T


sample(spectral_function, lambda r: (r.standard_normal((3, 3)),))


def hermitian_projector(a):
    w, v = np.linalg.eigh(a + np.conj(a.T))
    lowest = v[:, :1]
    return np.abs(lowest @ np.conj(lowest.T)) ** 2 * w[1]


sample(hermitian_projector, lambda r: (r.standard_normal((3, 3)) + 1j * r.standard_normal((3, 3)),))


def low_rank(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u[:, :2] * s[:2]) @ vh[:2]


sample(low_rank, lambda r: (r.standard_normal((4, 3)),))


def null_space(a):
    u, s, vh = np.linalg.svd(a)
    rest = u[:, 2:]
    return rest @ rest.T + s[0]


sample(null_space, lambda r: (r.standard_normal((4, 2)),))


def orthogonal_iteration(a):
    q = np.eye(3)[:, :2]
    for _ in range(3):
        q, r = np.linalg.qr(a @ q)
    return q @ np.diag(np.diag(r))


sample(orthogonal_iteration, lambda r: (r.standard_normal((3, 3)) + np.diag([4.0, 2.0, 1.0]),))


def complex_eigenvalues(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.real(w) ** 2) + np.sum(np.abs(v[:, 0]) ** 2 * np.arange(3.0))


sample(
    complex_eigenvalues,
    lambda r: (np.array([[1.0, -2.0, 0.3], [2.0, 1.0, 0.5], [0.1, 0.7, 4.0]]),),
)


def regression(a, b):
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=None)
    return np.sum(x * x) + residuals[0]


sample(regression, lambda r: (r.standard_normal((5, 2)), r.standard_normal(5)), (0, 1))


def norms(a):
    total = np.linalg.norm(a, 1) + np.linalg.norm(a, "nuc") * np.linalg.norm(a, -np.inf)
    return total + np.linalg.cond(a) + np.linalg.norm(a.ravel(), 3)


sample(norms, lambda r: (r.standard_normal((3, 3)) + np.diag([4.0, 2.0, 1.0]),))


def low_pass(x):
    spectrum = np.fft.rfft(x)
    response = 1.0 / (1.0 + 1j * np.arange(len(spectrum)))
    return np.fft.irfft(spectrum * response, len(x))


sample(low_pass, lambda r: (r.standard_normal(7),))


def power_spectrum(x):
    return np.abs(np.fft.fft2(x, norm="ortho")) ** 2


sample(power_spectrum, lambda r: (r.standard_normal((3, 4)),))


def quartiles(x):
    low, high = np.percentile(x, [25, 75], axis=1)
    return (x - np.median(x, axis=1, keepdims=True)) / (high - low)[:, None]


sample(quartiles, lambda r: (r.standard_normal((2, 5)),))


def smoothed_slopes(y):
    smooth = np.convolve(y, [0.25, 0.5, 0.25], mode="same")
    return np.gradient(smooth, 0.1) * np.trapezoid(y, dx=0.1)


sample(smoothed_slopes, lambda r: (r.standard_normal(6),))


def piecewise_law(x):
    return np.piecewise(x, [x < 0.0, x > 1.0], [lambda t: t * t, np.sin, 0.5]) * x


sample(piecewise_law, lambda r: (np.array([-0.5, 0.3, 1.4, 2.0]),))
