"""What is said of `x[i]`: its kind, and which indices of a loop lie inside of an axis."""

import pytest

from srcdiff import ir
from srcdiff.kinds.indexing import is_within, item_kind, least_value

N = ir.Sym("x.0", 0, True, 4)
OTHER = ir.Sym("y.0", 0, True, 4)
COUNTER = ir.Sym("k@1", 0, False, 0, (N,))  # of `range(len(x))`


@pytest.mark.parametrize(
    ("length", "more", "other", "inside"),
    [
        (N, 0, N, True), (N, 1, N, False), (N.moved(-1), 1, N, True), (N, 0, OTHER, False),
        (COUNTER, 1, N, True), (COUNTER, 2, N, False), (COUNTER.moved(1), 0, N, True),
        (3, 1, N, True), (4, 1, N, False), (3, 0, N.moved(-1), True), (N, 0, 9, False),
        (2, 1, 3, True), (3, 1, 3, False), (None, 0, N, False), (N, 0, None, False),
        (ir.BIG, 0, ir.BIG, False),
    ],
)  # fmt: skip
def test_one_length_is_at_most_another(length, more, other, inside):
    assert is_within(length, more, other) is inside


@pytest.mark.parametrize(
    ("size", "least"),
    [
        (N, 4), (N.moved(-5), -1), (COUNTER, 0), (COUNTER.moved(1), 1), (COUNTER.moved(-1), -1),
        (ir.Sym("n"), None), (ir.BIG, None), (None, None),
    ],
)  # fmt: skip
def test_what_an_integer_is_at_least(size, least):
    assert least_value(ir.Scalar("int64", True, None, size)) == least


def test_an_integer_that_is_known_is_itself():
    assert least_value(ir.Scalar("int64", True, 3)) == 3
    assert least_value(ir.Scalar("int64", True, -3)) is None


NEW_AXIS = ir.Tuple((ir.ELLIPSIS, ir.NoneKind()))


@pytest.mark.parametrize(
    ("number", "index", "kind"),
    [
        (ir.Scalar("float64", False), ir.Tuple(()), ir.Scalar("float64", False)),
        (ir.Scalar("float32", None), ir.Tuple(()), ir.Scalar("float32", False)),
        (ir.Scalar("float64", False), NEW_AXIS, ir.Array("float64", (1,))),
        (ir.Scalar("float32", None), ir.ELLIPSIS, ir.Array("float32", ())),
    ],
)
def test_items_of_a_number_are_those_of_an_array_without_axes(number, index, kind):
    assert item_kind(number, index) == kind
