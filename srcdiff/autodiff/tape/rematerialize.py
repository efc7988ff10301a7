"""Values that a loop's body computes and that the backward part can compute again.

Takes a `Pair` tree; returns it with statements that give such values anew, placed where the
backward part first needs them, and the names that are thus provided.  Reads, views and numbers are
computed again wherever that is right, arithmetic on arrays where less is saved for it.  The
invariant: between the definition of a value and the place where it is computed again (in the order
of the forward part) nothing that it is computed from changes.

Which values to save and which to compute again is chosen so that least is saved.  Arithmetic on
arrays costs little beside keeping one more array for every iteration.  What the backward part needs
and what it is computed from are a network; the cheapest set of values that cuts the needed ones off
from all that cannot be computed again is what is saved (a minimum cut, found by blocking flows;
Dinitz, 1970).  Among equal cuts the one nearest to what is needed is taken, so that nothing is
computed again for nothing.
"""

from __future__ import annotations

import operator
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.tape.needs import (
    Item,
    Stable,
    contents_of,
    contents_read,
    is_arithmetic,
    is_cheap,
    written_contents,
)
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.primitives.views import is_array

SAVE = 10
"""What saving an array costs, where computing it again costs 1 (a view) to 2 (arithmetic)."""

NEVER = 1 << 40
"""The cost of what is not to be saved."""

_SOURCE, _SINK = ("", False), ("", True)
Node = tuple[str, bool]  # a name, before or after the decision to save it


@frozen
class Value:
    """A value: what saving it costs, and if it can be computed again: at what cost, from what."""

    save: int
    again: int | None = None
    reads: tuple[str, ...] = ()


@frozen
class Choice:
    """The names that are saved, and those that are computed again."""

    saved: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


@state
class _Network:
    """Capacities that are left between nodes."""

    left: dict[Node, dict[Node, int]] = field(default_factory=dict)

    def edge(self, a: Node, b: Node, capacity: int) -> None:
        """Add an edge, and its way back."""
        there, back = self.left.setdefault(a, {}), self.left.setdefault(b, {})
        there[b] = there.get(b, 0) + capacity
        back.setdefault(a, 0)

    def levels(self) -> dict[Node, int]:
        """How many edges with capacity left lead from the source to each node."""
        found, todo = {_SOURCE: 0}, deque([_SOURCE])
        while todo:
            node = todo.popleft()
            for other, left in self.left.get(node, {}).items():
                if left and other not in found:
                    found[other] = found[node] + 1
                    todo.append(other)
        return found

    def fill(self) -> None:
        """Send as much as the network carries, all that shortest ways carry at a time."""
        while _SINK in (levels := self.levels()):
            ahead = {n: [o for o in self.left[n] if levels.get(o) == levels[n] + 1] for n in levels}
            while way := self.path(ahead):
                steps = list(zip(way, way[1:]))
                amount = min(self.left[a][b] for a, b in steps)
                for a, b in steps:
                    self.left[a][b] -= amount
                    self.left[b][a] += amount

    def path(self, ahead: Mapping[Node, list[Node]]) -> list[Node]:
        """A way from the source to the sink; edges of `ahead` that lead nowhere are taken out."""
        way = [_SOURCE]
        while way and way[-1] != _SINK:
            onward = ahead[way[-1]]
            if onward and self.left[way[-1]][onward[-1]]:
                way.append(onward[-1])
            elif onward:
                onward.pop()
            else:
                way.pop()
                if way:
                    ahead[way[-1]].pop()
        return way

    def before_sink(self) -> set[Node]:
        """The nodes from which there is capacity left to the sink."""
        found, todo = {_SINK}, [_SINK]
        while todo:
            node = todo.pop()
            for other in self.left[node]:
                if other not in found and self.left[other].get(node):
                    found.add(other)
                    todo.append(other)
        return found


def fewest(values: Mapping[str, Value], needed: Iterable[str]) -> Choice:
    """The cheapest way to have all that is needed.  Names that are no key cost nothing."""
    network = _Network()
    for name, value in values.items():
        before, after = (name, False), (name, True)
        network.edge(before, after, value.save)
        network.edge(_SOURCE, before, NEVER if value.again is None else value.again)
        for read in value.reads:
            if read in values:
                network.edge((read, True), before, NEVER)
    for name in needed:
        network.edge((name, True), _SINK, NEVER)
    if _SINK not in network.left:
        return Choice()
    network.fill()
    mine = network.before_sink()
    again = frozenset(n for n in values if (n, False) in mine)
    return Choice(frozenset(n for n in values if (n, True) in mine) - again, again)


# --- values that a loop's body computes and that the backward part can compute again -------------


@state
class _Again:
    """What the pass looks things up in, and the names provided so far."""

    facts: Facts
    stable: Stable
    definitions: Mapping[str, int]
    reads: Counter[str]
    provided: set[str]
    written: Counter[str] = field(default_factory=Counter)  # how many stores into each view
    places: dict[str, int] = field(default_factory=dict)  # of the block that is looked at
    choice: Choice = Choice()  # of the values of that block
    own: Mapping[str, tuple[int, ir.Assign]] = field(default_factory=dict)  # where it binds each
    stores: Mapping[str, Sequence[int]] = field(default_factory=dict)  # where it stores each


def recompute(block: ir.Block, facts: Facts, stable: Stable) -> tuple[ir.Block, frozenset[str]]:
    """The Pair tree with values computed again, and their names."""
    written = Counter(_written_views(block, facts, stable))
    state = _Again(facts, stable, ir.binding_counts(block), backward_reads(block), set(), written)
    return _inside(block, state, False), frozenset(state.provided)


def backward_reads(block: ir.Block) -> Counter[str]:
    """How many statements need each name on the way down: adjoints, and tests and loop bounds."""
    return Counter(n for stmt in ir.walk(block) for n in _needed(stmt))


def _written_views(block: ir.Block, facts: Facts, stable: Stable) -> list[str]:
    """The views that stores write into that may be undone: what undoes them needs the views."""
    pairs = (s.primal for s in ir.walk(block) if type(s) is ir.Pair)
    stores = (s for s in pairs if isinstance(s, ir.Store) and id(s) not in stable.safe)
    return [s.base.id for s in stores if s.base.id in facts.aliases.views]


def _needed(stmt: ir.Stmt) -> Collection[str]:
    """The names that a statement itself needs on the way down."""
    if type(stmt) is ir.Pair:
        return ir.used(stmt.adjoint)
    return ir.reads(stmt) if isinstance(stmt, (ir.If, ir.For)) else ()


def _inside(block: ir.Block, state: _Again, looping: bool) -> ir.Block:
    """A block; inside loops its own values are computed again where that is cheap.

    The blocks inside it come first: what they compute again reads values of this one.
    """
    out: list[ir.Stmt] = []
    for stmt in block:
        if type(stmt) is ir.If:
            stmt = ir.map_blocks(stmt, lambda b: _inside(b, state, looping))
        elif isinstance(stmt, (ir.For, ir.While)):
            stmt = replace(stmt, body=_inside(stmt.body, state, True))
        out.append(stmt)
    return _again(tuple(out), state) if looping else tuple(out)


def _again(block: ir.Block, state: _Again) -> ir.Block:
    """The values that one block defines, the last one first (what it reads comes after it)."""
    extra: dict[int, list[ir.Assign]] = {}
    state.places, state.choice = {}, Choice()
    uses = _uses(block)
    undone = _undone(block, state)
    asked: dict[str, int] = {}
    own = [(k, s.primal) for k, s in enumerate(block) if type(s) is ir.Pair]
    state.own = {s.target.id: (k, s) for k, s in reversed(own) if type(s) is ir.Assign}
    state.stores = _stores(own, state.stable)
    for find in (_read_back, _computed):
        if find is _computed:
            state.choice = _choice(block, uses, undone, state)
        for k, stmt in reversed(own):
            if type(stmt) is not ir.Assign or state.definitions[stmt.target.id] != 1:
                continue
            used = uses.get(stmt.target.id, {}), undone.get(stmt.target.id, {})
            last = _last_use(stmt, k, *used, asked, state)
            found = None if last is None else find(stmt, k, last, block, state)
            if found is not None:
                state.provided.add(stmt.target.id)
                state.places[stmt.target.id] = found[0]
                extra.setdefault(found[0], []).append(found[1])
                for name in ir.names(found[1].rhs):
                    asked[name] = max(found[0], asked.get(name, 0))
    out: list[ir.Stmt] = []
    for k, pair in enumerate(block):
        out.append(pair)
        if k in extra:
            made = ir.Pair(None, _in_order(extra[k]), extra[k][0].loc)
            out.append(made)
            state.reads.update(backward_reads((made,)))
    return tuple(out)


def _in_order(again: list[ir.Assign]) -> ir.Block:
    """Statements such that each stands behind those that it reads."""
    by_name = {s.target.id: s for s in reversed(again)}
    out: dict[str, ir.Stmt] = {}
    waiting, met = list(reversed(by_name)), set[str]()
    while waiting:
        name = waiting[-1]
        if name in met:
            out.setdefault(waiting.pop(), by_name[name])
            continue
        met.add(name)
        reads = (n for n in reversed(ir.names(by_name[name].rhs)) if n in by_name)
        waiting += [n for n in reads if n not in met]
    return tuple(out.values())


Found = tuple[int, ir.Assign]


def _uses(block: ir.Block) -> dict[str, dict[int, int]]:
    """How often each statement of a block needs each name on the way down."""
    found: dict[str, dict[int, int]] = {}
    for k, stmt in enumerate(block):
        for name, count in backward_reads((stmt,)).items():
            found.setdefault(name, {})[k] = count
    return found


def _undone(block: ir.Block, state: _Again) -> dict[str, dict[int, int]]:
    """How many stores into each view a statement of a block makes."""
    found: dict[str, dict[int, int]] = {}
    for k, stmt in enumerate(block) if state.written else ():
        for name, count in Counter(_written_views((stmt,), state.facts, state.stable)).items():
            found.setdefault(name, {})[k] = count
    return found


def _last_use(
    stmt: ir.Assign,
    k: int,
    uses: Mapping[int, int],
    undone: Mapping[int, int],
    asked: Mapping[str, int],
    state: _Again,
) -> int | None:
    """The last statement of the block that needs a value, None if others need it or nobody does.

    `asked` maps a name to the last statement behind which something is computed again from it.
    """
    name = stmt.target.id
    if name in state.provided:
        return None
    places = [j for j in uses if j >= k]
    written = [j for j in undone if j >= k]
    if sum(uses[j] for j in places) != state.reads[name]:
        return None
    if sum(undone[j] for j in written) != state.written[name]:
        return None
    places += written
    if name in asked:
        places.append(asked[name])
    return max(places, default=None)


def _computed(stmt: ir.Assign, k: int, last: int, block: ir.Block, state: _Again) -> Found | None:
    """The definition itself, run again."""
    if not _feasible(stmt, k, last, block, state):
        return None
    return last, stmt


def _feasible(stmt: ir.Assign, k: int, last: int, block: ir.Block, state: _Again) -> bool:
    """Whether a definition can run again behind the statement `last`, with what it reads."""
    name = stmt.target.id
    if name not in state.choice.again and not is_cheap(stmt.rhs, state.facts, name):
        return False
    if not _is_same_later(stmt, k, last, block, state):
        return False
    return all(_available(r, last, block, state) for r in ir.names(stmt.rhs))


def _is_same_later(stmt: ir.Assign, k: int, last: int, block: ir.Block, state: _Again) -> bool:
    """Whether a definition gives the same value behind the statement `last`."""
    name = stmt.target.id
    looks = _looked_into(stmt, state.facts)
    # What `stable` proved holds for the reads that it has seen: needed ones, and one at a time.
    known = name in state.stable.needed and is_cheap(stmt.rhs, state.facts, name)
    if name in ir.names(stmt.rhs) or (looks and not known):
        return False
    # New memory that is written into meanwhile would have to be written into again.
    own = frozenset() if name in state.facts.aliases.views else contents_of(name, state.facts)
    return _unchanged(stmt.rhs, looks | own, block[k + 1 : last + 1], state)


_Counts = Mapping[str, Mapping[int, int]]


def _choice(block: ir.Block, uses: _Counts, undone: _Counts, state: _Again) -> Choice:
    """Which values of a block to save and which to compute again."""
    own = {n: found for n, found in state.own.items() if state.definitions[n] == 1}
    # What has several values in the block is saved by itself if it is needed at all.
    values = {n: Value(SAVE) for n in _bound_by_primal(block) - {*own} if not state.reads[n]}
    asked: dict[str, int] = {}
    needed: list[str] = []
    for name, (k, stmt) in own.items():
        last = _last_use(stmt, k, uses.get(name, {}), undone.get(name, {}), asked, state)
        if last is None:
            continue
        if name in uses:
            needed.append(name)
        again = _again_cost(stmt, k, last, block, state)
        reads = () if again is None else ir.names(stmt.rhs)
        # A container is not saved where only what it holds is needed.
        worth = name in uses or ir.is_numeric(state.facts.kinds.get(name, ir.UNKNOWN))
        values[name] = Value(SAVE if worth else NEVER, again, reads)
        asked.update({n: max(last, asked.get(n, 0)) for n in reads})
    return fewest(values, needed)


def _again_cost(stmt: ir.Assign, k: int, last: int, block: ir.Block, state: _Again) -> int | None:
    """What it costs to compute a value again, None if it cannot be."""
    cheap = is_cheap(stmt.rhs, state.facts, stmt.target.id)
    if not cheap and not is_arithmetic(stmt.rhs, state.facts.kinds.get(stmt.target.id)):
        return None
    return (1 if cheap else 2) if _is_same_later(stmt, k, last, block, state) else None


def _looked_into(stmt: ir.Assign, facts: Facts) -> frozenset[Item]:
    """The contents that a definition reads; a view is made without a look at its base."""
    view = facts.aliases.views.get(stmt.target.id)
    own = view.base if view is not None and is_array(facts.kinds.get(view.base)) else None
    looks = contents_read(stmt.rhs, facts)
    return frozenset(c for n in looks if n != own for c in contents_of(n, facts))


def _available(name: str, last: int, block: ir.Block, state: _Again) -> bool:
    """Whether a name that a computation reads is there already, or can be computed again."""
    if name in state.provided:
        return state.places.get(name, -1) >= last
    if state.reads[name] or name in state.choice.saved:
        return True
    if name not in state.own:
        return True
    place, stmt = state.own[name]
    return state.definitions[name] == 1 and _feasible(stmt, place, last, block, state)


def _unchanged(rhs: ir.Rhs, contents: frozenset[Item], between: ir.Block, state: _Again) -> bool:
    """Whether no statement changes what an expression reads, and the contents that it looks at."""
    if set(ir.names(rhs)) & _bound_by_primal(between):
        return False
    for stmt in ir.walk(between) if contents else ():
        if id(stmt) not in state.stable.safe and contents & written_contents(stmt, state.facts):
            return False
    return True


def _bound_by_primal(block: ir.Block) -> frozenset[str]:
    """The names that the primal statements of a block bind."""
    return ir.bound(ir.primal_only(block))


def _read_back(stmt: ir.Assign, k: int, last: int, block: ir.Block, state: _Again) -> Found | None:
    """The place in an array where a value was stored and still is, as a read."""
    m = next((m for m in state.stores.get(stmt.target.id, ()) if m > k), None)
    pair = None if m is None else block[m]
    store = pair.primal if type(pair) is ir.Pair else None
    if m is None or not isinstance(store, ir.Store) or store.index is None:
        return None
    place = max(last, m)
    read = ir.Call(operator.getitem, (store.base, store.index))
    # What is written into it, before it is stored or behind that, is not what was stored.
    contents, after = contents_of(stmt.target.id, state.facts), ir.walk(block[k + 1 : place + 1])
    if contents and any(contents & written_contents(s, state.facts) for s in after):
        return None
    if _bound_by_primal(block[m : place + 1]).isdisjoint(ir.names(read)):
        return place, ir.Assign(stmt.target, read, stmt.loc)
    return None


def _stores(own: Iterable[tuple[int, ir.Stmt | None]], stable: Stable) -> dict[str, list[int]]:
    """Where a block stores each name under an index where it stays."""
    found: dict[str, list[int]] = {}
    for k, stmt in own:
        if isinstance(stmt, ir.Store) and stmt.index is not None and id(stmt) in stable.kept:
            if type(stmt.value) is ir.Name:
                found.setdefault(stmt.value.id, []).append(k)
    return found


def parts_of_others(block: ir.Block, provided: frozenset[str], facts: Facts) -> frozenset[str]:
    """Those of the values that are computed again that are no memory of their own."""
    made = ir.assignments(ir.primal_only(block))
    named = {s.target.id for s in made if type(s.rhs) is ir.Name}
    return frozenset(n for n in provided if n in named or n in facts.aliases.views)
