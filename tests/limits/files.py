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
    "A dict as an argument of what Numba compiles": """
def f(params):
    return np.sum(params["w"] ** 2)

srcdiff.generate(f, example=({"w": np.ones(3)},), compile="numba")
""",
    "Cotangents of several outputs of what Numba compiles": """
def f(x):
    return 2.0 * x, 3.0 * x

srcdiff.generate(f, example=(np.ones(3),), compile="numba")
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
    "A dict that is returned by what Numba compiles": """
def f(x):
    return {"square": x * x}

srcdiff.generate(f, outputs="square", value=True, example=(2.0,), compile="numba")
""",
    "The text of an array in what Numba compiles": """
def f(x):
    return np.sum(x) * len(f"{x}")

srcdiff.generate(f, example=(np.ones(3),), compile="numba")
""",
    "A helper for containers in what Numba compiles": """
def f(x, k):
    h = np.zeros(2)
    for i in range(len(x)):
        h = np.tanh(k * h + x[i])
    return h @ h

srcdiff.generate(f, inputs="k", example=(np.ones((3, 2)), 0.5), order=2, compile="numba")
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
    "A dict of several types that is written in what Numba compiles": """
def f(x):
    state = {"u": x, "n": 2.0}
    for _ in range(2):
        state["n"] = state["n"] * np.sum(state["u"])
    return state["n"]

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
