"""What is refused of lists and dicts, and of memory that has several names."""

CONTAINERS = {
    "A set of values": """
def f(x):
    return sum({x, 2.0 * x})

srcdiff.grad(f)(2.0)
""",
    "Lists that are put in the order of a key": """
def f(x):
    rows = [[x, x], [x]]
    rows.sort(key=len)
    return rows[0][0]

srcdiff.grad(f)(np.ones(2), grad_outputs=np.ones(2))
""",
    "A slice with a step that is taken out": """
def f(x):
    xs = [x, 2.0 * x, x * x]
    del xs[::2]
    return xs[0]

srcdiff.grad(f)(2.0)
""",
    "A list that a method changes by its special name": """
def f(x):
    xs = [x, x * x]
    xs.__setitem__(0, 2.0 * x)
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
    "A store into a slice of a dict": """
def f(x):
    d = {"a": x}
    d[:1] = x
    return d["a"]

srcdiff.grad(f)(2.0)
""",
    "`popitem`": """
def f(x):
    d = {"a": x, "b": 2.0 * x}
    d.popitem()
    return d["a"]

srcdiff.grad(f)(2.0)
""",
    "A list or a dict": """
def f(x, n):
    xs = [x] if n else {0: x}
    return xs.pop(0)

srcdiff.grad(f)(2.0, 1)
""",
    "Another operator in place": """
def f(xs):
    xs -= xs
    return xs[0]

srcdiff.grad(f)([2.0])
""",
    "A list added to what turns out to be an array": """
def f(maker, x):
    y = maker(x)
    y = y + [1.0, 2.0]
    return y[0] * x[0]

class Maker:
    def __call__(self, x):
        return np.sin(x) if self.arrays else [x[0], x[1]]

maker = Maker()
maker.arrays = True
srcdiff.grad(f, "x")(maker, np.ones(2))
""",
    "A list times what turns out to be an array": """
def f(x):
    y = list(x)
    if x[0] > 0.0:
        y = [1.0, 0.5] * np.asarray(y)
    y = tuple(y + (x[0],))
    return y[0] * y[1]

srcdiff.grad(f)(np.ones(2))
""",
    "A set that changes after it was used": """
def f(x, n):
    s = {1.0, 2.0}
    y = x
    for k in range(n):
        y = y * len(s) * sum(s)
        s.add(k)
    return y

srcdiff.grad(f)(2.0, 2)
""",
}

MEMORY = {
    "A store into an object that keeps items in its own way": """
class Doubling(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, 2.0 * value)

def f(x, kept):
    kept["a"] = x
    return kept["a"] * x

srcdiff.grad(f)(2.0, Doubling())
""",
    "An `out` that may be among `*args`": """
def f(x, w):
    y = np.sin(x * w)
    operands = [w, w]
    operands.append(w)
    np.dot(*operands)
    return y * w

srcdiff.grad(f)(np.ones(3), np.ones(3))
""",
    "A store through a view that no rule describes": """
def f(x):
    y = x * 1.0
    window = np.ndarray((2,), buffer=y)
    window[:] = 2.0
    return y * x

srcdiff.grad(f)(np.ones(3))
""",
    "The address of an array": """
def f(x):
    y = x * 1.0
    place = y.ctypes.data
    return y * x

srcdiff.grad(f)(np.ones(3))
""",
    "A function that is given an address": """
import ctypes

def f(x):
    y = x * 1.0
    ctypes.memset(id(y), 0, 8)
    return y * x

srcdiff.grad(f)(np.ones(3))
""",
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
    "A list that changes, or an array, under one name": """
def f(x):
    y = [x[0], x[1]]
    z = y
    if x[2] > 5.0:
        z = np.sin(x)
    y[0] = x[2]
    return z[0] * z[1] * y[0]

srcdiff.grad(f)(np.ones(3))
""",
    "A constant that shares memory with what is written": """
def f(x):
    y = x * 2.0
    c = srcdiff.stop_gradient(y)
    y[0] = 3.0
    return np.sum(c * y)

srcdiff.grad(f)(np.ones(3))
""",
    "The pairs of a dict, kept and counted, and its arrays written into": """
def f(x):
    d = {"u": x * 1.0, "v": x * 2.0}
    pairs = d.items()
    d["u"][0] = 5.0
    return np.sum(d["u"] * d["v"]) * len(pairs)

srcdiff.grad(f)(np.ones(3))
""",
    "Items for a part of what may be a list": """
def f(x):
    xs = [x[0]] if x[0] > 0 else {"a": x[0]}
    xs[:1] = [x[1], x[2]]
    return xs[0] * x[0]

srcdiff.grad(f)(np.ones(3))
""",
    "A list of numbers and arrays, repeated": """
def f(x, n):
    xs = [x * 1.0, x[0]]
    ys = xs * n
    ys[0][0] = 5.0
    return np.sum(xs[0]) * ys[1]

srcdiff.grad(f)(np.ones(3), 2)
""",
    "An array beside what may be a number": """
def f(x, y, n):
    a = np.zeros(3) * x
    b = [a, y][n]
    b[0] = 5.0
    return np.sum(a)

srcdiff.source(f)
""",
    "Lists joined that may be numbers as well": """
def f(x):
    xs, total = [(x,), x, (x * x,)], 0.0
    for i in (0, 2):
        both = xs[i] + xs[2 - i]
        total = total + both[0] * both[1]
    return total

srcdiff.grad(f)(2.0)
""",
    "A list joined in place to what may be none": """
def f(x):
    xs = None
    if x > 0:
        xs = [x, x * x]
    xs += [(0, x)]
    return xs[0] * xs[1]

srcdiff.grad(f)(2.0)
""",
    "Numbers in a part of a list that has another name": """
def f(x):
    xs = None
    if x > 0:
        xs = [x, 2.0]
    for _ in range(2):
        xs = xs
        xs[1:] = [x * xs[1]]
    return xs[0] * xs[1]

srcdiff.grad(f)(2.0)
""",
    "An iterator that a loop may leave early": """
def f(x):
    it, total = iter([1.0, 2.0, 3.0]), 0.0
    for v in it:
        total = total + v * x
        if v > 1.5:
            break
    return total + sum(it) * x

srcdiff.grad(f)(2.0)
""",
    "An iterator of which every step takes two items": """
def f(x):
    total = 0.0
    for a, b in zip(*[iter([1.0, 2.0, 3.0, 4.0])] * 2):
        total = total + a * b * x
    return total

srcdiff.grad(f)(2.0)
""",
    "Pairs of what one iterator gives": """
def f(x):
    it = iter([1.0, 2.0, 3.0, 4.0])
    pairs = list(zip(it, it))
    return x * pairs[0][1]

srcdiff.grad(f)(2.0)
""",
    "An array of Python objects": """
def f(x):
    parts = np.empty(2, dtype=object)
    parts[0] = x[:1]
    parts[1] = x[1:]
    return np.sum(parts[0]) * np.sum(parts[1])

srcdiff.grad(f)(np.array([2.0, 3.0, 5.0]))
""",
    "A deep copy of what holds an array twice": """
import copy

def f(x):
    y = 2.0 * x
    a, b = copy.deepcopy([y, y])
    return np.sum(a * b)

srcdiff.grad(f)(np.ones(3))
""",
    "A deep copy of what holds something else than arrays, numbers and containers": """
import copy

def f(x, held):
    return np.sum(copy.deepcopy(held)[0] * x)

srcdiff.grad(f)(np.ones(3), [np.ones(3), {1, 2}])
""",
}
