"""The files of a project: `[tool.srcdiff]` in pyproject.toml."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from srcdiff.aot.job import Job, Wanted, target
from srcdiff.driver.options import SPELLINGS
from srcdiff.errors import SrcdiffError
from srcdiff.ir.frozen import frozen


class ProjectError(SrcdiffError, ValueError):
    """A table [tool.srcdiff] that says nothing, or something unknown."""


@frozen
class Task:
    """One generated file: of what function, where, with what options."""

    target: str
    path: Path
    options: Mapping[str, Any]

    def job(self) -> Job:
        """The making of it."""
        return Job(target(self.target), Wanted.of(self.options))


@frozen
class Project:
    """The rules and the files that a project names."""

    rules: tuple[Path, ...]
    tasks: tuple[Task, ...]


def found_project(file: str | None) -> Project:
    """The project of a pyproject.toml: the one that is given, or the next above this folder."""
    if file is not None:
        return read_project(Path(file))
    path = _above(Path.cwd())
    if path is None:
        raise ProjectError("there is no pyproject.toml here or above")
    return read_project(path)


def _above(folder: Path) -> Path | None:
    """The next pyproject.toml above a folder, or in it."""
    found = (place / "pyproject.toml" for place in (folder, *folder.parents))
    return next((path for path in found if path.is_file()), None)


def import_as_project(folder: Path) -> None:
    """Import modules from where the project says to which a folder belongs, if there is one."""
    path = _above(folder)
    if path is not None and "[tool.srcdiff]" in path.read_text(encoding="utf-8"):
        _import_from(_toml(path)["tool"]["srcdiff"], path.resolve().parent)


def _import_from(table: Mapping[str, Any], folder: Path) -> None:
    """Import modules from the folders that a table names, and from beside it."""
    for part in (*reversed(table.get("path", [])), "."):
        place = str((folder / part).resolve())
        if place not in sys.path:
            sys.path.insert(0, place)


def read_project(path: Path) -> Project:
    """The project of one pyproject.toml; its modules are imported from beside it."""
    table = _toml(path).get("tool", {}).get("srcdiff")
    if not table:
        raise ProjectError(f"{path} has no table [tool.srcdiff]")
    _only(table, ("targets", "rules", "path"), f"{path}: [tool.srcdiff]")
    folder = path.resolve().parent
    _import_from(table, folder)
    rules = tuple(folder / rule for rule in table.get("rules", []))
    if not table.get("targets"):
        raise ProjectError(f"{path}: [tool.srcdiff] names no targets")
    return Project(rules, tuple(_task(t, folder, path) for t in table["targets"]))


def _task(table: Mapping[str, Any], folder: Path, path: Path) -> Task:
    """One entry of `targets`."""
    known = {*SPELLINGS, *(f.name for f in fields(Wanted))}
    _only(table, ("target", "output", *known), f"{path}: an entry of targets")
    for key in ("target", "output"):
        if key not in table:
            raise ProjectError(f"{path}: an entry of targets has no `{key}`")
    name, colon, function = table["target"].rpartition(":")
    if name.endswith(".py"):
        name = str(folder / name)
    options = {k: v for k, v in table.items() if k in known}
    for key in ("inputs", "outputs"):  # a list of one is that one, as on the command line
        if isinstance(options.get(key), list) and len(options[key]) == 1:
            options[key] = options[key][0]
    return Task(f"{name}{colon}{function}", folder / table["output"], options)


def _only(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse keys that mean nothing."""
    for key in table:
        if key not in known:
            raise ProjectError(f"{where} has `{key}`; known are {', '.join(sorted(known))}")


def _toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file; `tomllib` came with Python 3.11."""
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        reader: Any = importlib.import_module(name)
    except ImportError:
        raise ProjectError(
            f"{path}: before Python 3.11 reading it needs tomli: pip install 'srcdiff[cli]'"
        ) from None
    try:
        found: dict[str, Any] = reader.loads(path.read_text(encoding="utf-8"))
    except reader.TOMLDecodeError as error:
        raise ProjectError(f"{path}: {error}") from None
    return found
