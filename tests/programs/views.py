"""Views, and writes through them."""

import numpy as np

from .registry import sample


def write_through_slice(x):
    y = x.copy()
    v = y[1:3]
    v[0] = 5.0 * x[0]
    v *= 2.0
    return y


sample(write_through_slice, lambda r: (r.standard_normal(4),))


def write_through_transpose(A):
    B = A.copy()
    T = B.T
    T[0] = A[1, :2] if A.shape[1] == 2 else A[:, 1]
    T[1, 0] += B[0, 0] * A[0, 1]
    return B


sample(write_through_transpose, lambda r: (r.standard_normal((3, 3)),))


def write_through_reshape(x):
    y = x * 1.0
    m = y.reshape(2, 3)
    m[0, :] = m[1, :] * m[0, ::-1].copy()
    m[:, 1] += 1.0
    return y


sample(write_through_reshape, lambda r: (r.standard_normal(6),))


def row_views(A, x):
    B = np.zeros_like(A)
    for i in range(A.shape[0]):
        row = B[i]
        row[:] = A[i] * x
        row[0] = row[1] * row[2]
    return B


sample(row_views, lambda r: (r.standard_normal((2, 3)), r.standard_normal(3)), (0, 1))


def ravel_view(A):
    B = A.copy()
    flat = B.ravel()
    flat[::2] *= 3.0
    flat[1] = flat[0] ** 2
    return B * A


sample(ravel_view, lambda r: (r.standard_normal((2, 3)),))


def view_of_view(x):
    y = x.copy()
    a = y[::2]
    b = a[1:]
    b[0] = y[0] * y[1]
    a[0] = b[0] + y[3]
    c = b
    c += 1.0
    return y


sample(view_of_view, lambda r: (r.standard_normal(6),))


def read_view_after_write(x):
    y = x.copy()
    v = y[:2]
    s = np.sum(v * v)
    y[0] = x[2] * s
    t = np.sum(v * v)
    return s * t


sample(read_view_after_write, lambda r: (r.standard_normal(3),))


def swapped_axes_view(A):
    B = A * 1.0
    S = np.swapaxes(B, 0, 1)
    S[0, 1] = S[1, 0] * 2.0
    d = B[0]
    d -= A[1]
    return B


sample(swapped_axes_view, lambda r: (r.standard_normal((2, 3)),))


def newaxis_view(x):
    y = x.copy()
    col = y[:, None]
    col[1, 0] = y[0] * 3.0
    col *= y[2]
    return y


sample(newaxis_view, lambda r: (r.standard_normal(3),))


def copies_are_no_views(x):
    y = x.copy()
    z = y[[0, 1]]
    w = y[:2].copy()
    z[0] = 100.0 * x[2]
    w += 1.0
    return np.sum(y * y) + np.sum(z * w)


sample(copies_are_no_views, lambda r: (r.standard_normal(3),))


def diagonal_by_stride(A):
    B = A.copy()
    n = B.shape[0]
    d = B.reshape(-1)[:: n + 1]
    d *= A[0]
    return B @ A


sample(diagonal_by_stride, lambda r: (r.standard_normal((3, 3)),))


def moving_window(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        w = y[i - 1 : i + 2]
        w[1] = 0.25 * w[0] + 0.5 * w[1] * w[1] + 0.25 * w[2]
    return y


sample(moving_window, lambda r: (r.standard_normal(5),))


def numbers_and_arrays_change_places(x, n):
    a, b, s, t = x * 1.0, x * 2.0, x[0], x[1] * 3.0
    for k in range(n):
        a, b, s, t = b, a, t, s
        c = [a, b][k]
        c[0] = c[1] * s
    return np.sum(a * b) * s


sample(numbers_and_arrays_change_places, lambda r: (r.standard_normal(3), 2))


def copies_of_two_asked_for_their_shape(a, b, second):
    x = a.copy()
    if second:
        x = b.copy()
    n = x.shape[0]
    out = np.zeros_like(x)
    out[0] = a[1]
    return np.sum(a[:n] ** 2) * out + np.sum(b)


for _second in (False, True):
    sample(
        copies_of_two_asked_for_their_shape,
        lambda r, s=_second: (r.standard_normal(4), r.standard_normal(3), s),
        ("a", "b"),
    )


def swapped_view_after_an_operator_under_a_second_name(A):
    m = A + 1.8
    k = m
    k /= 1.9
    v = m.swapaxes(0, 1)
    v -= A.T
    return m


sample(swapped_view_after_an_operator_under_a_second_name, lambda r: (r.standard_normal((2, 3)),))


def transposed_before_a_whole_update(A):
    m = np.sin(A)
    m += m.T + m
    v = np.swapaxes(m, 0, 1)
    m -= A.T
    w = np.rot90(v)
    return np.sum(np.cos(m) * w)


sample(transposed_before_a_whole_update, lambda r: (r.standard_normal((3, 3)),))


def transposes_subtracted_in_a_row(A):
    m = np.zeros_like(A)
    m += A
    m -= m + m.T
    m -= A.T
    return np.cos(m)


sample(transposes_subtracted_in_a_row, lambda r: (r.standard_normal((3, 3)),))


def real_parts_written(x):
    y = x * 2.0
    r = np.real(y)
    s = y.real[::-1]
    y *= x
    r -= s
    s /= 1.5
    return y * r


sample(real_parts_written, lambda r: (r.standard_normal(4),))


def real_part_of_complex_numbers_written(x):
    z = x * (1.0 + 2.0j)
    r = np.real(z)
    r += x
    z *= 1.5
    return np.abs(z) ** 2 + r


sample(real_part_of_complex_numbers_written, lambda r: (r.standard_normal(4),))


def method_view_written(x):
    y = x * 2.0
    v = y.view()
    y *= x
    v[1:] *= 2.0
    for k in range(2):
        v = v[::-1].view()
        v[k] -= y[k + 1]
    return np.sum(v * y) + v


sample(method_view_written, lambda r: (r.standard_normal(4),))


def row_flattened_and_written(x):
    m = np.zeros((3, 4)) + x
    v = m[1]
    w = v.ravel()
    v *= 1.9
    m[2] -= w
    return w * np.sin(m)


sample(row_flattened_and_written, lambda r: (r.standard_normal(4),))


def column_flattened_and_written(x):
    m = np.zeros((3, 3)) + x
    v, w = m[:, 1].ravel(), np.ravel(m[0, ::2])
    m *= 1.9
    v -= 0.3
    return np.sum(v * m) + np.sum(w)


sample(column_flattened_and_written, lambda r: (r.standard_normal(3),))
