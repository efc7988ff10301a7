"""Statements of the IR as gast statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcdiff.codegen.expressions import (
    AUGMENTED,
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
from srcdiff.ir import (
    Assign,
    Block,
    Call,
    Comment,
    Const,
    Effect,
    For,
    If,
    Loc,
    Name,
    Permute,
    Return,
    Rhs,
    SetItem,
    Verbatim,
    While,
)
from srcdiff.ir.nodes import Jump, LoopElse
from srcdiff.primitives.ops import Op, is_op

Node = Any


class Statements:
    """Builds the statements of a function; `plan` says what is nested into expressions.

    `gone` are the flags that became jumps, and the variable of what is returned; `comments` those
    of the user, which stand before statements.
    """

    def __init__(
        self, expressions: Expressions, plan: Plan, gone: frozenset[str], comments: Any
    ) -> None:
        self.build = expressions
        self.plan = plan
        self.gone = gone
        self.comments = comments
        self.out: list[Node] = []

    # --- blocks --------------------------------------------------------------------------------

    def block(self, block: Block, in_loop: bool = False) -> list[Node]:
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

    def _step(self, block: Block, index: int, last: bool) -> int:
        """One statement; returns how many following ones it has taken with it."""
        stmt: Any = block[index]
        if isinstance(stmt, Assign):
            count = self.plan.unpack.get(stmt.target.id)
            if count:
                return self._unpack(block[index : index + 1 + count])
            found = items_of(block, index)
            if found is not None:
                return self._items(found[0], found[1], stmt.loc)
        if isinstance(stmt, If) and last:
            self._if(stmt, last)
        else:
            _WRITERS[type(stmt)](self, stmt)
        return 0

    def before(self, loc: Loc) -> None:
        """Append the user's comments that stood before a statement."""
        self.out += self.comments.before(loc)

    def add(self, node: Node, loc: Loc) -> None:
        """Append a statement."""
        node.loc = loc
        self.out.append(node)

    def nested(self, block: Block, in_loop: bool = False) -> list[Node]:
        """The statements of an inner block, `pass` if there are none."""
        return self.block(block, in_loop) or [gast.Pass()]

    # --- simple statements ---------------------------------------------------------------------

    def assign(self, stmt: Assign) -> None:
        """`x = e`, or nothing if the expression moves to its use."""
        if stmt.target.id in self.plan.inline:
            self.build.moved[stmt.target.id] = self.build.rhs(stmt.rhs)
            return
        self.before(stmt.loc)
        value = self.build.rhs(stmt.rhs)
        self.add(gast.Assign([name(stmt.target.id, STORE)], value, None), stmt.loc)

    def _unpack(self, group: Block) -> int:
        """`a, b = e`."""
        first = group[0]
        assert isinstance(first, Assign)
        self.build.moved[first.target.id] = self.build.rhs(first.rhs)
        found = items_of(group, 1)
        assert found is not None
        return 1 + self._items(found[0], found[1], group[1].loc)

    def _items(self, base: str, names: tuple[str, ...], loc: Loc) -> int:
        """`a, b = e`, whose value may have moved here."""
        self.before(loc)
        targets = [name(n, STORE) for n in names]
        value = self.build.atom(Name(base))
        self.add(gast.Assign([gast.Tuple(targets, STORE)], value, None), loc)
        return len(targets) - 1

    def permute(self, stmt: Permute) -> None:
        """`a, b = b, a`."""
        self.before(stmt.loc)
        targets = gast.Tuple([name(t.id, STORE) for t in stmt.targets], STORE)
        sources = gast.Tuple([name(s.id) for s in stmt.sources], LOAD)
        self.add(gast.Assign([targets], sources, None), stmt.loc)

    def set_item(self, stmt: SetItem) -> None:
        """`x[i] = v`, `x[i] += v`, `x += v`."""
        self.before(stmt.loc)
        target: Node = name(stmt.base.id, STORE)
        if stmt.index is not None:
            target = gast.Subscript(self.build.atom(stmt.base), self.build.index(stmt.index), STORE)
        elif stmt.op is None:  # `x[...] = v` writes all of an array
            target = gast.Subscript(self.build.atom(stmt.base), gast.Constant(..., None), STORE)
        value = self.build.atom(stmt.value)
        if stmt.op is None:
            self.add(gast.Assign([target], value, None), stmt.loc)
        else:
            self.add(gast.AugAssign(target, AUGMENTED[stmt.op], value), stmt.loc)

    def effect(self, stmt: Effect) -> None:
        """A call as a statement, or a store into an attribute."""
        self.before(stmt.loc)
        if is_op(stmt.rhs, Op.SET_ATTR, Op.SET_ITEM):
            self.set_part(stmt.rhs, stmt.loc)
            return
        self.add(gast.Expr(self.build.rhs(stmt.rhs)), stmt.loc)

    def set_part(self, call: Call, loc: Loc) -> None:
        """`x.name = v`, `x.name += v`, `x[k] = v`, `x[k] += v`."""
        base, key, value = call.args[:3]
        if is_op(call, Op.SET_ITEM):
            target: Node = gast.Subscript(self.build.atom(base), self.build.index(key), STORE)
        else:
            assert isinstance(key, Const)
            target = gast.Attribute(self.build.atom(base), key.value, STORE)
        given = self.build.atom(value)
        if len(call.args) == 3:
            self.add(gast.Assign([target], given, None), loc)
        else:
            op = call.args[3]
            assert isinstance(op, Const)
            self.add(gast.AugAssign(target, AUGMENTED[op.value], given), loc)

    def verbatim(self, stmt: Verbatim) -> None:
        """A statement kept as text."""
        self.before(stmt.loc)
        for node in gast.parse(stmt.text).body:
            self.add(self.build.renamed(node, stmt.refs), stmt.loc)

    def comment(self, stmt: Comment) -> None:
        """A line of comment."""
        if stmt.text == "backward":
            self.comments.waiting.clear()  # nothing in the backward part is the user's
        self.out.append(Remark(stmt.text))

    def return_(self, stmt: Return) -> None:
        """The return at the end; that of None is left out."""
        if stmt.value != Const(None):
            self.returned(stmt.value, stmt.loc)

    def returned(self, value: Rhs | None, loc: Loc) -> None:
        """`return value`."""
        self.before(loc)
        is_none = value is None or value == Const(None)
        self.add(gast.Return(None if is_none else self.build.rhs(value)), loc)  # type: ignore[arg-type]

    def jump(self, stmt: Jump) -> None:
        """`break`, `continue` or `return`."""
        if stmt.kind == "return":
            self.returned(stmt.value, stmt.loc)
            return
        self.before(stmt.loc)
        self.add(gast.Break() if stmt.kind == "break" else gast.Continue(), stmt.loc)

    # --- conditionals --------------------------------------------------------------------------

    def if_(self, stmt: If) -> None:
        """A conditional that is not the last statement of an iteration."""
        self._if(stmt, False)

    def _if(self, stmt: If, in_loop: bool) -> None:
        joined = result_name(stmt)
        if joined is not None and joined in self.plan.inline:
            self.build.moved[joined] = self._joined(stmt, joined)
            return
        self.before(stmt.loc)
        test = self.build.atom(stmt.test)
        body, orelse = self.block(stmt.body, in_loop), self.block(stmt.orelse, in_loop)
        self._conditional(test, body, orelse, in_loop, stmt.loc)

    def _conditional(
        self, test: Node, body: list[Node], orelse: list[Node], in_loop: bool, loc: Loc
    ) -> None:
        """The most natural form of a conditional: what is not inside an `else` is better."""
        if not body and orelse:
            if in_loop and not isinstance(orelse[0], gast.If):
                self.add(gast.If(test, [_with_loc(gast.Continue(), loc)], []), loc)
                self.out += orelse
            else:
                self.add(gast.If(negated(test), orelse, []), loc)
        elif orelse and leaves(body):
            self.add(gast.If(test, body, []), loc)
            self.out += orelse
        else:
            self.add(gast.If(test, body or [gast.Pass()], orelse), loc)

    def _joined(self, stmt: If, joined: str) -> Node:
        """The expression that a conditional is."""
        if is_continued(stmt, joined):
            first = self.build.moved.pop(joined)
            block = stmt.body or stmt.orelse
            rest = self._value(block, joined)
            flat = isinstance(block[-1], If) and is_continued(block[-1], joined)
            return continued(first, rest, bool(stmt.body), flat)
        test = self.build.atom(stmt.test)
        body, orelse = self._value(stmt.body, joined), self._value(stmt.orelse, joined)
        return gast.IfExp(test, body, orelse)

    def _value(self, block: Block, joined: str) -> Node:
        """The expression that a block computes."""
        assert not self.block(block), "a block that is an expression has no statements"
        return self.build.moved.pop(joined)

    # --- loops ---------------------------------------------------------------------------------

    def for_(self, stmt: For, orelse: Block = ()) -> None:
        """A `for` loop, or the comprehension that it is."""
        collected = filled_name(stmt)
        if collected is not None and collected in self.plan.inline:
            self.build.moved[collected] = self._comprehension(stmt, collected)
            return
        self.before(stmt.loc)
        iterated = self.build.rhs(stmt.iter)
        tree, start = self.plan.targets.get(stmt.target.id, (stmt.target.id, 0))
        body = self._body(stmt.body[start:], stmt.stop, stmt.loc)
        target = _target(tree)
        self.add(gast.For(target, iterated, body, self.block(orelse), None), stmt.loc)

    def _comprehension(self, stmt: For, collected: str) -> Node:
        """`[e for x in xs]` or `{k: v for ...}`."""
        del self.build.moved[collected]
        generators: list[Node] = []
        last = self._generators(stmt, generators)
        if isinstance(last, SetItem):
            key = self.build.atom(last.index or Const(None))
            return gast.DictComp(key, self.build.atom(last.value), generators)
        assert isinstance(last, Effect) and isinstance(last.rhs, Call)
        return gast.ListComp(self.build.atom(last.rhs.args[1]), generators)

    def _generators(self, stmt: Any, generators: list[Node]) -> Any:
        """Adds the loops and tests of a comprehension; returns the statement inside them."""
        if isinstance(stmt, For):
            tree, start = self.plan.targets.get(stmt.target.id, (stmt.target.id, 0))
            iterated = self.build.rhs(stmt.iter)
            generators.append(gast.comprehension(_target(tree), iterated, [], 0))
            block = stmt.body[start:]
        elif isinstance(stmt, If):
            generators[-1].ifs.append(self.build.atom(stmt.test))
            block = stmt.body
        else:
            return stmt
        assert not self.block(block[:-1]), "a comprehension has no statements"
        return self._generators(block[-1], generators)

    def while_(self, stmt: While, orelse: Block = ()) -> None:
        """A `while` loop; `while True` where the condition takes statements."""
        self.before(stmt.loc)
        cond = self.block(stmt.cond)
        test = self.build.atom(stmt.test)
        if cond:
            leave = gast.If(negated(test), [_with_loc(gast.Break(), stmt.loc)], [])
            cond.append(_with_loc(leave, stmt.loc))
            test = gast.Constant(True, None)
        body = self._body(stmt.body, stmt.stop, stmt.loc, cond)
        self.add(gast.While(test, body, self.block(orelse)), stmt.loc)

    def _body(
        self, block: Block, stop: Name | None, loc: Loc, before: list[Node] | None = None
    ) -> list[Node]:
        """The body of a loop; a stop flag that is a variable is tested at its end."""
        tested = stop is not None and stop.id not in self.gone
        body = (before or []) + self.block(block, not tested)
        if stop is not None and tested:
            leave = gast.If(name(stop.id), [_with_loc(gast.Break(), loc)], [])
            body.append(_with_loc(leave, loc))
        return body or [gast.Pass()]

    def loop_else(self, stmt: LoopElse) -> None:
        """A loop with an `else`."""
        if isinstance(stmt.loop, For):
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


def _with_loc(node: Node, loc: Loc) -> Node:
    node.loc = loc
    return node


_WRITERS: dict[type, Callable[[Statements, Any], None]] = {
    Assign: Statements.assign, Permute: Statements.permute, SetItem: Statements.set_item,
    Effect: Statements.effect, Verbatim: Statements.verbatim, Comment: Statements.comment,
    Return: Statements.return_, Jump: Statements.jump, If: Statements.if_, For: Statements.for_,
    While: Statements.while_, LoopElse: Statements.loop_else,
}  # fmt: skip
