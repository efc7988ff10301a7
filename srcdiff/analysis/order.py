"""Where the statements of a function stand, and what that says of names."""

from __future__ import annotations

from srcdiff import ir


class Order:
    """Where the statements of a function stand: their number, and the loops around them."""

    def __init__(self, function: ir.Function) -> None:
        self.number: dict[int, int] = {}
        self.loops: dict[int, tuple[int, ...]] = {}
        self.blocks: dict[int, tuple[int, ...]] = {}
        self.defined: dict[str, list[ir.Stmt]] = {}
        self.read: dict[str, list[ir.Stmt]] = {}
        self.given = {p.name for p in function.params}
        self._visit(function.body, (), ())
        self.once = {
            n: s[0] for n, s in self.defined.items() if len(s) == 1 and n not in self.given
        }

    def _visit(self, block: ir.Block, loops: tuple[int, ...], blocks: tuple[int, ...]) -> None:
        own = (*blocks, id(block))
        for stmt in block:
            self.blocks[id(stmt)] = own
            for name in ir.reads(stmt):
                self.read.setdefault(name, []).append(stmt)
            self.number[id(stmt)] = len(self.number)
            self.loops[id(stmt)] = loops
            for name in ir.writes(stmt):
                self.defined.setdefault(name, []).append(stmt)
            inner = (*loops, id(stmt)) if isinstance(stmt, (ir.For, ir.While)) else loops
            for part in ir.blocks(stmt):
                self._visit(part, inner, own)

    def may_follow(self, later: ir.Stmt, earlier: ir.Stmt, root: str) -> bool:
        """Whether one statement may run after another on the same object `root`."""
        if self.number[id(later)] > self.number[id(earlier)]:
            return True
        shared = set(self.loops[id(later)]) & set(self.loops[id(earlier)])
        made = self.defined.get(root, [])
        fresh = len(made) == 1 and shared <= set(self.loops[id(made[0])])
        return bool(shared) and not fresh

    def holds(self, name: str, root: str) -> bool:
        """Whether `name`, bound to `root` or a part of it, means that as long as it is read.

        An object that a loop makes in every step is another one in the next: there the name must
        be read in the block that binds it, and below that.
        """
        if root in self.given:
            return root not in self.defined
        if name not in self.once or root not in self.once:
            return False
        made, bound = self.once[root], self.once[name]
        if self.number[id(made)] > self.number[id(bound)]:
            return False
        block, at = self.blocks[id(bound)][-1], self.number[id(bound)]
        return not self.loops[id(made)] or all(
            block in self.blocks[id(s)] and self.number[id(s)] > at for s in self.read.get(name, ())
        )

    def starts(self, store: ir.Stmt, root: str, name: str) -> bool:
        """Whether a store belongs to how `root` is made, before `name` is bound."""
        made, bound = self.once[root], self.once[name]
        before = self.number[id(store)] < self.number[id(bound)]
        return before and self.loops[id(store)] == self.loops[id(made)]
