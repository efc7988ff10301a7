"""`vjp`: one forward run, and a pullback that can be called any number of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from srcdiff import ir
from srcdiff.driver.arguments import check_plain
from srcdiff.driver.derivative import derivative_of
from srcdiff.driver.options import Options, apart, of_unused
from srcdiff.driver.pullback import Pullback
from srcdiff.errors import entry
from srcdiff.frontend.signatures import signature_of
from srcdiff.kinds.lattice import kind_of

R = TypeVar("R")


@entry
def vjp(
    f: Callable[..., R], *args: Any, inputs: Any = None, outputs: Any = None, **kwargs: Any
) -> tuple[R, Pullback]:
    """The value of a function and its pullback.

    Args:
        f: the function.
        args, kwargs: its arguments; `unused` (zeros if it is left out), `has_aux`, `compile`,
            `workspace`, `threads` and `verify` are options, as in `grad`.
        inputs: as in `grad`; None for all positional arguments that can carry a derivative: a
            bare gradient for one, a tuple for several.
        outputs: as in `grad`.

    Returns:
        `(value, pullback)`; `pullback(grad_outputs=None, retain_graph=True)` gives the gradients.

    >>> import srcdiff
    >>> value, pullback = srcdiff.vjp(lambda x: x * x, 3.0)
    >>> value, pullback(), pullback(10.0)
    (9.0, 6.0, 60.0)
    """
    where, kwargs = apart(f, kwargs, "unused", "has_aux")
    if inputs is None:
        names = list(signature_of(f).parameters)[: len(args)]
        check_plain(dict(zip(names, args)))
        found = [n for n, a in zip(names, args) if ir.is_active_kind(kind_of(a, n))]
        inputs = found[0] if len(found) == 1 else tuple(found)
    allow, materialize = of_unused(where.pop("unused", "zeros"))
    made = derivative_of(f, Options(inputs, outputs, allow, materialize, **where))
    return made.recorded(args, kwargs)
