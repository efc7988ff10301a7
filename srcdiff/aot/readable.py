"""The text of a function, for hashes: the same however it is indented and formatted."""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
import types
from collections.abc import Iterator
from typing import Any

from srcdiff.errors import TransformError
from srcdiff.frontend.source.codes import all_codes
from srcdiff.frontend.source.locate import definition, lines_of


def function_text(function: types.FunctionType) -> str:
    """The lines of a function, decorators included; what code says where there are none."""
    if function.__code__.co_filename.startswith("<string>"):  # what `dataclass` makes
        return " ".join(function.__code__.co_varnames)
    try:
        lines = lines_of(function)
        node = definition(function, lines)
    except TransformError:
        return " ".join(_words(function))
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    block = textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
    return unformatted("\n".join(line.rstrip() for line in block.splitlines()) + "\n")


def unformatted(text: str) -> str:
    """What a text says, with its comments, the same in every Python version."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = [t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT]
        return "\n".join([_spelled(ast.parse(text)), *comments])
    except (SyntaxError, tokenize.TokenError):  # a part of a statement
        return text


def _spelled(node: Any) -> str:
    """A syntax tree as text, without what is empty."""
    if isinstance(node, list):
        return f"[{' '.join(map(_spelled, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        value = node.value.value  # a docstring, which may be indented anew
        return repr(inspect.cleandoc(value).rstrip() if isinstance(value, str) else value)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    parts = ((k, v) for k, v in ast.iter_fields(node) if v not in (None, []))
    return f"{type(node).__name__}({' '.join(f'{k}={_spelled(v)}' for k, v in parts)})"


def _words(function: types.FunctionType) -> Iterator[str]:
    """The names and the numbers that occur in code."""
    for code in all_codes(function.__code__):
        yield from (*code.co_varnames, *code.co_names)
        yield from (repr(c) for c in code.co_consts if isinstance(c, (str, float, complex)))
