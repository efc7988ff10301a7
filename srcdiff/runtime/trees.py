"""Adjoints of containers, checks of cotangents and adjoints: also called by generated code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcdiff.errors import AnomalyError, CotangentError, CotangentTypeError, UnsupportedError
from srcdiff.runtime import layout, records
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.service import compiler


def is_array(x: Any) -> bool:
    """Whether a value is an array, here or on a device."""
    return isinstance(x, np.ndarray) or hasattr(type(x), "__cuda_array_interface__")


def where_nonzero(d: Any, x: Any) -> Any:
    """`x`, and zero where `d` is zero."""
    return np.where(d == 0, 0.0, x)[()]


def nothing_seen() -> list[str]:
    """What `note_value` writes the first bad value of a forward part into."""
    return []


def note_value(seen: list[str], x: Any, what: str, name: str, place: str, **counters: Any) -> None:
    """Note where the first value of a forward part is bad."""
    if not seen:
        seen += [f"the value of {n} is {bad}" for n, bad in _bad(x, what, name)][:1]
        seen += [_where(place, counters)] if seen else []


def check_adjoint(
    seen: list[str], d: Any, what: str, name: str, place: str, **counters: Any
) -> None:
    """Raise if an adjoint holds `what`: "nan", "inf" or "nan or inf".

    Raises:
        AnomalyError: with the variable, the line of the primal, where its loops are, and the first
            value of the forward part that was bad already.
    """
    for path, bad in _bad(d, what, name):
        lines = [f"the adjoint of {path} is {bad}", _where(place, counters)]
        if seen:
            lines += ["Something is wrong in the forward part already:", *seen]
        else:
            lines.append(f"No value of the forward part that carries a derivative is {what}.")
        raise AnomalyError("\n".join(lines), place, path, counters)


def _where(place: str, counters: dict[str, Any]) -> str:
    """A line of the primal, and where its loops are."""
    return f"  {place}" + "".join(f", {k} = {v!r}" for k, v in counters.items())


def _bad(x: Any, what: str, name: str) -> Iterator[tuple[str, str]]:
    """(name, "nan" or "inf") of what is bad in a value."""
    if isinstance(x, (list, tuple, dict)):
        for key, item in x.items() if isinstance(x, dict) else enumerate(x):
            yield from _bad(item, what, f"{name}[{key!r}]")
    elif isinstance(x, (float, complex)) or getattr(x, "dtype", np.dtype(int)).kind in "fc":
        if "nan" in what and np.any(np.isnan(x)):
            yield name, "nan"
        if "inf" in what and np.any(np.isinf(x)):
            yield name, "inf"


def zeros_like(x: Any) -> Any:
    """Zero of the structure of `x`: arrays, numbers and containers of them; None for the rest."""
    if is_array(x):
        return np.zeros_like(x, float) if x.dtype.kind in "biu" else layout.laid_like(0.0, x)
    if isinstance(x, (bool, str, bytes)) or x is None:
        return None
    if isinstance(x, (int, float, complex, np.generic)):
        return type(x)(0)
    if isinstance(x, dict):
        zeros = {key: zeros_like(value) for key, value in x.items()}
        make = getattr(x, "default_factory", None)
        return zeros if make is None else defaultdict(lambda: zeros_like(make()), zeros)
    if isinstance(x, (list, tuple)):
        return like_sequence(x, [zeros_like(value) for value in x])
    return np.zeros_like(x) if hasattr(x, "__array_function__") else None


def like_sequence(x: Any, items: list[Any]) -> Any:
    """The items as a list or tuple, or as a named tuple of the class of `x`, as `x` is one."""
    if isinstance(x, list):
        return items
    return type(x)(*items) if hasattr(x, "_fields") else tuple(items)


def zero_tree(x: Any) -> Any:
    """Zero of the structure of `x`, tuples as lists; None where nothing is differentiable."""
    if isinstance(x, dict):
        return {key: zero_tree(value) for key, value in x.items()}
    if records.is_record(type(x)):
        return {key: zero_tree(value) for key, value in records.with_defaults(x).items()}
    if isinstance(x, (list, tuple)):
        return [zero_tree(value) for value in x]
    if is_array(x):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, (float, complex, np.inexact)):
        return type(x)(0)
    return None


def copy_tree(d: Any) -> Any:
    """A copy of an adjoint that shares no memory with it, tuples as lists."""
    if isinstance(d, dict):
        return {key: copy_tree(value) for key, value in d.items()}
    if isinstance(d, (list, tuple)):
        return [copy_tree(value) for value in d]
    return np.copy(d) if is_array(d) else d


def mapped(fn: Any, x: Any, *others: Any) -> Any:
    """`fn` of each number and array in a structure, and of those at its place in others of it."""
    if records.is_record(type(x)):
        return records.rebuilt(x, mapped(fn, *map(records.attributes, (x, *others))))
    if isinstance(x, dict):
        return {key: mapped(fn, value, *(o[key] for o in others)) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return like_sequence(x, [mapped(fn, *values) for values in zip(x, *others)])
    return fn(x, *others)


def kept(x: Any) -> Any:
    """A copy of `x` of the same structure and layout, whose contents nobody else can change."""
    return mapped(lambda part: layout.laid_copy(part) if is_array(part) else part, x)


def deep_copy(x: Any) -> Any:
    """`copy.deepcopy(x)` of numbers, arrays, None, and containers and objects of such.

    Raises:
        UnsupportedError: it holds the same array, list or dict twice, as copies cannot, or
            something else.
    """
    return _deep_copy(x, set())


def _deep_copy(x: Any, seen: set[int]) -> Any:
    """A deep copy; `seen` are the ids of what may be written into and was copied before."""
    if x is None or callable(x) or isinstance(x, (*_NUMBERS, str, bytes, range, slice)):
        return x
    if isinstance(x, tuple):
        return like_sequence(x, [_deep_copy(value, seen) for value in x])
    plain = records.is_record(type(x)) and records.is_copied_plainly(type(x), True)
    twice = id(x) in seen
    if twice or not (plain or is_array(x) or type(x) in (dict, list)):
        shared = "what holds the same array, list, dict or object twice"
        what = shared if twice else f"a `{type(x).__name__}`"
        remedy = "Copy the parts of it one by one."
        raise UnsupportedError(f"`copy.deepcopy` is given {what}", remedy=remedy)
    seen.add(id(x))
    if is_array(x):
        return layout.laid_copy(x)
    if type(x) is list:
        return [_deep_copy(value, seen) for value in x]
    own = records.attributes(x) if plain else x
    copies = {key: _deep_copy(value, seen) for key, value in own.items()}
    return records.rebuilt(x, copies) if plain else copies


_NUMBERS = (bool, int, float, complex, np.generic)


def as_now(x: Any) -> Any:
    """`x`, to be read later as it is now: copied where something writes into it before that."""
    return kept(x)


def on_copies(fn: Any, at: tuple[int, ...], *args: Any) -> tuple[Any, ...]:
    """What `fn` returns, and what it leaves in the arguments at some positions, given as copies."""
    new = {k: list(a) if isinstance(a := args[k], list) else layout.laid_copy(a) for k in at}
    return (fn(*(new.get(k, a) for k, a in enumerate(args))), *(new[k] for k in at))


def add_tree(a: Any, b: Any) -> Any:
    """The sum of two adjoints of one structure, in new memory; None is zero, and so is no item."""
    if a is None or b is None:
        return copy_tree(b if a is None else a)
    if isinstance(a, dict):
        return {key: add_tree(a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, (list, tuple)):
        if not len(a) or not len(b):
            return copy_tree([*a, *b])
        return [add_tree(p, q) for p, q in zip(a, b, strict=True)]
    return a + b


def add_at(a: Any, key: Any, b: Any) -> None:
    """Add `b` at a place of the adjoint of a container, or of an array, at every one of several."""
    if is_array(a) and np.iscomplexobj(a):  # CuPy has no atomic addition of complex numbers
        np.add.at(a.real, key, np.real(b))
        np.add.at(a.imag, key, np.imag(b))
    elif is_array(a):
        np.add.at(a, key, b)
    else:
        a[key] = add_tree(a[key], b)


def add_shared(a: Any, key: Any, b: Any) -> None:
    """Add `b` to an item of the shadow of a container, in the memory that others may hold."""
    held = [a[key]]
    add_into(held, [b])
    a[key] = copy_tree(b) if held[0] is None else held[0]


def add_into(a: Any, b: Any) -> None:
    """Add one adjoint to another of the same structure, in the memory of that; None is zero."""
    if a is None or b is None:
        return
    for key in a if isinstance(a, dict) else range(len(a)):
        if is_array(a[key]) and b[key] is not None:
            a[key][...] += b[key]
        elif isinstance(a[key], (list, tuple, dict)):
            add_into(a[key], b[key])
        elif a[key] is not None and b[key] is not None:
            a[key] = a[key] + b[key]


def add_numbers(a: Any, b: Any) -> None:
    """Add the numbers that one adjoint of a container holds to those of another."""
    for key in a if isinstance(a, dict) else range(len(a)):
        if isinstance(a[key], (float, complex, np.inexact)) and b[key] is not None:
            a[key] = a[key] + b[key]


def put_back(x: Any, old: Any) -> None:
    """Write an earlier copy of `x` into the memory of `x`."""
    for key in x if isinstance(x, dict) else range(len(x)):
        if is_array(x[key]):
            x[key][...] = old[key]
        elif isinstance(x[key], (list, dict)):
            put_back(x[key], old[key])
        else:
            x[key] = old[key]


def like_tree(d: Any, x: Any) -> Any:
    """The adjoint `d` in the structure, shapes and dtypes of the input `x`, sharing no memory."""
    if records.is_record(type(x)):
        own = records.attributes(x).items()
        return records.rebuilt(x, {key: like_tree(d[key], value) for key, value in own})
    if isinstance(x, dict):
        return type(x)((key, like_tree(d[key], value)) for key, value in x.items())
    if isinstance(x, (list, tuple)):
        items = [like_tree(p, q) for p, q in zip(d, x, strict=True)]
        return items if isinstance(x, list) else tuple(items)
    if is_array(x):
        return None if d is None else _like_array(d, x)
    if isinstance(x, (float, complex, np.inexact)) and d is not None:
        d = d.item() if is_array(d) else d
        return type(x)(d if isinstance(x, (complex, np.complexfloating)) else np.real(d))
    return d


def _like_array(d: Any, x: Any) -> Any:
    """An array of the shape and dtype of `x` with the values of `d`."""
    if np.iscomplexobj(d) and not np.iscomplexobj(x):
        d = np.real(d)
    out = np.empty_like(x)
    out[...] = d
    return out


def order(xs: Any, reverse: bool = False, key: Callable[[Any], Any] | None = None) -> list[int]:
    """The positions of the items of `xs` from the least to the greatest, ties in their order."""
    keys = xs if key is None else [key(x) for x in xs]
    return sorted(range(len(xs)), key=lambda k: keys[k], reverse=reverse)


def cotangent(grad_outputs: Any, output: Any, path: str = "grad_outputs") -> Any:
    """A copy of `grad_outputs` checked against the output, ones where it is left out and may be.

    Raises:
        CotangentError: it is missing for an output of several elements, or of the wrong shape.
        CotangentTypeError: it is no number or array.
    """
    if isinstance(output, dict):
        given = items_like(grad_outputs, output, path, "output")
        return {k: cotangent(given.get(k), v, f"{path}[{k!r}]") for k, v in output.items()}
    if records.is_record(type(output)):
        return cotangent(as_dict(grad_outputs), records.attributes(output), path)
    if isinstance(output, (list, tuple)):
        given = items_like(grad_outputs, output, path, "output")
        return [cotangent(g, v, f"{path}[{k}]") for k, (g, v) in enumerate(zip(given, output))]
    number = isinstance(output, (float, complex, np.inexact))
    if number or is_array(output) and output.dtype.kind in "fc":
        return _one(output, path) if grad_outputs is None else _checked(grad_outputs, output, path)
    if grad_outputs is not None:
        raise CotangentError(
            f"{path}: expected None, for an output of type {type(output).__name__} that has no "
            f"derivative, given {type(grad_outputs).__name__}"
        )
    return None


def items_like(given: Any, x: Any, path: str, whose: str) -> Any:
    """The items of a structured cotangent or tangent, as many as `x` has.

    Raises:
        CotangentError: they are not as many, or of other keys.
        CotangentTypeError: it has no items.
    """
    if given is None:
        return {} if isinstance(x, dict) else [None] * len(x)
    if not isinstance(given, dict if isinstance(x, dict) else (list, tuple)):
        raise CotangentTypeError(
            f"{path}: expected a {type(x).__name__} of {len(x)} items like the {whose}, "
            f"given {type(given).__name__}"
        )
    known = set(given) <= set(x) if isinstance(x, dict) else len(given) == len(x)
    if not known:
        raise CotangentError(f"{path}: expected {len(x)} items, given {len(given)}")
    return given


def as_dict(given: Any) -> Any:
    """The attributes of an object that is a cotangent."""
    return records.attributes(given) if records.is_record(type(given)) else given


def _one(output: Any, path: str) -> Any:
    """The cotangent of an output of one real element that is given none."""
    if np.size(output) != 1 or np.iscomplexobj(output):
        what = "a complex output" if np.iscomplexobj(output) else f"shape {np.shape(output)}"
        why = "grad can be implicitly created only for scalar outputs"
        raise CotangentError(f"{why}; {path} is missing for {what}")
    return np.ones_like(output) if is_array(output) else type(output)(1)


def _checked(given: Any, output: Any, path: str) -> Any:
    """A cotangent of the shape of the output."""
    check_leaf(given, output, path, "output")
    if isinstance(output, np.ndarray):
        return np.array(given, output.dtype)
    return _like_array(given, output) if is_array(output) else type(output)(given)


def check_leaf(given: Any, x: Any, path: str, whose: str) -> None:
    """Raise unless a cotangent or tangent is a number or array like `x`.

    Raises:
        CotangentError: it is of another shape, or complex where `x` is real.
        CotangentTypeError: it is no number or array.
    """
    array = is_array(given)
    if array and type(given) is not type(x) and _module(given) != _module(x):
        what = f"a number or an array of {_module(x)} like the {whose}"
        raise CotangentTypeError(f"{path}: expected {what}, given one of {_module(given)}")
    number = isinstance(given, (int, float, complex, np.generic)) and not isinstance(given, bool)
    if not array and not number:
        what = f"a number or an array of shape {np.shape(x)}, given {type(given).__name__}"
        raise CotangentTypeError(f"{path}: expected {what}")
    wrong = ""
    if np.shape(given) != np.shape(x):
        wrong = f"shape {np.shape(x)}, given shape {np.shape(given)}"
    elif np.iscomplexobj(given) and not np.iscomplexobj(x):
        wrong = f"real numbers for a real {whose}, given complex ones"
    elif whose == "output" and np.iscomplexobj(x) and not np.iscomplexobj(given):
        wrong = f"complex numbers for a complex {whose}, given real ones"
    if wrong:
        raise CotangentError(f"{path}: expected {wrong}")


def _module(x: Any) -> str:
    """The array module of a value."""
    return "CuPy" if hasattr(type(x), "__cuda_array_interface__") else "NumPy"


def differentiable_part(tangent: Any, value: Any) -> Any:
    """A tangent in the types of the value, None where it is no real or complex number or array."""
    if isinstance(value, dict):
        return {k: differentiable_part(tangent[k], v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return like_sequence(value, [differentiable_part(t, v) for t, v in zip(tangent, value)])
    real = is_any_array(value) or isinstance(value, (float, complex, np.inexact))
    return _in_type_of(value, tangent) if real and np.result_type(value).kind in "fc" else None


def _in_type_of(value: Any, tangent: Any) -> Any:
    """A tangent as precise as its value, and complex where the value is: rules look at one term."""
    dtype, own = getattr(value, "dtype", None), getattr(tangent, "dtype", None)
    if isinstance(value, np.generic) and isinstance(tangent, float):
        return type(value)(tangent)
    fits = dtype is None or own is None or dtype == own or not np.can_cast(own, dtype, "same_kind")
    return tangent if fits else tangent.astype(dtype)


# --- functions that only the running program knows ----------------------------------------------


def call_vjp(f: Any, active: tuple[int, ...], *args: Any, strong_zeros: bool = False) -> Any:
    """`f(*args)`, and what `pull_back` needs for the arguments at the `active` positions.

    The derivative of `f` is generated when it is first called: this needs srcdiff itself.
    """
    return compiler().pullback(f, active, args, strong_zeros)


def pull_back(pull: Any, d: Any) -> Any:
    """The gradients of a call of `call_vjp` for the adjoint `d` of its value."""
    return pull(d)


def hook(x: Any, fn: Any) -> Any:
    """`x` itself; when it is differentiated, the adjoint of the result goes through `fn`.

    `fn` gets the adjoint and returns what takes its place, or None to leave it as it is: to clip
    it, to scale it, to look at it.  The statement `srcdiff.autograd.hook(x, fn)` means
    `x = srcdiff.autograd.hook(x, fn)`: the hook sees what comes from the lines below it.

    >>> import srcdiff
    >>> def f(x):
    ...     y = srcdiff.autograd.hook(x * x, lambda d: 10.0 * d)
    ...     return y + x
    >>> f(3.0), srcdiff.grad(f)(3.0)
    (12.0, 61.0)
    """
    return x


def hooked(d: Any, fn: Any) -> Any:
    """What a hook makes of an adjoint, of which it gets a copy that it cannot write into.

    Raises:
        CotangentError: it is of another shape.
    """
    held = copy_tree(d)
    if isinstance(held, np.ndarray):
        held.flags.writeable = False
    changed = fn(held)
    if changed is not None and not isinstance(d, (list, dict)):
        check_leaf(changed, d, "the result of a hook", "adjoint")
    return d if changed is None else changed


def like_object(x: Any, /, **found: Any) -> Any:
    """The gradient of an object: one of its class with the gradients found, zeros elsewhere."""
    others = ((k, v) for k, v in records.attributes(x).items() if k not in found)
    return records.rebuilt(x, {**found, **{k: like_tree(zero_tree(v), v) for k, v in others}})
