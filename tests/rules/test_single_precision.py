"""Single precision in forward mode: tangents are as precise as values, and no program computes them
in double precision without need.
"""

import operator

import numpy as np
import pytest

import srcdiff
from srcdiff.api.forward import forward_of
from srcdiff.driver.options import Options
from tests.rules.sample_checks import copies, leaves
from tests.rules.samples import collected, direction
from tests.support.part import part

SAMPLES = list({(s.rule, s.call): s for s in collected()}.values())

# Programs whose tangents are of double precision where the values are single, by the reason; `jvp`
# casts them.  Words are the names of rules, or with a bracket beginnings of samples.
DOUBLE = {
    "the functions of SciPy choose double precision for Python numbers beside arrays": """
        betainc betaincc betaincinv betainccinv ellipe ellipk fdtr fdtrc k1 nbdtr nbdtrc spence
        stdtr stdtrit voigt_profile y1 beta_cdf beta_isf beta_logcdf beta_logsf beta_ppf beta_sf
        t_cdf t_logcdf t_logsf""",
    "a factor that is a function of Python numbers alone; before SciPy 1.18 the values as well": """
        chdtr chdtrc chdtri chi2_cdf chi2_isf chi2_logcdf chi2_logsf chi2_ppf chi2_sf gamma_cdf
        gamma_isf gamma_logcdf gamma_logsf gamma_ppf gammainc gammaincc gammainccinv gammaincinv
        gdtr gdtrc gdtrix modstruve struve""",
    "`xlogy` and `xlog1py` choose it for bools": "xlogy xlog1py",
    "`expm_frechet` has no other": "expm expm_frechet",
    "`np.polyder` and `np.vander` multiply by integers": "poly polyval roots",
    "the shares of edges are fractions of integers": """
        histogram histogram2d histogram_bin_edges histogram_density""",
    "a logarithm of a negative number that the source has": "power:power(-2.0,",
    "`np.where` of two Python numbers": "where:where(A(2,",
    "a list of arrays of integers and of fractions": "apply_along_axis:apply_along_axis(lambda",
}
WORDS = [word for words in DOUBLE.values() for word in words.split()]


def in_double(sample):
    """Whether the program of a sample may compute a tangent in double precision."""
    return any(
        sample.id.startswith(w) if ":" in w else sample.rule.name == w for w in WORDS
    )


def single(x):
    """An array in single precision, real or complex."""
    lower = {"float64": np.float32, "complex128": np.complex64}
    return x.astype(lower[str(x.dtype)]) if str(getattr(x, "dtype", "")) in lower else x


def arguments(sample):
    """The arguments of a sample in single precision, and a direction of them."""
    args = tuple(map(single, sample.program().args))
    rng = np.random.default_rng(6)
    return args, tuple(
        np.asarray(direction(a, rng)).astype(a.dtype) if isinstance(a, np.ndarray) else 0.7
        for a in args
    )


SINGLE = [s for s in SAMPLES if any(rank for _, rank in s.kinds)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample", part(SINGLE, operator.attrgetter("id"), 8), ids=lambda s: s.id)
def test_tangents_are_as_precise_as_values(sample):
    program = sample.program()
    args, way = arguments(sample)
    value, tangent = srcdiff.jvp(program.function, copies(args), way, unused="zeros")
    assert all(t == v for v, t in dtypes(value, tangent))
    if not in_double(sample):
        made = forward_of(program.function, Options(unused="zeros"), tuple(range(len(args))))
        found = dtypes(*made.along(copies(args), {}, way))
        assert all(np.can_cast(t, v) for v, t in found if t is not None)


def dtypes(value, tangent):
    """The dtypes of the arrays of fractions in a value, and those of their tangents."""
    pairs = zip(leaves(value), leaves(tangent), strict=True)
    found = [(getattr(v, "dtype", None), getattr(t, "dtype", None)) for v, t in pairs]
    return [(v, t) for v, t in found if v is not None and v.kind in "fc"]


def of_parts(x):
    return np.polyval(x, x), x * x, 3


@pytest.mark.parametrize("outputs", [None, 0, 1, (1, 0), [0]])
def test_selected_tangents_are_as_precise_as_values(outputs):
    x = np.ones(3, np.float32)
    _, tangent = srcdiff.jvp(of_parts, (x,), (x,), outputs=outputs)
    assert {t.dtype for t in leaves(tangent) if t is not None} == {np.dtype("float32")}


LESS = np.array([1.1, 3.0, 2.0], np.float16)


def of_one(x):
    return x[0] * LESS[0] * 0.1


def of_all(x):
    return np.sum(x * LESS) * 0.1


def of_a_loop(x):
    total = 0.0
    for k in range(3):
        total = total + x[k] * LESS[k]
    return total * 0.1


def tiny(x):
    return x[0] * np.float32(3) * 1e-50


@pytest.mark.parametrize("f", [of_one, of_all, of_a_loop, tiny], ids=lambda f: f.__name__)
def test_gradients_keep_the_precision_of_what_is_differentiated(f):
    """A cotangent that is a number of Python would take that of a factor of less precision."""
    x = np.array([1.0, 2.0, 3.0])
    expected = np.array([f(e) for e in np.eye(3)])  # they are linear
    np.testing.assert_allclose(srcdiff.grad(f)(x), expected, rtol=1e-15)
