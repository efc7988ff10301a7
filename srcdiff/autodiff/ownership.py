"""What the names of adjoints stand for at a point of the backward part, and where paths meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from srcdiff import ir


class State(IntEnum):
    """What an adjoint's name stands for at a point of the backward part."""

    ABSENT = 0
    SHARED = 1  # present; its memory may belong to something else
    OWNED = 2  # present; nobody else has its memory


States = Mapping[str, State]


@dataclass(frozen=True)
class Resolved:
    """Statements in forward order, and the states after them (at their backward end)."""

    block: ir.Block
    states: dict[str, State]


def join(a: States, b: States) -> dict[str, State]:
    """The states where two paths meet: present if present on either, owned if owned on both."""
    out: dict[str, State] = {}
    for name in (*a, *b):
        one, two = a.get(name, State.ABSENT), b.get(name, State.ABSENT)
        out[name] = max(one, two) if not (one and two) else min(one, two)
    return out


def loop_join(start: States, end: States) -> dict[str, State]:
    """The states at the start of a loop's body; what is absent before the loop starts as zeros."""
    out = join(start, end)
    for name, state in end.items():
        if state and not start.get(name, State.ABSENT):
            out[name] = State.OWNED
    return out
