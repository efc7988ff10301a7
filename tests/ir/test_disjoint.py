"""Disjoint sets, held against sets that are merged one by one."""

from hypothesis import given
from hypothesis import strategies as st

from srcdiff.ir.disjoint import Disjoint


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30))
def test_what_was_joined_has_one_key(pairs):
    sets, plain = Disjoint(), {k: {k} for k in range(13)}
    for first, other in pairs:
        stands = sets.find(first)
        assert sets.join(first, other) is (plain[first] is not plain[other])
        assert sets.find(other) == stands
        merged = plain[first] | plain[other]
        plain.update(dict.fromkeys(merged, merged))
    for a in range(13):
        assert sets.find(a) in plain[a]
        assert all((sets.find(a) == sets.find(b)) is (b in plain[a]) for b in range(13))
