"""Modules that Numba compiles, kept for other processes in a folder of the user's, and called.

Takes the text of a module; gives the file that it stands in, named by what it says and by the
versions of what compiles it.  Errors of its functions tell the user's line.  It is all that a
process needs which finds a module of an earlier one.  The invariant: a file never changes once it
has its name, so what Numba keeps beside it stays true; several processes may write it at once.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import inspect
import json
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getattr_static
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcdiff.backends.loader import Loaded, add_note, compile_module, place_in
from srcdiff.errors import CotangentError, CotangentTypeError, ExtraError, UnsupportedError
from srcdiff.ir import Loc
from srcdiff.ir.frozen import frozen
from srcdiff.version import VERSION

if TYPE_CHECKING:
    from srcdiff.backends.references import Import
    from srcdiff.codegen.emit import Made

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
    name = hashlib.sha256("\n".join((*versions(), text)).encode()).hexdigest()[:24]
    path = folder / f"{title}_{name}.py"
    return path if path.exists() or written(path, text) else None


_FORM = "functions called by files"
"""How modules are loaded, which what Numba keeps beside them depends on."""


def versions() -> tuple[str, ...]:
    """The versions of what a module is made by and for."""
    return VERSION, _FORM, numba().__version__, np.__version__, sys.version


def entry_of(title: str, key: str) -> Path | None:
    """The file that says which module was made for a key; None: nothing is kept."""
    folder = _folder(os.environ.get(FOLDER))
    return None if folder is None else folder / f"{title}_{key}.json"


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


def written(path: Path, text: str) -> bool:
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


def space_of(
    text: str, title: str, file: Path, places: Mapping[int, Loc] | None = None
) -> dict[str, Any]:
    """The namespace of a module in a file.

    Functions are called by the file as well: by their names Numba tells what several processes have
    kept from each other, and gives one the constants of another one that is called the same.
    """
    space = compile_module(text, {}, title, __name__, places, file)
    for name, value in space.items():
        plain = getattr(value, "py_func", value)
        if isinstance(plain, FunctionType) and plain.__code__.co_filename == str(file):
            plain.__qualname__ = f"{file.stem}.{name}"
    return space


# --- the functions of a module, and Numba's errors ------------------------------------------------


REMEDY = "Leave out compile='numba' (--compile), or write this line with what Numba compiles."
_NOISE = ("Failed in ", "During: ", "File ", "There are ", "Of which ", "Overload ", "Known sig")


def numba() -> Any:
    """Numba, for whose functions freed memory is kept.

    Raises:
        ExtraError: it is not installed.
    """
    try:
        found = importlib.import_module("numba")
    except ImportError as error:
        raise ExtraError(
            f"compile='numba' needs Numba ({error}): pip install 'srcdiff[numba]'"
        ) from None
    keep_freed_memory()
    return found


FREED = 1 << 28
"""The bytes of freed memory that a process keeps."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of `mallopt`, in malloc.h
_LARGEST_IN_HEAP = 1 << 25


@cache
def keep_freed_memory() -> None:
    """Let the allocator keep what is freed for the next call; what a user has set stays.

    That of glibc gives it back to the system, which hands out the same pages one by one in the next
    call: that takes several times as long as to compute with them.
    """
    told = any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ)
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if set_option is not None and not told:
        set_option(_MMAP_THRESHOLD, _LARGEST_IN_HEAP)
        set_option(_TRIM_THRESHOLD, FREED)


class Called:
    """A compiled function, whose errors say what Numba does not take, and where.

    `outside` are its global names, of which none changes where they are constants of it.
    """

    def __init__(self, function: Any, places: Mapping[int, Loc], outside: dict[str, Any]) -> None:
        self.function, self.places = function, places
        plain = getattr(function, "py_func", function)
        self.__signature__ = inspect.signature(plain)
        self.__code__ = plain.__code__
        self.__globals__ = outside

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            self.failed(error)
            raise

    def failed(self, error: Exception) -> None:
        """Say of an error where it is, and what it means.

        Raises:
            UnsupportedError: Numba does not compile the function.
            CotangentError: the cotangent does not fit.
        """
        retell(error, self.function, self.places)
        if str(error).startswith("grad_outputs"):
            wrong = CotangentTypeError if isinstance(error, TypeError) else CotangentError
            raise wrong(str(error)) from None
        place = self.places[min(self.places)]
        add_note(error, f"in the derivative of {place.file}:{place.line}, compiled by Numba")


def retell(error: Exception, function: Any, places: Mapping[int, Loc]) -> None:
    """Raise what Numba says of a text at the line of the user's that it means.

    Raises:
        UnsupportedError: the error is one of Numba's.
    """
    if not _is_of_numba(error):
        return
    code = getattr(function, "py_func", function).__code__
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = re.findall(rf'{re.escape(code.co_filename)}(?:", line | \()(\d+)', text)
    found = [*map(int, lines), *_lines_at(error, code.co_filename), min(places)]
    place = next(places[n] for n in found if n in places)  # the last one is the function's
    raise UnsupportedError(
        f"Numba does not compile this: {_said(text) or f'{type(error).__name__} of its own'}",
        place_in(place.file, place.line) or place,  # of a derivative of a generated function
        REMEDY,
    ) from None


def _lines_at(error: Exception, file: str) -> Iterator[int]:
    """The lines of a file that Numba was at when an error was raised, the latest ones first."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    held = (v for f in reversed(frames) for v in f.f_locals.values())
    for loc in (getattr_static(v, "loc", None) for v in (error, *held)):
        if getattr_static(loc, "filename", None) == file:
            yield loc.line


def _is_of_numba(error: Exception) -> bool:
    """Whether Numba raises an error itself, of its own or another class: what it compiles does not.

    What it cannot give back it finds at the end of a call.
    """
    if type(error).__module__.split(".")[0] == "numba" or isinstance(error, SystemError):
        return True
    frames = traceback.walk_tb(error.__traceback__)
    return any(f.f_globals.get("__name__", "").split(".")[0] == "numba" for f, _ in frames)


def _said(text: str) -> str:
    """The sentence of Numba's message that says what is wrong."""
    text = re.sub(r"Function\((.*?)\)", r"\1", text)
    text = re.sub(r"<[\w ]*?(\w+)(?: at 0x\w+)?>", r"\1", text)
    rows = (row.strip(" >") for row in text.splitlines())
    said = [row for row in rows if row and not row.startswith(_NOISE) and set(row) != {"^"}]
    count = 2 if said and said[0].endswith(":") else 1
    return " ".join(said[:count]).rstrip(". :") if said else ""


# --- what an earlier process has made -------------------------------------------------------------


@frozen(eq=False)
class Found:
    """Loaded functions, the parameters that the primal writes into, and where it returns.

    Nothing outside is put into.
    """

    loaded: Loaded
    written: tuple[str, ...]
    returns: tuple[Loc, ...]
    put: tuple[Any, ...] = ()


def found(key: str, title: str) -> Found | None:
    """What an earlier process has made, if it did."""
    entry = entry_of(title, key)
    if entry is None or not entry.exists():
        return None
    kept = json.loads(entry.read_text("utf-8"))
    file = entry.with_name(kept["file"])
    if not file.exists():
        return None
    text = file.read_text("utf-8")
    places = {int(line): Loc(*place) for line, place in kept["places"].items()}
    space = space_of(text, title, file, places)
    functions = {name: Called(space[name], places, {}) for name in kept["functions"]}
    loaded = Loaded(functions, text, file=file)
    return Found(loaded, tuple(kept["written"]), tuple(Loc(*place) for place in kept["returns"]))


def keep(key: str, title: str, loaded: Loaded, made: Made) -> None:
    """Let later processes find what was made, where it stands in a file."""
    entry = entry_of(title, key)
    if entry is None or loaded.file is None:
        return
    one = next(iter(loaded.functions.values()))
    kept = {
        "file": loaded.file.name, "functions": list(loaded.functions), "written": made.written,
        "places": {line: _place(loc) for line, loc in one.places.items()},
        "returns": [_place(loc) for loc in made.returns],
    }  # fmt: skip
    written(entry, json.dumps(kept))


def _place(loc: Loc) -> tuple[str, int, int]:
    """A place as what it is made of."""
    return loc.file, loc.line, loc.col
