"""Modules that Numba compiles, kept for other processes in a folder of the user's.

Takes the text of a module; gives the file that it stands in, named by what it says and by the
versions of what compiles it.  The invariant: a file never changes once it has its name, so what
Numba keeps beside it stays true; several processes may write it at once.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from srcdiff.backends.references import Import
from srcdiff.version import VERSION

FOLDER = "SRCDIFF_CACHE_DIR"
"""The variable that says where modules are kept; where it is empty they are not."""

_STEADY = ("numba", "numpy", "math", "cmath", "operator", "srcdiff")
"""What a module may import to be kept: these mean the same in every process."""


def is_steady(imports: set[Import]) -> bool:
    """Whether what a module imports is the same wherever its text is the same."""
    return all(i.module.split(".")[0] in _STEADY for i in imports)


def file_of(title: str, text: str) -> Path | None:
    """The file that a text stands in, written where there is none; None: nothing is kept."""
    folder = _folder(os.environ.get(FOLDER))
    if folder is None:
        return None
    compiler: Any = importlib.import_module("numba")
    versions = (VERSION, compiler.__version__, np.__version__, sys.version)
    name = hashlib.sha256("\n".join((*versions, text)).encode()).hexdigest()[:24]
    path = folder / f"{title}_{name}.py"
    return path if path.exists() or _written(path, text) else None


def place(asked: str | None) -> Path:
    """The folder for modules, in the one that is asked for or the user's."""
    if asked is None:
        asked = importlib.import_module("platformdirs").user_cache_dir("srcdiff")
    return Path(asked) / "numba"


@cache
def _folder(asked: str | None) -> Path | None:
    """The folder for modules, made where there is none."""
    if asked == "":
        return None
    try:
        folder = place(asked)
        folder.mkdir(parents=True, exist_ok=True)
    except (ImportError, OSError) as error:
        _say(error)
        return None
    return folder


def _written(path: Path, text: str) -> bool:
    """Write a file that is whole as soon as it has its name."""
    try:
        handle, name = tempfile.mkstemp(".tmp", path.stem, path.parent, text=True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        _say(error)
        return False
    return True


def _say(error: Exception) -> None:
    """Say that every process compiles anew, and why."""
    warnings.warn(
        f"compile='numba': what is compiled is not kept for other processes ({error}); set "
        f"{FOLDER} to a folder that can be written, or to nothing to have none",
        RuntimeWarning,
        stacklevel=2,
    )
