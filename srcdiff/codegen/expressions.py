"""Right-hand sides as gast expressions.

Takes atoms and calls; gives expressions, in which objects from outside (functions, modules,
constants) are spelled as the user does, or by a global name that means nothing else in the text.
"""

from __future__ import annotations

import builtins
import keyword
import math
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property, reduce
from typing import Any

import gast
import numpy as np

from srcdiff import ir
from srcdiff.codegen import expression_text
from srcdiff.primitives.arguments import called_by_name
from srcdiff.primitives.operation import distribution, op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.runtime.devices import OnHost, canonical
from srcdiff.runtime.workspace import MEMORY

_MISSING = object()
# Roots that people use for modules; a spelling is only kept if it leads to the very object.
_ROOTS: Mapping[str, Any] = {"np": np, "memory": MEMORY}
_SEARCHED = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.random", "math", "cmath", "operator", "functools",
    "itertools", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.integrate",
    "scipy.ndimage", "scipy.stats",
)  # fmt: skip
"""The modules whose callees are spelled as people do, once something has imported them."""


class Globals:
    """The global names of a generated text and the objects that they stand for.

    `taken` are the local names, which no global may have; `namespace` tells what the user's own
    names mean, `others` what the names mean that other functions of the text use.  `target` has the
    text run: for arrays on a device NumPy's functions are spelled as CuPy's, and Numba, which reads
    no attributes of classes, is given the values of these by names of their own.
    """

    def __init__(
        self,
        taken: Iterable[str],
        namespace: Mapping[str, Any] | None = None,
        others: Mapping[str, Any] | None = None,
        target: ir.Target = ir.HOST,
    ) -> None:
        self.device = target.on_device
        self.compiled = target.fused
        self.taken = frozenset(taken)
        self.namespace = namespace or {}
        self.others = others or {}
        self.refs: dict[str, Any] = {}
        self._spelled: dict[tuple[int, str | None], str] = {}

    def bind(self, name: str, value: Any) -> str:
        """A global name for an object: the given one, unless something else has it."""
        name, rest = self._named(name, value)
        candidate, number = name, 0
        while candidate in self.taken or self._is_other(candidate, value):
            number += 1
            candidate = f"{name}_{number}"
        if getattr(builtins, candidate, _MISSING) is not value:
            self.refs[candidate] = value
        return candidate + rest

    def _is_other(self, name: str, value: Any) -> bool:
        known = self.refs.get(name, self.others.get(name, _MISSING))
        return known is not _MISSING and not _same(known, value)

    def spell(self, value: Any, text: str | None = None) -> str:
        """The spelling of an object: the user's where that leads to it, else the usual one."""
        if type(value) is OnHost:
            return self._on_host(value, text)
        key = (id(value), text)
        if key not in self._spelled:
            self._spelled[key] = self._by_text(value, text) or self._usual(value, text)
        return self._spelled[key]

    @cached_property
    def _host(self) -> Globals:
        """The same names, and NumPy's functions as they are."""
        host = Globals(self.taken, self.namespace, self.others)
        host.refs = self.refs
        return host

    def _on_host(self, value: OnHost, text: str | None) -> str:
        """The spelling of a function of NumPy beside those of CuPy."""
        spelled = self._host.spell(value.function, text)
        root = spelled.partition(".")[0]
        if not isinstance(self.refs[root], OnHost):
            self.refs[root] = OnHost(self.refs[root])
        return spelled

    def _by_text(self, value: Any, text: str | None) -> str | None:
        """The user's spelling with its root bound, if it leads to the object."""
        if text is None or not all(part.isidentifier() for part in text.split(".")):
            return None
        root, _, rest = text.partition(".")
        if not rest:
            return self.bind(root, value)
        for source in (self.namespace, _ROOTS, sys.modules):
            found = canonical(source.get(root, _MISSING))
            if self.compiled and isinstance(found, type) and not callable(value):
                continue
            if _same(reduce(_part, rest.split("."), found), value):
                return f"{self.bind(root, found)}.{rest}"
        return None

    def _usual(self, value: Any, text: str | None) -> str:
        """The usual spelling of a function or a constant."""
        name = called_by_name(value)
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.bind('np', np)}.{'nan' if math.isnan(value) else 'inf'}"
        if name:
            found = self._in_modules(value, name) or self._member(value, name)
            if found is not None:
                return found
        return self.bind(_identifier(name if name.isidentifier() else text), value)

    def _in_modules(self, value: Any, name: str) -> str | None:
        """The spelling of what a well-known module holds."""
        if vars(builtins).get(name, _MISSING) is value:
            return self.bind(name, value)
        for module in (n for n in _SEARCHED if n in sys.modules):
            held = sys.modules[module]
            if _same(vars(held).get(name, _MISSING), value):
                root, _, rest = module.partition(".")
                theirs = [n for n, known in self.namespace.items() if known is held]
                if theirs and root == "scipy":
                    return f"{self.bind(theirs[0], held)}.{name}"
                base = self.bind("np" if root == "numpy" else root, sys.modules[root])
                return ".".join(p for p in (base, rest, name) if p)
        return None

    def _member(self, value: Any, name: str) -> str | None:
        """The spelling of a method of a class, a ufunc or a distribution."""
        owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        if isinstance(owner, (type, np.ufunc)) and _same(getattr(owner, name, _MISSING), value):
            return f"{self.spell(owner)}.{name}"
        base = distribution(owner)
        if base is None:
            return None
        theirs = self.namespace.get(base) is owner
        return f"{self.bind(base, owner) if theirs else self._in_modules(owner, base)}.{name}"

    def _named(self, name: str, value: Any) -> tuple[str, str]:
        """The global name for a module that a text calls by a name, and the path from there."""
        if value is np:
            return ("cp", "") if self.device else ("np" if name == "cp" else name, "")
        if self.device and value is sys.modules.get("scipy"):
            return "cupyx", ".scipy"
        return name, ""


def _same(one: Any, other: Any) -> bool:
    """Whether two objects are one; bound methods are made anew whenever they are read."""
    one = one.function if isinstance(one, OnHost) else one
    if one is other:
        return True
    if type(one) is not type(other) or not callable(one) or not hasattr(one, "__self__"):
        return False
    return one.__self__ is other.__self__ and one.__name__ == other.__name__


def _part(value: Any, name: str) -> Any:
    """An attribute of a module or class."""
    return getattr(value, name, _MISSING)


def _identifier(text: str | None) -> str:
    """A name made of some text."""
    name = "".join(c if c.isalnum() else "_" for c in text or "").strip("_")
    if keyword.iskeyword(name):  # a lambda
        return "anonymous"
    return name if name.isidentifier() else "constant"


# --- right-hand sides as gast expressions --------------------------------------------------------


LOAD, STORE = gast.Load(), gast.Store()


def _nodes(signs: Mapping[str, str]) -> dict[str, Any]:
    """The node of each operator by its sign, from the signs by the names of their classes."""
    return {sign: getattr(gast, cls)() for cls, sign in signs.items()}


BINARY = _nodes({cls: sign for cls, (sign, _) in expression_text.BINARY.items()})
_COMPARISON = _nodes(expression_text.COMPARISON)
_UNARY = _nodes({cls: f"{sign}x" for cls, sign in expression_text.UNARY.items()})
_EAGER = (Op.SUM, Op.TUPLE, Op.MIN, Op.MAX, Op.SET)
_AND, _OR, _NOT_IN, _IN, _NOT = gast.And(), gast.Or(), gast.NotIn(), gast.In(), gast.Not()
_RISING, _FALLING = (gast.Lt, gast.LtE), (gast.Gt, gast.GtE)


def name(identifier: str, context: Any = LOAD) -> Any:
    """A name."""
    return gast.Name(identifier, context, None, None)


def dotted(text: str) -> Any:
    """A name or a path of attributes."""
    root, *rest = text.split(".")
    node = name(root)
    for part in rest:
        node = gast.Attribute(node, part, LOAD)
    return node


class Expressions:
    """Builds expressions; `moved` holds those that wait for the place that reads them."""

    def __init__(self, globals_: Globals) -> None:
        self.globals = globals_
        self.moved: dict[str, Any] = {}

    # --- atoms ---------------------------------------------------------------------------------

    def atom(self, atom: ir.Atom) -> Any:
        """An operand."""
        if type(atom) is ir.Name:
            return self.moved.pop(atom.id, None) or name(atom.id)
        if type(atom) is ir.Const:
            return self._constant(atom.value)
        if type(atom) is ir.Ref:
            return dotted(self.globals.spell(atom.value, atom.text))
        if type(atom) is ir.Tup:
            items = [self.atom(a) for a in atom.items]
            return gast.List(items, LOAD) if atom.listed else gast.Tuple(items, LOAD)
        if type(atom) is ir.Star:
            return gast.Starred(self.atom(atom.value), LOAD)
        bounds = [self.atom(a) for a in (atom.lower, atom.upper, atom.step)]
        return gast.Call(dotted(self.globals.spell(slice)), bounds, [])

    def _constant(self, value: Any) -> Any:
        if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
            spelled = dotted(self.globals.spell(abs(value)))
            return gast.UnaryOp(gast.USub(), spelled) if value < 0 else spelled
        if isinstance(value, complex) and value == complex(0, value.imag) and str(value)[0] == "(":
            return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
        return gast.Constant(value, None)

    def index(self, atom: ir.Atom) -> Any:
        """What stands between square brackets."""
        if type(atom) is ir.Slice:
            bounds = (atom.lower, atom.upper, atom.step)
            return gast.Slice(*(None if b == ir.Const(None) else self.atom(b) for b in bounds))
        if type(atom) is ir.Tup:
            return gast.Tuple([self.index(a) for a in atom.items], LOAD)
        return self.atom(atom)

    # --- right-hand sides ----------------------------------------------------------------------

    def rhs(self, rhs: ir.Rhs) -> Any:
        """A right-hand side."""
        if type(rhs) is ir.Call:
            return self._call(rhs)
        if isinstance(rhs, ir.Opaque):
            return self.renamed(gast.parse(f"({rhs.text}\n)", mode="eval").body, rhs.refs)
        return self.atom(rhs)

    def renamed(self, tree: Any, refs: tuple[tuple[str, Any], ...]) -> Any:
        """A parsed text whose global names are bound; those with another meaning are renamed."""
        new = {old: self.globals.bind(old, value) for old, value in refs}
        if any(k != v for k, v in new.items()):
            for node in gast.walk(tree):
                if isinstance(node, gast.Name):
                    node.id = new.get(node.id, node.id)
        return tree

    def _call(self, call: ir.Call) -> Any:
        """A call in infix notation, with brackets or as a call, whatever its callee is."""
        fn = call.fn
        if type(fn) is ir.Name:
            return self._plain(self.atom(fn), call)
        if isinstance(fn, (ir.Attr, ir.Method)):
            part = gast.Attribute(self.atom(call.args[0]), fn.name, LOAD)
            return part if type(fn) is ir.Attr else self._plain(part, call, call.args[1:])
        if type(fn) is ir.Derived:
            return self._plain(name(fn.name), call)
        if call.text and call.text.endswith("[]"):
            return self._joined(fn, call)
        found = self._display(call) or self._operator(call)
        return found or self._plain(dotted(self.globals.spell(fn, call.text)), call)

    def _joined(self, fn: Any, call: ir.Call) -> Any:
        """`np.r_[x, y]`; one thing stands without a comma, as users write it."""
        key = call.args[0]
        if type(key) is ir.Tup and len(key.items) == 1:
            key = key.items[0]
        joiner = dotted(self.globals.spell(fn.__self__, (call.text or "")[:-2]))
        return gast.Subscript(joiner, self.index(key), LOAD)

    def _tuple(self, call: ir.Call) -> Any:
        """`tuple(x)`; of a display, the tuple display."""
        item = self.atom(call.args[0])
        if isinstance(item, gast.Tuple):
            return item
        if isinstance(item, gast.List) and any(isinstance(e, gast.Starred) for e in item.elts):
            return gast.Tuple(item.elts, LOAD)
        return gast.Call(dotted(self.globals.spell(tuple, call.text)), [_as_generator(item)], [])

    def _plain(self, fn: Any, call: ir.Call, args: tuple[ir.Atom, ...] | None = None) -> Any:
        """`fn(*args, **kwargs)`."""
        positional = [self.atom(a) for a in (call.args if args is None else args)]
        if len(positional) == 1 and not call.kwargs and is_op(call, *_EAGER):
            positional = [_as_generator(positional[0])]
        if is_op(call, Op.LIST) and len(positional) == 1:
            if isinstance(positional[0], (gast.List, gast.ListComp)):  # nobody else has it
                return positional[0]
        if is_op(call, Op.BLOCK):
            positional = list(map(_as_lists, positional))
        return gast.Call(fn, positional, [gast.keyword(k, self.atom(v)) for k, v in call.kwargs])

    def _display(self, call: ir.Call) -> Any:
        """A list, tuple or dict that is written out; None for anything else."""
        args, op = call.args, which_op(call)
        if op is Op.TUPLE and len(args) == 1 and not call.kwargs:
            return self._tuple(call)
        if op is Op.MAKE_LIST:
            return gast.List([self.atom(a) for a in args], LOAD)
        if op is Op.ZEROS_OF:
            zeros = gast.List([self.atom(ir.Const(0.0))], LOAD)
            return gast.BinOp(zeros, BINARY["*"], self.rhs(ir.Call(len, args, text="len")))
        if op is Op.MAKE_DICT and ir.Star not in map(type, args):
            parts = [self.atom(a) for a in args]
            return gast.Dict(parts[::2], parts[1::2])
        return None

    def _operator(self, call: ir.Call) -> Any:
        """An operator of Python; None where it is called by its name, and for anything else."""
        sign, args = op_of(call.fn).symbol, call.args
        count = 1 if sign.endswith("x") else 2
        if not sign or call.kwargs or len(args) != count or ir.Star in map(type, args):
            return None
        if sign == "[]":
            return gast.Subscript(self.atom(args[0]), self.index(args[1]), LOAD)
        if call.text:
            return None  # the user wrote `operator.add(x, y)`
        if sign == "not x":
            return negated(self.atom(args[0]), True)
        if count == 1:
            return gast.UnaryOp(_UNARY[sign], self.atom(args[0]))
        if sign == "in":
            args = args[::-1]
        left, right = map(self.atom, args)
        if sign in BINARY:
            return gast.BinOp(left, BINARY[sign], right)
        return gast.Compare(left, [_COMPARISON[sign]], [right])


def _as_lists(node: Any) -> Any:
    """Displays as lists, for a function to which a tuple is something else."""
    if not isinstance(node, (gast.Tuple, gast.List)):
        return node
    return gast.List(list(map(_as_lists, node.elts)), LOAD)


def _as_generator(node: Any) -> Any:
    """A list comprehension that is used up at once needs no list."""
    return gast.GeneratorExp(node.elt, node.generators) if isinstance(node, gast.ListComp) else node


def negated(test: Any, exact: bool = False) -> Any:
    """`not test`; unless `exact`, a comparison or a negation is turned round where that is safe."""
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], gast.In):
            return gast.Compare(test.left, [_NOT_IN], test.comparators)
        if not exact and isinstance(test.ops[0], gast.NotIn):
            return gast.Compare(test.left, [_IN], test.comparators)
    if not exact and isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(_NOT, test)


def continued(first: Any, rest: Any, is_and: bool, flat: bool) -> Any:
    """`first and rest`; with `flat`, what `rest` goes on with belongs to the same chain."""
    kind = gast.And if is_and else gast.Or
    same = flat and isinstance(rest, gast.BoolOp) and isinstance(rest.op, kind)
    values = [first, *(rest.values if same else [rest])]
    if is_and:
        values = _chained(values)
    return values[0] if len(values) == 1 else gast.BoolOp(_AND if is_and else _OR, values)


def _chained(values: list[Any]) -> list[Any]:
    """`a < b and b < c` as `a < b < c`."""
    first, second = values[0], values[1]
    if not isinstance(first, gast.Compare) or not isinstance(second, gast.Compare):
        return values
    middle, start = first.comparators[-1], second.left
    same = isinstance(middle, gast.Name) and isinstance(start, gast.Name) and middle.id == start.id
    ops = [*first.ops, *second.ops]
    if same and any(all(isinstance(o, d) for o in ops) for d in (_RISING, _FALLING)):
        joined = gast.Compare(first.left, ops, [*first.comparators, *second.comparators])
        return [joined, *values[2:]]
    return values
