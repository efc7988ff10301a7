"""Functions of NumPy whose arguments broadcast, wrap or are cut off, and numbers they give."""

import numpy as np

from .registry import sample


def higher_quantile_with_two_names(x):
    s = np.quantile(x, 0.4, method="higher")
    u = s
    s += 1.0
    return s * u


def nearest_percentile_with_two_names(x):
    s = np.percentile(x, 40, method="nearest")
    u = s
    s += x[0]
    return s * u


def median_without_nan_with_two_names(x):
    s = np.nanmedian(x)
    u = s
    s *= 3.0
    return s * u + s


def variance_of_some_with_two_names(x):
    s = np.var(x, where=x > -9.0, ddof=1)
    t = np.nanvar(x)
    u, v = s, t
    s += 1.0
    t += x[1]
    return s * u * t * v


def interpolated_number_with_two_names(x):
    s = np.interp(0.3, np.arange(5.0), x, left=0.0)
    u = s
    s += 1.0
    return s * u


for _function in (
    higher_quantile_with_two_names, nearest_percentile_with_two_names,
    median_without_nan_with_two_names, variance_of_some_with_two_names,
    interpolated_number_with_two_names,
):  # fmt: skip
    sample(_function, lambda r: (r.standard_normal(5),))


def pieces_by_one_condition(x):
    return np.piecewise(x, x < 0.0, [lambda v: -v, lambda v: v**2])


def piece_of_the_rest(x):
    return np.piecewise(x, [x < 0.0], [lambda v: v * 2.0, lambda v: v - v.mean()])


def piece_of_the_rest_alone(x):
    return np.piecewise(x, [x <= 0.5], [lambda v: v * 3.0, lambda v: np.sqrt(v)])


def pieces_by_names(x):
    conditions = [x < 0.0]
    pieces = [lambda v: v * 2.0, lambda v: np.sqrt(v)]
    return np.piecewise(x, conditions, pieces)


sample(pieces_by_names, lambda r: (np.array([-0.7, 1.3, 0.4, 2.0]),))
sample(pieces_by_one_condition, lambda r: (np.array([-0.7, 1.3]),))
sample(piece_of_the_rest, lambda r: (np.array([-0.7, 1.3, 0.4, 2.0]),))
sample(piece_of_the_rest_alone, lambda r: (np.array([-1.0, 1.0, 2.0]),))


def whole_numbers_of_the_first_row(x):
    return np.apply_along_axis(lambda r: r.argmax() if r[0] < 0.0 else 1.5 * r[0], 1, x) * x[:, 1]


def squares_of_columns(x):
    return np.apply_along_axis(lambda r: np.outer(r, r), 0, x)[0, 1, 2]


sample(whole_numbers_of_the_first_row, lambda r: (np.array([[-1.0, 2.0], [1.0, 3.0]]),))
sample(whole_numbers_of_the_first_row, lambda r: (np.array([[1.0, 3.0], [-1.0, 2.0]]),))
sample(squares_of_columns, lambda r: (r.standard_normal((2, 3)),))


def blocks_of_three_axes(x, y):
    return np.block([[x], [y]]) * np.block([[y], [x]])


def copied_block(x):
    y = np.block(x)
    y[0] = x[1] * y[0]
    return y * x


sample(blocks_of_three_axes, lambda r: tuple(r.standard_normal((2, 2, 2, 2))), (0, 1))
sample(copied_block, lambda r: (r.standard_normal(3),))


def curves_between_arrays(x):
    rising = np.geomspace(np.exp(x), 5.0 + x * x, 3)
    return rising * np.logspace(0.0, 1.0, 3, base=np.exp(x)) * np.linspace(x[0], x, 3)


sample(curves_between_arrays, lambda r: (r.standard_normal(3),))


def differences_of_sets(x):
    kept = np.setdiff1d(x, np.array([5.0]), True)
    return kept * np.intersect1d(x, np.sort(x), True) * np.setxor1d(x, np.array([7.0]), True)[:-1]


def trimmed_matrix(x):
    y = x * 1.0
    y[0] = 0.0
    z = np.trim_zeros(y)
    z[0] *= x[0]
    return np.sum(z) + y * x


sample(differences_of_sets, lambda r: (r.standard_normal(4),))
sample(trimmed_matrix, lambda r: (r.standard_normal((3, 4)),))


def areas_with_steps(x, y):
    own = np.trapezoid(x, dx=x[1:] ** 2)
    return own + np.trapezoid(y, dx=x[1:]) * np.trapezoid(x, y) * np.trapezoid(y, dx=x, axis=0)[:3]


sample(areas_with_steps, lambda r: (r.standard_normal(4), r.standard_normal((3, 4))), (0, 1))


def many_polynomials(p, x):
    return np.polyval(p, np.array([1.0, 2.0, 3.0])) * np.polyval(p, x) + np.polyval(p, 0.7)


def one_point(x, xp, fp):
    return np.interp(x, xp, fp) * x


def real_polynomial_of_complex_roots(p):
    return np.poly(np.roots(p))


sample(many_polynomials, lambda r: (r.standard_normal((3, 3)), r.standard_normal(3)), (0, 1))
sample(one_point, lambda r: (r.standard_normal(3), r.standard_normal(1), r.standard_normal(1)), 2)
sample(real_polynomial_of_complex_roots, lambda r: (np.array([1.0, 0.4, 2.0, 1.3]),))


def overlapping_pieces(x):
    a, b, c = np.split(x, [3, 1])
    return np.sum(a) * c + np.sum(b)


def inserted_parts(x):
    before = np.insert(x, -1, x[:2])
    return before[:5] * np.insert(x, [1, 3], [x[0], 2.0])[:5] * np.insert(x, [1, 1], x[2])[1:]


def chosen_from_a_row(x, y):
    return np.choose([[1], [0]], [x, y]) * np.choose([[0], [1]], [2.0 * x, y[0]])


for _function in (overlapping_pieces, inserted_parts):
    sample(_function, lambda r: (r.standard_normal(4),))
sample(chosen_from_a_row, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def scalars_as_columns(x):
    return np.column_stack([x[0], x[1] * x[2]]) * np.corrcoef(x)


def transforms_of_own_length(x):
    z = np.fft.rfftn(x, s=(4, -1), axes=(1, 0))
    w = np.fft.irfftn(x, s=(4, -1), axes=(1, 0))
    return np.abs(z) * np.sum(w * np.abs(np.fft.fftn(x, s=(-1, 4), axes=(0, 1))))


sample(scalars_as_columns, lambda r: (r.standard_normal(3),))
sample(transforms_of_own_length, lambda r: (r.standard_normal((3, 4)),))
