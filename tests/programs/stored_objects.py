"""Objects that are stored into after they were taken from a list, a dict, or an attribute."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .registry import sample


class Body:
    def __init__(self, position, velocity):
        self.position, self.velocity = position, velocity

    def step(self, force, dt):
        self.velocity = self.velocity + dt * force
        self.position = self.position + dt * self.velocity


def bodies_in_a_list(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    for _ in range(3):
        for b in bodies:
            b.step(-(b.position**2), 0.1)
    return bodies[0].position * bodies[2].velocity


def pairs_of_bodies(x, v):
    bodies = []
    for i in range(3):
        bodies.append(Body(x[i], v[i]))
    for _ in range(2):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1 :]:
                pull = (b.position - a.position) ** 3
                a.velocity += 0.1 * pull
                b.velocity -= 0.1 * pull
        for b in bodies:
            b.position += 0.1 * b.velocity
    return sum(b.position * b.velocity for b in bodies)


def bodies_with_arrays(x, v):
    bodies = [Body(k * x, v.copy()) for k in (1.0, 2.0)]
    for b in bodies:
        b.position[0] = b.position[1] * b.velocity[0]
        b.velocity[1:] *= b.position[0]
        b.position = b.position * b.velocity
    return np.sum(bodies[0].position) * np.sum(bodies[1].velocity)


def bodies_with_names(x, v):
    sun, earth = Body(x[0], v[0]), Body(x[1], v[1])
    for _ in range(2):
        for b in (sun, earth):
            b.position = b.position * b.velocity
        sun.velocity = sun.velocity + earth.position
    return sun.position * earth.position * sun.velocity


def bodies_in_a_dict(x, v):
    bodies = {"a": Body(x[0], v[0]), "b": Body(x[1], v[1])}
    for _ in range(2):
        for b in bodies.values():
            b.position = b.position * b.velocity
        bodies["a"].velocity = bodies["b"].position
    return bodies["a"].position * bodies["b"].position


def bodies_by_number(x, v):
    bodies = {}
    for i in range(3):
        bodies[i] = Body(x[i], v[i])
    for i in bodies:
        bodies[i].position *= bodies[i].velocity
    return sum(b.position**2 for b in bodies.values())


def bodies_that_change_places(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    bodies[0].position, bodies[1].position = bodies[1].position, bodies[0].position
    bodies[0], bodies[2] = bodies[2], bodies[0]
    bodies[0].velocity = bodies[0].position * bodies[1].position
    return bodies[0].velocity * bodies[2].position


def one_body_under_two_names(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    first = bodies[0]
    first.position = first.position**2
    bodies[0].velocity = first.position * bodies[0].velocity
    bodies.append(first)
    bodies[3].position = bodies[3].position * 2
    return sum(b.position * b.velocity for b in bodies)


def the_best_body(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    best = None
    for b in bodies:
        if best is None or b.position > best.position:
            best = b
    best.position = best.position**2
    return sum(b.position * b.velocity for b in bodies)


def copies_of_bodies(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    before = [copy.copy(b) for b in bodies]
    for b in bodies:
        b.position = b.position * b.velocity
    return sum(b.position * c.position for b, c in zip(bodies, before))


def bodies_that_are_taken_out(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    total = 0.0
    while bodies:
        b = bodies.pop()
        b.position = b.position * b.velocity
        total = total + b.position
        if len(bodies) > 1:
            bodies[0].velocity = bodies[0].velocity * b.position
    return total


class System:
    def __init__(self, x, v):
        self.time, self.energies = 0.0, []
        self.bodies = [Body(x[i], v[i]) for i in range(3)]
        self.sun = self.bodies[0]

    def energy(self):
        return sum(0.5 * b.velocity**2 + 0.5 * b.position**2 for b in self.bodies)

    def step(self, dt):
        for b in self.bodies:
            if b is not self.sun:
                b.step((self.sun.position - b.position) ** 3, dt)
        self.time += dt
        self.energies.append(self.energy())


def system_with_a_sun(x, v):
    system = System(x, v)
    for _ in range(3):
        system.step(0.1)
    return system.bodies[1].position * system.sun.position * system.time + system.energies[1]


class Spring:
    def __init__(self, a, b, stiffness):
        self.a, self.b, self.stiffness = a, b, stiffness

    def pull(self, dt):
        force = self.stiffness * (self.b.position - self.a.position)
        self.a.velocity = self.a.velocity + dt * force
        self.b.velocity = self.b.velocity - dt * force


def springs_between_bodies(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    springs = [Spring(bodies[0], bodies[1], x[0]), Spring(bodies[1], bodies[2], v[0])]
    for _ in range(3):
        for s in springs:
            s.pull(0.1)
        for b in bodies:
            b.position = b.position + 0.1 * b.velocity
    return bodies[0].position * bodies[2].position * springs[1].a.velocity


class Layer:
    scale = 0.5

    def __init__(self, weight):
        self.weight, self.seen = weight, None

    def forward(self, x):
        self.seen = x
        self.kept = x * self.scale
        return np.tanh(x * self.weight)


def layers_that_keep_what_they_see(x, v):
    layers = [Layer(k * v) for k in range(1, 4)]
    for layer in layers:
        x = layer.forward(x)
    return np.sum(layers[0].seen * layers[2].kept * x)


class Network:
    def __init__(self, weights):
        self.layers = [Layer(w) for w in weights]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


def caches_that_nobody_reads(network, x):
    return np.sum(network.forward(x) ** 2)


@dataclass
class Particle:
    at: np.ndarray
    best: np.ndarray
    cost: float = np.inf
    costs: list = field(default_factory=list)


def swarm(x, v):
    particles = [Particle(k * x, x) for k in (1.0, 2.0)]
    for _ in range(3):
        for p in particles:
            cost = np.sum((p.at - v) ** 2)
            p.costs.append(cost)
            if cost < p.cost:
                p.cost, p.best = cost, p.at
            p.at = p.at * 0.9
    return particles[0].cost * sum(particles[1].costs) + np.sum(particles[1].best)


class Falling(Body):
    gravity = 0.3

    def __init__(self, position, velocity, mass=2.0):
        super().__init__(position, velocity)
        if mass > 1:
            self.mass = mass
        else:
            self.mass = 1.0

    @property
    def energy(self):
        return 0.5 * self.mass * self.velocity**2 + self.gravity * self.position

    @property
    def height(self):
        return self.position

    @height.setter
    def height(self, value):
        self.position = value * self.mass

    def fall(self, dt):
        self.velocity = self.velocity - self.gravity * dt * self.position
        self.height += dt * self.velocity


def properties_and_a_base_class(x, v):
    bodies = [Falling(x[0], v[0]), Falling(x[1], v[1], 0.5)]
    for _ in range(3):
        for b in bodies:
            b.fall(0.1)
    return sum(b.energy for b in bodies)


class Number:
    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents


def gradients_by_hand(x, v):
    a, b = Number(x[0]), Number(v[1])
    c = Number(a.data * b.data, (a, b))
    c.grad = 1.0
    c.parents[0].grad += c.grad * c.parents[1].data
    c.parents[1].grad += c.grad * c.parents[0].data
    return a.grad * b.grad * c.data


def rows_of_bodies(x, v):
    rows = [[Body(x[i], v[j]) for i in range(2)] for j in range(2)]
    for row in rows:
        for b in row:
            b.position = b.position * b.velocity
    rows[0][1].position = rows[1][0].position ** 2
    return sum(b.position for row in rows for b in row)


def attributes_by_name(x, v):
    bodies = [Body(x[i], v[i]) for i in range(3)]
    for b in bodies:
        setattr(b, "position", getattr(b, "velocity") * b.position)  # noqa: B009, B010
        b.mass = b.position * 2
    return sum(b.position * b.mass for b in bodies) * bodies[0].position


# --- objects of several names --------------------------------------------------------------------


def in_a_list_already(x, v):
    body = Body(x, v)
    bodies = [body]
    body.position = x * v
    return np.sum(bodies[0].position * body.velocity)


def another_name_at_times(x, v):
    body = Body(x[0], v[0])
    other = body
    for i in range(2):
        other = Body(x[1], v[1]) if i else other
        body.position = body.position * x[2]
    return other.position * body.position


def one_of_two(x, v):
    a, b = Body(x[0], v[0]), Body(x[1], v[1])
    chosen = a if x[0] > v[0] else b
    chosen.position = chosen.position * x[2]
    return a.position * b.position * chosen.velocity


def names_that_are_exchanged(x, v):
    a, b = Body(x[0], v[0]), Body(x[1], v[1])
    for _ in range(3):
        a, b = b, a
        a.position = a.position * b.position
    return a.position + b.position**2


def one_body_in_a_history(x, v):
    body, history = Body(x, v), []
    for _ in range(3):
        body.step(-body.position, 0.1)
        history.append(body)
    return np.sum(history[0].position * history[1].velocity)


for _function in (
    in_a_list_already,
    another_name_at_times,
    one_of_two,
    names_that_are_exchanged,
    one_body_in_a_history,
    bodies_in_a_list,
    pairs_of_bodies,
    bodies_with_arrays,
    bodies_with_names,
    bodies_in_a_dict,
    bodies_by_number,
    bodies_that_change_places,
    one_body_under_two_names,
    the_best_body,
    copies_of_bodies,
    bodies_that_are_taken_out,
    system_with_a_sun,
    springs_between_bodies,
    layers_that_keep_what_they_see,
    swarm,
    properties_and_a_base_class,
    gradients_by_hand,
    rows_of_bodies,
    attributes_by_name,
):
    sample(
        _function,
        lambda r: (r.uniform(0.4, 1.2, 3), r.uniform(0.4, 1.2, 3)),
        inputs=(0, 1),
    )

sample(
    caches_that_nobody_reads,
    lambda r: (Network([r.uniform(0.3, 0.9, 2), r.uniform(0.3, 0.9, 2)]), r.uniform(0.3, 0.9, 2)),
    inputs=(0, 1),
)


# --- objects that hold one array, which is written into -------------------------------------------


@dataclass
class Two:
    u: object
    w: object


class Both(NamedTuple):
    u: object
    w: object


def object_beside_what_it_holds(x):
    y = x * 2.0
    z = y
    z[:2] -= 0.5
    return 1.5, Both(z, 0.4), z


sample(object_beside_what_it_holds, lambda r: (r.standard_normal(4),), order2=False)


def object_in_a_dict_beside_what_it_holds(x):
    y = x * 1.5
    y += 0.3
    held = {"both": Two(y, x), "one": y}
    y[1:] *= 2.0
    return np.sum(held["both"].u * held["one"]) + np.sum(held["both"].w)


sample(object_in_a_dict_beside_what_it_holds, lambda r: (r.standard_normal(4),))


def object_of_an_array_and_a_view(x):
    y = x * 1.5
    z = y[::-1]
    held = Two(y, z)
    z[1:] *= 2.0
    return held


sample(object_of_an_array_and_a_view, lambda r: (r.standard_normal(4),), order2=False)


def objects_of_one_array(x):
    y = x * 1.5
    held = [Two(y, y[::-1]), Two(x, y)]
    for k in range(3):
        held[k % 2].u[1:] *= 2.0
        held[k % 2].w = held[(k + 1) % 2].u
    return np.sum(held[0].w * held[1].u)


sample(objects_of_one_array, lambda r: (r.standard_normal(4),))


def objects_of_windows(x):
    y = x * 1.5
    held = []
    for k in range(3):
        held.append(Two(y[k % 2 :], y[::-1]))
        y[1:] *= x[:-1]
    total = 0.0
    for two in held:
        two.u[0] *= 0.5
        total += np.sum(two.u[1:3]) * two.w[0]
    return total + np.sum(y)


sample(objects_of_windows, lambda r: (r.standard_normal(4),))


def objects_with_numbers_beside_arrays(x):
    y = x * 1.5
    held = [Two(y, x[0]), Two(y[::-1], x[1])]
    for k in range(3):
        held[k % 2].u[1:] *= held[k % 2].w
        held[k % 2].w = held[k % 2].w * x[2]
    return np.sum(held[0].u * held[1].u) + held[0].w


sample(objects_with_numbers_beside_arrays, lambda r: (r.standard_normal(4),))


def named_tuple_in_two_places(x):
    y = x * 1.5
    y[1:] *= 2.0
    both = Both(y, y)
    held = {"p": both, "q": [both, Both(y, x)]}
    for k in range(2):
        held["q"][k].u[0] += x[k]
    u, w = held["p"]
    return np.sum(u * w) + np.sum(held["q"][1].w)


sample(named_tuple_in_two_places, lambda r: (r.standard_normal(4),))
