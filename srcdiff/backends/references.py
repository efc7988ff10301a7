"""How a generated file refers to a value: by Python text that makes it again, or by an import.

Takes a value; gives the text of a constant, or the import of a name: as the user's module does it,
where it does.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcdiff.codegen.expression_text import literal

LARGEST = 64
"""Arrays of more elements are not written out."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


def value_text(value: Any, numpy: Callable[[], str]) -> str | None:
    """The text of a value, None if it cannot be written; `numpy` gives the name of that module."""
    if type(value) in _PLAIN:
        return literal(value)
    if isinstance(value, np.dtype) and value.names is None:
        return f'{numpy()}.dtype("{value.name}")'
    if isinstance(value, (np.number, np.bool_)):
        return f"{numpy()}.{type(value).__name__}({literal(value.item())})"
    if type(value) is np.ndarray:
        return _array(value, numpy)
    if type(value) is range:
        return repr(value)
    return _container(value, numpy)


def _container(value: Any, numpy: Callable[[], str]) -> str | None:
    """A tuple, list, dict or slice of such values, and of classes."""
    form = {tuple: "({})", list: "[{}]", dict: "{{{}}}", slice: "slice({})"}.get(type(value))
    if form is None or type(value) is dict and not {*map(type, value)}.issubset(_PLAIN):
        return None
    parts = (value.start, value.stop, value.step) if type(value) is slice else value
    items = value.values() if type(value) is dict else parts
    texts = [value_text(p, numpy) or _class_of_numpy(p, numpy) for p in items]
    if None in texts:
        return None
    if type(value) is dict:
        texts = [f"{literal(key)}: {text}" for key, text in zip(value, texts)]
    alone = "," if type(value) is tuple and len(texts) == 1 else ""
    return form.format(", ".join(map(str, texts)) + alone)


def _class_of_numpy(value: Any, numpy: Callable[[], str]) -> str | None:
    """The text of one of NumPy's classes."""
    found = isinstance(value, type) and getattr(np, value.__name__, None) is value
    return f"{numpy()}.{value.__name__}" if found else None


def _array(value: Any, numpy: Callable[[], str]) -> str | None:
    """A small array, as a call of `np.array`."""
    if value.size > LARGEST or value.dtype.kind not in "biufc" or not value.flags.c_contiguous:
        return None
    if value.size == 0 and value.ndim > 1:
        return None
    text, items = _nested(value.tolist()), np.array(value.tolist())
    dtype = "" if items.dtype == value.dtype else f', dtype="{value.dtype.name}"'
    return f"{numpy()}.array({text}{dtype})"


def _nested(items: Any) -> str:
    """Nested lists of numbers."""
    return f"[{', '.join(map(_nested, items))}]" if isinstance(items, list) else literal(items)


# --- imports --------------------------------------------------------------------------------------


_MISSING = object()


@dataclass(frozen=True, order=True)
class Import:
    """`from module import attr as name`, or `import module as name` where there is no `attr`."""

    module: str
    attr: str
    name: str

    def text(self) -> str:
        """The statement."""
        if not self.attr:
            plain = self.name == self.module or self.name == ""
            return f"import {self.module}" + ("" if plain else f" as {self.name}")
        renamed = "" if self.name == self.attr else f" as {self.name}"
        return f"from {self.module} import {self.attr}{renamed}"


def module_import(module: types.ModuleType, name: str) -> Import:
    """The import of a module under a name."""
    full = module.__name__
    if full == name or "." not in full:
        return Import(full, "", name)
    parent, _, last = full.rpartition(".")
    return Import(parent, last, name)


def object_import(value: Any, name: str, spaces: list[Mapping[str, Any]]) -> Import | None:
    """How something else is imported; None if no module holds it.

    `spaces` are the namespaces of the modules that use it.
    """
    return next(object_imports(value, name, spaces), None)


def object_imports(value: Any, name: str, spaces: list[Mapping[str, Any]]) -> Iterator[Import]:
    """The ways in which something else is imported, as the user does it first."""
    for module, attr in _places(value, name, spaces):
        if attr and attr.isidentifier() and _held(module, attr) is value:
            yield Import(module, attr, name)


def table_of(value: Any, spaces: list[Mapping[str, Any]]) -> tuple[Any, str, Any] | None:
    """A list, tuple or dict of a module that holds something, its name there, and the key.

    `spaces` are the namespaces of the modules that use it.
    """
    for space in spaces:
        for name, held in space.items():
            if type(held) in (list, tuple, dict):
                pairs = held.items() if type(held) is dict else enumerate(held)
                for key, item in pairs:
                    if item is value:
                        return held, name, key
    return None


def _places(value: Any, name: str, spaces: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Where something may be found: as the user imports it, where it says, where it is used."""
    for space in spaces:
        if space.get(name, _MISSING) is value:
            yield from _imported(space, name)
    own, called = str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", ""))
    yield own.lstrip("_"), called  # `_operator` is a part of `operator`
    yield own, called
    for module in ("numpy", "scipy.special", "scipy.linalg", "math"):
        yield module, str(getattr(value, "__name__", ""))
    for space in spaces:
        for known in (name, *(n for n, held in space.items() if held is value)):
            yield str(space.get("__name__", "")), known


def _held(module: str, attr: str) -> Any:
    """What a module that is loaded holds under a name."""
    found = sys.modules.get(module)
    return getattr(found, attr, _MISSING) if found is not None and module != "__main__" else None


def _imported(space: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """The module and the attribute that a module's own import statement names."""
    module = sys.modules.get(str(space.get("__name__")))
    if module is None:
        return
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):  # typed at a prompt, or in a notebook
        return
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    yield _absolute(node, space), alias.name


def _absolute(node: ast.ImportFrom, space: Mapping[str, Any]) -> str:
    """The full name of the module of `from .x import y`."""
    if not node.level:
        return node.module or ""
    relative = "." * node.level + (node.module or "")
    return importlib.util.resolve_name(relative, str(space.get("__package__") or ""))


def lines(imports: set[Import]) -> list[str]:
    """The import statements as isort puts them: the standard library, others, the user's."""
    groups: dict[int, list[Import]] = {}
    for item in imports:
        groups.setdefault(_group(item.module), []).append(item)
    out: list[str] = []
    for key in sorted(groups):
        plain = sorted(i.text() for i in groups[key] if not i.attr)
        taken: dict[str, list[str]] = {}
        for item in sorted(i for i in groups[key] if i.attr):
            taken.setdefault(item.module, []).append(item.text().partition(" import ")[2])
        froms = [f"from {module} import {', '.join(names)}" for module, names in taken.items()]
        out += [*([""] if out else []), *plain, *froms]
    return out


def _group(module: str) -> int:
    """The place of a group of imports."""
    root = module.split(".")[0]
    if root == "__future__":
        return 0
    return 1 if root in sys.stdlib_module_names else 2
