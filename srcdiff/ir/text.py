"""Names replaced in what is kept as source text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping

from srcdiff.ir.nodes import Atom, Name, Ref

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def rename_text(text: str, new: Mapping[str, Atom]) -> str:
    """Source text with whole identifiers replaced (attributes and keywords are left alone)."""
    if text.startswith(("import ", "from ")):
        return _renamed_import(text, new)
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    out, done = [], 0
    for i, tok in enumerate(tokens):
        string = _renamed_token(tokens, i, new)
        if string != tok.string:
            start = starts[tok.start[0] - 1] + tok.start[1]
            out += [text[done:start], string]
            done = start + len(tok.string)
    return "".join((*out, text[done:]))


def _renamed_import(text: str, new: Mapping[str, Atom]) -> str:
    """An import that binds other names."""
    (stmt,) = ast.parse(text).body
    assert isinstance(stmt, (ast.Import, ast.ImportFrom))
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


def _renamed_token(tokens: list[tokenize.TokenInfo], i: int, new: Mapping[str, Atom]) -> str:
    """The new text of one token; before Python 3.12 a whole f-string is one token."""
    tok = tokens[i]
    if tok.type == tokenize.STRING and "f" in tok.string[:2].lower():
        return re.sub(r"\{[^{}]*\}", lambda field: _renamed_field(field.group(), new), tok.string)
    if tok.type != tokenize.NAME or tok.string not in new:
        return tok.string
    last = tokens[i - 1].string if i else ""
    following = tokens[i + 1].string if i + 1 < len(tokens) else ""
    if last == "." or (following == "=" and last in ("(", ",")):
        return tok.string
    return _atom_text(new[tok.string])


def _renamed_field(text: str, new: Mapping[str, Atom]) -> str:
    """One replacement field of an f-string with its names replaced."""
    expr, colon, spec = text.partition(":")

    def one(found: re.Match[str]) -> str:
        word = found.group()
        if word not in new or expr[: found.start()].endswith("."):
            return word
        return _atom_text(new[word])

    return _IDENTIFIER.sub(one, expr) + colon + spec


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Name):
        return atom.id
    return atom.text if isinstance(atom, Ref) else repr(getattr(atom, "value", None))
