"""What a generated function returns beside gradients, kept where its backward part changes it."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.tape.split import Parts
from srcdiff.ir.builder import Lines
from srcdiff.primitives.views import is_array
from srcdiff.runtime import layout, trees
from srcdiff.runtime.together import kept_together


def kept_value(
    value: ir.Atom,
    parts: Parts,
    facts: Facts,
    loc: ir.Loc,
    out: list[ir.Stmt],
    arrays: tuple[ir.Atom, ...],
    copied: Callable[..., Any] = np.copy,
) -> ir.Atom:
    """The value of the primal, kept where the backward part would change it.

    What is a part of `arrays`, which stand behind it, is one of their copies.
    """
    changed = ir.bound(parts.backward)
    whole = ir.names(ir.Tup(arrays))
    new: dict[str, ir.Name] = _held_together(value, facts, loc, out)
    for name in dict.fromkeys((*whole, *ir.names(value))):
        if name in new:
            continue
        mine = facts.aliases.classes.get(name)
        near = [h for h in whole if mine is not None and facts.aliases.classes.get(h) == mine]
        if near and is_array(facts.kinds.get(name)):
            new[name] = _part_of_copies(name, near, new, facts, loc, out)
        elif name in facts.aliases.classes or name in changed:
            copy = facts.fresh(f"{name.lstrip('_') or 'value'}_out")
            written = name in facts.aliases.classes
            array = is_array(facts.kinds.get(name))
            copying = ir.Call(copied if array else trees.kept, (ir.Name(name),))
            rhs: ir.Rhs = copying if written else ir.Name(name)
            out.append(ir.Assign(copy, rhs, loc))
            new[name] = copy
    return ir.map_atom(lambda n: new.get(n.id, n), value)


def _part_of_copies(
    name: str,
    near: list[str],
    new: Mapping[str, ir.Name],
    facts: Facts,
    loc: ir.Loc,
    out: list[ir.Stmt],
) -> ir.Name:
    """A copy of an array, or the part of other copies that it is of the arrays `near`."""
    lines = Lines(facts.fresh, loc)
    base = f"{name.lstrip('_') or 'value'}_out"
    found = lines.call(layout.laid_copy, ir.Name(name), base=base)
    for other in near:
        if other in new:
            args = (new[other], ir.Name(name), ir.Name(other), found)
            found = lines.call(layout.view_like, *args, base=base)
    out += lines.out
    return found


def _held_together(
    value: ir.Atom, facts: Facts, loc: ir.Loc, out: list[ir.Stmt]
) -> dict[str, ir.Name]:
    """Copies of what may share memory in the value of a function that was generated."""
    classes = facts.aliases.classes
    names = [n for n in dict.fromkeys(ir.names(value)) if n in classes]
    held = Counter(classes[n] for n in names)
    names = [n for n in names if held[classes[n]] > 1]
    if not names or not loc.file.startswith(ir.GENERATED):
        return {}
    lines = Lines(facts.fresh, loc)
    together = lines.call(kept_together, ir.Tup(tuple(map(ir.Name, names))), base="_out")
    new = {}
    for k, name in enumerate(names):
        item = ir.Call(operator.getitem, (together, ir.Const(k)))
        new[name] = facts.fresh(f"{name.lstrip('_') or 'value'}_out")
        lines.assign(new[name], item)
    out += lines.out
    return new
