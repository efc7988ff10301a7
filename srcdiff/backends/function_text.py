"""The text of a function that is copied into a generated file, with other global names.

Takes a function and the names that its global names have in the file; gives its text, without what
a reader does not need.  What values the helpers for adjoints may be given decides which of their
branches are copied.
"""

from __future__ import annotations

import ast
import inspect
import re
import symtable
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.codegen.emit import Made
from srcdiff.codegen.printer import wrap
from srcdiff.frontend.source.locate import definition, lines_of
from srcdiff.ir.renaming import edit_of, edited
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import Op, is_op, op_named, which_op
from srcdiff.runtime import arrays, records, short, trees

Chain = tuple[str, ...]
Spell = Callable[[Chain], "str | None"]
"""What stands for a dotted name whose first part is global; None where it stays."""

_REMARK = re.compile(r"  # (type: ignore|noqa).*$", re.M)


def text_of(function: types.FunctionType, name: str) -> str:
    """The definition of a function under a name, decorators included."""
    lines = lines_of(function)
    node = definition(function, lines)
    if isinstance(node, ast.Lambda):
        segment = ast.get_source_segment("".join(lines), node) or ""
        return f"{name} = {segment}" if "\n" not in segment else f"{name} = (\n    {segment}\n)"
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    text = textwrap.dedent("".join(lines[first - 1 : node.end_lineno])).rstrip()
    return re.sub(rf"^(async def|def) {node.name}\b", rf"\1 {name}", text, count=1, flags=re.M)


def decorated(text: str, decorator: str) -> str:
    """The definition of a function under one decorator more; anything else is itself."""
    (node,) = ast.parse(text).body
    if not isinstance(node, ast.FunctionDef):
        return text
    lines = text.split("\n")
    return "\n".join((*lines[: node.lineno - 1], decorator, *lines[node.lineno - 1 :]))


def begun(text: str, name: str, lines: list[str]) -> str:
    """A text in which one of its functions begins with some lines, behind what it says it is."""
    (node,) = (n for n in ast.parse(text).body if getattr(n, "name", "") == name)
    rows, at = text.split("\n"), _first_line(node)
    return "\n".join((*rows[:at], *lines, *rows[at:]))


def _first_line(node: ast.stmt) -> int:
    """How many lines stand above the statements of a function: its head, and what it says it is."""
    assert isinstance(node, ast.FunctionDef)
    first = node.body[0]
    return first.lineno - 1 if ast.get_docstring(node) is None else first.end_lineno or 0


def header(text: str) -> str:
    """A function without its body: the line of its name, and what it says it is."""
    (node,) = ast.parse(text).body
    return "\n".join(text.split("\n")[: _first_line(node)])


def free_names(text: str) -> frozenset[str]:
    """The names that a text takes from outside."""
    found: set[str] = set()

    def visit(table: symtable.SymbolTable, top: bool) -> None:
        own = {s.get_name() for s in table.get_symbols() if top and s.is_assigned()}
        names = (s for s in table.get_symbols() if s.is_referenced())
        found.update(s.get_name() for s in names if top or s.is_global())
        for child in table.get_children():
            visit(child, False)
        found.difference_update(own)

    visit(symtable.symtable(text, "<copied>", "exec"), True)
    return frozenset(found)


def words(text: str) -> frozenset[str]:
    """The names of attributes in a text, and its strings: `getattr(f, "name")`."""
    nodes: list[Any] = list(ast.walk(ast.parse(text)))
    strings = (n.value for n in nodes if isinstance(n, ast.Constant))
    found = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    return frozenset(found.union(s for s in strings if isinstance(s, str)))


def compared(text: str) -> frozenset[str]:
    """The names of what a text asks whether something is equal to it, or is it."""
    nodes: list[Any] = list(ast.walk(ast.parse(text)))
    sides = (side for n in nodes if isinstance(n, ast.Compare) for side in (n.left, *n.comparators))
    return frozenset(side.id for side in sides if isinstance(side, ast.Name))


def runs_when_loaded(text: str) -> bool:
    """Whether a definition uses other names when the file is loaded: decorators, and defaults."""
    (node,) = ast.parse(text).body
    if not isinstance(node, ast.FunctionDef):
        return False
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    named = any(isinstance(n, ast.Name) for d in defaults for n in ast.walk(d))
    return named or bool(node.decorator_list)


def respelled(text: str, names: frozenset[str], spell: Spell) -> str:
    """A text in which dotted names that begin with one of some global names are spelled anew.

    Raises:
        ValueError: such a name stands in an f-string, where it cannot be replaced.
    """
    edits = []
    for node, chain, in_string in _chains(ast.parse(text), names):
        new = spell(chain)
        if new is not None and new != ".".join(chain):
            if in_string:
                raise ValueError(".".join(chain))
            edits.append(edit_of(node, new))
    return edited(text, edits)


def _chains(
    tree: ast.AST, names: frozenset[str], in_string: bool = False
) -> Iterator[tuple[Any, Chain, bool]]:
    """The dotted names in a tree."""
    for node in ast.iter_child_nodes(tree):
        chain = _chain(node)
        if chain and chain[0] in names:
            yield node, chain, in_string
        else:
            yield from _chains(node, names, in_string or isinstance(node, ast.JoinedStr))


def _chain(node: ast.AST) -> Chain:
    """The parts of `a.b.c`; none of anything else."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return (node.id,)
    if not isinstance(node, ast.Attribute):
        return ()
    base = _chain(node.value)
    return (*base, node.attr) if base else ()


# --- without what a reader does not need ----------------------------------------------------------


def plain(text: str) -> str:
    """A definition without annotations and without remarks for tools."""
    edits = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.AnnAssign):
            target, annotation = edit_of(node.target, ""), edit_of(node.annotation, "")
            edits.append((target[1], annotation[1], ""))
    text = _REMARK.sub("", edited(text, edits))
    tree = ast.parse(text)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    for node in sorted(found, key=lambda n: n.lineno, reverse=True):
        text = _plain_header(text, node)
    return text


def _plain_header(text: str, node: ast.FunctionDef) -> str:
    """A text in which the header of one function has no annotations."""
    for part in ast.walk(node.args):
        if isinstance(part, ast.arg):
            part.annotation = None
    lines = text.splitlines()
    header = f"def {node.name}({ast.unparse(node.args)})"
    header = header if '"' in header else header.replace("'", '"')
    new = wrap("", header, ":", node.col_offset, False)
    return "\n".join([*lines[: node.lineno - 1], *new, *lines[node.body[0].lineno - 1 :]])


def without_branches(text: str, impossible: Callable[[ast.expr], bool]) -> str:
    """A text without the `if`s whose test is impossible."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.If) and not node.orelse and impossible(node.test):
            for k in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[k] = "\0"
    return "\n".join(line for line in lines if line != "\0")


# --- what values the helpers for adjoints may be given --------------------------------------------


def holds_containers(made: Made) -> bool:
    """Whether they may be given tuples, lists or dicts."""
    recursive = len(made.emitted.functions) > len(made.functions)
    return recursive or _takes_others(made, ir.is_numeric)


def holds_records(made: Made, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether they may be given objects."""
    refs = made.emitted.refs.values()
    classes = any(records.is_record(v) or records.is_record(type(v)) for v in refs)
    return classes or any(map(_has_objects, kinds.values())) or _takes_others(made, _is_plain)


def _is_plain(kind: ir.Kind) -> bool:
    """Whether a value is certainly a number or an array, or a container that has no objects."""
    if ir.class_of(kind) is not None:
        return False
    plain = ir.is_numeric(kind) or isinstance(kind, (ir.Tuple, ir.List, ir.Dict, ir.NoneKind))
    return plain and all(map(_is_plain, ir.inside(kind)))


def _has_objects(kind: ir.Kind) -> bool:
    """Whether an argument is an object, or may be or hold one."""
    unknown = isinstance(kind, (ir.Object, ir.Unknown)) or ir.class_of(kind) is not None
    return unknown or any(map(_has_objects, ir.inside(kind)))


def _takes_others(made: Made, known: Callable[[ir.Kind], bool]) -> bool:
    """Whether a function gives a helper what is not certainly of the known kinds."""
    return any(_gives_others(f, infer(f, params), known) for f, params in made.functions)


def _gives_others(
    function: ir.Function, kinds: Mapping[str, ir.Kind], known: Callable[[ir.Kind], bool]
) -> bool:
    calls = [(s, c) for s in ir.walk(function) if (c := ir.call_of(s)) is not None]
    sure = {n for n, k in kinds.items() if known(k)}
    made = (s for s, call in calls if module_of(call.fn) == arrays.__name__)
    sure.update(n for s in made for n in ir.writes(s))  # arrays of any rank
    tuples = known(ir.Tuple(()))
    for call in (c for _, c in calls if module_of(c.fn) == trees.__name__):
        shaped = is_op(call, Op.COTANGENT, Op.LIKE_TREE)  # as their second argument is
        for arg in call.args[1:2] if shaped else call.args:
            if not sure.issuperset(ir.names(arg)) or isinstance(arg, ir.Tup) and not tuples:
                return True
    return False


# --- shorter forms of helpers ---------------------------------------------------------------------


def short_forms(made: Made) -> dict[str, Any]:
    """Shorter forms that are enough for all that helpers are given, by the names of these."""
    if len(made.emitted.functions) > len(made.functions):
        return {}
    given: dict[Op | None, list[tuple[frozenset[str | None], tuple[ir.Kind, ...]]]] = {}
    for function, params in made.functions:
        kinds = infer(function, params)
        for call in (c for s in ir.walk(function) if (c := ir.call_of(s)) is not None):
            op = which_op(call)
            if op in _SHORT:
                args = tuple(atom_kind(a, kinds) for a in call.args)
                given.setdefault(op, []).append((frozenset(k for k, _ in call.kwargs), args))
    found = {}
    for op, rows in given.items():
        forms = (short for fits, short in _SHORT[op] if all(fits(n, *args) for n, args in rows))
        found[op] = next(forms, None)
    named = ((name, op_named(value)) for name, value in made.emitted.refs.items())
    return {name: found[op] for name, op in named if op and found.get(op)}


def _is_leaf(kind: ir.Kind) -> bool:
    """Whether a value is a number or an array of floating point numbers."""
    if isinstance(kind, ir.Array) and kind.maybe_scalar or not isinstance(kind, _LEAVES):
        return False
    return kind.dtype in ("float32", "float64")


_LEAVES = (ir.Scalar, ir.Array)


def _is_array(kind: ir.Kind) -> bool:
    """Whether a value is such an array."""
    return isinstance(kind, ir.Array) and _is_leaf(kind)


def _has_axes(kind: ir.Kind) -> bool:
    """Whether a value is such an array, and of one axis at least."""
    return isinstance(kind, ir.Array) and _is_leaf(kind) and bool(kind.dims)


def _is_tree(kind: ir.Kind) -> bool:
    """Whether a value holds such, one inside the other, and what has no derivative."""
    if isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
        return all(map(_is_tree, kind.items))
    if isinstance(kind, ir.Dict) and kind.cls is None and kind.item is None:
        return all(_is_tree(item) for _, item in kind.items)
    if isinstance(kind, ir.Scalar):
        return kind.dtype in ("float32", "float64", "int64", "bool")
    return _is_leaf(kind) or isinstance(kind, (ir.Text, ir.NoneKind))


def _are_leaves(kind: ir.Kind) -> bool:
    return isinstance(kind, ir.Tuple) and kind.items is not None and all(map(_is_leaf, kind.items))


def _is_open(kind: ir.Kind, names: frozenset[str | None]) -> bool:
    """Whether a value is an object with a dict alone, and what is not named of it holds such."""
    if not isinstance(kind, ir.Dict) or kind.cls is None:
        return False
    slots = (v for c in kind.cls.__mro__ for v in vars(c).values() if inspect.ismemberdescriptor(v))
    plain = not any(slots) and not issubclass(kind.cls, tuple)
    return plain and all(name in names or _is_tree(item) for name, item in kind.items)


def _is_named(kind: ir.Kind, names: frozenset[str | None]) -> bool:
    """Whether a value is such an object, all of whose attributes are named."""
    whole = isinstance(kind, ir.Dict) and names.issuperset(name for name, _ in kind.items)
    return whole and _is_open(kind, names)


_SHORT: Mapping[Op | None, tuple[tuple[Callable[..., bool], Any], ...]] = {
    Op.COTANGENT: (
        (lambda n, _, output, *path: not path and _has_axes(output), short.array_cotangent),
        (lambda n, _, output, *path: not path and _is_leaf(output), short.leaf_cotangent),
        (lambda n, _, output, *path: not path and _are_leaves(output), short.leaves_cotangent),
    ),
    Op.LIKE_TREE: (
        (lambda n, d, x: _is_array(x) and ir.is_numeric(d), short.array_like),
        (lambda n, d, x: _is_tree(x), short.tree_like),
    ),
    Op.LIKE_OBJECT: (
        (lambda n, x: _is_named(x, n), short.object_of),
        (lambda n, x: _is_open(x, n), short.object_like),
    ),
    Op.ZERO_TREE: ((lambda n, x: _is_tree(x), short.tree_of_zeros),),
}
"""Forms, and whether one is enough for the names and the kinds of the arguments of a call."""
