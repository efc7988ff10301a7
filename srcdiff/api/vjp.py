"""`vjp`: one forward run, and a pullback that can be called any number of times."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from srcdiff import ir
from srcdiff.driver.arguments import check_plain
from srcdiff.driver.callables import Transformed, offers
from srcdiff.driver.derivative import Derivative, derivative_of
from srcdiff.driver.options import parameter_names
from srcdiff.driver.pullback import Pullback
from srcdiff.errors import entry
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import kind_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from srcdiff.driver.options import OfAll

P = ParamSpec("P")
R = TypeVar("R")


@offers("primal", "source")
class Vjp(Transformed, Generic[P, R]):
    """The function that computes the value of `primal`, and its pullback there."""

    what = "The value and the pullback"

    @entry
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The value at these arguments, and the pullback."""
        args, kwargs = self.given(args, kwargs)  # type: ignore[assignment]
        made = self.by(self._active(args) if self._asked.inputs is None else self._asked.inputs)
        return self.options.with_value(*made.recorded(args, kwargs))

    def _active(self, args: tuple[Any, ...]) -> Any:
        """The positional arguments that can carry a derivative."""
        names = self._names[: len(args)]
        check_plain(dict(zip(names, args)))
        found = [n for n, a in zip(names, args) if ir.is_active_kind(kind_of(a, n))]
        return found[0] if len(found) == 1 else tuple(found)

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        """The parameters."""
        return parameter_names(self._function)

    def by(self, inputs: Any) -> Derivative:
        """The gradient by some inputs."""
        return derivative_of(self._function, replace(self._asked, inputs=inputs))

    @property
    def made(self) -> Derivative:
        """The gradient by the inputs, or the first parameter."""
        return self.by(0 if self._asked.inputs is None else self._asked.inputs)


@overload
def vjp(
    f: Callable[P, R], /, *, inputs: Any = None, outputs: Any = None, **options: Unpack[OfAll]
) -> Vjp[P, R]: ...
@overload
def vjp(
    *, inputs: Any = None, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[P, R]], Vjp[P, R]]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, Any]], x: Any, /, *args: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[R, Pullback, Any]: ...
@overload
def vjp(f: Callable[..., R], x: Any, /, *args: Any, **kwargs: Any) -> tuple[R, Pullback]: ...
@entry
def vjp(f: Any = None, /, *args: Any, **kwargs: Any) -> Any:
    """The value of a function and its pullback.

    Args:
        f: the function.
        args, kwargs: its arguments; `inputs`, `outputs`, `has_aux`, `unused`, `compile`,
            `workspace`, `threads`, `strict` and `verify` are options, as in `grad`.  `inputs` None,
            which it is if left out, stands for all positional arguments that can carry a
            derivative: a bare gradient for one, a tuple for several.

    Returns:
        `(value, pullback)`; `pullback(grad_outputs=None, retain_graph=True)` gives the gradients.
        `(output, pullback, aux)` with `has_aux`.  Without arguments of `f`, a function that takes
        these, and gives that.

    >>> import srcdiff
    >>> value, pullback = srcdiff.vjp(lambda x: x * x, 3.0)
    >>> value, pullback(), pullback(10.0)
    (9.0, 6.0, 60.0)
    >>> v = srcdiff.vjp(lambda w, x: w * x, inputs="x")
    >>> v(2.0, x=3.0)[1]()
    2.0
    """
    return Vjp.direct(f, args or None, kwargs, None)
