"""What a variable is: the user's, or one of those that the compiler makes; and new names.

A name carries the role of its variable.  Roles are for people: a pass may ask which of two programs
that compute the same reads better, and none asks which one is right.  Names may be exchanged for
others of any role after every pass, and the program computes the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from srcdiff.ir.frozen import Choice
from srcdiff.ir.nodes import Name

__all__ = [
    "Fresh", "VariableRole", "is_adjoint", "is_temporary", "is_unnamed", "primal_name", "role_of",
    "said",
]  # fmt: skip


class VariableRole(Choice):
    """What a variable is to the reader of a program; the value is how its name begins."""

    RESULT = "_ret"  # what several `return` statements return
    TEMPORARY = "_"  # an intermediate result that the user gave no name
    ADJOINT = "d_"
    STEPS = "steps"  # how often a loop has run
    OWN = ""  # the user's, or called after one of the user's


def role_of(name: str) -> VariableRole:
    """The role of a variable."""
    return next(role for role in VariableRole if name.startswith(role.value))


def is_temporary(name: str) -> bool:
    """Whether a variable is an intermediate result that means nothing to a reader by its name."""
    return name[:1] == "_"


def is_adjoint(name: str) -> bool:
    """Whether a variable is an adjoint."""
    return name[:2] == "d_"


def primal_name(name: str) -> str:
    """The variable that an adjoint is called after; another one itself."""
    return name[2:] if is_adjoint(name) else name


def is_unnamed(name: str) -> bool:
    """Whether a variable is a temporary, or an adjoint of one, of any order."""
    while name[:2] == "d_":
        name = name[2:]
    return name[:1] == "_"


def said(name: str) -> str:
    """A name as the user knows it: without the number that it was given, a temporary without it."""
    return "a part of the expression" if is_temporary(name) else f"`{_NUMBER.sub('', name)}`"


_NUMBER = re.compile(r"_\d+\Z")


_NO_WORD = re.compile(r"\W+")


class Fresh:
    """Makes names that no other name of a function has; temporaries start with `_`."""

    def __init__(self, taken: Iterator[str] | frozenset[str] | set[str] = frozenset()) -> None:
        self.taken = set(taken)
        self.count: dict[str, int] = {}

    def __call__(self, base: str = "_t") -> Name:
        if not base.isidentifier():  # `d_self.w`: after an attribute
            base = _NO_WORD.sub("_", base.replace("self.", "")).rstrip("_")
        number = self.count.get(base, 0)
        candidate = base if number == 0 and base != "_t" else f"{base}_{number}"
        while candidate in self.taken:
            number += 1
            candidate = f"{base}_{number}"
        self.count[base] = number + 1
        self.taken.add(candidate)
        return Name(candidate)

    def state(self) -> tuple[set[str], dict[str, int]]:
        """A state to which `reset` goes back."""
        return set(self.taken), dict(self.count)

    def reset(self, state: tuple[set[str], dict[str, int]]) -> None:
        """Forget the names made since `state`."""
        self.taken, self.count = set(state[0]), dict(state[1])
