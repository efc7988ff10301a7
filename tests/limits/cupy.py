"""What is refused for arrays of CuPy alone."""

CUPY = {
    "A function that CuPy does not have": """
def f(x):
    return np.sum(np.insert(x, 1, x[0]))

srcdiff.source(f, example=(np.ones(3),), backend="cupy")
""",
    "An argument that CuPy's function does not have": """
def f(x):
    return np.sum(np.linalg.pinv(x, hermitian=True) * x)

srcdiff.source(f, example=(np.eye(3),), backend="cupy")
""",
    "What CuPy's function does not take": """
def f(a, b):
    return np.sum(np.linalg.solve(a, b))

srcdiff.source(f, example=(np.eye(3), np.ones((2, 3, 2))), backend="cupy")
""",
    "Random numbers that are drawn into an array": """
def f(x):
    y = x * 1.0
    np.random.default_rng(0).random(out=y[1:])
    return np.sum(x * y)

srcdiff.source(f, example=(np.ones(3),), backend="cupy")
""",
    "A comparison of the modules of arrays": """
def f(x):
    return np.sum(x) if np is np else 0.0

srcdiff.grad(f)(np.ones(3))
""",
    "Copies of containers of arrays that are written into, and of numbers": """
def f(x, s):
    u = x * 1.0
    items = [u, s]
    again = list(items)
    again[0][0] = again[1] ** 2
    return u * again[1]

srcdiff.source(f, ("x", "s"), example=(np.ones(3), 2.0), backend="cupy")
""",
    "What starts as a number, is added to in place, and is kept elsewhere": """
def f(x):
    total, partial = 0.0, []
    for i in range(len(x)):
        total += x[i]
        partial.append(total)
    return partial[0] * partial[-1]

srcdiff.source(f, example=(np.ones(3),), backend="cupy")
""",
    "Modules that are arguments are compared": """
def f(x, xp, other):
    return np.sum(x) if xp is other else 2.0 * np.sum(x)

srcdiff.source(f, "x", example=(np.ones(3), np, np))
""",
}
