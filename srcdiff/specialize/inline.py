"""Replace calls of Python functions by their bodies.

Takes a lowered function; returns one in which every call of a Python function that has source and
no rule is replaced by the function's statements, with names of its own.  Calls of a function in
itself stay calls.  What cannot be lowered stays a call as well, and is refused later if a
derivative has to flow through it.  Functions that are made and that nobody uses any more are gone.

`x[i] += f(x)`: Python reads `x[i]` before it calls `f`, and lowering reads the old item first
wherever the value calls a function that may write.  After inlining `together` sees what the
function does: where it writes into nothing but its own arrays the statement is an operator in place
on an item again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.analysis.manager import once
from srcdiff.errors import TransformError
from srcdiff.frontend.closures import Closure, Lifted, defaults_now, passing
from srcdiff.frontend.free_variables import freed, with_parameters
from srcdiff.frontend.local_functions import MARK, settled
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.signatures import WithFree, bind_displays, takes_rest
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.primitives.effects import is_pure, returns_view, written_into
from srcdiff.primitives.registry import is_users
from srcdiff.specialize.lifting import with_lifted
from srcdiff.specialize.nested.derivatives import makes_derivative
from srcdiff.specialize.nested.transforms import (
    at_call,
    curried,
    direct,
    is_direct,
    keeps_first,
    with_first_kept,
)
from srcdiff.specialize.static_values import (
    Derived,
    Known,
    Made,
    applied,
    check_ends,
    is_partial,
    item,
    meaning,
    partial,
    spread,
    truth,
)


def without_unused(function: ir.Function) -> ir.Function:
    """The function without the functions that it makes and nobody uses."""
    made: set[str] = set()
    for stmt in ir.assignments(function):
        alias = isinstance(stmt.rhs, (ir.Name, ir.Tup)) and made.intersection(ir.names(stmt.rhs))
        if alias or isinstance(stmt.rhs, Closure) or makes_derivative(stmt.rhs):
            made.add(stmt.target.id)
    before = None
    while made and function is not before:
        before, gone = function, made - ir.used(function.body)

        def kept(stmt: ir.Stmt, gone: set[str] = gone) -> ir.Stmt | ir.Block:
            rhs = stmt.rhs if type(stmt) is ir.Assign else None
            named = isinstance(rhs, (Closure, ir.Name, ir.Tup)) or makes_derivative(rhs)
            return () if named and gone.issuperset(ir.writes(stmt)) else stmt

        function = ir.replaced_in(function, kept)
    return function


# --- `x[i] += f(x)`: Python reads `x[i]` before it calls `f` -------------------------------------


def together(function: ir.Function) -> ir.Function:
    """The function with items read first only where that makes a difference."""
    if not any(_reads_old(s) for s in ir.walk(function)):
        return function
    return ir.rebuilt(function, body=_block(function.body))


def _reads_old(stmt: ir.Stmt) -> bool:
    rhs = stmt.rhs if type(stmt) is ir.Assign else None
    return type(rhs) is ir.Call and rhs.role is ir.Role.OLD


def _block(block: ir.Block) -> ir.Block:
    """A block with its reads put back into the stores that they belong to."""
    out = [ir.map_blocks(s, _block) for s in block]
    # From the end, so that inner ones are put together before those around them.
    for start in reversed(range(len(out))):
        end = _end(out, start) if _reads_old(out[start]) else 0
        if end and not _writes(tuple(out[start + 1 : end])):
            operation, store = out[end : end + 2]
            assert type(operation) is ir.AugAssign and type(store) is ir.SetItem
            value, op = operation.value, operation.op
            out[end : end + 2] = [ir.AugAssign(store.base, store.index, value, op, loc=store.loc)]
            del out[start]
    return tuple(out)


def _end(block: list[ir.Stmt], start: int) -> int:
    """Where the operation on an item that was read stands; the store follows it."""
    read = block[start]
    assert type(read) is ir.Assign and type(read.rhs) is ir.Call
    base, index = read.rhs.args
    for k in range(start + 1, len(block) - 1):
        one, two = block[k], block[k + 1]
        if type(one) is ir.AugAssign and one.base == read.target and one.index is None:
            same = type(two) is ir.SetItem and (two.base, two.index) == (base, index)
            return k if same else 0
    return 0


def _writes(inner: ir.Block) -> bool:
    """Whether statements may write into something that they did not make."""
    new = {s.target.id for s in ir.assignments(inner) if _makes_new(s.rhs)}
    own = new - {s.target.id for s in ir.assignments(inner) if not _makes_new(s.rhs)}
    return any(n not in own for s in ir.walk(inner) for n in _written(s))


def _makes_new(rhs: ir.Rhs) -> bool:
    """Whether an expression makes new memory."""
    if type(rhs) is not ir.Call:
        return type(rhs) is ir.Const
    return is_pure(rhs.fn) and not returns_view(rhs)


def _written(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement may write into."""
    call = ir.call_of(stmt)
    if call is not None and type(call.fn) is ir.Name:
        return (call.fn.id,)
    return written_into(stmt)


_T = TypeVar("_T")
_DEEP = 60
"""How many calls may be inlined into each other."""


def inline(function: ir.Function, origin: object, rest: bool = False) -> ir.Function:
    """The function with the bodies of the functions that it calls.

    With `rest` also of those whose `*args` is a list or tuple of unknown length.
    """
    fresh = ir.Fresh(ir.all_names(function))
    inliner = _Inline(fresh, (origin,), rest=rest)
    return together(without_unused(ir.rebuilt(function, body=inliner.block(function.body))))


def written_out(
    callee: ir.Function,
    bound: Mapping[str, ir.Atom],
    target: ir.Name | None,
    loc: ir.Loc,
    fresh: ir.Fresh,
) -> ir.Block:
    """The body of a function with its parameters bound, and the result in `target`."""
    return _Inline(fresh, (callee,)).renamed(callee, bound, target, (callee,), loc)


def is_user_function(fn: object) -> bool:
    """Whether a callee is a Python function that is ours to look into."""
    return isinstance(fn, Lifted) or is_users(fn)


class _Inline(Rewriter):
    """The pass, with the functions being inlined and the names that stand for functions."""

    def __init__(
        self,
        fresh: ir.Fresh,
        stack: tuple[object, ...],
        known: dict[str, Known] | None = None,
        depth: int = 0,
        rest: bool = False,
        chain: list[Made] | None = None,
    ) -> None:
        super().__init__(fresh)
        self.stack = stack
        self.known = {} if known is None else known
        self.depth = depth
        self.rest = rest
        self.chain = [] if chain is None else chain

    def stmt(self, stmt: ir.Stmt) -> ir.Block:
        """One statement; a call of a function of the user becomes its body."""
        if type(stmt) is ir.If and type(stmt.test) is ir.Name:
            test = self.known.get(stmt.test.id)
            if type(test) is ir.Const and isinstance(test.value, bool):
                return self.block(stmt.body if test.value else stmt.orelse)
        if isinstance(stmt, (ir.If, ir.For, ir.While)):
            return (self.nested(stmt),)
        if type(stmt) is ir.Assign:
            answer = truth(stmt.rhs, self.known)
            if answer is not None:
                self.known[stmt.target.id] = answer
                return (replace(stmt, rhs=answer),)
            stmt = replace(stmt, rhs=curried(stmt.rhs))
            if is_partial(stmt.rhs):
                assert type(stmt.rhs) is ir.Call
                before, closure = partial(stmt, stmt.rhs, self.fresh)
                return self.block((*before, replace(stmt, rhs=closure)))
            taken = item(stmt.rhs, self.known)
            if taken is not None:
                stmt = replace(stmt, rhs=taken)
        if isinstance(stmt, (ir.Assign, ir.Effect)) and type(stmt.rhs) is ir.Call:
            stmt = ir.rebuilt(stmt, rhs=self.resolved(stmt.rhs))
            assert type(stmt.rhs) is ir.Call
            if keeps_first(stmt.rhs.fn):
                return self.kept_first(stmt, stmt.rhs)
            body = self.body_of(stmt.rhs, stmt)
            if body is not None:
                return body
        self.learn(stmt)
        return (stmt,)

    def kept_first(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> ir.Block:
        """The statements of a call that keeps what its first argument, a function, reads now."""
        before, call = with_first_kept(call, self.known, self.fresh, stmt.loc)
        body = self.body_of(call, stmt)
        return (*before, *((replace(stmt, rhs=call),) if body is None else body))

    def nested(self, stmt: ir.If | ir.For | ir.While) -> ir.Stmt:
        """A statement with blocks: what they bind is not known at the head of a loop or after."""
        if type(stmt) is not ir.If:
            self.forget(ir.bound_in(stmt))
        new = self.inside(stmt)
        self.forget(ir.bound_in(new))
        return new

    def inner(self, block: ir.Block) -> ir.Block:
        """A block; what is learned in it is forgotten."""
        before = dict(self.known)
        done = self.block(block)
        self.known.clear()
        self.known.update(before)
        return done

    def forget(self, names: Iterable[str]) -> None:
        """These names are bound anew."""
        gone = frozenset(names)
        held = (n for n, v in self.known.items() if type(v) is ir.Tup and gone & {*ir.names(v)})
        for name in (*gone, *held):
            self.known.pop(name, None)

    def learn(self, stmt: ir.Stmt) -> None:
        """A name that stands for a function from here on."""
        rhs = stmt.rhs if type(stmt) is ir.Assign else None
        found = None if rhs is None else meaning(rhs, self.known, self.stack)
        self.forget(ir.writes(stmt))
        if found is not None and type(stmt) is ir.Assign:
            self.known[stmt.target.id] = found

    def resolved(self, call: ir.Call) -> ir.Call:
        """A call of a name that stands for a function found outside."""
        found = self.known.get(call.fn.id) if type(call.fn) is ir.Name else None
        if isinstance(found, Derived):
            variables = found.closure.variables
            return call if variables is None else passing(found.closure, found.derivative, call)
        if type(found) is ir.Ref:
            call = ir.called(found, call)
        if isinstance(call.fn, (functools.partial, np.vectorize)):
            call = applied(call)
        if is_direct(call.fn):
            return direct(call, self.known)
        return with_lifted(call, self.known)

    def body_of(self, call: ir.Call, stmt: ir.Assign | ir.Effect) -> ir.Block | None:
        """The statements of a call, None if it stays a call."""
        if self.depth > _DEEP or not (self.rest or is_written_out(call)):
            return None
        target = stmt.target if type(stmt) is ir.Assign else None
        if type(call.fn) is ir.Name:
            made = self.known.get(call.fn.id)
            return self.called(made, call, target, stmt.loc) if isinstance(made, Made) else None
        fn = getattr(call.fn, "__srcdiff_primal__", call.fn)
        if not is_user_function(fn) or fn in self.stack:
            return None
        callee = lowered(fn)
        again = (*self.stack, fn)
        if callee is None or any(ir.callee_of(s) in again for s in ir.walk(callee.body)):
            return None  # it is recursive
        if not is_written_out(call) and not takes_rest(callee, call):
            return None
        callee = at_call(freed(callee, fn, self.stack[0]), fn, stmt.loc)
        bound = bind_displays(callee, call, stmt.loc)
        return self.renamed(callee, bound, target, again, stmt.loc)

    def called(
        self, made: Made, call: ir.Call, target: ir.Name | None, loc: ir.Loc
    ) -> ir.Block | None:
        """The body of a function made here; it reads the variables as they are at the call."""
        function, variables = made.closure.function, made.closure.variables
        if function is None or variables is None or any(function is s for s in self.stack):
            return None
        if not is_written_out(call) and not takes_rest(function, call):
            return None
        kwargs = tuple((made.closure.keywords.get(str(k), k), v) for k, v in call.kwargs)
        params = defaults_now(function.params, variables)
        bound = bind_displays(replace(function, params=params), replace(call, kwargs=kwargs), loc)
        function = inherited(function, made.closure)
        check_ends(made, self.chain, loc)
        self.chain.append(made)
        body = self.renamed(function, bound, target, (*made.stack, function), loc, variables)
        self.chain.pop()
        return body

    def renamed(
        self,
        callee: ir.Function,
        bound: Mapping[str, ir.Atom | ir.Call],
        target: ir.Name | None,
        stack: tuple[object, ...],
        loc: ir.Loc,
        outer: Mapping[str, ir.Atom] | None = None,
    ) -> ir.Block:
        """The callee's body with fresh names, parameters bound, and the result in `target`.

        A parameter that a function made there captures is a variable of its own: what is
        passed for it may be bound anew before that function is called.
        """
        own = ir.bound(callee.body) | {p.name for p in callee.params}
        taken = ir.Fresh(ir.all_names(callee))
        body = settled(callee.body, own, taken, (p.name for p in callee.params))
        callee = replace(callee, body=body)
        args, kwargs = _passed_on(callee, bound)
        changed = ir.rebound(callee.body) | _captured(callee.body)
        stored = {s.base.id for s in ir.walk(callee.body) if isinstance(s, ir.Store)}
        start: list[ir.Stmt] = []
        new: dict[str, ir.Atom] = dict(outer or {})
        for param, value in bound.items():
            moved = param in stored and type(value) is not ir.Name  # a store needs a name
            if param in {**args, **kwargs}:
                new[param] = self.fresh(param)
            elif param in changed or moved or isinstance(value, (ir.Tup, ir.Call)):
                new[param] = self.fresh(param)
                start.append(ir.Assign(new[param], value, loc))  # type: ignore[arg-type]
            else:
                new[param] = value
        for name in sorted(ir.bound(callee.body) - set(bound)):
            new[name] = self.fresh(name if not ir.is_temporary(name) else "_t")
        # The names of the caller come in last: the callee may have the same ones.
        body = spread(ir.substituted(callee.body, new), _renamed(args, new), _renamed(kwargs, new))
        for param in (*args, *kwargs):
            held = new[param]
            if type(held) is ir.Name and held.id in ir.used(body):
                start.append(ir.Assign(held, bound[param], loc))
        last = body[-1]
        assert type(last) is ir.Return
        end = () if target is None else (ir.Assign(target, last.value, loc),)
        inner = _Inline(self.fresh, stack, self.known, self.depth + 1, self.rest, self.chain)
        return inner.block((*start, *body[:-1], *end))


def is_written_out(call: ir.Call) -> bool:
    """Whether a call has no `*args` or `**kwargs` but displays."""
    stars = (a.value for a in call.args if type(a) is ir.Star)
    return all(type(v) is ir.Tup for v in stars) and all(k is not None for k, _ in call.kwargs)


def inherited(function: ir.Function, closure: Closure) -> ir.Function:
    """The body of a closure whose own closures hold what it holds."""

    def one(stmt: ir.Assign) -> ir.Rhs:
        made = stmt.rhs
        if not isinstance(made, Closure):
            return made
        pairs = [*zip(made.captured, made.reads)]
        held = {n for n, v in pairs if v.id in closure.held}
        late = {n: closure.marks[v.id] for n, v in pairs if v.id in closure.marks}
        names = (*made.captured, *(f"{MARK}{n}" for n in late))
        reads = (*made.reads, *late.values())
        return replace(made, reads=reads, captured=names, held=made.held | held)

    return ir.with_values(function, one)


def _renamed(found: Mapping[str, _T], new: Mapping[str, ir.Atom]) -> dict[str, _T]:
    """What stands for parameters by the names that these have now."""
    return {ir.names(new[p])[0]: value for p, value in found.items()}


def _passed_on(
    callee: ir.Function, bound: Mapping[str, ir.Atom | ir.Call]
) -> tuple[dict[str, ir.Tup], dict[str, ir.Call]]:
    """The `*args` and `**kwargs` of a callee that it does not bind anew, and does not change."""
    again = ir.rebound(callee.body)
    styles = {p.name: p.style for p in callee.params if p.name not in again}
    args, kwargs = {}, {}
    for param, value in bound.items():
        if styles.get(param) == "*" and type(value) is ir.Tup:
            args[param] = value
        if styles.get(param) == "**" and type(value) is ir.Call and _only_spread(callee, param):
            kwargs[param] = value
    return args, kwargs


def _only_spread(callee: ir.Function, param: str) -> bool:
    """Whether a parameter occurs only as `**kwargs` of calls."""
    spread_out = sum((None, ir.Name(param)) in c.kwargs for c in ir.calls(callee.body))
    read = (a for s in ir.walk(callee.body) for o in ir.operands(s) for a in ir.atoms(o))
    return spread_out == sum(a == ir.Name(param) for a in read)


def _captured(block: ir.Block) -> frozenset[str]:
    """The variables that functions made in a block read when they are called."""
    made = (s.rhs for s in ir.assignments(block) if isinstance(s.rhs, Closure))
    return frozenset(n.id for closure in made for n in closure.reads)


def lowered(fn: object) -> ir.Function | None:
    """The lowered callee, None if it has no source or is not accepted."""
    try:
        return function_of(fn)
    except TransformError:
        return None


def function_of(fn: object) -> ir.Function:
    """The IR of a function of the user; a TransformError where it has none."""
    if isinstance(fn, Lifted):
        assert fn.function is not None
        return fn.function
    # The function is kept as long as what was found: nothing else has its identity meanwhile.
    return once(("lowered", id(fn)), lambda: (fn, _lowered(fn)))[1]


def _lowered(fn: object) -> ir.Function:
    """The IR of a function from its source."""
    if isinstance(fn, WithFree):
        return with_parameters(lower(parse(fn.primal)), fn)
    return lower(parse(fn))  # type: ignore[arg-type]
