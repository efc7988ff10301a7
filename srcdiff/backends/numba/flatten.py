"""Dicts, lists and tuples of arrays taken apart: Numba is given, and gives back, what they hold.

Takes a finished function and the kinds of its parameters; gives the function of the numbers and
arrays in them for Numba, and the way to it (`Border`).  Containers are followed from statement to
statement (`boxes`), and loops over them are written out.  The invariant: two names stand for one
box wherever they stand for one container.  Where it depends on the way taken, or on a number, what
a container holds, the function is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from srcdiff import ir
from srcdiff.backends.numba.border import Border
from srcdiff.backends.numba.boxes import (
    LOST,
    Box,
    Boxes,
    Value,
    alike,
    all_boxes,
    has_lists,
    is_shared,
    leaf_pairs,
    shown,
)
from srcdiff.backends.numba.legalize import refuse, with_seed
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import join
from srcdiff.normalize.displays import takes_sequences
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.finish import finish
from srcdiff.optimize.simplify import simplify
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import trees

MOST = 64
"""How often a loop is written out at most."""
MOST_ITEMS = 256
"""How many items an argument may hold."""


Way = tuple[list[ir.Stmt], dict[str, Any]]
"""What stands for a branch, and what its names stand for at its end."""


def flattened(
    function: ir.Function, params: ir.Kinds, used_up: Sequence[str] = ()
) -> tuple[ir.Function, ir.Kinds, Border | None]:
    """A function of numbers and arrays, their kinds, and the way back to the one given.

    None: it is that function itself, as there is nothing to take apart.  The containers in the
    parameters `used_up` may be written into.

    Raises:
        UnsupportedError: what a container holds is not known, or is very much.
    """
    params = with_seed(function, params)
    kinds = {**params, **infer(function, params)}
    if not _is_asked(function, params, kinds, used_up):
        return function, params, None
    for name, kind in params.items():
        if has_lists(kind) and _size(kind) > MOST_ITEMS:
            what = f"`{name}` holds more than {MOST_ITEMS} items, and Numba is given each"
            refuse(what, function.loc, "Put numbers into arrays")
    inner, border = _Flatten(function, params, kinds).function(used_up)
    return inner, border.kinds, border


def _size(kind: ir.Kind) -> int:
    """How many numbers and arrays there are in a value."""
    parts = ir.inside(kind)
    return sum(map(_size, parts)) if parts else 1


def _is_asked(
    function: ir.Function, params: ir.Kinds, kinds: ir.Kinds, used_up: Sequence[str]
) -> bool:
    """Whether a function has containers that Numba does not take, or not as they are used.

    Or parameters that can be given by keyword only, which Numba does not know.
    """
    if any(param.style == "kw" for param in function.params):
        return True
    returned = ir.names(function.body[-1].value) if type(function.body[-1]) is ir.Return else ()
    if any(has_lists(kind, name not in used_up) for name, kind in params.items()):
        return True
    given_back = [kinds.get(n, ir.UNKNOWN) for n in returned]
    if any(map(has_lists, given_back)) or any(map(_holds_single, given_back)):
        return True
    stores = (s for s in ir.walk(function) if isinstance(s, ir.Store))
    if any(_is_mixed(kinds.get(s.base.id)) for s in stores):
        return True
    return any(not _is_of_array(call, kinds) for call in _helpers(function))


def _helpers(function: ir.Function) -> Iterator[ir.Call]:
    """The calls of helpers for containers."""
    return (c for c in ir.calls(function) if module_of(c.fn) == trees.__name__)


def _holds_single(kind: ir.Kind) -> bool:
    """Whether a value is or holds a number of float32, for which Numba gives back a float."""
    single = type(kind) is ir.Scalar and kind.dtype == "float32"
    return single or any(map(_holds_single, ir.inside(kind)))


def _is_mixed(kind: ir.Kind | None) -> bool:
    """Whether a value is a dict of values that are of several types."""
    return isinstance(kind, ir.Dict) and len({type(part) for part in ir.inside(kind)}) > 1


def _is_of_array(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a helper for containers is called for an array, of which Numba compiles a form."""
    array = bool(call.args) and type(atom_kind(call.args[-1], kinds)) is ir.Array
    return is_op(call, Op.WHERE_NONZERO) or (array and is_op(call, Op.LIKE_TREE, Op.COTANGENT))


class _Flatten(Boxes):
    """Goes through a function.

    `lists` has what a container is like that lies in a list that Numba makes: one that grows in a
    loop that stays.
    """

    def __init__(self, function: ir.Function, params: ir.Kinds, kinds: ir.Kinds) -> None:
        super().__init__(function, params, kinds)
        self.lists: dict[str, Box] = {}

    def function(self, used_up: Sequence[str]) -> tuple[ir.Function, Border]:
        """The function for Numba, and the way to it."""
        whole, self.used_up = self.whole, used_up
        helpers = (c for c in _helpers(whole) if not is_op(c, Op.COTANGENT))
        helped = {n for call in helpers for n in ir.names(call)}
        for param in whole.params:
            kind = self.params.get(param.name, ir.UNKNOWN)
            # A tuple that is not taken apart may be indexed by what only running tells.
            listed = has_lists(kind, param.name not in used_up)
            if listed or (param.name in helped and ir.known_items(kind) is not None):
                box = self.boxed(kind, (param.name,), param.name)
                self.env[param.name] = box
                for part in all_boxes(box) if param.name in used_up and type(box) is Box else ():
                    part.given = ()
            else:
                self.given[param.name] = (param.name,)
        *body, last = whole.body
        assert type(last) is ir.Return
        self.block(tuple(body))
        self.loc = (*whole.returns, whole.loc)[0]
        result = self.returned(last.value)
        results = tuple(self.leaves_given_back(result))
        value: ir.Atom = results[0] if len(results) == 1 else ir.Tup(results)
        names = {n: p for n, p in self.given.items() if n not in self.seeds}
        inner = ir.rebuilt(
            whole,
            name=f"{whole.name}_of_arrays",
            params=tuple(ir.Param(n) for n in names),
            body=(*self.out, ir.Return(value, last.loc)),
            doc=f"`{whole.name}` of what its arguments hold.",
        )
        if not ir.used(inner.body).isdisjoint(self.seeds):
            self.refuse("the cotangent is used as a whole", "Select one output (outputs=0)")
        kinds = {n: k for n, k in self.kinds.items() if n in names}
        known = {n: p for n, p in self.given.items() if n in names}
        single = frozenset(n.id for n in results if _holds_single(self.kind(n)))
        border = Border(whole, known, self.wrapped, self.seeds, results, result, kinds, single)
        return _tidied(inner, kinds), border

    def returned(self, atom: ir.Atom) -> Value:
        """What stands for what is returned."""
        if type(atom) is ir.Tup and (self.holds(atom) or _holds_single(self.kind(atom))):
            items = {k: self.returned(a) for k, a in enumerate(atom.items)}
            return Box(list if atom.listed else tuple, items, self.depth)
        known = self.known(atom)
        value = self.part(atom) if known is LOST else ir.Const(known)
        plain = type(value) is Box or type(value) is ir.Name or type(value) is ir.Const
        return value if plain else self.temp(value)  # type: ignore[arg-type]

    def leaves_given_back(self, value: Value) -> list[ir.Name]:
        """The names in a result that Numba gives back, each once; not those of the caller's."""
        if type(value) is not Box:
            return [value] if type(value) is not ir.Const else []  # type: ignore[list-item]
        if value.given:
            return []
        found = [n for v in value.items.values() for n in self.leaves_given_back(v)]
        return list(dict.fromkeys(found))

    # --- statements -------------------------------------------------------------------------------

    def block(self, block: ir.Block) -> None:
        """Statements one after another."""
        for stmt in block:
            self.loc = stmt.loc if stmt.loc.line else self.loc
            self.statement(stmt)

    def statement(self, stmt: ir.Stmt) -> None:
        """One statement."""
        if type(stmt) is ir.Assign:
            self.assignment(stmt)
        elif isinstance(stmt, ir.Store):
            self.store_(stmt)
        elif type(stmt) is ir.Effect:
            self.effect_(stmt)
        elif type(stmt) is ir.If:
            self.if_(stmt)
        elif type(stmt) is ir.For:
            self.for_(stmt)
        elif type(stmt) is ir.While:
            self.while_(stmt)
        else:
            self.plain(stmt)

    def plain(self, stmt: ir.Stmt) -> None:
        """A statement without containers."""
        self.check_plain(ir.reads(stmt))
        for name in ir.writes(stmt):
            self.env.pop(name, None)
        self.out.append(stmt)

    def check_plain(self, names: Iterable[str]) -> None:
        """Refuse containers among what names stand for."""
        if any(self.of(ir.Name(n)) for n in names):
            self.refuse("a container is used as a whole here, where Numba has its items alone")

    def assignment(self, stmt: ir.Assign) -> None:
        """`x = e`."""
        name = stmt.target.id
        value = self.value(stmt.rhs, name)
        if type(value) is Box:
            self.env[name] = value
            return
        self.env.pop(name, None)
        if value is not stmt.rhs and type(value) is ir.Name:
            self.kinds[name] = self.kind(value)
        if type(value) is ir.Const and type(value.value) in _KNOWN:
            self.env[name] = value
        self.out.append(replace(stmt, rhs=value))

    def store_(self, stmt: ir.Store) -> None:
        """`x[k] = e`."""
        box = self.of(stmt.base)
        if box is None:
            if self.holds(stmt.index):
                self.refuse("an array is indexed by a list", "Index it by an array")
            value = self.sequence(self.part(stmt.value))
            if stmt.index is None:
                self.env.pop(stmt.base.id, None)
            self.out.append(replace(stmt, value=value))
            return
        self.check_written(box)
        key = self.key(box, stmt.index if stmt.index is not None else ir.NONE)
        op = stmt.op if isinstance(stmt, ir.AugAssign) else None
        self.put(box, key, self.part(stmt.value), op)

    def put(self, box: Box, key: Any, value: Value, op: str | None = None) -> None:
        """Store into a container."""
        old, box.stored = box.items.get(key), True
        if type(value) is ir.Name and self.known(value) is not LOST:
            value = ir.Const(self.known(value))
        if type(old) is ir.Name and type(value) is not Box:
            if op is None:
                self.zeros_of.pop(old.id, None)
                self.assign(old, value)
            else:
                self.out.append(ir.AugAssign(old, None, value, op, loc=self.loc))
        elif op is None and box.depth == self.depth:
            box.items[key] = self.slot(value, f"{box.made}_{key}")
        elif op is None and type(old) is ir.Const and old == value:
            return
        elif op == "+" and box.depth == self.depth and type(value) is not Box:
            assert old is not None and type(old) is not Box
            sum_ = self.apply(operator.add, old, value)
            box.items[key] = self.slot(sum_, f"{box.made}_{key}")
        else:
            self.refuse("it depends on the way taken here what a container holds")

    def effect_(self, stmt: ir.Effect) -> None:
        """A call for its effect."""
        call = stmt.rhs
        box = self.of(call.args[0]) if type(call) is ir.Call and call.args else None
        if box is not None and is_op(call, Op.APPEND):
            self.check_grown(box)
            self.put(box, len(box.items), self.part(call.args[1]))
        elif is_op(call, Op.ADD_INTO):
            self.add_into(*map(self.part, call.args))
        elif type(call) is ir.Call and box is None and is_op(call, Op.APPEND):
            value = self.saved(call.args[0], self.part(call.args[1]))
            self.out.append(replace(stmt, rhs=replace(call, args=(call.args[0], value))))
        else:
            rhs = self.value(call, "")
            if type(rhs) is ir.Call or isinstance(rhs, ir.Opaque):
                self.out.append(replace(stmt, rhs=rhs))

    def saved(self, to: ir.Atom, value: Value) -> ir.Atom:
        """What is put into a list that Numba makes: for a container a tuple of what it holds."""
        name = to.id if type(to) is ir.Name else ""
        if type(value) is not Box:
            return value
        if not alike(self.lists.setdefault(name, value), value):
            self.refuse("containers of several structures are put into one list")
        return self.tuple_of(value)

    def tuple_of(self, value: Value) -> ir.Atom:
        """A tuple of what a container holds, into which nothing is stored from now on."""
        if type(value) is not Box:
            return value
        if value.stored and value.depth < self.depth:
            self.refuse("a container is put into a list that is stored into in the next turn")
        value.steady = True
        return ir.Tup(tuple(map(self.tuple_of, value.items.values())))

    def of_tuple(self, like: Value, found: ir.Atom, name: str) -> Value:
        """A container of one structure, of which a tuple has what it holds."""
        if type(like) is not Box:
            return found
        items: dict[Any, Value] = {}
        for k, (key, inner) in enumerate(like.items.items()):
            item = ir.Call(operator.getitem, (found, ir.Const(k)))
            kind = ir.UNKNOWN if type(inner) is Box else self.kind(inner)
            part = self.made(item, f"{name}_{key}", kind)
            items[key] = ir.NONE if inner == ir.NONE else self.of_tuple(inner, part, part.id)
        return Box(like.cls, items, self.depth, name, (), True)

    def add_into(self, a: Value, b: Value) -> None:
        """`add_into(a, b)`."""
        if ir.NONE in (a, b):
            return
        if type(a) is not Box or type(b) is not Box:
            self.other_structure()
        for key, old in a.items.items():
            if type(old) is Box:
                self.add_into(old, b.items[key])
            elif ir.NONE not in (old, b.items[key]):
                self.put(a, key, b.items[key], "+")

    def check_written(self, box: Box) -> None:
        """Refuse to store into what is the caller's, or may be."""
        if box.given or box.steady:
            said = shown(box.given or (box.made,))
            self.refuse(f"`{said}` is written into, which the caller may see", "Copy it before")

    def check_grown(self, box: Box) -> None:
        """Refuse a list of which it is not known how much it holds from here on."""
        self.check_written(box)
        if box.depth != self.depth:
            self.refuse("it depends on the way taken here how much a list holds")
        box.stored = True

    def made_by_numba(self, block: ir.Block) -> None:
        """From here on Numba makes the lists that grow in a block that may run again, or not."""
        for call in ir.calls(block):
            first = call.args[0] if call.args else None
            box = self.of(first) if is_op(call, Op.APPEND, Op.POP) else None
            if type(first) is not ir.Name or box is None or box.cls is not list:
                continue
            if not (box.given or box.steady or is_shared([box], first.id, self.env)):
                items = [self.saved(first, v) for v in box.items.values()]
                self.assign(first, ir.Call(ir.make_list, tuple(items)))
                del self.env[first.id]
        self.with_variables(block)

    def with_variables(self, block: ir.Block) -> None:
        """Give numbers in containers a variable that may be stored into in a block."""
        stores = (s for s in ir.walk(block) if isinstance(s, ir.Store))
        keys = {self.known(s.index) for s in stores if s.index is not None}
        held = [b for box in self.env.values() if type(box) is Box for b in all_boxes(box)]
        for box in held:
            for key, value in box.items.items() if box.cls is not tuple else ():
                if key in keys and type(value) is ir.Const and type(value.value) in _NUMBERS:
                    box.items[key] = self.made(value, f"{box.made}_{key}", self.kind(value))

    # --- values -----------------------------------------------------------------------------------

    def value(self, rhs: ir.Rhs, name: str) -> Any:
        """What stands for a right-hand side: a box, or another one."""
        self.hint = name
        if type(rhs) is not ir.Call:
            if isinstance(rhs, ir.Opaque):
                if self.holds(rhs):
                    self.refuse("a container is used in a text")
                return rhs
            return self.part(rhs)
        if is_op(rhs, Op.MAKE_DICT):
            return self.display(rhs, name)
        if is_op(rhs, Op.MAKE_LIST) and ir.Star not in map(type, rhs.args):
            return self.box(list, enumerate(map(self.part, rhs.args)), name)
        if is_op(rhs, Op.COTANGENT) and (out := self.output(rhs)) is not None:
            return self.cotangent(rhs, out, name)
        if is_op(rhs, Op.POP) and type(rhs.args[0]) is ir.Name and rhs.args[0].id in self.lists:
            return self.of_tuple(self.lists[rhs.args[0].id], self.temp(rhs), name)
        if not self.holds(rhs):
            made = self.of_leaves(rhs, name)
            return self.folded(rhs) if made is None else made
        return self.of_boxes(rhs, name)

    def folded(self, call: ir.Call) -> ir.Rhs:
        """The number that a call of known integers gives."""
        if is_op(call, Op.IS, Op.IS_NOT) and call.args[1] == ir.NONE:
            is_none = self.known(call.args[0]) is None or ir.is_none(self.kind(call.args[0]))
            return call if is_none is None else ir.Const(is_none is is_op(call, Op.IS))
        values = [self.known(a) for a in call.args]
        numbers = all(type(v) in (int, bool) for v in values)
        if is_op(call, Op.FLOORDIV, Op.MOD) and values[1] == 0:
            return call  # it raises when it runs
        texts = is_op(call, Op.EQ, Op.NE) and all(type(v) is str for v in values)
        if callable(call.fn) and (texts or (numbers and is_op(call, *_FOLDED))):
            return ir.Const(call.fn(*values))
        return call

    def display(self, call: ir.Call, name: str) -> Box:
        """`{k: v}`."""
        keys = [self.known(a) for a in call.args[::2]]
        if any(type(k) not in (str, int) for k in keys):
            self.refuse("a dict has a key that is known only when the program runs")
        return self.box(dict, zip(keys, map(self.part, call.args[1::2])), name)

    def of_boxes(self, call: ir.Call, name: str) -> Any:
        """What stands for a call that is given containers."""
        box = self.of(call.args[0]) if call.args else None
        if box is not None and is_op(call, Op.GETITEM):
            return self.item_(box, call)
        if box is not None and is_op(call, Op.LEN):
            return ir.Const(len(box.items))
        if box is not None and is_op(call, Op.GET):
            key, *default = (self.known(call.args[1]), *call.args[2:], ir.NONE)
            return box.items.get(key, default[0])
        if box is not None and is_op(call, Op.POP) and len(call.args) == 1:
            self.check_grown(box)
            if not box.items:
                self.refuse("something is taken out of an empty list", "Compare the arguments")
            return box.items.pop(len(box.items) - 1)
        if is_op(call, Op.CONTAINS) and box is not None and box.cls is dict:
            return ir.Const(self.key(box, call.args[1], False) in box.items)
        if is_op(call, Op.IS, Op.IS_NOT) and ir.NONE in call.args:
            return ir.Const(is_op(call, Op.IS_NOT))
        made = self.of_tree(call, name)
        return self.given_whole(call) if made is None else made

    def given_whole(self, call: ir.Call) -> ir.Call:
        """A call that means the same for a tuple."""
        if not takes_sequences(call):
            named = getattr(call.fn, "name", None) or getattr(call.fn, "__name__", "this")
            name = call.text or named
            self.refuse(f"a container is given to `{name}` as a whole")
        args = tuple(self.sequence(self.part(a)) for a in call.args)
        if is_op(call, Op.ARRAY) and type(args[0]) is ir.Tup:  # Numba makes none of a tuple
            args = (replace(args[0], listed=True), *args[1:])
        kwargs = tuple((k, self.sequence(self.part(a))) for k, a in call.kwargs)
        return replace(call, args=args, kwargs=kwargs)

    def key(self, box: Box, atom: ir.Atom, counted: bool = True) -> Any:
        """A key that is known; places are counted from the front."""
        key = self.known(atom)
        if key is LOST or type(key) not in (str, int, bool):
            what = "it is known only when the program runs which item of a container is used"
            self.refuse(what)
        size = len(box.items)
        return key + size if counted and box.cls is not dict and key < 0 else key

    def item_(self, box: Box, call: ir.Call) -> Value:
        """`x[k]`."""
        index = call.args[1]
        if type(index) is ir.Slice:
            bounds = (self.known(a) for a in (index.lower, index.upper, index.step))
            values = list(box.items.values())[slice(*self.bounds(bounds))]
            return self.box(box.cls, enumerate(values), self.hint)
        role = call.role
        if isinstance(role, ir.Unpacks) and len(box.items) != role.before + (role.after or 0):
            self.refuse("a container is unpacked into another number of names than it has items")
        key = self.key(box, index)
        if key not in box.items:
            self.refuse(f"a container has no item {key!r}", "Compare the arguments")
        return box.items[key]

    def bounds(self, bounds: Iterable[Any]) -> Iterator[int | None]:
        """The bounds of a slice."""
        for bound in bounds:
            if bound is not None and type(bound) is not int:
                self.refuse("it is known only when the program runs which items a slice has")
            yield bound

    # --- branches ---------------------------------------------------------------------------------

    def if_(self, stmt: ir.If) -> None:
        """A branch: taken at once if its test is known, else both ways."""
        test = self.known(stmt.test)
        if test is not LOST:
            self.block(stmt.body if test else stmt.orelse)
            return
        if self.holds(stmt.test):
            self.refuse("it is asked whether a container is empty", "Ask for its length")
        self.made_by_numba((stmt,))
        ways = [self.inner(block) for block in (stmt.body, stmt.orelse)]
        found = self.merged(ways)
        one, other = (tuple(out) for out, _ in ways)
        self.out.append(ir.If(stmt.test, one, other, stmt.loc))
        self.env = found

    def inner(self, block: ir.Block) -> Way:
        """What stands for an inner block, and what its names stand for at its end."""
        around, self.out = self.out, []
        before, self.env = self.env, dict(self.env)
        self.depth += 1
        self.block(block)
        self.depth -= 1
        done, self.out = self.out, around
        found, self.env = self.env, before
        return done, found

    def merged(self, ways: list[Way]) -> dict[str, Any]:
        """What names stand for behind a branch, whose ends are added to where they differ."""
        (_, one), (_, other) = ways
        found = {n: v for n, v in one.items() if n in other and other[n] is v}
        for name in {**one, **other}:
            if name in found:
                continue
            boxes = [b for b in (one.get(name), other.get(name)) if type(b) is Box]
            if len(boxes) == 2 and alike(*boxes):
                steady = [self.is_held(b, name, env) for b, (_, env) in zip(boxes, ways)]
                found[name] = self.met(ways, boxes, name, any(steady))
            elif boxes or LOST in (one.get(name), other.get(name)):
                found[name] = LOST
        return found

    def is_held(self, box: Box, name: str, env: Mapping[str, Any]) -> bool:
        """Whether another name may stand for a box, into which nothing is stored from now on."""
        held = [b for b in all_boxes(box) if b.cls is not tuple]
        own = all(not b.given and not b.steady and b.depth > self.depth for b in held)
        if own and not is_shared(held, name, env):
            return False
        for one in held:
            one.steady = True
        return True

    def met(self, ways: list[Way], boxes: list[Box], name: str, steady: bool) -> Box:
        """A box for those that two branches leave."""
        items: dict[Any, Value] = {}
        for key in boxes[0].items:
            values = [b.items[key] for b in boxes]
            if any(type(v) is Box for v in values):
                ones = [v for v in values if type(v) is Box]
                items[key] = self.met(ways, ones, f"{name}_{key}", steady)
                continue
            leaf = self.fresh(f"{name}_{key}")
            self.kinds[leaf.id] = join(*map(self.kind, values))
            for (out, _), value in zip(ways, values):
                out.append(ir.Assign(leaf, value, self.loc))  # type: ignore[arg-type]
            items[key] = leaf
        return Box(boxes[0].cls, items, self.depth, name, (), steady)

    # --- loops that are written out ---------------------------------------------------------------

    def for_(self, stmt: ir.For) -> None:
        """A loop: written out if it is over the places of a container."""
        over_places = any(map(self.is_at_place, ir.walk(stmt.body)))
        places = self.counted(stmt.iter) if over_places else None
        if places is not None:
            self.unrolled(stmt, places)
            return
        self.check_plain(ir.names(stmt.iter))
        self.made_by_numba((stmt,))
        own = self.entered(_bound((stmt,)))
        body, after = self.inner(stmt.body)
        self.left(own, body, after)
        self.out.append(replace(stmt, body=tuple(body)))

    def unrolled(self, stmt: ir.For, places: range) -> None:
        """The iterations of a loop one after another."""
        if stmt.stop is not None:
            self.refuse("a loop over a container is left before its end", "Write it without break")
        if len(places) > MOST:
            self.refuse(f"a loop over a container of more than {MOST} items")
        for place in places:
            self.assignment(ir.Assign(stmt.target, ir.Const(place), stmt.loc))
            self.block(stmt.body)

    def is_at_place(self, stmt: ir.Stmt) -> bool:
        """Whether a statement uses an item of a container at a place that only running tells."""
        base: Any = stmt.base if isinstance(stmt, ir.Store) else None
        index: Any = stmt.index if isinstance(stmt, ir.Store) else None
        call = ir.call_of(stmt)
        if is_op(call, Op.GETITEM):
            base, index = call.args
        over = self.of(base) is not None
        return over and type(index) is ir.Name

    def counted(self, over: ir.Atom | ir.Call) -> range | None:
        """The integers of a range that is known."""
        bounds = [self.known(a) for a in over.args] if is_op(over, Op.RANGE) else [LOST]
        return None if any(type(b) is not int for b in bounds) else range(*bounds)

    # --- loops that stay --------------------------------------------------------------------------

    def while_(self, stmt: ir.While) -> None:
        """A loop that stays."""
        self.made_by_numba((stmt,))
        own = self.entered(_bound((*stmt.cond, *stmt.body)))
        cond, after = self.inner(stmt.cond)
        if any(type(b) is Box and own.get(n) is not b for n, b in after.items()):
            self.refuse("a container is made in the condition of a loop")
        if type(stmt.test) is ir.Name and type(after.get(stmt.test.id)) is Box:
            self.refuse("a loop runs as long as a container holds something", "Ask for its length")
        body, after = self.inner(stmt.body)
        self.left(own, body, after)
        self.out.append(replace(stmt, cond=tuple(cond), body=tuple(body)))

    def entered(self, bound: set[str]) -> dict[str, Any]:
        """What names stand for in each turn of a loop that stays, of which it binds some."""
        for name in sorted(bound):
            if type(self.env.get(name)) is Box:
                self.env[name] = self.own(self.env[name], name)
            else:
                self.env.pop(name, None)
        return dict(self.env)

    def left(self, own: dict[str, Any], out: list[ir.Stmt], after: dict[str, Any]) -> None:
        """End a turn of a loop, at whose end names stand for something."""
        around, self.out = self.out, out
        for name, found in after.items():
            mine = own.get(name)
            if mine is None and (type(found) is Box or found is LOST):
                self.env[name] = LOST  # the loop may not have run
            elif type(mine) is Box and found is not mine:
                self.back(found, mine)
        if any(type(v) is Box and type(after.get(n)) is not Box for n, v in own.items()):
            self.refuse("a name is a container before a loop, and none behind it")
        self.out = around

    def own(self, box: Box, name: str) -> Box:
        """A box with variables that a loop may bind, that nobody else sees."""
        self.depth -= 1  # as nothing of the loop is
        steady = self.is_held(box, name, self.env)
        self.depth += 1
        new = self.mapped(lambda v, n: self.made(v, n, self.kind(v)), box, name, tuple)
        assert type(new) is Box
        for one in all_boxes(new):
            one.steady = steady
        return new

    def back(self, found: Any, own: Box) -> None:
        """What a turn leaves for the next one: all of it is read before any is bound."""
        new = type(found) is Box and (found.cls is tuple or found.depth > own.depth)
        if not new or not alike(found, own):
            self.refuse(f"{ir.said(own.made)} is another container in each turn of a loop")
        pairs = list(leaf_pairs(found, own))
        for value, (old, target) in zip([self.temp(v) for v, _ in pairs], pairs):
            if ir.is_float(self.kind(old)) is not ir.is_float(self.kind(target)):
                said = ir.said(own.made)
                self.refuse(f"what {said} holds is of another type in each turn of a loop")
            self.assign(target, value)


_NUMBERS = (int, float, complex)
_KNOWN = (int, bool, str, type(None))
_FOLDED = (
    Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.FLOORDIV, Op.MOD, Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE,
    Op.NOT, Op.MIN, Op.MAX,
)  # fmt: skip


def _bound(block: ir.Block) -> set[str]:
    """The names that statements bind; an operator in place on a number binds it."""
    stores = (s for s in ir.walk(block) if isinstance(s, ir.AugAssign) and s.index is None)
    return {*ir.bound(block), *(s.base.id for s in stores)}


# --- what is left of it ---------------------------------------------------------------------------


def _tidied(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """The function without names that only repeat others."""
    function = webs(function)
    kinds = {**params, **infer(function, params)}
    function = ir.rebuilt(function, body=_without_zeros(function.body, kinds))
    return finish(simplify(function, params), params)


def _without_zeros(block: ir.Block, kinds: ir.Kinds) -> ir.Block:
    """Statements in which the first thing that is added to zeros stands in the place of them."""
    waiting: dict[str, int] = {}
    out: list[ir.Stmt | None] = []
    for stmt in block:
        mentioned = ir.mentions(stmt) & waiting.keys()
        if isinstance(stmt, ir.AugAssign) and stmt.base.id in mentioned and _is_added(stmt):
            zeros = out[waiting[stmt.base.id]]
            assert type(zeros) is ir.Assign and type(zeros.rhs) is ir.Call
            like = zeros.rhs.args[0]
            dtypes = {ir.dtype_of(atom_kind(a, kinds)) for a in (like, stmt.value)}
            if len(dtypes) == 1 and None not in dtypes:
                out[waiting[stmt.base.id]] = None
                new = ir.Call(trees.like_tree, (stmt.value, like), text="like_tree")
                stmt = ir.Assign(stmt.base, new, stmt.loc)
        waiting = {n: k for n, k in waiting.items() if n not in mentioned}
        stmt = ir.map_blocks(stmt, lambda b: _without_zeros(b, kinds))
        if type(stmt) is ir.Assign and is_op(stmt.rhs, Op.ZEROS_LIKE) and len(stmt.rhs.args) == 1:
            waiting[stmt.target.id] = len(out)
        out.append(stmt)
    return tuple(s for s in out if s is not None)


def _is_added(stmt: ir.AugAssign) -> bool:
    """Whether something else is added to all of an array."""
    return stmt.index is None and stmt.op == "+" and stmt.base.id not in ir.names(stmt.value)
