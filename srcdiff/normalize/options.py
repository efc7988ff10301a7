"""The arguments that many functions of NumPy share: `out`, `where`, `dtype`, `initial`.

Takes a call with one of them; gives statements without it that do the same: `np.add(x, y, out=z)`
is `z[...] = np.add(x, y)`, and `np.divide(x, y, out=z, where=m)` is `z[m] = x[m] / y[m]`.

`out=None` says nothing: `without_idle_outs` takes a function and the kinds of its names; it returns
it without the arguments `out` that are surely None.  One that is None at times is refused: what the
call writes into is known only when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from srcdiff import ir
from srcdiff.errors import MissingRuleError, TransformError, refused
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.arguments import argument as given_as
from srcdiff.primitives.arguments import as_atom, bind, named, parameters, spelling, takes_out
from srcdiff.primitives.registry import Rule, given

_EVERYTHING = ir.Const(...)
_DRAWS = ("random", "standard_normal", "standard_exponential", "standard_gamma")
"""Methods of generators of random numbers that draw as many as there is room for in `out`."""


def variant(call: ir.Call) -> tuple[Rule, Mapping[str, ir.Atom]] | None:
    """The definition of a call for one of its options, with its arguments bound."""
    for argument, rule in given(call.fn).items():
        try:
            bound = bind(rule.params, None, call, ir.NOWHERE)
        except MissingRuleError:  # this definition is not for the other arguments
            continue
        if not _is_default(bound[argument], argument, rule):
            return rule, bound
    return None


def _is_default(value: ir.Atom, argument: str, rule: Rule) -> bool:
    return any(p.name == argument and value == as_atom(p.default) for p in rule.params)


def trimmed(call: ir.Call) -> ir.Call:
    """A call without the options that have their default."""
    rules = given(call.fn)
    if not rules:
        return call
    kwargs = tuple((k, v) for k, v in call.kwargs if not _idle(k, v, rules))
    return replace(call, kwargs=kwargs)


def _idle(key: str | None, value: ir.Atom, rules: Mapping[str, Rule]) -> bool:
    """Whether a keyword argument says nothing."""
    if key == "keepdims" and value == ir.Const(False):
        return True
    return key is not None and key in rules and _is_default(value, key, rules[key])


@frozen
class Options:
    """The options of one call, and the call without them."""

    call: ir.Call
    outs: tuple[ir.Atom, ...] = ()
    where: ir.Atom | None = None
    dtype: ir.Atom | None = None


def options(call: ir.Call) -> Options | None:
    """The options of a call, None if it has none."""
    if any(k is None for k, _ in call.kwargs) or not takes_out(call.fn):
        return None
    call = named(call)
    kwargs = dict(call.kwargs)
    outs = _outs(kwargs.pop("out", ir.NONE))
    where = dtype = None
    if isinstance(call.fn, np.ufunc):
        where, dtype = _meant(kwargs, "where", True), _meant(kwargs, "dtype", None)
    if not outs and where is None and dtype is None:
        return None
    return Options(replace(call, kwargs=tuple(kwargs.items())), outs, where, dtype)


def _meant(kwargs: dict[str | None, ir.Atom], name: str, default: object) -> ir.Atom | None:
    """A keyword argument, taken out; None where it says nothing."""
    value = kwargs.pop(name, None)
    return None if value == ir.Const(default) else value


def _outs(given: ir.Atom) -> tuple[ir.Atom, ...]:
    """What a call writes its results into."""
    found = given.items if isinstance(given, ir.Tup) else (given,)
    return () if all(a == ir.NONE for a in found) else found


@state
class Plain(Builder):
    """The statements for one call with options."""

    found: Options
    fresh: ir.Fresh
    loc: ir.Loc
    kinds: ir.Kinds
    device: bool  # whether arrays live on one
    out: list[ir.Stmt] = field(default_factory=list)

    def statements(self, target: ir.Name | None) -> ir.Block:
        """The statements that the call stands for, its value in `target`."""
        outs = self.found.outs
        if not all(isinstance(out, ir.Name) for out in outs):
            raise self.error("`out` of this form")
        if self.found.where is not None and not outs:
            raise self.error("`where` without `out`, which leaves elements undefined")
        value = self.value()
        if outs:
            self.put(self.temp(value), target)
        elif target:
            self.assign(target, value)
        return tuple(self.out)

    def put(self, value: ir.Name, target: ir.Name | None) -> None:
        """The value, or its parts, put into what was given as `out`."""
        outs = self.found.outs
        places = map(ir.Const, range(len(outs)))
        parts = [value] if len(outs) == 1 else [self.item(value, k) for k in places]
        for out, part in zip(outs, parts, strict=True):
            assert isinstance(out, ir.Name)
            self.store(out, self.place(), part)
        if target is not None:
            whole = outs[0] if len(outs) == 1 else ir.Tup(outs)
            self.assign(target, whole)

    def place(self) -> ir.Atom:
        """Where the results go."""
        return _EVERYTHING if self.found.where is None else self.mask

    def value(self) -> ir.Call:
        """The call without its options."""
        args = self.found.call.args
        if self.found.where is not None:
            self.mask = self.spread(self.found.where)
            args = tuple(map(self.chosen, args))
        if self.found.dtype is not None:
            args = tuple(self.converted(a) for a in args)
        return self.sized(replace(self.found.call, args=args))

    def sized(self, call: ir.Call) -> ir.Call:
        """A call that draws as many random numbers as go into `out`."""
        if not (isinstance(call.fn, ir.Method) and call.fn.name in _DRAWS):
            return call
        if self.device:
            raise refused("backends.draws", self.loc, name=call.fn.name)
        if given_as(call, "size") not in (None, ir.NONE):
            return call
        shape = self.call(np.shape, self.found.outs[0])
        place = parameters(call.fn).index("size")
        if place < len(call.args):
            return replace(call, args=(*call.args[:place], shape, *call.args[place + 1 :]))
        kwargs = tuple((k, v) for k, v in call.kwargs if k != "size")
        return replace(call, kwargs=(*kwargs, ("size", shape)))

    def chosen(self, atom: ir.Atom) -> ir.Atom:
        """The elements of an operand where the mask is true."""
        if isinstance(atom_kind(atom, self.kinds), ir.Scalar):
            return atom
        return self.item(self.spread(atom), self.mask)

    def spread(self, atom: ir.Atom) -> ir.Atom:
        """An operand in the shape of `out`."""
        dims, meant = (ir.dims_of(atom_kind(a, self.kinds)) for a in (atom, self.found.outs[0]))
        if dims is not None and dims == meant:
            return atom
        shape = self.call(np.shape, self.found.outs[0])
        return self.call(np.broadcast_to, atom, shape)

    def converted(self, atom: ir.Atom) -> ir.Name:
        """An operand in the dtype that was asked for."""
        assert self.found.dtype is not None
        return self.call(np.asarray, atom, self.found.dtype)

    def error(self, what: str) -> TransformError:
        name = spelling(self.found.call)
        return refused("callees.out", self.loc, MissingRuleError, name=name, what=what)


# --- `out=None` says nothing: calls without it ---------------------------------------------------


def without_idle_outs(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function without what says that nothing is written into."""
    return ir.replaced_in(function, lambda s: _plain(s, kinds))


def _plain(stmt: ir.Stmt, kinds: ir.Kinds) -> ir.Stmt:
    """A statement without `out=None`."""
    call = ir.call_of(stmt)
    if call is None or not isinstance(stmt, (ir.Assign, ir.Effect)) or not takes_out(call.fn):
        return stmt
    by_name = named(call)
    given = dict(by_name.kwargs).get("out")
    if given is None:
        return stmt
    kinds_given = _inside(atom_kind(given, kinds))
    if any(isinstance(k, ir.Maybe) for k in kinds_given):
        raise refused("memory.out_at_times", stmt.loc)
    if not all(isinstance(k, ir.NoneKind) for k in kinds_given):
        return stmt
    kwargs = tuple((k, v) for k, v in by_name.kwargs if k != "out")
    return ir.rebuilt(stmt, rhs=replace(by_name, kwargs=kwargs))


def _inside(kind: ir.Kind) -> tuple[ir.Kind, ...]:
    """The kinds of what is written into: of several results there are several."""
    return kind.items if isinstance(kind, ir.Tuple) and kind.items else (kind,)
