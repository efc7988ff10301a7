"""Derivatives for CuPy arrays: what the global names of a generated text mean, and the helpers.

The text spells NumPy's functions as CuPy's (`cp.sin`); here the names are bound to them.  The
helpers that generated code calls are the same source, read with `cp` in the place of `np`.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import re
import sys
import threading
import types
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from srcdiff import texts
from srcdiff.backends.references import Import
from srcdiff.errors import CotangentTypeError, DtypeError
from srcdiff.ir.frozen import replace
from srcdiff.runtime import arrays, implicit, indexing, linalg, sequences, trees
from srcdiff.runtime.copies import with_memory
from srcdiff.runtime.devices import PAIRS, TWIN_OF, OnHost, is_device_array, known_as
from srcdiff.runtime.records import is_foreign
from srcdiff.runtime.scipy import filters

HELPERS = (arrays, linalg, filters, indexing, trees, implicit, sequences)
"""The modules whose functions generated code may call."""

_MODULES = dict(PAIRS)
_lock = threading.RLock()
_twins: dict[tuple[str, int], types.ModuleType] = {}
_users: WeakKeyDictionary[types.FunctionType, types.FunctionType] = WeakKeyDictionary()


# --- names -------------------------------------------------------------------------------------


def meanings(refs: Mapping[str, Any]) -> dict[str, Any]:
    """What the global names of a text for CuPy arrays mean.

    Raises:
        DtypeError: one of them is an array of NumPy.
    """
    check_names(refs)
    return {name: _meaning(value) for name, value in refs.items()}


def check_names(refs: Mapping[str, Any]) -> None:
    """Raise if a global name of a text for CuPy arrays is an array of NumPy.

    Raises:
        DtypeError: with the place of the array.
    """
    path = _array_in(refs, np.ndarray)
    if path is not None:
        raise DtypeError(
            f"`{path}` is an array of NumPy, the arguments are arrays of CuPy: move it there "
            "once, with cp.asarray"
        )


def check_same_module(values: Mapping[str, Any]) -> str:
    """The array module of some arguments, `numpy` where they hold no array of CuPy's.

    Raises:
        DtypeError: there are arrays of both; with the names of one of each.
    """
    of_cupy = _array_in(values, sys.modules["cupy"].ndarray)
    if of_cupy is None:
        return "numpy"
    path = _array_in(values, np.ndarray)
    if path is not None:
        raise DtypeError(
            f"`{of_cupy}` is an array of CuPy and `{path}` one of NumPy: pass all of them to "
            "one module, with cp.asarray or cp.asnumpy"
        )
    return "cupy"


def _array_in(values: Mapping[str, Any], cls: type) -> str | None:
    """Where the first array of a class is in some values, None if there is none."""
    parts = (found for name, value in values.items() for found in with_memory(name, value))
    return next((place for place, part in parts if isinstance(part, cls)), None)


def _meaning(value: Any) -> Any:
    """CuPy's object for one of NumPy, SciPy or the helpers; anything else is itself."""
    if isinstance(value, OnHost):
        return value.function
    if isinstance(value, types.ModuleType):
        return _counterpart_of_module(value)
    if isinstance(value, types.FunctionType) and not is_foreign(value.__module__ or ""):
        return users_twin(value)
    if isinstance(value, functools._lru_cache_wrapper) and not is_foreign(value.__module__ or ""):
        return _memoised(value)
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or isinstance(value, type):
        return value
    if isinstance(getattr(value, "__self__", None), np.ufunc):
        return getattr(_meaning(value.__self__), name)
    if getattr(value, "__self__", None) in (np.r_, np.c_):
        joiner = "r_" if value.__self__ is np.r_ else "c_"
        return getattr(getattr(importlib.import_module("cupy"), joiner), name)
    for helper in HELPERS:
        if vars(helper).get(name) is value:
            return getattr(twin(helper), name)
    for ours, theirs in PAIRS:
        module = sys.modules.get(ours)
        if module is not None and getattr(module, name, None) is value:
            return getattr(importlib.import_module(theirs), name, value)
    return value


def _counterpart_of_module(module: types.ModuleType) -> types.ModuleType:
    """CuPy's module for one of NumPy or SciPy."""
    if module.__name__ == "scipy":  # its names are spelled `cupyx.scipy.special.erf`
        for _, theirs in PAIRS:
            if theirs.startswith("cupyx.scipy.") and theirs.replace("cupyx.", "") in sys.modules:
                importlib.import_module(theirs)
        return importlib.import_module("cupyx")
    name = _MODULES.get(module.__name__)
    return module if name is None else importlib.import_module(name)


# --- functions of the user's -------------------------------------------------------------------


class _Space(dict[str, Any]):
    """The global names of a function as they mean CuPy, whatever they are bound to by now."""

    def __init__(self, space: dict[str, Any]) -> None:
        super().__init__(__builtins__=space.get("__builtins__", builtins))
        self.space = space

    def __missing__(self, name: str) -> Any:
        return _meaning(self.space[name])


def users_twin(function: types.FunctionType) -> types.FunctionType:
    """A function of the user's that is called as it is, with CuPy where it says NumPy."""
    if function not in _users:
        twin = types.FunctionType(
            function.__code__, _Space(function.__globals__), function.__name__,
            function.__defaults__, function.__closure__,
        )  # fmt: skip
        twin.__kwdefaults__, twin.__module__ = function.__kwdefaults__, function.__module__
        twin.__qualname__ = function.__qualname__
        _users[function] = twin
        setattr(twin, TWIN_OF, ref(function))
    return _users[function]


@functools.lru_cache(maxsize=256)
def _memoised(function: Any) -> Any:
    """A function of the user's with `functools.lru_cache`, with CuPy where it says NumPy."""
    options = function.cache_parameters()
    return functools.lru_cache(**options)(users_twin(function.__wrapped__))


def imported(found: Import) -> Import:
    """The import in the place of one of NumPy or SciPy; any other is itself."""
    if found.module == "scipy" and not found.attr:
        return Import("cupyx", "", "cupyx")
    return replace(found, module=_MODULES.get(found.module, found.module))


# --- helpers -----------------------------------------------------------------------------------


def for_cupy(source: str) -> str:
    """Source written with `np` for NumPy, with `cp` for CuPy in its place."""
    imported = re.sub(r"^( *(?:import|from)) numpy\b", r"\1 cupy", source, flags=re.M)
    return re.sub(r"\bnp\b", "cp", imported)


def twin(helper: types.ModuleType) -> types.ModuleType:
    """A module of helpers, read for CuPy."""
    cupy = importlib.import_module("cupy")
    key = helper.__name__, id(cupy)
    with _lock:
        if key not in _twins:
            _twins[key] = _read(helper)
        return _twins[key]


def _read(helper: types.ModuleType) -> types.ModuleType:
    """A module of helpers as it is when it is read for CuPy."""
    text = for_cupy(inspect.getsource(helper))
    file = f"<{helper.__name__} for CuPy>"
    texts.show(file, text)
    made = types.ModuleType(helper.__name__)
    exec(compile(text, file, "exec"), vars(made))
    for name, value in vars(helper).items():
        if not isinstance(value, types.FunctionType):
            continue
        if value.__module__ == helper.__name__:
            known_as(getattr(made, name), value)
        elif any(value.__module__ == h.__name__ for h in HELPERS):
            setattr(made, name, getattr(twin(sys.modules[value.__module__]), name))
    return made


# --- cotangents --------------------------------------------------------------------------------


def number_cotangent(given: Any) -> Any:
    """A cotangent of an output of one real number, which may be given as a number.

    Raises:
        CotangentError: it has axes, or is complex.
        CotangentTypeError: it is no number and no array of CuPy.
    """
    if is_device_array(given):
        return twin(trees).cotangent(given, sys.modules["cupy"].zeros(()))
    if isinstance(given, np.ndarray):
        raise CotangentTypeError(
            "grad_outputs: expected a number or an array of CuPy, given an array of NumPy"
        )
    return trees.cotangent(given, 1.0)
