"""Modules that are passed as values: `helper(x, np)`, `def f(x, xp=np)`.

A module is known by its kind, so that what is read of it is the function or the constant that it
has: `xp.tanh(x)` is a call of `np.tanh`.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.devices import canonical
from srcdiff.runtime.records import FOREIGN, MISSING, looked_up

_COMPARED = (Op.IS, Op.IS_NOT, Op.EQ, Op.NE)


def passes_modules(function: ir.Function, params: ir.Kinds) -> bool:
    """Whether a variable of a function may hold a module."""
    if any(_holds_module(k) for k in params.values()):
        return True
    atoms = (a for s in ir.assignments(function.body) for a in _atoms(s.rhs))
    return any(isinstance(a, ir.Ref) and isinstance(a.value, types.ModuleType) for a in atoms)


def _holds_module(kind: ir.Kind) -> bool:
    """Whether a kind is that of a module or of a container with one."""
    return isinstance(kind, ir.Module) or any(map(_holds_module, ir.inside(kind)))


def _atoms(rhs: ir.Rhs) -> tuple[ir.Atom, ...]:
    """The atoms that a right-hand side hands on."""
    if isinstance(rhs, ir.Call):
        return (*rhs.args, *(v for _, v in rhs.kwargs))
    return (rhs,) if isinstance(rhs, ir.Ref) else ()


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
    kind = atom_kind(call.args[0], kinds)
    kind = kind.kind if isinstance(kind, ir.Maybe) else kind  # `if xp is None: xp = np`
    if not isinstance(kind, ir.Module):
        return call
    _check_fixed(kind.name, loc)
    text = f"{kind.name}.{call.fn.name}".replace("numpy.", "np.", 1)
    value = canonical(looked_up(sys.modules.get(kind.name), call.fn.name))
    if value is MISSING:
        raise UnsupportedError(
            f"`{kind.name}` has no attribute `{call.fn.name}`", loc, remedy="Check its name."
        )
    if isinstance(call.fn, ir.Attr):
        return ir.Ref(text, value)
    return replace(call, fn=value, args=call.args[1:], text=text)


def _check_fixed(module: str, loc: ir.Loc) -> None:
    """Refuse a module of the user's: what it has may change, and nobody would notice."""
    if module.split(".")[0] not in FOREIGN:
        raise UnsupportedError(
            f"the module `{module}` is passed as a value, and something is read of it",
            loc,
            remedy="Import it where the function stands, or pass what is read of it.",
        )


def _check_compared(kinds: list[ir.Kind], loc: ir.Loc) -> None:
    """Refuse a comparison with NumPy or CuPy, which are one to the compiler."""
    arrays = any(isinstance(k, ir.Module) and k.name == "numpy" for k in kinds)
    if arrays and not any(isinstance(k, ir.NoneKind) for k in kinds):
        raise UnsupportedError(
            "the module of arrays is compared: NumPy and CuPy are one here",
            loc,
            remedy="Decide outside of the function, and pass it as an argument.",
        )
