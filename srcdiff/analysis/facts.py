"""What the passes after the analyses know of a function, and what is found once for all of them.

`Facts` are the kinds, aliases and active names of one function, and the names of its adjoints.

What a Python function does is asked for by several passes, and again for every part of a
derivative.  It stays the same while a derivative is compiled, but not longer: what closures hold
may change (`once`).

Whether complex numbers can occur in a function at all is asked of the whole of it.  A value of
unknown dtype counts as real where nothing in the function is complex: parameters of which nothing
is known are real numbers.  Where something is, it may have come from there.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.analysis.aliases import Aliases
from srcdiff.ir.frozen import frozen, replace
from srcdiff.ir.kinds import is_container
from srcdiff.kinds.lattice import kind_of
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.records import is_record

_T = TypeVar("_T")

_found: ContextVar[dict[Hashable, Any] | None] = ContextVar("srcdiff.memory", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Remember what `once` computes until the outermost of these ends."""
    token = _found.set({} if (found := _found.get()) is None else found)
    try:
        yield
    finally:
        _found.reset(token)


@contextmanager
def uncollected() -> Iterator[None]:
    """Search for no cycles of garbage until this ends, if that is what was going on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def once(key: Hashable, compute: Callable[[], _T]) -> _T:
    """What is computed, or what it was for the same key."""
    found = _found.get()
    if found is None:
        return compute()
    if key not in found:
        found[key] = compute()
    value: _T = found[key]
    return value


# --- whether complex numbers can occur in a function at all --------------------------------------


_COMPLEX_MODULES = ("numpy.fft", "numpy.lib.scimath", "scipy.fft")


def has_complex(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether a complex number may occur: a constant, a known kind, or a function that makes it."""
    if any(map(is_complex_kind, kinds.values())):
        return True
    for stmt in ir.walk(function.body):
        if any(map(_makes_complex, _constants(stmt))) or _reads_object(stmt, kinds):
            return True
    return False


def is_complex_kind(kind: ir.Kind) -> bool:
    """Whether a value is known to be able to be complex, or to hold what is."""
    if any(map(is_complex_kind, ir.inside(kind))):
        return True
    return str(getattr(kind, "dtype", None)).startswith(("complex", "clong"))


def may_be_complex(kind: ir.Kind) -> bool:
    """Whether a value may be complex, or hold what is, where complex numbers occur."""
    if isinstance(kind, (ir.Scalar, ir.Array)):
        return kind.dtype is None or is_complex_kind(kind)
    return kind == ir.UNKNOWN or any(map(may_be_complex, ir.inside(kind)))


def _reads_object(stmt: ir.Stmt, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether a value of unknown dtype comes out of an object that nobody looks into."""
    call = ir.call_of(stmt)
    if call is None or not isinstance(stmt, ir.Assign) or not call.args:
        return False
    if not may_be_complex(kinds.get(stmt.target.id, ir.UNKNOWN)):
        return False
    read = call.args[0]
    kind = kinds.get(read.id) if isinstance(read, ir.Name) else None
    return isinstance(kind_of(read.value, "") if isinstance(read, ir.Ref) else kind, ir.Object)


def _constants(stmt: ir.Stmt) -> Iterator[Any]:
    """The callees, constants and objects that a statement mentions itself."""
    for operand in ir.operands(stmt):
        for atom in ir.atoms(operand):
            if isinstance(atom, (ir.Const, ir.Ref)):
                yield atom.value
    rhs = getattr(stmt, "rhs", getattr(stmt, "iter", None))
    for _, value in getattr(stmt if isinstance(stmt, ir.Verbatim) else rhs, "refs", ()):
        yield value
    if isinstance(rhs, ir.Call) and not isinstance(rhs.fn, (ir.Name, ir.Method, ir.Attr)):
        yield rhs.fn


def _makes_complex(value: Any) -> bool:
    """Whether a constant is complex, names a complex dtype, or is a function that makes such."""
    if isinstance(value, (complex, np.complexfloating)):
        return True
    if isinstance(value, (np.ndarray, dict, list, tuple)) or is_record(type(value)):
        return is_complex_kind(kind_of(value, ""))
    if isinstance(value, str):
        return value.startswith(("complex", "c8", "c16"))
    if isinstance(value, np.dtype):
        return value.kind == "c"
    if isinstance(value, type):
        return issubclass(value, (complex, np.complexfloating))
    if isinstance(value, np.ufunc):
        return all(loop[-1] in "FDG" for loop in value.types)  # `scipy.special.hankel1`
    return op_of(value).turns_complex or module_of(value).startswith(_COMPLEX_MODULES)


# --- what the passes after the analyses know of a function ---------------------------------------


COPIES = (Op.LIST, Op.TUPLE, Op.DICT, Op.COPY_METHOD)
"""What makes a new container of all the items of another."""


@frozen
class Facts:
    """Kinds, aliases and active names of one function, and the names of its adjoints."""

    kinds: Mapping[str, ir.Kind]
    aliases: Aliases
    active: frozenset[str]
    adjoints: Mapping[str, str]
    fresh: ir.Fresh
    seed: str = "grad_outputs"
    theirs: frozenset[str] = frozenset()  # the names that the user gave
    complex: bool = False  # what has no known dtype may be complex
    sampled: bool = False  # some parameter's kind is known
    strong: bool = False  # a zero cotangent stays zero
    made: dict[str, tuple[str, str]] = field(default_factory=dict)  # by `reverse`, for itself
    uses: Counter[str] = field(default_factory=Counter)  # how often each name occurs
    parts: Mapping[int, str] = field(default_factory=dict)  # of a result that is unpacked at once
    laid: frozenset[str] = frozenset()  # whose tangents lie in memory as they do

    @cached_property
    def shadowed(self) -> frozenset[str]:
        """The active names whose adjoints are shadows: variables of the forward part."""
        return self.aliases.shadows & self.active

    @cached_property
    def shadows(self) -> frozenset[str]:
        """The adjoints that are variables of the forward part."""
        return frozenset(self.adjoints[n] for n in self.shadowed)

    @cached_property
    def views(self) -> Mapping[str, str]:
        """The views that have an adjoint, by its name."""
        views = self.aliases.views
        return {self.adjoints[v]: v for v in views if v in self.adjoints}

    @cached_property
    def value_adjoints(self) -> frozenset[str]:
        """The adjoints that the backward part makes."""
        return frozenset(a for n, a in self.adjoints.items() if n not in self.shadowed)

    def kind(self, atom: ir.Atom) -> ir.Kind:
        """What is certainly known of an atom."""
        return self.kinds.get(atom.id, ir.UNKNOWN) if isinstance(atom, ir.Name) else ir.UNKNOWN

    def is_container(self, atom: ir.Atom) -> bool:
        """Whether a value is certainly a list, tuple or dict."""
        return isinstance(atom, ir.Tup) or is_container(self.kind(atom))

    def copies_container(self, call: ir.Call) -> bool:
        """Whether a call makes a container of the same items: `list(xs)`, `xs.copy()`."""
        one = len(call.args) == 1 and not call.kwargs
        return is_op(call, *COPIES) and one and self.is_container(call.args[0])

    def adjoint(self, name: str) -> ir.Name:
        """The name of the adjoint of a primal name."""
        return ir.Name(self.adjoints[name])


def sampled(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether anything is known of the arguments."""
    return any(kinds.get(p.name, ir.UNKNOWN) != ir.UNKNOWN for p in function.params)


def with_alias(facts: Facts, new: str, old: str, adjoint: str = "") -> Facts:
    """The facts with one more name, of the same value and memory as an old one."""
    kinds = {**facts.kinds, new: facts.kinds[old]} if old in facts.kinds else facts.kinds
    shared = facts.aliases
    if old in shared.classes:
        shared = replace(shared, classes={**shared.classes, new: shared.classes[old]})
    laid = facts.laid | {new} if old in facts.laid else facts.laid
    facts = replace(facts, kinds=kinds, aliases=shared, laid=laid)
    if old not in facts.active:
        return facts
    name = adjoint or facts.fresh(f"d_{new.lstrip('_')}").id
    return replace(facts, active=facts.active | {new}, adjoints={**facts.adjoints, new: name})


def on_adjoint(rhs: ir.Rhs) -> ir.Rhs:
    """An expression that takes a part of an adjoint: that of an object is a dict."""
    if isinstance(rhs, ir.Call) and rhs.role is ir.Role.ATTRIBUTE:
        return replace(rhs, role=None)
    return rhs


def adjoint_names(
    function: ir.Function, active: frozenset[str], fresh: ir.Fresh, prefix: str = "d_"
) -> dict[str, str]:
    """`d_` + name for every active name, in the order of appearance."""
    order = [p.name for p in function.params]
    for stmt in ir.walk(function.body):
        order += [*ir.writes(stmt), *ir.reads(stmt)]
    return {n: fresh(f"{prefix}{n}").id for n in dict.fromkeys(order) if n in active}
