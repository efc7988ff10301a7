"""Objects in containers of the module, of closures and of other objects."""

import numpy as np

from .registry import sample


class Scaled:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return x * self.w


class Bent:
    def __init__(self, slope):
        self.slope = slope

    def forward(self, x):
        return np.tanh(self.slope * x)

    __call__ = forward


LAYERS = [Scaled(2.0), Bent(0.5), Scaled(np.array([3.0, 1.0, 2.0]))]
BY_NAME = {"first": Scaled(0.7), "second": (Bent(1.5), Bent(0.3))}


class Model:
    def __init__(self, layers):
        self.layers = layers
        self.offset = 0.2

    def predict(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x + self.offset

    def __call__(self, x):
        return np.sum(self.predict(x) ** 2)


MODEL = Model([Scaled(2.0), Bent(0.5)])


def layers_of_the_module(x):
    for layer in LAYERS:
        x = layer.forward(x)
    return np.sum(x)


def layers_by_place(x):
    y = LAYERS[0].forward(x)
    return np.sum(LAYERS[1](y) * y) + BY_NAME["first"].forward(x)[0]


def layers_by_name(x):
    x = BY_NAME["first"].forward(x)
    for bent in BY_NAME["second"]:
        x = bent(x)
    return np.sum(x**2)


def model_of_the_module(x):
    return MODEL(x) + np.sum(MODEL.predict(x[::-1]) * x)


def _with_layers(layers):
    def closure_over_layers(x):
        y = x
        for k, layer in enumerate(layers):
            y = layer.forward(y) + k * x
        return np.sum(y * y)

    return closure_over_layers


closure_over_layers = _with_layers([Bent(0.4), Scaled(1.5), Bent(1.1)])

for _program in (
    layers_of_the_module, layers_by_place, layers_by_name, model_of_the_module, closure_over_layers,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(-0.8, 0.8, 3),))


SLOPE = np.array([0.02, 0.05, 0.03])
NAMES = ["top", "mid", "deep"]


def leak(level, rate, floor=0.1):
    return rate * np.maximum(level - floor, 0.0) ** 1.5


class Soil:
    def __init__(self, storage):
        self.storage = storage

    def fill(self, water, params):
        return water / (self.storage * params["porosity"])


SOILS = [Soil(1.0), Soil(1.6), Soil(2.5)]


def soil(params, rain, steps):
    columns = len(params["start"])
    water = np.zeros((3, columns))
    water[0] = params["start"]
    buffers = {name: water[k] for k, name in enumerate(NAMES)}
    lost = []
    for t in range(steps):
        buffers["top"] += rain[t] * params["catch"]
        for k in range(2):
            down = leak(SOILS[k].fill(water[k], params), params["rate"][k])
            water[k] -= 0.1 * down
            water[k + 1] += 0.1 * down
        edge = water[:, :2]
        edge *= 1.0 - SLOPE[:, None]
        lost = lost + [water[2, -1] * 0.01]
        buffers["deep"] -= lost[-1]
    return np.sum(water**2) + sum(lost) * np.sum(buffers["mid"])


def _columns(r):
    params = {"start": r.random(4) + 0.5, "catch": r.random(4), "rate": r.random(2) + 0.3}
    return {**params, "porosity": 0.4}, r.random(3), 3


sample(soil, _columns)
