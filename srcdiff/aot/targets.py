"""Functions by name: `pkg.mod:function`, `path/to/file.py:function`, `pkg.mod:Class.method`."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from srcdiff.errors import TargetError


def target(name: str) -> Any:
    """The function that a name leads to; its module is imported.

    Raises:
        TargetError: there is no such module, file or function.
    """
    module, colon, path = name.rpartition(":")
    if not colon or not module or not path:
        raise TargetError(f"{name!r}: expected pkg.mod:function or path/to/file.py:function")
    found: Any = _module(module)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            known = ", ".join(sorted(n for n, v in vars(found).items() if _is_target(v)))
            where = getattr(found, "__name__", module)
            raise TargetError(f"{where} has no {part!r}; it has {known or 'nothing'}") from None
    if not callable(found):
        raise TargetError(f"{name} is a {type(found).__name__}, no function")
    return found


def _is_target(value: Any) -> bool:
    return callable(value) and not getattr(value, "__name__", "_").startswith("_")


def _module(name: str) -> Any:
    """A module by its dotted name or its file."""
    if name.endswith(".py") or "/" in name or os.sep in name:
        path = Path(name).resolve()
        if not path.is_file():
            raise TargetError(f"there is no file {name}")
        name, folder = dotted(path)
    else:
        folder = Path.cwd()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and one that it imports is not
        raise TargetError(f"there is no module {name}") from None


def dotted(path: Path) -> tuple[str, Path]:
    """The dotted name of the module in a file, and the folder that it is imported from."""
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def name_of(f: Any) -> str:
    """The name that leads to a function: `pkg.mod:function`.

    A function that was made in another one, or a lambda, is called what its module calls it.
    """
    module, name = getattr(f, "__module__", "?"), getattr(f, "__qualname__", type(f).__name__)
    if "<" in name:
        space = vars(sys.modules[module]) if module in sys.modules else {}
        name = next((n for n, value in space.items() if value is f and n.isidentifier()), name)
    return f"{module}:{name}"
