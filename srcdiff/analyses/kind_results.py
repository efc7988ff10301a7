"""The kinds of calls of helpers that call a function which they are given."""

from __future__ import annotations

from typing import Any

from srcdiff import recompute, schedules, solutions
from srcdiff.analyses.kind_join import join
from srcdiff.analyses.kind_types import UNKNOWN, Callable, Kind, Scalar, Tuple

Args = tuple[Kind, ...]


def _returned(fn: Kind, args: Args) -> Kind:
    """What a function that is known returns."""
    from srcdiff.summaries import result_kind  # which infers the kinds of whole functions

    value = fn.value if isinstance(fn, Callable) else None
    return result_kind(value, args) if callable(value) else UNKNOWN


def _solution(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return _returned(args[0], args[2:])


def _fixed_point(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """What the function makes of what it makes of the first guess."""
    once = _returned(args[0], args[1:])
    return _returned(args[0], (once, *args[2:]))


def _steps(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """The variables of a loop: as they are before it, and as a step leaves them."""
    count = getattr(args[2], "value", None)
    if not isinstance(count, int):
        return UNKNOWN
    before, rest = args[3 : 3 + count], args[3 + count :]
    for _ in range(2):
        after = _returned(args[0], (Scalar("int64", True), *before, *rest))
        items = after.items if isinstance(after, Tuple) else None
        if items is None or len(items) != count:
            return UNKNOWN
        before = tuple(map(join, before, items))
    return Tuple(before)


def _like_third(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return args[2]


FUNCTIONS: dict[Any, Any] = {
    recompute.run_again: _solution,
    schedules.run_steps: _steps,
    solutions.solution: _solution,
    solutions.fixed_point: _fixed_point,
    solutions.solve_adjoint: _like_third,
    solutions.solve_tangent: _like_third,
    solutions.fixed_adjoint: _like_third,
    solutions.fixed_tangent: _like_third,
}
