"""Containers whose structure is known, and what helpers for containers make of them.

Takes what operands stand for; gives boxes, and statements for the numbers and arrays in them.  The
invariant: what a box holds lies in variables of its own, and one box is one container.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Union, final

import numpy as np

from srcdiff import ir
from srcdiff.backends.numba.legalize import refuse
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import state
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import trees

_LISTED = "Stack the arrays into one and index that"


@final
@state
class Box:
    """A container whose structure is known, and what it holds.

    `depth`: how many branches and loops were around where it was made; `made`: the name that it
    was given there; `given`: how it is read where it is the caller's; `steady`: nothing may be
    stored into it, as others may hold it as well; `stored`: something has been.
    """

    cls: type
    items: dict[Any, Value]
    depth: int
    made: str = ""
    given: tuple[Any, ...] = ()
    steady: bool = False
    stored: bool = False


Value = Union[Box, ir.Atom]


class _Lost:
    """What a name has behind branches that give it other containers."""


LOST: Any = _Lost()


def shown(path: tuple[Any, ...]) -> str:
    """How a part of an argument is written."""
    return str(path[0]) + "".join(f"[{k!r}]" for k in path[1:])


def has_lists(kind: ir.Kind, open_too: bool = True) -> bool:
    """Whether a value is or holds a list or dict; `open_too`: one that may grow counts."""
    if isinstance(kind, (ir.List, ir.Dict)) and (open_too or not _is_open(kind)):
        return True
    return any(has_lists(part, open_too) for part in ir.inside(kind))


def alike(one: Any, other: Any) -> bool:
    """Whether two boxes have one structure."""
    if type(one) is not Box or type(other) is not Box:
        return type(one) is not Box and type(other) is not Box
    same = one.cls is other.cls and list(one.items) == list(other.items)
    return same and all(alike(v, other.items[k]) for k, v in one.items.items())


def all_boxes(box: Box) -> list[Box]:
    """A box, and those in it."""
    return [box, *(b for v in box.items.values() if type(v) is Box for b in all_boxes(v))]


def is_shared(held: list[Box], name: str, env: Mapping[str, Any]) -> bool:
    """Whether another name than one stands for one of some boxes, or for what has it inside."""
    others = [b for n, b in env.items() if n != name and type(b) is Box]
    return any(b is h for other in others for b in all_boxes(other) for h in held)


def leaf_pairs(one: Box, other: Box) -> Iterator[tuple[ir.Atom, ir.Name]]:
    """The numbers and arrays of two boxes of one structure, place by place."""
    for key, value in one.items.items():
        found = other.items[key]
        if type(value) is Box:
            assert type(found) is Box
            yield from leaf_pairs(value, found)
        else:
            yield value, found  # type: ignore[misc]


def _is_open(kind: ir.Kind) -> bool:
    """Whether nothing is known of a value, or of how much a list holds."""
    return kind == ir.UNKNOWN or (type(kind) is ir.List and kind.items is None)


def _is_native(kind: ir.Kind) -> bool:
    """Whether a value is a number, an array, or a tuple of known items of these."""
    if isinstance(kind, ir.Tuple):
        return kind.items is not None and all(map(_is_native, kind.items))
    return isinstance(kind, (ir.Scalar, ir.Array, ir.NoneKind, ir.Text))


class Boxes(Builder):
    """Makes boxes; `env` has those that names stand for, and known integers.

    `given` are the parameters of the function that is made, `wrapped` those of them that are given
    in a tuple; `seeds` are cotangents that are taken apart.

    `zeros_of` are the variables that hold zeros like an array, or what was added to them.
    """

    def __init__(self, function: ir.Function, params: ir.Kinds, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)), function.loc)
        self.whole, self.params, self.kinds = function, params, dict(kinds)
        self.env: dict[str, Any] = {}
        self.depth = 0
        self.given: dict[str, tuple[Any, ...]] = {}
        self.seeds: dict[str, Value] = {}
        self.zeros_of: dict[str, ir.Name] = {}
        self.wrapped: set[str] = set()
        self.used_up: Sequence[str] = ()
        self.hint = ""

    def refuse(self, what: str, instead: str = _LISTED) -> NoReturn:
        """Refuse what cannot be taken apart, at the place of the statement."""
        refuse(what, self.loc if self.loc.line else self.whole.loc, instead)

    def other_structure(self) -> NoReturn:
        """Refuse adjoints of which one is not like the other, or like what it is that of."""
        self.refuse("an adjoint is of another structure than what it is the adjoint of")

    # --- what operands stand for ------------------------------------------------------------------

    def of(self, atom: Any) -> Box | None:
        """The box that an atom stands for."""
        if type(atom) is not ir.Name:
            return None
        found = self.env.get(atom.id)
        if found is LOST:
            what = f"it depends on the way taken here which container {ir.said(atom.id)} is"
            self.refuse(what, "Make it before, and store into it")
        return found if type(found) is Box else None

    def holds(self, rhs: ir.Rhs | None) -> bool:
        """Whether an operand is a box, or has one in it."""
        return any(self.of(ir.Name(n)) is not None for n in ir.names(rhs))

    def part(self, atom: ir.Atom) -> Value:
        """What an atom stands for: a box, or itself."""
        if type(atom) is ir.Tup and self.holds(atom):
            cls = list if atom.listed else tuple
            return self.box(cls, enumerate(map(self.part, atom.items)), self.hint or "_t")
        return self.of(atom) or atom

    def kind(self, atom: Any) -> ir.Kind:
        """What is known of a number or array."""
        return atom_kind(atom, self.kinds)

    def known(self, atom: ir.Atom) -> Any:
        """The value of an atom that is known; LOST where it is not."""
        found = self.env.get(atom.id) if type(atom) is ir.Name else atom
        return found.value if type(found) is ir.Const else LOST

    def sequence(self, value: Value) -> ir.Atom:
        """A list or tuple of numbers and arrays as a tuple."""
        if type(value) is not Box:
            return value
        if value.cls is dict:
            self.refuse("a dict is kept or passed on as a whole")
        return ir.Tup(tuple(map(self.sequence, value.items.values())))

    # --- boxes ------------------------------------------------------------------------------------

    def in_a_tuple(self, kind: ir.Kind, path: tuple[Any, ...], name: str) -> ir.Name:
        """A parameter for a list that Numba has made, which it takes in a tuple alone."""
        leaf = self.fresh(name)
        self.kinds[leaf.id], self.given[leaf.id] = ir.Tuple((kind,)), path
        self.wrapped.add(leaf.id)
        return leaf

    def boxed(self, kind: ir.Kind, path: tuple[Any, ...], name: str) -> Value:
        """What stands for an argument, or for a part of it."""
        if path[0] in self.used_up and _is_open(kind):
            return self.item(self.in_a_tuple(kind, path, name), ir.Const(0))
        if isinstance(kind, (ir.List, ir.Dict, ir.Tuple)):
            pairs = self.pairs(kind, path)
            cls = {ir.List: list, ir.Dict: dict, ir.Tuple: tuple}[type(kind)]
            items = {k: self.boxed(v, (*path, k), f"{name}_{k}") for k, v in pairs}
            return Box(cls, items, 0, path[0], path)
        if isinstance(kind, ir.NoneKind):
            return ir.NONE
        if ir.is_integer(kind) and kind.value is not None:
            return ir.Const(kind.value)
        if not isinstance(kind, (ir.Scalar, ir.Array, ir.Text)):
            self.refuse(f"`{shown(path)}` is no number or array, which is all that Numba is given")
        leaf = self.fresh(name)
        self.kinds[leaf.id], self.given[leaf.id] = kind, path
        return leaf

    def pairs(
        self, kind: ir.List | ir.Dict | ir.Tuple, path: tuple[Any, ...]
    ) -> list[tuple[Any, ir.Kind]]:
        """The keys and kinds of what an argument holds."""
        if isinstance(kind, ir.Dict) and kind.cls is not None:
            instead = "Pass the arrays in a dict"
            self.refuse(f"`{shown(path)}` is an object of `{kind.cls.__name__}`", instead)
        if kind.items is None or (isinstance(kind, ir.Dict) and kind.item is not None):
            what = f"it is not known how much `{shown(path)}` holds, which Numba has to know"
            self.refuse(what)
        assert kind.items is not None
        found = kind.items if isinstance(kind, ir.Dict) else tuple(enumerate(kind.items))
        if any(type(k) not in (str, int) for k, _ in found):
            self.refuse(f"`{shown(path)}` has a key that is neither a text nor an integer")
        return list(found)

    def box(self, cls: type, pairs: Iterable[tuple[Any, Value]], name: str) -> Box:
        """A new container, each number and array of it in a variable of its own."""
        items = {k: self.slot(v, f"{name}_{k}") for k, v in pairs}
        return Box(cls, items, self.depth, name)

    def slot(self, value: Value, name: str) -> Value:
        """A variable with what a container holds."""
        value = self.opened(value)
        if type(value) is Box or type(value) is ir.Const:
            return value
        kind = self.kind(value)
        found = self.temp(value, name)
        self.kinds[found.id] = kind
        return found

    def opened(self, value: Value) -> Value:
        """What stands for a value, taken apart where it is a tuple that Numba makes."""
        kind = ir.UNKNOWN if type(value) is Box else self.kind(value)
        known = isinstance(kind, ir.Tuple) and kind.items is not None
        return self.taken_apart(value, kind) if known else value  # type: ignore[arg-type]

    def made(self, rhs: ir.Rhs, name: str, kind: ir.Kind) -> ir.Name:
        """A variable with a value of a kind."""
        found = self.temp(rhs, name)
        self.kinds[found.id] = kind
        return found

    # --- helpers for containers -------------------------------------------------------------------

    def of_leaves(self, call: ir.Call, name: str) -> Value | None:
        """What helpers for containers make of numbers, arrays, and tuples that Numba makes."""
        if module_of(call.fn) != trees.__name__ or not call.args:
            return None
        kinds = [self.kind(a) for a in call.args]
        if not all(map(_is_native, kinds)):
            return None
        array = isinstance(kinds[-1], ir.Array)
        return None if array and is_op(call, Op.LIKE_TREE) else self.of_tree(call, name)

    def of_tree(self, call: ir.Call, name: str) -> Value | None:
        """What helpers make of containers."""
        given = [self.opened(self.part(a)) for a in call.args]
        first = given[0]
        if is_op(call, Op.ZEROS_OF) and type(first) is Box:
            return self.box(list, enumerate([ir.Const(0.0)] * len(first.items)), name)
        if is_op(call, Op.ZERO_TREE, Op.TREE_ZEROS_LIKE):
            return self.zeros(first, name)
        if is_op(call, Op.LIKE_TREE):
            return self.like(first, given[1], name)
        if is_op(call, Op.ADD_TREE):
            return self.sum(first, given[1], name)
        if is_op(call, Op.COPY_TREE, Op.KEPT, Op.AS_NOW, Op.DEEP_COPY, Op.DEEPCOPY):
            return self.copy(first, name)
        if type(first) is Box and is_op(call, *_SHALLOW) and not call.kwargs:
            cls = list if is_op(call, Op.LIST) else tuple if is_op(call, Op.TUPLE) else first.cls
            values = first.items if first.cls is dict and cls is not dict else None
            if values is not None:
                return self.box(cls, enumerate(map(ir.Const, values)), name)
            return self.box(cls, first.items.items(), name)
        if is_op(call, Op.ADD) and all(type(g) is Box for g in given):
            both = [v for g in given for v in g.items.values()]  # type: ignore[union-attr]
            return self.box(first.cls, enumerate(both), name)  # type: ignore[union-attr]
        return None

    def mapped(
        self, one: Callable[[ir.Atom, str], Value], x: Value, name: str, tuples: type = list
    ) -> Value:
        """`one` of each number and array; a tuple becomes a list, as adjoints have it."""
        if type(x) is not Box:
            return one(x, name)
        items = {k: self.mapped(one, v, f"{name}_{k}", tuples) for k, v in x.items.items()}
        return Box(tuples if x.cls is tuple else x.cls, items, self.depth, name)

    def zeros(self, x: Value, name: str) -> Value:
        """`zero_tree(x)`."""

        def one(leaf: ir.Atom, name: str) -> Value:
            kind = self.kind(leaf)
            if not ir.is_float(kind):
                if ir.dtype_of(kind) is None and not isinstance(kind, (ir.NoneKind, ir.Text)):
                    self.refuse("it is not known of which type an item of a container is")
                return ir.NONE
            if isinstance(kind, ir.Array):
                found = self.made(ir.Call(np.zeros_like, (leaf,)), name, kind)
                if type(leaf) is ir.Name:
                    self.zeros_of[found.id] = leaf
                return found
            zero = 0j if kind.dtype == "complex128" else 0.0  # type: ignore[union-attr]
            return self.made(ir.Const(zero), name, kind)

        return self.mapped(one, x, name)

    def copy(self, x: Value, name: str) -> Value:
        """A copy that shares no memory."""

        def one(leaf: ir.Atom, name: str) -> Value:
            kind = self.kind(leaf)
            if isinstance(kind, (ir.Scalar, ir.NoneKind, ir.Text)):
                return self.slot(leaf, name)
            return self.made(ir.Call(np.copy, (leaf,)), name, kind)

        return self.mapped(one, x, name)

    def like(self, d: Value, x: Value, name: str) -> Value:
        """`like_tree(d, x)`."""
        if type(x) is Box:
            if type(d) is not Box or (d.cls is dict) != (x.cls is dict):
                self.other_structure()
            items = {k: self.like(d.items[k], v, f"{name}_{k}") for k, v in x.items.items()}
            return Box(x.cls, items, self.depth, name)
        assert type(d) is not Box
        kind = self.kind(x)
        if d == ir.NONE or (type(d) is ir.Name and self.zeros_of.get(d.id) == x):
            return self.slot(d, name)  # of memory of its own, of this shape and dtype
        if isinstance(kind, ir.Array):
            return self.made(ir.Call(trees.like_tree, (d, x), text="like_tree"), name, kind)
        if ir.is_real(kind) and not ir.is_real(self.kind(d)):
            d = self.made(ir.Call(np.real, (d,)), name, kind)
        if type(kind) is ir.Scalar and kind.dtype == "float32":
            return self.made(ir.Call(np.float32, (d,)), name, kind)
        cls = complex if ir.dtype_of(kind) == "complex128" else float
        python = isinstance(kind, ir.Scalar) and kind.python
        return self.made(ir.Call(cls, (d,), text=cls.__name__), name, kind) if python else d

    def sum(self, a: Value, b: Value, name: str) -> Value:
        """`add_tree(a, b)`."""
        if ir.NONE in (a, b):
            return self.copy(b if a == ir.NONE else a, name)
        if type(a) is Box and type(b) is Box and a.items.keys() == b.items.keys():
            items = {k: self.sum(v, b.items[k], f"{name}_{k}") for k, v in a.items.items()}
            return Box(dict if a.cls is dict else list, items, self.depth, name)
        if type(a) is Box or type(b) is Box:
            self.other_structure()
        kind = self.kind(a)
        return self.made(ir.Call(operator.add, (a, b)), name, kind)

    def output(self, call: ir.Call) -> Value | None:
        """The output of which a cotangent is that, if it is a container or a number."""
        output = call.args[1]
        found = self.part(output)
        if type(found) is ir.Tup:
            return Box(tuple, dict(enumerate(map(self.part, found.items))), self.depth)
        found = self.opened(found)
        kind = self.kind(output)
        number = isinstance(kind, ir.Scalar) and ir.is_float(kind)
        return found if type(found) is Box or number else None

    def taken_apart(self, atom: ir.Atom, kind: ir.Tuple) -> Box:
        """A tuple that Numba makes, with variables for its items."""
        items: dict[Any, Value] = {}
        for k, inner in enumerate(kind.items or ()):
            item = ir.Call(operator.getitem, (atom, ir.Const(k)))
            items[k] = self.opened(self.made(item, "_t", inner))
        return Box(tuple, items, self.depth)

    def cotangent(self, call: ir.Call, output: Value, name: str) -> Value:
        """The cotangent of an output that is a container: the caller's is taken apart."""
        seed = call.args[0].id if type(call.args[0]) is ir.Name else ""
        if self.depth or seed in self.seeds or self.given.get(seed) != (seed,):
            self.refuse("the cotangent is used as a whole", "Select one output (outputs=0)")
        found = self.seeded(output, name, (seed,))
        self.seeds[seed] = found[0]
        return found[1]

    def seeded(self, x: Value, name: str, path: tuple[Any, ...]) -> tuple[Value, Value]:
        """The parameters for the cotangent of an output, and what is made of them."""
        if type(x) is Box:
            pairs = {k: self.seeded(v, f"{name}_{k}", (*path, k)) for k, v in x.items.items()}
            given = {k: one for k, (one, _) in pairs.items()}
            found = {k: two for k, (_, two) in pairs.items()}
            cls = list if x.cls is tuple else x.cls
            return Box(x.cls, given, 0), Box(cls, found, self.depth, name)
        kind = self.kind(x)
        if not ir.is_float(kind):
            if ir.dtype_of(kind) is None and not isinstance(kind, (ir.NoneKind, ir.Text)):
                self.refuse(
                    "it is not known of which type an output is, which Numba has to know",
                    "Give a number as `float(y)`",
                )
            return ir.NONE, ir.NONE
        leaf = self.fresh("_".join(map(str, path)))
        self.given[leaf.id] = path
        if isinstance(kind, ir.Array):
            call = ir.Call(trees.cotangent, (leaf, x), text="cotangent")
            return leaf, self.made(call, name, kind)
        if ir.dtype_of(kind) not in ("float64", "float32"):
            what = f"Numba does not take the cotangent of a number of dtype {ir.dtype_of(kind)}"
            self.refuse(what, "Return its real part, an array")
        self.kinds[leaf.id] = ir.Scalar("float64")
        if ir.dtype_of(kind) == "float32":
            return leaf, self.made(ir.Call(np.float32, (leaf,)), name, kind)
        return leaf, leaf


_SHALLOW = (Op.LIST, Op.TUPLE, Op.DICT, Op.COPY_METHOD, Op.SHALLOW_COPY)
