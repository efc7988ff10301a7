"""The state of one lowering: the block being written, the names in scope, the errors.

A name that an import inside of the function binds stands for what is imported.  What asks for the
module of some arrays is given NumPy, for either of the modules of arrays: which of them it is when
the function runs is that of the arrays it is called with.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib.util import find_spec, resolve_name
from typing import Any, NoReturn, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.scopes import Scan, expression, instead, read, read_names, scan_nodes
from srcdiff.frontend.source.parse import EmptyCellError, Source
from srcdiff.ir.frozen import frozen, state
from srcdiff.ir.renaming import rename_text
from srcdiff.primitives.operation import distribution
from srcdiff.runtime import records
from srcdiff.runtime.devices import canonical

Node = Any
T = TypeVar("T")


@frozen
class Static:
    """A name that an import inside the function binds: its object is known."""

    value: Any


@frozen
class LocalFunction:
    """A nested function that is only called: its definition and its defaults by parameter.

    `scope` is where it was defined, shared with that function: captured names are looked up
    when it is called.
    """

    name: str
    node: Node
    defaults: Mapping[str, ir.Atom]
    scope: Mapping[str, Any]


@frozen
class Pending:
    """A nested function before its definition has run."""

    node: Node


@frozen
class Adjoint:
    """The name `d` of a template."""


@frozen
class Spread:
    """The `*args` or `**kwargs` of a wrapper, which are the parameters of what it wraps."""

    args: tuple[ir.Atom, ...] = ()
    kwargs: tuple[tuple[str | None, ir.Atom], ...] = ()


Meaning = ir.Name | Static | LocalFunction | Pending | Adjoint | Spread


@state
class LoopFrame:
    """The flags of a loop being lowered, made when first needed."""

    stop: ir.Name | None = None
    own: bool = False  # whether `stop` belongs to this loop alone (it has a `break`)
    skip: ir.Name | None = None


@state
class Frame:
    """The function being lowered: how it returns, and the loops around the current statement."""

    single: bool  # the only `return` is the last statement
    result: ir.Name | None  # where values of returns go, if there are several
    value: ir.Rhs | None = None  # of the single return
    flag: ir.Name | None = None  # set by a `return` that something has to be skipped after
    loops: list[LoopFrame] = field(default_factory=list)
    returns: list[ir.Loc] = field(default_factory=list)


Table = Mapping[str, Callable[["Builder", Node], Any]]

# The attributes of these never change, so `np.linalg.norm` and `np.add.at` are known objects.
_STATIC_BASES = (types.ModuleType, type, np.ufunc)


class Builder:
    """Writes the statements of one function; every lowering function works on one of these."""

    def __init__(self, source: Source, scan: Scan, expressions: Table, statements: Table) -> None:
        self.source = source
        self.expressions = expressions
        self.statements = statements
        self.walrus = scan.walrus
        self.loaded = read_names(source.tree)
        self.rebinding = set(scan.rebound)
        self.scope: dict[str, Meaning] = {}
        self.fresh = ir.Fresh(set(scan.identifiers) | set(source.bound))
        self.frame = Frame(single=True, result=None)
        self.out: list[ir.Stmt] = []
        self.eager: set[int] = set()  # generators (by id) whose call uses them up at once
        self.memo: dict[int, Any] = {}
        self.made: list[Node] = []  # nodes that stand in no tree, so that their ids stay theirs
        self.inlining: tuple[Node, ...] = ()
        self.lifted: list[tuple[LocalFunction, Any, Any]] = []  # the recursive ones so far
        self.imports: frozenset[str] = frozenset()

    # --- writing ---

    def emit(self, stmt: ir.Stmt) -> None:
        """Append a statement to the block being written."""
        self.out.append(stmt)

    def collect(self, action: Callable[[], object]) -> ir.Block:
        """The statements that an action emits."""
        return self.collected(action)[0]

    def collected(self, make: Callable[[], T]) -> tuple[ir.Block, T]:
        """The statements that are emitted while something is made, and that."""
        saved, self.out = self.out, []
        try:
            made = make()
            return tuple(self.out), made
        finally:
            self.out = saved

    def loc(self, node: Node) -> ir.Loc:
        """Where a node begins."""
        return self.source.loc(node) if getattr(node, "lineno", None) else ir.NOWHERE

    def temp(self, rhs: ir.Rhs, loc: ir.Loc, base: str = "_t") -> ir.Name:
        """A new name for a value."""
        name = self.fresh(base)
        self.emit(ir.Assign(name, rhs, loc))
        return name

    # --- expressions ---

    def rhs(self, node: Node) -> ir.Rhs:
        """Lower an expression; what it needs first is emitted, its last step is returned."""
        handler = self.expressions.get(type(node).__name__)
        if handler is None:
            self.refuse(
                node, f"`{type(node).__name__}` is not supported in an expression",
                "Write it with plain expressions.",
            )  # fmt: skip
        return handler(self, node)  # type: ignore[no-any-return]

    def atom(self, node: Node) -> ir.Atom:
        """Lower an expression to an atom; a temporary holds what is not one."""
        return self.as_atom(self.rhs(node), node)

    def as_atom(self, rhs: ir.Rhs, node: Node) -> ir.Atom:
        """An atom with the value of a right-hand side."""
        if isinstance(rhs, (ir.Call, ir.Opaque)):
            return self.temp(rhs, self.loc(node))
        return rhs

    def name(self, node: Node) -> ir.Name:
        """Lower an expression to a name."""
        return self.as_name(self.rhs(node), node)

    def as_name(self, rhs: ir.Rhs, node: Node) -> ir.Name:
        """A name with the value of a right-hand side."""
        return rhs if isinstance(rhs, ir.Name) else self.temp(rhs, self.loc(node))

    def operands(self, nodes: Sequence[Node]) -> list[ir.Atom]:
        """Lower expressions from left to right to atoms that can all be read afterwards."""
        if not self.walrus:
            return [self.atom(n) for n in nodes]
        found = []
        for i, node in enumerate(nodes):
            atom = self.atom(node)
            found.append(self.held(atom, self.rebound(nodes[i + 1 :]), node))
        return found

    def rebound(self, nodes: Iterable[Node]) -> frozenset[str]:
        """The names (in the IR) that evaluating some expressions binds."""
        if not self.walrus:
            return frozenset()
        scan = scan_nodes(nodes)
        found = {*scan.named, *scan.rebound}
        for name in scan.called:  # of a nested function, which may bind with `nonlocal`
            if isinstance(self.scope.get(name), LocalFunction):
                found |= self.rebinding
        return frozenset(map(self.ir_name, found))

    def ir_name(self, name: str) -> str:
        """The spelling that a source name has in the IR."""
        return self.ir_name_in(self.scope, name)

    @staticmethod
    def ir_name_in(scope: Mapping[str, Meaning], name: str) -> str:
        """The spelling in the IR of a source name of a scope."""
        meaning = scope.get(name)
        return meaning.id if isinstance(meaning, ir.Name) else name

    def held(self, atom: ir.Atom, rebound: Iterable[str], node: Node) -> ir.Atom:
        """An atom that keeps its value while names are rebound."""
        if not rebound or not set(ir.names(atom)) & set(rebound):
            return atom
        if isinstance(atom, ir.Star):
            return ir.Star(self.held(atom.value, rebound, node))
        if isinstance(atom, ir.Slice):
            self.refuse(
                node, "a name in this slice is rebound by `:=` further on",
                "Assign the name on a line of its own before.",
            )  # fmt: skip
        return self.temp(atom, self.loc(node))

    # --- names ---

    def target(self, name: str) -> ir.Name:
        """The name that a store to a source name binds."""
        meaning = self.scope.get(name)
        return meaning if isinstance(meaning, ir.Name) else ir.Name(name)

    def resolve(self, name: str, node: Node) -> Any:
        """The object of a name from outside the function."""
        try:
            value = self.source.namespace.resolve(name)
            if records.is_closed(value):
                self._refuse_closed(name, node)
            return canonical(value)
        except EmptyCellError as error:
            self.refuse(node, str(error), "Make the derivative after the name has its value.")
        except NameError as error:
            self.refuse(node, str(error), "Define or import it before making the derivative.")

    def static(self, node: Node) -> ir.Ref | None:
        """The object that a name or a chain of attributes of modules means, if known."""
        kind = type(node).__name__
        if kind == "Name":
            meaning = self.scope.get(node.id)
            if isinstance(meaning, Static):
                return ir.Ref(node.id, meaning.value)
            return None if meaning is not None else self._outer(node)
        if kind != "Attribute":
            return None
        base = self.static(node.value)
        if base is None:
            return None
        if not isinstance(base.value, _STATIC_BASES) and distribution(base.value) is None:
            return None
        return self._attribute(base, node)

    def _outer(self, node: Node) -> ir.Ref:
        """The object of a name from outside, with no text where a rule was made for it."""
        return ir.Ref("" if self.source.made_for(node.id) else node.id, self.resolve(node.id, node))

    def _attribute(self, base: ir.Ref, node: Node) -> ir.Ref:
        """An attribute of a module, class or ufunc."""
        value = records.looked_up(base.value, node.attr)
        ours = str(getattr(base.value, "__name__", "")).startswith("srcdiff.")
        text = node.attr if ours else f"{base.text}.{node.attr}"  # as helpers are printed
        if value is records.MISSING:
            self._refuse_missing(base, node)
        if records.is_closed(value):
            self._refuse_closed(text, node)
        return ir.Ref(text, canonical(value))

    def _refuse_missing(self, base: ir.Ref, node: Node) -> NoReturn:
        """Refuse an attribute that is not there, or only when code of the user's makes it up."""
        if records.is_made_up(base.value, node.attr):
            reason = f"`{base.text}.{node.attr}` is what code makes up when it is read"
            self.refuse(node, reason, "Read it outside of the function, and pass what it gives.")
        self.refuse(node, f"`{base.text}` has no attribute `{node.attr}`", "Check its name.")

    def _refuse_closed(self, text: str, node: Node) -> NoReturn:
        """Refuse an object that nobody can look at without running its code."""
        self.refuse(
            node, f"`{text}` is of a class that says by code of its own what its attributes are",
            "Pass what is read of it as an argument.",
        )  # fmt: skip

    # --- new nodes ---

    def quoted(self, text: str, where: Node, **holes: Any) -> Node:
        """An expression of a text at the place of a node, as `scopes.expression`."""
        return self.new(expression(text, where, **holes))

    def new(self, node: Node) -> Node:
        """A new node, which stands in no tree: nothing else has its identity meanwhile."""
        self.made.append(node)
        return node

    def taken(self, node: Node, base: str = "_t") -> Node:
        """An expression that is computed now, as the name of its value."""
        name = self.temp(self.rhs(node), self.loc(node), base)
        self.scope[name.id] = name
        return self.new(instead(read(name.id, node), node))

    def variable(self, base: str) -> str:
        """A new source name, which means itself."""
        name = self.fresh(base)
        self.scope[name.id] = name
        return name.id

    def means(self, function: Node, *meant: object) -> bool:
        """Whether an expression is the name of one of some objects from outside."""
        known = self.static(function)
        return known is not None and any(known.value is m for m in meant)

    # --- text ---

    def opaque(self, node: Node, harmless: bool = False) -> ir.Opaque:
        """An expression kept as text."""
        text, reads, refs = self.kept([node], self.source.text(node))
        return ir.Opaque(text, reads, refs, harmless, type(node).__name__ == "Lambda")

    def kept(
        self, nodes: Sequence[Node], text: str
    ) -> tuple[str, tuple[ir.Name, ...], tuple[tuple[str, Any], ...]]:
        """Text that holds some expressions: renamed, with the names it reads and the globals."""
        scan = scan_nodes(nodes)
        if scan.walrus:
            self.refuse(
                nodes[0], "`:=` is not supported inside of an expression that is kept as it is",
                "Assign the name on a line of its own before.",
            )  # fmt: skip
        new: dict[str, ir.Name] = {}
        refs: list[tuple[str, Any]] = []
        for name in scan.free:
            meaning = self.scope.get(name)
            if meaning is None:
                refs += self._reference(name, nodes[0])
            elif isinstance(meaning, (ir.Name, Static)):
                new[name] = meaning if isinstance(meaning, ir.Name) else ir.Name(name)
            else:
                self.refuse(
                    nodes[0],
                    f"the nested function `{name}` is used in an expression that is kept as it is",
                    "Assign what it gives to a name on a line of its own before.",
                )  # fmt: skip
        if any(n.id != k for k, n in new.items()):
            text = rename_text(text, new)
        return text, tuple(new.values()), tuple(refs)

    def _reference(self, name: str, node: Node) -> list[tuple[str, Any]]:
        """The entry of a global name; builtins need none."""
        value = self.resolve(name, node)
        return [] if value is getattr(builtins, name, refuse_nothing) else [(name, value)]

    # --- errors ---

    def refuse(self, node: Node, reason: str, remedy: str = "Write it another way.") -> NoReturn:
        """Raise the located error for what cannot be lowered."""
        loc = self.loc(node)
        if self.source.wrapped is not None:
            remedy += " If this decorator does not change the result, use `f.__wrapped__`."
        raise UnsupportedError(reason, loc, remedy, self.source.line(loc.line))


refuse_nothing = object()


# --- imports inside of a function: what the names that they bind stand for -----------------------


def learn_import(b: Builder, name: str, path: str, attribute: str | None) -> None:
    """Resolve an imported name now, if nothing else binds it and it can be found."""
    if name not in b.imports:
        return
    package = b.source.namespace.globals.get("__package__")
    found = imported_module(path, package)
    if found is not None and attribute is not None:
        inner = records.looked_up(found, attribute)
        missing = inner is records.MISSING
        found = imported_module(f"{path}.{attribute}", package) if missing else inner
    if found is not None and not records.is_closed(found):
        b.scope[name] = Static(canonical(found))


@contextmanager
def imports_known(b: Builder, scan: Scan) -> Iterator[None]:
    """Imported names mean before their imports what they mean after them."""
    before = {name: b.scope[name] for name in b.imports}
    for name in sorted(before):
        learn_import(b, name, *scan.imports[name])
    yield
    b.scope.update(before)


def imported_module(name: str, package: str | None = None) -> object | None:
    """A module, or None if it cannot be imported here (the primal says so when it runs).

    One that is not imported yet is imported only where that runs nothing of the user's.
    """
    try:
        path = resolve_name(name, package)
        known = path in sys.modules or path.split(".")[0] not in records.TRUSTED
        return sys.modules.get(path) if known else importlib.import_module(path)
    except ImportError:
        return None


def check_imported(b: Builder, name: str, node: Node) -> None:
    """Refuse an import of a module that is there, but was not imported before."""
    package = b.source.namespace.globals.get("__package__")
    try:
        top = resolve_name(name, package).split(".")[0]
    except ImportError:
        return
    if imported_module(name, package) is None and top not in records.TRUSTED and find_spec(top):
        b.refuse(
            node, f"the module `{name}` is not imported yet, and importing it runs its code",
            "Import it at the top of the file.",
        )  # fmt: skip


# --- modules of arrays: `xp = cp.get_array_module(x)` --------------------------------------------


def asks_for_module(b: Builder, function: Node) -> bool:
    """Whether a function answers with the module of its arguments."""
    kind = type(function).__name__
    if kind == "Attribute" and function.attr == "__array_namespace__":
        return b.static(function.value) is None
    cupy = sys.modules.get("cupy")
    if kind == "Attribute" and function.attr == "get_array_module":
        return cupy is not None and _outer(b, function.value) is cupy
    outer = _outer(b, function) if kind == "Name" else None
    if type(outer) is types.FunctionType and outer.__name__ == "array_namespace":
        # Of SciPy, and where that has it from.
        return outer.__module__.startswith(("scipy.", "array_api_compat"))
    return outer is not None and outer is getattr(cupy, "get_array_module", None)


def _outer(b: Builder, node: Node) -> object:
    """The object that a name means outside the function, None for anything else."""
    if type(node).__name__ != "Name" or b.scope.get(node.id) is not None:
        return None
    b.resolve(node.id, node)
    return b.source.namespace.resolve(node.id)
