"""Literals as text: strings, numbers and f-strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_INFINITY = "1e309"  # larger than any float: reads back as infinity
_PADDED = re.compile(r"e(?:\+|(-))0?")  # Python's own text has a sign and two digits
_QUOTES = ('"', "'", '"""', "'''")


def literal(value: Any) -> str:
    """The text of a constant, read back exactly."""
    if isinstance(value, (str, bytes)):
        return string(value)
    if value is Ellipsis:
        return "..."
    if isinstance(value, (float, complex)):
        text = _PADDED.sub(r"e\1", repr(value))
        return text.replace("inf", _INFINITY).replace("nan", f"({_INFINITY}-{_INFINITY})")
    return repr(value)


def string(value: str | bytes) -> str:
    """A string in double quotes, unless single ones need fewer escapes."""
    text = repr(value)
    start = text.index(text[-1])
    if text[-1] == "'" and '"' not in text:
        return f'{text[:start]}"{text[start + 1 : -1]}"'
    return text


def docstring(value: str) -> str:
    """A docstring in triple quotes, or an ordinary literal where that would change it."""
    odd = any(not c.isprintable() and c not in "\n\t" for c in value)
    if odd or "\\" in value or '"""' in value or value.endswith('"') or not value:
        return string(value)
    return f'"""{value}"""'


def joined(parts: list[tuple[bool, str]]) -> tuple[str, bool]:
    """An f-string from (is an expression, text) parts, and whether quotes had to be nested.

    Before Python 3.12 an expression cannot contain the quotes of its f-string.
    """
    fields = "".join(text for is_field, text in parts if is_field)
    for quote in _QUOTES:
        if quote not in fields and not (len(quote) == 3 and _ends_with(parts, quote[0])):
            return _quoted(parts, quote), False
    return _quoted(parts, '"""'), True


def _ends_with(parts: list[tuple[bool, str]], quote: str) -> bool:
    """Whether the last part is a text that ends in the quote."""
    return bool(parts) and not parts[-1][0] and parts[-1][1].endswith(quote)


def _quoted(parts: list[tuple[bool, str]], quote: str) -> str:
    """The parts between quotes, the constant ones escaped."""
    body = "".join(text if is_field else _escaped(text, quote) for is_field, text in parts)
    return f"f{quote}{body}{quote}"


def _escaped(text: str, quote: str) -> str:
    """Constant text of an f-string with its backslashes, quotes and controls escaped."""
    out = []
    for c in text:
        if c == quote[0]:
            out.append("\\" + c)
        else:
            out.append(c if c in "'\"" else repr(c)[1:-1])
    return "".join(out)


def fstring_parts(node: Any, expression: Callable[[Any], str]) -> list[tuple[bool, str]]:
    """The parts of a `JoinedStr`: constants with doubled braces, and replacement fields."""
    parts: list[tuple[bool, str]] = []
    for value in node.values:
        if type(value).__name__ == "Constant":
            parts.append((False, value.value.replace("{", "{{").replace("}", "}}")))
        elif type(value).__name__ == "FormattedValue":
            parts += _field(value, expression)
        else:
            parts += fstring_parts(value, expression)
    return parts


def _field(node: Any, expression: Callable[[Any], str]) -> list[tuple[bool, str]]:
    """One replacement field with its conversion and its format."""
    inner = expression(node.value)
    text = "{" + (" " if inner.startswith("{") else "") + inner
    if node.conversion != -1:
        text += "!" + chr(node.conversion)
    if node.format_spec is None:
        return [(True, text + "}")]
    spec = fstring_parts(node.format_spec, expression)
    return [(True, text + ":"), *spec, (True, "}")]
