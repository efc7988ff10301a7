"""Files of templates: where the project's own lie, and how one is run as a module."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def folder() -> Path:
    """The folder of the project's templates: inside the package (a wheel) or beside it."""
    here = Path(__file__).resolve().parent.parent
    return inside if (inside := here / "templates").is_dir() else here.parent / "templates"

_PACKAGE = "srcdiff_templates"


def files_of(place: Path) -> list[Path]:
    """The files of a folder that declare rules; `_name.py` has what they share."""
    return sorted(p for p in place.glob("*.py") if not p.name.startswith("_"))


def is_in_template(value: object) -> bool:
    """Whether a class stands in a file of templates: it takes the place of a library's."""
    return str(getattr(value, "__module__", "")).startswith(f"{_PACKAGE}.")


def execute(path: Path) -> ModuleType:
    """Run a file of templates as a module of its own, which may import from its neighbours.

    `from ._densities import positive` reads `_densities.py` of the same folder.
    """
    package = _package_of(path.resolve().parent)
    name = f"{package}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _package_of(place: Path) -> str:
    """The package that the modules of a folder lie in; another folder of its name gets a number."""
    own = place.relative_to(top).parts if place.is_relative_to(top := folder()) else (place.name,)
    base = ".".join((_PACKAGE, *own))
    name, number = base, 1
    while list(getattr(sys.modules.get(name), "__path__", [str(place)])) != [str(place)]:
        number += 1
        name = f"{base}_{number}"
    if name not in sys.modules:
        sys.modules[name] = package = ModuleType(name, "A folder of templates.")
        package.__path__ = [str(place)]
    return name
