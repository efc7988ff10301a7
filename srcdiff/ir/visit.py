"""Looking at nodes, and rebuilding them: what they read and write, and names mapped.

Questions are answered for a node itself or for all that is inside of it, and remembered beside its
fields.  What is rebuilt is the same object where nothing changes.

The ways to go over a program:

`walk`                every statement, wherever it stands
`walk_in_loops`       the same with the loops around each, where it matters how often it runs
`walk_blocks`         every block, where it matters what stands before or behind a statement
`replaced`            a block with other statements, each decided by what it is itself
`replaced_in`         the same for a function
`rewriter.Rewriter`   the same where what has been seen before decides, or where new statements
                      are needed
`map_blocks`          a statement with its inner blocks mapped, where a state follows the paths
`map_stmt`, `rename`  names replaced; `substituted`: by atoms

How often names are mentioned is counted by `binding_counts`, `use_counts` (every read),
`reader_counts` and `mention_counts` (statements).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any, TypeVar, Union

from srcdiff.ir.frozen import remember, replace
from srcdiff.ir.nodes import (
    GENERATED,
    Accum,
    Assign,
    Atom,
    AugAssign,
    Backward,
    Block,
    Call,
    Callee,
    Const,
    Demand,
    Effect,
    For,
    Function,
    If,
    Name,
    Nested,
    Opaque,
    Pair,
    Param,
    Permute,
    Ref,
    Reset,
    Return,
    Rhs,
    SetItem,
    Slice,
    Star,
    Stmt,
    Subroutine,
    Tup,
    Undo,
    Unpack,
    Verbatim,
    While,
    called,
)
from srcdiff.ir.renaming import rename_text

V = TypeVar("V")

__all__ = [
    "PLAIN", "all_names", "assignments", "atoms", "binders", "binding_counts", "blocks", "bound",
    "bound_in", "call_of", "callee_of", "callers", "calls", "compiled_in",
    "itself_mentions", "itself_reads",
    "map_atom", "map_blocks", "map_opaque", "map_rhs", "map_stmt", "mention_counts", "mentions",
    "names", "occurrences", "operands", "origin", "parts", "primal_only", "reader_counts", "reads",
    "reads_of", "rebound", "rebuilt", "refs", "refs_in", "refs_of", "rename", "replaced",
    "replaced_in", "substituted", "use_counts", "used", "used_in", "walk",
    "walk_blocks", "walk_in_loops", "with_rhs", "with_values", "without", "writes",
]  # fmt: skip


def atoms(node: Rhs | None) -> Iterator[Atom]:
    """Every atom of an atom or right-hand side, inner ones included."""
    if node is None:
        return
    if type(node) is not Call and not isinstance(node, Opaque):
        yield node
    for item in parts(node):
        if type(item) in _SINGLE:
            yield item
        else:
            yield from atoms(item)


_SINGLE = frozenset((Name, Const, Ref))
"""The atoms without others inside."""


def parts(node: Rhs) -> tuple[Atom, ...]:
    """The atoms directly inside an atom or right-hand side."""
    if type(node) is Call:
        held = (*node.args, *[v for _, v in node.kwargs]) if node.kwargs else node.args
        return (node.fn, *held) if type(node.fn) is Name else held
    if type(node) is Tup:
        return node.items
    if type(node) is Slice:
        return node.lower, node.upper, node.step
    if type(node) is Star:
        return (node.value,)
    return node.reads if isinstance(node, Opaque) else ()


def occurrences(node: Rhs | None) -> tuple[str, ...]:
    """The names read by an atom or right-hand side, in order, as often as they occur."""
    if type(node) is Name:
        return (node.id,)
    if node is None:
        return ()
    found = node._occurrences
    if found is None:
        found = remember(node, "_occurrences", _read_by(parts(node)))
    return found


def _read_by(held: Iterable[Rhs]) -> tuple[str, ...]:
    """The names read by several atoms or right-hand sides, one after another."""
    return tuple([n for a in held for n in ((a.id,) if type(a) is Name else occurrences(a))])


def refs(node: Rhs | None) -> tuple[Ref, ...]:
    """The objects from outside that an atom or right-hand side mentions."""
    if node is None or type(node) is Name or type(node) is Const:
        return ()
    if type(node) is Ref:
        return (node,)
    found = node._refs
    if found is None:
        found = remember(node, "_refs", _mentioned_by(parts(node)))
    return found


def refs_of(stmt: Stmt) -> tuple[Ref, ...]:
    """The objects from outside that a statement itself mentions."""
    if type(stmt) is Assign:
        held = stmt.rhs._refs if type(stmt.rhs) is Call else None
        return refs(stmt.rhs) if held is None else held
    found = stmt._refs
    if found is None:
        found = remember(stmt, "_refs", _mentioned_by(operands(stmt)))
    return found


def _mentioned_by(held: Iterable[Rhs]) -> tuple[Ref, ...]:
    """The objects from outside that several atoms or right-hand sides mention."""
    return tuple([r for a in held if type(a) is not Name and type(a) is not Const for r in refs(a)])


def refs_in(function: Function) -> tuple[Ref, ...]:
    """The objects from outside that a function mentions."""
    return _of_body(function, "_refs", lambda body: _mentioned_in(walk(body)))


def _mentioned_in(stmts: Iterable[Stmt]) -> tuple[Ref, ...]:
    """The objects from outside that several statements themselves mention."""
    found: list[Ref] = []
    for stmt in stmts:
        held = stmt.rhs._refs if type(stmt) is Assign and type(stmt.rhs) is Call else stmt._refs
        found += refs_of(stmt) if held is None else held
    return tuple(found)


def names(node: Rhs | None) -> tuple[str, ...]:
    """The names read by an atom or right-hand side, in order, each once."""
    found = occurrences(node)
    return tuple(dict.fromkeys(found)) if found[1:] else found


_FIELDS: Mapping[type, Mapping[str, str]] = {
    Assign: {"rhs": "read", "target": "bound"},
    Permute: {"sources": "read", "targets": "bound"},
    SetItem: {"base": "read", "index": "read", "value": "read"},
    AugAssign: {"base": "read", "index": "read", "value": "read"},
    Effect: {"rhs": "read"},
    Unpack: {"value": "read"},
    Verbatim: {"reads": "read", "writes": "bound"},
    If: {"test": "read", "body": "block", "orelse": "block"},
    For: {"iter": "read", "target": "bound", "body": "block", "stop": "read inside"},
    While: {"cond": "block", "test": "read inside", "body": "block", "stop": "read inside"},
    Return: {"value": "read"},
    Accum: {"value": "read", "like": "read", "target": "bound"},
    Demand: {"like": "read", "target": "bound"},
    Reset: {"target": "absent"},
    Pair: {"primal": "block", "adjoint": "block"},
}
"""What the fields of each statement are, in the order in which they are come by."""

_NAMES = frozenset(("base", "like", "sources", "stop"))
"""The fields that are names, and no other atoms."""


Getters = Mapping[type, Callable[[Any], tuple[Any, ...]]]


def _getters(*roles: str) -> Getters:
    """What gives the fields of some roles, and the place, which makes a tuple of any number."""
    found = {c: [f for f, r in held.items() if r in roles] for c, held in _FIELDS.items()}
    return {c: operator.attrgetter(*fields, "loc") for c, fields in found.items() if fields}


_READ, _BOUND, _BLOCKS, _READ_INSIDE = map(_getters, ("read", "bound", "block", "read inside"))


def _held(stmt: Stmt, getters: Getters) -> tuple[Any, ...]:
    """What stands in some fields of a statement."""
    get = getters.get(type(stmt))
    values = () if get is None else get(stmt)[:-1]
    return tuple([n for v in values if v is not None for n in (v if type(v) is tuple else (v,))])


def operands(stmt: Stmt) -> tuple[Rhs, ...]:
    """What a statement itself reads (not what the statements inside it read)."""
    if type(stmt) is Assign or type(stmt) is Effect:
        return (stmt.rhs,)
    if (type(stmt) is SetItem or type(stmt) is AugAssign) and stmt.index is not None:
        return stmt.base, stmt.index, stmt.value
    return _held(stmt, _READ)


def reads(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads; the base of a store counts as read.

    The test and the stop flag of a `While`, and the stop flag of a `For`, are read inside the loop
    (after `cond`, at the end of the body), so they are not listed here.
    """
    found = stmt._reads
    if found is None:
        every = reads_of(stmt)
        once = tuple(dict.fromkeys(every)) if every[1:] else every
        found = remember(stmt, "_reads", once)
    return found


def reads_of(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, as often as they occur."""
    found = stmt._occurrences
    if found is None:
        read = occurrences(stmt.rhs) if type(stmt) is Assign else _read_by(operands(stmt))
        found = remember(stmt, "_occurrences", read)
    return found


def call_of(stmt: Stmt | None) -> Call | None:
    """The call that an assignment or an effect makes."""
    if type(stmt) is not Assign and type(stmt) is not Effect:
        return None
    rhs: Any = stmt.rhs
    return rhs if type(rhs) is Call else None


def callee_of(stmt: Stmt | None) -> Callee | None:
    """The callee of the call that an assignment or an effect makes."""
    call = call_of(stmt)
    return None if call is None else call.fn


def writes(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself binds (a store into an array binds nothing)."""
    if type(stmt) is Assign:
        return (stmt.target.id,)
    if type(stmt) not in _BOUND:
        return ()
    found = stmt._writes
    if found is None:
        found = remember(stmt, "_writes", tuple([n.id for n in _held(stmt, _BOUND)]))
    return found


PLAIN = frozenset((
    Assign, Permute, SetItem, AugAssign, Effect, Unpack, Verbatim, Return, Backward, Undo, Accum,
    Demand, Reset,
))  # fmt: skip
"""The statements without blocks inside."""


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    get = _BLOCKS.get(type(stmt))
    held = () if get is None else get(stmt)[:-1]
    return tuple([b if type(b) is tuple else () if b is None else (b,) for b in held])


def walk(block: Block | Function) -> Sequence[Stmt]:
    """Every statement of a block or of a function, outer ones first, in source order."""
    if isinstance(block, Function):
        return _of_body(block, "_walked", walk)
    if PLAIN.issuperset(map(type, block)):
        return block
    return [s for b in block for s in ((b,) if type(b) in PLAIN else (b, *_inside(b)))]


def _of_body(function: Function, key: str, find: Callable[[Block], V]) -> V:
    """What is found in the body of a function, once: it is remembered beside its fields."""
    found: V | None = function.__dict__.get(key)
    if found is None:
        found = function.__dict__[key] = find(function.body)
    return found


def _inside(stmt: Any) -> tuple[Stmt, ...]:
    """Every statement inside a statement."""
    found: tuple[Stmt, ...] | None = stmt._inside
    if found is None:
        every = tuple([s for inner in blocks(stmt) for s in walk(inner)])
        found = remember(stmt, "_inside", every)
    return found


def walk_in_loops(
    block: Block, loops: tuple[For | While, ...] = ()
) -> Iterator[tuple[Stmt, tuple[For | While, ...]]]:
    """Every statement of a block as in `walk`, with the loops around it, outer ones first."""
    for stmt in block:
        yield stmt, loops
        if type(stmt) not in PLAIN:
            inside = (*loops, stmt) if isinstance(stmt, (For, While)) else loops
            for inner in blocks(stmt):
                yield from walk_in_loops(inner, inside)


def walk_blocks(block: Block) -> Iterator[Block]:
    """A block and every block inside it, outer ones first, in source order."""
    yield block
    for stmt in block:
        for inner in blocks(stmt):
            yield from walk_blocks(inner)


def itself_reads(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, as often as they occur, tests and stop flags too."""
    if type(stmt) in PLAIN:
        return stmt._occurrences or reads_of(stmt)
    inside = (n for atom in _held(stmt, _READ_INSIDE) for n in occurrences(atom))
    return (*reads_of(stmt), *inside)


def itself_mentions(stmt: Stmt) -> frozenset[str]:
    """The names in a statement itself: tests and stop flags included, inner blocks not."""
    found = stmt._mentions
    if found is None:
        found = remember(stmt, "_mentions", frozenset((*itself_reads(stmt), *writes(stmt))))
    return found


def mentions(stmt: Stmt) -> frozenset[str]:
    """Every name that a statement reads or binds, inner blocks included."""
    if isinstance(stmt, Nested):
        return frozenset(used_in(stmt)).union(bound_in(stmt))
    return itself_mentions(stmt)


def binding_counts(
    block: Block | Function, params: Iterable[Param] = (), repeated: bool = False
) -> Counter[str]:
    """How many statements of a block bind each name; a parameter counts as one.

    `repeated`: those in a loop count twice, as they may run again.
    """
    found = [p.name for p in params]
    if repeated:
        for stmt, loops in walk_in_loops(block.body if isinstance(block, Function) else block):
            found += writes(stmt) * (2 if loops else 1)
        return Counter(found)
    held = [(s.target.id,) if type(s) is Assign else writes(s) for s in walk(block)]
    return Counter(chain(found, chain.from_iterable(held)))


def use_counts(block: Block | Function) -> Counter[str]:
    """How often each name is read in a block, tests and stop flags included."""
    stmts = walk(block)
    held = [s._occurrences or reads_of(s) if type(s) in PLAIN else itself_reads(s) for s in stmts]
    return Counter(chain.from_iterable(held))


def reader_counts(block: Block | Function) -> Counter[str]:
    """How many statements of a block read each name, tests and stop flags included."""
    return Counter(chain.from_iterable(map(dict.fromkeys, map(itself_reads, walk(block)))))


def mention_counts(block: Block | Function) -> Counter[str]:
    """How many statements of a block read or bind each name, tests and stop flags included."""
    held = [s._mentions or itself_mentions(s) for s in walk(block)]
    return Counter(chain.from_iterable(held))


def bound(block: Block | Function) -> frozenset[str]:
    """Every name bound anywhere in a block or function."""
    if isinstance(block, Function):
        return _of_body(block, "_bound", bound)
    found = frozenset([s.target.id for s in block if type(s) is Assign])  # as most are
    return found.union(*[bound_in(s) for s in block if type(s) is not Assign])


def binders(function: Function) -> Mapping[str, Sequence[Stmt]]:
    """The statements of a function that bind each name."""
    return _of_body(function, "_binders", _binders)


def _binders(body: Block) -> Mapping[str, Sequence[Stmt]]:
    """The statements of a block that bind each name."""
    found: dict[str, list[Stmt]] = {}
    for stmt in walk(body):
        for name in writes(stmt):
            found.setdefault(name, []).append(stmt)
    return found


def bound_in(stmt: Stmt) -> Collection[str]:
    """Every name that a statement binds, or one inside it."""
    if not isinstance(stmt, Nested):
        return writes(stmt)
    found = stmt._bound
    if found is None:
        every = frozenset(writes(stmt)).union(*map(bound, blocks(stmt)))
        found = remember(stmt, "_bound", every)
    return found


def rebound(block: Block) -> frozenset[str]:
    """Every name bound anywhere in a block, also by `x += y`, which binds a number anew."""
    whole = (s for s in walk(block) if type(s) is AugAssign and s.index is None)
    return bound(block).union(s.base.id for s in whole)


def used(block: Block) -> frozenset[str]:
    """Every name read anywhere in a block, tests and stop flags included."""
    each = [s._occurrences or reads_of(s) if type(s) in PLAIN else used_in(s) for s in block]
    return frozenset[str]().union(*each)


def used_in(stmt: Stmt) -> Collection[str]:
    """Every name that a statement reads, or one inside it, tests and stop flags included."""
    if not isinstance(stmt, Nested):
        return reads_of(stmt)
    found = stmt._used
    if found is None:
        own = frozenset(itself_reads(stmt))
        found = remember(stmt, "_used", own.union(*map(used, blocks(stmt))))
    return found


def origin(function: Function) -> str:
    """Where a function comes from, as it is said of what is generated from it; "" if unknown."""
    if not function.loc.line:
        return ""
    file = function.loc.file.replace("\\", "/").rsplit("/", 1)[-1]
    generated = file.startswith(GENERATED)
    return f"the generated `{function.name}`" if generated else f"{file}:{function.loc.line}"


def all_names(function: Function) -> frozenset[str]:
    """Every name of a function: parameters, bound and read ones."""
    found: frozenset[str] | None = function.__dict__.get("_all_names")
    if found is None:  # remembered beside the fields, as above
        params = [p.name for p in function.params]
        found = bound(function).union(params, used(function.body))
        function.__dict__["_all_names"] = found
    return found


# --- rebuilding nodes: names mapped, and names that are new --------------------------------------


S = TypeVar("S", bound=Union[Stmt, Function])



def map_atom(fn: Callable[[Name], Atom], atom: Atom) -> Atom:
    """An atom with every name replaced by `fn(name)`."""
    kind = type(atom)
    if kind is Name:
        return fn(atom)  # type: ignore[arg-type]
    if kind is Const or kind is Ref or not occurrences(atom):
        return atom
    old = parts(atom)
    new = tuple([map_atom(fn, a) for a in old])
    if all(map(operator.is_, old, new)):
        return atom
    if type(atom) is Tup:
        return Tup(new, atom.listed)
    return Slice(*new) if type(atom) is Slice else Star(*new)


def map_rhs(fn: Callable[[Name], Atom], rhs: Rhs) -> Rhs:
    """A right-hand side with every name that it reads replaced (itself if they all stay)."""
    if type(rhs) is Call:
        return _map_call(fn, rhs) if occurrences(rhs) else rhs
    if isinstance(rhs, Opaque):
        return map_opaque(fn, rhs)
    return map_atom(fn, rhs)


def _map_call(fn: Callable[[Name], Atom], call: Call) -> Call:
    """A call with every name that it reads replaced."""
    callee = fn(call.fn) if type(call.fn) is Name else call.fn
    args = [map_atom(fn, a) for a in call.args]
    kwargs = [(k, map_atom(fn, v)) for k, v in call.kwargs]
    same = callee is call.fn and all(map(operator.is_, args, call.args))
    if same and all(a[1] is b[1] for a, b in zip(kwargs, call.kwargs)):
        return call
    new = Call(callee, tuple(args), tuple(kwargs), call.text, call.role)  # type: ignore[arg-type]
    return called(callee, new) if type(callee) is Ref else new


def map_opaque(fn: Callable[[Name], Atom], rhs: Opaque) -> Opaque:
    """An opaque expression with its names replaced, by names and by what is outside."""
    new = {n.id: fn(n) for n in rhs.reads}
    if all(type(v) is Name and v.id == k for k, v in new.items()):
        return rhs
    refs = (*rhs.refs, *_outside(new))
    return replace(rhs, text=rename_text(rhs.text, new), reads=_only_names(new), refs=refs)


def _only_names(new: Mapping[str, Atom]) -> tuple[Name, ...]:
    return tuple(v for v in new.values() if type(v) is Name)


def _outside(new: Mapping[str, Atom]) -> tuple[tuple[str, Any], ...]:
    """The global names that a text has where they replace others."""
    found = (v for v in new.values() if type(v) is Ref and v.text.isidentifier())
    return tuple((v.text, v.value) for v in found)


def map_stmt(
    stmt: Stmt,
    read: Callable[[Name], Atom],
    write: Callable[[Name], Name],
    block: Callable[[Block], Block],
) -> Stmt:
    """A statement with its reads, its bound names and its inner blocks mapped.

    The base of a store and the names of stop flags must map to names.
    """
    if type(stmt) is Assign:
        rhs, target = map_rhs(read, stmt.rhs), write(stmt.target)
        if rhs is stmt.rhs and target is stmt.target:
            return stmt
        return Assign(target, rhs, stmt.loc)
    if type(stmt) is Verbatim:
        new: dict[str, Atom] = {n.id: read(n) for n in stmt.reads}
        bound_new = {n.id: write(n) for n in stmt.writes}
        text = rename_text(stmt.text, {**new, **bound_new})
        reads, writes = _only_names(new), _only_names(bound_new)
        refs = (*stmt.refs, *_outside(new))
        return replace(stmt, text=text, reads=reads, writes=writes, refs=refs)

    def one(field: str, role: str, old: Any) -> Any:
        if role in ("bound", "absent"):
            return write(old)
        found = map_rhs(read, old)
        assert field not in _NAMES or type(found) is Name, f"{old.id} must stay a name"
        return found

    def mapped(field: str, role: str) -> Any:
        old = getattr(stmt, field)
        if role == "block":
            return _map_block(block, old)
        if type(old) is tuple:
            return tuple([one(field, role, n) for n in old])
        return None if old is None else one(field, role, old)

    return rebuilt(stmt, **{f: mapped(f, role) for f, role in _FIELDS.get(type(stmt), {}).items()})


def map_blocks(stmt: Stmt, block: Callable[[Block], Block]) -> Stmt:
    """A statement with its inner blocks mapped; the same object if nothing in them changed."""
    if type(stmt) is For:
        body = block(stmt.body)
        if _are_items(body, stmt.body):
            return stmt
        return For(stmt.target, stmt.iter, body, stmt.stop, stmt.loc)
    if type(stmt) is If:
        body, orelse = block(stmt.body), block(stmt.orelse)
        if _are_items(body, stmt.body) and _are_items(orelse, stmt.orelse):
            return stmt
        return If(stmt.test, body, orelse, stmt.loc)
    if type(stmt) in PLAIN:
        return stmt
    held = _FIELDS.get(type(stmt), {}).items()
    new = {f: _map_block(block, getattr(stmt, f)) for f, role in held if role == "block"}
    return rebuilt(stmt, **new)


def _map_block(block: Callable[[Block], Block], old: Any) -> Any:
    """A block mapped, or the one statement, if any, that stands in the place of one."""
    if type(old) is tuple:
        return block(old)
    return None if old is None else block((old,))[0]


def replaced(block: Block, one: Callable[[Stmt], Stmt | Block]) -> Block:
    """A block with what `one` gives for every statement, for those inside of a statement first.

    It gives a statement, or several or none in a tuple.
    """
    out: list[Stmt] = []
    for stmt in block:
        if type(stmt) not in PLAIN:
            stmt = map_blocks(stmt, lambda inner: replaced(inner, one))
        new = one(stmt)
        if type(new) is tuple:
            out += new
        else:
            out.append(new)  # type: ignore[arg-type]
    return tuple(out)


def replaced_in(function: Function, one: Callable[[Stmt], Stmt | Block]) -> Function:
    """A function with what `one` gives for every statement, for those inside of it first."""
    return rebuilt(function, body=replaced(function.body, one))


def primal_only(block: Block) -> Block:
    """The statements of the function itself in a Pair tree."""
    found: list[Stmt] = []
    for stmt in block:
        if type(stmt) is Pair:
            found += () if stmt.primal is None else (stmt.primal,)
        else:
            found.append(map_blocks(stmt, primal_only))
    return tuple(found)


def rebuilt(stmt: S, **fields: Any) -> S:
    """A statement or function with other fields; the same object if they are what it has.

    What is remembered beside its fields then stays known.
    """
    for name, new in fields.items():
        old = getattr(stmt, name)
        if new is not old and not _are_items(new, old):
            return replace(stmt, **fields)
    return stmt


def with_rhs(stmt: Assign | Effect, rhs: Any) -> Assign | Effect:
    """An assignment or effect of another right-hand side, itself where it is the same."""
    if rhs is stmt.rhs:
        return stmt
    if type(stmt) is Assign:
        return Assign(stmt.target, rhs, stmt.loc)
    return Effect(rhs, stmt.loc)


def _are_items(new: Any, old: Any) -> bool:
    """Whether two blocks have the very same statements."""
    if new is old:
        return True
    if type(new) is not tuple or type(old) is not tuple or len(new) != len(old):
        return False
    return all(map(operator.is_, new, old))


def rename(block: Block, new: Mapping[str, str]) -> Block:
    """A block with names replaced, where they are read and where they are bound."""
    return substituted(block, {old: Name(name) for old, name in new.items()})


def substituted(block: Block, new: Mapping[str, Atom]) -> Block:
    """A block with atoms for names where they are read, and with names where they are bound."""

    def read(n: Name) -> Atom:
        return new.get(n.id, n)

    def write(n: Name) -> Name:
        found = new.get(n.id)
        return found if type(found) is Name else n

    def inside(inner: Block) -> Block:
        return substituted(inner, new)

    out: list[Stmt] = []
    for stmt in block:
        plain = type(stmt) in PLAIN and type(stmt) is not Reset  # the name in it is no mention
        apart = plain and new.keys().isdisjoint(stmt._mentions or itself_mentions(stmt))
        out.append(stmt if apart else map_stmt(stmt, read, write, inside))
    return tuple(out)


def assignments(block: Block | Function) -> Iterator[Assign]:
    """Every assignment of a block, wherever it stands."""
    return (s for s in walk(block) if type(s) is Assign)


def compiled_in(function: Function) -> Subroutine | None:
    """The function that all is done by which a function only calls, for it to be compiled."""
    found = (c.fn for c in calls(function) if type(c.fn) is Subroutine)
    return next((fn for fn in found if fn.kinds is not None), None)


def callers(block: Block | Function) -> Sequence[tuple[Assign | Effect, Call]]:
    """Every statement of a block that makes a call, wherever it stands, with the call."""
    if isinstance(block, Function):
        return _of_body(block, "_callers", callers)
    made = [(s, s.rhs) for s in walk(block) if type(s) is Assign or type(s) is Effect]
    return [(s, call) for s, call in made if type(call) is Call]


def calls(block: Block | Function) -> Sequence[Call]:
    """Every call that a block makes, wherever it stands."""
    return [call for _, call in callers(block)]


def with_values(function: Function, one: Callable[[Assign], Rhs]) -> Function:
    """A function with what `one` gives for the value of every assignment."""
    return replaced_in(function, lambda s: with_rhs(s, one(s)) if type(s) is Assign else s)


def without(block: Block, gone: Set[str]) -> Block:
    """A block that does not assign to some names."""
    return replaced(block, lambda s: () if type(s) is Assign and s.target.id in gone else s)
