"""One forward walk: copies replaced, calls put into plainer forms, equal values computed once.

What both branches of an `if` do stands before it, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from srcdiff import ir
from srcdiff.analysis.shadows import laid_origins
from srcdiff.normalize.copy_in import lent_names
from srcdiff.optimize import shapes
from srcdiff.optimize.algebra import Algebra
from srcdiff.optimize.displays import NEAR, emptied, makes_zeros, with_item
from srcdiff.optimize.memory import Available, Memory, is_view
from srcdiff.optimize.products import Products, Signs
from srcdiff.primitives.effects import is_pure, mutated_args, returns_view
from srcdiff.primitives.ops import Op, is_op


def common(stmt: ir.If, memory: Memory) -> tuple[ir.Block, ir.If]:
    """The statements that both branches start with, or may start with, and the `if` without."""
    before: list[ir.Stmt] = []
    body: list[ir.Stmt] = []
    orelse = list(stmt.orelse)
    for one in stmt.body:
        place = _place(one, stmt.test, body, orelse, memory)
        if place is None:
            body.append(one)
        else:
            before.append(one)
            del orelse[place]
    if not before:
        return (), stmt
    return tuple(before), ir.rebuilt(stmt, body=tuple(body), orelse=tuple(orelse))


def _place(
    stmt: ir.Stmt, test: ir.Atom, body: list[ir.Stmt], orelse: list[ir.Stmt], memory: Memory
) -> int | None:
    """Where the other branch has a statement as well that may run before all of both."""
    first = isinstance(stmt, (ir.Assign, ir.Store)) and not body and orelse[:1] == [stmt]
    if not first and (not _makes_zeros(stmt) or stmt not in orelse):
        return None
    place = orelse.index(stmt)
    apart = memory.is_apart(stmt, (*body, *orelse[:place]))
    return place if apart and memory.keeps((stmt,), ir.names(test)) else None


def _makes_zeros(stmt: ir.Stmt) -> bool:
    """Whether a statement makes new memory, and looks at nothing but its form for that."""
    rhs = stmt.rhs if type(stmt) is ir.Assign else None
    return type(rhs) is ir.Const or makes_zeros(rhs)


# --- the walk ------------------------------------------------------------------------------------


def rewrite(
    function: ir.Function, kinds: dict[str, ir.Kind], adjoints: frozenset[str] = frozenset()
) -> ir.Function:
    """The function with plainer statements; what has become dead is still there.

    `kinds` gets those of new temporaries.  In products with `adjoints` numbers are
    multiplied first.
    """
    rewriter = Rewriter(function, kinds)
    rewriter.products = Products(rewriter.signs, adjoints) if adjoints else None
    return ir.rebuilt(function, body=rewriter.block(function.body))


def mark_in(body: ir.Block) -> int | None:
    """Where the generated part begins."""
    return next((k for k, s in enumerate(body) if type(s) is ir.Backward), None)


def in_ours(function: ir.Function, change: Callable[[ir.Block], ir.Block]) -> ir.Function:
    """The function with its generated part changed: all of it if nothing says where that begins."""
    cut = mark_in(function.body) or 0
    return ir.rebuilt(function, body=(*function.body[:cut], *change(function.body[cut:])))


class Rewriter:
    """The walk; `ours`: in the generated part, or in a text that is generated as a whole."""

    def __init__(
        self,
        function: ir.Function,
        kinds: dict[str, ir.Kind],
        leaving: Iterable[str] = (),
        fresh: ir.Fresh | None = None,
    ) -> None:
        self.kinds = kinds
        self.memory = Memory(function, kinds, leaving) if leaving else Memory.of(function, kinds)
        self.laid = laid_origins(function, kinds, lent_names(function))
        self.ours = mark_in(function.body) is None
        self.theirs = False  # all of it, helpers of the compiler as well
        self.available = Available(self.memory)
        fresh = ir.Fresh(ir.all_names(function) | set(kinds)) if fresh is None else fresh
        self.count, self.bound = ir.use_counts(function), ir.binding_counts(function)
        device = function.target.on_device
        self.signs = Signs(kinds, self.available, self.count, fresh, device)
        steady = frozenset(p.name for p in function.params) - ir.bound(function)
        fused = function.target.fused and not function.target.strict  # which adds up as NumPy
        self.algebra = Algebra(self.signs, steady, fused)
        self.algebra.emptied = partial(emptied, function)
        self.algebra.loops = function.target.fused or function.target.kernels
        self.products: Products | None = None
        self.blocks = 0
        self.rest: tuple[ir.Block, int] = (), 0  # the present block, and where it goes on
        self.before: ir.Block = ()  # what both branches of the present statement start with

    def block(self, block: ir.Block) -> ir.Block:
        """A block, statement by statement."""
        self.blocks += 1
        here = self.blocks
        out: list[ir.Stmt] = []
        for k, stmt in enumerate(block):
            self.rest = block, k + 1
            new = self.stmt(stmt, here)
            if self.signs.pending or self.before:
                out += (*self.signs.pending, *self.before)
                self.signs.pending, self.before = [], ()
            if new is not None:
                out.append(self.filled(out, new, here))
        return tuple(out)

    def filled(self, before: list[ir.Stmt], stmt: ir.Stmt, here: int) -> ir.Stmt:
        """A store, or the display in `before` that it puts an item into."""
        new = with_item(before, stmt, self.kinds) if self.ours else None
        if new is None:
            return stmt
        self.available.bind(new.target.id)
        self.available.learn(new.target.id, new.rhs, here)
        return new

    def read(self, name: ir.Name) -> ir.Atom:
        """What is read instead of a name: what it is a copy of."""
        return self.available.copied(name)

    def stmt(self, stmt: ir.Stmt, here: int) -> ir.Stmt | None:
        """A statement in plainer form."""
        if type(stmt) is ir.Assign:
            return self.assign(stmt, here)
        if isinstance(stmt, ir.Store):
            return self.set_item(stmt)
        if type(stmt) is ir.Effect:
            rhs = self.rhs(stmt.rhs)
            assert isinstance(rhs, (ir.Call, ir.Opaque))
            if self.ours and type(rhs) is ir.Call:
                self.signs.loc = stmt.loc
                rhs = self.algebra.effect(rhs)
                self.note(stmt.rhs, rhs)
            new = ir.rebuilt(stmt, rhs=rhs)
            self.available.change(new)
            return new
        if type(stmt) is ir.Return:
            return ir.rebuilt(stmt, value=ir.map_atom(self.read, stmt.value))
        if type(stmt) is ir.If:
            return self.branch(stmt)
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt)
        self.ours = self.ours or type(stmt) is ir.Backward
        for name in ir.writes(stmt):
            self.available.bind(name)
        return stmt

    def rhs(self, rhs: ir.Rhs) -> ir.Rhs:
        """A right-hand side with its copies replaced (text is left as it is)."""
        if isinstance(rhs, ir.Opaque) or self.available.copies.isdisjoint(ir.occurrences(rhs)):
            return rhs
        return ir.map_rhs(self.read, rhs)

    def assign(self, stmt: ir.Assign, here: int) -> ir.Stmt | None:
        """`target = rhs`."""
        target = stmt.target.id
        rhs = self.rhs(stmt.rhs)
        ours = self.ours or (not self.theirs and stmt.loc.file.startswith(ir.GENERATED))
        if ours:
            rhs = self.plain(stmt, rhs, here)
        elif ir.is_temporary(target) and target not in self.laid:
            rhs = self.known(target, rhs, here)
        if (type(rhs) is ir.Name and rhs == stmt.target) or self.is_still(stmt.target, rhs):
            return None
        new = stmt if rhs is stmt.rhs else ir.Assign(stmt.target, rhs, stmt.loc)
        self.available.bind(target)
        self.available.change(new)
        self.learn(target, rhs, here, ours or ir.is_temporary(target))
        return new

    def is_still(self, target: ir.Name, rhs: ir.Rhs) -> bool:
        """Whether a name is bound to the view that it stands for already."""
        if not self.ours or type(rhs) is not ir.Call or not is_view(rhs):
            return False
        return self.available.value(target) == rhs

    def plain(self, stmt: ir.Assign, rhs: ir.Rhs, here: int) -> ir.Rhs:
        """The plainest form of a right-hand side; new temporaries become known on the way."""
        if stmt.target.id in self.laid:
            return rhs  # another form may lie in memory in another order
        self.signs.loc = stmt.loc
        self.algebra.products = self.products if self.ours else None
        done = len(self.signs.pending)
        rhs = self.algebra.plain(stmt.target.id, rhs)
        for made in self.signs.pending[done:]:
            self.available.learn(made.target.id, made.rhs, here)
            self.note(stmt.rhs, made.rhs)
        known = self.known(stmt.target.id, rhs, here)
        self.note(stmt.rhs, known)
        return known

    def note(self, old: ir.Rhs, new: ir.Rhs) -> None:
        """A right-hand side reads other names than before."""
        if new is not old:
            before = ir.occurrences(old)
            for name in ir.occurrences(new):
                if name not in before:
                    self.count[name] += 1

    def known(self, target: str, rhs: ir.Rhs, here: int) -> ir.Rhs:
        """A name that has the value of a right-hand side already, if computing it costs much."""
        name = self.available.same_value(rhs, here) if type(rhs) is ir.Call else None
        if name is None or name == target or type(rhs) is not ir.Call:
            return rhs
        if not self.is_worth_keeping(target, name, rhs):
            return rhs
        same = self.memory.may_share(target, name) or self.is_gone_before(target, name)
        return ir.Name(name) if same else rhs

    def is_gone_before(self, target: str, name: str) -> bool:
        """Whether a name is read only before the memory of another changes, and by no view."""
        block, start = self.rest
        left, changing = self.count[target], {self.memory.find(name)}
        for stmt in block[start : start + NEAR]:
            if not left or type(stmt) not in ir.PLAIN or name in ir.writes(stmt):
                break
            if not changing.isdisjoint(self.memory.written_by(stmt)):
                break
            left -= ir.reads_of(stmt).count(target)
            if self.memory.hands_on(stmt, target) or target in ir.writes(stmt):
                return False
        return not left

    def is_worth_keeping(self, target: str, name: str, call: ir.Call) -> bool:
        """Whether two such calls are better one: views, elements and integers with two readers."""
        if not is_pure(call.fn) or mutated_args(call, self.kinds):
            return False
        kind = self.kinds.get(target)
        number = kind is None or not ir.is_float(kind)
        if self.count[target] > 1 and self.count[name] > 1:
            return not (number and is_op(call, Op.ADD, Op.SUB))  # which stand where they are read
        if is_op(call, Op.GETITEM) or number or not (self.ours or _is_work(kind, call)):
            return False
        return not returns_view(call, self.kinds)

    def learn(self, target: str, rhs: ir.Rhs, here: int, ours: bool) -> None:
        """What follows from an assignment; `ours`: of a name that no reader misses."""
        if type(rhs) is ir.Call:
            self.available.learn(target, rhs, here)
        elif type(rhs) is ir.Name and ir.is_temporary(rhs.id) and not ir.is_temporary(target):
            # From here on the reader's name stands for both.
            value = self.available.value(rhs)
            if type(value) is ir.Call:
                self.available.learn(target, value, here)
            self.available.learn(rhs.id, ir.Name(target), here)
        elif ours and not self.is_second_name(target, rhs):
            self.available.learn(target, rhs, here)

    def is_second_name(self, target: str, rhs: ir.Rhs) -> bool:
        """Whether the adjoint of a variable is that of a temporary, which is read nowhere else."""
        if type(rhs) is not ir.Name or self.bound[target] != 1 or not self.signs.is_read_once(rhs):
            return False
        return ir.is_unnamed(rhs.id) and not ir.is_unnamed(target)

    def set_item(self, stmt: ir.Store) -> ir.Stmt:
        """A store; the base of a whole update stays the name that it is."""
        new = stmt.base if stmt.index is None else self.read(stmt.base)
        base = new if type(new) is ir.Name else stmt.base
        index = None if stmt.index is None else ir.map_atom(self.read, stmt.index)
        value = ir.map_atom(self.read, stmt.value)
        result = ir.rebuilt(stmt, base=base, index=index, value=value)
        if self.ours:
            self.signs.loc = stmt.loc
            result = self.algebra.store(result)
            self.note(stmt.value, result.value)
        self.available.change(result)
        return result

    def branch(self, stmt: ir.If) -> ir.Stmt:
        """Both branches; neither sees what the other has learnt."""
        test = ir.map_atom(self.read, stmt.test)
        body = self.block(stmt.body)
        self.available.forget(stmt.body)
        orelse = self.block(stmt.orelse)
        self.available.forget(stmt.orelse)
        done = ir.rebuilt(stmt, test=test, body=body, orelse=orelse)
        if self.ours and orelse:
            self.before, done = common(done, self.memory)
        return done

    def loop(self, stmt: ir.For | ir.While) -> ir.Stmt:
        """A loop: what it changes is unknown at its head and after it."""
        fields: dict[str, ir.Rhs | ir.Block] = {}
        if type(stmt) is ir.For:
            fields["iter"] = self.rhs(stmt.iter)
        self.available.forget((stmt,))
        if type(stmt) is ir.While:  # its condition is computed before every iteration
            fields["cond"] = self.block(stmt.cond)
            fields["test"] = ir.map_atom(self.read, stmt.test)
        new = ir.rebuilt(stmt, **fields, body=self.block(stmt.body))
        self.available.forget((stmt,))
        return new


# --- before a function is differentiated ---------------------------------------------------------


def numbered(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The user's function with equal values of temporaries computed once: they have one adjoint."""
    if not _repeats_work(function, kinds):
        return function
    body = _Numbering(function, {**kinds}).block(function.body)
    unread = ir.use_counts(body)
    dead = [s for s in ir.assignments(body) if type(s.rhs) is ir.Name and not unread[s.target.id]]
    gone = {id(s) for s in dead if ir.is_temporary(s.target.id)}
    new = ir.rebuilt(function, body=body)
    return ir.replaced_in(new, lambda s: () if id(s) in gone else s) if gone else new


def _repeats_work(function: ir.Function, kinds: ir.Kinds) -> bool:
    """Whether a function may compute a value twice that is not computed at once."""
    firsts: dict[str, ir.Name] = {}
    found: dict[ir.Rhs, ir.Name] = {}
    for stmt in ir.assignments(function.body):
        call, target = stmt.rhs, stmt.target
        if type(call) is not ir.Call:
            continue
        met = not firsts.keys().isdisjoint(ir.occurrences(call))
        value = ir.map_rhs(lambda n: firsts.get(n.id, n), call) if met else call
        first = found.setdefault(value, target)
        if first is target:
            continue
        kind = kinds.get(target.id, ir.UNKNOWN)
        if ir.is_temporary(target.id) and ir.is_float(kind) and _is_work(kind, call):
            return True
        firsts[target.id] = first
    return False


class _Numbering(Rewriter):
    """The walk over a function of which nothing is generated."""

    def __init__(self, function: ir.Function, kinds: dict[str, ir.Kind]) -> None:
        super().__init__(function, kinds)
        self.ours, self.theirs = False, True
        self.found: ir.Rhs | None = None  # the last value that had a name already

    def known(self, target: str, rhs: ir.Rhs, here: int) -> ir.Rhs:
        """A name that has the value of a right-hand side already."""
        new = super().known(target, rhs, here)
        self.found = new if new is not rhs else None
        return new

    def is_worth_keeping(self, target: str, name: str, call: ir.Call) -> bool:
        """Whether two such calls are better one, which will have one adjoint."""
        if not is_pure(call.fn) or mutated_args(call, self.kinds):
            return False
        kind = self.kinds.get(target, ir.UNKNOWN)
        return ir.is_float(kind) and _is_work(kind, call) and not returns_view(call, self.kinds)

    def learn(self, target: str, rhs: ir.Rhs, here: int, ours: bool) -> None:
        """What follows from an assignment: what the user says is a copy is left as it is."""
        if type(rhs) is ir.Call or rhs is self.found:
            self.available.learn(target, rhs, here)


def _is_work(kind: ir.Kind | None, call: ir.Call) -> bool:
    """Whether a value is more than a constant, an element, and arithmetic with a number."""
    if not ir.names(call) or is_op(call, Op.GETITEM, Op.NEG, Op.POW):
        return False
    slight = type(kind) is ir.Scalar or ir.Const in map(type, call.args)
    return not (slight and is_op(call, *shapes.BINARY))
