"""What the passes after the analyses know of a function.

`Facts` are the kinds, aliases and active names of one function, and the names of its adjoints.
`Shapes` are what statements say of shapes that the kinds do not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from functools import cached_property

from srcdiff import ir
from srcdiff.analysis.aliases import Aliases
from srcdiff.ir.frozen import frozen, replace
from srcdiff.ir.kinds import is_container
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op

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
    target: ir.Target = ir.HOST
    unused: frozenset[str] = frozenset()  # inputs with a tangent that no output depends on
    alike: Mapping[int, ir.Stmt] = field(default_factory=dict)  # of `Shapes`
    places: frozenset[str] = frozenset()  # the arrays of different integers from 0 on

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
    for stmt in ir.walk(function):
        order += [*ir.writes(stmt), *ir.reads(stmt)]
    return {n: fresh(f"{prefix}{n}").id for n in dict.fromkeys(order) if n in active}


# --- values of one shape, whatever it is ----------------------------------------------------------


class Shapes:
    """Which values have one shape: `x`, `-x`, `2.0 * x`, `2.0 * x + np.exp(x)`.

    `alike` are the statements that work by element on numbers and on values of one shape, which
    the result has as well, by their identities: no other one gets that of one that is kept here.
    """

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.now: dict[str, int] = {}  # by what names stand for at the present point
        self.found = 0
        self.alike: dict[int, ir.Stmt] = {}
        if any(type(k) is ir.Array and _is_open(k) for k in kinds.values()):
            self.block(function.body)

    def block(self, block: ir.Block) -> None:
        """The statements of a block, in order."""
        for stmt in block:
            if type(stmt) is ir.Assign:
                self.assign(stmt)
            elif type(stmt) not in ir.PLAIN:
                self.nest(stmt)
            else:
                self.forget(self.changed(stmt))

    def changed(self, stmt: ir.Stmt) -> Iterable[str]:
        """The names that may stand for something of another shape behind a plain statement."""
        if isinstance(stmt, ir.Store):  # all of a number may become an array
            return ir.names(stmt.base) if stmt.index is None else ()
        return (*written_into(stmt, self.kinds), *ir.writes(stmt))

    def nest(self, stmt: ir.Stmt) -> None:
        """A statement with blocks inside, of which any may run, and how often is not known."""
        changed = {n for s in ir.walk((stmt,)) for n in self.changed(s)}
        self.forget(changed)
        before = dict(self.now)
        for inner in ir.blocks(stmt):
            self.now = dict(before)
            self.block(inner)
        self.now = before

    def forget(self, names: Iterable[str]) -> None:
        """Names stand for something else from here on."""
        for name in names:
            self.now.pop(name, None)

    def assign(self, stmt: ir.Assign) -> None:
        """`z = f(x, y)`."""
        rhs, target = stmt.rhs, stmt.target.id
        shape = self.shape(rhs) if type(rhs) is ir.Name else None
        if type(rhs) is ir.Call and not op_of(rhs.fn).is_elementwise:
            self.forget(self.changed(stmt))
        elif type(rhs) is ir.Call and not rhs.kwargs:
            shapes = {self.shape(a) for a in rhs.args} - {()}
            if len(shapes) == 1 and ir.is_numeric(self.kinds.get(target, ir.UNKNOWN)):
                (shape,) = shapes
        if shape is not None and type(rhs) is ir.Call:
            self.alike[id(stmt)] = stmt
        self.now.pop(target, None)
        if isinstance(shape, int):
            self.now[target] = shape

    def shape(self, atom: ir.Atom) -> Hashable:
        """What stands for the shape of a value, None if that may have none."""
        if type(atom) is ir.Const:
            return () if isinstance(atom.value, (int, float, complex)) else None
        kind = self.kinds.get(atom.id, ir.UNKNOWN) if type(atom) is ir.Name else ir.UNKNOWN
        if not isinstance(kind, (ir.Array, ir.Scalar)):
            return None
        if type(kind) is ir.Array and _is_open(kind):
            self.found += 1
            return self.now.setdefault(atom.id, self.found)  # type: ignore[union-attr]
        dims = ir.dims_of(kind) or ()
        return tuple((d.name, d.offset) if isinstance(d, ir.Sym) else d for d in dims)


def _is_open(kind: ir.Array) -> bool:
    """Whether the shape of an array is not known."""
    dims = ir.dims_of(kind)
    return dims is None or any(d is None or d == ir.BIG for d in dims)
