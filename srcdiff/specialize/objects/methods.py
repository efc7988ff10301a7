"""Methods, properties, operators and constructors of objects, as calls of plain functions.

Takes a function and the kinds of its names; returns it with what the kinds of objects decide:
`x.step(h)` becomes `Model.step(x, h)`, which `inline` then replaces by its body, and a question
such as `isinstance(x, Model)` its answer.  An object says by `__iter__` what a loop, an unpacking
or `list` takes of it.  Reads and stores of attributes stay (see `scalar_replacement`).

`functools.cached_property` computes once: its body takes the place of a read, which gives the same
as long as no attribute of an object of that class is assigned afterwards, and nobody writes into
one or into what it gave.  Properties that the program might tell from plain ones are refused.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from srcdiff import ir
from srcdiff.analysis.liveness import Order
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import refused
from srcdiff.frontend.closures import Closure
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.runtime import records
from srcdiff.runtime.records import MISSING
from srcdiff.specialize.inline import lowered
from srcdiff.specialize.objects import construct, reflection
from srcdiff.specialize.objects.places import stores
from srcdiff.specialize.unroll import Known, Unroller


def check_property(function: ir.Function, kinds: ir.Kinds, kind: ir.Kind, name: str) -> None:
    """Refuse the property of objects of a kind, if it is not as good as a plain one.

    Which of the objects that there are when it is read are one is not asked.
    """
    mine = {None, *ir.classes_in(kind)}
    memory = PointsTo.of(function, kinds)
    written = memory.written.union(k.source for k in memory.marks)
    changed = {memory.near.of(n) for n in written if ir.class_of(kinds.get(n)) is None}
    order, stmts = Order(function), ir.walk(function)
    for stmt in stmts:
        base, attr = _attribute(stmt)
        if attr and ir.class_of(kinds.get(base)) in mine:
            if any(memory.near.of(n) in changed for n in (base, *ir.writes(stmt))):
                _refuse(name, "or something that its object has, is written into", stmt)
    reads = [s for s in stmts if _attribute(s)[1] == name]
    for stmt, atom, _ in stores(function.body):
        if ir.class_of(atom_kind(atom, kinds)) in mine:
            if any(_may_change(stmt, atom, read, order) for read in reads):
                _refuse(name, "is read before its object, or one that it holds, may change", stmt)


def _may_change(store: ir.Stmt, base: ir.Atom, read: ir.Stmt, order: Order) -> bool:
    """Whether a store may come after a read, and not into an object that is made in between."""
    name = base.id if isinstance(base, ir.Name) else ""
    made = order.once.get(name)
    new = made is not None and is_op(ir.call_of(made), Op.NEW_OBJECT)
    since = new and order.number[id(made)] > order.number[id(read)]
    return not since and order.may_follow(store, read, name)


def _refuse(name: str, what: str, stmt: ir.Stmt) -> None:
    raise refused("objects.cached_property", stmt.loc, name=name, what=what)


def _attribute(stmt: ir.Stmt) -> tuple[str, str]:
    """The object and the attribute that a statement reads."""
    call = ir.call_of(stmt)
    if call is None or not isinstance(call.fn, ir.Attr):
        return "", ""
    return next(iter(ir.names(call.args[0])), ""), call.fn.name


# --- objects that say by `__iter__` what a loop, an unpacking or `list` takes of them ------------


_TAKING = (Op.LIST, Op.TUPLE, Op.SUM, Op.MIN, Op.MAX, Op.SORTED)


class InTurn(Unroller):
    """What takes the items of objects, as calls of their methods."""

    def iterated(self, call: ir.Call) -> ir.Call:
        """What a loop or an unpacking asks an object: of the list of what its `__iter__` gives."""
        if is_op(call, Op.MAKE_LIST):
            return replace(call, args=tuple(self.starred(a) for a in call.args))
        asks = call.role is ir.Role.LOOP or isinstance(call.role, ir.Unpacks)
        first = is_op(call, Op.LEN)
        if not asks or not isinstance(call.args[0], ir.Name):
            return call
        base = call.args[0]
        own = self.written(base, "__iter__")
        if own is None:
            return call
        if first or base.id not in self.items:
            self.items[base.id] = self.call(list, self.apply(own, base))
        return replace(call, args=(self.items[base.id], *call.args[1:]))

    def starred(self, atom: ir.Atom) -> ir.Atom:
        """`*x` of an object in a list."""
        base = atom.value if isinstance(atom, ir.Star) else ir.NONE
        own = self.written(base, "__iter__") if isinstance(base, ir.Name) else None
        return atom if own is None else ir.Star(self.call(list, self.apply(own, base)))

    def taken_in_turn(self, call: ir.Call) -> ir.Rhs | None:
        """`list(x)` of an object, and of `iter(ys)`, which nothing else takes items of."""
        if not is_op(call, *_TAKING) or len(call.args) != 1:
            return None
        base = call.args[0]
        behind = self.behind_iterator(base)
        if behind is not None:
            return replace(call, args=(behind, *call.args[1:]))
        if self.written(base, "__next__") is not None:
            raise refused("objects.next", self.loc)
        own = self.written(base, "__iter__")
        if own is None and self.written(base, "__getitem__") is not None:
            if not records.is_named_tuple(self.cls(base)):
                raise refused("objects.items", self.loc)
        if own is None or records.is_named_tuple(self.cls(base)):
            return None
        return replace(call, args=(self.apply(own, base),))

    def behind_iterator(self, atom: ir.Atom) -> ir.Atom | None:
        """What `iter` was given to make a value that is read once."""
        while isinstance(atom, ir.Name):
            made = [s for s in ir.walk(self.whole.body) if atom.id in ir.writes(s)]
            if len(made) != 1 or ir.reader_counts(self.whole.body)[atom.id] != 1:
                return None
            rhs = made[0].rhs if isinstance(made[0], ir.Assign) else None
            if is_op(rhs, Op.ITER) and len(rhs.args) == 1:
                return rhs.args[0]
            if not isinstance(rhs, ir.Name):
                return None
            atom = rhs
        return None


_COMPARE = (Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE)
_BINARY = (
    Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MATMUL, Op.POW, Op.MOD, Op.FLOORDIV, Op.AND, Op.OR, Op.XOR,
    Op.LSHIFT, Op.RSHIFT, *_COMPARE,
)  # fmt: skip
_UNARY = (
    Op.NEG, Op.POS, Op.INVERT, Op.ABS, Op.LEN, Op.FLOAT, Op.COMPLEX, Op.INT, Op.GETITEM,
    Op.CONTAINS, Op.ROUND,
)  # fmt: skip
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""What the right operand of a comparison is asked; of other operators `radd` and the like."""


_DOES_NOTHING = ("__init__", "__init_subclass__")
"""Methods of `object` that `super()` may lead to."""


class Questions(Known):
    """What is hoped of the classes of objects, asked before their methods are looked up.

    Which class the result of a method has may depend on it: `a * b` of vectors is a number, where
    `b` is one as well.
    """

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """One statement; what asks for the class of an object is the answer."""
        call = ir.call_of(stmt)
        if call is None or not is_op(call, Op.ISINSTANCE) or not isinstance(stmt, ir.Assign):
            return self.inside(stmt)
        answer = reflection.RULES[Op.ISINSTANCE](self, call)
        return stmt if answer is None else ir.with_rhs(stmt, answer)


class Members(InTurn):
    """One round over a function."""

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """One statement, after what it needs."""
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            return self.evaluated(stmt, stmt.rhs)
        if isinstance(stmt, ir.Store) and self.cls(stmt.base) is not None:
            return self.set_item(stmt)
        if isinstance(stmt, ir.If):
            return self.if_(stmt)
        return self.for_(stmt) if isinstance(stmt, ir.For) else self.inside(stmt)

    def evaluated(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> ir.Stmt | ir.Block:
        """A statement that evaluates a call."""
        call = self.iterated(call)
        found = self.plainer(call)
        if found is None or isinstance(stmt, ir.Assign) or isinstance(found, (ir.Call, ir.Opaque)):
            return ir.with_rhs(stmt, call if found is None else found)
        return ()

    def set_item(self, stmt: ir.Store) -> ir.Stmt:
        """`x[i] = v`, `x[i] += v` and `x += v` of an object."""
        value: ir.Atom = stmt.value
        if stmt.index is None:
            assert isinstance(stmt, ir.AugAssign)
            plain = ir.OPERATORS[stmt.op]
            own = self.written(stmt.base, f"__i{plain.__name__.strip('_')}__") or plain
            return ir.Assign(stmt.base, ir.Call(own, (stmt.base, value)), stmt.loc)
        if isinstance(stmt, ir.AugAssign):
            old = self.item(stmt.base, stmt.index)
            self.out.append(ir.AugAssign(old, None, value, stmt.op, loc=stmt.loc))
            value = old
        own = self.written(stmt.base, "__setitem__")
        if own is None:
            cls = self.cls(stmt.base)
            name = cls.__name__ if cls else "the object"
            raise refused("objects.setitem", stmt.loc, cls=name)
        index = self.index(stmt.index)
        return ir.Effect(ir.Call(own, (stmt.base, index, value)), stmt.loc)

    def if_(self, stmt: ir.If) -> ir.Stmt | ir.Block:
        """A condition; where it is known, only what is taken."""
        test = stmt.test
        if self.cls(test) is not None:
            test = self.truth(test)
        known = ir.known_truth(self.kind(test))
        if known is not None:
            return self.block(stmt.body if known else stmt.orelse)
        return self.inside(ir.rebuilt(stmt, test=test))

    # --- calls -----------------------------------------------------------------------------------

    def plainer(self, call: ir.Call) -> ir.Rhs | None:
        """A call in plainer form, None if there is none."""
        fn = call.fn
        if (taken := self.taken_in_turn(call)) is not None:
            return taken
        if isinstance(fn, ir.Attr):
            return self.read(call.args[0], fn)
        if isinstance(fn, ir.Method):
            return self.called_method(call, fn)
        if isinstance(fn, ir.Name):
            return self.called(fn, call) if self.cls(fn) is not None else None
        if isinstance(fn, ir.SetAttr):
            return self.stored(fn, *call.args)
        if construct.takes_sequences(call) and any(map(self.is_named_tuple, call.args)):
            return self.plain(call)
        if isinstance(fn, type) and records.is_record(fn):
            return construct.construct(self, fn, call)
        if records.is_record(type(fn)):
            return self.called(ir.Ref(call.text or "constant", fn), call)
        rule = reflection.RULES.get(which_op(call))
        if rule is not None:
            return rule(self, call)
        return self.overloaded(call)

    def is_named_tuple(self, atom: ir.Atom) -> bool:
        """Whether an argument is a named tuple, or the items of one."""
        inner = atom.value if isinstance(atom, ir.Star) else atom
        return records.is_named_tuple(self.cls(inner))

    def plain(self, call: ir.Call) -> ir.Rhs:
        """A call that takes its named tuples as plain ones."""
        args = tuple(self.as_tuple(a) if self.is_named_tuple(a) else a for a in call.args)
        if is_op(call, Op.LEN) and isinstance(args[0], ir.Tup):
            return ir.Const(len(args[0].items))
        return replace(call, args=args)

    def as_tuple(self, atom: ir.Atom) -> ir.Atom:
        """A named tuple, or the items of one, as those of a plain tuple."""
        if isinstance(atom, ir.Star):
            return ir.Star(self.as_tuple(atom.value))
        return construct.named_tuple_display(self, atom)

    def called(self, base: ir.Atom, call: ir.Call) -> ir.Rhs | None:
        """`x(*args)` of an object."""
        own = self.written(base, "__call__")
        return own and replace(call, fn=own, args=(base, *call.args), text=None)

    def read(self, base: ir.Atom, fn: ir.Attr) -> ir.Rhs | None:
        """`x.name`: of what the class has; what the object itself has stays as it is."""
        cls = self.cls_if_any(base)
        if cls is None:
            return None
        if fn.name == "__class__":
            return ir.Ref(cls.__name__, cls)
        own = records.member(cls, fn.name, fn.after)
        reflection.check_descriptor(own, fn.name, self.loc)
        if isinstance(own, property) and isinstance(own.fget, types.FunctionType):
            return ir.Call(own.fget, (base,))
        if fn.after is None and (self.has(base, fn.name) or (cls, fn.name) in self.own):
            return None
        return self.from_class(base, cls, own, fn.name)

    def from_class(self, base: ir.Atom, cls: type, own: Any, name: str) -> ir.Rhs | None:
        """A value that is read from the class of an object."""
        if isinstance(own, functools.cached_property):
            if self.is_pending():  # not all that is assigned is known yet
                return None
            check_property(self.whole, self.kinds, self.kind(base), name)
            return ir.Call(own.func, (base,))
        if isinstance(own, (staticmethod, classmethod)):
            return ir.Ref(name, own.__get__(None, cls))
        if isinstance(own, types.FunctionType):
            return self.bound_method(base, own, name)
        if own is MISSING or hasattr(type(own), "__get__"):
            return None
        self.taken.add((cls, name))
        return ir.Ref(f"{cls.__name__}.{name}", own)

    def bound_method(self, base: ir.Atom, fn: types.FunctionType, name: str) -> ir.Rhs | None:
        """`x.step` as a value: a function made here that calls the method."""
        callee = lowered(fn)
        if callee is None or any(p.style in ("*", "**") for p in callee.params):
            return None
        own = callee.params[1:]
        new = {p.name: self.fresh("_p").id for p in own}
        params = tuple(replace(p, name=new[p.name]) for p in own)
        result = self.fresh()
        given = tuple((p.name, ir.Name(new[p.name])) for p in own if p.style == "kw")
        args = tuple(ir.Name(new[p.name]) for p in own if p.style != "kw")
        body = (ir.Assign(result, ir.Call(fn, (base, *args), given)), ir.Return(result))
        reads = (base,) if isinstance(base, ir.Name) else ()
        refs = ((base.text, base.value),) if isinstance(base, ir.Ref) else ()
        return Closure(
            f"{getattr(base, 'id', getattr(base, 'text', ''))}.{name}", reads, refs, name=name,
            function=ir.Function(name, params, body), captured=tuple(n.id for n in reads),
            keywords=new,
        )  # fmt: skip

    def called_method(self, call: ir.Call, fn: ir.Method) -> ir.Rhs | None:
        """`x.name(*args)`."""
        base, rest = call.args[0], call.args[1:]
        cls = self.cls_if_any(base)
        if cls is None:
            return self.of_class(call, fn)
        own = records.member(cls, fn.name, fn.after)
        if self.has(base, fn.name) or isinstance(own, (property, functools.cached_property)):
            read = self.temp(ir.Call(ir.Attr(fn.name, fn.after), (base,)))
            return replace(call, fn=read, args=rest, text=fn.name)
        if isinstance(own, types.FunctionType):
            self.check_recursion(own, fn.name)
            made = construct.named_tuple_method(self, cls, own, call)
            return made or replace(call, fn=own, args=call.args, text=None)
        if isinstance(own, (staticmethod, classmethod)):
            return replace(call, fn=own.__get__(None, cls), args=rest, text=None)
        if own is object.__setattr__ or own is object.__delattr__:
            return replace(call, fn=own, text=None)
        if own is vars(object).get(fn.name) and fn.after is not None and fn.name in _DOES_NOTHING:
            if not rest and all(k is None and self.is_empty(v) for k, v in call.kwargs):
                return ir.NONE  # `super().__init__()` of a class without bases
        if own is MISSING and cls.__module__.startswith("srcdiff_templates."):
            raise refused("objects.scipy", self.loc, name=fn.name)
        return None

    def is_empty(self, atom: ir.Atom) -> bool:
        """Whether a value is a dict without items, as `**kwargs` may be."""
        kind = self.kind(atom)
        return (
            isinstance(kind, ir.Dict) and kind.cls is None and kind.item is None and not kind.items
        )

    def check_recursion(self, fn: types.FunctionType, name: str) -> None:
        """Refuse a method that calls itself on its own object."""
        callee = lowered(fn)
        if callee is None or not callee.params:
            return
        own = ir.Name(callee.params[0].name)
        for stmt in ir.walk(callee.body):
            call = ir.call_of(stmt)
            again = ir.callee_of(stmt) == ir.Method(name)
            if again and call is not None and call.args[:1] == (own,):
                raise refused("objects.recursive_method", stmt.loc, name=name)

    def of_class(self, call: ir.Call, fn: ir.Method) -> ir.Rhs | None:
        """`cls.make(*args)` in a class method: the class is known, its attributes are."""
        base = call.args[0]
        if not isinstance(base, ir.Ref) or not isinstance(base.value, type):
            return None
        own = records.member(base.value, fn.name, fn.after)
        behind = fn.after is not None and isinstance(own, (staticmethod, classmethod))
        named = records.looked_up(base.value, fn.name)
        found = own.__get__(None, base.value) if behind else named
        if found is None or found is MISSING:
            return None
        return replace(call, fn=found, args=call.args[1:], text=f"{base.text}.{fn.name}")

    def stored(self, store: ir.SetAttr, base: ir.Atom, value: ir.Atom) -> ir.Rhs | None:
        """`x.name = v`: by the setter of a property, or refused where the class decides."""
        cls, name = self.cls_if_any(base), store.name
        if cls is None or store.made or name == reflection.DICT:
            return None
        own = records.member(cls, name)
        reflection.check_descriptor(own, name, self.loc)
        if isinstance(own, property):
            if store.op is not None:
                old = self.attribute(base, name)
                self.out.append(ir.AugAssign(old, None, value, store.op, loc=self.loc))
                value = old
            if isinstance(own.fset, types.FunctionType):
                return ir.Call(own.fset, (base, value))
        kept = isinstance(own, functools.cached_property) and store.op is not None
        if isinstance(own, property) or kept or not records.can_store(cls):
            raise refused("objects.no_setter", self.loc, cls=cls.__name__, name=name)
        return None

    def overloaded(self, call: ir.Call) -> ir.Rhs | None:
        """An operator or builtin on an object that says what it does."""
        op = which_op(call)
        if op is None or not call.args or call.kwargs:
            return None
        name = getattr(call.fn, "__name__", "").strip("_")
        if op in _BINARY and len(call.args) == 2:
            return self.binary(call, f"__{name}__", f"__{_SWAPPED.get(name, f'r{name}')}__")
        if op is Op.GETITEM and records.is_named_tuple(self.cls_if_any(call.args[0])):
            return construct.named_tuple_item(self, call)
        own = self.written(call.args[0], f"__{name}__") if op in _UNARY else None
        return own and ir.Call(own, tuple(map(self.index, call.args)))

    def binary(self, call: ir.Call, name: str, swapped: str) -> ir.Rhs | None:
        """`x + y` where one of them is an object."""
        a, b = call.args
        one, other = self.member(a, name), self.member(b, swapped)
        if not is_op(call, *_COMPARE) and one is MISSING and other is MISSING:
            one, other = self.operand(a, name), self.operand(b, swapped)
        if is_op(call, *_COMPARE) and any(map(records.is_generated, (one, other))):
            return None  # as `dataclass` makes it: objects are compared as they are
        if isinstance(one, types.FunctionType) and not self.is_derived(b, a, other):
            return ir.Call(one, (a, b))
        if not isinstance(other, types.FunctionType):
            return None
        kind = self.kind(a)
        if isinstance(kind, ir.Array) and self.member(b, "__array_ufunc__") is not None:
            cls = self.cls(b)
            raise refused("objects.elementwise", self.loc, cls=cls.__name__ if cls else "object")
        return ir.Call(other, (b, a))

    def operand(self, atom: ir.Atom, name: str) -> Any:
        """What the class of an operand has, which may be None if the other one is no object."""
        cls = self.cls_if_any(atom)
        return MISSING if cls is None else records.member(cls, name)

    def is_derived(self, b: ir.Atom, a: ir.Atom, other: Any) -> bool:
        """Whether Python asks the right operand first: it is of a derived class."""
        one, two = self.cls(a), self.cls(b)
        derived = one is not None and two is not None and one is not two and issubclass(two, one)
        return derived and isinstance(other, types.FunctionType)

    def index(self, atom: ir.Atom) -> ir.Atom:
        """An index as an argument."""
        return self.call(slice, *ir.parts(atom)) if isinstance(atom, ir.Slice) else atom
