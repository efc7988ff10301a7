"""Branches, while loops, break, continue, returns from inside."""

import numpy as np

from .registry import sample


def branches(x, kind):
    if kind == "square":
        y = x * x
    elif kind == "exp":
        y = np.exp(x)
    else:
        y = x
    return y * x


sample(branches, lambda r: (0.7, "square"))
sample(branches, lambda r: (0.7, "exp"))
sample(branches, lambda r: (0.7, "other"))


def one_armed(x, y):
    if x > y:
        x = x * y
    return x + y**2


sample(one_armed, lambda r: (2.0, 1.0), (0, 1))
sample(one_armed, lambda r: (1.0, 2.0), (0, 1))


def early_returns(x):
    if x < 0.0:
        return -x * x
    y = np.sqrt(x)
    if y > 2.0:
        return y + x
    return y * x


sample(early_returns, lambda r: (-1.3,))
sample(early_returns, lambda r: (0.6,))
sample(early_returns, lambda r: (6.1,))


def return_in_loop(x, limit):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] ** 2
        if s > limit:
            return s * x[0]
    return s


sample(return_in_loop, lambda r: (np.array([1.0, 2.0, 3.0, 4.0]), 10.0))
sample(return_in_loop, lambda r: (np.array([1.0, 2.0, 3.0, 4.0]), 100.0))


def breaks_and_continues(x):
    s = 0.0
    p = 1.0
    for v in x:
        if v < 0.0:
            continue
        if v > 3.0:
            break
        s += v * p
        p *= v
    return s + p


sample(breaks_and_continues, lambda r: (np.array([1.0, -2.0, 1.5, 0.7, 4.0, 2.0]),))


def halving(x):
    n = 0
    while x > 1.0:
        x = x / 2.0
        n = n + 1
    return x * x + n


sample(halving, lambda r: (11.3,))
sample(halving, lambda r: (0.3,))


def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


sample(newton_sqrt, lambda r: (2.3,))


def while_true(x):
    s = 0.0
    k = 1
    while True:
        s += np.sin(k * x)
        k += 1
        if k > 4:
            break
    return s


sample(while_true, lambda r: (r.standard_normal(2),))


def while_else(x, n):
    i = 0
    y = 1.0
    while i < n:
        if x > 5.0:
            break
        y = y * x
        i += 1
    else:
        y = y + x
    return y


sample(while_else, lambda r: (1.2, 4))
sample(while_else, lambda r: (5.2, 4), gradient=lambda x, n, ct: 0.0)


def bisection(f0, n):
    lo = 0.0
    hi = f0 + 1.0
    for _ in range(n):
        mid = 0.5 * (lo + hi)
        if mid * mid > 2.0:
            hi = mid
        else:
            lo = mid
    return 0.5 * (lo + hi)


sample(bisection, lambda r: (1.37, 6))


def nested_break(X):
    total = 0.0
    for i in range(X.shape[0]):
        part = 0.0
        for j in range(X.shape[1]):
            if X[i, j] < -1.0:
                break
            part += X[i, j] ** 2
        if part > 8.0:
            continue
        total += part * (i + 1)
    return total


sample(nested_break, lambda r: (np.array([[1.0, 0.5, 2.0], [0.3, -1.5, 9.0], [2.0, 2.5, 1.0]]),))


def branch_in_loop(x):
    y = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            y = y + np.log(x[i])
        else:
            y = y * x[i]
    return y


sample(branch_in_loop, lambda r: (np.array([0.5, 1.5, -0.7, 2.0, -0.3]),))


def branch_on_array(x):
    if np.any(x > 2.0):
        return np.sum(x) ** 2
    if np.all(x < 0.0) or not x.size:
        return np.prod(x)
    return np.sum(x * x)


sample(branch_on_array, lambda r: (np.array([0.5, 2.5]),))
sample(branch_on_array, lambda r: (np.array([-0.5, -2.5]),))
sample(branch_on_array, lambda r: (np.array([-0.5, 1.5]),))


def variables_of_one_branch(x, flag):
    if flag:
        a = np.sin(x)
        b = a * a
    if flag:
        return a + b
    return x * 3.0


sample(variables_of_one_branch, lambda r: (0.6, True))
sample(variables_of_one_branch, lambda r: (0.6, False))


def swap_in_branch(x, y):
    a, b = x, y
    if x < y:
        a, b = b, a
    return a - b * b


sample(swap_in_branch, lambda r: (0.6, 1.1), (0, 1))
sample(swap_in_branch, lambda r: (1.6, 1.1), (0, 1))


def optional_argument(x, bias=None, scale=2.0):
    if bias is None:
        bias = 0.5
    y = scale * x + bias
    if isinstance(y, float):
        return y * y
    return np.sum(y * y)


sample(optional_argument, lambda r: (0.6,))
sample(optional_argument, lambda r: (r.standard_normal(3), r.standard_normal(3)), ("x", "bias"))


def collatz(x, n):
    """The path depends on an integer, the value on a float."""
    steps = 0
    while n != 1:
        if n % 2:
            n = 3 * n + 1
            x = np.sin(x) + x
        else:
            n //= 2
            x = x * 0.9
        steps += 1
        if steps > 50:
            raise RuntimeError("too long")
    return x


sample(collatz, lambda r: (0.8, 6))


def _per_unit(x, a):
    """Numbers, lists and arrays, as the callers of a library have them."""
    if isinstance(x, (list, tuple)):
        x = np.array(x)
    if isinstance(a, (int, float)) and not isinstance(a, bool):
        a = np.full(len(x), a) if np.ndim(x) else a
    elif not hasattr(a, "shape"):
        a = np.asarray(a)
    return x / a if np.isscalar(x) else x * a


def arguments_of_any_class(x, a):
    if x.ndim == 1:
        x = x[None, :]
    if len(x.shape) > 2 or isinstance(x, float):
        return x
    parts = _per_unit(x[0], a), _per_unit([x[0, 0], a], x[0, :2]), _per_unit(a, 2)
    return parts[0] @ x[-1] + np.sum(parts[1] ** 2) + parts[2]


sample(arguments_of_any_class, lambda r: (r.uniform(0.5, 1.5, 3), 0.7), (0, 1))
sample(arguments_of_any_class, lambda r: (r.uniform(0.5, 1.5, (2, 3)), 1.3), (0, 1))


def number_or_array(x, n):
    total = 0.0
    for k in range(n):
        if isinstance(x, float):
            x = np.array([x, x * k])
        total = total + np.sum(x**2) * (2.0 if np.isscalar(total) else 3.0)
        if isinstance(total, np.ndarray):
            total = total[0]
    return total


sample(number_or_array, lambda r: (0.8, 3))
sample(number_or_array, lambda r: (r.standard_normal(2), 3))


def above_the_precision(x):
    eps = np.finfo(x.dtype).eps
    return np.sum(np.log(np.clip(x, eps, 1 - np.finfo(float).eps)) * np.finfo("float64").resolution)


sample(above_the_precision, lambda r: (r.uniform(0.2, 0.8, 3),), tolerance=1e-5)
