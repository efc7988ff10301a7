"""The walk through the lines of a template: what is known is folded away, the rest is written."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.expand.contribute import Statement, Writer, adjoint_of
from srcdiff.frontend.lower.template import mentioned, template_of
from srcdiff.ir.kinds import Scalar, is_active_kind
from srcdiff.primitives import notation
from srcdiff.primitives.effects import is_pure
from srcdiff.primitives.registry import Bound
from srcdiff.runtime import arrays
from srcdiff.specialize.folding import spliced
from srcdiff.specialize.forms import UNSET, part_of


class Expander(Writer):
    """One expansion: runs through the lines of the template and writes what they come to."""

    def __init__(self, bound: Bound, stmt: Statement, facts: Facts) -> None:
        super().__init__(bound, stmt, facts)
        self.template = template_of(bound.rule)
        self.fixed: dict[str, ir.Name] = {}
        self.parts: dict[str, ir.Atom] = {}
        self.ignored: set[ir.Atom] = set()  # results from which no derivative flows
        self.called: set[object] = set()  # arguments that are called: for their values alone
        self.line = self.template.loc  # of the template
        self.restored: int | None = None  # where what the function writes into is put back
        if isinstance(stmt, ir.Assign):
            self._bind_result(stmt.target)

    def _bind_result(self, target: ir.Name) -> None:
        """Bind what the template yields to the target of the statement."""
        result = self.template.result
        self.result = target
        if self.facts.parts:
            assert isinstance(result, ir.Tup)
            for k, item in enumerate(result.items):
                self._bind_part(item, k, target)
            return
        if target.id not in self.facts.adjoints:
            return
        adjoint = self.facts.adjoint(target.id)
        self.folder.kinds[adjoint.id] = self.folder.kind(target)
        if isinstance(result, ir.Name):
            self.env[result.id] = target
        elif isinstance(result, ir.Tup):
            for k, item in enumerate(result.items):
                assert isinstance(item, ir.Name), "a template yields names"
                self.env[item.id] = self.item(target, ir.Const(k))
                self.parts[item.id] = self.item(adjoint, ir.Const(k))
                self._note_part(item, k, target)
        else:
            raise self.misused("yields nothing, and its result is used", self.line)

    def _bind_part(self, item: ir.Atom, k: int, target: ir.Name) -> None:
        """Bind one of several values to the name that it is unpacked to."""
        assert isinstance(item, ir.Name), "a template yields names"
        name = self.facts.parts.get(k)
        self.env[item.id] = self.item(target, ir.Const(k)) if name is None else ir.Name(name)
        if name is not None and self.active(name):
            self.parts[item.id] = self.facts.adjoint(name)
        else:
            # Folded away where nothing reads it.
            zeros = ir.Call(np.zeros_like, (self.env[item.id],), text="np.zeros_like")
            self.parts[item.id] = self.temp(zeros)
            self.ignored.add(item)
        self._note_part(item, k, target)

    def _note_part(self, item: ir.Name, k: int, target: ir.Name) -> None:
        """Note that the adjoint of one of several values has its kind."""
        kinds = getattr(self.folder.kind(target), "items", None)
        if kinds is not None and k < len(kinds):
            for atom in (self.env[item.id], self.parts[item.id]):
                if isinstance(atom, ir.Name):
                    self.folder.kinds[atom.id] = kinds[k]

    # --- the whole ---

    def check_arguments(self) -> None:
        """Raise if an active argument is one that the template says nothing of."""
        for param, atom in self.bound.args.items():
            silent = param not in mentioned(self.rule) and param != self.rule.mutates
            if silent and any(self.active(n) for n in ir.names(atom)):
                raise self.error(f"has no derivative for the argument `{param}`")

    def run(self) -> ir.Block:
        """The statements of the adjoint."""
        if self.result is None and self.rule.mutates is None:
            return ()
        self._note_written()
        self.block(self._recomputed())
        self.block(self.template.below)
        self.undo()
        return _without_dead(tuple(self.out), self.called)

    def _note_written(self) -> None:
        """Note that the adjoint of what a call writes into is complex where that is.

        What comes from there to a real operand is made real (`z[i] = abs(z[i])`).
        """
        written = self.env.get(str(self.rule.mutates))
        if isinstance(written, ir.Name) and self.active(written.id):
            if self.folder.is_complex(written):
                self.folder.complex.add(self.facts.adjoint(written.id).id)

    def undo(self) -> None:
        """Behind `x[i] = old` lines read `x` as it was before the call."""
        if self.restored is None or any(isinstance(s, ir.Undo) for s in self.out):
            return
        written = self.env[str(self.rule.mutates)]
        later = tuple(s for s in self.out[self.restored :] if not isinstance(s, ir.Demand))
        if set(ir.names(written)) & ir.used(later):
            self.out.insert(self.restored, ir.Undo(self.loc))

    def _recomputed(self) -> ir.Block:
        """The lines above the `yield` whose results are read below it."""
        known = set(self.env)
        below = tuple(s for s in self.template.below if not self._restores(s))
        wanted = set(ir.used(below)) - known
        lines: list[ir.Stmt] = []
        for stmt in reversed(self.template.above):
            mine = ir.bound((stmt,))
            if mine & wanted:
                lines.append(stmt)
                wanted |= ir.used((stmt,)) - known
        if lines and self.rule.mutates is not None:
            lines.append(ir.Undo(self.loc))
        return tuple(reversed(lines))

    def _restores(self, stmt: ir.Stmt) -> bool:
        """Whether a line puts an argument back as it was: the tape does that where it is needed."""
        return isinstance(stmt, ir.SetItem) and stmt.base.id == self.rule.mutates

    # --- atoms and right-hand sides ---

    def atom(self, atom: ir.Atom) -> ir.Atom:
        """An atom of the template, in the names of the function."""
        new = ir.map_atom(self._name, atom)
        if isinstance(new, ir.Slice) and isinstance(atom, ir.Slice):
            return part_of(new.lower, new.upper, new.step)
        return ir.Tup(spliced(new.items)) if isinstance(new, ir.Tup) else new

    def _name(self, name: ir.Name) -> ir.Atom:
        primal = adjoint_of(name.id)
        if primal is not None:
            return self._adjoint(primal)
        if name.id not in self.env:
            raise AssertionError(f"`{name.id}` is not bound in the template {self.rule.name}")
        return self.env[name.id]

    def _adjoint(self, primal: str) -> ir.Atom:
        """`d[primal]` where it is read."""
        if primal in self.parts:
            return self.parts[primal]
        atom = self.env[primal]
        if not isinstance(atom, ir.Name) or not self.active(atom.id):
            return ir.Const(0.0)
        return self.facts.adjoint(atom.id)

    def rhs(self, rhs: ir.Rhs) -> ir.Rhs:
        """A right-hand side of the template, folded."""
        if isinstance(rhs, ir.Call):
            if rhs.fn is arrays.unbroadcast:
                return self._explicit_unbroadcast(rhs)
            if rhs.fn is notation.ignored:
                return ir.Const(rhs.args[0] in self.ignored)
            if rhs.fn is notation.active:
                return self.places(self.atom(rhs.args[0]))
            args = tuple(map(self.atom, rhs.args))
            kwargs = tuple((k, self.atom(v)) for k, v in rhs.kwargs)
            if isinstance(rhs.fn, ir.Name):
                return self.applied(self.atom(rhs.fn), args)
            return self.folder.call(ir.Call(rhs.fn, args, kwargs, rhs.text))
        if isinstance(rhs, ir.Opaque):
            raise self.misused(f"uses `{rhs.text}`, which cannot stand in a template", self.line)
        return self.atom(rhs)

    def places(self, atom: ir.Atom) -> ir.Tup:
        """The positions of what is active among several arguments."""
        if isinstance(atom, ir.Tup) and not any(isinstance(a, ir.Star) for a in atom.items):
            found = [any(map(self.active, ir.names(a))) for a in atom.items]
        elif any(map(self.active, ir.names(atom))):
            kinds = getattr(self.folder.kind(atom), "items", None)
            if kinds is None or isinstance(atom, ir.Tup):
                raise self.error("needs to know how many arguments it passes on")
            found = [is_active_kind(kind) for kind in kinds]
        else:
            found = []
        return ir.Tup(tuple(ir.Const(k) for k, is_active in enumerate(found) if is_active))

    def applied(self, fn: ir.Atom, args: tuple[ir.Atom, ...]) -> ir.Call:
        """A call of a function that is an argument."""
        inner = (a.value.items if isinstance(a, ir.Star) and isinstance(a.value, ir.Tup) else (a,)
                 for a in args)  # fmt: skip
        args = tuple(atom for items in inner for atom in items)
        if isinstance(fn, ir.Ref):
            self.called.add(fn.value)
            return ir.Call(fn.value, args, text=fn.text)
        assert isinstance(fn, ir.Name), "a function is a name"
        self.called.add(fn)
        return ir.Call(fn, args)

    def _explicit_unbroadcast(self, call: ir.Call) -> ir.Rhs:
        """`unbroadcast(d[z], x)` with what is known of `z`; of anything else, as it stands."""
        value, x = (self.atom(a) for a in call.args)
        if self.result is not None and value == self._result_adjoint():
            return self.folder.unbroadcast(value, x, self.folder.kind(self.result), None)
        return ir.Call(call.fn, (value, x), text=call.text)

    def _result_adjoint(self) -> ir.Atom | None:
        if self.result is None or self.result.id not in self.facts.adjoints:
            return None
        return self.facts.adjoint(self.result.id)

    # --- statements ---

    def block(self, block: ir.Block) -> None:
        """Write the statements of a block of the template."""
        for stmt in block:
            self.one(stmt)

    def one(self, stmt: ir.Stmt) -> None:
        """Write one statement of the template."""
        self.line = stmt.loc
        if isinstance(stmt, ir.Assign):
            self.assign(stmt)
        elif isinstance(stmt, ir.Accum):
            self.accumulate(stmt)
        elif isinstance(stmt, ir.SetItem):
            self.set_item(stmt)
        elif isinstance(stmt, ir.Effect):
            self.effect(stmt)
        elif isinstance(stmt, ir.If):
            self.branch(stmt)
        elif isinstance(stmt, ir.For):
            self.loop(stmt)
        elif isinstance(stmt, ir.Undo):
            self.out.append(stmt)
        elif not isinstance(stmt, (ir.Demand, ir.Comment)):
            raise self.misused("uses a statement that cannot stand in a template", self.line)

    def assign(self, stmt: ir.Assign) -> None:
        """`name = value`: known values and other names need no statement."""
        name = stmt.target.id
        primal = adjoint_of(name)
        if primal is not None:
            self.store(primal, ir.Const(...), self.value(stmt.rhs), None)
            return
        rhs = self.rhs(stmt.rhs)
        if name in self.fixed:
            self.out.append(ir.Assign(self.fixed[name], rhs, self.loc))
            self.env[name] = self.fixed[name]
        elif isinstance(rhs, ir.Call) or rhs in self.fixed.values():
            self.env[name] = self.temp(rhs, "_t" if name.startswith("_") else f"_{name}")
        else:
            self.env[name] = rhs  # type: ignore[assignment]

    def value(self, rhs: ir.Rhs) -> ir.Atom:
        """A right-hand side of the template as an atom."""
        found = self.rhs(rhs)
        return self.temp(found) if isinstance(found, ir.Call) else found  # type: ignore[return-value]

    def branch(self, stmt: ir.If) -> None:
        """An `if`: the branch that is taken, where that is known."""
        test = self.atom(stmt.test)
        known = self.folder.static(test)
        if known is not UNSET:
            self.block(stmt.body if known else stmt.orelse)
            return
        assert isinstance(test, ir.Name)
        both = ir.bound(stmt.body) & ir.bound(stmt.orelse)
        fixed = self.fix((ir.bound(stmt.body) | ir.bound(stmt.orelse)) & (both | set(self.env)))
        body, orelse = self.inner(stmt.body, fixed), self.inner(stmt.orelse, fixed)
        self.out.append(ir.If(test, body, orelse, self.loc))
        self.env.update(fixed)

    def fix(self, names: frozenset[str] | set[str]) -> dict[str, ir.Name]:
        """Variables for the names that run-time control flow binds, with their present values."""
        found: dict[str, ir.Name] = {}
        for name in sorted(n for n in names if adjoint_of(n) is None):
            if name in self.fixed:  # by the control flow around this: the same variable
                found[name] = self.fixed[name]
                continue
            found[name] = self.facts.fresh(f"_{name.lstrip('_')}")
            if name in self.env:
                self.out.append(ir.Assign(found[name], self.env[name], self.loc))
        return found

    def inner(self, block: ir.Block, fixed: dict[str, ir.Name]) -> ir.Block:
        """The statements of a block that runs or not, or many times."""
        saved = self.out, dict(self.env), self.fixed
        self.out, self.fixed = [], {**self.fixed, **fixed}
        self.env.update({n: v for n, v in fixed.items() if n in self.env})
        self.block(block)
        found = tuple(self.out)
        self.out, self.env, self.fixed = saved
        return found

    def loop(self, stmt: ir.For) -> None:
        """A loop over a range: written out where its items are known."""
        assert isinstance(stmt.iter, ir.Call) and stmt.iter.fn is range
        args = tuple(map(self.atom, stmt.iter.args))
        known = [self.folder.static(a) for a in args]
        if not any(k is UNSET for k in known):
            for value in range(*known):
                self.env[stmt.target.id] = ir.Const(value)
                self.block(stmt.body)
            return
        fixed = self.fix(ir.bound(stmt.body) & set(self.env))
        target = self.facts.fresh("_k")
        self.env[stmt.target.id] = target
        self.folder.kinds[target.id] = Scalar("int64")
        body = self.inner(stmt.body, fixed)
        # A buffer is made once, before the loop that writes into it.
        self.out += [s for s in body if isinstance(s, ir.Demand)]
        rest = tuple(s for s in body if not isinstance(s, ir.Demand))
        if rest:
            steps = ir.Call(range, args, text="range")
            self.out.append(ir.For(target, steps, rest, None, self.loc))
        self.env.update(fixed)

    def effect(self, stmt: ir.Effect) -> None:
        """A call that writes into an adjoint, or a refusal."""
        call = stmt.rhs
        assert isinstance(call, ir.Call)
        if call.fn is notation.refuse:
            raise self.error(f"does not cover this call: {self.folder.static(call.args[0])}")
        base = call.args[0]
        primal = adjoint_of(base.id) if isinstance(base, ir.Name) else None
        if primal is None:
            raise self.misused("calls a function for an effect on no adjoint", self.line)
        target = self.env[primal]
        if not isinstance(target, ir.Name) or not self.active(target.id):
            return
        self.demand(target)
        args = tuple(map(self.atom, call.args))
        kwargs = tuple((k, self.atom(v)) for k, v in call.kwargs)
        self.out.append(ir.Effect(ir.Call(call.fn, args, kwargs, call.text), self.loc))

    # --- writing into adjoints ---

    def accumulate(self, stmt: ir.Accum) -> None:
        """`d[x] += value`."""
        primal = adjoint_of(stmt.target.id)
        assert primal is not None
        self.add(self.env[primal], self.atom(stmt.value), primal)

    def set_item(self, stmt: ir.SetItem) -> None:
        """`d[x][i] += value`, `d[x][i] = value` and `d[x] *= value`."""
        if self._restores(stmt):
            self.restored = len(self.out)
            return
        primal = adjoint_of(stmt.base.id)
        if primal is None:
            raise self.misused("writes into something that is not an adjoint", self.line)
        index = None if stmt.index is None else self.atom(stmt.index)
        self.store(primal, index, self.atom(stmt.value), stmt.op)


def _without_dead(block: ir.Block, called: Container[object]) -> ir.Block:
    """A block without the assignments that nothing after them reads."""
    kept: list[ir.Stmt] = []
    wanted: set[str] = set()
    for stmt in reversed(block):
        if isinstance(stmt, ir.Assign) and stmt.target.id not in wanted:
            if _is_pure(stmt.rhs) or stmt.rhs.fn in called:  # type: ignore[union-attr]
                continue
        if isinstance(stmt, (ir.If, ir.For)) and not _matters(stmt, wanted):
            continue
        wanted |= ir.used((stmt,))
        kept.append(stmt)
    return tuple(reversed(kept))


def _is_pure(rhs: ir.Rhs) -> bool:
    return not isinstance(rhs, ir.Call) or is_pure(rhs.fn)


def _matters(stmt: ir.If | ir.For, wanted: set[str]) -> bool:
    """Whether a branch or loop does more than bind names that nobody reads."""
    inner = [s for s in ir.walk((stmt,)) if not isinstance(s, (ir.If, ir.For))]
    return any(not isinstance(s, ir.Assign) or s.target.id in wanted for s in inner)
