"""What a name stands for while calls are replaced by bodies: a function, a derivative, None."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from srcdiff import ir
from srcdiff.errors import refused
from srcdiff.frontend.closures import Closure, lifted_closure
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.arguments import FUNCTIONS, called_by_name, named_constant
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.vectorize import as_partial
from srcdiff.specialize.nested.derivatives import is_transform, makes_derivative


@frozen
class Made:
    """A function made by a statement before, and what was being inlined there."""

    closure: Closure
    stack: tuple[object, ...]


@frozen
class Derived:
    """A derivative made by a statement before, of a function made here."""

    derivative: object
    closure: Closure


Known = Union[Made, Derived, ir.Ref, ir.Const, ir.Tup]
Names = Mapping[str, Known]


def check_ends(made: Made, chain: Sequence[Made], loc: ir.Loc) -> None:
    """Raise if a function made here is called for the third time within itself."""
    if sum(m is made for m in chain) > 1:
        raise refused("callees.decorated", loc, name=made.closure.name)


def meaning(rhs: ir.Rhs, known: Names, stack: tuple[object, ...]) -> Known | None:
    """What a name stands for that takes a value, None if that says nothing."""
    if isinstance(rhs, Closure):
        return Made(rhs, stack)
    if type(rhs) is ir.Name:
        return known.get(rhs.id)
    if type(rhs) is ir.Ref and callable(rhs.value):
        return rhs
    if type(rhs) is ir.Const and rhs.value is None:
        return ir.NONE
    if type(rhs) is ir.Tup and any(_is_function(a, known) for a in rhs.items):
        return rhs
    if not makes_derivative(rhs):
        return None
    found = derivative(rhs, known)
    captures = isinstance(found, Derived) and found.closure.variables
    return found if captures or is_transform(rhs.fn) else None  # a Jacobian may stay what it is


def _is_function(atom: ir.Atom, known: Names) -> bool:
    """Whether a name stands for a function or a derivative."""
    found = known.get(atom.id) if type(atom) is ir.Name else None
    return isinstance(found, (Made, Derived, ir.Ref))


def item(rhs: ir.Rhs, known: Names) -> ir.Atom | None:
    """What `pair[1]` is, of a tuple that holds functions and is known; None for anything else."""
    if not is_op(rhs, Op.GETITEM):
        return None
    base, key = rhs.args
    held = known.get(base.id) if type(base) is ir.Name else None
    number = key.value if type(key) is ir.Const else None
    if type(held) is not ir.Tup or type(number) is not int:
        return None
    count = len(held.items)
    plain = not any(type(a) is ir.Star for a in held.items)
    return held.items[number] if plain and -count <= number < count else None


def derivative(call: ir.Call, known: Names) -> Known | None:
    """The derivative that a call makes, None if an argument is not known."""
    values: list[object] = []
    closure: Closure | None = None
    for atom in (*call.args, *(v for _, v in call.kwargs)):
        found = known.get(atom.id) if type(atom) is ir.Name else atom
        if isinstance(found, Made):
            closure = found.closure
            values.append(lifted_closure(closure))
        elif isinstance(found, Derived):
            closure = found.closure
            values.append(found.derivative)
        elif found is not None and is_constant(found):
            values.append(constant(found))
        else:
            return None
    count = len(call.args)
    keywords: dict[str, Any] = {}
    for (name, _), value in zip(call.kwargs, values[count:], strict=True):
        if name is not None:
            keywords[name] = value
        elif isinstance(value, dict):
            keywords.update(value)
        else:
            return None
    made = call.fn(*values[:count], **keywords)  # type: ignore[operator]
    return ir.Ref("derivative", made) if closure is None else Derived(made, closure)


def is_constant(atom: ir.Atom) -> bool:
    """Whether an atom reads no names."""
    return all(isinstance(a, (ir.Ref, ir.Const, ir.Tup)) for a in ir.atoms(atom))


def constant(atom: ir.Atom) -> object:
    """The value of an atom without names."""
    if type(atom) is ir.Tup:
        return tuple(map(constant, atom.items))
    assert isinstance(atom, (ir.Ref, ir.Const))
    return atom.value


# --- is it None? ---------------------------------------------------------------------------------


def truth(rhs: ir.Rhs, known: Names) -> ir.Const | None:
    """Whether a function that is known, or None, is None: a literal; None for anything else."""
    if type(rhs) is not ir.Call or rhs.kwargs or not rhs.args:
        return None
    if is_op(rhs, Op.NOT) and type(rhs.args[0]) is ir.Name:
        inner = known.get(rhs.args[0].id)
        is_bool = type(inner) is ir.Const and isinstance(inner.value, bool)
        return ir.Const(not inner.value) if is_bool else None  # type: ignore[union-attr]
    if not is_op(rhs, Op.IS, Op.IS_NOT) or rhs.args[1] != ir.NONE:
        return None
    atom = rhs.args[0]
    found = known.get(atom.id) if type(atom) is ir.Name else atom
    none = found == ir.NONE or (type(found) is ir.Ref and found.value is None)
    given = type(found) is ir.Ref and callable(found.value)
    # Any other variable of the module, or of a class, is looked at when it runs.
    answered = none or given or isinstance(found, (Made, Derived))
    return ir.Const(none == is_op(rhs, Op.IS)) if answered else None


# --- functools.partial ---------------------------------------------------------------------------


def is_partial(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side makes a `functools.partial` object of known arguments."""
    if not is_op(rhs, Op.PARTIAL) or not rhs.args:
        return False
    stars = any(type(a) is ir.Star for a in rhs.args)
    return not stars and all(k is not None for k, _ in rhs.kwargs)


def partial(
    stmt: ir.Assign, call: ir.Call, fresh: Callable[[str], ir.Name]
) -> tuple[list[ir.Stmt], Closure]:
    """A `functools.partial` object as a function that takes the rest, and what goes before."""
    before: list[ir.Stmt] = []
    reads: list[ir.Name] = []

    def held(atom: ir.Atom) -> ir.Atom:
        """The argument as it is now."""
        if not ir.names(atom):
            return atom
        name = fresh("_t")
        before.append(ir.Assign(name, atom, stmt.loc))
        reads.append(name)
        return name

    callee, *args = map(held, call.args)
    kwargs = tuple((k, held(v)) for k, v in call.kwargs)
    rest, more, result = fresh("args"), fresh("kwargs"), fresh("_t")
    inner = ir.Call(callee, (*args, ir.Star(rest)), (*kwargs, (None, more)))  # type: ignore[arg-type]
    inner = ir.called(replace(callee, text=""), inner) if type(callee) is ir.Ref else inner
    body = (ir.Assign(result, inner, stmt.loc), ir.Return(result, stmt.loc))
    params = (ir.Param(rest.id, style="*"), ir.Param(more.id, style="**"))
    function = ir.Function("partial", params, body, loc=stmt.loc)
    names = frozenset(n.id for n in reads)
    name = called_by_name(callee.value) if type(callee) is ir.Ref else ""
    return before, Closure(
        call.text or "functools.partial", tuple(reads), name=name or "partial", function=function,
        captured=tuple(n.id for n in reads), whole=False, loc=stmt.loc, held=names,
    )  # fmt: skip


def applied(call: ir.Call) -> ir.Call:
    """A call of a `functools.partial` object as a call of what it applies."""
    fn = _as_partial(call.fn)
    while isinstance(fn, functools.partial):
        args = tuple(_constant(a, fn) for a in fn.args)
        given = dict(call.kwargs)
        kwargs = tuple((k, _constant(v, fn)) for k, v in fn.keywords.items() if k not in given)
        whole = ir.Call(fn.func, (*args, *call.args), (*kwargs, *call.kwargs))
        call = ir.called(ir.Ref("", fn.func), whole)
        fn = _as_partial(fn.func)
    return call


def _as_partial(fn: Any) -> Any:
    """A callee; an object of `np.vectorize` as a partial object of what it does."""
    return as_partial(fn) if isinstance(fn, np.vectorize) else fn


def _constant(value: Any, fn: functools.partial[Any]) -> ir.Atom:
    """An argument of a partial object."""
    known = isinstance(value, FUNCTIONS) and value.__name__
    name = known or f"{called_by_name(fn.func) or 'partial'}_argument"
    return named_constant(name if name.isidentifier() else "argument", value)


# --- arguments that are passed on ----------------------------------------------------------------


def spread(block: ir.Block, args: Mapping[str, ir.Tup], kwargs: Mapping[str, ir.Call]) -> ir.Block:
    """A block with `*args` and `**kwargs` in its calls written out."""

    def written_out(old: ir.Call) -> ir.Call:
        positional: list[ir.Atom] = []
        for arg in old.args:
            starred = arg.value if type(arg) is ir.Star else None
            mine = args.get(starred.id) if type(starred) is ir.Name else None
            positional += (arg,) if mine is None else mine.items
        keywords: list[tuple[str | None, ir.Atom]] = []
        for key, value in old.kwargs:
            if key is None and type(value) is ir.Name and value.id in kwargs:
                pairs = kwargs[value.id].args
                new = {constant(k): v for k, v in zip(pairs[::2], pairs[1::2])}
                keywords = [(k, v) for k, v in keywords if k not in new]
                keywords += [(str(k), v) for k, v in new.items()]
            else:
                keywords.append((key, value))
        return replace(old, args=tuple(positional), kwargs=tuple(keywords))

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        return s if call is None else ir.rebuilt(s, rhs=written_out(call))

    return ir.replaced(block, stmt)
