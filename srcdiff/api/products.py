"""`hvp` and `vhp`: products with the Hessian, which is not computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, overload

from srcdiff.api.jacobian import of_gradient, without_unused
from srcdiff.api.matrices import count, units
from srcdiff.api.point import Point, check_form
from srcdiff.driver.callables import Transformed, listed, offers
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options
from srcdiff.errors import CotangentError, entry

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from srcdiff.driver.options import OfAll

P = ParamSpec("P")


@offers("primal", "source")
class Product(Transformed, Generic[P]):
    """The function that computes the product of the Hessian of `primal` with a vector."""

    what = "The product of a vector with the Hessian"
    more = MappingProxyType({"v": None})
    made: Derivative

    def __init__(self, primal: Any, options: Options) -> None:
        super().__init__(primal, options)
        self.made, self._how = of_gradient(self._function, self._asked)

    @entry
    def __call__(self, /, *args: Any, v: Any = None, **kwargs: Any) -> Any:
        """The product at these arguments."""
        point = Point(self.made, self._how, *self.given(args, kwargs))
        value, found = self.product(point, _one(point) if v is None else v)
        return self.options.with_aux(value, without_unused(point, value, found, 1))

    def product(self, point: Point, v: Any) -> tuple[Any, Any]:
        """The value of the gradient, and the product: by one forward run over the gradient."""
        return point.along(v)


class ReverseProduct(Product[P]):
    """The same, by reverse over reverse."""

    def product(self, point: Point, v: Any) -> tuple[Any, Any]:
        """The value of the gradient, and the product: by a pullback of the gradient."""
        value, pull = point.pullback(at_once=True)
        check_form(point.request, v)
        return value, pull(without_unused(point, value, v, 1))


def _one(point: Point) -> Any:
    """The vector of one number, which need not be given; raises where there are several."""
    if point.request.form != "bare" or count(point.inputs) != 1:
        raise CotangentError(
            "The vector v can only be None if the input to the user-provided function is a single "
            "number, or an array with a single element."
        )
    return units(point.inputs, range(1))[0]


@overload
def hvp(
    f: Callable[P, Any], /, *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Product[P]: ...
@overload
def hvp(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[P, Any]], Product[P]]: ...
@overload
def hvp(
    f: Callable[..., Any], /, args: Sequence[Any], v: Any = None, inputs: Any = 0, **kwargs: Any
) -> Any: ...
@entry
def hvp(f: Any = None, /, args: Any = None, v: Any = None, inputs: Any = 0, **kwargs: Any) -> Any:
    """The product of the Hessian of a function with a vector, by one forward-over-reverse run.

    Args:
        f: a function of one real output.
        args: its positional arguments.
        v: the vector, in the structure and shapes of the inputs; None is 1 for one number.
        inputs: as in `grad`.
        kwargs: its keyword arguments; `outputs`, `has_aux`, `unused`, `compile`, `workspace`,
            `threads`, `strict` and `verify` are options, as in `hessian`.

    Returns:
        The product, in the structure and shapes of the inputs; `(product, aux)` with `has_aux`.
        Without `args`, a function `h` with `h(*args, v=..., **kwargs)`, which gives that.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    return Product.direct(f, listed("args", args), {"inputs": inputs, **kwargs}, 0, v=v)


@overload
def vhp(
    f: Callable[P, Any], /, *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> ReverseProduct[P]: ...
@overload
def vhp(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[P, Any]], ReverseProduct[P]]: ...
@overload
def vhp(
    f: Callable[..., Any], /, args: Sequence[Any], v: Any = None, inputs: Any = 0, **kwargs: Any
) -> Any: ...
@entry
def vhp(f: Any = None, /, args: Any = None, v: Any = None, inputs: Any = 0, **kwargs: Any) -> Any:
    """The product of a vector with the Hessian of a function, by reverse over reverse.

    It takes what `hvp` takes, and gives the same numbers, as the Hessian is symmetric.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.vhp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    return ReverseProduct.direct(f, listed("args", args), {"inputs": inputs, **kwargs}, 0, v=v)
