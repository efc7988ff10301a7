"""The whole corpus and all rules on the stand-in for CuPy (by hand: `python -m tests.standin`)."""

import pytest

from tests.golden_update import COMPILED
from tests.programs import GOLDEN, PROGRAMS
from tests.rules.samples import collected
from tests.standin import Device, samples
from tests.standin.corpus import run
from tests.standin.device import words
from tests.standin.exceptions import MOVED
from tests.support.part import part

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def device():
    """The stand-in as `cupy`, as long as the tests of this file run."""
    made = Device()
    with made.installed():
        yield made


RULE = ("right", "numbers", "missing", "refused", "undefined")
# All of them: `python -m tests.standin`.
CALLED_CP = part(PROGRAMS, lambda p: p.name, 10)
CALLED_NP = part(PROGRAMS, lambda p: p.name, 24, which=1)
KERNELS = part(PROGRAMS, lambda p: p.name, 100, which=2)
KERNELS += [p for p in GOLDEN if p.function.__name__ in COMPILED and p not in KERNELS]
# Functions of NumPy that stand in tables are compared with CuPy's.
TABLES = ("functions-activation_by_name", "functions-network_by_names")
CALLED_NP += [p for p in PROGRAMS if p.name in TABLES and p not in CALLED_NP]
SAMPLES = part(collected(), lambda s: s.id, 24)
# What CuPy takes otherwise than NumPy, or does not take, is run whole.
OTHERWISE = words(
    """add_item add_reduceat as_array_ as_items_ choose column_stack convolve convolve1d convolve2d
    correlate correlate1d correlate2d dot eig_back eigh erf erfc erfcx exp1 expi expm fill_diagonal
    gaussian_filter gaussian_filter1d gaussian_filter_order gaussian_laplace histogram2d
    histogramdd_weights interp lagged_ lfilter lfilter_zi log_ndtr lu_solve maximum_at
    maximum_reduceat minimum_at minimum_reduceat ndtr pad polyadd polysub polyval put rest_at
    setitem solve subtract_item subtract_reduceat svd toeplitz uniform_filter
    uniform_filter1d fftconvolve_along"""
)
SAMPLES += [s for s in collected() if s.rule.name in OTHERWISE and s not in SAMPLES]
OF_CUPY = (
    "functions-memoised_items", "linear-outer_inner", "published_images-im2col_convolution",
    "published_learning-scattering_self_energies", "published_sciences-render",
    "meeting-list_times_a_matrix_in_a_branch", "broadcasts-differences_of_sets",
    "extremes-sums_of_lists_that_may_be_empty", "hidden-drawn_into",
    "published_solvers-stiffness_of_triangles",
)  # fmt: skip
for _called in (CALLED_CP, CALLED_NP):
    _called += [p for p in PROGRAMS if p.name.rstrip("2") in OF_CUPY and p not in _called]


@pytest.mark.parametrize("program", CALLED_CP, ids=lambda p: p.name)
def test_program(device, program):
    """The same gradient as NumPy's, and nothing goes to the host that the primal does not take."""
    outcome = run(program, device, False)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("program", CALLED_NP, ids=lambda p: p.name)
def test_program_written_with_np(device, program):
    """The same but for the names."""
    outcome = run(program, device, True)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("program", KERNELS, ids=lambda p: p.name)
def test_program_with_kernels(device, program):
    """The same, where runs of array statements are kernels."""
    outcome = run(program, device, compile="cupy")
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_rule(device, sample):
    outcome = samples.run(sample, device)
    assert outcome.verdict in RULE, outcome.detail


def test_exceptions_are_in_the_corpus():
    assert {p.name for p in PROGRAMS} >= {*MOVED}
