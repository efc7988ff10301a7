"""`break`, `continue` and `return` without jumps: what they skip goes into branches and flags."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, cast

import gast

from srcdiff.frontend.lower import builder
from srcdiff.frontend.lower.builder import Builder, Frame, Node, Pending
from srcdiff.frontend.scopes import Scan
from srcdiff.ir import NONE, Assign, Atom, Block, Const, If, Loc, Name, Rhs

_JUMPS = {"Break": "break", "Continue": "continue", "Return": "return"}
_LOOPS = ("For", "While")
_NOTHING: frozenset[str] = frozenset()


# --- looking ahead -----------------------------------------------------------------------------


def escapes(b: Builder, node: Node) -> frozenset[str]:
    """The jumps inside a statement that leave it."""
    kind = type(node).__name__
    if kind in _JUMPS:
        return frozenset((_JUMPS[kind],))
    if kind != "If" and kind not in _LOOPS:
        return _NOTHING
    found = b.memo.get(id(node))
    if found is None:
        body = all_escapes(b, node.body)
        if kind in _LOOPS:
            body -= {"break", "continue"}
        found = b.memo[id(node)] = body | all_escapes(b, node.orelse)
    return cast("frozenset[str]", found)


def all_escapes(b: Builder, nodes: Sequence[Node]) -> frozenset[str]:
    """The jumps inside some statements that leave them."""
    return _NOTHING.union(*(escapes(b, n) for n in nodes))


def leaves(b: Builder, nodes: Sequence[Node]) -> bool:
    """Whether control never comes to the end of some statements."""
    return any(_leaves(b, n) for n in nodes)


def _leaves(b: Builder, node: Node) -> bool:
    kind = type(node).__name__
    if kind in _JUMPS or kind == "Raise":
        return True
    if kind == "If":
        return bool(node.orelse) and leaves(b, node.body) and leaves(b, node.orelse)
    if kind in _LOOPS and "break" not in all_escapes(b, node.body):
        test: Any = getattr(node, "test", None)
        endless = type(test).__name__ == "Constant" and bool(test.value)
        return endless or leaves(b, node.orelse)
    return False


def returns(b: Builder, nodes: Sequence[Node]) -> Iterator[Node]:
    """The returns of a function that control can come to, those of nested functions excepted."""
    for node in nodes:
        kind = type(node).__name__
        if kind == "Return":
            yield node
        elif kind not in ("FunctionDef", "ClassDef"):
            for name in ("body", "orelse"):
                inner = getattr(node, name, ())
                yield from returns(b, inner if isinstance(inner, list) else ())
        if _leaves(b, node):
            return


# --- functions ---------------------------------------------------------------------------------


def declare_functions(b: Builder, scan: Scan) -> None:
    """Mark the nested functions whose name is bound once."""
    decorated = any(map(decorators, scan.functions.values()))
    with builder.imports_known(b, scan) if decorated else nullcontext():
        for name, node in scan.functions.items():
            if scan.bound[name] == 1 and all(is_transparent(b, d) for d in decorators(node)):
                b.scope[name] = Pending(node)
            if decorators(node):
                _check_memo(b, node)


def _check_memo(b: Builder, node: Node) -> None:
    """Refuse a nested function whose results are kept: they may have been for other values."""
    found = [_decorator(b, d) for d in decorators(node)]
    if any(d is functools.lru_cache or d is functools.cache for d in found):
        b.refuse(
            node,
            f"the nested function `{node.name}` keeps its results",
            "Leave the cache away, keep the results in a dict of your own, or define the function "
            "outside.",
        )


def decorators(node: Node) -> Sequence[Node]:
    """The decorators of a definition; a lambda has none."""
    return getattr(node, "decorator_list", ())


def is_transparent(b: Builder, node: Node) -> bool:
    """Whether a decorator of a nested function changes nothing that it computes."""
    return _decorator(b, node) is functools.wraps


def _decorator(b: Builder, node: Node) -> Any:
    """The decorator from outside that an expression means, or makes by a call; None if unknown."""
    while type(node).__name__ == "Call":
        node = node.func
    root = node
    while type(root).__name__ == "Attribute":
        root = root.value
    if type(root).__name__ != "Name" or isinstance(b.scope.get(root.id), (Name, Pending)):
        return None
    known = b.static(node)
    return None if known is None else known.value


def frame_of(b: Builder, nodes: Sequence[Node]) -> Frame:
    """How a function returns."""
    found = list(returns(b, nodes))
    single = not found or (len(found) == 1 and nodes[-1] is found[0])
    valued = any(getattr(r.value, "value", r.value) is not None for r in found)
    return Frame(single, b.fresh("_ret") if valued and not single else None)


def function_body(b: Builder, nodes: Sequence[Node]) -> Rhs:
    """Lower the body of the function of the current frame; gives the value it returns."""
    if b.frame.result is not None and not leaves(b, nodes):
        end = gast.copy_location(gast.Return(None), nodes[-1])
        end.implicit = True
        nodes = [*nodes, end]
    sequence(b, nodes, tail=True)
    if b.frame.single:
        return NONE if b.frame.value is None else b.frame.value
    return b.frame.result or NONE


# --- sequences ---------------------------------------------------------------------------------


def sequence(b: Builder, nodes: Sequence[Node], tail: bool) -> None:
    """Lower statements; `tail`: nothing runs after them in this loop body or function."""
    for i, node in enumerate(nodes):
        kinds = escapes(b, node)
        if kinds or (type(node).__name__ in _LOOPS and node.orelse):
            _with_flag(b, nodes, i, tail)
            return
        b.statements[type(node).__name__](b, node)
        if _leaves(b, node):
            return


def block(b: Builder, nodes: Sequence[Node], tail: bool) -> Block:
    """Statements as a block of their own."""
    return b.collect(lambda: sequence(b, nodes, tail))


def _with_flag(b: Builder, nodes: Sequence[Node], i: int, tail: bool) -> None:
    """A statement that may jump; a return flag that it needs is its own, cleared before."""
    if not tail or b.frame.loops or "return" not in escapes(b, nodes[i]):
        _jumping(b, nodes, i, tail)
        return
    saved, b.frame.flag = b.frame.flag, None
    start = len(b.out)
    _jumping(b, nodes, i, tail)
    if b.frame.flag is not None:
        b.out.insert(start, Assign(b.frame.flag, Const(False), b.loc(nodes[i])))
    b.frame.flag = saved


def _jumping(b: Builder, nodes: Sequence[Node], i: int, tail: bool) -> None:
    """A statement that may jump out, and what follows it."""
    node = nodes[i]
    kind = type(node).__name__
    if kind in _JUMPS:
        _jump(b, node, tail)
    elif kind == "If":
        test = b.atom(node.test)
        branch(b, test, (node.body, node.orelse, nodes[i + 1 :]), tail, node)
    else:
        _loop(b, node, nodes[i + 1 :], tail)


def branch(
    b: Builder, test: Atom, parts: tuple[list[Node], list[Node], Sequence[Node]], tail: bool,
    node: Node,
) -> None:  # fmt: skip
    """`if test: body else: orelse` and the statements after it, where a branch may jump."""
    body, orelse, rest = parts
    kinds = all_escapes(b, (*body, *orelse))
    if rest and leaves(b, body):
        orelse, rest = [*orelse, *rest], ()
    elif rest and leaves(b, orelse):
        body, rest = [*body, *rest], ()
    last = tail and not rest
    then, other = block(b, body, last), block(b, orelse, last)
    if then or other:
        b.emit(If(test, then, other, b.loc(node)))
    if rest:
        _guarded(b, kinds, lambda: sequence(b, rest, tail), node)


def _loop(b: Builder, node: Node, rest: Sequence[Node], tail: bool) -> None:
    """A loop that a `return` leaves, or that has an `else`, and the statements after it."""
    stop = b.statements[type(node).__name__](b, node)

    def following() -> None:
        if node.orelse and stop is not None:
            branch(b, stop, ([], node.orelse, rest), tail, node)
        else:
            sequence(b, [*node.orelse, *rest], tail)

    kinds = all_escapes(b, node.body) & {"return"}
    if kinds and (node.orelse or rest):
        _guarded(b, kinds, following, node)
    else:
        following()


def _guarded(b: Builder, kinds: frozenset[str], action: Callable[[], None], node: Node) -> None:
    """Statements that run unless a jump before them was taken."""
    found = b.collect(action)
    for flag in reversed(_flags(b, kinds)):
        found = (If(flag, (), found, b.loc(node)),) if found else ()
    b.out.extend(found)


def _flags(b: Builder, kinds: frozenset[str]) -> list[Name]:
    """The flags that say that one of these jumps was taken."""
    if not b.frame.loops:
        return [return_flag(b)] if "return" in kinds else []
    loop = b.frame.loops[-1]
    flags = [loop.stop] if kinds & {"break", "return"} and loop.stop else []
    return [*flags, *([_skip_flag(b)] if "continue" in kinds else [])]


def return_flag(b: Builder) -> Name:
    """The flag that a `return` sets."""
    if b.frame.flag is None:
        b.frame.flag = b.fresh("_done")
    return b.frame.flag


def _skip_flag(b: Builder) -> Name:
    """The flag that a `continue` sets."""
    loop = b.frame.loops[-1]
    if loop.skip is None:
        loop.skip = b.fresh("_skip")
    return loop.skip


# --- jumps -------------------------------------------------------------------------------------


def _jump(b: Builder, node: Node, tail: bool) -> None:
    """`break`, `continue` or `return`."""
    kind, loc = type(node).__name__, b.loc(node)
    if kind == "Return":
        _return(b, node, tail, loc)
    elif kind == "Break":
        stop = b.frame.loops[-1].stop
        assert stop is not None
        _set(b, stop, loc)
    elif not tail:
        _set(b, _skip_flag(b), loc)


def _return(b: Builder, node: Node, tail: bool, loc: Loc) -> None:
    frame = b.frame
    value: Rhs = NONE if node.value is None else b.rhs(node.value)
    if not hasattr(node, "implicit"):
        frame.returns.append(loc)
    if frame.single:
        frame.value = value
        return
    if frame.result is not None:
        b.emit(Assign(frame.result, value, loc))
    if not frame.loops and tail:
        return
    flags = [return_flag(b), *(loop.stop for loop in frame.loops if loop.own and loop.stop)]
    for flag in flags:
        _set(b, flag, loc)


def _set(b: Builder, flag: Name, loc: Any) -> None:
    b.emit(Assign(flag, Const(True), loc))
