"""Loops over values that have no index, and unpackings of values of unknown length.

Lowering takes what a loop runs over, and what is unpacked, for a sequence: `xs[k]`, and marks these
subscripts by their role.  `iterated` comes when kinds are known.  A dict, and whatever may be one,
is made a list first: `list(d)` are its keys, as Python has it.  Where the kinds do not say that
there are as many items as names, a statement keeps Python's own check: `_, _ = xs` (`unpacking`).

A loop takes all items of an iterator at its beginning.  That is the same as long as it comes to its
end, or nobody else looks: a loop that may leave some items to whoever looks next is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FunctionType

from srcdiff import ir
from srcdiff.analysis.links import Link, groups, marked_names, named_container, stored_names
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import TransformError, refused
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.containers import ENDLESS
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.unpacking import base_of, mark, parts_given
from srcdiff.primitives.effects import is_pure
from srcdiff.primitives.ops import Op, is_op
from srcdiff.specialize.inline import is_user_function

_MAKERS = (
    Op.ITER, Op.MAP, Op.FILTER, Op.ZIP, Op.ENUMERATE, Op.REVERSED, Op.CHAIN, Op.ISLICE,
    Op.ACCUMULATE, Op.TAKEWHILE, Op.DROPWHILE, Op.CYCLE,
)  # fmt: skip
_HOLDERS = (Op.GETITEM, Op.MAKE_LIST, Op.ADD, Op.MUL)


def check_left(
    loop: ir.For,
    bases: Sequence[ir.Atom],
    before: Sequence[ir.Stmt],
    whole: ir.Function,
    kinds: ir.Kinds,
) -> None:
    """Refuse a loop that may leave items in an iterator which somebody else may look at.

    `bases` are what it runs over, `before` the statements before it in its block.
    """
    if loop.stop is None and not _is_shorter(loop, before):
        return
    for base in dict.fromkeys(bases):
        names = _iterator(base.id, whole, kinds) if isinstance(base, ir.Name) else ()
        if names and _is_elsewhere(names, before, whole):
            said = f"{ir.said(names[0])}, an iterator that is looked at elsewhere too"
            raise _unlisted(f"a loop may leave items in {said}", loop.loc)


def check_apart(atoms: Iterable[ir.Atom], whole: ir.Function, kinds: ir.Kinds, loc: ir.Loc) -> None:
    """Refuse a `zip` that takes items of one iterator in turn by several names."""
    seen: set[str] = set()
    for atom in atoms:
        names = _iterator(atom.id, whole, kinds) if isinstance(atom, ir.Name) else ()
        if not seen.isdisjoint(names):
            raise _unlisted(f"`zip` takes items of {ir.said(names[0])} more than once a step", loc)
        seen.update(names)


def _unlisted(what: str, loc: ir.Loc) -> TransformError:
    return refused("loops.iterator", loc, what=what)


def _is_shorter(loop: ir.For, before: Sequence[ir.Stmt]) -> bool:
    """Whether a loop ends with the shortest of several sequences."""
    count = ir.names(loop.iter)
    made = (s.rhs for s in before if isinstance(s, ir.Assign) and s.target.id in count)
    return any(is_op(rhs, Op.MIN) for rhs in made)


def _iterator(name: str, whole: ir.Function, kinds: ir.Kinds) -> Sequence[str]:
    """The names, and those of containers, of what may be an iterator; none where it is none."""
    given: dict[str, list[ir.Rhs]] = {}
    for stmt in ir.walk(whole.body):
        if isinstance(stmt, ir.Assign):
            given.setdefault(stmt.target.id, []).append(stmt.rhs)
    names, found = [name], False
    for n in names:  # it grows
        kind = kinds.get(n)
        found = found or isinstance(kind, ir.Object) and hasattr(type(kind.value), "__next__")
        for rhs in given.get(n, ()):
            found = found or is_op(rhs, *_MAKERS)
            if isinstance(rhs, (ir.Name, ir.Tup)) or is_op(rhs, *_HOLDERS):
                names += [m for m in ir.names(rhs) if m not in names]
    return names if found else ()


def _is_elsewhere(names: Sequence[str], before: Sequence[ir.Stmt], whole: ir.Function) -> bool:
    """Whether anybody but one loop, which asks for length and items, may look at an iterator."""
    made = {n for s in before for n in ir.writes(s)}
    uses = ir.use_counts(whole.body)
    return not made.issuperset(names) or uses[names[0]] > 2 or any(uses[n] > 1 for n in names[1:])


# --- iterators that nobody looks at again ---------------------------------------------------------


def used_up_at_once(name: str, function: ir.Function) -> bool:
    """Whether the statements after that which binds a name take all of its items, and once.

    What gives the items does not change before.
    """
    rest = up_to_last(name, function)
    if rest is None:
        return False
    taken = loops_over(name, rest)
    items: set[ir.Atom] = set()
    for stmt in rest:
        call, role = ir.call_of(stmt), mark(stmt)
        if name not in ir.mentions(stmt):
            if any(map(_may_write, ir.walk((stmt,)))):
                return False
        elif isinstance(stmt, (ir.For, ir.While)):
            if not all(_is_taking(s) for s in ir.walk((stmt,)) if name in ir.itself_mentions(s)):
                return False
        elif call is not None and isinstance(role, ir.Unpacks):
            taken += not items
            if call.args[1] in items:
                return False
            items.add(call.args[1])
        elif _takes_all(stmt, name):
            taken += 1
        elif not (isinstance(stmt, ir.Unpack) or is_op(call, Op.LEN)):
            return False
    return taken == 1


def up_to_last(name: str, function: ir.Function) -> ir.Block | None:
    """The statements behind that which alone binds a name, up to its last mention.

    None where it is mentioned elsewhere, too.
    """
    for block in ir.walk_blocks(function.body):
        for k, stmt in enumerate(block):
            if name in ir.writes(stmt):
                later = [i for i, s in enumerate(block) if i > k and name in ir.mentions(s)]
                rest = block[k + 1 : max(later, default=k) + 1]
                every = ir.mention_counts(function)[name]
                alone = 1 + ir.mention_counts(rest)[name] == every and name not in ir.bound(rest)
                return rest if alone else None
    return None


def loops_over(name: str, block: ir.Block) -> int:
    """How often loops of a block take the items of something; those inside of others twice."""
    every = ir.walk_in_loops(block)
    taking = (loops for stmt, loops in every if _is_taking(stmt) and name in ir.reads(stmt))
    return sum(1 if len(loops) == 1 else 2 for loops in taking)


def _may_write(stmt: ir.Stmt) -> bool:
    """Whether a statement may change a value."""
    call = ir.call_of(stmt)
    if call is None:
        return isinstance(stmt, ir.Store)
    return call.role is ir.Role.IN_PLACE or not is_pure(call.fn)


def _takes_all(stmt: ir.Stmt, name: str) -> bool:
    """Whether a statement takes every item of what has a name, and nothing of itself."""
    if isinstance(stmt, ir.Store):
        return isinstance(stmt.index, ir.Slice) and stmt.value == ir.Name(name)
    call = ir.call_of(stmt)
    if call is None or not {ir.Name(name), ir.Star(ir.Name(name))} & {*call.args}:
        return False
    into = is_op(call, Op.EXTEND, Op.UPDATE)
    return into or (is_pure(call.fn) and not is_op(call, Op.MAKE_LIST, Op.MAKE_DICT, Op.ITER))


# --- loops over values that have no index, and unpackings of values of unknown length ------------

_INDEXED = (ir.Array, ir.Scalar, ir.Tuple, ir.List, ir.Range, ir.Text, ir.NoneKind)
_ROUNDS = 8


def iterated(function: ir.Function, kinds: ir.Kinds, params: ir.Kinds) -> ir.Function:
    """The function with loops and unpackings that are right for what they run over."""
    if not any(mark(s) for s in ir.walk(function)):
        return function
    for _ in range(_ROUNDS):
        # The keys of a dict may in turn lead to dicts, so the kinds are inferred again.
        new = _Listed(function, kinds, (ir.Dict,)).function(function)
        if new == function:
            break
        function, kinds = new, infer(new, params)
    new = _Listed(function, kinds, None).function(function)
    kinds = kinds if new == function else infer(new, params)
    return _Checked(new, kinds).function(new)


def _with_base(stmt: ir.Stmt, base: ir.Name) -> ir.Stmt:
    """A marked statement that takes its item of something else."""
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
    return replace(stmt, rhs=replace(stmt.rhs, args=(base, *stmt.rhs.args[1:])))


def _begins(stmt: ir.Stmt) -> bool:
    """Whether a statement takes the first item of an unpacking."""
    if not isinstance(mark(stmt), ir.Unpacks):
        return False
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
    index = stmt.rhs.args[1]
    return index == ir.Const(0) or (isinstance(index, ir.Slice) and index.lower == ir.NONE)


def _results_of_rules(function: ir.Function) -> dict[str, int]:
    """The names of results of functions whose rules yield several, and how many."""
    count = ir.binding_counts(function, function.params, True)
    stmts = (s for s in ir.walk(function) if isinstance(ir.callee_of(s), FunctionType))
    made = {s.target.id: s.rhs for s in stmts if isinstance(s, ir.Assign)}
    return {n: parts for n, rhs in made.items() if count[n] == 1 and (parts := parts_given(rhs))}


class _Pass(Rewriter):
    """A walk over a function whose kinds are known."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole = function
        self.kinds = kinds
        self.several = _results_of_rules(function)


class _Listed(_Pass):
    """Makes lists of what has no index: of some kinds, or (None) of all that may be such."""

    def __init__(
        self, function: ir.Function, kinds: ir.Kinds, only: tuple[type, ...] | None
    ) -> None:
        super().__init__(function, kinds)
        self.only = only
        self.lists: dict[ir.Atom, ir.Name] = {}

    def needs_list(self, base: ir.Atom) -> bool:
        """Whether a value is not to be indexed."""
        if isinstance(base, ir.Name) and base.id in self.several:
            return False
        kind = atom_kind(base, self.kinds)
        return isinstance(kind, self.only) if self.only else not isinstance(kind, _INDEXED)

    def block(self, block: ir.Block) -> ir.Block:
        """A block: the items of an unpacking are those of the list from its first one on."""
        around, self.lists = self.lists, {}
        done = super().block(block)
        self.lists = around
        return done

    def listed(self, base: ir.Atom) -> ir.Name:
        """A list of the items."""
        if atom_kind(base, self.kinds) == ENDLESS:
            raise endless(self.loc)
        return self.call(list, base)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A loop runs over lists of the keys."""
        if isinstance(mark(stmt), ir.Unpacks) and self.needs_list(base_of(stmt)):
            if _begins(stmt):
                self.lists[base_of(stmt)] = self.listed(base_of(stmt))
            stmt = _with_base(stmt, self.lists[base_of(stmt)])
        stmt = self.inside(stmt)
        if not isinstance(stmt, ir.For):
            return stmt
        taken = [base_of(s) for s in stmt.body if _is_taking(s)]
        check_left(stmt, taken, self.out, self.whole, self.kinds)
        for base in dict.fromkeys(taken):
            if self.needs_list(base):
                self.check_unchanged(base, stmt)
                keys = self.counted(base)
                body = (
                    _with_base(s, keys) if _is_taking(s) and base_of(s) == base else s
                    for s in stmt.body
                )
                stmt = replace(stmt, body=tuple(body))
        return stmt

    def check_unchanged(self, base: ir.Atom, loop: ir.For) -> None:
        """Refuse a loop that writes into what it runs over, which a list would not show it."""
        if isinstance(atom_kind(base, self.kinds), ir.Dict):
            return  # whose keys cannot be written into
        # Writing into an item changes the item, which the list holds too.
        links = [
            k
            for k in PointsTo.of(self.whole, self.kinds).links
            if not (mark(k.stmt) is ir.Role.LOOP and base_of(k.stmt) == base)
        ]
        for stmt in ir.walk(loop.body):
            for name in _written(stmt, self.kinds):
                same = groups(k for k in links if not self.is_held(k, name))
                if any(same.share(n, name) for n in ir.names(base)):
                    raise refused("loops.written", stmt.loc)

    def is_held(self, link: Link, name: str) -> bool:
        """Whether a link says only that a container holds something."""
        if not named_container(name, self.kinds):
            return False
        return (link.how, link.target) == ("stored", name) or (
            (link.how, link.source) == ("element", name)
        )

    def counted(self, base: ir.Atom) -> ir.Name:
        """The list of what a loop runs over, made before its length is taken."""
        out = self.out
        length = ir.Call(len, (base,))
        found = [k for k, s in enumerate(out) if isinstance(s, ir.Assign) and s.rhs == length]
        if not found:
            return self.listed(base)
        rest = out[found[-1] :]
        del out[found[-1] :]
        made = self.listed(base)
        assert isinstance(rest[0], ir.Assign)
        out += [replace(rest[0], rhs=ir.Call(len, (made,), text="len")), *rest[1:]]
        return made


def _is_taking(stmt: ir.Stmt) -> bool:
    """Whether a statement takes the item of a loop's step."""
    return mark(stmt) is ir.Role.LOOP


def _written(stmt: ir.Stmt, kinds: ir.Kinds) -> frozenset[str]:
    """The names that a statement writes into, by operators in place too.

    Functions of the user's stand in the text already, but for recursive ones.
    """
    if is_user_function(ir.callee_of(stmt)):
        return frozenset()
    arrays, containers = stored_names((stmt,), kinds)
    return frozenset({*arrays, *containers, *marked_names(stmt)})


def endless(loc: ir.Loc) -> TransformError:
    """The refusal of what has no last item."""
    return refused("loops.endless", loc)


# --- how many items there are -------------------------------------------------------------------


class _Checked(_Pass):
    """Adds the check of the length where it is not known."""

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """The check comes before the first item."""
        stmt = self.inside(stmt)
        found = mark(stmt)
        if isinstance(found, ir.Unpacks) and _begins(stmt):
            check = ir.Unpack(base_of(stmt), found, stmt.loc)
            # Lists that have just been made bring this pass once more.
            if not self.is_known(check.value, found) and self.out[-1:] != [check]:
                self.out.append(check)
        return stmt

    def is_known(self, base: ir.Atom, items: ir.Unpacks) -> bool:
        """Whether there are certainly so many items (at least, if one name takes the rest)."""
        known = self.several.get(base.id) if isinstance(base, ir.Name) else None
        length = _length(base, atom_kind(base, self.kinds)) if known is None else known
        count = items.before + (items.after or 0)
        return length is not None and (length == count if items.after is None else length >= count)


def _length(base: ir.Atom, kind: ir.Kind) -> int | None:
    """The number of items of a value, None if it is not known."""
    if isinstance(base, ir.Ref) and isinstance(kind, (ir.Tuple, ir.Array)):
        return len(base.value) if hasattr(base.value, "__len__") else None
    if isinstance(kind, (ir.Tuple, ir.List)):
        return None if kind.items is None else len(kind.items)
    if isinstance(kind, ir.Array) and kind.dims and not kind.maybe_scalar:
        return kind.dims[0] if isinstance(kind.dims[0], int) else None
    return None
