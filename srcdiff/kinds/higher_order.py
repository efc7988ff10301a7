"""The kinds of calls of helpers, and of functions of SciPy, that call a function.

Takes the kinds of the arguments and a way to ask what a function that is among them returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.kinds.containers import in_structure
from srcdiff.kinds.lattice import Args, Keywords, Rule, always, join, like
from srcdiff.kinds.matrices import made_kind
from srcdiff.kinds.probing import returned
from srcdiff.primitives.views import is_array
from srcdiff.runtime import checkpoint, contexts, implicit, indexing, linalg, second_order, trees
from srcdiff.runtime.scipy import curves, filters, integrals, roots


def _returned(fn: ir.Kind, args: Args) -> ir.Kind:
    """What a function that is known returns."""
    value = fn.value if isinstance(fn, ir.Callable) else None
    return returned(value, args) if callable(value) else ir.UNKNOWN


def _fixed_point(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """What the function makes of what it makes of the first guess."""
    once = _returned(args[0], args[1:])
    return _returned(args[0], (once, *args[2:]))


def _steps(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """The variables of a loop: as they are before it, and as a step leaves them."""
    count = getattr(args[2], "value", None)
    if not isinstance(count, int):
        return ir.UNKNOWN
    before, rest = args[3 : 3 + count], args[3 + count :]
    for _ in range(2):
        after = _returned(args[0], (ir.Scalar("int64", True), *before, *rest))
        items = after.items if isinstance(after, ir.Tuple) else None
        if items is None or len(items) != count:
            return ir.UNKNOWN
        before = tuple(map(join, before, items))
    return ir.Tuple(before)


def _pushed_steps(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """The tangents of the variables of a loop, like those that carry a derivative."""
    found = _steps((*args[:3], *args[4:]), kwargs)
    items = found.items if isinstance(found, ir.Tuple) else None
    if items is None:
        return ir.UNKNOWN
    return ir.Tuple(tuple(_gradient(i) or ir.UNKNOWN for i in items))


def _on_copies(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """What a function returns, and what it leaves in the arguments at some positions."""
    places = args[1].items if isinstance(args[1], ir.Tuple) else None
    at = [getattr(k, "value", None) for k in places or ()]
    if places is None or not all(isinstance(k, int) for k in at):
        return ir.UNKNOWN
    return ir.Tuple((_returned(args[0], args[2:]), *(args[2 + k] for k in at if k is not None)))


_NUMBER = ir.Scalar("float64")


def _slope(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """A derivative by an argument, as a function."""
    place = getattr(args[1], "value", None)
    return ir.Object("slope", place) if isinstance(place, int) else None


def _basis(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """A unit vector for every element of a real number or array."""
    x = args[0]
    if isinstance(x, ir.Scalar) and x.dtype == "float64":
        return ir.Array("float64", (1,))
    dims = ir.dims_of(x) if isinstance(x, ir.Array) else None
    return None if dims is None else ir.Array(ir.dtype_of(x), (None, *dims))


def _integral(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """What is integrated: of a derivative backwards that of the argument."""
    if not isinstance(args[0], ir.Object) or args[0].type != "slope" or len(args) < 4:
        return None
    rest = getattr(args[3], "items", None)
    return None if rest is None else _gradient(rest[args[0].value - 1])


def _pulled(args: Args, kwargs: Keywords) -> ir.Kind | None:
    place = getattr(args[1], "value", None)
    return _gradient(args[3 + place]) if isinstance(place, int) else None


def _gradient(x: ir.Kind) -> ir.Kind | None:
    """The kind of a gradient by something of a kind."""
    if isinstance(x, ir.Scalar) and x.dtype == "float64":
        return ir.Scalar("float64", None)
    return x if isinstance(x, ir.Array) else None


def scipy_kind(fn: Any, args: Args, kwargs: Iterable[tuple[str, ir.Kind]]) -> ir.Kind | None:
    """The kind of what a function of SciPy returns that is not run to find it out."""
    module = str(getattr(fn, "__module__", ""))
    if not module.startswith("scipy."):
        return None
    if module.startswith("scipy.sparse."):
        found = made_kind(fn, args, tuple(kwargs))
        return None if found == ir.UNKNOWN else found
    make = _SCIPY.get(f"{module.split('.')[1]}.{getattr(fn, '__name__', '')}")
    return None if make is None else make(args, tuple(kind for _, kind in kwargs))


def _is_real(args: Args) -> bool:
    """Whether no argument that is a number or an array may be complex."""
    inner = (a.items or (ir.UNKNOWN,) if isinstance(a, ir.Tuple) else (a,) for a in args)
    plain = [k for items in inner for k in items]
    plain = [k for k in plain if not isinstance(k, (ir.Callable, ir.NoneKind, ir.Text))]
    return all(str(ir.dtype_of(k)).startswith(("float", "int")) for k in plain)


def _double(a: ir.Kind, b: ir.Kind) -> ir.Kind | None:
    """An array like the second of two, if they are of double precision."""
    double = all(isinstance(k, ir.Array) and k.dtype == "float64" for k in (a, b))
    return b if double and is_array(b) else None


def _solution_of(a: ir.Kind, b: ir.Kind) -> ir.Kind:
    """The kind of what solves a linear system, which a probe would take long to tell."""
    dtypes = [k.dtype for k in (a, b) if isinstance(k, ir.Array) and k.dtype is not None]
    dtype = np.result_type(*dtypes, np.float32).name if len(dtypes) == 2 else None
    return ir.Array(dtype, b.dims if ir.rank_of(a) == 2 and isinstance(b, ir.Array) else None)


def _curve(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """The values of a curve: those of points where the argument has numbers."""
    y, t = args[2], args[3]
    at = () if isinstance(t, ir.Scalar) else t.dims if isinstance(t, ir.Array) else None
    if at is None or not isinstance(y, ir.Array) or y.dims is None:
        return None
    if y.dtype is None:
        return None
    dtype = "complex128" if y.dtype.startswith("complex") else "float64"
    return ir.Array(dtype, (*at, *y.dims[1:]))


_TIMES, _VALUES = ir.Array("float64", (None,)), ir.Array("float64", (None, None))
# How many there are depends on the data.
_PLACES, _STEPS = ir.Array("int64", (None,)), ir.Array("int64", (None, None))


def _adjoint_of_ode(start: ir.Kind, places: ir.Kind, given: ir.Kind) -> ir.Kind | None:
    """The gradients by the start, the times and some of the arguments."""
    numbers, rest = getattr(places, "items", None), getattr(given, "items", None)
    if numbers is None or rest is None:
        return None
    first: ir.Kind = _TIMES
    if isinstance(start, ir.Scalar):
        first = _NUMBER
    elif isinstance(start, ir.Array):
        first = ir.Array("float64", start.dims)
    found = (_gradient(rest[p.value]) or ir.UNKNOWN for p in numbers)
    return ir.Tuple((first, _TIMES, *found))


def _at_rows(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """A vector for every row, or the gradients by something that is given to the function."""
    f, *rest = args
    given: list[Any] = [getattr(a, "items", None) for a in rest]
    if not isinstance(f, ir.Object) or any(items is None for items in given):
        return None
    if f.type == "equation":
        return _VALUES
    rows, plain, *more = given
    place = f.value - len(rows)
    if 0 <= place < len(plain):
        one = plain[place]
        dims = ir.dims_of(one)
        return None if dims is None else ir.Array("float64", (None, *dims))
    found: ir.Kind = rows[f.value] if place < 0 else more[0][place - len(plain)]
    return found


_BRACKETED = ("brentq", "brenth", "bisect", "ridder", "toms748")


def _iterated(start: ir.Kind, of_number: tuple[()] | None = None) -> ir.Kind | None:
    """What an iteration in double precision makes of a first guess."""
    if isinstance(start, ir.Scalar):
        return ir.Scalar("float64", None) if of_number is None else ir.Array("float64", of_number)
    known = isinstance(start, ir.Array) and start.dtype == "float64" and not start.maybe_scalar
    return start if known else None


_SCIPY: dict[str, Any] = {
    "integrate.quad": lambda args, rest: ir.Tuple((_NUMBER, _NUMBER)),
    **{f"optimize.{name}": lambda args, rest: _NUMBER for name in _BRACKETED},
    "integrate.odeint": lambda args, rest: ir.Array("float64", (None, None)),
    "optimize.newton": lambda args, rest: _iterated(args[1]) if _is_real((*args, *rest)) else None,
    "linalg.solve_banded": lambda args, rest: _double(*args[1:3]),
    "linalg.solve": lambda args, rest: _solution_of(*args[:2]) if len(args) > 1 else None,
    "linalg.solve_triangular": lambda args, rest: (
        _solution_of(*args[:2]) if len(args) > 1 else None
    ),
    "optimize.fsolve": lambda args, rest: ir.Array("float64", (None,)),
    "optimize.fixed_point": lambda args, rest: (
        _iterated(args[1], ()) if _is_real((*args, *rest)) else None
    ),
}



def _gradients_from(place: int) -> Rule:
    """An item for each argument of a function, from a place on, behind its inputs and cotangent."""
    return lambda args, kwargs: ir.Tuple(tuple(map(in_structure, args[place:])))


FUNCTIONS: dict[Any, Rule] = {
    second_order.gradients_at: _gradients_from(3),
    second_order.gradients_along: _gradients_from(4),
    **dict.fromkeys((contexts.succeeds, checkpoint.has_run), always(ir.Scalar("bool", True))),
    trees.on_copies: _on_copies,
    **dict.fromkeys(
        (checkpoint.run_again, implicit.solution), lambda args, kwargs: _returned(args[0], args[2:])
    ),
    checkpoint.run_steps: _steps,
    checkpoint.pushed_steps: _pushed_steps,
    checkpoint.remaining: always(ir.Tuple((ir.Scalar("int64", True),) * 3)),
    implicit.fixed_point: _fixed_point,
    **dict.fromkeys((implicit.basis_of, implicit.units_of), _basis),
    implicit.as_reals: always(_TIMES),
    implicit.solved: lambda args, kwargs: args[1] if isinstance(args[1], ir.Array) else None,
    implicit.vjp_by: _slope,
    implicit.pulled: _pulled,
    integrals.integral: _integral,
    linalg.unique_places: always(ir.Tuple((_PLACES, ir.UNKNOWN, _PLACES))),
    indexing.runs: always(ir.Tuple((_PLACES, _PLACES, _STEPS, _STEPS))),
    indexing.segments: always(ir.Tuple((_PLACES, _PLACES))),
    **dict.fromkeys(
        (linalg.band_transposed, linalg.between, linalg.eigvalsh_back, linalg.svdvals_back),
        like(0),
    ),
    **dict.fromkeys((linalg.turned, implicit.of_reals), like(1)),
    linalg.band_product: lambda args, kwargs: _double(*args[:2]),
    curves.interpolant: _curve,
    integrals.ivp_values: always(ir.Tuple((_TIMES, _VALUES))),
    integrals.ode_adjoint: lambda args, kwargs: _adjoint_of_ode(args[3], args[1], args[5]),
    integrals.slope_of: always(ir.Object("equation")),
    integrals.at_rows: _at_rows,
    integrals.ivp_adjoint: lambda args, kwargs: _adjoint_of_ode(args[4], args[1], args[6]),
    integrals.ode_curved: lambda args, kwargs: _adjoint_of_ode(args[3], args[7], args[5]),
    **dict.fromkeys(
        (filters.edge_weights, integrals.ode_along, integrals.ivp_along, integrals.ode_values),
        always(_VALUES),
    ),
    roots.found_root: lambda args, kwargs: _iterated(args[1]),
    roots.found_root_scalar: always(_NUMBER),
    **dict.fromkeys(
        (
            implicit.solve_adjoint, implicit.solve_tangent, implicit.fixed_adjoint,
            implicit.fixed_tangent,
        ),
        like(2),
    ),
}  # fmt: skip
