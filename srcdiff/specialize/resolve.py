"""Callees that the source does not name: parameters, elements of tables, functions made here.

`resolved` comes after inlining: a name whose kind is a known function becomes that function, and
`*args` and `**kwargs` of known length are written out, until nothing changes.  What stays
unknown is refused later, where a derivative would have to pass through it: `refuse_strange` says
for a call of which nothing is known what is missing.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable as Function
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from srcdiff import ir
from srcdiff.errors import InternalError, refused
from srcdiff.frontend.closures import Closure, wanted
from srcdiff.frontend.signatures import many, no_keywords
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import find, lookup
from srcdiff.runtime import records
from srcdiff.runtime.devices import canonical
from srcdiff.specialize.defunctionalize import (
    calls_as_choices,
    check_data,
    closures_as_data,
    known_choices,
    marked_closures,
    plain,
)
from srcdiff.specialize.inline import function_of, inline, is_user_function, is_written_out
from srcdiff.specialize.objects.places import has_objects, mentions_objects, stores
from srcdiff.specialize.unroll import Known, fixed_dicts, only_looked_at


def is_declined(call: ir.Call | None) -> bool:
    """Whether a reason is declared why a function has no derivative: it may take functions."""
    rule = None if call is None else lookup(call.fn)
    return rule is not None and bool(rule.reason)


def declined(function: ir.Function) -> dict[str, ir.Assign]:
    """The calls that have no derivative, for a declared reason, by the names of their results."""
    made = ir.assignments(function)
    return {s.target.id: s for s in made if is_declined(ir.call_of(s))}


def _refuse_declined(stmt: ir.Assign, kinds: ir.Kinds) -> None:
    """The error for a call that has no derivative: it says what to write instead."""
    assert isinstance(stmt.rhs, ir.Call)
    find(stmt.rhs, kinds, stmt.loc)


def _check_written_out(call: ir.Call, name: str, loc: ir.Loc) -> None:
    """Refuse arguments with stars of which it is not known what they stand for."""
    if any(isinstance(a, ir.Star) for a in call.args):
        raise many(name, loc)
    if any(k is None for k, _ in call.kwargs):
        raise no_keywords(name, loc)


def refuse_strange(call: ir.Call, loc: ir.Loc, function: ir.Function, kinds: ir.Kinds) -> NoReturn:
    """The error for a call of which nothing is known."""
    fn = call.fn
    if isinstance(fn, ir.Name):
        if fn.id in (made := declined(function)):
            _refuse_declined(made[fn.id], kinds)
        _check_written_out(call, str(call.text or fn.id), loc)
        raise refused("callees.unknown", loc, name=ir.said(call.text or fn.id))
    if is_op(call, Op.LIST):
        raise refused("callees.iterated", loc)
    if isinstance(fn, type):
        if records.is_record(fn):
            _check_written_out(call, fn.__qualname__, loc)
        raise refused("objects.made", loc, cls=fn.__qualname__)
    if is_user_function(fn):
        function_of(fn)  # says why it could not be inlined
    find(call, kinds, loc)
    raise InternalError("a call with a rule counts as one of which nothing is known", call)


Attributes = frozenset[tuple[type, str]]
Step = Function[[ir.Function], ir.Function]

_ROUNDS = 60
"""How deep methods may lie in each other that are found by the kinds of objects."""


def resolved(function: ir.Function, params: ir.Kinds, origin: object) -> ir.Function:
    """The function with callees and arguments in place of what is known to stand for them.

    Where a method that was not seen yet stores an attribute that was read from the class, all is
    done again with that as an attribute of the objects.
    """
    own: Attributes = frozenset()
    while True:
        rounds = _Rounds(params, origin, own)
        done = rounds.run(function)
        more = rounds.taken & _stored(done, params) if rounds.taken else set()
        if not more:
            return done
        own |= more


def _stored(function: ir.Function, params: ir.Kinds) -> set[tuple[type, str]]:
    """The attributes that are stored, and the classes of their objects."""
    found = list(stores(function.body))
    kinds = infer(function, params) if found else {}
    classes = ((ir.class_of(atom_kind(base, kinds)), name) for _, base, name in found)
    return {(cls, name) for cls, name in classes if cls is not None}


class _Rounds:
    """All rounds over a function; `own` are attributes of classes that objects have as well.

    `taken` is what was read from classes, `assumed` what was only hoped of the classes of objects.
    """

    def __init__(self, params: ir.Kinds, origin: object, own: Attributes) -> None:
        self.params = params
        self.origin = origin
        self.own = own
        self.taken: set[tuple[type, str]] = set()
        self.assumed: dict[str, tuple[type, ir.Loc]] = {}

    def run(self, function: ir.Function) -> ir.Function:
        """The function after all rounds."""
        objects = any(map(has_objects, self.params.values())) or mentions_objects(function.body)
        modules = passes_modules(function, self.params)
        if not _has_open(function) and not _has_data(function) and not objects and not modules:
            _refuse_closures(function)
            return function
        for _ in range(_ROUNDS):
            objects = objects or mentions_objects(function.body)
            if not objects and not modules and not _has_open(function):
                break
            function = marked_closures(function)
            new = self.round(function, objects)
            if new == function:
                break
            function = inline(new, self.origin)
        if _has_data(function):
            kinds = infer(function, self.params)
            _refuse_open(function, kinds)
            check_data(function, kinds)
            function = plain(function)
        self.check_assumed(function)
        _refuse_closures(function)
        return function

    def round(self, function: ir.Function, objects: bool) -> ir.Function:
        """The function with what is known of its callees now, by the first step that knows more."""
        kinds = infer(function, self.params)
        function = read_of_modules(function, kinds)
        steps: tuple[Step, ...] = (
            lambda f: _Resolve(f, kinds, fixed_dicts(f, self.params)).function(f),
            lambda f: self.members(f, kinds, {}) if objects else f,
            lambda f: inline(f, self.origin, rest=True),
            lambda f: closures_as_data(f, kinds),
            lambda f: calls_as_choices(f, kinds),
        )
        for step in steps:
            if (new := step(function)) != function:
                return new
        if not objects:
            return function
        hoped = infer(function, self.params, hope=True)
        new = self.answers(function, kinds, hoped)
        if new == function:
            new = self.members(function, kinds, hoped)
        return closures_as_data(function, hoped) if new == function else new

    def answers(self, function: ir.Function, kinds: ir.Kinds, hoped: ir.Kinds) -> ir.Function:
        """The function with what is hoped of the classes that it asks for."""
        from srcdiff.specialize.objects.methods import Questions

        return self.after(Questions(function, kinds, hoped, self.own, self.params))

    def members(self, function: ir.Function, kinds: ir.Kinds, hoped: ir.Kinds) -> ir.Function:
        """The function with what is known of the methods of its objects."""
        from srcdiff.specialize.objects.methods import Members

        return self.after(Members(function, kinds, hoped, self.own, self.params))

    def after(self, step: Known) -> ir.Function:
        """The function after a step, of which is kept what it read of classes and assumed."""
        new = step.function(step.whole)
        self.taken |= step.taken
        self.assumed.update(step.assumed)
        return new

    def check_assumed(self, function: ir.Function) -> None:
        """Refuse methods that were looked up in a class that need not be that of the object."""
        kinds = infer(function, self.params) if self.assumed else {}
        for name, (cls, loc) in self.assumed.items():
            if name in kinds and ir.class_of(kinds[name]) is not cls:
                raise refused("objects.several", loc, name=ir.said(name), cls=cls.__name__)


def _has_data(function: ir.Function) -> bool:
    """Whether functions are kept as data."""
    kept = (Op.MAKE_FUNCTION, Op.IS_FUNCTION, Op.CAPTURED)
    return any(is_op(call, *kept) for call in ir.calls(function))


def _has_open(function: ir.Function) -> bool:
    """Whether callees or arguments of calls are known only by their kinds."""
    return any(map(_is_open, ir.calls(function)))


def _refuse_open(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse calls of what may be a function that is data by now."""
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        if call is not None and isinstance(call.fn, ir.Name):
            if not known_choices(kinds.get(call.fn.id)) or not is_written_out(call):
                refuse_strange(call, stmt.loc, function, kinds)


def _is_open(call: ir.Call) -> bool:
    """Whether a call's callee or arguments are known only by their kinds."""
    return isinstance(call.fn, ir.Name) or not is_written_out(call)


class _Resolve(Rewriter):
    """One round."""

    def __init__(
        self, function: ir.Function, kinds: ir.Kinds, dicts: Mapping[str, tuple[str, ...]]
    ) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole = function
        self.kinds = kinds
        self.dicts = dicts

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement after this round."""
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            return ir.rebuilt(stmt, rhs=self.known(stmt.rhs)) if _is_open(stmt.rhs) else stmt
        return self.inside(stmt)

    def known(self, call: ir.Call) -> ir.Call:
        """A call with what is known of it; items are taken before it."""
        fn = call.fn
        kind = self.kinds.get(fn.id) if isinstance(fn, ir.Name) else None
        value = kind.value if isinstance(kind, ir.Callable) else None
        if value is not None and not isinstance(value, ir.Site):
            call = replace(call, fn=value, text=None)
        meant = value.closure if isinstance(value, ir.Site) else call.fn
        args: list[ir.Atom] = []
        for arg in call.args:
            args += self.spread(arg, call, meant)
        kwargs: list[tuple[str | None, ir.Atom]] = []
        for key, given in call.kwargs:
            kwargs += self.keywords(key, given)
        return replace(call, args=tuple(args), kwargs=tuple(kwargs))

    def spread(self, arg: ir.Atom, call: ir.Call, fn: Any) -> list[ir.Atom]:
        """The arguments that `*args` of a call of `fn` stands for, where it is known how many."""
        if not isinstance(arg, ir.Star):
            return [arg]
        held = only_looked_at(arg.value, self.whole)
        if type(held) in (list, tuple):
            return [self.taken(arg.value, k) for k in range(len(held))]
        if not isinstance(arg.value, ir.Name):
            return [arg]
        kind = self.kinds.get(arg.value.id)
        if (items := ir.known_items(kind)) is not None:
            return [self.taken(arg.value, k) for k in range(len(items))]
        if not isinstance(kind, (ir.Tuple, ir.List, ir.Array)):
            return [arg]
        number = _count(kind, call, fn)
        if number is None:
            return [arg]
        role = ir.Unpacks(number)  # which asks whether there are as many
        return [self.taken(arg.value, k, role) for k in range(number)]

    def keywords(self, key: str | None, value: ir.Atom) -> list[tuple[str | None, ir.Atom]]:
        """The keyword arguments that `**kwargs` stands for, where its keys are known."""
        if key is not None:
            return [(key, value)]
        held = only_looked_at(value, self.whole)
        named = type(held) is dict and all(isinstance(k, str) for k in held)
        keys = self.dicts.get(value.id) if isinstance(value, ir.Name) else held if named else None
        return [(key, value)] if keys is None else [(k, self.taken(value, k)) for k in keys]

    def taken(self, base: ir.Atom, key: Any, role: ir.Unpacks | None = None) -> ir.Name:
        """An item in a temporary."""
        return self.temp(ir.Call(operator.getitem, (base, ir.Const(key)), role=role))


def _count(kind: ir.Kind, call: ir.Call, fn: Any) -> int | None:
    """How many items an array, list or tuple has as `*xs` in a call of `fn`, if known."""
    dims = kind.dims if isinstance(kind, ir.Array) else None
    if dims and isinstance(dims[0], int):
        return dims[0]
    return wanted(call, fn)


# --- functions made here -------------------------------------------------------------------------


def _refuse_closures(function: ir.Function) -> None:
    """Refuse functions made here that stay values and whose text would not do."""
    count = ir.binding_counts(function, function.params, True)
    last: dict[str, ir.Stmt] = {}
    for stmt in ir.walk(function):
        last.update((n, stmt) for n in ir.reads(stmt))
    for stmt in ir.assignments(function):
        made = stmt.rhs
        if not isinstance(made, Closure):
            continue
        if not made.whole:
            for other in declined(function).values():
                if stmt.target.id in ir.names(other.rhs):
                    _refuse_declined(other, {})
            partial = made.function is not None and made.function.name == "partial"
            what = "partial application of" if partial else "nested function"
            out = "." if partial else ", or move it out of the function."
            raise refused("callees.value", made.loc, what=what, name=made.name, out=out)
        changing = [n.id for n in made.reads if count.get(n.id, 0) > 1]
        if changing and not _used_at_once(last.get(stmt.target.id)):
            raise refused("callees.lambda_rebound", made.loc, read=changing[0])


def _used_at_once(stmt: ir.Stmt | None) -> bool:
    """Whether the last use of a function is a call that does not keep it."""
    call = ir.call_of(stmt)
    if call is None or isinstance(call.fn, (ir.Name, ir.Derived, ir.Attr)):
        return False
    if isinstance(call.fn, ir.Method):
        return is_op(call, Op.SORT)
    return not op_of(call.fn).holds and not is_op(call, Op.MAP, Op.FILTER)


# --- modules that are passed as values: `helper(x, np)`, `def f(x, xp=np)` -----------------------
#
# A module is known by its kind, so that what is read of it is the function or the constant that it
# has: `xp.tanh(x)` is a call of `np.tanh`.


_COMPARED = (Op.IS, Op.IS_NOT, Op.EQ, Op.NE)


def passes_modules(function: ir.Function, params: ir.Kinds) -> bool:
    """Whether a variable of a function may hold a module: it is given one, or mentions one."""
    refs = (ref for stmt in ir.walk(function) for ref in ir.refs_of(stmt))
    mentioned = any(isinstance(ref.value, ModuleType) for ref in refs)
    return mentioned or any(map(_holds_module, params.values()))


def _holds_module(kind: ir.Kind) -> bool:
    """Whether a kind is that of a module or of a container with one."""
    return isinstance(kind, ir.Module) or any(map(_holds_module, ir.inside(kind)))


def read_of_modules(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with what it reads of modules that variables hold.

    Raises:
        UnsupportedError: it compares NumPy's module with another, or reads what a module has not;
            or the module is one of the user's.
    """

    def one(stmt: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(stmt)
        if call is None or not call.args:
            return stmt
        return ir.rebuilt(stmt, rhs=_read(call, kinds, stmt.loc))

    return ir.replaced_in(function, one)


def without_modules(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """The function with all that it reads of modules that variables hold, one after the other."""
    while passes_modules(function, params):
        new = read_of_modules(function, infer(function, params))
        if new == function:
            break
        function = new
    return function


def _read(call: ir.Call, kinds: ir.Kinds, loc: ir.Loc) -> Any:
    """What a call is that has to do with a module."""
    if is_op(call, *_COMPARED):
        _check_compared([atom_kind(a, kinds) for a in call.args], loc)
    if not isinstance(call.fn, (ir.Method, ir.Attr)):
        return call
    kind = ir.sure(atom_kind(call.args[0], kinds))  # `if xp is None: xp = np`
    if not isinstance(kind, ir.Module):
        return call
    _check_fixed(kind.name, loc)
    text = f"{kind.name}.{call.fn.name}".replace("numpy.", "np.", 1)
    value = canonical(records.looked_up(sys.modules.get(kind.name), call.fn.name))
    if value is records.MISSING:
        raise refused("callees.module_attribute", loc, module=kind.name, name=call.fn.name)
    if isinstance(call.fn, ir.Attr):
        return ir.Ref(text, value)
    return replace(call, fn=value, args=call.args[1:], text=text)


def _check_fixed(module: str, loc: ir.Loc) -> None:
    """Refuse a module of the user's: what it has may change, and nobody would notice."""
    if module.split(".")[0] not in records.FOREIGN:
        raise refused("callees.module", loc, module=module)


def _check_compared(kinds: list[ir.Kind], loc: ir.Loc) -> None:
    """Refuse a comparison with NumPy or CuPy, which are one to the compiler."""
    arrays = any(isinstance(k, ir.Module) and k.name == "numpy" for k in kinds)
    if arrays and not any(isinstance(k, ir.NoneKind) for k in kinds):
        raise refused("backends.compared", loc)
