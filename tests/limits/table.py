"""The table of what is refused: a topic, titles and programs."""

from __future__ import annotations

from . import Limit

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
    "A store into a container from outside": """
last = [0.0]

def f(x):
    last[0] = x
    return x * x

srcdiff.grad(f)(2.0)
""",
    "`del` of an item of an array": """
def f(x):
    del x[0]
    return x

srcdiff.grad(f)(np.ones(3))
""",
    "`del` of an attribute": """
def f(x):
    del x.real
    return x

srcdiff.grad(f)(np.ones(3))
""",
    "Assignment to an attribute of an object in a list": """
def f(x):
    points = [Point(x), Point(2.0 * x)]
    for p in points:
        p.value = p.value * x
    return points[0].value

class Point:
    def __init__(self, value):
        self.value = value

srcdiff.grad(f)(2.0)
""",
    "Assignment to an attribute of an object that has two names": """
def f(x):
    p = Point(x)
    points = [p]
    p.value = x * x
    return points[0].value

class Point:
    def __init__(self, value):
        self.value = value

srcdiff.grad(f)(2.0)
""",
    "A method that calls itself on the same object": """
class Power:
    def of(self, x, n):
        return x if n == 1 else x * self.of(x, n - 1)

srcdiff.grad(Power().of)(2.0, 3)
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
    "`zip` that compares lengths": """
def f(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        total = total + x * y
    return total

srcdiff.grad(f)([2.0, 3.0], [1.0, 1.0])
""",
    "`reduce` of something reversed": """
import functools

def f(xs):
    return functools.reduce(lambda a, b: a * b, reversed(xs))

srcdiff.grad(f)([2.0, 3.0])
""",
    "A loop over an iterator": """
def f(xs):
    total = 0.0
    for v in iter(xs):
        total = total + v * v
    return total

srcdiff.grad(f)([2.0, 3.0])
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
    "`:=` in a slice that reads its name": """
def f(x):
    n = 1
    return np.sum(x[n:, (n := 0)]) * n

srcdiff.grad(f)(np.ones((3, 3)))
""",
    "A nested function in an assertion": """
def f(x):
    def positive(v):
        return v > 0.0
    assert positive(x), "negative"
    return x * x

srcdiff.grad(f)(2.0)
""",
    "`exec`": """
def f(x):
    exec("y = x")
    return x * x

srcdiff.grad(f)(2.0)
""",
    "`super`": """
class A:
    def f(self, x): return x

class B(A):
    def f(self, x):
        base = super()
        return base.f(x) * x

srcdiff.grad(B().f)(2.0)
""",
}

FUNCTIONS = {
    "A nested function before its definition": """
def f(x):
    y = square(x)
    def square(v):
        return v * v
    return y

srcdiff.grad(f)(2.0)
""",
    "Arguments that a nested function does not take": """
def f(x):
    def add(a, b):
        return a + b
    return add(x)

srcdiff.grad(f)(2.0)
""",
    "Arguments that a function does not take": """
def add(a, b):
    return a + b

def f(x):
    return add(x)

srcdiff.grad(f)(2.0)
""",
    "A nested function that is kept": """
def f(x, store):
    def scaled(v):
        return v * x
    store.append(scaled)
    return scaled(x)

srcdiff.grad(f)(2.0, [])
""",
    "A lambda that reads what changes, and is kept": """
def f(x, store):
    y = x
    for k in range(3):
        y = y * x
        store.append(lambda v: v * y)
    return y

srcdiff.grad(f)(2.0, [])
""",
    "A callee that only the running program knows": """
def f(x, function):
    return function(x)

print(srcdiff.source(f))
""",
    "A function kept in a loop whose variables change": """
def f(x):
    functions = []
    for j in range(3):
        functions += [lambda y: x * y * k for k in range(j)]
    return functions[0](x)

srcdiff.grad(f)(2.0)
""",
    "A function that holds itself as it was": """
def f(x):
    g = lambda y: y
    for i in range(3):
        g = lambda y, before=g: x * before(y)
    return g(x)

srcdiff.grad(f)(2.0)
""",
    "`nonlocal` in a function that is a value": """
def f(x):
    total = 0.0
    def add(y):
        nonlocal total
        total = total + y
    actions = [add]
    actions[0](x)
    return total

srcdiff.grad(f)(2.0)
""",
    "A function that nothing is known of": """
def f(x):
    return np.frompyfunc(abs, 1, 1)(x)

srcdiff.grad(f)(2.0)
""",
    "A function without a rule": """
def f(x):
    return np.polynomial.chebyshev.chebval(x, [1.0, 2.0])

srcdiff.grad(f)(2.0)
""",
    "An argument that a rule does not cover": """
def f(x):
    return np.interp(x, x, x, period=3.0)

srcdiff.grad(f)(np.ones(3))
""",
    "A display of values as argument of a recursive function": """
def power(pair, n):
    return pair[0] if n == 0 else power((pair[0] * pair[1], pair[1]), n - 1)

def f(x):
    return power((x, x), 3)

srcdiff.grad(f)(2.0)
""",
    "A wrapper that assigns its `*args`": """
import functools

def logged(f):
    @functools.wraps(f)
    def wrapper(*args):
        args = args[:1]
        return f(*args)
    return wrapper

@logged
def f(x):
    return x * x

srcdiff.grad(f)(2.0)
""",
    "A nested function as a value before its definition": """
def f(x):
    y = map(square, [x])
    def square(v):
        return v * v
    return list(y)[0]

srcdiff.grad(f)(2.0)
""",
    "Too many arguments": """
def scaled(x, k=1.0):
    return k * x

def f(x):
    return scaled(x, 2.0, 3.0)

srcdiff.grad(f)(2.0)
""",
    "`*` of unknown length": """
def add(a, b):
    return a + b

def f(pair):
    return add(*pair)
print(srcdiff.source(f))
""",
    "`**` of unknown keys": """
def scaled(x, k=1.0):
    return k * x

def f(x, options):
    return scaled(x, **options)

srcdiff.source(f)
""",
    "A wrapper that uses its `*args`, around a function with `*`": """
import functools

def d(f):
    @functools.wraps(f)
    def w(*args):
        return f(*args) * len(args)
    return w

@d
def f(x, *rest):
    return x * x

srcdiff.grad(f)(2.0)
""",
    "A wrapper that adds arguments at the end": """
import functools

def d(f):
    @functools.wraps(f)
    def w(*args):
        return f(*args, 2.0)
    return w

@d
def f(x, y):
    return x * y

srcdiff.grad(f)(2.0, 3.0)
""",
    "A method that nothing is known of": """
def f(x, p):
    return p.linspace(x)

srcdiff.grad(f)(2.0, np.polynomial.Polynomial([1.0, 2.0]))
""",
    "A recursive function with `**`": """
def scaled(x, **options):
    return x if x > 10.0 else scaled(x * options["k"], **options)

def f(x):
    return scaled(x, k=2.0)

srcdiff.grad(f)(2.0)
""",
    "A recursive function that writes into an argument and returns it": """
def fill(a, n):
    a[n] = 2.0 * a[n]
    if n > 0:
        fill(a, n - 1)
    return a

def f(x):
    return np.sum(fill(x, 2))

srcdiff.grad(f)(np.ones(3))
""",
    "A recursive function that writes into memory with two names": """
def fill(a, b, n):
    a[n] = 2.0 * b[n]
    if n > 0:
        fill(a, b, n - 1)

def f(x):
    y = x * 1.0
    fill(y, y, 2)
    return np.sum(y)

srcdiff.grad(f)(np.ones(3))
""",
    "A recursive function that writes into a list": """
def fill(a, n):
    a[n] = 2.0 * a[n]
    if n > 0:
        fill(a, n - 1)

def f(x):
    y = [x * 1.0, 2.0]
    fill(y, 1)
    return np.sum(y[0])

srcdiff.grad(f)(2.0)
""",
}

CONTAINERS = {
    "A set of values": """
def f(x):
    return sum({x, 2.0 * x})

srcdiff.grad(f)(2.0)
""",
    "`sorted` by a key, of values": """
def f(xs):
    return sorted(xs, key=lambda v: -v)[0]

srcdiff.grad(f)([2.0, 3.0])
""",
    "A slice with a step that is taken out": """
def f(x):
    xs = [x, 2.0 * x, x * x]
    del xs[::2]
    return xs[0]

srcdiff.grad(f)(2.0)
""",
    "A class of your own with a `__new__`": """
class Pair:
    def __new__(cls, a, b):
        return object.__new__(cls)

def f(x):
    return Pair(x, 2.0 * x)

srcdiff.grad(f)(2.0)
""",
    "A list that is sorted by a key": """
def f(x):
    xs = [x, 2.0 * x]
    xs.sort(key=lambda v: -v)
    return xs[0]

srcdiff.grad(f)(2.0)
""",
    "`*=` of a list": """
def f(x):
    xs = [x]
    xs *= 2
    return xs[1]

srcdiff.grad(f)(2.0)
""",
    "A dict filled from what nobody knows": """
def f(x, pairs):
    d = {"a": x}
    d.update(pairs)
    return d["a"]

srcdiff.grad(f)(2.0, iter([("b", 1.0)]))
""",
    "A loop without an end": """
import itertools

def f(x):
    for k in itertools.count():
        x = x * x
    return x

srcdiff.grad(f)(2.0)
""",
    "A list of what never ends": """
import itertools

def f(x):
    counter = itertools.count()
    for k in counter:
        x = x * x
    return x

srcdiff.grad(f)(2.0)
""",
    "A position for `pop`, where arrays are written in place": """
def f(x):
    a = x * 1.0
    xs = [a, x * 2.0]
    xs[0][0] = 5.0
    b = xs.pop(0)
    return np.sum(b * xs[0])

srcdiff.grad(f)(np.ones(3))
""",
}

MEMORY = {
    "`+=` on what may be a number or an array": """
def f(x):
    y = x
    y += 1.0
    return np.sum(x * y)

srcdiff.source(f)
""",
    "`+=` on an element that may be a number or an array": """
def f(x):
    xs = [x]
    y = xs[0]
    xs[0] += 1.0
    return np.sum(y * xs[0])

srcdiff.source(f)
""",
    "A constant that shares memory with what is written": """
def f(x):
    y = x * 2.0
    c = srcdiff.stop_gradient(y)
    y[0] = 3.0
    return np.sum(c * y)

srcdiff.grad(f)(np.ones(3))
""",
    "An array in a list, both written into": """
def f(x):
    a = x * 1.0
    xs = [a]
    xs.insert(0, x * 2.0)
    a[0] = 5.0
    return np.sum(xs[0] * xs[1])

srcdiff.grad(f)(np.ones(3))
""",
}

RULES = {
    "`where=` without `out=`": """
def f(x):
    return np.sum(np.sin(x, where=x > 0.0))

srcdiff.grad(f)(np.ones(3))
""",
    "A mode of `np.pad`": """
def f(x):
    return np.sum(np.pad(x, 1, mode="mean"))

srcdiff.grad(f)(np.ones(3))
""",
    "A random permutation": """
def f(x):
    return np.random.permutation(x)[0]

srcdiff.grad(f)(np.ones(3))
""",
}

OWN_RULES = {
    "A parameter that a rule forgets": """
def scaled(x, k):
    return k * x

@srcdiff.rule(scaled)
def rule_of_scaled(x, k):
    z = scaled(x, k)
    yield z
    d[x] += k * d[z]

def f(x):
    return scaled(2.0, x)

srcdiff.grad(f)(3.0)
""",
    "`d` without a name": """
def double(x):
    return 2.0 * x

@srcdiff.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    print(d)

srcdiff.grad(double)(3.0)
""",
    "`d` of something else than a name": """
def double(x):
    return 2.0 * x

@srcdiff.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    d[0] += 2.0 * d[z]

srcdiff.grad(double)(3.0)
""",
    "`d` as a variable": """
def double(x):
    return 2.0 * x

@srcdiff.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    d = 2.0

srcdiff.grad(double)(3.0)
""",
    "Two `yield`s": """
def double(x):
    return 2.0 * x

@srcdiff.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    d[x] += 2.0 * d[z]
    yield z

srcdiff.grad(double)(3.0)
""",
    "A `return` in a rule": """
def double(x):
    return 2.0 * x

@srcdiff.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    if x > 0.0:
        return
    d[x] += 2.0 * d[z]

srcdiff.grad(double)(3.0)
""",
    "A function that has no rule to check": """
import math
srcdiff.testing.check_rule(math.ulp, "1.0")
""",
}

ARGUMENTS = {
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

srcdiff.grad(f)(2.0, 3.0)
""",
    "A function without parameters": """
def f():
    return 2.0

srcdiff.grad(f)()
""",
    "A parameter with the name of the cotangent": """
def f(x, grad_outputs):
    return x * grad_outputs

srcdiff.grad(f)(2.0, 3.0)
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

srcdiff.run(f, 3.0)["cost"]
""",
    "An element as an output of a run": """
def f(x):
    return x * x

srcdiff.run(f, np.ones(3))[0]
""",
    "An input that a run does not have": """
def f(x):
    return x * x

srcdiff.run(f, 3.0).grad("y")
""",
    "An input that no output of a run depends on": """
def f(x, y):
    return x * x

srcdiff.autograd.grad(srcdiff.run(f, 3.0, 2.0), ["y"])
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
}

_TOPICS = {
    "Statements": STATEMENTS,
    "Loops": LOOPS,
    "Expressions and names": EXPRESSIONS,
    "Functions": FUNCTIONS,
    "Containers": CONTAINERS,
    "Memory": MEMORY,
    "Rules": RULES,
    "Rules of your own": OWN_RULES,
    "Arguments": ARGUMENTS,
    "Outputs": OUTPUTS,
    "Sources": SOURCES,
}

LIMITS = tuple(
    Limit(topic, title, program)
    for topic, programs in _TOPICS.items()
    for title, program in programs.items()
    if program
)
