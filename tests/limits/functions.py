"""Functions that are refused: arguments, recursion, functions as values."""

FUNCTIONS = {
    "A nested function that keeps its results": """
import functools

def f(x):
    @functools.cache
    def g(k):
        return x if k == 0 else x * g(k - 1)
    return g(2) * g(1)

srcdiff.grad(f)(2.0)
""",
    "What a function gives that keeps its results, written into": """
import functools

@functools.cache
def buffer(n):
    return np.zeros(n)

def f(x):
    v = buffer(2)
    v[:] = x
    return np.sum(v)

srcdiff.grad(f)(2.0)
""",
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
    "A module of your own as an argument": """
import types

def f(x, module):
    return module.square(x)

tools = types.ModuleType("tools")
tools.square = lambda x: x * x
srcdiff.grad(f)(2.0, tools)
""",
    "What a module that is an argument has not": """
def f(x, xp):
    return xp.square_of(x)

srcdiff.grad(f)(2.0, np)
""",
    "A function that nothing is known of": """
import operator

def f(x, table):
    return table["step"](x)

srcdiff.grad(f)(2.0, {"step": operator.attrgetter("real")})
""",
    "A function without a rule": """
def f(x):
    return np.sum(np.polynomial.chebyshev.chebder(x))

srcdiff.grad(f)(np.ones(3))
""",
    "An argument that a rule does not cover": """
def f(x):
    return np.interp(x, x, x, period=3.0)

srcdiff.grad(f)(np.ones(3))
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
def add(a, b=1.0):
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
    "A recursive function that writes into an argument and returns it in a tuple": """
def fill(a, n):
    a[n] = 2.0 * a[n]
    if n > 0:
        fill(a, n - 1)
    return a, n

def f(x):
    return np.sum(fill(x, 2)[0])

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
    "A loop over a list that a function changes": """
def grow(xs, x):
    xs.append(x)

def f(x):
    xs, total = [x], 0.0
    for v in xs:
        total = total + v
        if len(xs) < 4:
            grow(xs, v * v)
    return total

srcdiff.grad(f)(2.0)
""",
    "A method that changes its object, as a value": """
def f(x):
    xs = [x]
    add = xs.append
    add(2.0 * x)
    return sum(xs)

srcdiff.grad(f)(2.0)
""",
    "A lambda that changes something, passed to a recursive function": """
def each(add, x, n):
    add(x)
    if n > 0:
        each(add, x, n - 1)

def f(x):
    xs = [x]
    each(lambda v: xs.append(v), x, 2)
    return sum(xs)

srcdiff.grad(f)(2.0)
""",
    "A recursive function that writes into a dict": """
def fill(a, n):
    a[n] = 2.0 * a[n]
    if n > 0:
        fill(a, n - 1)

def f(x):
    y = {0: x * 1.0, 1: 2.0}
    fill(y, 1)
    return np.sum(y[0])

srcdiff.grad(f)(2.0)
""",
    "A recursive function that collects values in a list": """
def collect(x, out, n):
    out.append(x)
    if n > 0:
        collect(2.0 * x, out, n - 1)

def f(x):
    out = []
    collect(x, out, 2)
    return sum(out)

srcdiff.grad(f)(2.0)
""",
    "A recursive function whose result holds one array twice": """
def both(x, n):
    if n == 0:
        y = 2.0 * x
        return y, y[1:]
    return both(1.5 * x, n - 1)

def f(x):
    a, b = both(x, 2)
    b *= x[0]
    return np.sum(a)

srcdiff.grad(f)(np.ones(3))
""",
    "A recursive function that returns a list that it is given, which is changed later": """
def same(xs, n):
    return xs if n == 0 else same(xs, n - 1)

def f(x):
    xs = [x]
    ys = same(xs, 2)
    ys.append(x * x)
    return sum(xs)

srcdiff.grad(f)(2.0)
""",
    "A nested recursive function that writes into an argument": """
def f(x):
    def fill(a, n):
        a[n] = 2.0 * x[n]
        if n > 0:
            fill(a, n - 1)
    y = np.zeros(3)
    fill(y, 2)
    return np.sum(x) + len(y)

srcdiff.grad(f)(np.ones(3))
""",
}

VALUES = {
    "A callee that only the running program knows": """
def f(x, function):
    return function(x)

print(srcdiff.source(f))
""",
    "A function from a large table that writes into its argument": """
def filled(v):
    v[0] = 2.0
    return np.sum(v)

def f(x, table, k):
    return table[k](x)

table = {k: lambda v, k=k: np.sum(v * k) for k in range(20)}
srcdiff.grad(f)(np.ones(3), {**table, 20: filled}, 20)
""",
    "A condition by a function from a large table": """
def f(x, table, k):
    return x * x if table[k](x) > 0.0 else x

srcdiff.grad(f)(2.0, {k: lambda v, k=k: v * k for k in range(20)}, 3)
""",
    "The second derivative of a function from a large table": """
def f(x, table, k):
    return table[k](x)

srcdiff.grad(srcdiff.grad(f))(2.0, {k: lambda v, k=k: v * k for k in range(20)}, 3)
""",
    "A nested function that is kept": """
def f(x, store):
    def scaled(v):
        return v * x
    store.append(scaled)
    return scaled(x)

srcdiff.grad(f)(2.0, [])
""",
    "A choice of functions that read values with a derivative": """
def f(x, flag):
    step = (lambda z: np.cos(x * z)) if flag else (lambda z: np.sin(x * z))
    return x + srcdiff.fixed_point(step, 0.5)

srcdiff.grad(f)(2.0, True)
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
    "A function kept in a loop whose variables change": """
def f(x):
    functions = []
    for j in range(3):
        functions += [lambda y: x * y * k for k in range(j)]
    return functions[0](x)

srcdiff.grad(f)(2.0)
""",
    "A nested function that calls itself through a decorator that wraps it": """
def twice(function):
    def wrapper(n):
        return 2.0 * function(n)
    return wrapper

def f(x):
    @twice
    def power(n):
        return x if n == 0 else x * power(n - 1)
    return power(3)

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
}
