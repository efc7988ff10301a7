"""Templates in forward mode: backward lines along one operand, lines of `@forward` templates."""

from __future__ import annotations

import operator

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.expand.adjoint import Expander, Statement
from srcdiff.frontend.lowering import adjoint_of, tangent_template_of
from srcdiff.ir.frozen import replace
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import Bound
from srcdiff.runtime import trees

NOTHING = ir.Ref("nothing", object())
"""What is made of a tangent that is zero."""


class Gathered(Expander):
    """Lines that add to one tangent: `found` is what they add.

    What the branches of an `if` add that is decided when running has one name behind it.
    """

    def __init__(self, bound: Bound, stmt: Statement, facts: Facts) -> None:
        super().__init__(bound, stmt, facts)
        self.found: list[ir.Atom] = []
        self.apart: list[list[list[ir.Atom]]] = []  # of every block inside, for each statement
        self.result = stmt.target if isinstance(stmt, ir.Assign) else None

    def inner(self, block: ir.Block, fixed: dict[str, ir.Name]) -> ir.Block:
        """A block that runs or not: what it adds stays apart."""
        outside, self.found = self.found, []
        made = super().inner(block, fixed)
        self.apart[-1].append(self.found)
        self.found = outside
        return made

    def if_(self, stmt: ir.If) -> None:
        """An `if`, at the end of whose branches what they add has one name."""
        self.apart.append([])
        super().if_(stmt)
        parts = self.apart.pop()
        if any(parts):
            both, total = self.out.pop(), self.facts.fresh("_t")
            assert isinstance(both, ir.If)
            body, orelse = (self.total(total, p) for p in parts)
            both = replace(both, body=(*both.body, *body), orelse=(*both.orelse, *orelse))
            self.out.append(both)
            self.found.append(total)

    def total(self, name: ir.Name, values: list[ir.Atom]) -> ir.Block:
        """A name for the sum of some values, zero like the result for none."""
        if not values:
            assert self.result is not None, "nothing adds to the tangent of nothing"
            return (ir.Assign(name, ir.Call(trees.zeros_like, (self.result,)), self.loc),)
        first = ir.Assign(name, values[0], self.loc)
        more = (ir.Assign(name, ir.Call(operator.add, (name, v)), self.loc) for v in values[1:])
        return (first, *more)

    def for_(self, stmt: ir.For) -> None:
        """A loop that runs a number of times known now, or adds nothing."""
        self.apart.append([])
        super().for_(stmt)
        if any(self.apart.pop()):
            raise self.misused("adds to a tangent in a loop", self.line)


class Along(Gathered):
    """The backward lines of an elementwise rule with the tangent of an operand for `d[z]`."""

    def values(self) -> list[ir.Atom]:
        """What the lines add to the adjoint of the operand."""
        self.check_arguments()
        self.block(self._recomputed())
        self.block(self.template.below)
        return self.found

    def contribute(self, target: ir.Atom, value: ir.Atom) -> None:
        """A contribution is kept as it is: nothing is summed where an operand was broadcast."""
        if isinstance(target, ir.Name) and self.active(target.id):
            if not isinstance(value, ir.Const):
                self.found.append(value)

    def store_adjoint(self, primal: str, store: ir.Store) -> None:
        """An elementwise rule writes into no part."""
        raise self.misused("writes into a part of an adjoint, and has no tangent", self.line)


def _together(items: tuple[ir.Atom, ...]) -> ir.Atom:
    """Tangents as a tuple, NOTHING if they all are zero."""
    if items and all(i is NOTHING for i in items):
        return NOTHING
    return ir.Tup(tuple(ir.Const(0.0) if i is NOTHING else i for i in items))


def _starred(atom: ir.Atom) -> str | None:
    """The `x` of an item `*d[x]`."""
    if isinstance(atom, ir.Star) and isinstance(atom.value, ir.Name):
        return adjoint_of(atom.value.id)
    return None


class Tangent(Gathered):
    """The lines of a `@forward` template: `d[x]` is the tangent of `x`, and `d[z]` is added to."""

    def __init__(self, bound: Bound, stmt: Statement, facts: Facts) -> None:
        super().__init__(bound, stmt, facts)
        self.template = tangent_template_of(bound.rule)
        self.env = dict(bound.args)
        self.parts.clear()
        self.out.clear()  # items of the tangent of the result, which is still to be computed
        self.moved: set[str] = set()  # what is made of tangents, in the names of the template
        result = self.template.result
        self.own = result.id if isinstance(result, ir.Name) else ""
        if isinstance(stmt, ir.Assign):
            if not self.own:
                raise self.misused("must yield one name in its tangent", self.template.loc)
            self.env[self.own] = stmt.target

    def values(self) -> list[ir.Atom]:
        """What the lines add to the tangent of the result; they see the operands as they were."""
        self.block(tuple(s for s in self._recomputed() if not isinstance(s, ir.Undo)))
        self.block(self.template.below)
        return self.found

    def _adjoint(self, primal: str) -> ir.Atom:
        """`d[x]` where it is read."""
        return self._mirrored(self.env[primal])

    def _mirrored(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of an argument, NOTHING where it is zero."""
        if isinstance(atom, ir.Tup):
            return _together(tuple(map(self._mirrored, atom.items)))
        if isinstance(atom, ir.Name) and self.active(atom.id):
            return self.facts.adjoint(atom.id)
        return NOTHING

    def atom(self, atom: ir.Atom) -> ir.Atom:
        """An atom of the template; nothing among others is zero, many times in `*d[args]`."""
        new = super().atom(self._counted(atom))
        if not isinstance(new, ir.Tup):
            return new
        items = tuple(a for a in new.items if a != ir.Star(NOTHING))
        if items == new.items and not any(a is NOTHING for a in items):
            return new
        return _together(items)

    def _counted(self, atom: ir.Atom) -> ir.Atom:
        """A tuple where `*d[args]` is zero for each of `args`, if it is zero."""
        if not isinstance(atom, ir.Tup):
            return atom
        return ir.Tup(tuple(i for a in atom.items for i in self._items(a)))

    def _items(self, atom: ir.Atom) -> tuple[ir.Atom, ...]:
        primal = _starred(atom)
        args = self.env.get(primal) if primal is not None else None
        if not isinstance(args, ir.Tup) or any(isinstance(a, ir.Star) for a in args.items):
            return (atom,)
        return (NOTHING,) * len(args.items) if self._mirrored(args) is NOTHING else (atom,)

    def assignment(self, stmt: ir.Assign) -> None:
        """`name = value`, which is made of tangents if the value is."""
        if self._reads_tangents(*ir.used_in(stmt)):
            self.moved.add(stmt.target.id)
        super().assignment(stmt)

    def _reads_tangents(self, *names: str) -> bool:
        """Whether some names of the template are tangents, or made of them."""
        return any(n in self.moved or adjoint_of(n) is not None for n in names)

    def rhs(self, rhs: ir.Rhs) -> ir.Rhs:
        """What is made of nothing is nothing, but for a sum with something."""
        if is_op(rhs, Op.MAKE_LIST):
            items = self.atom(ir.Tup(rhs.args))
            return ir.Call(rhs.fn, items.items) if isinstance(items, ir.Tup) else items
        if isinstance(rhs, ir.Call):
            if is_op(rhs, Op.KNOWN) and self.atom(rhs.args[0]) is NOTHING:
                return ir.Const(True)
            given = (*rhs.args, *(v for _, v in rhs.kwargs))
            rest = [a for a in given if self.atom(a) is not NOTHING]
            if len(rest) < len(given):
                moves = self._reads_tangents(*(n for a in rest for n in ir.names(a)))
                return self._with_zeros(rhs) if moves else NOTHING
        return super().rhs(rhs)

    def _with_zeros(self, call: ir.Call) -> ir.Rhs:
        """A call of nothing and of other tangents: it is linear in all of them together."""
        plain = not any(isinstance(self.atom(a), ir.Tup) for a in call.args)
        if is_op(call, Op.ADD, Op.SUB) and plain:
            x, y = map(self.atom, call.args)
            if y is NOTHING:
                return x
            return y if is_op(call, Op.ADD) else ir.Call(operator.neg, (y,))
        args = tuple(map(self._or_zero, call.args))
        return super().rhs(replace(call, args=args, kwargs=tuple(
            (k, self._or_zero(v)) for k, v in call.kwargs
        )))  # fmt: skip

    def _or_zero(self, atom: ir.Atom) -> ir.Atom:
        return ir.Const(0.0) if self.atom(atom) is NOTHING else atom

    def accumulate(self, stmt: ir.Accum) -> None:
        """`d[z] += value`."""
        value = self.atom(stmt.value)
        if adjoint_of(stmt.target.id) != self.own:
            raise self.misused("adds to something else than the tangent of its result", stmt.loc)
        if value is not NOTHING and not isinstance(value, ir.Const):
            self.found.append(value)

    def demand(self, target: ir.Name) -> ir.Name:
        """The tangent of what a function writes into, which is memory of its own already."""
        return self.facts.adjoint(target.id)

    def store_adjoint(self, primal: str, store: ir.Store) -> None:
        """A store into the tangent of what the function writes into."""
        target = self.env[primal]
        if isinstance(target, ir.Name) and self.active(target.id):
            value = ir.Const(0.0) if store.value is NOTHING else store.value
            tangent = self.facts.adjoint(target.id)
            self.out.append(replace(store, base=tangent, value=value, loc=self.loc))
