"""Calls that the rules do not cover, rules that say nothing, and forward mode."""

DOUBLE = """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    {}

srcdiff.grad(double)(3.0)
"""

RULES = {
    "`where=` without `out=`": """
def f(x):
    return np.sum(np.sin(x, where=x > 0.0))

srcdiff.grad(f)(np.ones(3))
""",
    "A reshaped result of a function that is written out": """
def f(x):
    y = np.select([x.T > 0.5], [x.T])
    z = y.ravel()
    z[1] = 7.0
    return np.sum(y)

srcdiff.grad(f)(np.ones((2, 2)))
""",
    "A mode of `np.pad`": """
def f(x):
    return np.sum(np.pad(x, 1, mode="mean"))

srcdiff.grad(f)(np.ones(3))
""",
    "A pseudo-inverse that drops singular values": """
def f(x):
    return np.sum(np.linalg.pinv(x, rcond=0.1))

srcdiff.grad(f)(np.ones((3, 3)))
""",
    "Numbers whose values say whether they are complex": """
def f(x):
    return np.sum(np.abs(np.real_if_close(x)))

srcdiff.grad(f)(np.ones(3) + 1j)
""",
    "A random permutation": """
def f(x):
    return np.random.permutation(x)[0]

srcdiff.grad(f)(np.ones(3))
""",
    "A function that is not differentiated on purpose": """
def f(x):
    return np.sum(np.histogramdd(x)[0])

srcdiff.grad(f)(np.ones(3))
""",
    "What `np.vectorize` makes with a signature": """
def f(x):
    rows = np.vectorize(np.sum, signature="(n)->()")
    return np.sum(rows(x))

srcdiff.grad(f)(np.ones((2, 3)))
""",
    "A class of polynomials": """
def f(x, c):
    return np.sum(np.polynomial.Chebyshev(c)(x))

srcdiff.grad(f)(np.ones(3), np.ones(2))
""",
    "An object of such a class": """
series = np.polynomial.Legendre([1.0, 2.0, 3.0])

def f(x):
    return np.sum(series(x))

srcdiff.grad(f)(np.ones(3))
""",
    "Padding with the maximum": """
def f(x):
    return np.sum(np.pad(x, 1, mode="maximum") ** 2)

srcdiff.grad(f)(np.ones(3))
""",
    "Complete factors of a tall matrix": """
def f(x):
    return np.sum(np.linalg.qr(x, "complete")[1] ** 2)

srcdiff.grad(f)(np.ones((3, 2)))
""",
    "An option that has no rule": """
def f(x):
    return np.linalg.norm(x, 3.5)

srcdiff.grad(f)(np.ones((3, 3)))
""",
    "`out=` from outside": """
out = np.zeros(3)

def f(x):
    return np.sum(np.sin(x, out=out))

srcdiff.grad(f)(np.ones(3))
""",
    "`outer` of unknown ranks": """
def f(x, y):
    return np.sum(np.hypot.outer(x, y))

srcdiff.source(f)
""",
    "`*` in a call of a primitive": """
def f(x, steps):
    return np.sum(np.roll(x, *steps))

srcdiff.source(f)
""",
    "More arguments than a primitive takes": """
import math

def f(x):
    return math.sin(x, x)

srcdiff.grad(f)(2.0)
""",
    "Fewer arguments than a primitive takes": """
import math

def f(x):
    return math.pow(x)

srcdiff.grad(f)(2.0)
""",
}

OWN_RULES = {
    "A parameter that a rule forgets": DOUBLE.format("pass"),
    "`d` without a name": DOUBLE.format("print(d)"),
    "`d` of something else than a name": DOUBLE.format("d[0] += 2.0 * d[z]"),
    "An adjoint that is assigned instead of added to": DOUBLE.format("d[x] = 2.0 * d[z]"),
    "`d` as a variable": DOUBLE.format("d = 2.0"),
    "The adjoint of a variable of a rule": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def double_rule(x):
    y = 2.0 * x
    d[x] += 2.0 * d[y]

srcdiff.grad(double)(2.0)
""",
    "The result of a rule as a variable": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def double_rule(x):
    z = 2.0 * x
    d[x] += 2.0 * d[z]

srcdiff.grad(double)(2.0)
""",
    "Two `yield`s": DOUBLE.format("d[x] += 2.0 * d[z]\n    yield z"),
    "A `yield` inside": DOUBLE.format("if x > 0.0:\n        yield z"),
    "A `return` in a rule": DOUBLE.format("if x > 0.0:\n        return\n    d[x] += 2.0 * d[z]"),
    "A `while` in a rule": DOUBLE.format("while x < 0.0:\n        d[x] += 2.0 * d[z]"),
    "A text in a rule": DOUBLE.format("d[x] += float(f'{z}') * d[z]"),
    "A call for an effect in a rule": DOUBLE.format("print(z)\n    d[x] += 2.0 * d[z]"),
    "A store in a rule": DOUBLE.format("d[x] += 2.0 * d[z]\n    x[0] = 0.0"),
    "A scalar rule with slopes of other operands": """
def product(x, y):
    return x * y

srcdiff.rules.scalar_rule(product, slope=lambda x, y, z: y)

srcdiff.grad(product)(3.0, 2.0)
""",
    "A rule that yields nothing": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def rule_of_double(x):
    z = double(x)
    yield
    d[x] += 2.0

srcdiff.grad(double)(3.0)
""",
    "The result of a function whose rule yields nothing": """
def scaled(v):
    v *= 2.0
    return v

@srcdiff.rules.rule(scaled, mutates="v")
def rule_of_scaled(v):
    scaled(v)
    yield
    d[v] *= 2.0

def f(x):
    return np.sum(scaled(x * 1.0))

srcdiff.grad(f)(np.ones(3))
""",
    "An item that a rule does not name": """
def total(xs):
    return sum(xs)

@srcdiff.rules.rule(total)
def rule_of_total(xs):
    z = total(xs)
    yield z
    for k in range(len(xs)):
        d[xs][k] = d[z]

def f(x):
    return total((x, x))

srcdiff.grad(f)(3.0)
""",
    "A function that has no rule to check": """
import math
srcdiff.testing.check_rule(math.ulp, "1.0")
""",
}

FORWARD = {
    "Objects in a list": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x):
    points = [Point(x), Point(2.0 * x)]
    return points[0].value

srcdiff.jvp(f, (2.0,), (1.0,))
""",
    "A tangent of what may be a view": """
def f(x):
    y = 2.0 * x
    z = np.einsum("i->i", y)
    z[0] = x[1]
    return np.sum(y)

srcdiff.jvp(f, (np.ones(3),), (np.ones(3),))
""",
    "Other methods of containers": """
def f(x):
    d = {"a": x, "b": x * x}
    d.popitem()
    return d["a"]

srcdiff.jvp(f, (2.0,), (1.0,))
""",
    "Expressions that are kept as they are": """
def f(x):
    return np.sum(np.array({v for v in x}))

srcdiff.jvp(f, (np.ones(3),), (np.ones(3),))
""",
    "A rule that writes into its argument": """
def scale(v):
    v *= 2.0

@srcdiff.rules.rule(scale, mutates="v")
def rule_of_scale(v):
    scale(v)
    yield
    d[v] *= 2.0

def f(x):
    y = x * 1.0
    scale(y)
    return np.sum(y)

srcdiff.jvp(f, (np.ones(3),), (np.ones(3),))
""",
    "A rule with a condition": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    if np.max(x) > 0.0:
        d[x] += 2.0 * d[z]

srcdiff.jvp(double, (np.ones(3),), (np.ones(3),))
""",
    "A rule that adds to a tangent in a loop": """
def repeated(x, n):
    return x * n

@srcdiff.rules.elementwise(repeated)
def rule_of_repeated(x, n):
    z = repeated(x, n)
    yield z
    for _ in range(n):
        d[x] += d[z]

def f(x):
    return repeated(x, len(x))

srcdiff.jvp(f, (np.ones(3),), (np.ones(3),))
""",
    "A rule that calls a function with such a rule": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    if np.max(x) > 0.0:
        d[x] += 2.0 * d[z]

def twice(x):
    return 2.0 * x

@srcdiff.rules.rule(twice)
def rule_of_twice(x):
    z = twice(x)
    yield z
    d[x] += double(d[z])

srcdiff.jvp(twice, (np.ones(3),), (np.ones(3),))
""",
    "A part of an adjoint, element by element": """
def double(x):
    return 2.0 * x

@srcdiff.rules.elementwise(double)
def rule_of_double(x):
    z = double(x)
    yield z
    d[x][0] += 2.0 * d[z][0]

srcdiff.jvp(double, (np.ones(3),), (np.ones(3),))
""",
    "A tangent of several values": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    d[x] += 2.0 * d[z]

@srcdiff.rules.forward(double)
def tangent_of_double(x):
    yield x, x

srcdiff.jvp(double, (3.0,), (1.0,))
""",
    "A tangent that adds to an argument": """
def double(x):
    return 2.0 * x

@srcdiff.rules.rule(double)
def rule_of_double(x):
    z = double(x)
    yield z
    d[x] += 2.0 * d[z]

@srcdiff.rules.forward(double)
def tangent_of_double(x):
    z = double(x)
    yield z
    d[x] += 2.0 * d[z]

srcdiff.jvp(double, (3.0,), (1.0,))
""",
    "A column of an array filled from another row of it": """
def f(x):
    A = np.outer(x, x)
    A[:, 2] = A[0]
    return np.sum(A * A)

srcdiff.grad(f)(np.arange(3.0))
""",
    "A diagonal filled from the array itself": """
def f(x):
    A = np.outer(x, x)
    np.fill_diagonal(A, A[0])
    return np.sum(A * A)

srcdiff.grad(f)(np.arange(3.0))
""",
    "Real parts that are assigned as an attribute": """
def f(x):
    z = x * 1j
    z.real = x
    return np.sum(np.abs(z))

srcdiff.grad(f)(np.arange(1.0, 4.0))
""",
    "An equation that returns a list": """
def solve(a):
    return np.array([np.sqrt(a), 1.0 / np.sqrt(a)])

def equation(x, a):
    return [x[0] ** 2 - a, x[0] * x[1] - 1.0]

def f(a):
    return np.sum(srcdiff.implicit(solve, equation)(a))

srcdiff.grad(f)(2.0)
""",
    "Pieces that are joined into the array that they are a part of": """
def f(x):
    y = x.copy()
    np.concatenate((y[1:], y[:1]), out=y)
    return np.sum(y * x)

srcdiff.grad(f)(np.arange(3.0))
""",
    "`out` of a function that may not write into it": """
def f(x):
    y = np.zeros(4)
    np.fft.hfft(x, out=y)
    return np.sum(y)

srcdiff.grad(f)(np.arange(3.0))
""",
    "Numbers stored through `flat` that are a part of the array": """
def f(x):
    y = x.copy()
    y.flat[1:] = y[:-1]
    return np.sum(y * y)

srcdiff.grad(f)(np.arange(3.0))
""",
    "A list that an elementwise function of yours is given, in forward mode": """
from srcdiff.rules import elementwise

def halved(x):
    return np.asarray(x) / 2.0

@elementwise(halved)
def rule_of_halved(x):
    z = halved(x)
    yield z
    d[x] += d[z] / 2.0

def f(x):
    return np.sum(halved([x, 2.0 * x]))

srcdiff.jvp(f, (2.0,), (1.0,))
""",
    "`out` that is None at times": """
def f(x):
    out = None if x[0] > 0 else np.zeros(3)
    return np.sum(np.multiply(x, x, out))

srcdiff.grad(f)(np.arange(1.0, 4.0))
""",
}
