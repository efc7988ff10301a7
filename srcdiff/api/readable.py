"""The text of a function, for hashes: the same wherever the function is indented."""

from __future__ import annotations

import textwrap
import types
from collections.abc import Iterator

from srcdiff.codes import all_codes
from srcdiff.errors import TransformError
from srcdiff.locate import definition, lines_of


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
    return "\n".join(line.rstrip() for line in block.splitlines())


def _words(function: types.FunctionType) -> Iterator[str]:
    """The names and the numbers that occur in code."""
    for code in all_codes(function.__code__):
        yield from (*code.co_varnames, *code.co_names)
        yield from (repr(c) for c in code.co_consts if isinstance(c, (str, float, complex)))
