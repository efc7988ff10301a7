"""Objects of classes written in Python, seen as records: a class, and attributes by name.

Named tuples and dataclasses are such objects too.  What is asked of an object here runs no code of
its class.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import sys
import types
from collections import ChainMap
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from srcdiff import ir

_FOREIGN = """
    numpy scipy math functools itertools collections random copy srcdiff builtins operator
    typing os sys time warnings enum threading dataclasses cupy cupyx pathlib decimal fractions
    datetime logging io re abc types pandas xarray polars pyarrow dask torch jax jaxlib tensorflow
    astropy pint numba
"""
FOREIGN = frozenset(_FOREIGN.split())
"""The modules whose functions and classes nobody looks into."""
TRUSTED = (FOREIGN | sys.stdlib_module_names) - {"__main__", "this", "antigravity"}
"""The modules that may be imported, and asked what they have, while compiling."""

MISSING: Any = object()
_VALUES = (bool, int, float, complex, str, tuple, np.ndarray)

_METACLASSES = (type, abc.ABCMeta)
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the class was made by a `class` statement
# A class made by `exec` may say that it is of `builtins`.
_OTHERS = (FOREIGN | sys.stdlib_module_names) - {"typing", "abc", "builtins", "__main__"}


def is_foreign(module: str) -> bool:
    """Whether a module is a library whose functions are not looked into."""
    return module.split(".")[0] in FOREIGN


def is_record(cls: Any) -> bool:
    """Whether the objects of a class are records."""
    return issubclass(type(cls), type) and type(cls) in _METACLASSES and _is_record(cls)


@lru_cache(maxsize=1024)
def _is_record(cls: type) -> bool:
    """Whether the objects of a class are records, once for each class."""
    if not cls.__flags__ & _HEAP_TYPE or not is_ours(cls):
        return False
    if _is_file_of_others(sys.modules.get(str(cls.__module__))) and becomes_array(cls):
        return False
    if is_named_tuple(cls):
        return not own_operators(cls, tuple)
    own = [c for c in cls.__mro__ if c is not object]
    known = all(c.__flags__ & _HEAP_TYPE and is_ours(c) for c in own)
    return known and member(cls, "__getattribute__") is object.__dict__["__getattribute__"]


def is_ours(cls: type) -> bool:
    """Whether a base class is the user's, or adds nothing to its objects (`Generic`, `ABC`)."""
    module: object = cls.__module__  # of the functions of Cython, a descriptor
    return isinstance(module, str) and module.split(".")[0] not in _OTHERS


def _is_file_of_others(module: Any) -> bool:
    """Whether a module is of an installed package."""
    file = str(own_dict(module).get("__file__"))
    return "site-packages" in file or "dist-packages" in file


def becomes_array(cls: type) -> bool:
    """Whether NumPy makes arrays of the objects of a class, or leaves its functions to it."""
    plain = np.ndarray, np.memmap, getattr(sys.modules.get("cupy"), "ndarray", None)
    if issubclass(cls, np.generic) or any(cls is known for known in plain):
        return False
    ufunc = member(cls, "__array_ufunc__")
    return member(cls, "__array__") is not MISSING or (ufunc is not MISSING and ufunc is not None)


def is_named_tuple(cls: Any) -> bool:
    """Whether a class is a named tuple."""
    return issubclass(type(cls), type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def attributes(x: Any) -> dict[str, Any]:
    """What an object itself holds, by name; slots first."""
    cls: Any = type(x)
    if issubclass(cls, tuple):
        return dict(zip(cls._fields, tuple.__iter__(x)))
    found: dict[str, Any] = {}
    for slot in _slots(cls):
        with contextlib.suppress(AttributeError):  # it may be empty
            found[slot.__name__] = slot.__get__(x, cls)
    return {**found, **own_dict(x)}


def own_dict(x: Any) -> dict[str, Any]:
    """The dict of the attributes of an object."""
    cls: Any = type(x)
    place = _dict_of(cls)
    return {} if place is None else place.__get__(x)


def with_defaults(x: Any) -> dict[str, Any]:
    """What an object holds, by name, and the plain values that its class alone has."""
    return {**class_values(type(x)), **attributes(x)}


def class_values(cls: type) -> dict[str, Any]:
    """The plain values that a class has, which its objects show; a named tuple shows its own."""
    if issubclass(cls, tuple):
        return {}
    held = ChainMap(*map(dict, map(vars, cls.__mro__)))
    return {k: v for k, v in held.items() if _is_plain(v)}


def _is_plain(x: Any) -> bool:
    """Whether a value is a number, an array, a text, None, or a container of such."""
    if type(x) in (list, tuple):
        return all(map(_is_plain, x))
    if type(x) is dict:
        return all(map(_is_plain, x.values()))
    return x is None or isinstance(x, np.generic) or type(x) in _VALUES


@lru_cache(maxsize=1024)
def _slots(cls: type) -> tuple[Any, ...]:
    """The slots of a class and its bases."""
    held = (item for base in reversed(cls.__mro__) for item in vars(base).items())
    slot = types.MemberDescriptorType
    return tuple(v for name, v in held if isinstance(v, slot) and name != "__weakref__")


@lru_cache(maxsize=1024)
def _dict_of(cls: Any) -> Any:
    """What finds the dict of the attributes of an object of a class, None if it has none."""
    found = (vars(base).get("__dict__") for base in cls.__mro__ if base is not type)
    return next((f for f in found if isinstance(f, _C_DESCRIPTORS)), None)


_C_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def member(cls: type, name: str, after: type | None = None) -> Any:
    """What a class, or the classes behind one of its bases, has under a name; else MISSING."""
    mro = cls.__mro__
    if after is not None:
        mro = mro[mro.index(after) + 1 :] if after in mro else ()
    return next((vars(base)[name] for base in mro if name in vars(base)), MISSING)


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
    ours = [c for c in cls.__mro__[: cls.__mro__.index(base)] if is_ours(c)]
    return tuple(sorted({n for c in ours for n in vars(c) if n in _OPERATORS}))


def held_in(x: Any) -> Iterable[tuple[Any, Any]]:
    """What a list, tuple or dict holds, by position or key; nothing for anything else."""
    base = next((b for b in (list, tuple, dict) if issubclass(type(x), b)), None)
    if base is dict:
        return dict.items(x)
    return () if base is None else enumerate(base.__iter__(x))


def is_plain_key(key: Any) -> bool:
    """Whether the key of an item can be shown."""
    return type(key) in (str, int, float, bool)


# --- what is asked without running code of the user's ---------------------------------------------


def is_closed(value: Any) -> bool:
    """Whether code of the user's says of which class a value is, or answers for its class."""
    cls: Any = type(value)
    meta: Any = type(cls)
    return (meta is not type and _is_closed(meta)) or _is_closed(cls)


@lru_cache(maxsize=1024)
def _is_closed(cls: Any) -> bool:
    """Whether the objects of a class are closed, or what these make where they are classes."""
    if not cls.__flags__ & _HEAP_TYPE or not is_ours(cls):
        return False
    if issubclass(cls, type) and ir.answers_by_code(cls):
        return True
    made_up = isinstance(member(cls, "__getattribute__"), types.FunctionType)
    return made_up or member(cls, "__class__") is not object.__dict__["__class__"]


def looked_up(base: Any, name: str) -> Any:
    """What a module, a class or another object from outside has under a name, else MISSING.

    MISSING is also what code of the user's would make up: the `__getattr__` of a module, the
    `__get__` of a descriptor.
    """
    if isinstance(base, types.ModuleType):
        space = own_dict(base)
        if name in space or not _is_trusted(base):
            return space.get(name, MISSING)
    if not isinstance(base, type) or not is_ours(base) or member(base, name) is MISSING:
        return getattr(base, name, MISSING)
    found = member(base, name)
    get = member(type(found), "__get__")
    if isinstance(get, types.FunctionType) and is_ours(type(found)):
        return MISSING
    return found if get is MISSING else get(found, None, base)


def is_made_up(base: Any, name: str) -> bool:
    """Whether what a module or class is not known to have may be made up by code of the user's."""
    if isinstance(base, types.ModuleType):
        return "__getattr__" in own_dict(base) and not _is_trusted(base)
    return isinstance(base, type) and member(base, name) is not MISSING


def _is_trusted(module: types.ModuleType) -> bool:
    """Whether a module is a library, which may be asked for what it has."""
    name = str(own_dict(module).get("__name__"))
    return name.split(".")[0] in TRUSTED or _is_file_of_others(module)


# --- making them ---------------------------------------------------------------------------------


def plain_fields(cls: Any) -> tuple[str, ...] | None:
    """The fields of a class whose constructor stores its arguments and does no more, else None."""
    return _plain_fields(cls) if type(cls) in _METACLASSES else None


@lru_cache(maxsize=1024)
def _plain_fields(cls: Any) -> tuple[str, ...] | None:
    """The fields of a class with a plain constructor, once for each class."""
    if is_named_tuple(cls):
        plain = is_generated(cls.__new__) and not own_operators(cls, tuple)
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
    return "__dataclass_fields__" in vars(own) and is_generated(made)


def is_generated(fn: Any) -> bool:
    """Whether a function was not written by a person: its code stands in no file."""
    code = getattr(fn, "__code__", None)
    return code is not None and code.co_filename.startswith("<string>")


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
