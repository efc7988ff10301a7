"""One template at one call: its parameters bound, its names made fresh, what is known folded away.

`expand` gives the adjoint statements of a call in the order in which they run.  The lines below
the `yield` are run through once, statement by statement, with what is known of the arguments: an
`if` that is decided disappears, a loop over known items is written out, and lines that only serve
arguments without a derivative are left out.  The `Expander` walks through the lines; the `Writer`
holds what is written: temporaries, and contributions to the adjoints of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Union

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.containers import Lines, add_item
from srcdiff.errors import InternalError, MissingRuleError, TransformError, refused
from srcdiff.frontend.lowering import adjoint_of, mentioned, template_of
from srcdiff.frontend.signatures import spliced
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import surely
from srcdiff.kinds.complexes import is_complex_kind
from srcdiff.primitives.effects import is_pure, numbered
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.primitives.registry import Bound
from srcdiff.runtime import arrays, trees
from srcdiff.specialize.fold import UNSET, Folder, part_of

Statement = Union[ir.Assign, ir.Effect, ir.Store]


@frozen
class Holder:
    """A list or tuple whose items are added to: its adjoint, one like it, and if that is shared.

    The adjoint is shared if it is a shadow, a variable of the forward part.
    """

    adjoint: ir.Name
    like: ir.Atom
    shared: bool


class Writer(Lines):
    """The statements written so far, for one call with its rule."""

    def __init__(self, bound: Bound, stmt: Statement, facts: Facts) -> None:
        super().__init__(facts, stmt.loc)
        self.bound, self.stmt = bound, stmt
        self.rule = bound.rule
        self.env: dict[str, ir.Atom] = dict(bound.args)
        rhs = None if isinstance(stmt, ir.Store) else stmt.rhs
        scalar_math = type(rhs) is ir.Call and op_of(rhs.fn).name.partition(".")[0] == "math"
        kinds = _without_none(rhs, facts.kinds)
        device = facts.target.on_device
        self.folder = Folder(
            kinds, self.temp, device, scalar_math, facts.complex, facts.places
        )
        self.result: ir.Name | None = None

    def active(self, name: str) -> bool:
        """Whether a name carries a derivative."""
        return name in self.facts.active

    def error(self, what: str) -> TransformError:
        """The located error for a call that the rule does not cover."""
        name = self.bound.name
        return refused("callees.rule", self.loc, MissingRuleError, name=name, what=what)

    def misused(self, what: str, line: ir.Loc) -> TransformError:
        """The error for a line of the template that says nothing about derivatives."""
        return refused("callees.template", line, name=self.bound.name, what=what)

    def temp(self, rhs: ir.Rhs, base: str = "_t") -> ir.Name:
        """A new name for a value."""
        name = super().temp(rhs, base)
        self.folder.note(name, rhs)
        return name

    # --- contributions ---

    def contribute(self, target: ir.Atom, value: ir.Atom) -> None:
        """Add a value to the adjoint of an argument, item by item where that is a sequence."""
        if type(value) is ir.Const or not any(map(self.active, ir.names(target))):
            return
        if type(target) is ir.Tup:
            for key, item in numbered(target.items):
                if any(map(self.active, ir.names(item))):
                    self.contribute(item, self.item(value, key))
            return
        assert type(target) is ir.Name
        kind = self.folder.kind(target)
        if isinstance(kind, (ir.List, ir.Tuple)):
            self.add_items(self.holder(target), kind, value)
            return
        self.give(target, self.fitted(value, target))

    def fitted(self, value: ir.Atom, target: ir.Name) -> ir.Atom:
        """A contribution in the shape of its operand, and real where that is."""
        if self.rule.flavour == "elementwise" and self.result is not None:
            kind = self.folder.kind(self.result)
            if self.facts.strong and self._reads_primal(value):
                args = (self.facts.adjoint(self.result.id), value)
                value = self.temp(ir.Call(trees.where_nonzero, args))
            if id(self.stmt) in self.facts.alike and ir.dims_of(self.folder.kind(target)) != ():
                return self.real_part(value, self.folder.kind(target), lambda: target)
            others = [a for a in self.bound.args.values() if a not in (target, ir.NONE)]
            kinds = [self.folder.kind(a) for a in others]
            value = self.folder.unbroadcast(value, target, kind, kinds)
        return self.real_part(value, self.folder.kind(target), lambda: target)

    def real_part(self, value: ir.Atom, kind: ir.Kind, like: Callable[[], ir.Atom]) -> ir.Atom:
        """A contribution to something of a kind, real where that is; `like` gives what it is to."""
        kind = ir.sure(kind)
        known = not ir.is_numeric(kind) and kind != ir.UNKNOWN  # as something else than a number
        if known or is_complex_kind(kind) or not self.folder.is_complex(value):
            return value
        if ir.is_real(kind):
            return self.temp(ir.Call(np.real, (value,), text="np.real"))
        return self.temp(ir.Call(arrays.real_like, (value, like())))

    def _reads_primal(self, value: ir.Atom) -> bool:
        """Whether a contribution is more than a multiple of the cotangent by a literal."""
        assert self.result is not None
        wanted = set(ir.names(value))
        for stmt in reversed(self.out):
            if type(stmt) is ir.Assign and stmt.target.id in wanted:
                wanted = (wanted - {stmt.target.id}) | set(ir.names(stmt.rhs))
        return wanted != {self.facts.adjoint(self.result.id).id}

    def holder(self, target: ir.Name) -> Holder:
        """What the items of a list or tuple are added to."""
        return Holder(self.demand(target), target, target.id in self.facts.shadowed)

    def add_items(self, to: Holder, kind: ir.List | ir.Tuple, value: ir.Atom) -> None:
        """Add the items of an array to those of the adjoint of a list."""
        if kind.items is not None:
            for k, item in enumerate(kind.items):
                self.add_item(to, ir.Const(k), item, self.item(value, ir.Const(k)))
            return
        inner = kind.item if type(kind) is ir.List and kind.item is not None else ir.UNKNOWN
        count = self.fresh("_k")
        body, _ = self.collect(lambda: self.add_item(to, count, inner, self.item(value, count)))
        length = self.temp(ir.Call(len, (to.like,), text="len"), "_n")
        loop = ir.Call(range, (length,), text="range")
        self.out.append(ir.For(count, loop, body, None, self.loc))

    def add_item(self, to: Holder, key: ir.Atom, kind: ir.Kind, value: ir.Atom) -> None:
        """Add a value to the adjoint of an item of a given kind."""
        if isinstance(kind, (ir.List, ir.Tuple)):
            inner = self.item(to.like, key) if self.folder.is_complex(value) else value
            self.add_items(Holder(self.item(to.adjoint, key), inner, to.shared), kind, value)
            return
        value = self.real_part(value, kind, lambda: self.item(to.like, key))
        if ir.is_numeric(kind) and getattr(kind, "dtype", None) is not None:
            if ir.is_active_kind(kind):
                self.add(to.adjoint, key, value)
        elif to.shared:
            self.effect(trees.add_shared, to.adjoint, key, value)
        else:  # what may be an integer need not have an adjoint
            add_item(self, to.adjoint, key, value, plain=False)

    def store_adjoint(self, primal: str, store: ir.Store) -> None:
        """A store into the adjoint of an argument, or into that of an item of a display."""
        target, index, value = self.env[primal], store.index, store.value
        adds = type(store) is ir.AugAssign and store.op == "+"
        if type(target) is ir.Tup:
            at = None if index is None else self.folder.static(index)
            if not adds or not isinstance(at, int):
                raise self.error("needs to know which item of a sequence is meant")
            self.contribute(target.items[at], value)
            return
        if type(target) is not ir.Name or not self.active(target.id):
            return
        kind = self.folder.kind(target)
        if adds and type(value) is ir.Const:
            return
        if isinstance(kind, (ir.List, ir.Tuple)) and index is not None:
            self.add_item(self.holder(target), index, self.item_kind(kind, index), value)
        else:
            self.out.append(replace(store, base=self.demand(target), loc=self.loc))

    def item_kind(self, kind: ir.List | ir.Tuple, index: ir.Atom) -> ir.Kind:
        """The kind of an item of a sequence."""
        at = self.folder.static(index)
        if kind.items is not None and isinstance(at, int):
            return kind.items[at]
        return getattr(kind, "item", None) or ir.UNKNOWN


def _without_none(rhs: ir.Rhs | None, kinds: Mapping[str, ir.Kind]) -> Mapping[str, ir.Kind]:
    """The kinds of names where a call has succeeded: of its operands, not None."""
    names = [a for a in getattr(rhs, "args", ()) if type(a) is ir.Name]
    if type(rhs) is not ir.Call or len(names) < len(rhs.args):
        return kinds
    found = [kinds.get(n.id, ir.UNKNOWN) for n in names]
    better = surely(rhs.fn, found)
    return kinds if better is found else {**kinds, **{n.id: k for n, k in zip(names, better)}}


# --- the walk through the lines of a template ----------------------------------------------------


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
        if type(stmt) is ir.Assign:
            self._bind_result(stmt.target)

    def _bind_result(self, target: ir.Name) -> None:
        """Bind what the template yields to the target of the statement."""
        result, facts = self.template.result, self.facts
        self.result = target
        if not facts.parts and target.id not in facts.adjoints:
            return
        if not facts.parts:
            self.folder.own[facts.adjoint(target.id).id] = self.folder.kind(target)
        if type(result) is ir.Name:
            self.env[result.id] = target
        elif type(result) is ir.Tup:
            for k, item in enumerate(result.items):
                self._bind_part(item, k, target)
        else:
            raise self.misused("yields nothing, and its result is used", self.line)

    def _bind_part(self, item: ir.Atom, k: int, target: ir.Name) -> None:
        """Bind one of several values, to the name that it is unpacked to if it is at once."""
        assert type(item) is ir.Name, "a template yields names"
        parts, name = self.facts.parts, self.facts.parts.get(k)
        value = self.item(target, ir.Const(k)) if name is None else ir.Name(name)
        if not parts:
            adjoint = self.item(self.facts.adjoint(target.id), ir.Const(k))
        elif name is not None and self.active(name):
            adjoint = self.facts.adjoint(name)
        else:
            # Folded away where nothing reads it.
            adjoint = self.temp(ir.Call(np.zeros_like, (value,), text="np.zeros_like"))
            self.ignored.add(item)
        self.env[item.id], self.parts[item.id] = value, adjoint
        kinds = getattr(self.folder.kind(target), "items", None)
        if kinds is not None and k < len(kinds):
            self.folder.own.update({value.id: kinds[k], adjoint.id: kinds[k]})

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
        if type(written) is ir.Name and self.active(written.id):
            if self.folder.is_complex(written):
                self.folder.complex.add(self.facts.adjoint(written.id).id)

    def undo(self) -> None:
        """Behind `x[i] = old` lines read `x` as it was before the call."""
        if self.restored is None or any(type(s) is ir.Undo for s in self.out):
            return
        written = self.env[str(self.rule.mutates)]
        later = tuple(s for s in self.out[self.restored :] if type(s) is not ir.Demand)
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
        written = self.rule.mutates
        return written is not None and isinstance(stmt, ir.Store) and stmt.base.id == written

    # --- atoms and right-hand sides ---

    def atom(self, atom: ir.Atom) -> ir.Atom:
        """An atom of the template, in the names of the function."""
        if type(atom) is ir.Name:
            new = self._name(atom)
        elif type(atom) is ir.Const:
            return atom
        else:
            new = ir.map_atom(self._name, atom)
        if type(new) is ir.Slice and type(atom) is ir.Slice:
            return part_of(new.lower, new.upper, new.step)
        return ir.Tup(tuple(spliced(new.items))) if type(new) is ir.Tup else new

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
        if type(atom) is not ir.Name or not self.active(atom.id):
            return ir.Const(0.0)
        return self.facts.adjoint(atom.id)

    def rhs(self, rhs: ir.Rhs) -> ir.Rhs:
        """A right-hand side of the template, folded."""
        if type(rhs) is ir.Call:
            op = which_op(rhs)
            if op is Op.UNBROADCAST:
                return self._explicit_unbroadcast(rhs)
            if op is Op.IGNORED:
                return ir.Const(rhs.args[0] in self.ignored)
            if op is Op.APART:
                return ir.Const(self.are_apart(*map(self.atom, rhs.args)))
            if op is Op.POS:  # a sign that a family is given
                return self.atom(rhs.args[0])
            if op is Op.ACTIVE:
                return self.places(self.atom(rhs.args[0]))
            args = tuple(map(self.atom, rhs.args))
            if type(rhs.fn) is ir.Name:
                return self.applied(self.atom(rhs.fn), args)
            return self.folder.call(ir.Call(rhs.fn, args, self.named(rhs), rhs.text, rhs.role))
        if isinstance(rhs, ir.Opaque):
            raise self.misused(f"uses `{rhs.text}`, which cannot stand in a template", self.line)
        return self.atom(rhs)

    def named(self, call: ir.Call) -> tuple[tuple[str, ir.Atom], ...]:
        """The arguments by name, those of `**options` among them, which `bind` has as a dict."""
        found: list[tuple[str, ir.Atom]] = []
        for name, value in call.kwargs:
            given: object = self.atom(value)
            items = given.args if type(given) is ir.Call else (ir.Const(name), self.atom(value))
            found += [(str(self.folder.static(k)), v) for k, v in zip(items[::2], items[1::2])]
        return tuple(found)

    def places(self, atom: ir.Atom) -> ir.Tup:
        """The positions of what is active among several arguments."""
        if type(atom) is ir.Tup and not any(type(a) is ir.Star for a in atom.items):
            found = [any(map(self.active, ir.names(a))) for a in atom.items]
        elif any(map(self.active, ir.names(atom))):
            kinds = getattr(self.folder.kind(atom), "items", None)
            if kinds is None or type(atom) is ir.Tup:
                raise self.error("needs to know how many arguments it passes on")
            found = [ir.is_active_kind(kind) for kind in kinds]
        else:
            found = []
        return ir.Tup(tuple(ir.Const(k) for k, is_active in enumerate(found) if is_active))

    def applied(self, fn: ir.Atom, args: tuple[ir.Atom, ...]) -> ir.Call:
        """A call of a function that is an argument."""
        args = tuple(spliced(args))
        if type(fn) is ir.Ref:
            self.called.add(fn.value)
            return ir.Call(fn.value, args, text=fn.text)
        assert type(fn) is ir.Name, "a function is a name"
        self.called.add(fn)
        return ir.Call(fn, args)

    def _explicit_unbroadcast(self, call: ir.Call) -> ir.Rhs:
        """`unbroadcast(d[z], x)` with what is known of `z`; of anything else, as it stands."""
        value, x = (self.atom(a) for a in call.args)
        result = self.result
        if result is not None and value == ir.Name(self.facts.adjoints.get(result.id, "")):
            return self.folder.unbroadcast(value, x, self.folder.kind(result), None)
        return ir.Call(call.fn, (value, x), text=call.text)

    def are_apart(self, written: ir.Atom, other: ir.Atom) -> bool:
        """Whether what is written into certainly shares no memory with something else."""
        classes = self.facts.aliases.classes
        (mine,) = (classes.get(n) for n in ir.names(written))
        return mine is not None and all(classes.get(n) != mine for n in ir.names(other))

    # --- statements ---

    def block(self, block: ir.Block) -> None:
        """Write the statements of a block of the template."""
        for stmt in block:
            self.one(stmt)

    def one(self, stmt: ir.Stmt) -> None:
        """Write one statement of the template."""
        self.line = stmt.loc
        if type(stmt) is ir.Assign:
            self.assignment(stmt)
        elif type(stmt) is ir.Accum:
            self.accumulate(stmt)
        elif isinstance(stmt, ir.Store):
            self.set_item(stmt)
        elif type(stmt) is ir.Effect:
            self.effect_on(stmt)
        elif type(stmt) is ir.If:
            self.if_(stmt)
        elif type(stmt) is ir.For:
            self.for_(stmt)
        elif type(stmt) is ir.Undo:
            self.out.append(stmt)
        elif type(stmt) is not ir.Demand:
            raise self.misused("uses a statement that cannot stand in a template", self.line)

    def assignment(self, stmt: ir.Assign) -> None:
        """`name = value`: known values and other names need no statement."""
        name = stmt.target.id
        assert adjoint_of(name) is None, "an adjoint is added to, or stored into"
        rhs = self.rhs(stmt.rhs)
        if name in self.fixed:
            self.out.append(ir.Assign(self.fixed[name], rhs, self.loc))
            self.env[name] = self.fixed[name]
        elif type(rhs) is ir.Call or rhs in self.fixed.values():
            self.env[name] = self.temp(rhs, "_t" if ir.is_temporary(name) else f"_{name}")
        else:
            self.env[name] = rhs  # type: ignore[assignment]

    def if_(self, stmt: ir.If) -> None:
        """An `if`: the branch that is taken, where that is known."""
        test = self.atom(stmt.test)
        known = self.folder.static(test)
        if known is not UNSET:
            self.block(stmt.body if known else stmt.orelse)
            return
        assert type(test) is ir.Name
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

    def for_(self, stmt: ir.For) -> None:
        """A loop over a range: written out where its items are known."""
        assert is_op(stmt.iter, Op.RANGE)
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
        self.folder.own[target.id] = ir.Scalar("int64")
        body = self.inner(stmt.body, fixed)
        # A buffer is made once, before the loop that writes into it.
        self.out += [s for s in body if type(s) is ir.Demand]
        rest = tuple(s for s in body if type(s) is not ir.Demand)
        if rest:
            steps = ir.Call(range, args, text="range")
            self.out.append(ir.For(target, steps, rest, None, self.loc))
        self.env.update(fixed)

    def effect_on(self, stmt: ir.Effect) -> None:
        """A call that writes into an adjoint, or a refusal."""
        call = stmt.rhs
        assert type(call) is ir.Call
        if is_op(call, Op.REFUSE):
            raise self.error(f"does not cover this call: {self.folder.static(call.args[0])}")
        base = call.args[0]
        primal = adjoint_of(base.id) if type(base) is ir.Name else None
        if primal is None:
            raise self.misused("calls a function for an effect on no adjoint", self.line)
        target = self.env[primal]
        if type(target) is not ir.Name or not self.active(target.id):
            return
        self.demand(target)
        args = tuple(map(self.atom, call.args))
        self.out.append(ir.Effect(ir.Call(call.fn, args, self.named(call), call.text), self.loc))

    # --- writing into adjoints ---

    def accumulate(self, stmt: ir.Accum) -> None:
        """`d[x] += value`."""
        primal = adjoint_of(stmt.target.id)
        assert primal is not None
        self.contribute(self.env[primal], self.atom(stmt.value))

    def set_item(self, stmt: ir.Store) -> None:
        """`d[x][i] += value`, `d[x][i] = value` and `d[x] *= value`."""
        if self._restores(stmt):
            self.restored = len(self.out)
            return
        primal = adjoint_of(stmt.base.id)
        if primal is None:
            raise self.misused("writes into something that is not an adjoint", self.line)
        index = None if stmt.index is None else self.atom(stmt.index)
        self.store_adjoint(primal, replace(stmt, index=index, value=self.atom(stmt.value)))


def _without_dead(block: ir.Block, called: Container[object]) -> ir.Block:
    """A block without the assignments that nothing after them reads."""
    kept: list[ir.Stmt] = []
    wanted: set[str] = set()
    for stmt in reversed(block):
        if type(stmt) is ir.Assign and stmt.target.id not in wanted:
            callee = ir.callee_of(stmt)
            if callee is None or is_pure(callee) or callee in called:
                continue
        if isinstance(stmt, (ir.If, ir.For)) and not _matters(stmt, wanted):
            continue
        wanted.update(ir.used_in(stmt))
        kept.append(stmt)
    return tuple(reversed(kept))


def _matters(stmt: ir.If | ir.For, wanted: set[str]) -> bool:
    """Whether a branch or loop does more than bind names that nobody reads."""
    inner = [s for s in ir.walk((stmt,)) if not isinstance(s, (ir.If, ir.For))]
    return any(type(s) is not ir.Assign or s.target.id in wanted for s in inner)


# --- a template at a call ------------------------------------------------------------------------


def expand(bound: Bound, stmt: Statement, facts: Facts) -> ir.Block:
    """The adjoint of a statement by its rule, in run order."""
    if bound.rule.definition is not None:
        raise InternalError(f"the definition of {bound.name} is not written out", stmt)
    if bound.rule.template is None:
        return ()
    expander = Expander(bound, stmt, facts)
    expander.check_arguments()
    adjoint = expander.run()
    del expander.folder  # it refers to the expander: a cycle for the collector of garbage to find
    return adjoint
