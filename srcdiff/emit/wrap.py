"""Long lines are split inside brackets, the way black does it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<string>[rbfuRBFU]{0,2}(?:\"{3}(?s:\\.|.)*?\"{3}|'{3}(?s:\\.|.)*?'{3}
        |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
    |(?P<word>\w[\w.]*(?:(?<=[eE])[+-]\d+)?)
    |(?P<open>[(\[{])|(?P<close>[)\]}])
    |(?P<op>\*\*|//|<<|>>|<=|>=|==|!=|:=|->|[-+*/%@&|^~<>=,:.])
    |\s+""",
    re.VERBOSE,
)

# The lower the binding, the earlier a line is split there: black's order.
_COMPREHENSION, _COMMA = 20, 18
_PRIORITY = {
    ",": _COMMA, "if": 16, "else": 16, "and": 14, "or": 14,
    "in": 10, "not": 10, "is": 10, "<": 10, ">": 10, "<=": 10, ">=": 10, "==": 10, "!=": 10,
    "|": 9, "^": 8, "&": 7, "<<": 6, ">>": 6, "+": 5, "-": 5,
    "*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "**": 1,
}  # fmt: skip
_SIGNS = frozenset(("+", "-", "*", "**"))


@dataclass(frozen=True)
class Layout:
    """Where a text may be split: its delimiters of lowest binding and its last bracket."""

    priority: int
    splits: tuple[int, ...]
    bracket: tuple[int, int] | None  # the positions of the last bracket pair, if it ends the text


def wrap(prefix: str, value: str, suffix: str, indent: int, width: int, parens: bool) -> list[str]:
    """The lines of `prefix value suffix`; with `parens` the value may be put in parentheses."""
    line = " " * indent + prefix + value + suffix
    if len(line) <= width:
        return [line]
    if parens and _is_long_tuple(prefix) and indent + len(prefix) + 1 > width:
        targets = _inside(prefix[:-3], "", indent + 4, width)
        rest = wrap(") = ", value, suffix, indent, width, parens)
        return [" " * indent + "(", *targets, *rest]
    layout = analyse(value)
    if parens and not _hugs(layout, len(value), indent + len(prefix), width):
        end = _first_bracket(layout, value, indent, width)
        if end:
            inner = _inside(value[1:end], "", indent + 4, width, True)
            return [" " * indent + prefix + value[0], *inner, " " * indent + value[end:] + suffix]
        inner = _inside(value, "", indent + 4, width, True)
        return [" " * indent + prefix + "(", *inner, " " * indent + ")" + suffix]
    return _at_bracket(prefix, value, suffix, indent, width, layout)


def _is_long_tuple(prefix: str) -> bool:
    """Whether a statement begins with the assignment to one tuple without parentheses."""
    if prefix.count(" = ") != 1 or ":" in prefix or prefix.startswith("("):
        return False
    return analyse(prefix[:-3]).priority == _COMMA


def _hugs(layout: Layout, length: int, column: int, width: int) -> bool:
    """Whether a value is better split in its own last bracket than put in parentheses."""
    if layout.bracket is None or len(layout.splits) > 1:
        return False
    start, end = layout.bracket
    if end != length - 1:
        return False
    return end > start + 1 and column + start + 1 <= width


def _first_bracket(layout: Layout, value: str, indent: int, width: int) -> int:
    """The end of the bracket that a value begins with, if it is better split there; else 0."""
    if len(layout.splits) != 1 or value[0] not in "([{":
        return 0
    depth = 0
    for match in _TOKEN.finditer(value):
        depth += {"open": 1, "close": -1}.get(match.lastgroup or "", 0)
        if not depth:
            fits = indent + len(value) - match.start() <= width
            return match.start() if fits and match.start() > 1 else 0
    return 0


def _is_display(before: str) -> bool:
    """Whether a bracket behind a text is that of a tuple, list, dict or set: no call, no index."""
    word = re.search(r"[\w)\]}\"']+$", before)
    return word is None or word.group() in ("return", "in", "if", "else", "and", "or", "not", "is")


def _at_bracket(
    prefix: str, value: str, suffix: str, indent: int, width: int, layout: Layout
) -> list[str]:
    """A text split in its last bracket, or left as it is if it has none."""
    found = layout.bracket
    if found is None or found[1] == found[0] + 1:
        return [" " * indent + prefix + value + suffix]
    start, end = found
    display = _is_display((prefix + value[:start]).rstrip(" ")) if start or prefix else True
    inner = _inside(value[start + 1 : end], "", indent + 4, width, display)
    return [
        " " * indent + prefix + value[: start + 1],
        *inner,
        " " * indent + value[end:] + suffix,
    ]


def _inside(
    text: str, suffix: str, indent: int, width: int, display: bool = False
) -> list[str]:
    """The lines of a text that stands inside brackets; each item of a display has its own."""
    line = " " * indent + text + suffix
    layout = analyse(text)
    if len(line) <= width and not (display and layout.priority == _COMMA):
        return [line]
    if not layout.splits:
        return _at_bracket("", text, suffix, indent, width, layout)
    pieces = _pieces(text, layout)
    comma = layout.priority == _COMMA
    out: list[str] = []
    for piece in pieces[:-1]:
        out += _inside(piece, "," if comma else "", indent, width)
    trailing = "," if comma and pieces[-1] else ""
    return out + (_inside(pieces[-1], trailing + suffix, indent, width) if pieces[-1] else [])


def _pieces(text: str, layout: Layout) -> list[str]:
    """The text cut at its splits: after commas (which are dropped), before operators."""
    skip = 1 if layout.priority == _COMMA else 0
    starts = [0, *(s + skip for s in layout.splits)]
    ends = [*layout.splits, len(text)]
    return [text[a:b].strip() for a, b in zip(starts, ends)]


class _Scan:
    """Finds the delimiters of lowest binding outside all brackets of a text."""

    def __init__(self) -> None:
        self.best, self.splits = 0, list[int]()
        self.previous = ""
        self.target = self.comprehension = self.parameters = False

    def delimiter(self, word: str, position: int) -> None:
        """Notes a token outside brackets if a line may be split before or after it."""
        priority = self._priority(word)
        if priority > self.best:
            self.best, self.splits = priority, []
        if priority and priority == self.best and position:
            self.splits.append(position)

    def _priority(self, word: str) -> int:
        if word in ("for", "async"):
            return self._for()
        if self.parameters or word == "lambda":
            self.parameters = word != ":"
            return 0
        if self.target:
            self.target = word != "in"
            return 0
        if word == "if" and self.comprehension:
            return _COMPREHENSION
        if self._is_part(word):
            return 0
        return _PRIORITY.get(word, 0)

    def _for(self) -> int:
        self.target = self.comprehension = True
        return 0 if self.previous == "async" else _COMPREHENSION

    def _is_part(self, word: str) -> bool:
        """Whether a token is a sign, or belongs to the operator before it."""
        previous = self.previous
        if word in _SIGNS and (previous in _PRIORITY or previous in ("", "=", ":", "=>", "lambda")):
            return True
        if word == "not":
            return previous in _PRIORITY or previous in ("", "=", ":", "is")
        return word == "in" and previous == "not"


def analyse(text: str) -> Layout:
    """Where a text may be split."""
    scan = _Scan()
    opened: list[int] = []
    last: tuple[int, int] | None = None
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "open":
            opened.append(match.start())
        elif kind == "close":
            start = opened.pop()
            if not opened:
                last = (start, match.start())
        elif kind in ("word", "op") and not opened:
            scan.delimiter(word, match.start())
        if kind is not None:
            scan.previous = word
    if last is not None and re.search(r"[^\w.]", text[last[1] + 1 :]):
        last = None
    return Layout(scan.best, tuple(scan.splits), last)
