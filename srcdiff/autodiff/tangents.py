"""The tangent of one call, by its rule.

A function that is linear is its own tangent.  The backward lines of an elementwise function are
`d[x] += d[z] * e`; they multiply element by element, so that `t_x * e` is the tangent.  Where a
rule says its tangent (`@forward`), that is it; of any other the backward lines, which are linear in
`d[z]`, are transposed.

`transposed` takes the adjoint statements of one call (`expand`) and the tangents of its operands;
it returns the statements that compute the tangent of its result.  The backward lines map `g`, the
adjoint of `z`, to those of the operands; run backwards, by the rules of the calls in them, they map
the tangents of the operands to that of `z`.  `g` and what depends on it have no value here: where
their shape is asked for, `z` stands in for `g`.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable as Function
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Union

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.links import JOINS
from srcdiff.autodiff.containers import Lines, may_join
from srcdiff.autodiff.expand.adjoint import expand
from srcdiff.autodiff.expand.tangent import Along, Tangent
from srcdiff.errors import InternalError, MissingRuleError, TransformError, refused
from srcdiff.frontend.lowering import differentiable, flows, template_of
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.normalize.decompose import in_full, inferred
from srcdiff.primitives.arguments import ALIASES, spelling
from srcdiff.primitives.effects import numbered, returns_view
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import Bound, Rule, find
from srcdiff.runtime import trees
from srcdiff.specialize.fold import Folder


def transposed(bound: Bound, stmt: ir.Assign, facts: Facts) -> tuple[ir.Block, ir.Atom | None]:
    """The statements that compute the tangent of a call's result, and the tangent (None: zero)."""
    work = _Transposition(bound, stmt, facts)
    for line in reversed(work.lines):
        work.one(line)
    found = work.several() if work.parts else work.total(work.result.id)
    return ir.rename(tuple(work.out), {work.result.id: stmt.target.id}), found


class _Transposition(Builder):
    """The backward lines of one call, and what is to be added to each adjoint in them."""

    def __init__(self, bound: Bound, stmt: ir.Assign, facts: Facts) -> None:
        super().__init__(facts.fresh, stmt.loc)
        self.name, self.stmt = bound.name, stmt
        self.result = self.fresh("_g")
        own = {n: self.fresh("_d").id for n in ir.names(stmt.rhs) if n in facts.active}
        self.tangents = {adjoint: facts.adjoint(n) for n, adjoint in own.items()}
        kinds = dict(facts.kinds)
        if stmt.target.id in kinds:  # the adjoint of a result is of its kind
            kinds[self.result.id] = kinds[stmt.target.id]
        inner = _with_adjoints(facts, {**own, stmt.target.id: self.result.id})
        self.lines = in_full(expand(bound, stmt, inner), kinds, self.fresh, facts.target)
        made = tuple(s for s in self.lines if isinstance(s, ir.Assign))
        self.facts = replace(facts, kinds={**kinds, **inferred(made, kinds, facts.target)})
        self.linear = self._linear(made)
        self.out += made
        self.parts = defaultdict[int, list[ir.Atom]](list)  # of a result that is a tuple
        self.sums = defaultdict[str, list[ir.Atom]](list)
        self.buffers: dict[str, ir.Name] = {}

    def _linear(self, made: tuple[ir.Assign, ...]) -> frozenset[str]:
        """The names that depend linearly on the adjoint of the result."""
        found = {self.result.id}
        for stmt in made:
            read = stmt.rhs
            atoms = flows(read, self.facts.kinds) if isinstance(read, ir.Call) else (read,)
            if any(n in found for a in atoms for n in ir.names(a)):
                found.add(stmt.target.id)
        return frozenset(found)

    def error(self, what: str) -> TransformError:
        """The refusal of a rule whose backward lines cannot be transposed."""
        why = f": its rule {what}"
        return refused("inputs.no_tangent", self.loc, MissingRuleError, name=self.name, why=why)

    def total(self, name: str) -> ir.Atom | None:
        """The sum of the contributions to a name, None for none."""
        found = self.sums.pop(name, [])
        if name in self.buffers:
            found.append(self.buffers.pop(name))
        return summed(found, self.temp)

    def several(self) -> ir.Atom:
        """The tangent of a result that is a tuple."""
        target = self.stmt.target
        kind = self.facts.kind(target)
        if not isinstance(kind, ir.Tuple) or kind.items is None:
            raise InternalError(f"nobody knows how many values {self.name} gives", self.stmt)
        items: list[ir.Atom] = []
        for k in range(len(kind.items)):
            value = summed(self.parts[k], self.temp)
            items.append(value or self.apply(trees.zeros_like, self.item(target, ir.Const(k))))
        return ir.Tup(tuple(items))

    # --- the backward lines, last first ---

    def one(self, stmt: ir.Stmt) -> None:
        """The transpose of one statement."""
        if isinstance(stmt, ir.Assign):
            value = self.total(stmt.target.id) if stmt.target.id in self.linear else None
            if value is not None:
                self.assignment(stmt, value)
        elif isinstance(stmt, ir.Accum):
            self.take(stmt.target.id, None, stmt.value)
        elif isinstance(stmt, ir.AugAssign) and stmt.op == "+":
            self.take(stmt.base.id, stmt.index, stmt.value)
        elif isinstance(stmt, ir.Effect) and is_op(stmt.rhs, Op.ADD_AT_UFUNC):
            base, index, added = stmt.rhs.args
            self.take(ir.names(base)[0], index, added)
        elif not isinstance(stmt, ir.Demand):
            raise self.error("has run-time control flow or writes over an adjoint")

    def take(self, target: str, index: ir.Atom | None, value: ir.Atom) -> None:
        """`d[x][i] += v`: what is to be added to v is the tangent of `x[i]`."""
        if not isinstance(value, ir.Name) or value.id not in self.linear:
            return
        tangent: ir.Atom = self.tangents[target]
        if index is not None:
            tangent = self.item(tangent, index)
        self.sums[value.id].append(tangent)

    def assignment(self, stmt: ir.Assign, value: ir.Atom) -> None:
        """`t = f(v)`: by the rule of f; `value` is what is to be added to t."""
        rhs = stmt.rhs
        if isinstance(rhs, ir.Name):
            self.sums[rhs.id].append(value)
        elif isinstance(rhs, ir.Tup):
            for key, item in numbered(rhs.items):
                if isinstance(item, ir.Name) and item.id in self.linear:
                    self.sums[item.id].append(self.item(value, key))
        elif isinstance(rhs, ir.Call) and self._is_part(rhs):
            at: Any = rhs.args[1]
            self.parts[at.value].append(value)
        elif isinstance(rhs, ir.Call):
            self.call_back(stmt, rhs, value)

    def _is_part(self, call: ir.Call) -> bool:
        """Whether a call takes one of several results."""
        several = isinstance(self.facts.kind(self.result), ir.Tuple)
        return several and is_op(call, Op.GETITEM) and call.args[0] == self.result

    def call_back(self, stmt: ir.Assign, call: ir.Call, value: ir.Atom) -> None:
        """The adjoint of a call in the backward lines, for the names that depend on `g`."""
        held = value if isinstance(value, ir.Name) else self.temp(value)
        own = {n: self.fresh("_a").id for n in ir.names(call) if n in self.linear}
        facts = _with_adjoints(self.facts, {**own, stmt.target.id: held.id})
        back = {a: n for n, a in own.items()}
        for inner in expand(find(call, facts.kinds, self.loc), stmt, facts):
            self.back(inner, back)

    def back(self, stmt: ir.Stmt, back: Mapping[str, str]) -> None:
        """A statement of the adjoint of a call in the backward lines."""
        if isinstance(stmt, ir.Accum):
            self.sums[back[stmt.target.id]].append(stmt.value)
        elif isinstance(stmt, ir.Demand):
            self.buffer(back[stmt.target.id])
        elif isinstance(stmt, (ir.Assign, ir.Store, ir.Effect)):
            new = {a: self.buffers[n].id for a, n in back.items() if n in self.buffers}
            self.out += ir.rename((stmt,), new)
        else:
            raise self.error("needs run-time control flow")

    def buffer(self, name: str) -> None:
        """Zeros of the shape of a name, to be added to."""
        if name not in self.buffers:
            several = not isinstance(self.facts.kinds.get(name), (ir.Array, ir.Scalar))
            zeros = trees.zero_tree if several else np.zeros_like
            self.buffers[name] = self.temp(ir.Call(zeros, (ir.Name(name),)))


def summed(
    values: list[ir.Atom], temp: Function[[ir.Rhs], ir.Name], add: Any = operator.add
) -> ir.Atom | None:
    """The sum of some values, None for none."""
    return reduce(lambda a, b: temp(ir.Call(add, (a, b))), values) if values else None


# --- the tangent of one call, by its rule --------------------------------------------------------


class Scribe(Lines):
    """The statements written so far, at one place, with the tangents of what they read."""

    def tangent(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of an atom: zero where it carries no derivative."""
        if isinstance(atom, ir.Name) and atom.id in self.facts.active:
            return self.facts.adjoint(atom.id)
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(map(self.tangent, atom.items)))
        if isinstance(atom, ir.Star):
            return ir.Star(self.tangent(atom.value))
        return self.zero(atom)

    def zero(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of something constant."""
        if isinstance(atom, ir.Const):
            number = isinstance(atom.value, (int, float, complex))
            return ir.Const(0.0) if number else ir.NONE
        kind = self.facts.kind(atom)
        if isinstance(kind, ir.Scalar):
            return ir.Const(0.0)
        if isinstance(kind, (ir.NoneKind, ir.Text, ir.Callable, ir.SliceKind)):
            return ir.NONE
        plain = isinstance(kind, ir.Array) and not kind.maybe_scalar
        return self.temp(ir.Call(np.zeros_like if plain else trees.zeros_like, (atom,)))


def joins(call: ir.Call, facts: Facts) -> bool:
    """`xs + ys` and `xs * 3`: whether an operand is a list or tuple, or `+` may be of two."""
    if not is_op(call, *JOINS):
        return False
    kinds = [atom_kind(a, facts.kinds) for a in call.args]
    if any(map(ir.is_container, kinds)):
        return not any(_makes_array(call, k) for k in kinds)
    constant = any(not set(ir.names(a)) & facts.active for a in call.args)
    return is_op(call, Op.ADD) and constant and facts.sampled and may_join(call, facts.kinds)


def _makes_array(call: ir.Call, kind: ir.Kind) -> bool:
    """Whether `+` or `*` of a list and something of this kind is an array."""
    if isinstance(kind, ir.Scalar):
        return is_op(call, Op.ADD) or (ir.is_float(kind) and not kind.python)
    return isinstance(kind, ir.Array)


def call_tangent(stmt: ir.Assign, call: ir.Call, scribe: Scribe, written: bool) -> ir.Rhs | None:
    """The tangent of a call's result, None for zero; `written`: it must be memory of its own."""
    facts, start = scribe.facts, len(scribe.out)
    bound = find(call, facts.kinds, stmt.loc)
    if bound.rule.template is None:
        return None
    if bound.rule.tangent is not None or bound.rule.flavour == "linear":
        here = lines_here(bound, stmt, facts)
        if not here:
            return None
        if bound.rule.tangent is not None:
            total = written_tangent(bound, stmt, scribe)
            return _apart(total, stmt, call, scribe, start, written)
        # What may be cut off to whole numbers is so in an adjoint, but not in a tangent.
        if not any(is_op(ir.call_of(s), Op.UNCUT) for s in ir.walk(here)):
            return mirrored(call, bound.rule, scribe)
    several = isinstance(template_of(bound.rule).result, ir.Tup)
    elementwise = bound.rule.flavour == "elementwise" and not several
    if elementwise:
        _check_displays(call, scribe)
    if elementwise and not _is_complex(stmt, call, facts):
        total = _elementwise(bound, stmt, call, scribe)
    else:
        lines, total = transposed(bound, stmt, facts)
        scribe.out += lines
    if written and isinstance(total, ir.Name):
        check_own_memory(stmt, call, facts)
        return _copied(total)
    return _apart(total, stmt, call, scribe, start, written)


def _check_displays(call: ir.Call, scribe: Scribe) -> None:
    """Refuse displays of values with tangents where a rule has none but for arrays."""
    shown = {n for a in call.args if isinstance(a, ir.Tup) for n in ir.names(a)}
    if shown & scribe.facts.active:
        raise refused("inputs.display_tangent", scribe.loc, callee=spelling(call))


def _apart(
    total: ir.Atom | None, stmt: ir.Assign, call: ir.Call, scribe: Scribe, start: int, written: bool
) -> ir.Rhs | None:
    """The tangent of `z = x + 1`, which is that of x: a copy where something writes into x or z.

    The lines of the call begin at `start`.
    """
    facts, kind = scribe.facts, scribe.facts.kind(stmt.target)
    active = {n for n in ir.names(call) if n in facts.active}
    names = active if written else active & facts.aliases.classes.keys()
    if total is None or ir.is_scalar(kind) or names & _may_share(call, facts):
        return total  # as the value is a view
    shared = {facts.adjoint(n).id for n in names}
    for line in scribe.out[start:]:
        if isinstance(line, ir.Assign) and _may_share(line.rhs, facts) & shared:
            shared.add(line.target.id)
    if isinstance(total, ir.Tup):
        items = (scribe.temp(_copied(a)) if shared & {*ir.names(a)} else a for a in total.items)
        return ir.Tup(tuple(items))
    copied = isinstance(total, ir.Name) and total.id in shared
    return _copied(total) if copied and not ir.is_container(kind) else total


def _copied(atom: ir.Atom) -> ir.Call:
    """Memory of its own for a tangent."""
    return ir.Call(np.array, (atom,), text="np.array")


def _may_share(rhs: ir.Rhs, facts: Facts) -> set[str]:
    """The names whose memory a value may be, or be a view of."""
    if not isinstance(rhs, ir.Call):
        return {*ir.names(rhs)}
    return {n for atom in returns_view(rhs, facts.kinds) for n in ir.names(atom)}


def check_own_memory(stmt: ir.Assign, call: ir.Call, facts: Facts) -> None:
    """Refuse a tangent of its own for what may be a part of an array that is written into."""
    viewed = [n for a in returns_view(call, facts.kinds) for n in ir.names(a) if n in facts.active]
    if viewed and stmt.target.id not in facts.aliases.copies:
        what = f"{ir.said(stmt.target.id)} may be a view of {ir.said(viewed[0])}"
        raise refused("memory.unclear", stmt.loc, what=what)


def _is_complex(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a complex number may be involved: backward lines conjugate its factors."""
    device, mixed = facts.target.on_device, facts.complex
    folder = Folder(facts.kinds, lambda rhs: ir.Name("_"), device, mixed=mixed)
    return any(folder.is_complex(ir.Name(n)) for n in (stmt.target.id, *ir.names(call)))


def lines_here(bound: Bound, stmt: ir.Assign | ir.Effect, facts: Facts) -> ir.Block:
    """The backward lines of the rule for this call (it may refuse it), none on purpose."""
    names = {n for o in ir.operands(stmt) for n in ir.names(o) if n in facts.active}
    names |= {*ir.writes(stmt)}
    own = {n: facts.fresh("_d").id for n in sorted(names)}
    return expand(bound, stmt, _with_adjoints(facts, own))


def _with_adjoints(facts: Facts, adjoints: Mapping[str, str]) -> Facts:
    """The facts in which just these names have adjoints."""
    return replace(facts, active=frozenset(adjoints), adjoints=adjoints)


# --- a function that is its own tangent --------------------------------------------------------


def mirrored(call: ir.Call, rule: Rule, scribe: Scribe) -> ir.Call:
    """A call with tangents in the places in which it is linear."""
    places = differentiable(rule) | ({rule.mutates} if rule.mutates else set())

    def one(atom: ir.Atom, role: str) -> ir.Atom:
        here = role in places or ALIASES.get(role) in places
        return scribe.tangent(atom) if here else atom

    args = tuple(one(a, role) for a, role in zip(call.args, _roles(call, rule)))
    kwargs = tuple((k, one(v, k or "")) for k, v in call.kwargs)
    return ir.Call(call.fn, args, kwargs, call.text, call.role)


def _roles(call: ir.Call, rule: Rule) -> list[str]:
    """The parameter of the template that each positional argument belongs to."""
    roles: list[str] = []
    for param in rule.params:
        if param.kind is param.VAR_POSITIONAL or param.name == rule.gather:
            roles += [param.name] * (len(call.args) - len(roles))
            break
        roles.append(param.name)
    return roles[: len(call.args)]


# --- elementwise functions ---------------------------------------------------------------------


def _elementwise(bound: Bound, stmt: ir.Assign, call: ir.Call, scribe: Scribe) -> ir.Atom | None:
    """The sum of the tangents of the operands, each times its derivative."""
    facts = scribe.facts
    operands = list(dict.fromkeys(n for n in ir.names(call) if n in facts.active))
    values: list[ir.Atom] = []
    start = len(scribe.out)
    for name in operands:
        tangent = facts.adjoint(name).id
        inner = _with_adjoints(facts, {stmt.target.id: tangent, name: "_d"})
        along = Along(bound, stmt, inner)
        values += along.values()
        scribe.out += along.out
    total = summed(values, scribe.temp)
    if total is None:
        return None
    covered = _covered(tuple(scribe.out[start:]), total, operands, facts)
    if stmt.target.id in covered or _has_result_shape(stmt, call, covered, facts):
        return total
    shape = scribe.temp(ir.Call(np.shape, (stmt.target,), text="np.shape"))
    return scribe.temp(ir.Call(np.broadcast_to, (total, shape), text="np.broadcast_to"))


Operand = Union[str, ir.Kind]  # a name, or the kind of an array or list from outside


def _covered(lines: ir.Block, total: ir.Atom, names: Iterable[str], facts: Facts) -> set[Operand]:
    """The operands, some primal ones among them, whose shapes are part of the tangent's."""
    primal = {facts.adjoint(n).id: n for n in names if n in facts.active}
    wanted: set[Operand] = {*ir.names(total)}
    for stmt in reversed(lines):
        if isinstance(stmt, ir.Assign) and stmt.target.id in wanted:
            wanted |= {o for a in ir.atoms(stmt.rhs) for o in _operands(a)}
    return wanted | {n for t, n in primal.items() if t in wanted}


def _has_result_shape(stmt: ir.Assign, call: ir.Call, covered: set[Operand], facts: Facts) -> bool:
    """Whether operands whose shapes take part in the tangent have that of the result."""
    given = [*call.args, *(v for _, v in call.kwargs)]
    operands = dict.fromkeys(o for a in given for o in _operands(a))
    kinds = {o: facts.kinds.get(o) if isinstance(o, str) else o for o in operands}
    if all(o in covered or isinstance(k, (ir.Scalar, ir.NoneKind)) for o, k in kinds.items()):
        return True
    z = facts.kinds.get(stmt.target.id)
    for name, kind in kinds.items():
        if name not in covered or kind is None or z is None or not ir.is_numeric(kind):
            continue
        rest = [k for o, k in kinds.items() if o != name and k is not None]
        whole = len(rest) == len(kinds) - 1
        if ir.broadcasts_to_itself(kind, z, rest if whole else None):
            return True
    return False


def _operands(atom: ir.Atom) -> tuple[Operand, ...]:
    """The names in an operand, or its kind where it is an array or list from outside."""
    kind = atom_kind(atom, {}) if isinstance(atom, (ir.Ref, ir.Const)) else ir.UNKNOWN
    return (kind,) if isinstance(kind, ir.Array) or ir.is_container(kind) else ir.names(atom)


# --- tangents that are written -----------------------------------------------------------------


def written_tangent(
    bound: Bound, stmt: ir.Assign | ir.Effect | ir.Store, scribe: Scribe
) -> ir.Atom | None:
    """The tangent by the lines of a `@forward` template."""
    tangent = Tangent(bound, stmt, scribe.facts)
    found = tangent.values()
    scribe.out += tangent.out
    # `+` would put containers behind each other.
    several = isinstance(stmt, ir.Assign) and scribe.facts.is_container(stmt.target)
    return summed(found, scribe.temp, trees.add_tree if several else operator.add)


def effect_tangent(stmt: ir.Effect, call: ir.Call, scribe: Scribe) -> None:
    """Write a call that writes into memory, and what it does to the tangent of that."""
    bound = find(call, scribe.facts.kinds, stmt.loc)
    rule = bound.rule
    if rule.template is None:
        scribe.out.append(stmt)
        return
    lines_here(bound, stmt, scribe.facts)
    if rule.tangent is not None:
        written_tangent(bound, stmt, scribe)
        scribe.out.append(stmt)
    elif rule.flavour == "linear" and rule.mutates is not None:
        scribe.out.append(stmt)
        same = mirrored(call, rule, scribe)
        scribe.out.append(ir.Effect(same, stmt.loc))
    else:
        raise refused("inputs.no_tangent", stmt.loc, MissingRuleError, name=bound.name, why="")
