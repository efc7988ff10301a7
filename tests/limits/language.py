"""Statements, loops, expressions and names that are refused."""

STATEMENTS = {
    "`try`": """
def f(x):
    try:
        return np.sqrt(x)
    except ValueError:
        return 0.0 * x

srcdiff.grad(f)(2.0)
""",
    "`with`": """
import warnings

def f(x):
    with warnings.catch_warnings():
        return np.sqrt(x)

srcdiff.grad(f)(2.0)
""",
    "`match`": """
def f(x, shape):
    match shape:
        case [n, m]:
            return x * n * m
        case _:
            return x

srcdiff.grad(f)(2.0, (2, 3))
""",
    "A loop that counts back from an unsigned number of NumPy": """
def f(x, k):
    for _ in reversed(range(k)):
        x = x * x
    return x

srcdiff.grad(f, inputs="x")(0.5, np.uint8(0))
""",
    "A class inside": """
def f(x):
    class Scaled:
        factor = 2.0
    return Scaled.factor * x

srcdiff.grad(f)(2.0)
""",
    "A store into a global": """
count = 0

def f(x):
    global count
    count = count + 1
    return x * x

srcdiff.grad(f)(2.0)
""",
    "A store into a container from outside that is read": """
last = [0.0]

def f(x):
    last[0] = x
    return last[0] * x

srcdiff.grad(f)(2.0)
""",
    "A container from outside that is an argument as well": """
last = {"y": 1.0}

def f(x, d):
    last["y"] = x * x
    return x * d["y"]

srcdiff.grad(f)(2.0, last)
""",
    "A container from outside that is read in another": """
last = {"y": 1.0}
tables = {"last": last}

def f(x):
    last["y"] = x * x
    return x * tables["last"]["y"]

srcdiff.grad(f)(2.0)
""",
    "A store into an array from outside": """
buffer = np.zeros(2)

def f(x):
    buffer[0] = x
    return x * x

srcdiff.grad(f)(2.0)
""",
    "A store into what something outside holds": """
kept = []

def f(x):
    y = x * x
    kept.append(y)
    z = np.sum(y * x)
    y[0] = 0.0
    return z

srcdiff.grad(f)(np.ones(3))
""",
    "A store into an array from outside by another name": """
buffer = np.zeros(2)

def put(place, v):
    place[0] = v

def f(x):
    put(buffer, x)
    return np.sum(buffer) * x

srcdiff.grad(f)(2.0)
""",
    "`del` of an item of an array": """
def f(x):
    del x[0]
    return x

srcdiff.grad(f)(np.ones(3))
""",
    "More values than names": """
def f(x):
    a, b = x, x, x
    return a * b

srcdiff.grad(f)(2.0)
""",
    "Deeply nested code": """
text = "def f(x):\\n    if x == 0: return x\\n"
text += "".join(f"    elif x == {k}: return {k} * x\\n" for k in range(1, 500))

import linecache
linecache.cache["long.py"] = (len(text), None, text.splitlines(keepends=True), "long.py")
exec(compile(text, "long.py", "exec"))

srcdiff.grad(f)(2.0)
""",
    "`nonlocal` in a function that is passed on": """
def f(x):
    total = 0.0
    def add(v):
        nonlocal total
        total = total + v
        return total
    return twice(add, x)

def twice(h, x):
    return h(h(x))

srcdiff.grad(f)(2.0)
""",
    "An array with a derivative written into where none is recorded": """
def f(x):
    y = x * 2.0
    with srcdiff.autograd.no_grad():
        y[0] = 1.0
    return np.sum(y)

srcdiff.grad(f)(np.ones(3))
""",
    "A mode that is no `with`": """
def f(x):
    srcdiff.autograd.set_grad_enabled(False)
    return np.sum(x)

srcdiff.grad(f)(np.ones(3))
""",
}

LOOPS = {
    "A list that grows under its loop": """
def f(x):
    xs = [x]
    for v in xs:
        if len(xs) < 3:
            xs.append(2.0 * v)
    return xs[-1]

srcdiff.grad(f)(2.0)
""",
    "What a loop runs over and writes into, where its kind is not known": """
import numpy as np

def f(x):
    held = {"u": x}
    held.update([("v", x)])
    found = held.get("w", x)
    for v in found:
        found += v
    return np.sum(found)

srcdiff.grad(f)(np.ones(3))
""",
    "A loop over a generator expression": """
def f(x):
    total = 0.0
    for v in (x * k for k in range(3)):
        total = total + v
    return total

srcdiff.grad(f)(2.0)
""",
    "A generator expression that is kept": """
def f(x):
    values = (x * k for k in range(3))
    return sum(values)

srcdiff.grad(f)(2.0)
""",
    "`reversed` of an iterator": """
def f(xs, ys):
    total = 0.0
    for x, y in reversed(zip(xs, ys)):
        total = total * x + y
    return total

srcdiff.grad(f)([2.0, 3.0], [1.0, 1.0])
""",
    "`zip` that perhaps compares lengths": """
def f(xs, ys, strict):
    total = 0.0
    for x, y in zip(xs, ys, strict=strict):
        total = total + x * y
    return total

srcdiff.grad(f)([2.0, 3.0], [1.0, 1.0], True)
""",
    "A loop over an iterator": """
def f(xs):
    total = 0.0
    for v in iter(xs):
        total = total + v * v
    return total

srcdiff.grad(f)([2.0, 3.0])
""",
    "An attribute as the target of a loop": """
def f(x):
    p = Point(x)
    for p.value in [x, 2.0 * x]:
        pass
    return p.value

class Point:
    def __init__(self, value):
        self.value = value

srcdiff.grad(f)(2.0)
""",
    "Pairs of what never ends": """
import itertools

def f(x):
    total = 0.0
    for a, b in itertools.pairwise(itertools.count(x)):
        total = total + a * b
        if a > 4.0:
            break
    return total

srcdiff.grad(f)(2.0)
""",
    "A variable of a loop over `checkpointed` that becomes a number later, at order two": """
def f(x):
    total = 0
    for i in srcdiff.checkpointed(range(5), slots=2):
        x = x * x
        if i > 2:
            total = total + x
    return total

srcdiff.hvp(f, (1.1,), 1.0)
""",
    "A call of `checkpoint` that is differentiated forwards three times": """
def layer(w, x):
    return np.tanh(w * x)

def f(w, x):
    for _ in range(2):
        x = srcdiff.checkpoint(layer)(w, x)
    return np.sum(x)

def slope(w, x):
    return srcdiff.jvp(f, (w, x), (x, None))[1]

def bend(w, x):
    return srcdiff.jvp(slope, (w, x), (x, None))[1]

srcdiff.jvp(bend, (np.ones(2), np.ones(2)), (np.ones(2), None))
""",
    "A call for its effect in a loop over `checkpointed`": """
def f(x):
    xs = [0.0]
    for i in srcdiff.checkpointed(range(5), slots=2):
        x = x * x
        xs.append(x)
    return sum(xs)

srcdiff.grad(f)(1.1)
""",
    "A loop over `checkpointed` that computes nothing": """
def f(x):
    for i in srcdiff.checkpointed(range(5), slots=2):
        y = x * x
    return x

srcdiff.grad(f)(1.1)
""",
    "A loop over `checkpointed` with several targets": """
def f(x):
    for i, j in srcdiff.checkpointed(range(5), slots=2):
        x = x * x
    return x

srcdiff.grad(f)(1.1)
""",
    "A loop over `checkpointed` that makes a variable": """
def f(x):
    for i in srcdiff.checkpointed(range(5), slots=2):
        y = x * x
        x = 0.5 * y
    return y

srcdiff.grad(f)(1.1)
""",
    "A loop over `checkpointed` that is always left": """
def f(x):
    for i in srcdiff.checkpointed(range(5), slots=2):
        x = x * x
        if x > 3.0:
            break
        return x
    return x

srcdiff.grad(f)(1.1)
""",
    "`del` in a loop over `checkpointed`": """
def f(x):
    for i in srcdiff.checkpointed(range(5), slots=2):
        y = x * x
        x = x * y
        del y
    return x

srcdiff.grad(f)(1.1)
""",
    "Variables that share memory in a loop over `checkpointed`": """
def f(x):
    u = x * 1.0
    v = u[:1]
    for i in srcdiff.checkpointed(range(5), slots=2):
        u[0] = 2.0 * u[1] * v[0]
    return np.sum(u)

srcdiff.grad(f)(np.ones(3))
""",
    "A store into what is held in a loop over `checkpointed`": """
def set_first(v):
    v[0] = 2.0 * v[1]
    return v[0]

def f(x):
    held = {"u": x * 1.0}
    total = 0.0
    for i in srcdiff.checkpointed(range(5), slots=2):
        total = total + set_first(held["u"])
    return total

srcdiff.grad(f)(np.ones(3))
""",
}

EXPRESSIONS = {
    "`yield`": """
def f(x):
    yield x * x

srcdiff.grad(f)(2.0)
""",
    "`await`": """
async def f(x):
    return x * x

srcdiff.grad(f)(2.0)
""",
    "`:=` in text": """
def f(x):
    print(f"{(y := x * x)}")
    return y

srcdiff.grad(f)(2.0)
""",
    "Code that looks at the running frame": """
def f(x):
    return locals()["x"] * 2.0

srcdiff.grad(f)(2.0)
""",
    "A name that is not defined": """
def f(x):
    return x * unknown

srcdiff.grad(f)(2.0)
""",
    "A closure variable without a value": """
def make():
    def f(x):
        return x * later
    return srcdiff.grad(f)(2.0)
    later = 3.0

make()
""",
    "An attribute that a module does not have": """
def f(x):
    return np.sine(x)

srcdiff.grad(f)(2.0)
""",
    "An attribute that a descriptor of a class makes up": """
class Setting:
    def __get__(self, instance, owner):
        return 2.0

class Model:
    scale = Setting()

def f(x):
    return x * Model.scale

srcdiff.grad(f)(2.0)
""",
    "An object whose class answers for every attribute": """
class Lazy:
    def __getattribute__(self, name):
        return 2.0

lazy = Lazy()

def f(x):
    return x * lazy.scale

srcdiff.grad(f)(2.0)
""",
    "An import of a module that is not imported yet": """
def f(x):
    import this
    return x * len(this.s)

srcdiff.grad(f)(2.0)
""",
    "`:=` in a slice that reads its name": """
def f(x):
    n = 1
    return np.sum(x[n:, (n := 0)]) * n

srcdiff.grad(f)(np.ones((3, 3)))
""",
    "`exec`": """
def f(x):
    exec("y = x")
    return x * x

srcdiff.grad(f)(2.0)
""",
    "A call that may change something, in an expression that is kept as it is": """
def first(v):
    v[0] = 2.0 * v[1]
    return 2

def f(x):
    y = x * 1.0
    found = {k for k in range(first(y))}
    return np.sum(y * x) * len(found)

srcdiff.grad(f)(np.arange(1.0, 4.0))
""",
    "A nested function in the text of an error": """
def f(x):
    def half(v):
        return 0.5 * v
    if x < 0.0:
        raise ValueError(f"{half(x)}")
    return x * x

srcdiff.grad(f)(2.0)
""",
}
