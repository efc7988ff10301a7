"""`for i in srcdiff.checkpointed(range(n), slots=k)`: the body as a function of its variables.

The loop becomes `held = Slots(range(n), k); a, b = run_steps(step, held, 2, a, b, x)`, where `step`
takes and returns the variables that the body changes, and takes those that it reads.
"""

from __future__ import annotations

import linecache
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from srcdiff.errors import UnsupportedError
from srcdiff.lower.scope import children, scan_nodes
from srcdiff.parse import Source
from srcdiff.schedules import Slots, run_steps

Node = Any


@dataclass(frozen=True)
class Loop:
    """A loop over `checkpointed`, in a function with some local names."""

    node: Node
    source: Source
    local: frozenset[str]
    outside: frozenset[str]  # what the function binds or reads outside of the loop

    def refuse(self, node: Node, what: str, remedy: str) -> UnsupportedError:
        """The refusal of something in the loop."""
        loc = self.source.loc(node)
        reason = f"{what} in a loop over `checkpointed`"
        return UnsupportedError(reason, loc, remedy, self.source.line(loc.line))

    def check(self) -> None:
        """Refuse what a body that becomes a function cannot do."""
        if self.node.orelse or type(self.node.target).__name__ != "Name":
            raise self.refuse(self.node, "`else` or several targets", "Use one, and no `else`.")
        for node, inner in _inside(self.node.body, False):
            kind = type(node).__name__
            if kind == "Return" or (kind in ("Break", "Continue") and not inner):
                raise self.refuse(
                    node, f"`{kind.lower()}` is not supported",
                    "Let an `if` skip what is not wanted, or use a plain loop.",
                )  # fmt: skip
            if kind == "Expr" and type(node.value).__name__ == "Call":
                raise self.refuse(
                    node, "a call for its effect is not supported",
                    "Assign new values to variables, or store into arrays.",
                )  # fmt: skip
            if kind in ("Global", "Nonlocal", "Delete") or _stores_attribute(node):
                raise self.refuse(node, "this statement is not supported", "Use local variables.")

    def names(self) -> tuple[list[str], list[str]]:
        """The variables that the body changes, and those that it only reads."""
        scan = scan_nodes(self.node.body)
        changed = {*scan.bound, *_stored(self.node.body)} - {self.node.target.id}
        reads = {*scan.loaded, *scan.called} & self.local
        carried = sorted(n for n in changed if n in self.outside)
        rest = sorted(reads - changed - {self.node.target.id})
        return carried, rest

    def step(self, carried: list[str], rest: list[str]) -> Any:
        """The body as a Python function."""
        name = f"{self.source.name}_step"
        values = "".join(f"{n}, " for n in carried)
        params = ", ".join([self.node.target.id, *carried, *rest])
        body = "\n".join(str(gast.unparse(s)).strip("\n") for s in self.node.body)
        lines = [*body.split("\n"), f"return ({values})"]
        text = f"def {name}({params}):\n" + "".join(f"    {line}\n" for line in lines)
        file = f"<{name} {zlib.crc32(text.encode()):08x}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        space = self.source.namespace
        cells = {n: space.resolve(n) for n in space.cells}
        namespace = {**space.globals, **cells, **space.bound}
        exec(compile(text, file, "exec"), namespace)
        step = namespace[name]
        step.__srcdiff_loop__ = self.source.loc(self.node)
        return step


def _inside(nodes: list[Node], inner: bool) -> Iterator[tuple[Node, bool]]:
    """Statements and what is inside of them; whether they stand in a loop."""
    for node in nodes:
        yield node, inner
        kind = type(node).__name__
        if kind not in ("FunctionDef", "Lambda", "ClassDef"):
            yield from _inside(list(children(node)), inner or kind in ("For", "While"))


def _stored(nodes: list[Node]) -> set[str]:
    """The variables that some statements store into."""
    found = set()
    for node, _ in _inside(nodes, False):
        if type(node).__name__ == "Subscript" and type(node.ctx).__name__ == "Store":
            while type(node).__name__ in ("Subscript", "Attribute"):
                node = node.value
            found |= {node.id} if type(node).__name__ == "Name" else set()
    return found


def _stores_attribute(node: Node) -> bool:
    return type(node).__name__ == "Attribute" and type(node.ctx).__name__ == "Store"


def written_as_call(loop: Loop, name: Any) -> tuple[list[Node], dict[str, Any]]:
    """The statements that stand for a loop, and the objects that their new names mean."""
    loop.check()
    carried, rest = loop.names()
    if not carried:
        raise loop.refuse(loop.node, "nothing is computed", "Assign variables before the loop.")
    made = {name("Slots"): Slots, name("run_steps"): run_steps}
    slots, run = made
    step, held = name(f"{loop.source.name}_step"), name("held")
    made[step] = loop.step(carried, rest)
    values = ", ".join([step, held, str(len(carried)), *carried, *rest])
    text = f"{held} = {slots}()\n{''.join(f'{n}, ' for n in carried)} = {run}({values})\n"
    first, second = gast.parse(text).body
    for part in (first, second):
        for node in gast.walk(part):
            if hasattr(node, "lineno"):
                gast.copy_location(node, loop.node.iter)
    first.value.args, first.value.keywords = loop.node.iter.args, loop.node.iter.keywords
    return [first, second], made
