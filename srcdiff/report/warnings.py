"""What a reader of a gradient should know of: kinks, branches, copies, inputs without influence."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping

import numpy as np

from srcdiff import ir
from srcdiff.codegen.made import Made
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.pipeline import State, run
from srcdiff.frontend.request import spelled
from srcdiff.ir.kinds import Kind, Scalar

_KINKS = (
    np.abs, np.fabs, np.maximum, np.minimum, np.fmax, np.fmin, np.max, np.min, np.clip, np.sort,
    np.median, abs, max, min,
)  # fmt: skip
_STEPS = (
    np.sign, np.floor, np.ceil, np.round, np.trunc, np.rint, np.argmax, np.argmin, np.argsort,
    np.heaviside, round, operator.floordiv, np.floor_divide,
)  # fmt: skip
_COMPARISONS = (
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
)  # fmt: skip


def analysed(derivative: Derivative, kinds: Mapping[str, Kind]) -> State:
    """The function with what is known of its values."""
    for label, state in run(derivative.origin, derivative.request, kinds):
        if label in ("analyse", "tangents"):
            return state
    raise AssertionError("there is an analysis in every mode")


def warnings(derivative: Derivative, kinds: Mapping[str, Kind], made: Made) -> list[str]:
    """What a reader should know of, the unused inputs first."""
    state = analysed(derivative, kinds)
    assert state.facts is not None
    active = state.facts.active
    unused = (i for i in state.request.inputs if not active & set(i.params))
    out = [f"`{spelled(i.param, i.path)}` has no influence on the output." for i in unused]
    out += [f"`{name}` is copied, because the function writes into it." for name in made.written]
    if derivative.request.mode == "reverse":  # in forward mode the statements hold tangents, too
        out += _of_statements(state.function.body, active, _varied(state))
    return list(dict.fromkeys([*out, *_copies(made.functions[0][0])]))


def _varied(state: State) -> frozenset[str]:
    """The values that are computed from the inputs, whether they reach an output or not."""
    found = {p for i in state.request.inputs for p in i.params}
    more = True
    while more:
        more = False
        for stmt in ir.walk(state.function.body):
            if isinstance(stmt, ir.Assign) and stmt.target.id not in found:
                kind = state.kinds.get(stmt.target.id)
                whole = isinstance(kind, Scalar) and kind.dtype in ("int64", "bool")
                if found.intersection(ir.reads(stmt)) and not whole:
                    found.add(stmt.target.id)
                    more = True
    return frozenset(found)


def _of_statements(
    body: ir.Block, active: frozenset[str], varied: frozenset[str]
) -> Iterator[str]:
    """Where the slope of a function jumps, as far as a derivative flows there."""
    compared: set[str] = set()
    for stmt in ir.walk(body):
        where = f"Line {stmt.loc.line}:"
        if isinstance(stmt, (ir.If, ir.While)) and compared.intersection(ir.names(stmt.test)):
            yield f"{where} the branch {_CHOOSES}"
        if not isinstance(stmt, ir.Assign):
            continue
        call, reads = ir.call_of(stmt), set(ir.reads(stmt))
        carries, fn = bool(reads & active), call.fn if call is not None else None
        if compared & reads or varied & reads and fn in _COMPARISONS:
            compared.add(stmt.target.id)
        if not carries or call is None or not stmt.loc.line:
            continue
        name = getattr(fn, "__name__", "")
        if fn in _KINKS:
            yield f"{where} {name} may have a kink, where the slope jumps."
        elif fn in _STEPS:
            yield f"{where} {name} has steps, and between them no slope."
        elif fn is np.where and compared & reads:
            yield f"{where} where {_CHOOSES}"


_CHOOSES = "depends on the inputs: the derivative is that of what is chosen."


def _copies(function: ir.Function) -> Iterator[str]:
    """Adjoints that are copied, since what they are added to may be the same memory."""
    backward = False
    for stmt in function.body:
        backward = backward or isinstance(stmt, ir.Comment) and stmt.text == "backward"
        for part in ir.walk((stmt,)) if backward else ():
            call = ir.call_of(part)
            if call is not None and call.fn is np.copy and part.loc.line:
                yield (
                    f"Line {part.loc.line}: backwards a part of an adjoint is copied, because "
                    "it shares memory with what it is added to."
                )
