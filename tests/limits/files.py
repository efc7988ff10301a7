"""What cannot be written into a file of its own."""

FILES = {
    "A value that no file can import": """
lock = object()

def f(x):
    print(lock)
    return x * x

srcdiff.aot.generate(f, any=True)
""",
    "A file for arguments of which nothing is said": """
def f(x, scale: float):
    return np.sum(x * x) * scale

srcdiff.aot.generate(f)
""",
    "A file for a callee that is known only when running": """
laws = {f"law {k}": (lambda factor: lambda x: factor * x * x)(k) for k in range(20)}

def f(x, laws, name):
    return np.sum(laws[name](x))

srcdiff.aot.generate(f, example=(np.ones(3), laws, "law 3"))
""",
    "A file for a function that is in no module": """
scaled = (lambda factor: lambda x: factor * x * x)(3.0)

def f(x, law):
    return np.sum(law(x))

srcdiff.aot.generate(f, example=(np.ones(3), scaled))
""",
    "A file for functions of a table that no module has": """
def f(x, laws, k):
    return np.sum(laws[k](x))

laws = lambda: [lambda x: 2.0 * x, lambda x: x * x]
srcdiff.aot.generate(f, "x", example=(np.ones(3), laws(), 1), checks=False)
""",
    "An object as an argument of what Numba compiles": """
class Weights:
    def __init__(self, w):
        self.w = w

def f(weights):
    return np.sum(weights.w ** 2)

srcdiff.aot.generate(f, example=(Weights(np.ones(3)),), compile="numba")
""",
    "An item that a number chooses in a list for what Numba compiles": """
def f(xs, k):
    return np.sum(xs[k] ** 2)

srcdiff.aot.generate(f, example=([np.ones(3), np.ones(2)], 1), compile="numba")
""",
    "A container that one of two branches chooses in what Numba compiles": """
def f(p, q, x):
    chosen = p if np.sum(x) > 0.0 else q
    return np.sum(chosen["w"] * x)

arguments = {"w": np.ones(3)}, {"v": 2.0, "w": np.zeros(3)}, np.ones(3)
srcdiff.aot.generate(f, "x", example=arguments, compile="numba")
""",
    "A loop over a long list in what Numba compiles": """
def f(xs):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total

srcdiff.aot.generate(f, example=([1.0] * 100,), compile="numba")
""",
    "A list of very many items for what Numba compiles": """
def f(xs):
    return xs[0] * xs[1]

srcdiff.aot.generate(f, example=([1.0] * 300,), compile="numba")
""",
    "A dict given as a whole in what Numba compiles": """
def f(p, x):
    return np.sum(np.stack([p, p]) * x)

srcdiff.aot.generate(f, inputs="x", example=({"a": 1.0}, 2.0), compile="numba")
""",
    "A dict with other keys than texts in what Numba compiles": """
def f(p):
    return np.sum(p[0, 1] ** 2)

srcdiff.aot.generate(f, example=({(0, 1): np.ones(3)},), compile="numba")
""",
    "An output of unknown type beside others in what Numba compiles": """
def f(p, n):
    return p["w"] * 1.0, 2**n

srcdiff.aot.generate(f, inputs="p", example=({"w": 2.0}, 3), compile="numba")
""",
    "A sum in what Numba compiles with the rounding of NumPy": """
def f(x):
    return np.sum(x * x)

srcdiff.aot.generate(f, value=True, example=(np.ones(3),), compile="numba", strict=True)
""",
    "Integers of 32 bits in what Numba compiles": """
def f(x, k):
    return np.sum(x * k)

srcdiff.aot.generate(f, inputs="x", example=(np.ones(3), np.ones(3, np.int32)), compile="numba")
""",
    "An object returned from what Numba compiles": """
class Weights:
    def __init__(self, w):
        self.w = w

def f(x):
    return Weights(x * x)

srcdiff.aot.generate(f, example=(np.ones(3),), compile="numba")
""",
    "A list that grows on a branch in what Numba compiles": """
def f(p, x):
    if np.sum(x) > 0.0:
        p["xs"].append(x)
    return sum(np.sum(y**2) for y in p["xs"])

srcdiff.aot.generate(f, example=({"xs": [np.ones(3)]}, np.ones(3)), compile="numba")
""",
    "A container that is printed in what Numba compiles": """
def f(p, x):
    print(p)
    return np.sum(p["w"] * x)

srcdiff.aot.generate(f, example=({"w": 2.0}, np.ones(3)), compile="numba")
""",
    "Another number of names than items in what Numba compiles": """
def f(p):
    a, b = p["pair"]
    return np.sum(a * b)

srcdiff.aot.generate(f, example=({"pair": [np.ones(3), np.ones(3), 2.0]},), compile="numba")
""",
    "An item that a container has not in what Numba compiles": """
def f(p):
    return np.sum(p["v"])

srcdiff.aot.generate(f, example=({"w": np.ones(3)},), compile="numba")
""",
    "A loop over a list with break in what Numba compiles": """
def f(xs):
    total = 0.0
    for x in xs:
        if np.sum(x) > 3.0:
            break
        total += np.sum(x**2)
    return total

srcdiff.aot.generate(f, example=([np.ones(3)],), compile="numba")
""",
    "A list made in the condition of a loop in what Numba compiles": """
def f(p):
    while [p["w"] * 2.0][0] < 3.0:
        p = {"w": p["w"] * 2.0}
    return p["w"]

srcdiff.aot.generate(f, example=({"w": 1.0},), compile="numba")
""",
    "A loop while a dict holds something in what Numba compiles": """
def f(p):
    while p:
        p = {"w": p["w"] * 2.0}
    return p["w"]

srcdiff.aot.generate(f, example=({"w": 1.0},), compile="numba")
""",
    "A dict that a loop replaces by an array in what Numba compiles": """
def f(p, x, n):
    for k in range(n):
        x = x * p["w"] if k == 0 else x * 2.0
        p = x
    return np.sum(x)

srcdiff.aot.generate(f, example=({"w": 1.0}, np.ones(3), 3), compile="numba")
""",
    "A slice up to a number in a list for what Numba compiles": """
def f(p, x, k):
    return np.sum(sum(p["xs"][:k]) * x)

srcdiff.aot.generate(f, example=({"xs": [1.0, 2.0]}, np.ones(3), 1), compile="numba")
""",
    "The text of a dict in what Numba compiles": """
def f(p, x):
    print(f"{p} are the parameters")
    return np.sum(p["w"] * x)

srcdiff.aot.generate(f, example=({"w": 1.5}, np.ones(3)), compile="numba")
""",
    "A key that only one branch gives a dict in what Numba compiles": """
def f(p, x):
    q = {"w": p["w"]}
    if np.sum(x) > 0.0:
        q["v"] = x
    return np.sum(q["w"] * x)

srcdiff.aot.generate(f, example=({"w": 1.5}, np.ones(3)), compile="numba")
""",
    "A dict in the text of an error in what Numba compiles": """
def f(p, x):
    if np.sum(x) > 0.0:
        raise ValueError(p)
    return np.sum(p["w"] * x)

srcdiff.aot.generate(f, example=({"w": 1.5}, np.ones(3)), compile="numba")
""",
    "A function in a dict for what Numba compiles": """
def f(p, x):
    return np.sum(p["law"](x))

srcdiff.aot.generate(f, inputs="x", example=({"law": np.sin}, np.ones(3)), compile="numba")
""",
    "A dict as a condition in what Numba compiles": """
def f(p, x):
    if p:
        return np.sum(x * x)
    return np.sum(x)

srcdiff.aot.generate(f, inputs="x", example=({"w": np.ones(3)}, np.ones(3)), compile="numba")
""",
    "A list of places in what Numba compiles": """
def f(p, x):
    y = x * 2.0
    y[p["places"]] = 0.0
    return np.sum(y)

srcdiff.aot.generate(f, inputs="x", example=({"places": [0, 1]}, np.ones(3)), compile="numba")
""",
    "A dict that gains a key in a loop in what Numba compiles": """
def f(p, n):
    for _ in range(n):
        p = {"v": p["w"] * 2.0, "w": 3.0 * p["w"]}
    return p["w"]

srcdiff.aot.generate(f, inputs="p", example=({"w": 1.0}, 3), compile="numba")
""",
    "A store into what may be the caller's in what Numba compiles": """
def f(p, x):
    q = {"a": x}
    if np.sum(x) > 0.0:
        q = p
    q["a"] = x * x
    return np.sum(q["a"])

srcdiff.aot.generate(f, inputs="x", example=({"a": np.ones(3)}, np.ones(3)), compile="numba")
""",
    "A list of dicts with other keys in what Numba compiles": """
def f(s, n):
    kept = []
    for _ in range(n):
        kept.append({"u": s["u"]})
        kept.append({"v": s["u"]})
    return np.sum(kept[-1]["v"])

srcdiff.aot.generate(f, inputs="s", example=({"u": np.ones(3)}, 3), compile="numba")
""",
    "One dict put into a list again and again in what Numba compiles": """
def f(s, n):
    kept = []
    t = {"u": s["u"] * 2.0}
    for _ in range(n):
        t["u"] = t["u"] * t["u"]
        kept.append(t)
    return np.sum(kept[-1]["u"])

srcdiff.aot.generate(f, inputs="s", example=({"u": np.ones(3)}, 3), compile="numba")
""",
    "An item of unknown type in a dict in what Numba compiles": """
def f(p, n):
    q = {"k": 2**n, "u": p["u"]}
    for _ in range(n):
        q = {"k": q["k"], "u": p["u"] * q["u"]}
    return np.sum(q["u"] * q["k"])

srcdiff.aot.generate(f, inputs="p", example=({"u": np.ones(3)}, 3), compile="numba")
""",
    "Arrays of a list that are stacked in what Numba compiles": """
def f(x, n):
    rows = [x]
    for _ in range(n):
        rows.append(rows[-1] * x)
    return np.sum(np.stack(rows))

srcdiff.aot.generate(f, inputs="x", example=(np.ones(3), 3), compile="numba")
""",
    "A dict with a truth value as a key in what Numba compiles": """
def f(p):
    return np.sum(p[True] ** 2)

srcdiff.aot.generate(f, example=({True: np.ones(3)},), compile="numba")
""",
    "A key that is known only when running in what Numba compiles": """
def f(p, x, k):
    q = {"w": {k: p["a"] * x}}
    return np.sum(q["w"][k])

srcdiff.aot.generate(f, inputs="x", example=({"a": 1.0}, np.ones(3), 2), compile="numba")
""",
    "A list that is empty already in what Numba compiles": """
def f(p, x):
    xs = [x * 2.0]
    a = xs.pop()
    b = xs.pop()
    return np.sum(a * b * p["w"])

srcdiff.aot.generate(f, inputs="x", example=({"w": 1.0}, np.ones(3)), compile="numba")
""",
    "An integer that becomes a float in a loop in what Numba compiles": """
def f(p, n):
    q = {"n": 0, "w": p["w"]}
    for _ in range(n):
        q = {"n": q["w"], "w": q["w"] * 2.0}
    return p["w"] * q["w"]

srcdiff.aot.generate(f, inputs="p", example=({"w": 1.5}, 3), compile="numba")
""",
    "An object beside the output in what Numba compiles": """
class Weights:
    def __init__(self, w):
        self.w = w

def f(x):
    return Weights(x * x), np.sum(x * x)

srcdiff.aot.generate(f, outputs=1, value=True, example=(np.ones(3),), compile="numba")
""",
    "The caller's cotangents in a list for what Numba compiles": """
def pair(x):
    y, z = x * x, np.sum(x)
    return y, z

def f(x, ct):
    return np.sum(srcdiff.grad(pair)(x, grad_outputs=ct))

example = np.ones(3), [np.ones(3), 2.0]
srcdiff.aot.generate(f, inputs="x", example=example, compile="numba")
""",
    "Cotangents that are used for something else in what Numba compiles": """
def pair(x):
    return x * x, np.sum(x)

def f(x, ct):
    return np.sum(srcdiff.grad(pair)(x, grad_outputs=ct)) * ct[1]

example = np.ones(3), (np.ones(3), 2.0)
srcdiff.aot.generate(f, inputs="x", example=example, compile="numba")
""",
    "A dict that gains a key behind its copy in what Numba compiles": """
def f(p):
    q = {"w": p["w"]}
    r = dict(q)
    q["v"] = p["w"] * 2.0
    return np.sum(r["w"]) + np.sum(q["v"] * q["w"])

srcdiff.aot.generate(f, example=({"w": np.ones(3)},), compile="numba")
""",
    "The cotangent of a complex number in what Numba compiles": """
def f(z):
    return z * z

srcdiff.aot.generate(f, example=(1.0 + 2.0j,), compile="numba")
""",
    "A power of integers as a factor in what Numba compiles": """
def f(x, n):
    return x * 2**n

srcdiff.aot.generate(f, example=(2.0, 3), compile="numba")
""",
    "The text of an array in what Numba compiles": """
def f(x):
    return np.sum(x) * len(f"{x}")

srcdiff.aot.generate(f, example=(np.ones(3),), compile="numba")
""",
    "Random numbers in what Numba compiles": """
def f(x):
    return np.sum(x * np.random.normal(0.0, 1.0, 3))

srcdiff.aot.generate(f, example=(np.ones(3),), compile="numba")
""",
    "Recursion over ever more axes in what Numba compiles": """
def stacked(a, n):
    return a if n <= 0 else stacked(np.stack([a, 2.0 * a]), n - 1)

def f(x):
    return np.sum(stacked(x, 2))

srcdiff.aot.generate(f, example=(np.ones(3),), compile="numba")
""",
    "A name in an f-string that means something else in the file": """
import linecache

text = "def show(k):\\n    print(f'{SCALE} {k}')\\n    if k:\\n        show(k - 1)\\n"
linecache.cache["other.py"] = (len(text), None, text.splitlines(keepends=True), "other.py")
other = {"SCALE": 2.0, "__name__": "other"}
exec(compile(text, "other.py", "exec"), other)
show, SCALE = other["show"], 3.0

def f(x):
    y = x * SCALE
    show(1)
    return y

srcdiff.aot.generate(f, any=True)
""",
}
