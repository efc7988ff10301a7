"""Variables outside of a function as its parameters: `inputs="global:W"`.

`freed` replaces what a lowered function reads of them by names (`signatures.WithFree`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.closures import Closure, Lifted
from srcdiff.frontend.signatures import WithFree
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.runtime.service import is_derivative


def with_parameters(function: ir.Function, origin: WithFree) -> ir.Function:
    """A lowered function with the variables as parameters."""
    names = [v.name for v in origin.variables]
    local = [n for n in names if n in ir.all_names(function)]
    if local:
        raise UnsupportedError(
            f"`{function.name}` has a variable of its own called `{local[0]}`",
            function.loc,
            remedy="Rename one of the two.",
        )
    found = replace(function, params=with_keywords(function.params, names))
    return freed(found, inspect.unwrap(origin.primal), origin)


def with_keywords(params: Iterable[ir.Param], names: Iterable[str]) -> tuple[ir.Param, ...]:
    """Parameters with others that are given by name, in front of `**`."""
    more = (ir.Param(n, style="kw") for n in names)
    return tuple(sorted((*params, *more), key=lambda p: p.style == "**"))


def freed(function: ir.Function, fn: object, origin: object) -> ir.Function:
    """A lowered function that reads the variables by name; `fn` is where it comes from."""
    names = _seen_by(fn, origin) if isinstance(origin, WithFree) else frozenset()
    if not names:
        return function
    return Freed(names).function(function)


def _seen_by(fn: Any, origin: WithFree) -> frozenset[str]:
    """The variables that a function sees."""
    fn = getattr(fn, "__func__", fn)
    if not isinstance(fn, types.FunctionType):
        return frozenset()
    found = set()
    for variable in origin.variables:
        is_own = variable.name in fn.__code__.co_freevars
        if isinstance(variable.place, types.CellType):
            seen = any(cell is variable.place for cell in fn.__closure__ or ())
        else:
            seen = fn.__globals__ is variable.place and not is_own
        found |= {variable.name} if seen else set()
    return frozenset(found)


_READ = ("rhs", "iter", "index", "value", "test")


class Freed(Rewriter):
    """The rewriting of a block."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(ir.Fresh())
        self.names = names

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement that reads names."""
        read = {name: getattr(stmt, name, None) for name in _READ}
        new = {name: self.rhs(r, stmt.loc) for name, r in read.items() if r is not None}
        named = self.named(stmt) if isinstance(stmt, ir.Verbatim) else {}
        return self.inside(ir.rebuilt(stmt, **new, **named))

    def named(self, text: ir.Opaque | ir.Verbatim) -> dict[str, Any]:
        """What a text reads, and the global names in it that stay such."""
        mine = [ir.Name(n) for n, _ in text.refs if n in self.names]
        rest = tuple((n, v) for n, v in text.refs if n not in self.names)
        return {"reads": (*text.reads, *mine), "refs": rest}

    def rhs(self, rhs: ir.Rhs, loc: ir.Loc) -> ir.Rhs:
        """A right-hand side that reads names."""
        if isinstance(rhs, ir.Call):
            if isinstance(rhs.fn, Lifted) and _reads(rhs.fn, self.names):
                raise _refusal(f"the recursive function `{rhs.fn.__name__}` reads", loc)
            args = tuple(map(self.atom, rhs.args))
            return replace(rhs, args=args, kwargs=tuple((k, self.atom(v)) for k, v in rhs.kwargs))
        if isinstance(rhs, Closure) and rhs.function is not None:
            return self.closure(rhs)
        if isinstance(rhs, ir.Opaque):
            return replace(rhs, **self.named(rhs))
        return self.atom(rhs)

    def closure(self, made: Closure) -> Closure:
        """A function made there, which captures the variables."""
        assert made.function is not None
        function = replace(made.function, body=self.block(made.function.body))
        used = ir.used(function.body) | {n for n, _ in made.refs}
        mine = [n for n in sorted(self.names & used) if n not in made.captured]
        return replace(
            made, function=function, refs=self.named(made)["refs"],
            reads=(*made.reads, *map(ir.Name, mine)), captured=(*made.captured, *mine),
        )  # fmt: skip

    def atom(self, atom: ir.Atom) -> ir.Atom:
        """An atom that reads names."""
        if isinstance(atom, ir.Ref):
            return ir.Name(atom.text) if atom.text in self.names else atom
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(map(self.atom, atom.items)))
        if isinstance(atom, ir.Slice):
            return ir.Slice(*map(self.atom, (atom.lower, atom.upper, atom.step)))
        return ir.Star(self.atom(atom.value)) if isinstance(atom, ir.Star) else atom


def _reads(fn: Lifted, names: frozenset[str]) -> bool:
    """Whether a nested function reads one of the variables."""
    assert fn.function is not None
    atoms = (a for s in ir.walk(fn.function) for o in ir.operands(s) for a in ir.atoms(o))
    return any(isinstance(a, ir.Ref) and a.text in names for a in atoms)


def check_reads(function: ir.Function, origin: object) -> None:
    """Refuse what reads the variables and is not rewritten: calls that stay, other modules."""
    if not isinstance(origin, WithFree):
        return
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        callee = None if call is None else call.fn
        while is_derivative(callee):
            callee = callee.primal  # type: ignore[union-attr]
        if _reaches(callee, origin, set()):
            name = getattr(callee, "__name__", "")
            raise _refusal(f"the function `{name}`, which stays a call, reads", stmt.loc)
        for operand in ir.operands(stmt):
            for atom in ir.atoms(operand):
                if isinstance(atom, ir.Ref) and _is_variable(atom, origin):
                    raise _refusal(f"`{atom.text}` is another way to read", stmt.loc)
                if isinstance(atom, ir.Ref) and _reaches(atom.value, origin, set()):
                    raise _refusal(f"the function `{atom.text}`, an argument, reads", stmt.loc)


def _is_variable(ref: ir.Ref, origin: WithFree) -> bool:
    """Whether an object from outside is what one of the variables holds."""
    for variable in origin.variables:
        number = isinstance(ref.value, (int, float, complex, str, tuple, np.generic))
        if ref.value is variable.value() and (not number or ref.text == variable.name):
            return True
    return False


def _refusal(reason: str, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"{reason} a variable that is an input", loc,
        remedy="Pass it to the function as an argument.",
    )  # fmt: skip


def _reaches(fn: Any, origin: WithFree, seen: set[int]) -> bool:
    """Whether a function, or one that it calls, reads one of the variables."""
    if not isinstance(fn, types.FunctionType) or id(fn) in seen:
        return False
    seen.add(id(fn))
    mine = _seen_by(fn, origin)
    names = {*fn.__code__.co_names, *fn.__code__.co_freevars}
    if mine & names:
        return True
    outside: Mapping[str, Any] = fn.__globals__
    return any(_reaches(outside.get(n), origin, seen) for n in names)
