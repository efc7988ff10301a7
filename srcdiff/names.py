"""Readable names for the temporaries that remain as variables in the printed text."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import gast

from srcdiff.emit import is_temporary, tree_of
from srcdiff.ir import Function, all_names, rename

_PARTS = re.compile(r"(?P<adjoint>(?:d_)*)_+(?P<base>.*?)(?:_(?P<number>\d+))?\Z")


def name(function: Function) -> Function:
    """A function whose visible temporaries have short, readable names.

    Temporaries that are nested into expressions, and flags that are printed as jumps, keep theirs.
    """
    tree, build = tree_of(function)
    seen = dict.fromkeys(n for n in _identifiers(tree) if is_temporary(n))
    taken = all_names(function) | set(build.globals.refs) | {function.name}
    new = new_names(seen, taken)
    return _renamed(function, new)


def _renamed(function: Function, new: dict[str, str]) -> Function:
    """A function with names replaced."""
    if not new:
        return function
    return replace(function, body=rename(function.body, new))


def _identifiers(tree: Any) -> Iterator[str]:
    """The names in a tree, in the order of the text."""
    if isinstance(tree, list):
        for item in tree:
            yield from _identifiers(item)
    elif isinstance(tree, gast.Name):
        yield tree.id
    elif isinstance(tree, gast.AST):
        for field in tree._fields:
            yield from _identifiers(getattr(tree, field, None))


def new_names(temporaries: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A new name for every temporary, none of them taken.

    The adjoint of a temporary is called after it.
    """
    used = {*taken, *keyword.kwlist, *keyword.softkwlist, *vars(builtins)}
    new: dict[str, str] = {}
    waiting = sorted(temporaries, key=lambda n: n.startswith("d_"))
    for old in waiting:
        match = _PARTS.match(old)
        assert match is not None
        primal = old[len(match["adjoint"]) :]
        base = match["adjoint"] + new.get(primal, match["base"] or "t")
        new[old] = _free(base, used)
        used.add(new[old])
    return new


def _free(base: str, used: set[str]) -> str:
    """The base, or the base with the first number that gives a free name."""
    base = base if base.isidentifier() else f"t_{base}"
    candidate, number = base, 0
    while candidate in used:
        number += 1
        candidate = f"{base}_{number}"
    return candidate
