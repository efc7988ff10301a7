"""How generated text spells objects from outside: functions, modules, constants."""

from __future__ import annotations

import builtins
import cmath
import functools
import itertools
import keyword
import math
import operator
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from srcdiff.primitives.distributions import distribution
from srcdiff.runtime.allocating import MEMORY
from srcdiff.runtime.devices import OnHost, canonical, generating_for, on_device

_MISSING = object()
# Roots that people use for modules; a spelling is only kept if it leads to the very object.
_ROOTS: Mapping[str, Any] = {
    "np": np, "numpy": np, "math": math, "cmath": cmath, "operator": operator,
    "functools": functools, "itertools": itertools, "memory": MEMORY,
}  # fmt: skip
_SEARCHED: tuple[tuple[str, Any], ...] = (
    ("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("np.random", np.random),
    ("math", math), ("cmath", cmath), ("operator", operator), ("functools", functools),
    ("itertools", itertools),
)  # fmt: skip
_LATE = tuple(
    f"scipy.{n}" for n in ("special", "linalg", "fft", "signal", "integrate", "ndimage")
)


class Globals:
    """The global names of a generated text and the objects that they stand for.

    `taken` are the local names, which no global may have; `namespace` tells what the user's own
    names mean, `others` what the names mean that other functions of the text use.
    """

    def __init__(
        self,
        taken: Iterable[str],
        namespace: Mapping[str, Any] | None = None,
        others: Mapping[str, Any] | None = None,
    ) -> None:
        self.taken = frozenset(taken)
        self.namespace = namespace or {}
        self.others = others or {}
        self.refs: dict[str, Any] = {}
        self._spelled: dict[tuple[int, str | None], str] = {}

    def bind(self, name: str, value: Any) -> str:
        """A global name for an object: the given one, unless something else has it."""
        name, rest = _named(name, value)
        candidate, number = name, 0
        while candidate in self.taken or self._is_other(candidate, value):
            number += 1
            candidate = f"{name}_{number}"
        if getattr(builtins, candidate, _MISSING) is not value:
            self.refs[candidate] = value
        return candidate + rest

    def _is_other(self, name: str, value: Any) -> bool:
        known = self.refs.get(name, self.others.get(name, _MISSING))
        return known is not _MISSING and not _same(known, value)

    def spell(self, value: Any, text: str | None = None) -> str:
        """The spelling of an object: the user's where that leads to it, else the usual one."""
        key = (id(value), text)
        if isinstance(value, OnHost):
            return self._on_host(value, text)
        if key not in self._spelled:
            self._spelled[key] = self._by_text(value, text) or self._usual(value, text)
        return self._spelled[key]

    def _on_host(self, value: OnHost, text: str | None) -> str:
        """The spelling of a function of NumPy beside those of CuPy."""
        with generating_for("numpy"):
            spelled = self._by_text(value.function, text) or self._usual(value.function, text)
        root = spelled.partition(".")[0]
        if not isinstance(self.refs[root], OnHost):
            self.refs[root] = OnHost(self.refs[root])
        return spelled

    def _by_text(self, value: Any, text: str | None) -> str | None:
        """The user's spelling with its root bound, if it leads to the object."""
        if text is None or not all(part.isidentifier() for part in text.split(".")):
            return None
        root, _, rest = text.partition(".")
        if not rest:
            return self.bind(root, value)
        for source in (self.namespace, _ROOTS, sys.modules):
            found = canonical(source.get(root, _MISSING))
            if found is not _MISSING and _same(_follow(found, rest), value):
                return f"{self.bind(root, found)}.{rest}"
        return None

    def _usual(self, value: Any, text: str | None) -> str:
        """The usual spelling of a function or a constant."""
        name = getattr(value, "__name__", None)
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.bind('np', np)}.{'nan' if math.isnan(value) else 'inf'}"
        if isinstance(name, str):
            found = self._in_modules(value, name) or self._member(value, name)
            if found is not None:
                return found
        known = isinstance(name, str) and name.isidentifier()
        return self.bind(_identifier(name if known else text), value)

    def _in_modules(self, value: Any, name: str) -> str | None:
        """The spelling of what a well-known module holds."""
        if vars(builtins).get(name, _MISSING) is value:
            return self.bind(name, value)
        late = ((n, sys.modules[n]) for n in _LATE if n in sys.modules)
        for prefix, module in (*_SEARCHED, *late):
            if _same(vars(module).get(name, _MISSING), value):
                root, _, rest = prefix.partition(".")
                base = self.bind(root, _ROOTS.get(root, sys.modules.get(root)))
                return ".".join(p for p in (base, rest, name) if p)
        return None

    def _member(self, value: Any, name: str) -> str | None:
        """The spelling of a method of a class or of a ufunc."""
        owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        if isinstance(owner, (type, np.ufunc)) and _same(getattr(owner, name, _MISSING), value):
            return f"{self.spell(owner)}.{name}"
        base = distribution(owner)
        return None if base is None else f"{self._distribution(owner, base)}.{name}"

    def _distribution(self, owner: Any, name: str) -> str:
        """The spelling of a distribution of `scipy.stats`, by what the user has imported."""
        if self.namespace.get(name) is owner:
            return self.bind(name, owner)
        stats = sys.modules["scipy.stats"]
        root = next((n for n, value in self.namespace.items() if value is stats), None)
        if root is not None:
            return f"{self.bind(root, stats)}.{name}"
        return f"{self.bind('scipy', sys.modules['scipy'])}.stats.{name}"


def _named(name: str, value: Any) -> tuple[str, str]:
    """The global name for a module that a text calls by a name, and the path from there."""
    if value is np:
        return ("cp", "") if on_device() else ("np" if name == "cp" else name, "")
    if on_device() and value is sys.modules.get("scipy"):
        return "cupyx", ".scipy"
    return name, ""


def _same(one: Any, other: Any) -> bool:
    """Whether two objects are one; bound methods are made anew whenever they are read."""
    one = one.function if isinstance(one, OnHost) else one
    if one is other:
        return True
    if type(one) is not type(other) or not callable(one) or not hasattr(one, "__self__"):
        return False
    return one.__self__ is other.__self__ and one.__name__ == other.__name__


def _follow(value: Any, path: str) -> Any:
    """The object at a path of attributes."""
    for part in path.split("."):
        value = getattr(value, part, _MISSING)
    return value


def _identifier(text: str | None) -> str:
    """A name made of some text."""
    name = "".join(c if c.isalnum() else "_" for c in text or "").strip("_")
    if keyword.iskeyword(name):  # a lambda
        return "anonymous"
    return name if name.isidentifier() else "constant"
