"""What an adjoint reads of the primal: names, and the contents of arrays and lists."""

from __future__ import annotations

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.liveness import first_uses
from srcdiff.analysis.shadows import may_copy
from srcdiff.ir.frozen import frozen
from srcdiff.kinds.calls import atom_kind, is_transfer
from srcdiff.primitives.effects import asks_form, is_pure, returns_view, written_into
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array


@frozen
class Contents:
    """The contents of the memory of an alias class, as something that can be needed."""

    name: str


Item = str | Contents


def halves(adjoint: ir.Block) -> tuple[ir.Block, ir.Block]:
    """The adjoint statements that run before the primal statement is undone, and after."""
    for k, stmt in enumerate(adjoint):
        if type(stmt) is ir.Undo:
            return adjoint[:k], adjoint[k + 1 :]
    return adjoint, ()


def primal_reads(
    block: ir.Block,
    adjoint_names: frozenset[str],
    facts: Facts,
    local: frozenset[str] = frozenset(),
    parts: frozenset[str] = frozenset(),
) -> frozenset[Item]:
    """The primal names that adjoint statements read, and the contents that they look at.

    `parts` are names that are no primal ones but stand for memory of the primal.
    """
    local |= ir.bound(block)
    found: set[Item] = {n for n in ir.used(block) - local if n not in adjoint_names}
    for stmt in ir.walk(block):
        viewed = _viewed(stmt, parts, facts)
        for operand in ir.operands(stmt):
            for name in contents_read(operand, facts):
                theirs = name not in local and name not in adjoint_names
                if name != viewed and (theirs or name in parts):
                    found |= contents_of(name, facts)
    return frozenset(found)


def _viewed(stmt: ir.Stmt, parts: frozenset[str], facts: Facts) -> str | None:
    """The array of which a part is made again: who reads the part looks into it."""
    target = stmt.target.id if type(stmt) is ir.Assign else ""
    view = facts.aliases.views.get(target) if target in parts else None
    if view is None or not is_array(facts.kinds.get(target)):  # an element is what it holds
        return None
    same = contents_of(view.base, facts) <= contents_of(target, facts)
    return view.base if same and is_array(facts.kinds.get(view.base)) else None


def contents_read(rhs: ir.Rhs, facts: Facts) -> tuple[str, ...]:
    """The names whose contents, not only their shape, an expression looks at."""
    if type(rhs) is not ir.Call:
        return ir.names(rhs)
    structure = is_op(rhs, Op.ZERO_TREE, Op.TREE_ZEROS_LIKE)
    place = 0 if structure else asks_form(rhs)
    if place is None or len(rhs.args) <= place:
        return ir.occurrences(rhs) if type(rhs.fn) is not ir.Name else ir.occurrences(rhs)[1:]
    looked_at = (*rhs.args, *(v for _, v in rhs.kwargs))
    found = (n for k, a in enumerate(looked_at) if k != place for n in ir.names(a))
    return (*found, *(n for n in ir.names(rhs.args[place]) if _has_other_form(n, structure, facts)))


def _has_other_form(name: str, structure: bool, facts: Facts) -> bool:
    """Whether what is asked of a container, of its structure or its length, changes with it."""
    if structure:
        return any(c.name in facts.aliases.reshaped for c in contents_of(name, facts))
    return not ir.is_numeric(facts.kinds.get(name, ir.UNKNOWN))


def contents_of(name: str, facts: Facts) -> frozenset[Contents]:
    """The contents behind a name, and those of the items of a result that is taken apart.

    Those that something writes into.
    """
    names = (name, *facts.aliases.taken.get(name, ()))
    found = (facts.aliases.classes.get(n) for n in names)
    return frozenset(Contents(rep) for rep in found if rep is not None)


def written_contents(stmt: ir.Stmt, facts: Facts) -> frozenset[Item]:
    """The contents that a statement writes into."""
    found = (contents_of(n, facts) for n in written_into(stmt, facts.kinds))
    return frozenset[Item]().union(*found)


def exposed(block: ir.Block, seen: frozenset[str] = frozenset()) -> tuple[set[str], set[str]]:
    """The names that a block may read before it binds them, and those that it surely binds first.

    Of the names `seen` the adjoints in it read what the forward part has bound.
    """

    def forward(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        if type(stmt) is not ir.Pair:
            return stmt
        read = tuple(map(ir.Name, sorted(seen & ir.used(stmt.adjoint)))) if seen else ()
        primal = () if stmt.primal is None else (stmt.primal,)
        return (*primal, ir.Verbatim("", read)) if read else primal

    return first_uses(ir.replaced(block, forward))


_CHEAP = (Op.GETITEM, Op.NOT, Op.IS, Op.IS_NOT, Op.LEN, Op.RANGE, Op.MIN, Op.MAX)


def is_cheap(rhs: ir.Rhs, facts: Facts, target: str) -> bool:
    """Whether computing a value again costs no more than saving it: reads, views, indices."""
    if target in facts.shadows and _is_new(rhs, facts, target):
        return False  # what it has collected is in it alone
    if type(rhs) is not ir.Call:
        return isinstance(rhs, (ir.Name, ir.Const, ir.Ref, ir.Tup))
    if type(rhs.fn) is ir.Attr:
        return True
    if not is_pure(rhs.fn):
        return False
    if is_op(rhs, Op.MAKE_LIST):
        return all(ir.is_integer(atom_kind(a, facts.kinds)) for a in rhs.args)
    if returns_view(rhs, facts.kinds):
        return True
    kind = facts.kinds.get(target)
    if kind is None or not ir.is_scalar(kind):
        return op_of(rhs.fn).made_again
    given = tuple(atom_kind(a, facts.kinds) for a in rhs.args)
    if facts.target.on_device and is_transfer(rhs.fn, given):
        return False
    return op_of(rhs.fn).is_elementwise or is_op(rhs, *_CHEAP)


def _is_new(rhs: ir.Rhs, facts: Facts, target: str) -> bool:
    """Whether an expression may make memory, or a container, of its own."""
    if type(rhs) is not ir.Call or may_copy(rhs):
        return type(rhs) is not ir.Name
    if ir.is_numeric(facts.kinds.get(target, ir.UNKNOWN)):
        return not returns_view(rhs, facts.kinds)
    return not is_op(rhs, Op.GETITEM) or type(rhs.args[1]) is ir.Slice


_ARITHMETIC = (
    Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE, Op.NP_ADD,
    Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE, Op.NEGATIVE, Op.SQUARE, Op.ABSOLUTE, Op.MAXIMUM,
    Op.MINIMUM, Op.WHERE,
)  # fmt: skip


def is_arithmetic(rhs: ir.Rhs, kind: ir.Kind | None) -> bool:
    """Whether a value is an array that one pass over others gives."""
    if kind is None or not ir.is_numeric(kind) or type(rhs) is not ir.Call or rhs.kwargs:
        return False
    squared = is_op(rhs, Op.POW) and rhs.args[1] == ir.Const(2)
    return squared or is_op(rhs, *_ARITHMETIC)


@frozen
class Stable:
    """Identities of stores that need no saving, and of those whose value can be read back later."""

    safe: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    needed: frozenset[str] = frozenset()  # the names whose reads the proof took into account
