"""Sparse matrices and other objects of SciPy."""

MADE = """
from scipy import sparse

INDICES, INDPTR = np.array([0, 1]), np.array([0, 1, 2])

"""

FOREIGN = {
    "The class of an object of a library": """
from scipy.interpolate import CubicSpline

def f(y):
    curve = CubicSpline(np.arange(4.0), y)
    return curve(0.5) * (2.0 if isinstance(curve, CubicSpline) else 1.0)

srcdiff.grad(f)(np.ones(4))
""",
    "A sparse matrix made in another way": MADE + """def f(x):
    a = sparse.csr_array((x, INDICES, INDPTR))
    return np.sum((a + a.T) @ x)

srcdiff.grad(f)(np.ones(2))
""",
    "A sparse matrix used in another way": MADE + """def f(x):
    a = sparse.csr_array((x, INDICES, INDPTR))
    return np.sum(a.multiply(a))

srcdiff.grad(f)(np.ones(2))
""",
    "Entries of a sparse matrix from outside": MADE + """def f(a, x):
    a.data[:] = x
    return np.sum(a @ np.ones(2))

srcdiff.grad(f, "x")(sparse.csr_array(np.eye(2)), np.ones(2))
""",
    "An array that a constant sparse matrix keeps": MADE + """def f(x):
    data = np.ones(2)
    a = sparse.csr_array((data, INDICES, INDPTR))
    y = a @ x
    data *= 2.0
    return np.sum(a @ y)

srcdiff.grad(f)(np.ones(2))
""",
    "An unknown number of arguments of an equation": """
from scipy.integrate import odeint

def slope(y, t, a, b):
    return a * y + b

def f(p):
    args = []
    for k in range(len(p)):
        args.append(p[k])
    return odeint(slope, 1.0, [0.0, 1.0], args=tuple(args))[-1, 0]

srcdiff.grad(f)(np.ones(2))
""",
    "The probability of several normal variables": """
from scipy import stats

def f(x):
    return stats.multivariate_normal.cdf(x, np.zeros(2), np.eye(2))

srcdiff.grad(f)(np.zeros(2))
""",
    "A method of an object of SciPy": """
from scipy.interpolate import CubicSpline

def f(x):
    curve = CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    return curve(x) + curve.derivative()(0.5)

srcdiff.grad(f)(0.3)
""",
}
"""The programs need SciPy, which is an extra."""
