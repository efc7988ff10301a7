"""Programs of the corpus compiled by Numba: each the same as with NumPy, or refused.

The text that Numba is given is run by Python for every second program, in `test_programs.py`, which
says as much of what is written otherwise for it.  Compiling one takes a second: some are compiled
here, all of them by `python -m tests.corpus.native`.
"""

import importlib

import pytest

from tests.corpus.native import check, check_bits, interpreted, shared_passes
from tests.programs import PROGRAMS
from tests.standin.device import words
from tests.support.part import part

pytestmark = pytest.mark.filterwarnings("ignore")
COMPILED = part(PROGRAMS, lambda p: p.name, 200, which=1)
# What Numba computed otherwise, or raised an error of its own for.
OTHERWISE = words(
    """scaled-scaled_by_itself scaled-scaled_by_alias peers_break-overlapping_views
    layouts-differences_of_no_order effects_in_texts-a_step_in_a_text indexing-masked_matrix
    linear-bilinear_dict attempts-falls_back"""
)
# Nearly all statements, operators, functions and forms of helpers that compiled texts have (sorting
# takes too long to compile).
COVERING = words(
    """
    arrays_inplace-histogram_weights arrays_inplace-sort_in_place broadcasts-one_point
    calls-numbers_behind_others calls-numbers_of_a_vector_as_arguments
    calls-options_by_their_names control-branch_on_array
    control-collatz control-optional_argument dicts-dict_set_build dicts-dict_sets
    dicts-dict_star effects_in_texts-a_method_by_its_name elementary-complex_after_real
    elementary-complex_from_real elementary-more_math elementary-more_ufuncs
    elementary-names_from_elsewhere elementary-ufuncs extremes-products_in_step
    found-recursion_for_nothing found-sums_in_a_view_before_a_product functions-product_of
    getters-asked_about golden_programs-settle hidden-numbers_in_place hidden-rounded_into
    iterators-run_float iterators-run_join iterators-run_map_list iterators-run_math
    iterators-run_round joined_lists-repeated_and_joined layouts-block_of_one_row_of_one_array
    layouts-written_selection_after_a_copy lists-list_index lists-list_insert lists-list_remove
    lists-list_reverse lists-list_that_is_asked numpy_options-convolved_as_told
    numpy_options-out_in_loop numpy_options-value_of_out objects-iterated_object
    outside-residuals_of_a_number peers_break-ping_pong published_blas-durbin
    published_blas-symm published_stats-poisson_regression reductions-counting
    reductions-differences reductions-norms reductions-weighted_average shapes-created
    shapes-reshapes slots-parameter_with_the_name_of_a_local statements-state_aug_int
    statements-state_continue statements-state_early_while statements-state_raise
    statements-state_string_ops stats-garch stats-monte_carlo unpacked-the_one_row
    unpacked-variances_from_a_tuple
    views-transposed_before_a_whole_update
    """
)
OFTEN = part(COVERING, str, 2)
COMPILED += [p for p in PROGRAMS if p not in COMPILED and p.name in (*OTHERWISE, *OFTEN)]
STRICT = part(PROGRAMS, lambda p: p.name, 7)
# Where it is known that lengths are equal a sum is another call.
STRICT += [p for p in PROGRAMS if p.name == "dicts-layers_of_lakes" and p not in STRICT]
needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="needs Numba, which is an extra"
)


@needs_numba
@pytest.mark.parametrize("program", COMPILED, ids=lambda p: p.name)
def test_compiled(program):
    check(program)


@pytest.mark.parametrize("program", STRICT, ids=lambda p: p.name)
def test_strict_loops_give_every_bit(program):
    """The loops are run by Python."""
    with interpreted(), shared_passes():
        check_bits(program)


@needs_numba
@pytest.mark.parametrize("program", STRICT[::40], ids=lambda p: p.name)
def test_strict_code_gives_every_bit(program):
    check_bits(program)
    check_bits(program, "auto")


def test_programs_are_in_the_corpus():
    assert {p.name for p in PROGRAMS} >= {*OTHERWISE, *COVERING}
