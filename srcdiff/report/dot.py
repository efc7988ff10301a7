"""The values of a function and what they are computed from, as a graph for Graphviz."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from typing import Any

from srcdiff import ir
from srcdiff.aot.job import Job, Wanted
from srcdiff.driver.pipeline import State, analysed
from srcdiff.errors import ExtraError
from srcdiff.ir.printer import show


def graph(f: Any, **options: Any) -> str:
    """The graph in the DOT language: values through which a derivative flows are filled.

    The options are those of `generate`.  `dot -Tsvg` makes a picture of it.
    """
    job = Job(f, Wanted.of(options))
    state = analysed(job.made.origin, job.made.request, job.kinds, job.target)
    drawing = _Drawing(state)
    lines = [
        f"digraph {json.dumps(state.function.name)} {{",
        '  node [shape=box, style=rounded, fontname="monospace", fontsize=11];',
        *drawing.params(),
        *drawing.block(state.function.body, "  "),
        *(f"  {edge};" for edge in drawing.edges),
        "}",
    ]
    return "\n".join(lines)


def picture(dot: str) -> str:
    """A graph as SVG, drawn by the program `dot` of Graphviz.

    Raises:
        ExtraError: it is not installed.
    """
    try:
        done = subprocess.run(
            ["dot", "-Tsvg"], input=dot, capture_output=True, encoding="utf-8", check=True
        )
    except FileNotFoundError:
        raise ExtraError(
            "a picture of the graph needs the program `dot`: install Graphviz, or write the graph "
            "as text (--graph without a file, or another ending than .svg)"
        ) from None
    except subprocess.CalledProcessError as error:
        raise ValueError(f"dot: {error.stderr.strip()}") from None
    return done.stdout


class _Drawing:
    """Nodes for statements, edges between what they bind and read."""

    def __init__(self, state: State) -> None:
        assert state.facts is not None
        self.function, self.active = state.function, state.facts.active
        self.last: dict[str, str] = {}
        self.edges: dict[str, None] = {}
        self.count = 0

    def node(self, label: str, active: bool, place: str, bound: Iterable[str]) -> str:
        """The line of a new node, the last one of the names that it binds."""
        self.count += 1
        name = f"n{self.count}"
        self.last.update(dict.fromkeys(bound, name))
        fill = ', style="rounded,filled", fillcolor="#cfe8d8"' if active else ""
        return f"{place}{name} [label={json.dumps(label)}{fill}];"

    def params(self) -> list[str]:
        """The parameters."""
        names = [param.name for param in self.function.params]
        return [self.node(name, name in self.active, "  ", [name]) for name in names]

    def block(self, block: ir.Block, place: str) -> list[str]:
        """The nodes of some statements; those of loops and branches in boxes."""
        out: list[str] = []
        for stmt in block:
            if isinstance(stmt, (ir.If, ir.For, ir.While)):
                out += self.box(stmt, place)
            elif not isinstance(stmt, ir.Backward):
                out += self.statement(stmt, place)
        return out

    def box(self, stmt: ir.If | ir.For | ir.While, place: str) -> list[str]:
        """A loop or a branch."""
        self.count += 1
        first = show(ir.Function("f", (), (stmt,))).split("\n")[1].strip()
        inner: list[str] = []
        if isinstance(stmt, ir.For):
            inner = [self.node(stmt.target.id, False, f"{place}  ", [stmt.target.id])]
        for block in ir.blocks(stmt):
            inner += self.block(block, f"{place}  ")
        head = f"{place}subgraph cluster_{self.count} {{ label={json.dumps(first)};"
        return [head, *inner, f"{place}}}"] if inner else []

    def statement(self, stmt: ir.Stmt, place: str) -> list[str]:
        """One statement."""
        text = show(ir.Function("f", (), (stmt,))).split("\n", 1)[1].strip()
        text = f"{stmt.loc.line}: {text}" if stmt.loc.line else text
        bound = ir.bound((stmt,)) | ({stmt.base.id} if isinstance(stmt, ir.Store) else set())
        sources = [self.last[read] for read in sorted(ir.used((stmt,))) if read in self.last]
        line = self.node(text, bool(bound & self.active), place, bound)
        self.edges.update(dict.fromkeys(f"{source} -> n{self.count}" for source in sources))
        return [line]
