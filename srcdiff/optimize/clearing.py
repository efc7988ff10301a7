"""Elements of adjoints that are cleared, or copied, although nobody touches them again.

Takes a finished function and the kinds of its names; gives it without needless stores of zeros and
copies in its generated part.  The adjoint of `v[i] = ..` reads the adjoint of the element and
clears it: `d = d_v[i]; d_v[i] = 0.0`, and of a row it takes a copy first.  The invariant: no memory
that is not cleared, or that gets a second name, is touched afterwards by its first one.
"""

from __future__ import annotations

from typing import TypeGuard

from srcdiff import ir
from srcdiff.analysis.subscripts import Access, Path, Subscripts, Where
from srcdiff.ir.frozen import replace
from srcdiff.optimize.copies import without
from srcdiff.optimize.memory import Sharers
from srcdiff.optimize.rewrite import mark_in
from srcdiff.optimize.shapes import copied
from srcdiff.primitives.effects import asked, is_pure, makes_new, returns_view
from srcdiff.primitives.ops import Op, is_op


def without_clearing(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function whose generated part clears and copies no element for nothing."""
    ours = ir.walk(function.body[mark_in(function.body) or 0 :])
    stores = [s for s in ours if _clears(s)]
    copies = [(s, source) for s in ours if (source := copied(ir.call_of(s), Op.COPY)) is not None]
    if not stores and not copies:
        return function
    sharers = Sharers.of(function, kinds)
    stores = [s for s in stores if _is_owned(s.base, sharers, kinds)]
    copies = [(s, n) for s, n in copies if _is_element(s, n, sharers, kinds)]
    names = [*(s.base.id for s in stores), *(n.id for _, n in copies)]
    if not names:
        return function
    touched = _Touched(kinds, sharers, {n for name in names for n in sharers.group(name)})
    touched.collect(function.body, Where())
    touched.gone = {id(s) for s in stores if touched.is_last(s, s.base)}
    return without(function, {*touched.gone, *(id(s) for s, n in copies if touched.is_last(s, n))})


def _clears(stmt: ir.Stmt) -> TypeGuard[ir.SetItem]:
    """Whether a statement clears elements of an array."""
    value = stmt.value if isinstance(stmt, ir.SetItem) else None
    return isinstance(value, ir.Const) and value.value == 0.0


def _is_owned(base: ir.Name, sharers: Sharers, kinds: ir.Kinds) -> bool:
    """Whether something is an array that nobody outside has."""
    return isinstance(kinds.get(base.id), ir.Array) and not sharers.is_kept(base.id)


def _is_element(stmt: ir.Stmt, source: ir.Name, sharers: Sharers, kinds: ir.Kinds) -> bool:
    """Whether what is copied may be a part of an array that can be written into."""
    escaping = any(sharers.memory.find(n) in sharers.memory.escaping for n in ir.writes(stmt))
    part = len(sharers.group(source.id)) > 1 and _is_owned(source, sharers, kinds)
    return part and not escaping and sharers.odd.isdisjoint(sharers.group(source.id))


class _Touched(Subscripts):
    """What touches some arrays, and where."""

    def __init__(self, kinds: ir.Kinds, sharers: Sharers, watched: set[str]) -> None:
        super().__init__(kinds)
        self.sharers, self.watched = sharers, watched
        self.accesses: dict[str, list[Access]] = {}  # by class of memory
        self.gone: set[int] = set()  # the stores that are left out

    def visit(self, stmt: ir.Stmt, where: Where) -> bool:
        """Notes what a statement binds, and what it touches."""
        super().visit(stmt, where)
        for name in self.watched.intersection(ir.itself_reads(stmt)):
            if not _asks(stmt, name):
                behind = replace(where, path=(*where.path, 0))  # what it binds itself is bound
                owner, index = self.element(stmt, name, behind)
                found = self.accesses.setdefault(self.sharers.memory.find(name), [])
                found.append(Access(owner, index, where, stmt))
        return False

    def element(self, stmt: ir.Stmt, name: str, where: Where) -> tuple[str, ir.Atom | None]:
        """The array of which a statement touches an element, and the subscript."""
        view = self.definition(name, where)
        if is_op(view, Op.GETITEM) and type(view.args[0]) is ir.Name:
            return view.args[0].id, view.args[1]
        if isinstance(stmt, ir.Store):
            others = (*ir.names(stmt.value), *(ir.names(stmt.index) if stmt.index else ()))
            alone = stmt.base.id == name and name not in others
            return name, stmt.index if alone else None
        call = ir.call_of(stmt)
        part = is_op(call, Op.GETITEM) and call.args[0] == ir.Name(name)
        return name, call.args[1] if part and call is not None else None

    def is_last(self, stmt: ir.Stmt, base: ir.Name) -> bool:
        """Whether nobody touches afterwards what a statement touches of an array."""
        found = self.accesses[self.sharers.memory.find(base.id)]
        mine = [a for a in found if a.stmt is stmt]
        others = [a for a in found if a.stmt is not stmt and id(a.stmt) not in self.gone]
        once = all(self.is_apart_later(a, b) for a in mine for b in mine)
        return once and all(self.is_after(a, b) for a in mine for b in others)

    def is_new_in(self, loop: Path, first: Access, then: Access) -> bool:
        """Whether both accesses in a loop are of an array that each iteration makes anew."""
        made = self.defined.get(first.owner)
        if made is None or made.path[: len(loop)] != loop or first.owner != then.owner:
            return False
        call = self.definition(first.owner, then.where)
        if not isinstance(call, ir.Call) or not first.where.is_behind(made.path):
            return False
        new = is_pure(call.fn) and makes_new(call.fn)
        return new and not returns_view(call, self.kinds)


def _asks(stmt: ir.Stmt, name: str) -> bool:
    """Whether a statement asks an array for its shape alone."""
    call = ir.call_of(stmt) if isinstance(stmt, ir.Assign) and stmt.target.id != name else None
    return call is not None and name in asked(call)
