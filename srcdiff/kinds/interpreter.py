"""Infer what is known of every name of a function before it runs.

Takes a function and the kinds of its parameters; returns a kind for every name, which describes
every value that the name has wherever it is bound or read.  `Typed` is a function with these kinds,
which are inferred once as long as it stays the same.

A length that nothing is known of gets the name of what it belongs to (`h.0`, the first axis of
`h`), so that `h` and what is computed from `h` are seen to agree.  Inside a loop such a name means
the length in the present iteration (`h.0@1`, in a loop of depth 1), and is forgotten where a value
goes on to the next iteration or into a container.

Paired functions, between `reverse` and `tape`, are not gone through: kinds are known by then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from srcdiff import ir
from srcdiff.ir.frozen import frozen, remember
from srcdiff.kinds.calls import atom_kind, call_kind, constant_kind, fails, float_like, surely
from srcdiff.kinds.heap import Heap, has_no_item, localless, widened
from srcdiff.kinds.lattice import join
from srcdiff.kinds.lengths import Equal, Labels
from srcdiff.primitives.effects import is_pure, mutated_args
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import records

Env = dict[str, ir.Kind]
ROUNDS = 12
_TAKES = (Op.GETITEM, Op.POP)
_ADDERS = (Op.ADD_INTO, Op.ADD_NUMBERS, Op.ADD_TO_PART, Op.PUT_BACK)


def infer(
    function: ir.Function, params: Mapping[str, ir.Kind], hope: bool = False
) -> dict[str, ir.Kind]:
    """The kind of every name of a function; parameters without a kind are numbers or arrays.

    `hope`: methods of which nothing is known yet never return, so what else is known of the names
    that they bind stands.  The function keeps what is found; the caller may add to what it gets.
    """
    asked = {**params}, hope
    before, found = vars(function).get("_kinds", (None, {}))
    if before != asked:
        found = _Inference(function, params, hope).run()
        remember(function, "_kinds", (asked, found))
    return {**found}


class _Inference:
    """One inference: kinds flow through the body, are joined where paths meet, and recorded."""

    def __init__(
        self, function: ir.Function, params: Mapping[str, ir.Kind], hope: bool = False
    ) -> None:
        self.function = function
        self.hope = hope
        self.params = params
        self.device = function.target.on_device
        self.bound = ir.bound(function) | {p.name for p in function.params}
        self.heap = Heap(self.device)
        self.seen: Env = {}
        self.branches = 0
        self.equal = Equal()
        self.labels = Labels(p.name for p in function.params)
        self.heads: dict[int, tuple[Env, Env]] = {}
        self.rebound: dict[int, tuple[str, ...]] = {}

    def run(self) -> dict[str, ir.Kind]:
        """Evaluate the body until the contents of lists and dicts are stable."""
        for _ in range(ROUNDS):
            self.heap.changed = False
            self.seen = {}
            env = {p.name: self._param(p) for p in self.function.params}
            self.seen.update(env)
            self.block(self.function.body, env)
            if not self.heap.changed:  # the contents of lists are filled in then
                held = ((n, self.seen.get(n, ir.UNREACHED)) for n in sorted(self.bound))
                return {n: self.equal.kind(self.heap.resolve(k)) for n, k in held}
        return dict.fromkeys(sorted(self.bound), ir.UNKNOWN)

    def _param(self, param: ir.Param) -> ir.Kind:
        plain = param.name == ir.SEED and param.default == ir.Const(1.0)
        seed = float_like(ir.Scalar("float64"), self.device)  # of a number
        kind = self.params.get(param.name, seed if plain else ir.NUMERIC)
        if param.style == "*" and type(kind) is not ir.Tuple:
            kind = ir.Tuple(None)
        if param.style == "**" and type(kind) is not ir.Dict:
            kind = ir.Dict((), ir.UNKNOWN, param.name)
        return self.heap.intern(kind, param.name)

    # --- names ---

    def read(self, name: str, env: Env) -> ir.Kind | None:
        """The kind of a name where it is read; None while nothing has reached this place."""
        kind = env.get(name)
        if kind is None:
            return None if name in self.bound else ir.UNKNOWN
        old = self.seen.get(name)
        if old is not kind:  # the result describes this kind as well
            self.seen[name] = kind if old is None else self.joined(name, old, kind)
        return kind

    def bind(self, name: str, kind: ir.Kind, env: Env) -> None:
        """A name takes a kind; of two that are equal the first, so that they are seen to be."""
        old = self.seen.get(name)
        if old is kind:
            env[name] = kind
            return
        if old is not None and type(kind) in _SIMPLE and old == kind:
            kind = old
        env[name] = kind
        self.read(name, env)

    def joined(self, name: str, a: ir.Kind, b: ir.Kind) -> ir.Kind:
        """The kind of a name where two meet.

        Nobody writes into a list through a name that is only tested (`xs and xs[-1] > y`).
        """
        lists = isinstance(a, (ir.List, ir.Dict)) or isinstance(b, (ir.List, ir.Dict))
        if lists and name in self.tested:
            return a if a == b else ir.UNKNOWN
        return self.heap.join(a, b)

    @cached_property
    def tested(self) -> frozenset[str]:
        """The names that nothing but conditions read, also by way of other such names."""
        copied: dict[str, set[str]] = {}
        read = set[str]()
        for stmt in ir.walk(self.function):
            if type(stmt) is ir.Assign and type(stmt.rhs) is ir.Name:
                copied.setdefault(stmt.target.id, set()).add(stmt.rhs.id)
            elif type(stmt) not in (ir.If, ir.While) and not _is_truth(stmt):
                read.update(ir.itself_reads(stmt))
        todo = list(read)
        while todo:
            more = copied.pop(todo.pop(), set()) - read
            read |= more
            todo += more
        return frozenset(self.bound - read)

    # --- expressions ---

    def atom(self, atom: ir.Atom, env: Env) -> ir.Kind | None:
        """The kind of an atom, lists by their sites; None while nothing has reached this place."""
        if type(atom) is ir.Name:
            return self.read(atom.id, env)
        if type(atom) is ir.Const:
            return constant_kind(atom.value)
        for name in ir.names(atom):
            if self.read(name, env) is None:
                return None
        kind = atom_kind(atom, env)
        if type(atom) is ir.Ref:
            return self.heap.intern(kind, atom.text)
        return kind

    def rhs(self, rhs: ir.Rhs, env: Env) -> ir.Kind | None:
        """The kind of a right-hand side."""
        if isinstance(rhs, ir.Opaque):
            for name in rhs.reads:
                self.read(name.id, env)
            site = getattr(rhs, "site", None)
            if site is not None:
                return ir.only(site)
            return ir.Text() if rhs.harmless else ir.UNKNOWN
        return self.call(rhs, env) if type(rhs) is ir.Call else self.atom(rhs, env)

    def call(self, call: ir.Call, env: Env) -> ir.Kind | None:
        """The kind of a call; what it does to lists and dicts happens."""
        atoms = (*call.args, *[v for _, v in call.kwargs]) if call.kwargs else call.args
        found = [self.read(a.id, env) if type(a) is ir.Name else self.atom(a, env) for a in atoms]
        args = [k for k in found if k is not None]
        if len(args) < len(found):
            return None
        if type(call.fn) is ir.Name:
            self.read(call.fn.id, env)
        held, simple = args, _SIMPLE.issuperset(map(type, args))
        if not simple:
            self.heap.taken(call, args)
            held = list(surely(call.fn, [self.heap.resolve(k) for k in args]))
            none_yet = is_op(call, *_TAKES) and has_no_item(held)
            if none_yet or fails(call.fn, held):
                return None  # no item, or no more than None, has come here so far
        result = self._result(call, tuple(held))
        if self.hope and result == ir.UNKNOWN and _is_open(call, held):
            return None
        if self.labels.depth == self.branches == 0:
            self.equal.learn(call.fn, tuple(held))
        if not simple:
            self._effects(call, args)
        return result

    def _result(self, call: ir.Call, held: tuple[ir.Kind, ...]) -> ir.Kind:
        """The kind of a call on operands of these kinds."""
        device = self.device
        old: tuple[Any, bool, ir.Kind] | None = call._result
        if old is not None and old[0] == held and old[1] is device:
            return old[2]
        result = self._computed(call, held)
        remember(call, "_result", (held, device, result))  # for the next round and the next pass
        return result

    def _computed(self, call: ir.Call, held: tuple[ir.Kind, ...]) -> ir.Kind:
        """The kind of a call on operands of these kinds that was not asked for before."""
        if call.role is ir.Role.IN_PLACE and is_array(held[0]):
            return held[0]  # an operator in place: the array stays the array that it is
        split = len(call.args)
        kwargs = tuple((k, v) for (k, _), v in zip(call.kwargs, held[split:]) if k is not None)
        spread = len(kwargs) < len(call.kwargs) or ir.Star in map(type, call.args)
        args = held[:split]
        if call.role is ir.Role.LOOP and type(args[0]) is ir.Dict:
            args = (call_kind(list, args[:1], (), self.device), *args[1:])
        return ir.UNKNOWN if spread else call_kind(call.fn, args, kwargs, self.device)

    def _effects(self, call: ir.Call, args: list[ir.Kind]) -> None:
        """What a call does to the contents of its lists and dicts."""
        fn, base = call.fn, ir.sure(args[0]) if args else ir.UNKNOWN
        if (
            type(fn) is ir.Method
            and isinstance(base, (ir.List, ir.Dict))
            and not ir.class_of(base)
        ):
            self.heap.call(fn.name, base, args[1:])
        elif type(fn) is ir.SetAttr and type(base) is ir.Dict:
            self.heap.attribute(base, fn, args[1])
        elif is_op(call, *_ADDERS):
            self.heap.join(*args[:2])
        elif not is_pure(fn) and not is_op(call, Op.PRINT):
            written = mutated_args(call)
            for atom, kind in zip((*call.args, *(v for _, v in call.kwargs)), args, strict=True):
                if atom in written:
                    self.heap.escape(kind)

    # --- statements ---

    def block(self, block: ir.Block, env: Env) -> Env:
        """The kinds after a block."""
        for stmt in block:
            env = self.stmt(stmt, env)
        return env

    def stmt(self, stmt: ir.Stmt, env: Env) -> Env:
        """The kinds after a statement."""
        if type(stmt) is ir.Assign:
            self._assign(stmt, env)
        elif type(stmt) is ir.If:
            known = ir.known_truth(self.atom(stmt.test, env))
            if known is not None and not self.hope:  # nothing reaches the other block
                return self.block(stmt.body if known else stmt.orelse, env)
            self.branches += 1
            one, other = self.block(stmt.body, dict(env)), self.block(stmt.orelse, dict(env))
            self.branches -= 1
            return self._merge(stmt, one, other)
        elif isinstance(stmt, (ir.For, ir.While)):
            return self._loop(stmt, env)
        elif isinstance(stmt, ir.Store):
            self._set_item(stmt, env)
        elif type(stmt) is ir.Permute:
            found = [(t, self.read(s.id, env)) for t, s in zip(stmt.targets, stmt.sources)]
            for target, kind in ((t, k) for t, k in found if k is not None):
                self.bind(target.id, kind, env)
        elif type(stmt) is ir.Effect:
            self.rhs(stmt.rhs, env)
        else:
            self._other(stmt, env)
        return env

    def _assign(self, stmt: ir.Assign, env: Env) -> None:
        """A name takes the kind of a right-hand side."""
        kind = self.rhs(stmt.rhs, env)
        if kind is not None:
            label = self.labels.label(stmt.target.id, stmt)
            kind = self.heap.intern(self.labels.named(kind, label), label)
            self.bind(stmt.target.id, kind, env)

    def _other(self, stmt: ir.Stmt, env: Env) -> None:
        """Statements that compute nothing."""
        for name in ir.reads(stmt):
            self.read(name, env)
        for name in ir.writes(stmt):
            self.bind(name, ir.UNKNOWN, env)

    def _set_item(self, stmt: ir.Store, env: Env) -> None:
        """A store: into a list or dict, or of a whole number or array."""
        base, value = self.read(stmt.base.id, env), self.atom(stmt.value, env)
        index = None if stmt.index is None else self.atom(stmt.index, env)
        if base is None or value is None:
            return
        base = ir.sure(base)
        if isinstance(base, (ir.List, ir.Dict)):
            if index is None:
                self.heap.extend(base, value)
            else:
                if type(stmt) is ir.AugAssign:
                    value = self.heap.updated(base, index, stmt.op, value)
                self.heap.store(base, index, value)
        elif type(stmt) is ir.AugAssign and stmt.index is None and not is_array(base):
            value = self.heap.resolve(value)
            new = call_kind(ir.OPERATORS[stmt.op], (base, value), (), self.device)
            new = self.labels.named(new, self.labels.label(stmt.base.id, stmt))
            # An array stays the array that it is; a number takes a new value.
            self.bind(stmt.base.id, new if type(base) is ir.Scalar else join(base, new), env)
        elif type(base) is ir.Array and self.labels.depth == self.branches == 0:
            part: ir.Kind = base
            if index is not None:
                part = call_kind(operator.getitem, (base, index), (), self.device)
            self.equal.learn(operator.add, (part, self.heap.resolve(value)))

    # --- control flow ---

    def _changed(self, stmt: ir.Stmt) -> tuple[str, ...]:
        """The names whose kinds may differ after a statement with blocks."""
        found = self.rebound.get(id(stmt))
        if found is None:
            others = [s for s in ir.walk((stmt,)) if type(s) is not ir.Assign]
            wholes = {s.base.id for s in others if isinstance(s, ir.Store)}
            found = self.rebound[id(stmt)] = tuple(sorted(wholes.union(ir.bound_in(stmt))))
        return found

    def _merge(self, stmt: ir.If, one: Env, other: Env) -> Env:
        """The kinds where two paths meet."""
        for name in self._changed(stmt):
            old, kind = one.get(name), other.get(name)
            if old is None and kind is not None:
                one[name] = kind
            elif kind is not None and old is not None and old is not kind and old != kind:
                one[name] = self.joined(name, old, kind)
        return one

    def _loop(self, stmt: ir.For | ir.While, env: Env) -> Env:
        """The kinds after a loop, found by repeating it until nothing changes at its head."""
        items = self.rhs(stmt.iter, env) if type(stmt) is ir.For else None
        head, level = self._head(stmt, env), self.labels.depth + 1
        for count in range(ROUNDS):
            self.labels.depth = level
            tested, end = self._iteration(stmt, items, head)
            self.labels.depth = level - 1
            changed = self._changed(stmt)
            moved = self._moved(changed, head, tested, level)
            moved |= self._moved(changed, {**head, **moved} if moved else head, end, level)
            if not moved:
                self.heads[id(stmt)] = env, head
                return head
            head = {**head, **{n: widened(head.get(n), k, count) for n, k in moved.items()}}
        return dict.fromkeys(head, ir.UNKNOWN)

    def _head(self, stmt: ir.For | ir.While, env: Env) -> Env:
        """Where to start: from what was found before, if nothing has become narrower."""
        before, found = self.heads.get(id(stmt), ({}, {}))
        again = [n for n in self._changed(stmt) if n in found]
        if not all(n not in before or _is_wider(env.get(n), before[n]) for n in again):
            return env
        new = {n: self.joined(n, env[n], found[n]) if n in env else found[n] for n in again}
        return {**env, **new}

    def _moved(self, changed: tuple[str, ...], head: Env, end: Env, level: int) -> Env:
        """The kinds at the head of a loop that another iteration changes."""
        moved: Env = {}
        for name in () if end is head else changed:
            old, kind = head.get(name), end.get(name)
            if kind is not None and old is not kind:
                lasting = localless(kind, level)
                new = lasting if old is None else self.joined(name, old, lasting)
                if new is not old and (old is None or new != old):
                    moved[name] = new
        return moved

    def _iteration(
        self, stmt: ir.For | ir.While, items: ir.Kind | None, env: Env
    ) -> tuple[Env, Env]:
        """The kinds after the test of a loop and after its body."""
        if type(stmt) is ir.For:
            tested = env
            env = dict(env)
            self._target(stmt, items, env)
        else:
            tested = self.block(stmt.cond, dict(env))
            self.atom(stmt.test, tested)
            env = dict(tested)
        env = self.block(stmt.body, env)
        if stmt.stop is not None:
            self.read(stmt.stop.id, env)
        return tested, env

    def _target(self, stmt: ir.For, items: ir.Kind | None, env: Env) -> None:
        """The kind of a loop's target."""
        if items is None:
            return
        held = ir.sure(self.heap.resolve(items))
        kind = call_kind(operator.getitem, (held, ir.Scalar("int64")), (), self.device)
        if type(held) is ir.Range:
            kind = self.labels.counter(held, self.labels.label(stmt.target.id, stmt))
        self.bind(stmt.target.id, self.heap.intern(kind, f"{stmt.target.id}[]"), env)


def _is_wider(kind: ir.Kind | None, other: ir.Kind) -> bool:
    """Whether a kind describes all that another one does."""
    return kind is not None and (kind is other or kind == other or join(kind, other) == kind)


def _is_truth(stmt: ir.Stmt) -> bool:
    """Whether a statement only asks whether something is true."""
    return is_op(ir.call_of(stmt), Op.NOT, Op.TRUTH, Op.BOOL)


_SIMPLE = frozenset((ir.Scalar, ir.Array, ir.Unknown))
"""The kinds of what holds nothing that somebody may write into."""


def _is_open(call: ir.Call, held: list[ir.Kind]) -> bool:
    """Whether a call may become another one when more is known of the objects in it."""
    if isinstance(call.fn, (ir.Method, ir.Name, ir.Attr)) or records.is_record(call.fn):
        return True
    return any(ir.class_of(k) is not None for k in held)


# --- a function with the kinds of its names ------------------------------------------------------


Seen = Callable[[str, ir.Function, ir.Function], None]
"""What is told of a pass: its name, and the function before and after it."""


@frozen(eq=False)
class Typed:
    """A function on its way through passes, and the kinds of its parameters.

    `seen` is told of every pass: its name, and the function before and after it.
    """

    function: ir.Function
    params: Mapping[str, ir.Kind]
    seen: Seen | None = None

    @cached_property
    def kinds(self) -> Mapping[str, ir.Kind]:
        """The kinds of all its names."""
        return infer(self.function, self.params)

    def by(self, one: Callable[..., ir.Function], *more: Any) -> Typed:
        """The function after a pass, which is given `more` beside it."""
        return self.then(one(self.function, *more), one.__name__)

    def then(self, new: ir.Function, name: str = "") -> Typed:
        """The function after a pass; where that changed nothing but texts, its kinds are known."""
        if self.seen is not None:
            self.seen(name, self.function, new)
        after = Typed(new, self.params, self.seen)
        if "kinds" in vars(self) and new == self.function:
            vars(after)["kinds"] = self.kinds
        return after
