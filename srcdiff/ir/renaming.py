"""Names replaced in what is kept as source text: in expressions, imports and f-strings.

Takes a text and what its names become; gives the text, with attributes and keywords left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from srcdiff.ir.nodes import Atom, Const, Name, Ref

__all__ = ["Edit", "edit_of", "edited", "rename_text"]


Edit = tuple[tuple[int, int], tuple[int, int], str]
"""New text between two places, each a line from 1 and the bytes of it before, as `ast` counts."""


def edit_of(node: Any, text: str) -> Edit:
    """Another text in the place of a part of a syntax tree."""
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset), text


def edited(text: str, edits: Iterable[Edit]) -> str:
    """A text with some parts replaced, none of which lies in another."""
    lines = text.encode().splitlines(keepends=True)
    for (first, start), (last, end), new in sorted(edits, reverse=True):
        lines[first - 1 : last] = [lines[first - 1][:start] + new.encode() + lines[last - 1][end:]]
    return b"".join(lines).decode()


def rename_text(text: str, new: Mapping[str, Atom]) -> str:
    """Source text with whole identifiers replaced (attributes and keywords are left alone)."""
    others = {name: atom for name, atom in new.items() if _atom_text(atom) != name}
    return edited(text, _renamings(ast.parse(text), others)) if others else text


def _renamings(tree: ast.AST, new: Mapping[str, Atom]) -> Iterator[Edit]:
    """What is replaced in a text."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield edit_of(node, _renamed_import(node, new))
        elif isinstance(node, ast.JoinedStr):
            if any(_name_of(n) in new for n in ast.walk(node)):
                yield edit_of(node, _renamed_f_string(node, new))
        elif (name := _name_of(node)) in new:
            yield edit_of(node, _atom_text(new[name]))
        else:
            yield from _renamings(node, new)


def _name_of(node: ast.AST) -> str:
    """The name that is read or bound by a part of a syntax tree itself."""
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) else ""


def _renamed_import(stmt: ast.Import | ast.ImportFrom, new: Mapping[str, Atom]) -> str:
    """An import that binds other names."""
    more = []
    for alias in stmt.names:
        name = alias.asname or alias.name.split(".")[0]
        if name not in new:
            continue
        if alias.asname or "." not in alias.name:
            alias.asname = _atom_text(new[name])
        else:  # `import a.b` binds `a`
            more.append(ast.alias(name, _atom_text(new[name])))
    stmt.names += more if isinstance(stmt, ast.Import) else []
    return ast.unparse(stmt)


def _renamed_f_string(tree: ast.JoinedStr, new: Mapping[str, Atom]) -> str:
    """An f-string with the names in its fields replaced; `{y=}` says what the user has written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            node.values = [_as_text(part, new) for part in node.values]
        elif (name := _name_of(node)) in new:
            field = "id" if isinstance(node, ast.Name) else "arg"
            setattr(node, field, _without_backslash(new[name]))
    texts = [str(part.value) for part in tree.values if isinstance(part, ast.Constant)]
    plain = len(texts) == len(tree.values)
    renamed = ast.unparse(ast.Constant("".join(texts)) if plain else tree)
    return renamed if '"' in renamed else renamed.replace("'", '"')


_SHOWN: Mapping[int, Callable[[Any], str]] = {
    -1: str, ord("s"): str, ord("r"): repr, ord("a"): ascii,
}  # fmt: skip
"""What a field of an f-string gives, by its conversion, where it has no format."""


def _as_text(part: Any, new: Mapping[str, Atom]) -> Any:
    """A part of an f-string: a field that is a constant alone is text."""
    if not isinstance(part, ast.FormattedValue) or part.format_spec is not None:
        return part
    atom = new.get(_name_of(part.value))
    if not isinstance(atom, Const) or not isinstance(atom.value, (str, int, float, type(None))):
        return part
    return ast.Constant(_SHOWN[part.conversion](atom.value))


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Name):
        return atom.id
    return atom.text if isinstance(atom, Ref) else repr(getattr(atom, "value", None))


def _without_backslash(atom: Atom) -> str:
    """The text of an atom as it may stand in an f-string before Python 3.12."""
    value = atom.value if isinstance(atom, Const) else None
    if isinstance(value, (str, bytes)) and "\\" in repr(value):
        codes = [*value] if isinstance(value, bytes) else [*map(ord, value)]
        return f"bytes({codes})" if isinstance(value, bytes) else f"''.join(map(chr, {codes}))"
    return _atom_text(atom)
