"""Programs with objects: methods, attributes, dataclasses, named tuples, operators, callables."""

from __future__ import annotations

import abc
import bisect
import dataclasses
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .registry import sample

# --- methods and attributes ----------------------------------------------------------------------


class Kalman:
    """A linear Kalman filter that keeps its state in attributes."""

    def __init__(self, a, h, q, r):
        self.a, self.h, self.q, self.r = a, h, q, r
        self.x = np.zeros(len(a))
        self.p = np.eye(len(a))

    def predict(self):
        self.x = self.a @ self.x
        self.p = self.a @ self.p @ self.a.T + self.q

    def update(self, z):
        s = self.h @ self.p @ self.h.T + self.r
        gain = self.p @ self.h.T @ np.linalg.inv(s)
        error = z - self.h @ self.x
        self.x = self.x + gain @ error
        self.p = self.p - gain @ self.h @ self.p
        return error @ np.linalg.solve(s, error) + np.log(np.linalg.det(s))


def filtered(kalman, zs):
    total = 0.0
    for z in zs:
        kalman.predict()
        total += kalman.update(z)
    return 0.5 * total


def kalman(r):
    a = np.array([[1.0, 0.1], [0.0, 0.9]]) + 0.01 * r.standard_normal((2, 2))
    return Kalman(a, np.array([[1.0, 0.2]]), 0.1 * np.eye(2), np.array([[0.3]]))


sample(filtered, lambda r: (kalman(r), r.standard_normal((4, 1))), ("kalman.a", "kalman.r", "zs"))


class Dense:
    """A layer."""

    def __init__(self, w, b, activation=np.tanh):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


class Scale:
    """A layer of another class."""

    def __init__(self, s):
        self.s = s

    def __call__(self, x):
        return self.s * x


class Network:
    """Layers one after the other."""

    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x, y):
        return np.mean((self(x) - y) ** 2)


def network_loss(model, x, y):
    return model.loss(x, y)


def dense(r, n, m, activation=np.tanh):
    return Dense(r.standard_normal((n, m)), r.standard_normal(m), activation)


def same_layers(r):
    layers = [dense(r, 3, 4), dense(r, 4, 4), dense(r, 4, 2)]
    return Network(layers), r.standard_normal((5, 3)), r.standard_normal((5, 2))


def mixed_layers(r):
    layers = [dense(r, 3, 4), Scale(0.7), dense(r, 4, 2, np.sin)]
    return Network(layers), r.standard_normal((5, 3)), r.standard_normal((5, 2))


def network_of_one_class(model, x, y):
    return model.loss(x, y)


def network_of_several_classes(model, x, y):
    return model.loss(x, y)


def weight_of_one_layer(model, x, y):
    return np.sum((model(x) - y) ** 2) + np.sum(model.layers[0].w ** 2)


sample(network_loss, same_layers, "x")
sample(network_of_one_class, same_layers, "model")
sample(network_of_several_classes, mixed_layers, "model")
sample(weight_of_one_layer, same_layers, ("model.layers[0].w", "model.layers[2].b"))


class Recurrent:
    """A network with a hidden state in an attribute."""

    def __init__(self, w, u):
        self.w, self.u = w, u
        self.h = None
        self.steps = 0

    def step(self, x):
        if self.h is None:
            self.h = np.zeros(len(self.u))
        self.h = np.tanh(self.w @ x + self.u @ self.h)
        self.steps += 1
        return self.h


def recurrent_reset(cell, xs):
    cell.h = np.zeros(3)
    total = 0.0
    for x in xs:
        total += np.sum(cell.step(x) ** 2)
    return total


sample(
    recurrent_reset,
    lambda r: (Recurrent(r.standard_normal((3, 2)), r.standard_normal((3, 3))),
               r.standard_normal((4, 2))),
    ("cell.w", "cell.u", "xs"),
)  # fmt: skip


class Momentum:
    """A stateful optimizer."""

    def __init__(self, rate, decay):
        self.rate, self.decay = rate, decay
        self.velocity = 0.0

    def step(self, w, gradient):
        self.velocity = self.decay * self.velocity - self.rate * gradient
        return w + self.velocity


def trained(w, rate, decay):
    optimizer = Momentum(rate, decay)
    for _ in range(6):
        w = optimizer.step(w, 2.0 * (w - 1.0) + np.cos(w))
    return (w - 1.0) ** 2


sample(trained, lambda r: (0.3, 0.1, 0.8), (0, 1, 2))


class Base:
    """A force law."""

    unit = 2.0

    def __init__(self, k):
        self.k = k

    def force(self, x):
        return -self.k * x * self.unit

    def energy(self, x):
        return self.force(x) ** 2 + self.scale

    @property
    def scale(self):
        return self.k * self.k


class Damped(Base):
    """A derived one that calls its base."""

    def __init__(self, k, c):
        super().__init__(k)
        self.c = c

    def force(self, x):
        return super().force(x) - self.c * x**3

    @property
    def scale(self):
        return super().scale + np.sin(self.c)


def made_with_super(k, c, x):
    return Damped(k, c).energy(x)


def given_with_super(law, x):
    return law.energy(x)


sample(made_with_super, lambda r: (1.5, 0.3, 0.7), (0, 1, 2))
sample(given_with_super, lambda r: (Damped(1.5, 0.3), 0.7), ("law.k", "law.c", "x"))


def whole_object(law, x):
    return law.energy(x)


sample(whole_object, lambda r: (Base(1.5), 0.7), "law")


class Units:
    """Class and static methods."""

    factor = 3.0

    def __init__(self, value):
        self.value = value

    @classmethod
    def of(cls, value):
        return cls(value * cls.factor)

    @staticmethod
    def squared(x):
        return x * x

    def doubled(self):
        return type(self)(2.0 * self.value)


def class_and_static_methods(x):
    u = Units.of(x)
    return u.squared(u.doubled().value) + Units.squared(x)


sample(class_and_static_methods, lambda r: (0.8,))


class Oscillator:
    """Its right-hand side is passed as a function."""

    def __init__(self, k, c):
        self.k, self.c = k, c

    def rhs(self, t, y):
        return np.array([y[1], -self.k * y[0] - self.c * y[1] + np.sin(t)])

    def final(self, y, n):
        return runge_kutta(self.rhs, y, n)


def runge_kutta(f, y, n):
    h = 0.1
    for i in range(n):
        t = i * h
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        y = y + h * k2
    return y


def method_as_an_argument(system, y):
    return np.sum(system.final(y, 4) ** 2)


sample(
    method_as_an_argument,
    lambda r: (Oscillator(2.0, 0.1), r.standard_normal(2)),
    ("system.k", "system.c", "y"),
)


class SquaredExponential:
    """A callable kernel."""

    def __init__(self, length, variance):
        self.length, self.variance = length, variance

    def __call__(self, x, y):
        d = (x[:, None] - y[None, :]) / self.length
        return self.variance * np.exp(-0.5 * d * d)


class Sum:
    """A kernel of kernels."""

    def __init__(self, one, other):
        self.one, self.other = one, other

    def __call__(self, x, y):
        return self.one(x, y) + self.other(x, y)


def gaussian_process(kernel, x, y, noise):
    k = kernel(x, x) + noise * np.eye(len(x))
    chol = np.linalg.cholesky(k)
    alpha = np.linalg.solve(k, y)
    return 0.5 * y @ alpha + np.sum(np.log(np.diag(chol)))


def kernels(r):
    kernel = Sum(SquaredExponential(0.7, 1.1), SquaredExponential(0.2, 0.5))
    return kernel, r.standard_normal(4), r.standard_normal(4), 0.3


sample(
    gaussian_process, kernels,
    {"length": "kernel.one.length", "variance": "kernel.other.variance", "noise": "noise"},
)  # fmt: skip

# --- dataclasses ---------------------------------------------------------------------------------


@dataclass
class Body:
    """A mutable state."""

    x: np.ndarray
    v: np.ndarray
    count: int = 0

    def energy(self, k):
        return 0.5 * np.sum(self.v**2) + 0.5 * k * np.sum(self.x**2)


def leapfrog(body, k, dt):
    for _ in range(5):
        body.v -= 0.5 * dt * k * body.x
        body.x += dt * body.v
        body.v -= 0.5 * dt * k * body.x
        body.count += 1
    return body.energy(k)


sample(leapfrog, lambda r: (Body(r.standard_normal(3), r.standard_normal(3)), 1.3, 0.1), (0, 1, 2))


def leapfrog_of_a_part(body, k):
    return leapfrog(body, k, 0.2)


sample(
    leapfrog_of_a_part,
    lambda r: (Body(r.standard_normal(3), r.standard_normal(3)), 1.3),
    ("body.x", "k"),
)


def made_and_changed(x, v, k):
    body = Body(x, v * 2.0)
    for i in range(4):
        body.v = body.v - 0.1 * k * np.sin(body.x)
        body.x = body.x + 0.1 * body.v
        body.count = i
    return body.energy(k)


sample(made_and_changed, lambda r: (r.standard_normal(3), r.standard_normal(3), 1.3), (0, 1, 2))


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model, with a default and a field that is made."""

    w: np.ndarray
    b: float = 0.5
    name: str = "model"
    table: dict = field(default_factory=dict)

    def predict(self, x):
        return np.tanh(x @ self.w + self.b)

    def stepped(self, gradient, rate):
        return dataclasses.replace(self, w=self.w - rate * gradient)


def frozen_parameters(p, x, y):
    for _ in range(3):
        residual = p.predict(x) - y
        p = p.stepped(x.T @ residual, 0.1)
    return np.sum((p.predict(x) - y) ** 2) + p.b


sample(
    frozen_parameters,
    lambda r: (Parameters(r.standard_normal(3)), r.standard_normal((4, 3)), r.standard_normal(4)),
    ("p.w", "p.b", "y"),
)


def returned_dataclass(x, v):
    return Body(x * v, np.sin(x))


sample(returned_dataclass, lambda r: (r.standard_normal(2), r.standard_normal(2)), (0, 1))


@dataclass
class Checked:
    """A dataclass that computes a field when it is made."""

    a: float
    b: float = 2.0
    product: float = field(init=False)

    def __post_init__(self):
        self.product = self.a * self.b


def with_post_init(x):
    c = Checked(x * x, b=np.sin(x))
    return c.product + Checked(x).product * c.a


sample(with_post_init, lambda r: (0.8,))


@dataclass
class Outer:
    """Objects in objects."""

    inner: Body
    scale: float


def nested_objects(outer, k):
    outer.inner.x = outer.inner.x * outer.scale
    return outer.inner.energy(k) * outer.scale


sample(
    nested_objects,
    lambda r: (Outer(Body(r.standard_normal(2), r.standard_normal(2)), 1.2), 0.7),
    ("outer.inner.x", "outer.scale", "k"),
)


def gradient_in_nested_objects(outer, k):
    return outer.inner.energy(k) * outer.scale


sample(
    gradient_in_nested_objects,
    lambda r: (Outer(Body(r.standard_normal(2), r.standard_normal(2)), 1.2), 0.7),
    "outer",
)


def list_of_objects(bodies, k):
    total = 0.0
    for body in bodies:
        total += body.energy(k)
    for i in range(len(bodies) - 1):
        d = bodies[i].x - bodies[i + 1].x
        total += np.sum(d * d)
    return total


sample(
    list_of_objects,
    lambda r: ([Body(r.standard_normal(2), r.standard_normal(2)) for _ in range(3)], 0.7),
    (0, 1),
)

# --- named tuples --------------------------------------------------------------------------------


class State(NamedTuple):
    """A state of an integrator."""

    position: np.ndarray
    velocity: np.ndarray

    def kinetic(self):
        return 0.5 * np.sum(self.velocity**2)


def one_kick(x, v):
    s = State(x, v)
    s = State(s.position + 0.1 * s.velocity, s.velocity - np.sin(s.position))
    return s.position * s.velocity


sample(one_kick, lambda r: (r.standard_normal(2), r.standard_normal(2)), (0, 1))


def stepped(state, dt):
    acceleration = -np.sin(state.position)
    return state._replace(
        position=state.position + dt * state.velocity, velocity=state.velocity + dt * acceleration
    )


def integrated(state, dt):
    for _ in range(5):
        state = stepped(state, dt)
    x, v = state
    return np.sum(x * v) + state.kinetic() + np.sum(state[0])


def trajectory(state, dt):
    states = [state]
    for _ in range(3):
        state = stepped(state, dt)
        states.append(state)
    return states[-1].position * states[1].velocity


def final_state(state, dt):
    for _ in range(3):
        state = stepped(state, dt)
    return state


def states(r):
    return State(r.standard_normal(3), r.standard_normal(3)), 0.2


sample(integrated, states, (0, 1))
sample(trajectory, states, (0, 1))
sample(final_state, states, (0, 1))


def named_tuple_as_a_sequence(state, dt):
    total = 0.0
    for part in state:
        total = total + np.sum(part**2)
    return total + np.sum(np.concatenate(state)) + len(state) * dt


sample(named_tuple_as_a_sequence, states, (0, 1))

# --- operators -----------------------------------------------------------------------------------


class Vector:
    """A vector in the plane with operators."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return self + (-other)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __mul__(self, other):
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        return Vector(self.x * other, self.y * other)

    __rmul__ = __mul__

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __len__(self):
        return 2

    def __iter__(self):
        return iter([self.x, self.y])

    def __abs__(self):
        return np.sqrt(self * self)


def vector_algebra(x, y):
    a = Vector(x, y)
    b = 2.0 * a + a * x
    c = -b
    c += a
    return (b * c) * a[0] + b[1] + len(a) * x + abs(a - b)


sample(vector_algebra, lambda r: (1.5, 0.3), (0, 1))


def iterated_object(x, y):
    product = 1.0
    for part in Vector(x, y):
        product = product * part
    return product


sample(iterated_object, lambda r: (1.5, 0.3), (0, 1))


class Dual:
    """A number with a tangent: forward mode by hand, differentiated in reverse."""

    __slots__ = ("value", "tangent")

    def __init__(self, value, tangent=0.0):
        self.value, self.tangent = value, tangent

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        tangent = self.value * other.tangent + self.tangent * other.value
        return Dual(self.value * other.value, tangent)

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.tangent + other.tangent)


def polynomial(x, a):
    return x * x * a + x * 3.0 + 1.0


def dual_numbers(x, a):
    return polynomial(Dual(x, 1.0), Dual(a)).tangent


sample(dual_numbers, lambda r: (1.5, 0.3), (0, 1))


class Matrix:
    """An object around an array that is written in place."""

    def __init__(self, n):
        self.data = np.zeros((n, n))

    def __setitem__(self, key, value):
        self.data[key] = value

    def __matmul__(self, x):
        return self.data @ x


def filled_matrix(a, x):
    m = Matrix(3)
    for i in range(3):
        m[i, i] = a[i] ** 2
    m[0, 2] = a[1]
    return m @ x


sample(filled_matrix, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


class Buffer:
    """An array in an attribute, written in place by a method."""

    def __init__(self, data):
        self.data = data
        self.calls = 0

    def smooth(self):
        self.calls += 1
        for i in range(1, len(self.data) - 1):
            self.data[i] = 0.5 * (self.data[i - 1] + self.data[i + 1])


def smoothed(buffer, n):
    for _ in range(n):
        buffer.smooth()
    return np.sum(buffer.data**2)


sample(smoothed, lambda r: (Buffer(r.standard_normal(5)), 2), "buffer.data")


class Config:
    """Options that decide which code runs."""

    def __init__(self, scale, bias=None, kind="tanh"):
        self.scale, self.bias, self.kind = scale, bias, kind

    def apply(self, x):
        y = self.scale * x
        if self.bias is not None:
            y = y + self.bias
        if self.kind == "tanh":
            return np.tanh(y)
        return y


def options_of_an_object(cfg, x):
    return np.sum(cfg.apply(x))


sample(options_of_an_object, lambda r: (Config(1.5), r.standard_normal(3)), ("cfg.scale", "x"))
sample(
    options_of_an_object,
    lambda r: (Config(1.5, r.standard_normal(3), "linear"), r.standard_normal(3)),
    ("cfg.scale", "cfg.bias"),
)

WORLD = Config(0.7, kind="linear")


def object_from_outside(x):
    return np.sum(WORLD.apply(x) ** 2) * WORLD.scale


sample(object_from_outside, lambda r: (r.standard_normal(3),))


def object_as_default(x, cfg=WORLD):
    return np.sum(cfg.apply(x) ** 2)


sample(object_as_default, lambda r: (r.standard_normal(3),))


class Tree:
    """A structure of objects, walked by a recursive method."""

    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def total(self, x):
        result = np.sin(self.value * x)
        if self.left is not None:
            result = result + self.left.total(x)
        if self.right is not None:
            result = result * self.right.total(x)
        return result


def sum_of_a_tree(tree, x):
    return tree.total(x)


def tree(r):
    return Tree(0.3, Tree(0.5, Tree(0.2)), Tree(1.1)), 0.7


sample(sum_of_a_tree, tree, ("tree.value", "tree.left.left.value", "x"))


class Doubler:
    """A class without an `__init__`."""

    factor = 2.0

    def of(self, x):
        return self.factor * x * x


def made_without_init(x):
    d = Doubler()
    return d.of(x)


sample(made_without_init, lambda r: (0.7,))


class Quadratic:
    """Objects that are equal by value, and have no hash."""

    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return isinstance(other, Quadratic) and self.k == other.k

    def __call__(self, x):
        return self.k * x * x


TRIPLED = Quadratic(3.0)


def object_without_a_hash(x):
    return np.sum(TRIPLED(x)) * TRIPLED.k + x[0]


sample(object_without_a_hash, lambda r: (r.standard_normal(3),))


class Total(dict):
    def total(self):
        return sum(self.values())


class Sized(NamedTuple):
    a: float
    b: float

    def __len__(self):
        return 5


SIZED = Sized(2.0, 3.0)


def dict_with_a_method(x):
    d = Total()
    d["a"] = x[0]
    return d["a"] ** 2


def operators_of_constants(x):
    return len(SIZED) * x[0] * SIZED.b + len(Sized(1.0, x.shape[0]))


for _function in (dict_with_a_method, operators_of_constants):
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))


class Getting:
    """An object that gives what it holds, and stores what it is given."""

    def __init__(self, held):
        self.held = held

    def __getitem__(self, k):
        return self.held

    def __setitem__(self, k, value):
        self.held = value

    @property
    def twice(self):
        return self.held

    @twice.setter
    def twice(self, value):
        self.held = value * 2


def item_of_an_object_in_place(x):
    g = Getting(x)
    g[0] *= 2
    return np.sum(x * g.held)


def property_in_place(x):
    g = Getting(x)
    g.twice *= 2
    g.twice += x
    return np.sum(x * g.held)


def property_that_is_a_number(x):
    g = Getting(x[0])
    g.twice *= x[1]
    g[0] += x[2]
    return x[0] * g.held


for _function in (item_of_an_object_in_place, property_in_place, property_that_is_a_number):
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))


class Bottom:
    """The end of a chain of constructors."""

    def __init__(self, w, **more):
        super().__init__(**more)
        self.w = w

    def loss(self, x):
        return np.sum(self.w * x * x)


class AbstractModel(abc.ABC):
    def __init__(self, w):
        super().__init__()
        self.w = w

    @abc.abstractmethod
    def loss(self, x): ...


class Concrete(AbstractModel):
    def __init__(self, w):
        super(Concrete, self).__init__(w)
        self.power = 3.0

    def loss(self, x):
        return np.sum(self.w * x**self.power)


class Between:
    def __init__(self, **more):
        super().__init__(**more)
        self.scale = 2.0


class Diamond(Between, Bottom):
    def __init__(self, w):
        super().__init__(w=w)

    def loss(self, x):
        return self.scale * super().loss(x)


def constructors_that_end_at_object(x):
    models = Bottom(x), Concrete(x), Diamond(x)
    return models[0].loss(x) + models[1].loss(x) * models[2].loss(x)


sample(constructors_that_end_at_object, lambda r: (r.uniform(0.6, 1.3, 3),))


class Table:
    def __init__(self, x):
        self.x = x
        self.c = np.sin(np.diff(x))

    def at(self, t):
        i = bisect.bisect(self.x, t) - 1
        return self.c[i] * (t - self.x[i]) ** 2


def table_of_an_extended_list(x):
    knots = [0]
    knots.extend(np.cumsum(x))
    return Table(knots).at(1.4)


sample(table_of_an_extended_list, lambda r: (r.uniform(0.6, 0.65, 3),))


# --- attributes that some objects have themselves, and others from their class -------------------


class Stage:
    scale = 2.0
    bias = None
    offset = np.array([0.5, -0.5])
    kind = "sin"
    taps = [1.0, 0.5]  # noqa: RUF012

    def __init__(self, w, **own):
        self.w = w
        for name, value in own.items():
            setattr(self, name, value)


def defaults_in_turn(stages, x):
    for s in stages:
        x = s.scale * np.tanh(s.w * x) + s.offset
    return np.sum(x)


def none_by_default(stages, x):
    for s in stages:
        x = np.tanh(s.w * x)
        if s.bias is not None:
            x = x + s.bias * x**2
    return np.sum(x)


def none_by_getattr(stages, x):
    total = 0.0
    for s in stages:
        bias = getattr(s, "bias", None)
        total += np.sum(s.w * x) if bias is None else np.sum(np.sin(bias * s.w * x))
    return total


def one_of_two(stages, x):
    s = stages[0] if x[0] > 5.0 else stages[1]
    return np.sum(s.scale * s.w * x) * (1.0 if s.bias is None else s.bias)


class Pair:
    """What `*` gives depends on the class of what stands on its right."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Pair(self.x + other.x, self.y + other.y)

    def __mul__(self, other):
        if isinstance(other, Pair):
            return self.x * other.x + self.y * other.y
        return Pair(self.x * other, self.y * other)

    __rmul__ = __mul__


def products_of_pairs(x):
    p, v = Pair(x[0], x[1]), Pair(x[1], x[2])
    for _ in range(3):
        p = p + 0.5 * v
    return p * v + v * p


sample(products_of_pairs, lambda r: (r.standard_normal(3),))


class Unit:
    factor = 2.0

    def __init__(self, w):
        self.w = w

    @classmethod
    def scaled(cls, w):
        return cls(cls.factor * w)

    @classmethod
    def weight(cls):
        return cls.factor + 1.0


class Half(Unit):
    """Its class methods have those of its base under the same names behind them."""

    factor = 0.5

    @classmethod
    def scaled(cls, w):
        return super().scaled(w * w)

    @classmethod
    def weight(cls):
        return 7.0

    def loss(self, x):
        return super().weight() * self.w * x + self.weight()


def class_methods_behind_others(x):
    half = Half.scaled(x)
    return half.loss(x) * Unit.weight()


sample(class_methods_behind_others, lambda r: (r.uniform(0.5, 1.5),))


def texts_and_lists_by_default(stages, x):
    total = 0.0
    for s in stages:
        y = s.taps[0] * x + s.taps[1] * x**2
        total += np.sum(np.sin(s.w * y) if s.kind == "sin" else np.cos(s.w * y))
    return total


def stages(*own):
    """Arguments: three stages, which have these attributes of their own, and a vector."""
    values = {"scale": 1.5, "bias": 0.7, "offset": np.array([0.2, 0.1]), "kind": "cos"}
    values["taps"] = [0.7, 0.3]

    def args(r):
        given = [{k: values[k] for k in names} for names in own]
        return [Stage(w, **kw) for w, kw in zip((0.7, 1.1, 0.9), given)], r.uniform(0.4, 0.9, 2)

    return args


for _args in stages((), ("scale",), ("offset",)), stages(("offset", "scale"), (), ()):
    sample(defaults_in_turn, _args, "stages")
    sample(defaults_in_turn, _args, "x")
for _args in stages((), ("bias",), ()), stages(("bias", "scale"), (), ("bias",)):
    for _function in none_by_default, none_by_getattr, one_of_two:
        sample(_function, _args, "stages")
        sample(_function, _args, "x")
sample(texts_and_lists_by_default, stages((), ("kind", "taps"), ("taps",)), "stages")
sample(texts_and_lists_by_default, stages(("kind",), ("taps",), ()), "x")


class PowerLaw:
    def __init__(self, by, power):
        self.by = by
        self.power = power

    @classmethod
    def usual(cls):
        return cls(2.0, 3)


def default_object(x, scale=None):
    if scale is None:
        scale = PowerLaw.usual()
    return np.sum(scale.by * x**scale.power)


sample(default_object, lambda r: (r.standard_normal(3),))
sample(default_object, lambda r: (r.standard_normal(3), PowerLaw(0.4, 2)), ("x", "scale.by"))


def object_in_the_place_of_an_argument(x, scale=None):
    by = scale
    scale = PowerLaw(x[0], 2)
    if by is not None:
        scale.by = scale.by * by
    return np.sum(scale.by * x**scale.power)


sample(object_in_the_place_of_an_argument, lambda r: (r.standard_normal(3),))
sample(object_in_the_place_of_an_argument, lambda r: (r.standard_normal(3), 0.7), (0, 1))
