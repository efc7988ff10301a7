"""Generated files on disk: written whole or not at all, and never over what somebody else wrote."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from srcdiff.aot.digest import meaning, read_head
from srcdiff.errors import HeadError


def write(path: Path, text: str, force: bool = False) -> bool:
    """Write a generated file; whether it was not there in this form.

    `force` writes over a generated file that has been edited.

    Raises:
        HeadError: there is a file that srcdiff did not write, or that has been edited since.
    """
    old = current(path)
    if old is not None:
        head, whole = read_head(old, path)
        if not whole and not force:
            raise HeadError(
                f"{path} has been edited since srcdiff wrote it: move the changes elsewhere, "
                "or write over them with --force (force=True)"
            )
        if whole and (head, True) == read_head(text, path) and meaning(old) == meaning(text):
            return False  # formatted, perhaps
    _replace(path, text)
    return True


def current(path: Path) -> str | None:
    """The text of a file, None if there is none."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise HeadError(f"{path} was not written by srcdiff") from None


def _replace(path: Path, text: str) -> None:
    """Put a text in the place of a file, in one step."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
