"""Functions as values: closures, dispatch, recursion, decorators, callbacks."""

import functools
import operator
from functools import reduce

import numpy as np

import srcdiff

from .registry import sample


def two(r):
    return 0.7, 1.3


def arrays(r):
    return r.standard_normal(3), r.standard_normal(3)


# --- integrators that take the right-hand side ---------------------------------------------------


def runge_kutta(f, y, t, h, steps, *args):
    for _ in range(steps):
        k1 = f(y, t, *args)
        k2 = f(y + 0.5 * h * k1, t + 0.5 * h, *args)
        k3 = f(y + 0.5 * h * k2, t + 0.5 * h, *args)
        k4 = f(y + h * k3, t + h, *args)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        t = t + h
    return y


def pendulum(y, omega, damping):
    def rhs(state, t):
        return np.array([state[1], -(omega**2) * np.sin(state[0]) - damping * state[1]])

    return runge_kutta(rhs, y, 0.0, 0.1, 4)


sample(pendulum, lambda r: (r.standard_normal(2), 1.3, 0.2), (0, 1, 2))


def lotka_volterra(y, t, a, b):
    return np.array([a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]])


def predators(y, a, b):
    return np.sum(runge_kutta(lotka_volterra, y, 0.0, 0.1, 3, a, b))


sample(predators, lambda r: (np.array([1.0, 0.5]), 1.1, 0.4), (0, 1, 2))


def any_flow(f, y):
    return runge_kutta(f, y, 0.1, 0.1, 3)


sample(any_flow, lambda r: (lambda y, t: -y * y * t, r.standard_normal(2)), 1)


def neural_ode(params, x):
    def layer(h, w, b):
        return np.tanh(w @ h + b)

    def field(h, t):
        for w, b in params:
            h = layer(h, w, b)
        return h * (1.0 + t)

    return np.sum(runge_kutta(field, x, 0.0, 0.2, 2) ** 2)


def _layers(r):
    return [(r.standard_normal((2, 2)), r.standard_normal(2)) for _ in range(2)]


sample(neural_ode, lambda r: (_layers(r), r.standard_normal(2)), (0, 1))


def leapfrog(force, q, p, steps):
    for _ in range(steps):
        p = p + 0.05 * force(q)
        q = q + 0.1 * p
        p = p + 0.05 * force(q)
    return q, p


def kepler(q, p, mass):
    q, p = leapfrog(lambda s: -mass * s / np.sum(s * s) ** 1.5, q, p, 3)
    return 0.5 * np.sum(p * p) - mass / np.sqrt(np.sum(q * q))


sample(kepler, lambda r: (np.array([1.0, 0.2]), np.array([0.1, 0.9]), 1.2), (0, 1, 2))


# --- closures ------------------------------------------------------------------------------------


def made_in_a_loop(x, w):
    fs = []
    for i in range(3):
        fs.append(lambda y, i=i: y * w**i)
    total = 0.0
    for f in fs:
        total += f(x)
    return total


sample(made_in_a_loop, two, (0, 1))


def bound_late(x, w):
    fs = []
    for i in range(3):
        fs.append(lambda y: y * w * (i + 1))
    total = 0.0
    for f in fs:
        total += f(x) ** 2
    return total


sample(bound_late, two, (0, 1))


def bound_late_in_a_list(x, w):
    fs = [lambda y: np.sin((k + 1) * y * w) for k in range(3)]
    return sum(f(x) for f in fs)


sample(bound_late_in_a_list, two, (0, 1))


def changed_after(x, w):
    a = x
    f = lambda y: y * a  # noqa: E731
    a = w * x
    return f(w)


sample(changed_after, two, (0, 1))


def cells_of_a_factory(x, w):
    def make(a):
        b = a * w
        return lambda y: y * b + a

    fs = [make(x * i) for i in range(4)]
    total = 0.0
    for f in fs:
        total += np.sin(total) * f(x) + f(w)
    return total


sample(cells_of_a_factory, two, (0, 1))


def cells_bound_after(x, w):
    def make(a):
        f = lambda y: y * b  # noqa: E731
        b = a * w
        return f

    fs = [make(x * (i + 1)) for i in range(4)]
    return sum([f(x) for f in fs])


sample(cells_bound_after, two, (0, 1))


def scaled_by(a):
    def inner(y):
        return lambda z: z * a * y

    return inner


def factories_of_factories(x, w):
    fs = []
    for i in range(3):
        fs.append(scaled_by(x * (i + 1))(w + i))
    return fs[0](x) * fs[1](w) + fs[2](1.0)


sample(factories_of_factories, two, (0, 1))


def cells_with_arrays(x, w):
    fs = []
    for i in range(3):
        v = x * w[i]
        fs.append(lambda y, v=v: np.sum(v * y))
    return sum(f(w) for f in fs) + fs[1](x)


sample(cells_with_arrays, arrays, (0, 1))


def popped_from_a_stack(x, w):
    stack = []
    for i in range(3):
        stack.append(lambda y, i=i: y * w + i)
    while stack:
        f = stack.pop()
        x = f(x)
    return x


sample(popped_from_a_stack, two, (0, 1))


def in_a_dict_made_by_a_loop(x, w):
    table = {}
    for i in range(3):
        table[i] = lambda y, i=i: y * w**i
    return table[0](x) + table[1](x) * table[2](w)


sample(in_a_dict_made_by_a_loop, two, (0, 1))


def swapped_functions(x, w):
    f = lambda y: y * w  # noqa: E731
    g = lambda y: y + w  # noqa: E731
    for _ in range(3):
        x = f(x)
        f, g = g, f
    return x


sample(swapped_functions, two, (0, 1))


def curried(x, w):
    add = lambda a: lambda b: lambda c: a * b + c  # noqa: E731
    return add(x)(w)(x * w)


sample(curried, two, (0, 1))


def composed_twice(x, w):
    def twice(h):
        return lambda y: h(h(y))

    return twice(twice(lambda y: np.sin(w * y)))(x)


sample(composed_twice, two, (0, 1))


def several_from_one_factory(x, w):
    def make(a):
        def f(y):
            return a * y

        def g(y):
            return y / a

        return f, g

    f, g = make(w)
    return f(x) * np.sin(g(x))


sample(several_from_one_factory, two, (0, 1))


def with_a_counter(x, w):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v
        return total

    return add(x) * add(w * x) + total


sample(with_a_counter, two, (0, 1))


def defined_twice(x, w, flag):
    if flag:

        def f(y):
            return y * w

    else:

        def f(y):
            return y + w * w

    return f(x)


sample(defined_twice, lambda r: (0.7, 1.3, True), (0, 1))
sample(defined_twice, lambda r: (0.7, 1.3, False), (0, 1))


def power(x, n, scale=1.0):
    return scale * x**n


cube = functools.partial(power, n=3)


def partials(x, w):
    f = functools.partial(lambda a, b, c: a * np.sin(b) + c, w)
    fs = []
    for i in range(3):
        fs.append(functools.partial(power, scale=w * i))
    total = cube(x) + cube(x, scale=w) + f(x, c=x * w)
    for g in fs:
        total += g(x, 2)
    return total


sample(partials, two, (0, 1))


def hooked(x, before=None, after=None):
    if before is not None:
        x = before(x)
    y = x * x
    return y if after is None else after(y)


def callbacks(x, w):
    return hooked(x) + hooked(x, np.sin) + hooked(w, after=lambda t: t * x)


sample(callbacks, two, (0, 1))


# --- Gaussian process kernels --------------------------------------------------------------------


def squared_exponential(scale):
    return lambda a, b: np.exp(-0.5 * np.sum((a - b) ** 2) / scale**2)


def inner_product(weight):
    return lambda a, b: weight * np.dot(a, b)


def plus(k1, k2):
    return lambda a, b: k1(a, b) + k2(a, b)


def times(k1, k2):
    return lambda a, b: k1(a, b) * k2(a, b)


def gram(kernel, points):
    n = len(points)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = kernel(points[i], points[j])
    return out


def gaussian_process(scale, weight, points, y):
    kernel = plus(
        squared_exponential(scale), times(inner_product(weight), squared_exponential(2.0 * scale))
    )
    k = gram(kernel, points) + 0.1 * np.eye(len(points))
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]


sample(
    gaussian_process,
    lambda r: (0.9, 0.4, r.standard_normal((3, 2)), r.standard_normal(3)),
    (0, 1, 2),
)


# --- reduce, map, filter -------------------------------------------------------------------------


def horner(c, x):
    return reduce(lambda acc, a: acc * x + a, c)


sample(horner, lambda r: (r.standard_normal(4), 0.3), (0, 1))


def horner_of_a_list(c, x):
    return functools.reduce(lambda acc, a: acc * x + a, c[::-1], 0.0)


sample(horner_of_a_list, lambda r: ([0.2, 0.3, 0.5], 0.3), (0, 1))


def product_of(xs):
    return reduce(operator.mul, xs) + reduce(operator.add, map(np.sin, xs), 0.5)


sample(product_of, lambda r: (r.standard_normal(3),))


def mapped(xs, ws):
    total = sum(map(operator.mul, xs, ws))
    for a in map(np.exp, xs):
        total = total * a
    for a, b in zip(map(np.exp, xs), ws):
        total += a * b
    squares = list(map(lambda t: t * t, xs))
    return total * squares[0] + sum(filter(lambda t: t > 0, xs))


sample(mapped, arrays, (0, 1))


def sorted_by_a_key(xs):
    order = sorted(range(3), key=lambda i: xs[i])
    first = min(range(3), key=lambda j: (j - 1) ** 2)
    return sum(xs[i] * (k + 1) for k, i in enumerate(order)) * xs[first]


sample(sorted_by_a_key, lambda r: (r.standard_normal(3),))


# --- dispatch ------------------------------------------------------------------------------------

ACTIVATIONS = {"tanh": np.tanh, "sine": np.sin, "square": lambda t: t * t}


def activation_by_name(x, name):
    return np.sum(ACTIVATIONS[name](x) * x)


for _name in ACTIVATIONS:
    sample(activation_by_name, lambda r, name=_name: (r.standard_normal(3), name))


def network_by_names(x, names):
    for name in names:
        x = ACTIVATIONS[name](x)
    return x


sample(network_by_names, lambda r: (r.standard_normal(3), ["tanh", "square", "sine"]))


def local_table(x, w, name):
    table = {"scale": lambda t: t * w, "shift": lambda t: np.sin(t) + w}
    f = table[name]
    return f(x) * table["scale"](w)


sample(local_table, lambda r: (0.7, 1.3, "shift"), (0, 1))


def by_position(x, w, k):
    ops = [operator.add, operator.mul, lambda a, b: a / b]
    return ops[k](x, w) * ops[k - 1](w, x)


sample(by_position, lambda r: (0.7, 1.3, 2), (0, 1))


def chosen_in_a_loop(x, w):
    total = 0.0
    for v in x:
        f = np.sin if v > 0.5 else (lambda y: y * w)
        total += f(v)
    return total


sample(chosen_in_a_loop, lambda r: (np.array([0.3, 0.8, 1.5]), 1.3), (0, 1))


def pipeline(*fs):
    def run(x):
        for f in fs:
            x = f(x)
        return x

    return run


def through_a_pipeline(x, w):
    return pipeline(np.sin, lambda y: y * w, np.exp)(x)


sample(through_a_pipeline, two, (0, 1))


def hooks_by_keyword(x, w):
    def apply(y, **hooks):
        return hooks["post"](hooks["pre"](y))

    return apply(x, pre=np.sin, post=lambda t: t * w)


sample(hooks_by_keyword, two, (0, 1))


def functions_as_arguments(fs, x):
    for f, c in fs:
        x = c * f(x)
    return x


sample(functions_as_arguments, lambda r: ([(np.sin, 0.3), (np.exp, 0.5)], 0.7), 1)


# --- recursion -----------------------------------------------------------------------------------


def nested_recursion(x, w, n):
    def go(y, k):
        if k == 0:
            return y
        return go(np.sin(y * w), k - 1)

    return go(x, n)


sample(nested_recursion, lambda r: (0.7, 1.2, 4), (0, 1))


def nested_even_and_odd(x, w, n):
    def even(y, k):
        return y if k == 0 else odd(y * w, k - 1)

    def odd(y, k):
        return y * y if k == 0 else even(np.sin(y), k - 1)

    return even(x, n)


sample(nested_even_and_odd, lambda r: (0.7, 1.2, 4), (0, 1))


def power_series(a):
    def series(y, n):
        return a * y if n == 0 else np.sin(series(y * a, n - 1))

    return series


series_by_two, series_by_three = power_series(2.0), power_series(3.0)


def recursive_closures_of_one_factory(x, n):
    return series_by_two(x, n) * series_by_three(x, n)


sample(recursive_closures_of_one_factory, lambda r: (0.7, 3))


def nested_recursion_of_counts(x, n):
    a = 2.0

    def depth(k):
        return a if k == 0 else 1.5 * other(k - 1)

    def other(k):
        return 1.0 if k == 0 else a + depth(k - 1)

    def count(k):
        return 1 if k < 2 else count(k - 1) + count(k - 2)

    return np.sum(x * x) * depth(n) + sum(count(k) * x[k] for k in range(3))


sample(nested_recursion_of_counts, lambda r: (r.standard_normal(3), 3))


@functools.lru_cache(None)
def fibonacci(n):
    return 1.0 if n < 2 else fibonacci(n - 1) + 0.5 * fibonacci(n - 2)


def memoised(x):
    return sum(fibonacci(k) * x**k for k in range(4))


sample(memoised, lambda r: (0.7,))


@functools.lru_cache(None)
def powers_up_to_two(k):
    return np.arange(3.0) ** k


def memoised_items(x):
    rows = []
    for k in range(3):
        rows.append(powers_up_to_two(k))
    rows[0] = x
    rows.pop()
    table = {"row": rows[1]}
    table["x"] = x
    return np.sum(rows[0] * table["x"] * table["row"])


sample(memoised_items, lambda r: (r.standard_normal(3),))


# --- arguments and decorators --------------------------------------------------------------------


def options(x, w):
    def f(y, /, scale, *, shift=0.5, powers=(1, 2)):
        return scale * y ** powers[1] + shift

    return f(x, w) + f(w, scale=x, shift=x * w)


sample(options, two, (0, 1))


def starred(x, w):
    def total(*terms, scale=1.0, **rest):
        found = 0.0
        for t in terms:
            found += t * scale
        return found + rest["a"]

    return total(x, w, scale=x, a=w) * total(*[x, w], a=1.0)


sample(starred, two, (0, 1))


def times_factor(factor):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return factor * f(*args, **kwargs)

        return wrapper

    return decorate


@times_factor(3.0)
@times_factor(0.5)
def decorated_twice(x, y=2.0):
    return x * np.sin(y)


def calls_decorated_twice(x, w):
    return decorated_twice(x, w) + decorated_twice(w)


sample(calls_decorated_twice, two, (0, 1))


def with_doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return len(args) * f(2.0 * args[0], *args[1:], **kwargs)

    return wrapper


def turned(f):
    @functools.wraps(f)
    def wrapper(y, x=0.7, *, k=2.0):
        return f(x, y) * k

    return wrapper


@with_doubled
def bent(x, slope=2.0, bend=1.0):
    return slope * np.sin(x) + bend * x * x


@turned
def turned_bent(x, y=3.0, k=5.0):
    return np.sin(x) * y * y * k


def calls_other_wrappers(x, w):
    return bent(x, bend=w) + bent(w, x) + turned_bent(x) + turned_bent(w, x=x, k=w)


sample(calls_other_wrappers, two, (0, 1))


def decorated_here(x, w):
    def damped(f):
        def g(y):
            return w * f(y)

        return g

    @damped
    def h(y):
        return np.sin(y)

    return h(x)


sample(decorated_here, two, (0, 1))


# --- derivatives of closures ---------------------------------------------------------------------


def slope_of_a_closure(x, w):
    def energy(y):
        return np.sum(np.sin(w * y) * y)

    force = srcdiff.grad(energy)(x)
    return np.sum(force * force) + energy(x)


sample(slope_of_a_closure, arrays, (0, 1))


def descend(f, x, steps):
    slope = srcdiff.grad(f)
    for _ in range(steps):
        x = x - 0.1 * slope(x)
    return x


def through_a_descent(x, w):
    return descend(lambda y: np.sum((y - w) ** 2 * y), x, 3)


sample(through_a_descent, arrays, (0, 1))


def newton_of_a_closure(x, w):
    f = lambda y: w * y**4 - y  # noqa: E731
    slope = srcdiff.grad(f)
    curvature = srcdiff.grad(slope)
    for _ in range(2):
        x = x - slope(x) / curvature(x)
    return x


sample(newton_of_a_closure, two, (0, 1))


def curvature_times_vector(x, w):
    def energy(y):
        return np.sum(np.sin(w * y) * y)

    product = srcdiff.grad(lambda z: np.sum(srcdiff.grad(energy)(z) * w))(x)
    return np.sum(product * x)


sample(curvature_times_vector, arrays, (0, 1))


def two_derivatives_of_one_name(x, w):
    slope = srcdiff.grad(lambda y: w * y**3)
    total = slope(x)
    slope = srcdiff.grad(lambda y: y**2 * w * w)
    return total * slope(x)


sample(two_derivatives_of_one_name, two, (0, 1))


def momentum(lagrangian, q, v):
    p = srcdiff.grad(lagrangian, 1)(q, v)
    return p * v - lagrangian(q, v)


def legendre(q, v, m):
    return momentum(lambda a, b: 0.5 * m * b**2 - m * np.cos(a), q, v)


sample(legendre, lambda r: (0.7, 1.2, 3.0), (0, 1, 2))


def by_names(x, w):
    def energy(a, b, c=2.0):
        return a * b**2 * w * c

    slope_a, slope_b = srcdiff.grad(energy, ("a", "b"))(x, w)
    value, slope = srcdiff.value_and_grad(energy, inputs="b")(x, b=w * x, c=w)
    return slope_a * slope_b + value * slope


sample(by_names, two, (0, 1))


def _squashed(x, xp):
    return xp.tanh(x) * xp.pi


def _norm_of(x, n, xp=np):
    return xp.linalg.norm(x) if n == 0 else _norm_of(xp.sin(x), n - 1, xp)


class _Layer:
    def __init__(self, xp):
        self.xp = xp

    def __call__(self, x):
        return self.xp.sum(self.xp.cos(x) ** 2)


def modules_as_arguments(x, y, xp=None):
    if xp is None:
        xp = np
    tools = {"np": xp}
    z = _squashed(x, xp) + _squashed(y, np)
    for k in range(2):
        z[k] = tools["np"].exp(z[k] * 0.1)
    act = lambda v: xp.sqrt(1.0 + v * v)  # noqa: E731
    return xp.sum(act(z)) + _norm_of(x * y, 2) + _Layer(xp)(z) * xp.asarray(2.0, dtype=xp.float64)


sample(modules_as_arguments, lambda r: tuple(r.uniform(0.3, 1.2, (2, 4))), ("x", "y"))


def _made_with_a_nested_function(k, s):
    def shifted(v):
        return v * v + k

    return lambda v: shifted(v) * s


def _applied_with_a_nested_function(x, s):
    def shifted(v):
        return v * v + x

    return _twice_of(lambda v: shifted(v) * s, x)


def _twice_of(f, v):
    return 2.0 * f(v)


def lambdas_that_call_nested_functions_in_helpers(x, y):
    rate = _made_with_a_nested_function(x, y)
    return rate(y) * _applied_with_a_nested_function(x, y)


sample(lambdas_that_call_nested_functions_in_helpers, two, (0, 1))
