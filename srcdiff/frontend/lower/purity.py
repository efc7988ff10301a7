"""What must have no effect: nested functions whose results are kept, and expressions kept as text.

Nested functions under `functools.cache` are refused unless calling them anew gives the same.  The
body of a nested function takes the place of its calls, which is right where nothing can tell a
kept result from a new one: what the function captures stays as it is from the definition on, the
function itself changes nothing, and nobody writes into what it gives.  Names count, not scopes:
what is refused for a name that another function has too is refused too often, never too rarely.

What an expression that is kept as text calls must have no effect that anybody could miss.  An item
of an f-string or of a set, and what `assert` asks, is computed by a statement before where that is
not known of it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NoReturn

import gast
import numpy as np

from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node
from srcdiff.frontend.scopes import at, children, instead, scan_function, scan_nodes
from srcdiff.ir import Call, Name
from srcdiff.primitives.effects import is_pure, mutated_args, returns_view
from srcdiff.primitives.operation import ELEMENT_METHODS, MUTATORS, PURE_METHODS, VIEW_METHODS

_CHANGES = MUTATORS | {"__setitem__", "__delitem__", "__iadd__", "__imul__", "__ior__"}
_DRAWS = frozenset(n for c in (np.random.Generator, np.random.RandomState) for n in dir(c))
_NEW = ("BinOp", "UnaryOp", "Compare", "Constant", "JoinedStr", "Lambda")
_LOOPS = ("For", "While", "ListComp", "SetComp", "DictComp", "GeneratorExp")
_DEFINITIONS = ("FunctionDef", "Lambda")


def check_memo(b: Builder, node: Node) -> None:
    """Refuse a nested function whose results are kept, if that makes a difference."""
    _Check(b, node).run()


def is_memo(value: Any) -> bool:
    """Whether a decorator keeps results."""
    return value is functools.lru_cache or value is functools.cache


class _Check:
    """The check of one function."""

    def __init__(self, b: Builder, node: Node) -> None:
        self.b, self.node = b, node
        self.whole = [*_walk(b.source.tree)]
        self.inside: set[int] = set()
        self.bindings = [(_name(n), n) for n in self.whole if _name(n)]
        self.bound = {name for name, _ in self.bindings}
        self.captured: set[str] = set()
        self.outer = False
        self.capture(node, {node.name})
        # What may be, or share memory with, what is captured or a result.
        self.shared = {*self.captured, node.name}
        self.holders: set[str] = set()  # what such things are put into

    def capture(self, made: Node, seen: set[str]) -> None:
        """What a function reads from around it, and what the functions read that it calls."""
        scan = scan_function(made)
        self.outer = self.outer or bool(scan.outer)
        self.inside |= {id(n) for part in made.body for n in _walk(part)}
        for name in (n for n in scan.free if n in self.bound and n not in seen):
            seen.add(name)
            found = [n for bound, n in self.bindings if bound == name]
            if len(found) == 1 and type(found[0]).__name__ == "FunctionDef":
                self.capture(found[0], seen)
            else:
                self.captured.add(name)

    def run(self) -> None:
        """Refuse what is not transparent."""
        if any(self.is_before(n) and getattr(n, "id", "") == self.node.name for n in self.whole):
            self.differs(self.node, "is named before it is made")
        if self.outer:
            self.differs(self.node, "binds a variable outside of it")
        for name, place in self.bindings:
            if name in self.captured and id(place) not in self.inside and self.is_later(place):
                self.differs(place, f"reads `{name}`, which is bound anew here")
        while self.spread():
            pass
        for node in self.whole:
            if not self.is_before(node):
                self.check_write(node)
            if id(node) in self.inside and type(node).__name__ == "Call":
                self.check_effect(node)

    def differs(self, at: Node, why: str) -> NoReturn:
        """The error: what it is that makes a difference."""
        self.b.refuse(
            at if getattr(at, "lineno", None) else self.node,
            f"the nested function `{self.node.name}`, whose results are kept, {why}",
            "Keep the results in a dict of your own, or leave the cache away.",
        )

    # --- what it captures ------------------------------------------------------------------------

    def is_later(self, at: Node) -> bool:
        """Whether a variable is bound after the function is made, or may be in a loop."""
        if not getattr(at, "lineno", None):
            return False  # a parameter
        if at.lineno > self.node.lineno:
            return True
        loops = [n for n in self.whole if type(n).__name__ in _LOOPS]
        around = [n for n in loops if any(m is at for m in _walk(n))]
        return any(
            n.end_lineno >= self.node.lineno and not any(m is self.node for m in _walk(n))
            for n in around
        )

    def is_before(self, node: Node) -> bool:
        """Whether something stands before the function, which is made anew wherever it runs."""
        line = getattr(node, "lineno", None)
        first = min(self.node.lineno, *(d.lineno for d in self.node.decorator_list))
        return bool(line) and line < first

    # --- what shares memory ----------------------------------------------------------------------

    def spread(self) -> bool:
        """Add the names that are bound to what may share memory; whether there were any."""
        before = len(self.shared) + len(self.holders)
        for node in self.whole:
            kind = type(node).__name__
            if kind == "Assign" and self.shares(node.value):
                for target in node.targets:
                    self.hold(target)
            elif self.shares(_taken(node)):
                self.shared |= {*_roots(node.target)}
            elif kind == "withitem" and node.optional_vars and self.shares(node.context_expr):
                self.shared |= {*_roots(node.optional_vars)}
            elif kind == "Call" and self.is_given(node):
                self.hand_on(node)
        return len(self.shared) + len(self.holders) > before

    def hold(self, target: Node) -> None:
        """Something shared is assigned to a target."""
        into = type(target).__name__ in ("Subscript", "Attribute")
        (self.holders if into else self.shared).update(_roots(target))

    def shares(self, node: Node | None) -> bool:
        """Whether the value of an expression may share memory with what is captured or kept."""
        kind = type(node).__name__
        if node is None or kind in _NEW:
            return False
        if kind == "Name":
            return node.id in self.shared or node.id in self.holders
        if kind == "Call":
            return self.call_shares(node)
        if kind == "Subscript":
            return self.shares(node.value)
        return any(map(self.shares, children(node)))

    def call_shares(self, node: Node) -> bool:
        """Whether the result of a call may."""
        known = self.static(node.func)
        if known is not None and is_pure(known):
            given = [*node.args, *(k.value for k in node.keywords)]
            call = Call(known, tuple(Name(f"_{k}") for k in range(len(given))))
            return bool(returns_view(call)) and any(map(self.shares, given))
        if known is None and type(node.func).__name__ == "Attribute":
            name = node.func.attr
            if name in PURE_METHODS and name not in VIEW_METHODS | ELEMENT_METHODS - {"copy"}:
                return False
        return any(map(self.shares, children(node)))

    def is_given(self, node: Node) -> bool:
        """Whether a call is given what may share memory."""
        return any(map(self.shares, (*node.args, *(k.value for k in node.keywords))))

    def hand_on(self, node: Node) -> None:
        """A call is given something shared: what puts it into a list, or is a function here."""
        func = node.func
        if type(func).__name__ == "Attribute" and func.attr in MUTATORS:
            self.holders.update(_roots(func.value))
        if type(func).__name__ == "Name" and func.id != self.node.name and func.id in self.bound:
            made = (n for n in self.whole if type(n).__name__ in _DEFINITIONS)
            inner = [n for n in made if getattr(n, "name", func.id) == func.id]
            self.shared |= {p for n in inner for p in _parameters(n)}

    # --- what writes, and what else has effects --------------------------------------------------

    def check_write(self, node: Node) -> None:
        """Refuse a statement or a call that may write into what is captured or kept."""
        kind = type(node).__name__
        targets = {"Assign": "targets", "Delete": "targets"}.get(kind)
        stored = getattr(node, targets) if targets else []
        if kind in ("AugAssign", "For", "AnnAssign"):
            stored = [node.target]
        for target in stored:
            if self.is_written(target, kind == "AugAssign"):
                self.differs(target, "gives or captures what is written into here")
        if kind == "Call" and (self.shares(node.func) or self.is_given(node)):
            self.check_call(node)

    def is_written(self, target: Node, again: bool) -> bool:
        """Whether a store, or an operator in place (`again`), may write into something shared."""
        if type(target).__name__ == "Name":
            return again and target.id in self.shared
        if type(target).__name__ not in ("Subscript", "Attribute"):
            return False
        base = target.value
        if type(base).__name__ != "Name":
            return self.shares(base)
        return base.id in self.shared or (again and base.id in self.holders)

    def check_call(self, node: Node) -> None:
        """Refuse a call that may write into what it is given."""
        func = node.func
        known = self.static(func)
        if known is None and type(func).__name__ == "Attribute":
            given = [k.value for k in node.keywords if k.arg == "out"]
            plain = type(func.value).__name__ == "Name" and func.value.id not in self.shared
            changes = func.attr in _CHANGES and not plain and self.shares(func.value)
            if changes or any(map(self.shares, given)) or func.attr not in PURE_METHODS | _CHANGES:
                self.differs(node, "gives or captures what may be written into here")
        elif known is not None:
            self.check_known(node, known)
        elif type(func).__name__ != "Name" or func.id not in self.defined:
            self.differs(node, "gives or captures what is passed to an unknown function here")

    def check_known(self, node: Node, known: Any) -> None:
        """Refuse a call of a function outside that may write into what is captured or kept."""
        if isinstance(known, FunctionType) and not is_pure(known) and changes_nothing(known):
            return
        given = {f"_{k}": a for k, a in enumerate(node.args)}
        named = {f"_{k.arg}": k.value for k in node.keywords}
        kwargs = tuple((n[1:], Name(n)) for n in named)
        call = Call(known, tuple(map(Name, given)), kwargs)
        written = {n.id for n in mutated_args(call) if isinstance(n, Name)}
        if any(self.shares(a) for n, a in {**given, **named}.items() if n in written):
            self.differs(node, "gives or captures what may be written into here")

    @functools.cached_property
    def defined(self) -> set[str]:
        """The names of the functions that are made here."""
        made = {n.name for n in self.whole if type(n).__name__ == "FunctionDef"}
        lambdas = (n for n in self.whole if type(n).__name__ == "Assign")
        return made | {
            r for n in lambdas if type(n.value).__name__ == "Lambda"
            for t in n.targets for r in _roots(t)
        }  # fmt: skip

    def check_effect(self, node: Node) -> None:
        """Refuse a call in the function that does more than to give a value."""
        func = node.func
        known = self.static(func)
        if known is not None:
            quiet = is_pure(known) or isinstance(known, type)
            quiet = quiet or (isinstance(known, FunctionType) and changes_nothing(known))
            if not quiet:
                self.differs(node, "does more than to give a value")
        elif type(func).__name__ == "Attribute" and func.attr in _DRAWS - PURE_METHODS - MUTATORS:
            self.differs(node, "may draw random numbers")

    def static(self, node: Node) -> Any:
        """What an expression means that names something outside of the whole function."""
        root = node
        while type(root).__name__ == "Attribute":
            root = root.value
        if type(root).__name__ != "Name" or root.id in self.bound:
            return None
        found = self.b.static(node)
        return None if found is None else found.value


def changes_nothing(fn: FunctionType, depth: int = 3, strict: bool = False) -> bool:
    """Whether the code of a function outside stores nothing but local variables, as it seems.

    In `strict` code no operator is in place: what it changes might have come from outside.
    """
    code = fn.__code__
    names = {*code.co_names}
    if names & _CHANGES or names & (_DRAWS - PURE_METHODS - MUTATORS) or "out" in code.co_consts:
        return False
    import dis

    found = list(dis.get_instructions(code))
    given = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
    places = (two for one, two in itertools.pairwise(found) if _is_in_place(one))
    if any(strict or _binds(after, given) for after in places):
        return False
    ops = {i.opname for i in found}
    if any(o.startswith(("STORE_SUBSCR", "STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF",
                         "STORE_SLICE", "DELETE_SUBSCR")) for o in ops):  # fmt: skip
        return False
    used = (fn.__globals__.get(n) for n in names)
    inner = (f for f in used if isinstance(f, FunctionType) and f is not fn)
    return depth > 0 and all(changes_nothing(f, depth - 1, strict) for f in inner)


def _is_in_place(op: Any) -> bool:
    """Whether an instruction is an operator in place."""
    of_3_10 = op.opname.startswith("INPLACE_")
    return bool(of_3_10 or (op.opname == "BINARY_OP" and op.argrepr.endswith("=")))


def _binds(op: Any, names: set[str]) -> bool:
    """Whether an instruction binds one of some local variables."""
    return op.opname.startswith("STORE_FAST") and bool({*op.argrepr.split(", ")} & names)


def _taken(node: Node) -> Node | None:
    """What the target of an annotated assignment, a `:=` or a loop is bound to, or items of it."""
    if type(node).__name__ in ("AnnAssign", "NamedExpr"):
        return node.value
    return node.iter if type(node).__name__ in ("For", "comprehension") else None


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _walk(child)


def _name(node: Node) -> str:
    """The name that a node binds, "" if it binds none."""
    kind = type(node).__name__
    if kind == "Name":
        return "" if type(node.ctx).__name__ == "Load" else str(node.id)
    if kind in ("FunctionDef", "ClassDef"):
        return str(node.name)
    return ""


def _roots(target: Node) -> Iterator[str]:
    """The names at the bottom of what is assigned."""
    kind = type(target).__name__
    if kind == "Name":
        yield target.id
    elif kind in ("Subscript", "Attribute", "Starred"):
        yield from _roots(target.value)
    elif kind in ("Tuple", "List"):
        for item in target.elts:
            yield from _roots(item)


def _parameters(node: Node) -> Iterator[str]:
    args = node.args
    yield from (a.id for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))
    yield from (a.id for a in (args.vararg, args.kwarg) if a is not None)


# --- expressions that are kept as text -----------------------------------------------------------


def check_text(b: Builder, node: Node) -> None:
    """Refuse effects in an expression that is kept as text.

    Raises:
        UnsupportedError: something is called of which it is not known that it changes nothing.
    """
    if not is_quiet(b, node):
        b.refuse(
            node,
            "a call that may change something stands in an expression that is kept as it is",
            "Assign what it gives to a name on a line of its own before.",
        )


def is_quiet(b: Builder, node: Node) -> bool:
    """Whether an expression only computes something."""
    free = {*scan_nodes([node]).free}
    calls = (n for n in gast.walk(node) if type(n).__name__ == "Call")
    if type(node).__name__ == "Lambda":
        return not any(_hands_on(b, c, free) for c in calls)
    return all(_changes_nothing(b, c, free) for c in calls)


def _hands_on(b: Builder, call: Node, free: set[str]) -> bool:
    """Whether a lambda gives a variable from around it to a function that may change it.

    What it changes itself, and what it is given, is seen where it is used.
    """
    known = b.static(call.func) if getattr(call.func, "id", None) in free else None
    if known is None or not isinstance(known.value, FunctionType):
        return False
    given = scan_nodes([*call.args, *(k.value for k in call.keywords)]).free
    held = any(isinstance(b.scope.get(n), Name) for n in given if n in free)
    return held and not _changes_nothing(b, call, free)


def _changes_nothing(b: Builder, call: Node, free: set[str]) -> bool:
    """Whether a call certainly changes nothing."""
    if any(k.arg in ("out", None) for k in call.keywords):
        return False
    root = call.func
    while type(root).__name__ == "Attribute":
        root = root.value
    outside = type(root).__name__ == "Name" and root.id in free
    known = b.static(call.func) if outside else None
    if known is not None:
        plain = isinstance(known.value, FunctionType) and not is_pure(known.value)
        return changes_nothing(known.value, strict=True) if plain else is_pure(known.value)
    return getattr(call.func, "attr", "") in PURE_METHODS


def held(b: Builder, node: Node) -> Node:
    """An expression, or the name that takes its value before."""
    if is_quiet(b, node) and not _calls_inner(b, node):
        return node
    name = b.temp(b.rhs(node), b.loc(node))
    b.scope[name.id] = name
    taken = instead(gast.Name(name.id, gast.Load(), None, None), node)
    b.made.append(taken)
    return taken


def _calls_inner(b: Builder, node: Node) -> bool:
    """Whether an expression names a nested function, which its text could not."""
    return any(isinstance(b.scope.get(n), LocalFunction) for n in scan_nodes([node]).free)


def with_held_items(b: Builder, node: Node) -> Node:
    """An f-string or a set whose items have no effects."""
    name = "values" if type(node).__name__ == "JoinedStr" else "elts"
    items = getattr(node, name)
    new = [_item(b, item) for item in items]
    if all(one is other for one, other in zip(new, items, strict=True)):
        return node
    made = at(type(node)(new), node)
    b.made.append(made)
    return made


def _item(b: Builder, node: Node) -> Node:
    """One item of a set, or one part of an f-string."""
    if type(node).__name__ == "Constant":
        return node
    if type(node).__name__ != "FormattedValue":
        return held(b, node)
    value = held(b, node.value)
    if value is node.value:
        return node
    return at(gast.FormattedValue(value, node.conversion, node.format_spec), node)
