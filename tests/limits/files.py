"""What cannot be written into a file of its own."""

FILES = {
    "A value that no file can import": """
lock = object()

def f(x):
    print(lock)
    return x * x

srcdiff.generate(f)
""",
    "A file for a callee that is known only when running": """
laws = {f"law {k}": (lambda factor: lambda x: factor * x * x)(k) for k in range(20)}

def f(x, laws, name):
    return np.sum(laws[name](x))

srcdiff.generate(f, example=(np.ones(3), laws, "law 3"))
""",
    "A file for a function that is in no module": """
scaled = (lambda factor: lambda x: factor * x * x)(3.0)

def f(x, law):
    return np.sum(law(x))

srcdiff.generate(f, example=(np.ones(3), scaled))
""",
    "An object as an argument of what Numba compiles": """
class Weights:
    def __init__(self, w):
        self.w = w

def f(weights):
    return np.sum(weights.w ** 2)

srcdiff.generate(f, example=(Weights(np.ones(3)),), compile="numba")
""",
    "An item that a number chooses in a list for what Numba compiles": """
def f(xs, k):
    return np.sum(xs[k] ** 2)

srcdiff.generate(f, example=([np.ones(3), np.ones(2)], 1), compile="numba")
""",
    "A container that one of two branches chooses in what Numba compiles": """
def f(p, q, x):
    chosen = p if np.sum(x) > 0.0 else q
    return np.sum(chosen["w"] * x)

arguments = {"w": np.ones(3)}, {"v": 2.0, "w": np.zeros(3)}, np.ones(3)
srcdiff.generate(f, "x", example=arguments, compile="numba")
""",
    "A loop over a long list in what Numba compiles": """
def f(xs):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total

srcdiff.generate(f, example=([1.0] * 100,), compile="numba")
""",
    "The cotangent of a complex number in what Numba compiles": """
def f(z):
    return z * z

srcdiff.generate(f, example=(1.0 + 2.0j,), compile="numba")
""",
    "A power of integers as a factor in what Numba compiles": """
def f(x, n):
    return x * 2**n

srcdiff.generate(f, example=(2.0, 3), compile="numba")
""",
    "The text of an array in what Numba compiles": """
def f(x):
    return np.sum(x) * len(f"{x}")

srcdiff.generate(f, example=(np.ones(3),), compile="numba")
""",
    "Random numbers in what Numba compiles": """
def f(x):
    return np.sum(x * np.random.normal(0.0, 1.0, 3))

srcdiff.generate(f, example=(np.ones(3),), compile="numba")
""",
    "Recursion over ever more axes in what Numba compiles": """
def stacked(a, n):
    return a if n <= 0 else stacked(np.stack([a, 2.0 * a]), n - 1)

def f(x):
    return np.sum(stacked(x, 2))

srcdiff.generate(f, example=(np.ones(3),), compile="numba")
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

srcdiff.generate(f)
""",
}
