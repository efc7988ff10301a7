"""Imports inside of a function: what the names that they bind stand for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from srcdiff.frontend.lower.builder import Builder, Static
from srcdiff.frontend.lower.scope import Scan
from srcdiff.runtime.devices import canonical


def learn(b: Builder, name: str, path: str, attribute: str | None) -> None:
    """Resolve an imported name now, if nothing else binds it and it can be found."""
    if name not in b.imports:
        return
    package = b.source.namespace.globals.get("__package__")
    found = module(path, package)
    if found is None:
        return
    if attribute is None:
        b.scope[name] = Static(canonical(found))
    elif hasattr(found, attribute):
        b.scope[name] = Static(canonical(getattr(found, attribute)))
    else:
        inner = module(f"{path}.{attribute}", package)
        if inner is not None:
            b.scope[name] = Static(canonical(inner))


@contextmanager
def known(b: Builder, scan: Scan) -> Iterator[None]:
    """Imported names mean before their imports what they mean after them."""
    before = {name: b.scope[name] for name in b.imports}
    for name in sorted(before):
        learn(b, name, *scan.imports[name])
    yield
    b.scope.update(before)


def module(name: str, package: str | None = None) -> object | None:
    """A module, or None if it cannot be imported here (the primal says so when it runs)."""
    try:
        return importlib.import_module(name, package)
    except ImportError:
        return None
