"""Simplify a finished function, or adjoints that still stand beside their primals.

`simplify` takes the function that `tape` has put together (forward statements,
`Backward`, backward statements, `Return`) and the kinds of its parameters; it returns a function
that computes the same: the same shapes and dtypes, the same floating-point results but for the sign
of a zero and the rounding of products with adjoints, and the same memory shared by what is
returned.  Statements before `Backward` are the user's: there only temporaries are replaced and dead
statements dropped.

`simplify_pairs` takes the `Pair` tree of `accumulate`, before it is decided what to save, the kinds
of its primal names and the names of their adjoints.  It returns the tree with plainer adjoint
statements, so that nothing is saved for a shape that a parameter has as well, or for what is never
read.  The primal statements stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from srcdiff import ir
from srcdiff.kinds.calls import atom_kind, float_like, rhs_kind
from srcdiff.kinds.interpreter import Seen, Typed, infer
from srcdiff.optimize.clearing import without_clearing
from srcdiff.optimize.coalesce import coalesce, with_one_name
from srcdiff.optimize.copies import without_copies
from srcdiff.optimize.dead_code import remove_dead, without_outputs
from srcdiff.optimize.memory import is_view
from srcdiff.optimize.products import derived
from srcdiff.optimize.rewrite import Rewriter, rewrite
from srcdiff.optimize.schedule import reorder
from srcdiff.optimize.stores import merge_stores
from srcdiff.primitives.effects import asked, only_computes
from srcdiff.primitives.operation import op_of


def simplify_pairs(
    function: ir.Function,
    kinds: Mapping[str, ir.Kind],
    adjoints: Mapping[str, str],
    keep: Iterable[str],
    fresh: ir.Fresh | None = None,
    alike: Mapping[int, ir.Stmt] | None = None,
) -> ir.Function:
    """The paired function with plainer adjoints; `keep` are the adjoints that are read later.

    `fresh` makes the names of new temporaries: it goes on to make those of the function.  `alike`
    are primal statements whose operands and results have one shape, by their identities.
    """
    device = function.target.on_device
    own = {adjoints[n]: float_like(k, device) for n, k in kinds.items() if n in adjoints}
    known = {**kinds, **own}
    given, kept = frozenset(known), frozenset(keep)
    for stmt in _adjoints(function):
        _infer(stmt, known, given, device)
    rewriter = _Backward(function, known, kept, fresh, alike or {})
    return _without_dead(ir.rebuilt(function, body=rewriter.back(function.body)), kept)


def _adjoints(function: ir.Function) -> list[ir.Stmt]:
    """The adjoint statements, in the order of the backward part."""
    pairs = [s for s in ir.walk(function) if type(s) is ir.Pair]
    return [s for pair in reversed(pairs) for s in ir.walk(pair.adjoint)]


def _infer(
    stmt: ir.Stmt, kinds: dict[str, ir.Kind], given: frozenset[str], device: bool
) -> None:
    """Add the kind of what a statement binds; a name that is bound twice is unknown."""
    for name in ir.writes(stmt):
        if name in given:
            continue
        known = name not in kinds and type(stmt) is ir.Assign
        kinds[name] = rhs_kind(stmt.rhs, kinds, device) if known else ir.UNKNOWN  # type: ignore[union-attr]


class _Backward(Rewriter):
    """The walk in the order of the backward part."""

    def __init__(
        self,
        function: ir.Function,
        kinds: dict[str, ir.Kind],
        keep: frozenset[str],
        fresh: ir.Fresh | None,
        alike: Mapping[int, ir.Stmt],
    ) -> None:
        super().__init__(function, kinds, keep, fresh)
        self.ours = True
        self.primal: ir.Block = ()
        single = _bound_once(function)
        self.algebra.is_loose = lambda name: name not in single
        self.algebra.near = _AtHand(function, kinds, alike).near

    def back(self, block: ir.Block) -> ir.Block:
        """A block of the tree, its last statement first; nothing of it is known after it."""
        new = tuple(reversed([self.pair(s) for s in reversed(block)]))
        self.available.forget(block)
        return new

    def pair(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement of the tree: the adjoints in it, which run before what precedes it."""
        if type(stmt) is ir.Pair:
            self.primal = () if stmt.primal is None else (stmt.primal,)
            adjoint = self.block(stmt.adjoint)
            self.available.forget(self.primal)
            return ir.rebuilt(stmt, adjoint=adjoint)
        if type(stmt) is not ir.If:
            self.available.forget((stmt,))
        return ir.map_blocks(stmt, self.back)

    def stmt(self, stmt: ir.Stmt, here: int) -> ir.Stmt | None:
        """An adjoint statement; from `Undo` on the primal is as it was before its statement."""
        if type(stmt) is ir.Undo:
            self.available.forget(self.primal)
            return stmt
        return super().stmt(stmt, here)


class _AtHand:
    """What adjoints have at hand; `alike`: statements whose operands and results have one shape."""

    def __init__(
        self, function: ir.Function, kinds: ir.Kinds, alike: Mapping[int, ir.Stmt]
    ) -> None:
        self.function, self.kinds, self.alike = function, kinds, alike

    @cached_property
    def made(self) -> dict[str, ir.Assign]:
        """Where the primal binds what has one value."""
        found = ir.assignments(ir.primal_only(self.function.body))
        counts = ir.binding_counts(self.function)
        return {s.target.id: s for s in found if counts[s.target.id] == 1}

    @cached_property
    def needed(self) -> frozenset[str]:
        """The names at whose values the adjoints look."""
        stmts = _adjoints(self.function)
        return frozenset(n for s in stmts for n in {*ir.reads(s)} - asked(ir.call_of(s)))

    def near(self, name: str) -> Iterator[str]:
        """What is there anyway, or is a part of what is, that has the shape of what is not."""
        waiting = [] if name in self.needed else [name]
        for one in waiting:
            for other in self.of_its_shape(one):
                if other in self.needed or is_view(self.made[other].rhs):
                    yield other
                waiting.append(other)

    def of_its_shape(self, name: str) -> Iterator[str]:
        """The operands of what works by element that surely have the shape of its result."""
        stmt = self.made.get(name)
        if stmt is None or type(stmt.rhs) is not ir.Call or not op_of(stmt.rhs.fn).is_elementwise:
            return
        args = stmt.rhs.args
        for k, arg in enumerate(args):
            if type(arg) is ir.Name and arg.id in self.made:
                others = [atom_kind(a, self.kinds) for a in (*args[:k], *args[k + 1 :])]
                kind, of_result = (self.kinds.get(n, ir.UNKNOWN) for n in (arg.id, name))
                alike = id(stmt) in self.alike and ir.dims_of(kind) != ()  # a number of a device
                same = alike or ir.broadcasts_to_itself(kind, of_result, others)
                if same and type(kind) is ir.Array:
                    yield arg.id


def _bound_once(function: ir.Function) -> frozenset[str]:
    """The names that are bound once, and that directly in the body: they need not be saved."""
    bound = ir.binding_counts(function, function.params)
    primals = (s.primal if type(s) is ir.Pair else s for s in function.body)
    outer = [s.target.id for s in primals if type(s) is ir.Assign]
    return frozenset(n for n in (*outer, *(p.name for p in function.params)) if bound[n] == 1)


def _without_dead(function: ir.Function, keep: frozenset[str]) -> ir.Function:
    """The function without pure adjoint assignments to names that nothing reads."""
    count = ir.use_counts(function)
    made: dict[str, list[ir.Assign]] = {}
    for stmt in _adjoints(function):
        if type(stmt) is ir.Assign:
            made.setdefault(stmt.target.id, []).append(stmt)
    waiting = [n for n in made if not count[n]]
    dead: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in keep or name in dead or not all(only_computes(s.rhs) for s in made[name]):
            continue
        dead.add(name)
        for stmt in made[name]:
            count.subtract(ir.reads_of(stmt))
            waiting += [n for n in ir.reads_of(stmt) if n in made and not count[n]]
    gone = {id(s) for n in dead for s in made[n]}
    return ir.replaced_in(function, lambda s: () if id(s) in gone else s) if gone else function


# --- simplify a finished function: copies, algebra, shapes, dead code ----------------------------


ROUNDS = 5


def simplify(
    function: ir.Function,
    params: Mapping[str, ir.Kind],
    kinds: dict[str, ir.Kind] | None = None,
    seeds: Collection[str] = (),
    seen: Seen | None = None,
) -> ir.Function:
    """The function without what nobody needs, in its plainest form.

    `kinds` are those of its names, inferred if not given; new names are added to them.  `seeds`
    are the cotangents: in products with what is computed from them numbers are multiplied first.
    """
    typed = Typed(function, params, seen).by(remove_dead, kinds)
    kinds = infer(typed.function, params) if kinds is None else kinds
    seeds = [p.name for p in function.params if p.name in seeds]
    for k in range(ROUNDS):
        function = typed.function
        # What is computed twice is found first: then products are taken apart.
        adjoints = derived(function, seeds) if k and seeds else frozenset[str]()
        typed = typed.then(rewrite(function, kinds, adjoints), "rewrite").by(merge_stores, kinds)
        typed = typed.by(without_copies, kinds).by(remove_dead, kinds).by(without_clearing, kinds)
        plain = (typed := typed.by(without_outputs, kinds)).function
        typed = typed.by(coalesce).by(with_one_name)
        new = (typed := typed.by(reorder, kinds)).function
        # What rewriting has made plain it leaves as it is, but for products.
        if (k or not seeds) and (new == function or (new == plain and not adjoints)):
            return new
    return typed.function
