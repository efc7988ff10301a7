"""Give every independent value of a variable a name of its own.

Takes a function in which `h` may be bound again and again; returns one in which two definitions
share a name only if some read can see either of them (a loop-carried or merged variable).  The
invariant: every read sees the same definitions as before.
"""

from __future__ import annotations

from collections.abc import Callable

from srcdiff import ir
from srcdiff.ir.disjoint import Disjoint

Path = tuple[int, ...]
Key = tuple[str, Path]  # a name and the path of the statement that binds it
Env = dict[str, frozenset[Key]]


def webs(
    function: ir.Function, only: Callable[[str], bool] = lambda name: True
) -> ir.Function:
    """The function with straight-line redefinitions renamed: `h`, `h_1`, ...; `only` some names."""
    counts = ir.binding_counts(function, function.params)
    names = frozenset([n for n, count in counts.items() if count > 1 and only(n)])
    if not names:
        return function
    params = [p.name for p in function.params]
    start: Env = {p: frozenset({(p, ())}) for p in names.intersection(params)}
    reach = _Reach(names)
    reach.block(function.body, start, ())
    rename = _Rename(reach, ir.Fresh(ir.all_names(function)), params)
    return ir.rebuilt(function, body=rename.block(function.body, ()))


class _Reach:
    """Reaching definitions of `names` over the structured body; a read joins what it can see."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.sets = Disjoint[Key]()
        self.seen: dict[tuple[Path, str], Key] = {}
        self.loop_end: dict[Path, Env] = {}

    def read(self, name: str, env: Env, path: Path) -> None:
        """A read of `name`: all definitions that reach it are one web."""
        found = env.get(name)
        if found is not None:
            if len(found) > 1:
                self.join(found)
            self.seen[path, name] = next(iter(found))

    def join(self, found: frozenset[Key]) -> None:
        """Put definitions that one read can see into one web; the first one represents it."""
        first, *rest = sorted(map(self.sets.find, found), key=lambda key: (key[1], key[0]))
        for other in rest:
            self.sets.join(first, other)

    def block(self, block: ir.Block, env: Env, path: Path) -> None:
        """Let `env` become the definitions that reach the end of a block."""
        for i, stmt in enumerate(block):
            self.stmt(stmt, env, (*path, i))

    def stmt(self, stmt: ir.Stmt, env: Env, path: Path) -> None:
        """Let `env` become the definitions that reach the point after a statement."""
        for name in ir.reads(stmt):
            if name in self.names:
                self.read(name, env, path)
        if type(stmt) is ir.Assign:
            if stmt.target.id in self.names:
                env[stmt.target.id] = frozenset({(stmt.target.id, path)})
        elif type(stmt) is ir.If:
            self.branch(stmt, env, path)
        elif isinstance(stmt, (ir.For, ir.While)):
            self.loop(stmt, env, path)
        else:
            for name in ir.writes(stmt):
                env[name] = frozenset({(name, path)})

    def branch(self, stmt: ir.If, env: Env, path: Path) -> None:
        """Both branches, from the same definitions."""
        changed = self.names.intersection(ir.bound_in(stmt))
        start = _part(env, changed)
        self.block(stmt.body, env, (*path, 0))
        one = _part(env, changed)
        _set(env, changed, start)
        self.block(stmt.orelse, env, (*path, 1))
        _set(env, changed, _merge(one, _part(env, changed)))

    def loop(self, stmt: ir.For | ir.While, env: Env, path: Path) -> None:
        """The loop's body to a fixpoint of what reaches its start."""
        changed = self.names.intersection(ir.bound_in(stmt))
        start = _merge(_part(env, changed), self.loop_end.get(path, {}))
        while True:
            _set(env, changed, start)
            if type(stmt) is ir.For:
                env[stmt.target.id] = frozenset({(stmt.target.id, path)})
            else:
                self.block(stmt.cond, env, (*path, 0))
                for name in ir.names(stmt.test):
                    self.read(name, env, (*path, 2))
            top = _part(env, changed)
            self.block(stmt.body, env, (*path, 1))
            if stmt.stop is not None:
                self.read(stmt.stop.id, env, (*path, 3))
            end = _part(env, changed)
            new = _merge(start, end)
            if new == start:
                break
            start = new
        self.loop_end[path] = end
        _set(env, changed, _merge(_merge(start, top), end))


def _part(env: Env, names: frozenset[str]) -> Env:
    """The definitions of some names."""
    return {n: env[n] for n in names if n in env}


def _set(env: Env, names: frozenset[str], part: Env) -> None:
    """Give some names the definitions in `part`, and none where it has none."""
    for name in names:
        env.pop(name, None)
    env.update(part)


def _merge(a: Env, b: Env) -> Env:
    """The definitions that reach from either side."""
    result = dict(a)
    for name, found in b.items():
        old = a.get(name)
        if old is not found:
            result[name] = found if old is None else old | found
    return result


class _Rename:
    """The second walk: every name becomes the name of its web."""

    def __init__(self, reach: _Reach, fresh: ir.Fresh, params: list[str]) -> None:
        self.reach, self.names = reach, reach.names
        self.fresh = fresh
        self.new = {reach.sets.find((p, ())): ir.Name(p) for p in params}
        self.owned = set(params)

    def name_of(self, key: Key) -> ir.Name:
        """The name of a definition's web; the first web of a variable keeps the variable's name."""
        root = self.reach.sets.find(key)
        if root not in self.new:
            plain = root[0] not in self.owned
            self.owned.add(root[0])
            self.new[root] = ir.Name(root[0]) if plain else self.fresh(root[0])
        return self.new[root]

    def block(self, block: ir.Block, path: Path) -> ir.Block:
        """A block with its names replaced."""
        out: list[ir.Stmt] = []
        for i, stmt in enumerate(block):
            new = self.stmt(stmt, (*path, i))
            out += self.moves(new) if type(new) is ir.Permute else (new,)
        return tuple(out)

    def moves(self, stmt: ir.Permute) -> ir.Block:
        """A permutation, or plain assignments where targets and sources are other names."""
        targets, sources = set(stmt.targets), set(stmt.sources)
        if targets == sources:
            return (stmt,)
        apart = targets.isdisjoint(sources)
        held = () if apart else tuple(self.fresh("_" + s.id.lstrip("_")) for s in stmt.sources)
        moves = (*zip(held, stmt.sources), *zip(stmt.targets, held or stmt.sources, strict=True))
        return tuple(ir.Assign(target, source, stmt.loc) for target, source in moves)

    def seen(self, name: ir.Name, path: Path) -> ir.Name:
        """The new name of a read at a path (a name that nothing binds stays)."""
        if name.id not in self.names:
            return name
        key = self.reach.seen.get((path, name.id))
        return name if key is None else self.renamed(name, key)

    def bound(self, name: ir.Name, path: Path) -> ir.Name:
        """The new name of a definition at a path."""
        return self.renamed(name, (name.id, path)) if name.id in self.names else name

    def renamed(self, name: ir.Name, key: Key) -> ir.Name:
        """The name of a web; the very `name` where it stays, as statements then stay too."""
        new = self.name_of(key)
        return name if new.id == name.id else new

    def stmt(self, stmt: ir.Stmt, path: Path) -> ir.Stmt:
        """A statement with its names replaced."""
        if type(stmt) in ir.PLAIN and self.names.isdisjoint(ir.itself_mentions(stmt)):
            return stmt
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt, path)
        numbers = iter(range(2))
        return ir.map_stmt(
            stmt,
            lambda n: self.seen(n, path),
            lambda n: self.bound(n, path),
            lambda b: self.block(b, (*path, next(numbers))),
        )

    def loop(self, stmt: ir.For | ir.While, path: Path) -> ir.Stmt:
        """A loop: its test and stop flag are read at points of their own."""
        body = self.block(stmt.body, (*path, 1))
        stop = None if stmt.stop is None else self.seen(stmt.stop, (*path, 3))
        if type(stmt) is ir.For:
            it = ir.map_rhs(lambda n: self.seen(n, path), stmt.iter)
            target = self.bound(stmt.target, path)
            return ir.rebuilt(stmt, iter=it, target=target, body=body, stop=stop)
        cond = self.block(stmt.cond, (*path, 0))
        test = ir.map_atom(lambda n: self.seen(n, (*path, 2)), stmt.test)
        return ir.rebuilt(stmt, cond=cond, test=test, body=body, stop=stop)
