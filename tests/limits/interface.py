"""Inputs, outputs and functions that are refused before anything is read."""

ARGUMENTS = {
    "The gradient of a Jacobian by several inputs": """
def f(x, y):
    return x * y

srcdiff.grad(srcdiff.jacobian(f, ("x", "y")))(np.ones(2), np.ones(2))
""",
    "The tangent of a gradient by a variable": """
w = np.ones(3)

def f(x):
    return np.sum(w * x * x)

srcdiff.jvp(srcdiff.grad(f, "global:w"), (np.ones(3),), (np.ones(3),))
""",
    "The gradient of what `backward` makes": """
def f(x):
    return x * x

srcdiff.grad(srcdiff.backward(f))(np.ones(2))
""",
    "A Jacobian by several inputs inside of a function": """
def f(x):
    by_x, by_y = srcdiff.jacobian(lambda x, y: x * y, (0, 1))(x, x)
    return np.sum(by_x * by_y)

srcdiff.grad(f)(np.ones(2))
""",
    "A pullback that leaves the differentiated function": """
def g(x):
    return x * x

def f(x):
    value, pull = srcdiff.vjp(g, x)
    return value, pull

srcdiff.grad(f, outputs=0)(np.ones(2))
""",
    "A pullback that a branch chooses": """
def g(x):
    return x * x

def f(x, k):
    if k > 0:
        value, pull = srcdiff.vjp(g, x)
    else:
        value, pull = srcdiff.vjp(np.sin, x)
    return np.sum(pull(value))

srcdiff.grad(f)(np.ones(2), 1)
""",
    "A pullback that leaves its loop": """
def g(x):
    return x * x

def f(x):
    for _ in range(2):
        x, pull = srcdiff.vjp(g, x)
    return np.sum(pull(x))

srcdiff.grad(f)(np.ones(2))
""",
    "A pullback by inputs that are computed": """
def f(x, k):
    value, pull = srcdiff.vjp(lambda y, z: y * z, x, x, inputs=k)
    return np.sum(pull(value))

srcdiff.grad(f)(np.ones(2), 1)
""",
    "`strong_zeros` for a function that is differentiated when it runs": """
def safe(x):
    return np.where(x > 0.0, np.sqrt(x), 0.0)

def f(x):
    return np.sum(srcdiff.checkpoint(safe)(x))

srcdiff.grad(f, strong_zeros=True)(np.zeros(2))
""",
    "`strong_zeros` for the steps of a solver": """
def f(x):
    return np.sum(srcdiff.fixed_point(lambda z, x: 0.5 * z + np.sqrt(x), x, x))

srcdiff.grad(f, strong_zeros=True)(np.ones(2))
""",
    "A workspace for a compiled gradient": """
def f(x):
    return x * x

srcdiff.grad(f, workspace=True, compile="numba")(2.0)
""",
    "Kernels for arrays of NumPy": """
def f(x):
    return np.sum(np.sin(x) * x)

srcdiff.grad(f, compile="cupy")(np.ones(3))
""",
    "Checks of adjoints that are compiled": """
def f(x):
    return np.sqrt(x)

with srcdiff.autograd.detect_anomaly():
    srcdiff.grad(f, compile="numba")(2.0)
""",
    "Hooks in what is compiled": """
def f(x):
    return np.sum(np.sin(x))

with srcdiff.autograd.saved_hooks(lambda a: a, lambda a: a):
    srcdiff.grad(f, compile="numba")(np.ones(3))
""",
    "An option that is a parameter of the function": """
def f(x, workspace):
    workspace[...] = 2.0 * x
    return np.sum(workspace * x)

srcdiff.vjp(f, np.ones(3), inputs="x", workspace=np.empty(3))
""",
    "A tangent by a part of an argument inside of a function": """
def g(params):
    return params["w"] ** 2

def f(x):
    return srcdiff.jvp(g, inputs="params['w']")({"w": x}, tangents=x)[1]

srcdiff.grad(f)(2.0)
""",
    "A pullback of a function with a parameter `grad_outputs` inside of a function": """
def g(x, grad_outputs=2.0):
    return np.sum(x**3) * grad_outputs

def f(x):
    return np.sum(srcdiff.vjp(g, inputs="x")(x, grad_outputs=3.0)[1]())

srcdiff.grad(f)(np.ones(2))
""",
    "A tangent of inputs in a dict inside of a function": """
def g(x, y):
    return x * x * y

def f(x):
    return srcdiff.jvp(g, (x, x), {"a": x}, inputs={"a": "x"})[1]

srcdiff.grad(f)(2.0)
""",
    "A vector by the name of a parameter that is given by keyword alone": """
def f(x, *, v):
    return np.sum(x**2 * v)

srcdiff.hvp(f)(np.ones(2), v=np.ones(2))
""",
    "A check with an option that is a parameter of the function": """
def f(x, eps):
    return x * x + eps

srcdiff.testing.gradcheck(f, (2.0,), eps=1.0)
""",
    "An integer input": """
def f(x):
    return x * x

srcdiff.grad(f)(2)
""",
    "An input without numbers": """
def f(x):
    return x

srcdiff.grad(f)("text")
""",
    "An array of objects": """
def f(x):
    return np.sum(x * x)

srcdiff.grad(f)(np.array([1.0, 2.0], dtype=object))
""",
    "A masked array": """
def f(x, y):
    return np.sum(x * y)

srcdiff.grad(f)(np.ones(2), np.ma.array([1.0, 2.0], mask=[True, False]))
""",
    "A `np.matrix`": """
def f(x):
    return np.sum(x * x)

srcdiff.grad(f)(np.ones((2, 2)).view(np.matrix))
""",
    "Another subclass of arrays": """
class Positions(np.ndarray):
    pass

def f(x):
    return np.sum(x * x)

srcdiff.grad(f)(np.ones(2).view(Positions))
""",
    "An argument of which elements share memory": """
def f(x):
    x[0] *= 2.0
    return np.sum(x)

srcdiff.grad(f)(np.lib.stride_tricks.as_strided(np.ones(4), (3, 2), (8, 8)))
""",
    "Arguments that share memory": """
def f(x, y):
    x[0] = 2.0
    return np.sum(x * y)

a = np.ones(3)
srcdiff.grad(f)(a, a[::-1])
""",
    "An input that is not there": """
def f(x, y):
    return x * y

srcdiff.grad(f, "z")(2.0, 3.0)
""",
    "An input of a strange type": """
def f(x, y):
    return x * y

srcdiff.grad(f, 0.5)(2.0, 3.0)
""",
    "An input that stands for any number of arguments": """
def f(*xs):
    return xs[0] * xs[1]

srcdiff.grad(f, "xs")(2.0, 3.0)
""",
    "An item of any number of arguments that is not given": """
def f(*xs):
    return xs[0] * xs[-1]

srcdiff.grad(f, 2)(2.0, 3.0)
""",
    "A function without parameters": """
def f():
    return 2.0

srcdiff.grad(f)()
""",
    "A parameter with the name of the cotangent": """
def f(x, *, grad_outputs):
    return x * grad_outputs

srcdiff.grad(f)(2.0, grad_outputs=3.0)
""",
    "An input at a position that is not there": """
def f(x):
    return x * x

srcdiff.grad(f, 1)(2.0)
""",
    "An input that cannot be read": """
def f(x):
    return x * x

srcdiff.grad(f, "x[")(2.0)
""",
    "An attribute that an input does not have": """
class Model:
    def __init__(self):
        self.w = 2.0

def f(model, x):
    return model.w * x

srcdiff.grad(f, "model.b")(Model(), 2.0)
""",
}

OUTPUTS = {
    "An input that no output depends on": """
def f(x, n):
    return n * 2.0 if x > 0.0 else n

srcdiff.grad(f)(2.0, 3.0)
""",
    "Nothing returned": """
def f(x):
    x * x

srcdiff.grad(f)(2.0)
""",
    "An output that is not there": """
def f(x):
    return x, x * x

srcdiff.grad(f, outputs=2)(2.0)
""",
    "A key of a single output": """
def f(x):
    return x * x

srcdiff.grad(f, outputs="loss")(2.0)
""",
    "No auxiliary output": """
def f(x):
    return x * x

srcdiff.grad(f, has_aux=True)(2.0)
""",
    "No auxiliary output of a linearised function": """
def f(x):
    return x * x

srcdiff.linearize(f, 2.0, has_aux=True)
""",
    "No cotangent for an array": """
def f(x):
    return x * x

srcdiff.grad(f)(np.ones(3))
""",
    "A cotangent of another shape": """
def f(x):
    return x * x

srcdiff.grad(f)(np.ones(3), grad_outputs=np.ones(2))
""",
    "An input that is only compared": """
def f(x):
    return 1.0 if x > 2.0 else 0.0

srcdiff.grad(f)(2.0)
""",
    "The second derivative of a linear function": """
def f(x):
    return 2.0 * x

srcdiff.grad(srcdiff.grad(f))(2.0)
""",
    "A pullback after its release": """
def f(x):
    return x * x
value, pullback = srcdiff.vjp(f, 2.0)
pullback.release()
pullback()
""",
    "An output that a run does not have": """
def f(x):
    return {"loss": x * x}

srcdiff.autograd.run(f, 3.0)["cost"]
""",
    "An element as an output of a run": """
def f(x):
    return x * x

srcdiff.autograd.run(f, np.ones(3))[0]
""",
    "An input that a run does not have": """
def f(x):
    return x * x

srcdiff.autograd.run(f, 3.0).grad("y")
""",
    "An input that no output of a run depends on": """
def f(x, y):
    return x * x

srcdiff.autograd.grad(srcdiff.autograd.run(f, 3.0, 2.0), ["y"])
""",
    "A key that is not there": """
def f(x):
    return {"loss": x * x}

srcdiff.grad(f, outputs="cost")(2.0)
""",
    "A position of nothing": """
def f(x):
    return ()

srcdiff.grad(f, outputs=0)(2.0)
""",
    "A key of a tuple": """
def f(x):
    return x, x * x

srcdiff.grad(f, outputs="loss")(2.0)
""",
    "A position that a run does not have": """
def f(x):
    return x * x

srcdiff.autograd.run(f, 2.0).grad(1)
""",
    "An array that was not given to a run": """
def f(x):
    return x * x

srcdiff.autograd.run(f, np.ones(3)).grad(np.ones(3))
""",
    "A run that is to run again when something outside has changed": """
def f(x):
    return np.sum(weights * x**3)

weights = np.ones(3)
r = srcdiff.autograd.run(f, np.ones(3))
weights *= 2.0
r.grad("x", create_graph=True)
""",
    "The gradient of a method, run again when the object has changed": """
class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return self.w * x**3

model = Model(2.0)
r = srcdiff.autograd.run(srcdiff.grad(model.loss), 3.0)
model.w = 5.0
r.grad("x", create_graph=True)
""",
    "Gradients in buffers that are outputs again": """
def f(x):
    return x * x

srcdiff.autograd.run(f, 2.0).backward(create_graph=True, into={"x": np.zeros(())})
""",
}

VARIABLES = {
    "A variable that is not there": """
def f(x):
    return x * x

srcdiff.grad(f, "global:w")(2.0)
""",
    "A variable of a primitive": """
srcdiff.grad(np.sin, "global:w")(2.0)
""",
    "A variable with the name of a parameter": """
w = 2.0

def f(w):
    return w * w

srcdiff.grad(f, "global:w")(2.0)
""",
    "A variable with the name of a local one": """
w = 2.0

def f(x):
    w = x
    return w * x

srcdiff.grad(f, "global:w")(2.0)
""",
    "A variable that a function reads which is an argument": """
w = 0.5

def step(z):
    return np.cos(w * z)

def f(x):
    return srcdiff.fixed_point(step, x) * w

srcdiff.grad(f, "global:w")(2.0)
""",
    "A variable with two names": """
w = np.ones(3)
v = w

def f(x):
    return np.sum(x * w * v)

srcdiff.grad(f, "global:w")(2.0)
""",
    "A variable that a recursive function reads": """
w = 2.0

def power(n):
    return w if n == 0 else w * power(n - 1)

def f(x):
    return x * power(2)

srcdiff.grad(f, "global:w")(2.0)
""",
    "A variable that a nested recursive function reads": """
w = 2.0

def f(x):
    def power(n):
        return w if n == 0 else w * power(n - 1)
    return x * power(2)

srcdiff.grad(f, "global:w")(2.0)
""",
    "A batch of cotangents of a function with `has_aux`, in a differentiated one": """
rows = srcdiff.grad(lambda x: (x * x, len(x)), has_aux=True, is_grads_batched=True)

def f(x):
    return np.sum(rows(x, grad_outputs=np.eye(3)))

srcdiff.grad(f)(np.ones(3))
""",
    "A batch of cotangents for a list of any length, in a differentiated function": """
rows = srcdiff.grad(lambda xs: xs[0] * xs[1], is_grads_batched=True)

def f(x, n):
    xs = [x * k for k in range(n)]
    return np.sum(rows(xs, grad_outputs=np.eye(3))[0])

srcdiff.grad(f)(np.ones(3), 2)
""",
    "A batch of cotangents of a function that draws random numbers, in a differentiated one": """
def noisy(x):
    return x * np.random.normal()

rows = srcdiff.grad(noisy, is_grads_batched=True)

def f(x):
    return np.sum(rows(x, grad_outputs=np.eye(3)))

srcdiff.grad(f)(np.ones(3))
""",
}

SOURCES = {
    "No source": """
exec("def f(x): return x * x", globals())
f.__code__ = f.__code__.replace(co_filename="<generated>")

srcdiff.grad(f)(2.0)
""",
    "Source that has changed": """
import linecache

text = "def g(x):\\n    return 2.0 * x\\n"
exec(compile(text, "cell.py", "exec"))
text = "def g(x):\\n    return 3.0 * x\\n"
linecache.cache["cell.py"] = (len(text), None, text.splitlines(keepends=True), "cell.py")

srcdiff.grad(g)(2.0)
""",
    "No function": """
srcdiff.grad(3.0)
""",
    "A function that is not written in Python": """
srcdiff.grad("text".join)("a")
""",
    "A partial that does not fit": """
import functools

def f(x):
    return x * x

srcdiff.grad(functools.partial(f, 1.0, 2.0))
""",
    "A function that has neither source nor rule": """
import cmath

srcdiff.grad(cmath.isclose)(1.0, 2.0)
""",
    "Code that is nested too deeply": """
text = "def f(x):\\n    return " + "-" * 900 + "x\\n"

import linecache
linecache.cache["signs.py"] = (len(text), None, text.splitlines(keepends=True), "signs.py")
exec(compile(text, "signs.py", "exec"))

srcdiff.grad(f)(2.0)
""",
    "A run of any number of arguments": """
def f(*xs):
    return np.sum(xs[0] * xs[1])

srcdiff.autograd.run(f, np.ones(2), np.ones(2))
""",
}
