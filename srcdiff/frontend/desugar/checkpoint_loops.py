"""`for i in srcdiff.checkpointed(range(n), slots=k)`: the body as a function of its variables.

The loop becomes `held = Slots(range(n), k); a, b = run_steps(step, held, 2, a, b, x)`, where `step`
takes and returns the variables that the body changes, and takes those that it reads.

`continue` is a return of the step.  Where `break` or `return` would leave the loop, the step raises
an exception of its own and counts as not begun: behind the call stands a plain loop over the steps
from that one on, with the original body.  So what ends the loop is differentiated in the function
itself, and a step that is run backwards never raises.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Mapping
from typing import Any

import gast

from srcdiff import texts
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.scopes import (
    children,
    inside,
    parameters,
    replaced_all,
    scan_nodes,
    statements,
)
from srcdiff.frontend.source.parse import Source
from srcdiff.ir.frozen import frozen
from srcdiff.runtime.checkpoint import Slots, has_run, remaining, run_steps

Node = Any
_BLOCKS = ("body", "orelse")
_STOPS = ("Break", "Return")


@frozen
class Loop:
    """A loop over `checkpointed`, in a function with some local names."""

    node: Node
    source: Source
    local: frozenset[str]
    outside: frozenset[str]  # what the function binds or reads outside of the loop
    bound: frozenset[str]  # what has a value before it
    anew: frozenset[str]  # what has none, and gets another one behind it
    counter_after: bool  # whether its counter is read there

    def refuse(self, node: Node, what: str, remedy: str) -> UnsupportedError:
        """The refusal of something in the loop."""
        loc = self.source.loc(node)
        reason = f"{what} in a loop over `checkpointed`"
        return UnsupportedError(reason, loc, remedy, self.source.line(loc.line))

    def check(self) -> None:
        """Refuse what a body that becomes a function cannot do."""
        if type(self.node.target).__name__ != "Name":
            raise self.refuse(self.node, "several targets", "Its items are numbers: use one name.")
        for node in inside(self.node.body):
            kind = type(node).__name__
            if kind == "Expr" and type(node.value).__name__ == "Call":
                raise self.refuse(
                    node, "a call for its effect is not supported",
                    "Assign new values to variables, or store into arrays.",
                )  # fmt: skip
            stores = kind == "Attribute" and type(node.ctx).__name__ == "Store"
            if stores or kind in ("Global", "Nonlocal", "Delete"):
                raise self.refuse(node, "this statement is not supported", "Use local variables.")

    def names(self) -> tuple[list[str], list[str]]:
        """The variables that the body changes, and those that it only reads."""
        scan = scan_nodes(self.node.body)
        changed = {*scan.bound, *_stored(self.node.body)} - {self.node.target.id}
        reads = {*scan.loaded, *scan.called} & self.local
        carried = sorted(n for n in changed if n in self.outside - self.anew)
        rest = sorted(reads - changed - {self.node.target.id})
        for name in carried:
            if name not in self.bound:
                raise self.refuse(
                    self.node, f"`{name}` has no value before it is assigned",
                    "Assign it before the loop.",
                )  # fmt: skip
        return carried, rest

    def step(self, carried: list[str], rest: list[str], stop: str) -> tuple[Any, bool]:
        """The body as a Python function, and whether it may stop the loop."""
        name = f"{self.source.name}_step"
        values = "".join(f"{n}, " for n in carried)
        params = ", ".join([self.node.target.id, *carried, *rest])
        ends = {"Continue": f"return ({values})", **dict.fromkeys(_STOPS, f"raise {stop}")}
        stmts, jumps = _as_step(self.node.body, ends)
        if _never_ends(stmts) and "Continue" not in jumps:
            raise self.refuse(
                self.node, "no step comes to its end", "Nothing is repeated: write no loop."
            )
        body = "\n".join(str(gast.unparse(s)).strip("\n") for s in stmts)
        lines = [*body.split("\n"), f"return ({values})"]
        text = f"def {name}({params}):\n" + "".join(f"    {line}\n" for line in lines)
        file = f"<{name} {zlib.crc32(text.encode()):08x}>"
        texts.show(file, text)
        space = self.source.namespace
        cells = {n: space.resolve(n) for n in space.cells}
        namespace = {**space.globals, **cells, **space.bound}
        exec(compile(text, file, "exec"), namespace)
        step = namespace[name]
        step.__srcdiff_loop__ = self.source.loc(self.node)
        stops = not jumps.isdisjoint(_STOPS)
        if stops:
            step.__srcdiff_stop__ = namespace[stop] = type(stop, (Exception,), {})
        return step, stops


def _as_step(nodes: list[Node], ends: Mapping[str, str]) -> tuple[list[Node], set[str]]:
    """The body of a loop with what `ends` a step for the jumps out of it, and which there are."""
    found: set[str] = set()

    def inside_of(nodes: list[Node], inner: bool) -> list[Node]:
        def one(node: Node) -> Any:
            kind = type(node).__name__
            if kind in ("For", "While"):
                new = copy.copy(node)
                new.body, new.orelse = inside_of(node.body, True), inside_of(node.orelse, inner)
                return new
            if kind == "Return" or (kind in ("Break", "Continue") and not inner):
                found.add(kind)
                return statements(ends[kind], node)
            return node if kind in ("FunctionDef", "Lambda", "ClassDef") else None

        return replaced_all(nodes, one)

    return inside_of(nodes, False), found


def _never_ends(nodes: list[Node]) -> bool:
    """Whether statements always raise, but for those that return."""
    return any(
        type(n).__name__ == "Raise"
        or (type(n).__name__ == "If" and _never_ends(n.body) and _never_ends(n.orelse))
        for n in nodes
    )


def reads_counter(nodes: list[Node], name: str) -> bool:
    """Whether statements read the counter of a loop, other loops over that name excepted."""
    for node in nodes:
        kind = type(node).__name__
        if kind == "Name" and node.id == name and type(node.ctx).__name__ == "Load":
            return True
        own = kind == "For" and getattr(node.target, "id", None) == name
        if reads_counter([node.iter, *node.orelse] if own else list(children(node)), name):
            return True
    return False


def bound_later(function: Node, loop: Node) -> set[str]:
    """The variables of a function that are assigned behind a loop alone."""
    places: dict[str, set[bool]] = {n: {False} for n in parameters(function.args)}
    for node in inside(function.body):
        if type(node).__name__ == "Name" and type(node.ctx).__name__ == "Store":
            behind = (node.lineno, node.col_offset) > (loop.lineno, loop.col_offset)
            places.setdefault(node.id, set()).add(behind)
    return {name for name, found in places.items() if False not in found}


def assigned_anew(nodes: list[Node], loop: Node, names: set[str]) -> set[str]:
    """Those of some variables of which nothing is left behind a loop inside of statements."""
    for k, node in enumerate(nodes):
        if node is loop:
            return {n for n in names if _is_anew(nodes[k + 1 :], loop.orelse, n)}
        found = (assigned_anew(getattr(node, b, None) or [], loop, names) for b in _BLOCKS)
        if anew := set().union(*found):
            return anew
    return set()


def _is_anew(behind: list[Node], orelse: list[Node], name: str) -> bool:
    """Whether the first of the statements behind a loop that has a variable assigns it."""
    if any(name in _names(s) or _goes_elsewhere(s) for s in orelse):
        return False
    for node in behind:
        if name in _names(node):
            targets = node.targets if type(node).__name__ == "Assign" else []
            return name not in _names(getattr(node, "value", None)) and any(
                getattr(t, "id", None) == name for t in targets
            )
        if _goes_elsewhere(node):
            return False
    return False


def _goes_elsewhere(node: Node) -> bool:
    """Whether what follows a statement may be left out."""
    return any(type(n).__name__ in ("Break", "Continue") for n in gast.walk(node))


def _names(node: Node) -> set[str]:
    """All names in a statement or an expression."""
    return {n.id for n in gast.walk(node) if type(n).__name__ == "Name"} if node else set()


def _stored(nodes: list[Node]) -> set[str]:
    """The variables that some statements store into."""
    found = set()
    for node in inside(nodes):
        if type(node).__name__ == "Subscript" and type(node.ctx).__name__ == "Store":
            while type(node).__name__ in ("Subscript", "Attribute"):
                node = node.value
            found |= {node.id} if type(node).__name__ == "Name" else set()
    return found


def written_as_call(loop: Loop, name: Any) -> tuple[list[Node], dict[str, Any]]:
    """The statements that stand for a loop, and the objects that their new names mean."""
    loop.check()
    node = loop.node
    carried, rest = loop.names()
    if not carried:
        raise loop.refuse(node, "nothing is computed", "Assign variables before the loop.")
    made: dict[str, Any] = {name("Slots"): Slots, name("run_steps"): run_steps}
    slots, run = made
    step, held = name(f"{loop.source.name}_step"), name("held")
    made[step], stops = loop.step(carried, rest, name("Stop"))
    values = ", ".join([step, held, str(len(carried)), *carried, *rest])
    text = f"{held} = {slots}()\n{''.join(f'{n}, ' for n in carried)} = {run}({values})\n"
    if stops or loop.counter_after:
        left, passed, *bounds = map(name, ("remaining", "has_run", "first", "last", "by"))
        made[left] = remaining
        text += f"{', '.join(bounds)} = {left}({held})\n"
    if loop.counter_after:
        made[passed] = has_run
        text += f"if {passed}({held}): {node.target.id} = {bounds[0]} - {bounds[2]}\n"
    if stops:
        text += f"for {node.target.id} in range({', '.join(bounds)}): pass\n"
    found = statements(text, node.iter)
    found[0].value.args, found[0].value.keywords = node.iter.args, node.iter.keywords
    if not stops:
        return [*found, *node.orelse], made
    found[-1].body, found[-1].orelse = node.body, node.orelse
    gast.copy_location(found[-1], node)
    return found, made
