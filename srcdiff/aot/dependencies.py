"""The facts that a generated text depends on, each with a hash: `mod.SCALE` and what it stands for.

A fact says the same however much else is looked at: a file may have been made with an example that
is not at hand when it is used, so that it lists more of them.  What has its own name in its own
module is no fact: `# source` lines have the functions, and lines of their own members of classes.
"""

from __future__ import annotations

import builtins
import dataclasses
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.aot.fingerprint import cells, class_name, code_hash, described, sha
from srcdiff.driver.guards import Watch, watched
from srcdiff.ir import GENERATED
from srcdiff.runtime.records import MISSING, is_foreign, is_named_tuple, is_record, member

Facts = dict[str, str]


def sources_of(f: Any, kinds: Mapping[str, ir.Kind]) -> tuple[Facts, Facts]:
    """Hashes of the functions that a derivative is made from, and of the values that they read."""
    watch = watched(f, kinds)
    users = [g for g, *_ in watch.functions if not is_foreign(g.__module__ or "")]
    functions = [g for g in users if not g.__code__.co_filename.startswith(GENERATED)]
    sources = ((_name(g), code_hash(g)) for g in functions)
    values = ((name, sha(described(value))) for name, value in _values(watch, functions))
    return _collected(sources), _collected(values)


def differs(name: str, then: str, now: str | None) -> bool:
    """Whether a fact is another one now; None: it was not met, and is looked up."""
    if now is None:
        found = _looked_up(name)
        return found is not None and found not in then.split(",")
    return not set(now.split(",")) <= set(then.split(","))


def is_gone(name: str) -> bool:
    """Whether a function that was there is not, and a builtin or nothing is called instead."""
    _, parts = _module_of(name)
    return (len(parts) == 1 or _is_special(parts[-1])) and _looked_up(name) == _GONE


def _collected(pairs: Iterator[tuple[str, str]]) -> Facts:
    """The hashes by name: lambdas of one module have one name."""
    found: dict[str, set[str]] = {}
    for name, value in pairs:
        found.setdefault(name, set()).add(value)
    return {name: ",".join(sorted(values)) for name, values in found.items()}


def _name(function: types.FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


# --- values ---------------------------------------------------------------------------------------


def _values(watch: Watch, functions: list[types.FunctionType]) -> Iterator[tuple[str, Any]]:
    """What functions read from outside: variables of modules and functions, members of classes."""
    for space, name, _ in watch.names:
        module = str(space.get("__name__", ""))
        if module and name in space and not _is_of_python(module) and not _is_special(name):
            if not _is_own(module, name, space[name]):
                yield f"{module}.{name}", space[name]
    words = {name for g in functions for name in g.__code__.co_names}
    for function in functions:
        held = ((name, v) for name, v in vars(function).items() if name in words)
        yield from ((f"{_name(function)}.{name}", v) for name, v in held if not _is_special(name))
        yield from ((f"{_name(function)}.{name}", value) for name, value in cells(function))
    classes = dict.fromkeys(cls for cls, _, _ in watch.members)
    for cls in classes:
        yield from _of_class(cls)
    for cls, name, value in watch.members:
        if type(value).__name__ == "_tuplegetter":
            continue  # a field of a named tuple, which is listed with it
        if not _is_own(cls.__module__, f"{cls.__qualname__}.{name}", value):
            if not is_foreign(_owner(cls, name).__module__):
                yield f"{class_name(cls)}.{name}", value


def _is_of_python(module: str) -> bool:
    """Whether a module is a library, or Python's: which of these are loaded makes no difference."""
    return is_foreign(module) or module.split(".")[0] in sys.stdlib_module_names


def _is_special(name: str) -> bool:
    """Whether a name says where a module is, and not what it does: `__file__`."""
    return name.startswith("__") and name.endswith("__")


def _is_own(module: str, name: str, value: Any) -> bool:
    """Whether a name stands for what was defined by it, or for a module that it is known by."""
    if isinstance(value, types.ModuleType):
        return (name, value.__name__) in ((value.__name__, name), ("np", "numpy"))
    inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    if not isinstance(inner, types.FunctionType) and not is_record(inner):
        return False
    own = (inner.__module__, inner.__qualname__) == (module, name)
    return own and not hasattr(inner, "__wrapped__")


def _owner(cls: type, name: str) -> type:
    """The class that has a member of another one."""
    return next((base for base in cls.__mro__ if name in vars(base)), cls)


def _of_class(cls: Any) -> Iterator[tuple[str, Any]]:
    """The bases of a class, and what its constructor fills in."""
    name = class_name(cls)
    if cls.__bases__ != (object,):
        yield f"{name}.__bases__", cls.__bases__
    if is_named_tuple(cls):
        yield f"{name}._fields", (cls._fields, cls._field_defaults)
    if dataclasses.is_dataclass(cls):
        for item in dataclasses.fields(cls):
            if item.default_factory is not dataclasses.MISSING:
                yield f"{name}.{item.name}", item.default_factory


# --- facts that are not met -----------------------------------------------------------------------

_GONE = "gone"


def _looked_up(name: str) -> str | None:
    """The hash of a fact by its name, `_GONE` for none; None where that cannot be told.

    A module may not be imported yet, or just be running: names below the call are not bound.
    """
    module, parts = _module_of(name)
    if module is None or len(parts) > 2:
        return None
    space = vars(module)
    if parts[0] not in space:
        return _GONE if len(parts) == 1 and hasattr(builtins, parts[0]) else None
    value = space[parts[0]]
    if len(parts) == 2:
        if not is_record(value):
            return None
        own = dict(_of_class(value))
        value = own[name] if name in own else member(value, parts[1])
    return _GONE if value is MISSING else sha(described(value))


def _module_of(name: str) -> tuple[types.ModuleType | None, list[str]]:
    """The module that is loaded and the rest of a dotted name."""
    parts = name.split(".")
    for k in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:k]))
        if module is not None:
            return module, parts[k:]
    return None, parts
