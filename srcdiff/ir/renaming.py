"""Names replaced in what is kept as source text: in expressions, imports and f-strings.

Takes a text and what its names become; gives the text, attributes and keywords left alone.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping
from itertools import groupby

from srcdiff.ir.nodes import Atom, Name, Ref


def rename_text(text: str, new: Mapping[str, Atom], quotes: str = "") -> str:
    """Source text with whole identifiers replaced (attributes and keywords are left alone).

    `quotes` are those of the f-strings around it, which may not stand in it before Python 3.12.
    """
    if text.startswith(("import ", "from ")):
        return _renamed_import(text, new)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(at: tuple[int, int]) -> int:
        return starts[at[0] - 1] + at[1]

    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    out, done = [], 0
    for i, tok in enumerate(tokens):
        start, end = place(tok.start), place(tok.end)
        if start < done:  # inside of an f-string
            continue
        if _begins_f_string(tok):
            end = place(_end_of_f_string(tokens, i))
            own = "'" if text[end - 1] == "'" else '"'
            string = _renamed_f_string(text[start:end], new, quotes + own)
        else:
            string = _renamed_token(tokens, i, new, quotes)
        if string != text[start:end] and tok.string:
            out += [text[done:start], string]
            done = end
    return "".join((*out, text[done:]))


def _begins_f_string(tok: tokenize.TokenInfo) -> bool:
    """Whether a token is an f-string, or its beginning: from Python 3.12 on it is several."""
    whole = tok.type == tokenize.STRING and "f" in tok.string.partition(tok.string[-1])[0].lower()
    return whole or tokenize.tok_name[tok.type] == "FSTRING_START"


def _end_of_f_string(tokens: list[tokenize.TokenInfo], i: int) -> tuple[int, int]:
    """Where the f-string that begins with a token ends."""
    depth = 0
    for tok in tokens[i:]:
        name = tokenize.tok_name[tok.type]
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")
        if not depth:
            return tok.end
    return tokens[-1].end


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


def _renamed_token(
    tokens: list[tokenize.TokenInfo], i: int, new: Mapping[str, Atom], quotes: str
) -> str:
    """The new text of one token."""
    tok = tokens[i]
    if tok.type != tokenize.NAME or tok.string not in new:
        return tok.string
    last = tokens[i - 1].string if i else ""
    following = tokens[i + 1].string if i + 1 < len(tokens) else ""
    if last == "." or (following == "=" and last in ("(", ",")):
        return tok.string
    found = _atom_text(new[tok.string])
    return _requoted(found, quotes) if quotes else found


def _requoted(text: str, quotes: str) -> str:
    """The text of a constant without some quotes, and without backslashes."""
    if "\\" not in text and not any(q in text for q in quotes):
        return text
    out, done = [], 0
    for tok in tokenize.generate_tokens(io.StringIO(text).readline):
        if tok.type == tokenize.STRING:
            out += [text[done : tok.start[1]], _string(ast.literal_eval(tok.string), quotes)]
            done = tok.end[1]
    return "".join((*out, text[done:]))


def _string(value: str | bytes, quotes: str) -> str:
    """A text in other quotes, with what would need a backslash as a number."""
    if isinstance(value, bytes):
        return f"bytes({tuple(value)!r})"
    quote = next((q for q in "\"'" if q not in quotes), "")
    parts: list[str] = []
    hard = f"{quotes}{quote}\\"
    for plain, run in groupby(value, lambda c: quote != "" and c.isprintable() and c not in hard):
        chars = list(run)
        parts += [f"{quote}{''.join(chars)}{quote}"] if plain else [f"chr({ord(c)})" for c in chars]
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts) or 'str()'})"


def _renamed_f_string(text: str, new: Mapping[str, Atom], quotes: str) -> str:
    """An f-string, or the format in one of its fields, with the names in its fields replaced."""
    out, k = [], 0
    while k < len(text):
        end = k + 1
        if text[k : k + 2] in ("{{", "}}"):
            end = k + 2
            out.append(text[k:end])
        elif text[k] == "{":
            end = _end(text, k + 1, "}")
            out.append(_renamed_field(text[k + 1 : end], new, quotes))
            end += 1
        else:
            out.append(text[k])
        k = end
    return "".join(out)


def _renamed_field(text: str, new: Mapping[str, Atom], quotes: str) -> str:
    """A field of an f-string; `{y=}` says the name that the user has given."""
    colon = _end(text, 0, ":!")
    expression, rest = text[:colon], text[colon:]
    label = expression if re.search(r"[^=!<>]=\s*\Z", expression) else ""
    if label:
        expression = label.rstrip()[:-1]
    renamed = rename_text(f"({expression})", new, quotes)[1:-1]
    if label and renamed == expression:
        return "{" + label + _renamed_f_string(rest, new, quotes) + "}"
    conversion = "!r" if label and not rest else ""
    return label + "{" + renamed + conversion + _renamed_f_string(rest, new, quotes) + "}"


def _end(text: str, start: int, ends: str) -> int:
    """Where an expression inside an f-string ends: at one of some characters, or with the text."""
    depth, quote = 0, ""
    for k in range(start, len(text)):
        char = text[k]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif not depth and char in ends and text[k : k + 2] != "!=":
            return k
        else:
            depth += (char in "([{") - (char in ")]}")
    return len(text)


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Name):
        return atom.id
    return atom.text if isinstance(atom, Ref) else repr(getattr(atom, "value", None))
