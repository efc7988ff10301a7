"""How many functions of each module have a rule, and how long templates are: a part of a page.

`python -m tests.rules.counts` prints it.
"""

from __future__ import annotations

import ast
import inspect
import statistics
import textwrap
from collections import Counter
from collections.abc import Callable
from typing import Any

from srcdiff.frontend.source import locate
from srcdiff.primitives import registry

COLUMNS = {
    "rule": "templates", "definition": "definitions", "zero": "zero on purpose",
    "refused": "not supported",
}  # fmt: skip


def kind_of(function: Any) -> str:
    """How a function is decided."""
    rule = registry.builtin().find(function)
    if rule is None or rule.definition is not None:
        return "definition"
    if rule.reason:
        return "refused"
    return "zero" if rule.flavour == "nondifferentiable" else "rule"


def table(groups: dict[str, dict[str, Any]]) -> list[str]:
    """The counts of groups of functions, by the titles of these."""
    lines = [f"| | {' | '.join(COLUMNS.values())} |", f"|---|{'---:|' * len(COLUMNS)}"]
    total: Counter[str] = Counter()
    for title, found in groups.items():
        count = Counter(map(kind_of, found.values()))
        total += count
        lines.append(_line(title, count))
    return [*lines, _line("together", total)]


def _line(title: str, count: Counter[str]) -> str:
    return f"| {title} | {' | '.join(str(count[k]) for k in COLUMNS)} |"


def lengths() -> list[int]:
    """The lines of every template: from `def` on, without empty ones and comments, or a slope."""
    found = {id(r.template): r for r in registry.builtin().rules if r.template is not None}
    return [_length(r.template, r.expression) for r in found.values()]


def _length(template: Callable[..., Any], expression: bool) -> int:
    if expression:
        slope = locate.definition(template, locate.lines_of(template))
        return slope.end_lineno - slope.lineno + 1
    text = textwrap.dedent(inspect.getsource(template))
    (node,) = ast.parse(text).body
    first, last = node.lineno, node.end_lineno or node.lineno
    code = [line.strip() for line in text.splitlines()[first - 1 : last]]
    return sum(bool(line) and not line.startswith("#") for line in code)


def length() -> str:
    """How long templates are, as a sentence."""
    found = lengths()
    return (
        f"The median of the {len(found)} templates has {statistics.median(found):g} lines, with "
        f"its `def` where it is no slope alone; the longest has {max(found)}."
    )


if __name__ == "__main__":
    from tests.rules import table as rule_table

    print("\n".join((*table(rule_table.groups()), "", length())))
