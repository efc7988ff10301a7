"""Objects of classes written in Python, seen as records: a class, and attributes by name.

Named tuples and dataclasses are such objects too.  What is asked of an object here runs no code of
its class.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

_FOREIGN = """
    numpy scipy math functools itertools collections random copy srcdiff builtins operator
    typing os sys time warnings enum threading dataclasses cupy cupyx pathlib decimal fractions
    datetime logging io re abc types pandas xarray polars pyarrow dask torch jax jaxlib tensorflow
    astropy pint numba
"""
FOREIGN = frozenset(_FOREIGN.split())
"""The modules whose functions and classes nobody looks into."""

MISSING: Any = object()
_VALUES = (bool, int, float, complex, str, tuple, np.ndarray)

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the class was made by a `class` statement
# A class made by `exec` may say that it is of `builtins`.
_OTHERS = (FOREIGN | sys.stdlib_module_names) - {"typing", "abc", "builtins", "__main__"}


def is_record(cls: Any) -> bool:
    """Whether the objects of a class are records."""
    return isinstance(cls, type) and _is_record(cls)


@lru_cache(maxsize=1024)
def _is_record(cls: type) -> bool:
    """Whether the objects of a class are records, once for each class."""
    if not cls.__flags__ & _HEAP_TYPE:
        return False
    if not _is_ours(cls) or type(cls).__module__ not in ("builtins", "abc"):
        return False
    if is_installed(cls) and becomes_array(cls):
        return False
    if is_named_tuple(cls):
        return not own_operators(cls, tuple)
    own = [c for c in cls.__mro__ if c is not object]
    known = all(c.__flags__ & _HEAP_TYPE and _is_ours(c) for c in own)
    return known and member(cls, "__getattribute__") is object.__dict__["__getattribute__"]


def _is_ours(cls: type) -> bool:
    """Whether a base class is the user's, or adds nothing to its objects (`Generic`, `ABC`)."""
    module: object = cls.__module__  # of the functions of Cython, a descriptor
    return isinstance(module, str) and module.split(".")[0] not in _OTHERS


def is_installed(cls: type) -> bool:
    """Whether a class is of an installed package."""
    file = getattr(sys.modules.get(str(cls.__module__)), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file


def becomes_array(cls: type) -> bool:
    """Whether NumPy makes arrays of the objects of a class, or leaves its functions to it."""
    if issubclass(cls, np.generic) or cls in (np.ndarray, np.memmap) or cls is _device_array():
        return False
    ufunc = member(cls, "__array_ufunc__")
    return member(cls, "__array__") is not MISSING or (ufunc is not MISSING and ufunc is not None)


def _device_array() -> Any:
    """The class of the arrays of CuPy, if there is one."""
    return getattr(sys.modules.get("cupy"), "ndarray", None)


def is_named_tuple(cls: Any) -> bool:
    """Whether a class is a named tuple."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def attributes(x: Any) -> dict[str, Any]:
    """What an object itself holds, by name; slots first."""
    cls: Any = type(x)
    if isinstance(x, tuple):
        return dict(zip(cls._fields, x))
    found: dict[str, Any] = {}
    for name in _slots(cls):
        value = getattr(x, name, MISSING)
        if value is not MISSING:
            found[name] = value
    return {**found, **getattr(x, "__dict__", {})}


def with_defaults(x: Any) -> dict[str, Any]:
    """What an object holds, by name, and the plain values that its class alone has."""
    if isinstance(x, tuple):
        return attributes(x)
    found: dict[str, Any] = {}
    for base in reversed(type(x).__mro__):
        found.update(vars(base))
    return {**{k: v for k, v in found.items() if _is_plain(v)}, **attributes(x)}


def _is_plain(x: Any) -> bool:
    """Whether a value is a number, an array, a text, None, or a container of such."""
    if type(x) in (list, tuple):
        return all(map(_is_plain, x))
    if type(x) is dict:
        return all(map(_is_plain, x.values()))
    return x is None or isinstance(x, np.generic) or type(x) in _VALUES


@lru_cache(maxsize=1024)
def _slots(cls: type) -> tuple[str, ...]:
    """The names of the slots of a class and its bases."""
    found: list[str] = []
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, types.MemberDescriptorType) and name != "__weakref__":
                found.append(name)
    return tuple(found)


def member(cls: type, name: str, after: type | None = None) -> Any:
    """What a class, or the classes behind one of its bases, has under a name; else MISSING."""
    mro = cls.__mro__
    if after is not None:
        mro = mro[mro.index(after) + 1 :] if after in mro else ()
    for base in mro:
        if name in vars(base):
            return vars(base)[name]
    return MISSING


def of_class(cls: type, name: str) -> Any:
    """What a class has for objects without such an attribute of their own; MISSING for nothing."""
    filled = is_dataclass_made(cls) and any(f.name == name for f in dataclasses.fields(cls))
    own = MISSING if filled else member(cls, name)
    return MISSING if isinstance(own, types.MemberDescriptorType) else own


def default(cls: type, name: str) -> Any:
    """What an attribute of objects is while the class alone has it; MISSING for no plain value."""
    own = of_class(cls, name)
    return own if own is None or type(own) in _VALUES else MISSING


def is_copied_plainly(cls: type, deep: bool) -> bool:
    """Whether a copy of an object is a new one with its attributes (or copies of them)."""
    named = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
    own = (member(cls, name) for name in (*named, *(("__deepcopy__",) if deep else ())))
    return is_named_tuple(cls) or not any(isinstance(f, types.FunctionType) for f in own)


def can_store(cls: type) -> bool:
    """Whether an attribute of an object of this class can be assigned without further ado."""
    plain = member(cls, "__setattr__") is object.__dict__["__setattr__"]
    return plain and not issubclass(cls, tuple)


_ARITHMETIC = """
    add sub mul matmul truediv floordiv mod divmod pow and or xor lshift rshift
"""
_METHODS = """
    lt le eq ne gt ge len iter reversed contains getitem setitem delitem missing bool abs neg pos
    invert float int complex index round
"""
_BINARY = [prefix + name for name in _ARITHMETIC.split() for prefix in ("", "r", "i")]
_OPERATORS = frozenset(f"__{name}__" for name in _BINARY + _METHODS.split())


def own_operators(cls: type, base: type) -> tuple[str, ...]:
    """The operators that a user's class has in place of those of the builtin `base`."""
    ours = [c for c in cls.__mro__[: cls.__mro__.index(base)] if _is_ours(c)]
    return tuple(sorted({n for c in ours for n in vars(c) if n in _OPERATORS}))


# --- making them ---------------------------------------------------------------------------------


def plain_fields(cls: Any) -> tuple[str, ...] | None:
    """The fields of a class whose constructor stores its arguments and does no more, else None."""
    return _plain_fields(cls) if isinstance(cls, type) else None


@lru_cache(maxsize=1024)
def _plain_fields(cls: Any) -> tuple[str, ...] | None:
    """The fields of a class with a plain constructor, once for each class."""
    if is_named_tuple(cls):
        code = getattr(cls.__new__, "__code__", None)
        plain = code is not None and _is_generated(code) and not own_operators(cls, tuple)
        return tuple(cls._fields) if plain else None
    if not is_dataclass_made(cls) or member(cls, "__post_init__") is not MISSING:
        return None
    fields = dataclasses.fields(cls)
    plain = all(f.init and f.default_factory is dataclasses.MISSING for f in fields)
    return tuple(f.name for f in fields) if plain else None


def is_dataclass_made(cls: Any) -> bool:
    """Whether a class has the `__init__` that `dataclass` makes."""
    if not dataclasses.is_dataclass(cls) or not isinstance(cls, type) or not is_record(cls):
        return False
    made = member(cls, "__init__")
    own = next(c for c in cls.__mro__ if "__init__" in vars(c))
    code = getattr(made, "__code__", None)
    return code is not None and "__dataclass_fields__" in vars(own) and _is_generated(code)


def _is_generated(code: types.CodeType) -> bool:
    """Whether code stands in no file."""
    return code.co_filename.startswith("<string>")


def signature(cls: type) -> inspect.Signature:
    """How a class is called."""
    return inspect.signature(cls)


def instance(cls: Any, /, **values: Any) -> Any:
    """An object of a class that has these attributes; its constructor does not run."""
    if issubclass(cls, tuple):
        return cls(**values)
    made = object.__new__(cls)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def rebuilt(x: Any, values: Mapping[str, Any]) -> Any:
    """An object of the class of `x` with other values for what `x` itself holds."""
    return instance(type(x), **{name: values[name] for name in attributes(x)})
