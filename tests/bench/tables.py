"""Cells as tables in Markdown, and as a plot."""

from __future__ import annotations

import importlib
import math
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .compare import Cell, geometric_means
from .programs.loops import SIZES

STARTS = {"CPU": "<!-- the tables of a run -->", "GPU": "<!-- the tables of a run on a GPU -->"}
END = "<!-- end -->"


def number(value: float | None) -> str:
    """Three digits, of 0.0001 at least; nothing for None."""
    if value is None:
        return ""
    if value < 0.00005:
        return "0"
    whole = math.floor(math.log10(float(f"{value:.2e}")))
    return f"{value:.{min(max(2 - whole, 0), 4)}f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table, its first column to the left."""
    align = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, align, *rows])


def names(cells: list[Cell], what: str) -> list[str]:
    """The programs or rivals of cells, in their order."""
    return list(dict.fromkeys(getattr(c, what) for c in cells))


def of_programs(
    cells: list[Cell], size: str, value: Callable[[Cell], float | None], notes: list[str]
) -> str:
    """A row for each program, a column for each rival; what failed has the number of a note."""
    rivals = names(cells, "rival")
    at = {(c.program, c.rival): c for c in cells if c.size == size}
    rows = []
    for program in names(cells, "program"):
        row = [at.get((program, rival)) for rival in rivals]
        rows.append([program, *(shown(cell, value, notes) if cell else "" for cell in row)])
    return table(["program", *rivals], rows)


def shown(cell: Cell, value: Callable[[Cell], float | None], notes: list[str]) -> str:
    """A number, a dash for what is not written, or the number of a note that says what failed."""
    if cell.failure is None:
        return number(value(cell))
    if cell.failure == "not written":
        return "–"
    note = f"{cell.rival} on {cell.program}: {cell.failure}"
    if cell.failure.startswith("not installed"):
        note = f"{cell.rival}: {cell.failure}"
    if note not in notes:
        notes.append(note)
    return f"({notes.index(note) + 1})"


def means(cells: list[Cell], base: str) -> str:
    """The geometric means of ratios to the times of one rival."""
    columns = {
        size: {rival: found for rival, *found in geometric_means(cells, base, size)}
        for size in sizes_of(cells)
    }
    rows = [
        [rival, *(_mean(column.get(rival)) for column in columns.values())]
        for rival in names(cells, "rival")
    ]
    return table([f"time over that of {base}", *columns], rows)


def _mean(found: Any) -> str:
    return f"{number(found[0])} ({found[1]})" if found else ""


def sizes_of(cells: list[Cell]) -> list[str]:
    """The sizes that were run, small ones first."""
    return [size for size in SIZES if any(c.size == size for c in cells)]


def report(cells: list[Cell]) -> str:
    """All tables."""
    notes: list[str] = []
    sizes = sizes_of(cells)
    parts, base = [], base_of(cells)
    if base:
        parts += ["## Geometric means", "In brackets: of how many programs.", means(cells, base)]
    for size in reversed(sizes):
        parts += [f"## Value and gradient, {size}, ms"]
        parts += [of_programs(cells, size, milliseconds, notes)]
    parts += ["## First call, s"]
    parts += [of_programs(cells, sizes[0], lambda c: rounded(c.compile, 0.01), notes)]
    if any(c.memory is not None for c in cells):
        memory = of_programs(cells, sizes[-1], lambda c: rounded(c.memory, 0.1), notes)
        parts += ["## Peak memory of a call, MiB", memory]
    if notes:
        listed = [f"{i}. {escaped(note)}" for i, note in enumerate(notes, 1)]
        parts += ["## What is missing", "\n".join(listed)]
    return "\n\n".join(parts)


def base_of(cells: list[Cell]) -> str | None:
    """The rival to whose times others are compared: JAX, or the first that ran."""
    ran = names([c for c in cells if c.seconds], "rival")
    return "JAX" if "JAX" in ran else next(iter(ran), None)


def rounded(value: float | None, step: float) -> float | None:
    """The next multiple of a step: what is below it is chance."""
    return None if value is None else step * round(value / step)


def milliseconds(cell: Cell) -> float | None:
    """The time of a call."""
    return None if cell.seconds is None else 1e3 * cell.seconds


def escaped(text: str) -> str:
    """A text as Markdown shows it, without the folders of files and what looks like a link."""
    here = str(Path(__file__).parents[2])
    text = text.replace(f"{here}/", "").replace("`", "'").replace("](", "] (")
    return f"`{text}`"


def versions() -> str:
    """The versions of what ran, and the machine."""
    packages = ("numpy", "numba", "jax", "torch", "autograd", "cupy")
    found = []
    for package in packages:
        try:
            found.append(f"{package} {importlib.import_module(package).__version__}")
        except (ImportError, AttributeError):
            continue
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    python = f"Python {platform.python_version()}"
    return f"{', '.join([python, *found])}; {processor()}, threads of each library: {threads}"


def processor() -> str:
    """The name of the processor, and how many cores this process may use."""
    rows = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    named = (row.split(":")[1].strip() for row in rows if row.startswith("model name"))
    return f"{next(named, platform.machine())}, {os.cpu_count()} cores"


def plot(cells: list[Cell], path: Path) -> None:
    """The times of each program over those of one rival, of the largest size."""
    size, base = sizes_of(cells)[-1], base_of(cells)
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    times = {(c.program, c.rival): c.seconds for c in cells if c.size == size and c.seconds}
    programs = [p for p in names(cells, "program") if (p, base) in times]
    figure, axes = pyplot.subplots(figsize=(8, 0.3 * len(programs) + 1.5))
    for marker, rival in zip("osD^vP*X", [r for r in names(cells, "rival") if r != "function"]):
        ran = [(i, p) for i, p in enumerate(programs) if (p, rival) in times]
        points = [(times[p, rival] / times[p, base], i) for i, p in ran]
        if points:
            axes.scatter(*zip(*points), marker=marker, s=28, label=rival, alpha=0.8)
    axes.set_xscale("log")
    axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(programs)), programs)
    axes.invert_yaxis()
    axes.set_xlabel(f"time of value and gradient over that of {base} ({size}; left is faster)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.12), ncol=4, fontsize=8)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def write(cells: list[Cell], path: Path, about: str, picture: Path, where: str = "CPU") -> None:
    """Put the tables of a run, and what ran, into a document between its marks."""
    start = STARTS[where]
    before, rest = path.read_text().split(start)
    _, after = rest.split(END, 1)
    image = f"![times over those of one]({picture.name})\n\n" if picture.exists() else ""
    text = f"{about} {versions()}.\n\n{image}{report(cells)}"
    path.write_text(f"{before}{start}\n\n{text}\n\n{END}{after}")
