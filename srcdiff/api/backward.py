"""`backward`: gradients that are added into buffers, as in a training loop.

Takes a function; gives one that returns its value and adds the gradients in place into buffers that
the caller keeps: all of them, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from srcdiff.driver.callables import Transformed, offers, transform
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import OfAll, Options, parameter_names, resolved
from srcdiff.errors import CotangentError, CotangentTypeError, entry
from srcdiff.frontend.request import spelled
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.trees import kept

if TYPE_CHECKING:
    from typing_extensions import Unpack

R = TypeVar("R")
Addition = tuple[Any, Any, Any]  # container, key, gradient


def add_into(store: Any, keys: Sequence[tuple[Any, ...]], gradients: Sequence[Any]) -> None:
    """Add gradients to the entries of a store: arrays in place, absent entries as copies.

    `keys` says for each gradient under which of several keys (a name, a position) its entry in a
    mapping is looked for; the first one is used for a new entry.  A list is aligned with the
    gradients.  The store of one gradient may be what it is to be added to.

    Raises:
        CotangentError: an entry is of another shape or dtype, or cannot be written into; nothing
            has been added then.
    """
    if len(gradients) == 1 and _is_entry(store, keys[0], gradients[0]):
        store, keys = {"": store}, [("",)]
    if not isinstance(store, (Mapping, list)):
        raise CotangentTypeError(f"into: expected a dict or a list, given {type(store).__name__}")
    given = [(_present(store, names, k), g) for k, (names, g) in enumerate(zip(keys, gradients))]
    additions = [one for key, g in given if g is not None for one in _plan(store, key, g, "into")]
    for container, key, gradient in additions:
        _add(container, key, gradient)


def _is_entry(store: Any, names: tuple[Any, ...], gradient: Any) -> bool:
    """Whether a store is itself what the only gradient is to be added to."""
    if is_any_array(store):
        return True
    if isinstance(gradient, dict):
        same = isinstance(store, Mapping) and bool(store) and set(store) <= set(gradient)
        return same and not set(names) & set(store)
    return isinstance(gradient, (list, tuple)) and isinstance(store, (list, tuple))


def _present(store: Any, names: tuple[Any, ...], position: int) -> Any:
    """The key under which a store has an entry, else the first one that it can have."""
    if isinstance(store, Mapping):
        return next((n for n in names if n in store), names[0])
    return position


def _entry(store: Any, key: Any) -> Any:
    if isinstance(store, Mapping):
        return store.get(key)
    if key >= len(store):
        raise CotangentError(f"into: expected {key + 1} entries or more, given {len(store)}")
    return store[key]


def _plan(store: Any, key: Any, gradient: Any, path: str) -> Iterator[Addition]:
    """The additions, checked leaf by leaf, that one comes to."""
    path = f"{path}[{key!r}]"
    entry = _entry(store, key)
    if isinstance(gradient, (dict, list, tuple)) and entry is not None:
        items = gradient.items() if isinstance(gradient, dict) else enumerate(gradient)
        if isinstance(entry, (dict, list, tuple)):
            for inner, one in items:
                if one is not None:
                    yield from _plan(entry, inner, one, path)
            return
        raise CotangentError(f"{path}: expected a {type(gradient).__name__} like the input")
    if entry is None or isinstance(entry, (float, complex)):
        if not isinstance(store, (MutableMapping, list)):
            raise CotangentError(f"{path}: expected an array to add to, in a tuple")
    else:
        _check(entry, gradient, path)
    yield store, key, gradient


def _check(entry: Any, gradient: Any, path: str) -> None:
    """Raise unless a gradient can be added to an array in place."""
    if not is_any_array(entry):
        raise CotangentError(f"{path}: expected an array, given {type(entry).__name__}")
    if entry.shape != np.shape(gradient):
        raise CotangentError(
            f"{path}: expected shape {np.shape(gradient)}, given shape {entry.shape}"
        )
    if not np.can_cast(np.result_type(gradient), entry.dtype, "same_kind"):
        raise CotangentError(
            f"{path}: expected dtype {np.result_type(gradient)}, given dtype {entry.dtype}"
        )
    if not entry.flags.writeable:
        raise CotangentError(f"{path}: expected an array that can be written into, given read-only")


def _add(container: Any, key: Any, gradient: Any) -> None:
    entry = _entry(container, key)
    if is_any_array(entry):
        entry += gradient
    else:
        container[key] = kept(gradient) if entry is None else entry + gradient


# --- the transform --------------------------------------------------------------------------------


@offers("primal", "source")
class Backward(Transformed, Generic[R]):
    """Runs `primal`, and adds its gradients in place into the buffers of a store."""

    what = "The value, with its gradients added into buffers,"
    more = MappingProxyType({"into": ..., "grad_outputs": None})

    def __init__(self, primal: Any, options: Options) -> None:
        self.made = Derivative(primal, options)
        super().__init__(primal, options)
        inputs, names = self.made.request.inputs, parameter_names(primal)
        self.keys = [store_key(item.param, item.path, names) for item in inputs]

    @entry
    def __call__(self, *args: Any, into: Any, grad_outputs: Any = None, **kwargs: Any) -> R:
        """The value; the gradients are added to the entries of `into`."""
        value: R
        value, gradients = self.made(*args, grad_outputs=grad_outputs, **kwargs)
        add_into(into, self.keys, self.made.request.listed(gradients))
        return value


def store_key(name: str, path: tuple[Any, ...], names: Sequence[str]) -> tuple[Any, ...]:
    """The keys under which a store may have the gradient at a place."""
    return (spelled(name, path),) if path else (name, names.index(name))


@overload
def backward(
    f: Callable[..., R], inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Backward[R]: ...
@overload
def backward(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[..., R]], Backward[R]]: ...
@transform(OfAll)
def backward(
    f: Callable[..., Any] | None = None, inputs: Any = 0, outputs: Any = None, **options: Any
) -> Any:
    """A function that returns the value of `f` and adds its gradients into buffers, in place.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs, unused, has_aux, compile, workspace, threads, strict, verify: as in `grad`.

    Returns:
        `b` with `b(*args, into=store, grad_outputs=None, **kwargs)`.  `store` maps names or
        positions of inputs to arrays (or is a list of arrays); an input that is a container has an
        entry of its structure.  An entry that is absent or None becomes a copy of the gradient.

    Raises:
        CotangentError: at the call, an entry is of another shape or dtype than its gradient, or
            read-only; then nothing has been added to any.

    >>> import numpy as np
    >>> import srcdiff
    >>> b = srcdiff.backward(lambda w, x: np.sum(w * x), inputs="w")
    >>> store = {}
    >>> w, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    >>> for _ in range(2):
    ...     value = b(w, x, into=store)
    >>> store["w"]
    array([6., 8.])
    """
    return Backward.of(f, resolved(OfAll, inputs, outputs, value=True, **options))
