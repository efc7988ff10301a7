"""Programs with objects in objects, attributes by name, and attributes that come later."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .registry import sample

# --- what an object has at a time ----------------------------------------------------------------


class Triangle:
    """A triangle that looks at its sides before it has its third."""

    def __init__(self, a, b):
        self.a, self.b = a, b
        assert self.a > 0, f"{self} has no sides"
        self.c = np.sqrt(self.a**2 + self.b**2)
        self.angle = Angle(self)
        assert self.angle.sine <= 1.0
        self.area = 0.5 * self.a * self.b


class Angle:
    def __init__(self, triangle):
        assert triangle.c > 0
        self.sine = triangle.a / triangle.c


def asserted_early(x):
    total = 0.0
    for k in range(1, 3):
        t = Triangle(x, k * x * x)
        total += t.area * t.angle.sine
    return total


sample(asserted_early, lambda r: (r.uniform(0.5, 1.5),))


class Lazy:
    """A layer that may have weights."""

    def __init__(self, scale):
        self.scale, self.last = scale, None

    def weight(self, x):
        return self.w * x if hasattr(self, "w") else self.scale * np.sin(x)

    def seen(self, x):
        before, gain = self.last, getattr(self, "gain", 2.0)
        self.last = x * self.scale * gain
        return self.last if before is None else before * x


def had_or_not(x):
    layer, other = Lazy(x), Lazy(2.0)
    first = layer.weight(x) * layer.weight(x * x) * other.weight(x)
    return first + layer.seen(x) + layer.seen(3.0 * x)


def given_or_not(x, layer, other):
    other.kept = x * x
    return layer.weight(x) * other.weight(x * x) + layer.seen(x) * layer.seen(x) * other.kept


sample(had_or_not, lambda r: (r.uniform(0.5, 1.5),))
sample(given_or_not, lambda r: (r.uniform(0.5, 1.5), Lazy(3.0), lazies(r)[1]))


def had_by_some(x, layers):
    total = 0.0
    for layer in layers:
        if hasattr(layer, "w"):
            total = total + layer.w * x
        else:
            total = total + layer.scale * x * x
    return total


def lazies(r):
    layers = [Lazy(k + r.uniform()) for k in range(3)]
    layers[1].w = 5.0
    return layers


sample(had_by_some, lambda r: (r.uniform(0.5, 1.5), lazies(r)))

# --- one object, several names -------------------------------------------------------------------


class Kernel:
    def __init__(self, length):
        self.length = length

    def __call__(self, a):
        return np.exp(-((a / self.length) ** 2))

    def __str__(self):
        return f"kernel of {self.length}"


class Process:
    """A Gaussian process: its kernel is an object of its own."""

    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, x):
        self.x = x
        self.label = str(self.kernel) + repr(self) + f"{self.kernel}"
        if len(self.label) == 0:
            print(self.kernel, self)
        self.k = self.kernel(x[:, None] - x[None, :]) + np.eye(x.size)
        return self


def kept_kernel(length, x):
    process = Process(Kernel(length))
    process.fit(x)
    return np.log(np.linalg.det(process.k)) + process.kernel.length


def fitted_twice(length, x):
    process = Process(Kernel(length)).fit(x)
    first = np.sum(process.k)
    process.kernel.length = 2.0 * length
    return first * np.sum(process.fit(x * length).k)


sample(kept_kernel, lambda r: (r.uniform(0.5, 1.5), r.standard_normal(4)))
sample(fitted_twice, lambda r: (r.uniform(0.5, 1.5), r.standard_normal(3)))


@dataclass
class Pendulum:
    angle: float
    speed: float

    def step(self, h):
        self.angle = self.angle + h * self.speed
        self.speed = self.speed - h * np.sin(self.angle)
        return self


def steps_of_itself(x):
    p = Pendulum(x, x * x)
    for _ in range(4):
        p = p.step(0.1)
    return p.step(0.2).step(0.1).angle * p.speed


def steps_of_given(x, p):
    p.angle = x
    p = p.step(0.1)
    p = p.step(0.2)
    return p.speed * x


sample(steps_of_itself, lambda r: (r.uniform(0.5, 1.5),))
sample(steps_of_given, lambda r: (r.uniform(0.5, 1.5), Pendulum(0.2, 1.0)))


class Node:
    def __init__(self, value):
        self.value = value


def pulled_by_others(x, nodes):
    total = 0.0
    for a in nodes:
        for b in nodes:
            if a is b:
                continue
            total = total + a.value * x / (b.value + x)
    return total


sample(pulled_by_others, lambda r: (r.uniform(0.5, 1.5), [Node(1.0), Node(2.0), Node(3.0)]))

# --- attributes by name --------------------------------------------------------------------------


class Options:
    def __init__(self, **options):
        for name in options:
            setattr(self, name, options[name])


class Checked:
    """Options with defaults, which must be known."""

    def __init__(self, rate, **options):
        self.rate, self.decay = rate, 0.5
        for name, value in options.items():
            if name not in ("rate", "decay"):
                raise AttributeError(name)
            setattr(self, name, value)
        for name in ("rate", "decay"):
            if getattr(self, name) is None:
                raise ValueError(name)


class Plain:
    def __init__(self, options):
        for name in sorted(options):
            setattr(self, name, options[name])
        self.count = len(options)


def options_by_name(x, given):
    options = Options(rate=x, decay=2.0 * x)
    checked = Checked(x, decay=x * x)
    plain = Plain(given)
    Options.__init__(options, extra=x)
    found = options.rate * options.decay * options.extra + checked.decay * checked.rate
    return found * plain.scale * plain.shift * plain.count


def scaled_by_name(x, p):
    for name in ("angle", "speed"):
        setattr(p, name, getattr(p, name) * x)
    return p.angle * p.speed


sample(options_by_name, lambda r: (r.uniform(0.5, 1.5), {"shift": 2.0, "scale": 3.0}))
sample(scaled_by_name, lambda r: (r.uniform(0.5, 1.5), Pendulum(0.2, 1.0)))

# --- arguments with stars ------------------------------------------------------------------------


class Rotation:
    def __init__(self, w, x, y):
        self.w, self.x, self.y = w, x, y

    @classmethod
    def about(cls, angle, axis):
        return cls(np.cos(angle / 2), *(np.sin(angle / 2) * axis))

    def apply(self, v):
        return self.w * v + self.x * v**2 + self.y


class Polynomial:
    def __init__(self, *c):
        self.c = c

    def __call__(self, x):
        value = 0.0
        for c in self.c:
            value = value * x + c
        return value


def rotated(v):
    a, b = Rotation(*v), Rotation(*[k * v[0] for k in (1.0, 2.0, 3.0)])
    c = Rotation(v[0], *v[1:])
    return a.apply(v[0]) * b.apply(v[1]) + Rotation.about(v[2], v[:2]).apply(1.5) * c.x


def polynomials(v, x):
    p, q = Polynomial(*v), Polynomial(1.0, *[k * x for k in (1.0, 2.0)])
    return p(x) * q(x) * Polynomial(*(c**2 for c in v))(0.5)


sample(rotated, lambda r: (r.uniform(0.5, 1.5, 3),))
sample(polynomials, lambda r: (r.uniform(0.5, 1.5, 4), 0.7))

# --- functions that objects keep -----------------------------------------------------------------


class Euler:
    """Steps of a function that it keeps."""

    def __init__(self, rate, u):
        self.rate, self.u = rate, u

    def step(self, h):
        self.u = self.u + h * self.rate(self.u)

    def run(self, steps):
        for _ in range(steps):
            self.step(0.1)
        return self.u


class Decay:
    def __init__(self, k):
        self.k = k

    def rate(self, u):
        return -self.k * u**2


@dataclass
class Rule:
    f: object
    u: float

    def go(self):
        return self.f(self.u)


def scaled_rate(u, k, power=1.0):
    return k * u**power


def kept_functions(u, k):
    def rate(v):
        return -k * u * v

    decay = Decay(k * u)
    total = Euler(lambda v: -k * v, u).run(3) + Euler(rate, u).run(2)
    total = total + Euler(decay.rate, u).run(2) + Euler(partial(scaled_rate, k=k), u).run(2)
    return total * Rule(partial(scaled_rate, power=2.0, k=u), k).go()


def changed_functions(u, k):
    euler = Euler(lambda v: -k * v * u, u)
    first = euler.run(2)
    euler.rate = np.sin if k > 5.0 else (lambda v: k * v * u)
    return first * euler.run(2) * sum(Rule(lambda v, i=i: v * i * u, k).go() for i in range(3))


sample(kept_functions, lambda r: (r.uniform(0.5, 1.5), 0.7), ("u", "k"))
sample(changed_functions, lambda r: (r.uniform(0.5, 1.5), 0.7), ("u", "k"))

# --- lists of layers -----------------------------------------------------------------------------


class Layer:
    """A layer that remembers what it was given."""

    def __init__(self, w):
        self.w, self.x = w, None

    def forward(self, x):
        self.x = x
        return np.tanh(x @ self.w)


class Network:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def penalty(self):
        return sum(np.sum(layer.x**2) for layer in self.layers)


def remembered(x, layers):
    for layer in layers:
        x = layer.forward(x)
    return np.sum(x) + layers[1].x @ layers[0].x


def network(x, net):
    return np.sum(net.forward(x)) + np.sum(net.layers[-1].x)


def layers(r):
    return [Layer(r.standard_normal((3, 3))) for _ in range(2)]


sample(remembered, lambda r: (r.standard_normal(3), layers(r)))
sample(network, lambda r: (r.standard_normal(3), Network(layers(r))), ("x", "net.layers"))
