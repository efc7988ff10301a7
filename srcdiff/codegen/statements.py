"""Statements of the IR as gast statements."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import gast

from srcdiff import ir
from srcdiff.codegen.expressions import (
    BINARY,
    LOAD,
    STORE,
    Expressions,
    continued,
    name,
    negated,
)
from srcdiff.codegen.idioms import filled_name, is_continued, items_of, result_name
from srcdiff.codegen.nest import Plan
from srcdiff.codegen.printer import Remark
from srcdiff.ir.nodes import Jump, LoopElse
from srcdiff.primitives.ops import Op, is_op

Node = Any


class Statements:
    """Builds the statements of a function; `plan` says what is nested into expressions.

    `read` are the names that something reads; `gone` the flags that became jumps, and the variable
    of what is returned; `comments` those of the user, which stand before statements.
    """

    def __init__(
        self,
        expressions: Expressions,
        read: Container[str],
        plan: Plan,
        gone: frozenset[str],
        comments: Any,
    ) -> None:
        self.build = expressions
        self.read = read
        self.plan = plan
        self.gone = gone
        self.comments = comments
        self.out: list[Node] = []

    # --- blocks --------------------------------------------------------------------------------

    def block(self, block: ir.Block, in_loop: bool = False) -> list[Node]:
        """The statements of a block; `in_loop` says that an iteration ends where it ends."""
        outer, self.out = self.out, []
        skip = 0
        for index in range(len(block)):
            if skip:
                skip -= 1
                continue
            skip = self._step(block, index, in_loop and index == len(block) - 1)
            if self.out and leaves(self.out):
                break  # what follows is never reached
        found, self.out = self.out, outer
        settled: list[Node] = self.comments.settled(found)
        return settled

    def _step(self, block: ir.Block, index: int, last: bool) -> int:
        """One statement; returns how many following ones it has taken with it."""
        stmt: Any = block[index]
        found = items_of(block, index)
        if found is not None:  # `a, b = e`, whose value may have moved here
            base, names = found
            given = self.build.atom(ir.Name(base))
            self.add(gast.Assign([_target(names)], given, None), stmt.loc)
            return len(names) - 1
        if type(stmt) is ir.If:
            self.if_(stmt, last)
        else:
            _WRITERS[type(stmt)](self, stmt)
        return 0

    def before(self, loc: ir.Loc) -> None:
        """Append the user's comments that stood before a statement."""
        self.out += self.comments.before(loc)

    def add(self, node: Node, loc: ir.Loc) -> None:
        """Append a statement, behind the user's comments that stood before it."""
        self.before(loc)
        node.loc = loc
        self.out.append(node)

    # --- simple statements ---------------------------------------------------------------------

    def assign(self, stmt: ir.Assign) -> None:
        """`x = e`, or nothing if the expression moves to its use."""
        value, target = self.build.rhs(stmt.rhs), stmt.target.id
        if target in self.plan.inline:
            self.build.moved[target] = value
        else:
            self.add(gast.Assign([name(target, STORE)], value, None), stmt.loc)

    def permute(self, stmt: ir.Permute) -> None:
        """`a, b = b, a`."""
        sources = gast.Tuple([name(s.id) for s in stmt.sources], LOAD)
        self.add(gast.Assign([_target([t.id for t in stmt.targets])], sources, None), stmt.loc)

    def store(self, stmt: ir.Store) -> None:
        """`x[i] = v`, `x[i] += v`, `x += v`."""
        target: Node = name(stmt.base.id, STORE)
        if stmt.index is not None:
            target = gast.Subscript(self.build.atom(stmt.base), self.build.index(stmt.index), STORE)
        op = stmt.op if isinstance(stmt, ir.AugAssign) else None
        self._store(target, stmt.value, op, stmt.loc)

    def _store(self, target: Node, value: ir.Atom, op: str | None, loc: ir.Loc) -> None:
        """`target = value`, `target += value`."""
        given = self.build.atom(value)
        if op is None:
            self.add(gast.Assign([target], given, None), loc)
        else:
            self.add(gast.AugAssign(target, BINARY[op], given), loc)

    def effect(self, stmt: ir.Effect) -> None:
        """A call as a statement; `x.name = v`, `x.name += v`; `x[k] = v` of what is outside."""
        call = stmt.rhs
        if type(call) is ir.Call and type(call.fn) is ir.SetAttr:
            target = gast.Attribute(self.build.atom(call.args[0]), call.fn.name, STORE)
            self._store(target, call.args[1], call.fn.op, stmt.loc)
        elif is_op(call, Op.SET_ITEM):
            base, key, value, *op = call.args
            target = gast.Subscript(self.build.atom(base), self.build.index(key), STORE)
            self._store(target, value, _operator(op[0]) if op else None, stmt.loc)
        else:
            self.add(gast.Expr(self.build.rhs(call)), stmt.loc)

    def unpack(self, stmt: ir.Unpack) -> None:
        """`_, _ = x`."""
        unused = next(n for n in ("_", "__", "___") if n not in self.read)
        node = gast.parse(f"{stmt.items.targets(unused)} = x").body[0]
        node.value = self.build.atom(stmt.value)
        self.add(node, stmt.loc)

    def verbatim(self, stmt: ir.Verbatim) -> None:
        """A statement kept as text."""
        for node in gast.parse(stmt.text).body:
            self.add(self.build.renamed(node, stmt.refs), stmt.loc)

    def backward(self, stmt: ir.Backward) -> None:
        """The line of comment between the two parts."""
        self.comments.waiting.clear()  # nothing in the backward part is the user's
        self.out.append(Remark("backward"))

    def return_(self, stmt: ir.Return) -> None:
        """The return at the end; that of None is left out."""
        if stmt.value != ir.NONE:
            self.jump(Jump("return", stmt.value, stmt.loc))

    def jump(self, stmt: Jump) -> None:
        """`break`, `continue`, `return` or `return value`."""
        if stmt.kind == "return":
            given = None if stmt.value in (None, ir.NONE) else self.build.rhs(stmt.value)
            self.add(gast.Return(given), stmt.loc)
        else:
            self.add(gast.Break() if stmt.kind == "break" else gast.Continue(), stmt.loc)

    # --- conditionals --------------------------------------------------------------------------

    def if_(self, stmt: ir.If, in_loop: bool = False) -> None:
        """A conditional; `in_loop` says that an iteration ends where it ends."""
        joined = result_name(stmt)
        if joined is not None and joined in self.plan.inline:
            self.build.moved[joined] = self._joined(stmt, joined)
            return
        self.before(stmt.loc)
        test = self.build.atom(stmt.test)
        body, orelse = self.block(stmt.body, in_loop), self.block(stmt.orelse, in_loop)
        self._conditional(test, body, orelse, in_loop, stmt.loc)

    def _conditional(
        self, test: Node, body: list[Node], orelse: list[Node], in_loop: bool, loc: ir.Loc
    ) -> None:
        """The most natural form of a conditional: what is not inside an `else` is better."""
        if not body and orelse:
            if in_loop and not isinstance(orelse[0], gast.If):
                self.add(_leave(test, gast.Continue(), loc), loc)
                self.out += orelse
            else:
                self.add(gast.If(negated(test), orelse, []), loc)
        elif orelse and leaves(body):
            self.add(gast.If(test, body, []), loc)
            self.out += orelse
        else:
            self.add(gast.If(test, body or [gast.Pass()], orelse), loc)

    def _joined(self, stmt: ir.If, joined: str) -> Node:
        """The expression that a conditional is."""
        if is_continued(stmt, joined):
            first = self.build.moved.pop(joined)
            block = stmt.body or stmt.orelse
            rest = self._value(block, joined)
            flat = type(block[-1]) is ir.If and is_continued(block[-1], joined)
            return continued(first, rest, bool(stmt.body), flat)
        test = self.build.atom(stmt.test)
        body, orelse = self._value(stmt.body, joined), self._value(stmt.orelse, joined)
        return gast.IfExp(test, body, orelse)

    def _value(self, block: ir.Block, joined: str) -> Node:
        """The expression that a block computes."""
        assert not self.block(block), "a block that is an expression has no statements"
        return self.build.moved.pop(joined)

    # --- loops ---------------------------------------------------------------------------------

    def for_(self, stmt: ir.For, orelse: ir.Block = ()) -> None:
        """A `for` loop, or the comprehension that it is."""
        collected = filled_name(stmt)
        if collected is not None and collected in self.plan.inline:
            self.build.moved[collected] = self._comprehension(stmt, collected)
            return
        self.before(stmt.loc)
        target, iterated, block = self._parts(stmt)
        body = self._body(block, stmt.stop, stmt.loc)
        self.add(gast.For(target, iterated, body, self.block(orelse), None), stmt.loc)

    def _parts(self, stmt: ir.For) -> tuple[Node, Node, ir.Block]:
        """The target of a loop, what it goes over, and its body behind what the target says."""
        tree, start = self.plan.targets.get(stmt.target.id, (stmt.target.id, 0))
        return _target(tree), self.build.rhs(stmt.iter), stmt.body[start:]

    def _comprehension(self, stmt: ir.For, collected: str) -> Node:
        """`[e for x in xs]` or `{k: v for ...}`."""
        del self.build.moved[collected]
        generators: list[Node] = []
        last = self._generators(stmt, generators)
        if isinstance(last, ir.Store):
            key = self.build.atom(last.index or ir.Const(None))
            return gast.DictComp(key, self.build.atom(last.value), generators)
        assert type(last) is ir.Effect and type(last.rhs) is ir.Call
        return gast.ListComp(self.build.atom(last.rhs.args[1]), generators)

    def _generators(self, stmt: Any, generators: list[Node]) -> Any:
        """Adds the loops and tests of a comprehension; returns the statement inside them."""
        if type(stmt) is ir.For:
            target, iterated, block = self._parts(stmt)
            generators.append(gast.comprehension(target, iterated, [], 0))
        elif type(stmt) is ir.If:
            generators[-1].ifs.append(self.build.atom(stmt.test))
            block = stmt.body
        else:
            return stmt
        assert not self.block(block[:-1]), "a comprehension has no statements"
        return self._generators(block[-1], generators)

    def while_(self, stmt: ir.While, orelse: ir.Block = ()) -> None:
        """A `while` loop; `while True` where the condition takes statements."""
        self.before(stmt.loc)
        cond = self.block(stmt.cond)
        test = self.build.atom(stmt.test)
        if cond:
            cond.append(_leave(negated(test), gast.Break(), stmt.loc))
            test = gast.Constant(True, None)
        body = self._body(stmt.body, stmt.stop, stmt.loc, cond)
        self.add(gast.While(test, body, self.block(orelse)), stmt.loc)

    def _body(
        self, block: ir.Block, stop: ir.Name | None, loc: ir.Loc, before: list[Node] | None = None
    ) -> list[Node]:
        """The body of a loop; a stop flag that is a variable is tested at its end."""
        tested = stop is not None and stop.id not in self.gone
        body = (before or []) + self.block(block, not tested)
        if stop is not None and tested:
            body.append(_leave(name(stop.id), gast.Break(), loc))
        return body or [gast.Pass()]

    def loop_else(self, stmt: LoopElse) -> None:
        """A loop with an `else`."""
        if type(stmt.loop) is ir.For:
            self.for_(stmt.loop, stmt.orelse)
        else:
            self.while_(stmt.loop, stmt.orelse)


def leaves(nodes: list[Node]) -> bool:
    """Whether control never comes to the end of some statements."""
    last = nodes[-1] if nodes else None
    if isinstance(last, (gast.Return, gast.Break, gast.Continue, gast.Raise)):
        return True
    if isinstance(last, gast.If):
        return bool(last.orelse) and leaves(last.body) and leaves(last.orelse)
    return False


def _target(tree: Any) -> Node:
    """A target: a name, or a tuple of targets."""
    if isinstance(tree, str):
        return name(tree, STORE)
    return gast.Tuple([_target(t) for t in tree], STORE)


def _operator(atom: ir.Atom) -> str:
    """The sign of an operator in place."""
    assert type(atom) is ir.Const
    return str(atom.value)


def _leave(test: Node, jump: Node, loc: ir.Loc) -> Node:
    """`if test: break`."""
    jump.loc = loc
    node = gast.If(test, [jump], [])
    node.loc = loc
    return node


_WRITERS: dict[type, Callable[[Statements, Any], None]] = {
    ir.Assign: Statements.assign, ir.Permute: Statements.permute, ir.SetItem: Statements.store,
    ir.AugAssign: Statements.store, ir.Effect: Statements.effect, ir.Unpack: Statements.unpack,
    ir.Verbatim: Statements.verbatim, ir.Return: Statements.return_, Jump: Statements.jump,
    ir.Backward: Statements.backward, ir.For: Statements.for_, ir.While: Statements.while_,
    LoopElse: Statements.loop_else,
}  # fmt: skip
