"""A gast tree as text: statements, long lines, and the line each statement begins at.

Long lines are split inside brackets, the way black does it (`wrap`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import astunparse
import gast

from srcdiff.codegen.expression_text import (
    ATOM,
    BINARY,
    TEST,
    TUPLE,
    YIELD,
    ExpressionText,
    docstring,
)
from srcdiff.ir.frozen import frozen

WIDTH = 100
"""The columns of a line."""

_TOKEN = r"""(?x)(?P<string>[rbfuRBFU]{0,2}(?:\"{3}(?s:\\.|.)*?\"{3}|'{3}(?s:\\.|.)*?'{3}
    |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
|(?P<word>\w[\w.]*(?:(?<=[eE])[+-]\d+)?)
|(?P<open>[(\[{])|(?P<close>[)\]}])
|(?P<op>\*\*|//|<<|>>|<=|>=|==|!=|:=|->|[-+*/%@&|^~<>=,:.])
|\s+"""  # compiled where a line is too long

# The lower the binding, the earlier a line is split there: black's order.
_COMPREHENSION, _COMMA = 20, 18
_PRIORITY = {
    ",": _COMMA, "if": 16, "else": 16, "and": 14, "or": 14,
    "in": 10, "not": 10, "is": 10, "<": 10, ">": 10, "<=": 10, ">=": 10, "==": 10, "!=": 10,
    "|": 9, "^": 8, "&": 7, "<<": 6, ">>": 6, "+": 5, "-": 5,
    "*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "**": 2,
}  # fmt: skip
_DOT = 1  # of a method of what ends in a bracket
_POWER = re.compile(r"(?<=[\w)\]])\*\*(?=\S)")
_SIGNS = frozenset(("+", "-", "*", "**"))


@frozen
class Layout:
    """Where a text may be split: its delimiters of lowest binding and its outermost brackets."""

    priority: int
    splits: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def is_one_dot(self) -> bool:
        """Whether there is nothing but one dot to split at, which nobody does."""
        return self.priority == _DOT and len(self.splits) == 1


def wrap(
    prefix: str, value: str, suffix: str = "", indent: int = 0, parens: bool = True
) -> list[str]:
    """The lines of `prefix value suffix`; with `parens` the value may be put in parentheses."""
    line = " " * indent + prefix + value + suffix
    if len(line) <= WIDTH:
        return [line]
    if not parens:
        return _at_brackets(prefix + value, suffix, indent)
    if _is_long_tuple(prefix) and indent + len(prefix) + 1 > WIDTH:
        targets = _inside(prefix[:-3], "", indent + 4)
        rest = wrap(") = ", value, suffix, indent, parens)
        return [" " * indent + "(", *targets, *rest]
    if _is_word(value) and indent + 4 + len(value) > WIDTH:
        return [line]
    found = _without_parens(prefix, value, suffix, indent)
    if found and len(found[0]) <= WIDTH:
        return found
    inner = _inside(value, "", indent + 4, True)
    forced = [" " * indent + prefix + "(", *inner, " " * indent + ")" + suffix]
    return found if found and any(len(row) > WIDTH for row in forced) else forced


def _is_word(value: str) -> bool:
    """Whether a text is one token."""
    match = re.match(_TOKEN, value)
    if match is None or match.end() < len(value):
        return False
    return match.lastgroup == "string" or "." not in value


def _without_parens(prefix: str, value: str, suffix: str, indent: int) -> list[str]:
    """The lines of a value that reads better split at its brackets; none if it does not."""
    if not _ends_in_brackets(value, analyse(value), indent + 4):
        return []
    text = prefix + value
    pair = _last_brackets(text, suffix, indent)
    if pair is None or not _keeps_target(prefix, value, pair, indent):
        return []
    return _at_pair(text, suffix, pair, indent)


def _keeps_target(prefix: str, value: str, pair: tuple[int, int], indent: int) -> bool:
    """Whether the split leaves the target of an assignment alone, which may have brackets too."""
    simple = not prefix.endswith(" = ") or not analyse(prefix).pairs
    if simple or indent + len(prefix) >= WIDTH:
        return True
    start = pair[0] - len(prefix)
    behind = any(end < start for _, end in analyse(value).pairs)
    return start >= 0 and (behind or indent + _spaced(prefix + value[: start + 1]) <= WIDTH)


def _ends_in_brackets(value: str, layout: Layout, indent: int) -> bool:
    """Whether a value that stands in parentheses of its own reads better without them."""
    if not layout.splits or layout.is_one_dot:
        return True
    if len(layout.splits) > 1 or not layout.pairs:
        return False
    (_, first), (last, end) = layout.pairs[0], layout.pairs[-1]
    if value[0] in "([{" and first > 1:
        opened = layout.pairs[1][0] + 1 if len(layout.pairs) > 1 else len(value)
        if indent + _spaced(value[first:opened]) <= WIDTH:
            return True
    if end != len(value) - 1 or end == last + 1:
        return False
    if value[end] == "]" and not _is_display(value[:last].rstrip(" ")):
        return False
    return len(layout.pairs) > 1 or indent + _spaced(value[: last + 1]) <= WIDTH


def _spaced(text: str) -> int:
    """How long a text is with spaces around its powers, as which black measures parts of a line."""
    return len(text) + 2 * len(_POWER.findall(text))


def _last_brackets(text: str, suffix: str, indent: int) -> tuple[int, int] | None:
    """The last brackets that leave a first line short enough, else the last ones.

    What stands behind them fits.
    """
    pairs = [p for p in reversed(analyse(text).pairs) if p[1] > p[0] + 1]
    room = WIDTH - indent - len(suffix)
    ends = pairs[:1] + [p for p in pairs[1:] if _spaced(text[p[1] :]) <= room]
    fitting = (p for p in ends if indent + _spaced(text[: p[0] + 1]) <= WIDTH)
    return next(fitting, pairs[0] if pairs else None)


def _is_long_tuple(prefix: str) -> bool:
    """Whether a statement begins with the assignment to one tuple without parentheses."""
    if prefix.count(" = ") != 1 or ":" in prefix or prefix.startswith("("):
        return False
    return analyse(prefix[:-3]).priority == _COMMA


def _is_display(before: str) -> bool:
    """Whether a bracket behind a text is that of a tuple, list, dict or set: no call, no index."""
    word = re.search(r"[\w)\]}\"']+$", before)
    return word is None or word.group() in ("return", "in", "if", "else", "and", "or", "not", "is")


def _at_brackets(text: str, suffix: str, indent: int) -> list[str]:
    """A text split in the last brackets that leave a first line short enough; else as it is."""
    line = " " * indent + text + suffix
    pair = _last_brackets(text, suffix, indent)
    if len(line) <= WIDTH or pair is None:
        return [line]
    return _at_pair(text, suffix, pair, indent)


def _at_pair(text: str, suffix: str, pair: tuple[int, int], indent: int) -> list[str]:
    """A text with what stands in a pair of brackets on lines of its own."""
    start, end = pair
    display = _is_display(text[:start].rstrip(" ")) if start else True
    return [
        *_at_brackets(text[: start + 1], "", indent),
        *_inside(text[start + 1 : end], "", indent + 4, display),
        *_at_brackets(text[end:], suffix, indent),
    ]


def _inside(text: str, suffix: str, indent: int, display: bool = False) -> list[str]:
    """The lines of a text that stands inside brackets; each item of a display has its own."""
    line = " " * indent + text + suffix
    layout = analyse(text)
    if len(line) <= WIDTH and not (display and layout.priority == _COMMA):
        return [line]
    if not layout.splits or layout.is_one_dot:
        return _at_brackets(text, suffix, indent)
    pieces = _pieces(text, layout)
    comma = layout.priority == _COMMA
    out: list[str] = []
    for piece in pieces[:-1]:
        out += _inside(piece, "," if comma else "", indent)
    trailing = "," if comma and pieces[-1] else ""
    return out + (_inside(pieces[-1], trailing + suffix, indent) if pieces[-1] else [])


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
        if word == ".":
            return _DOT if self.previous in (")", "]", "}") else 0
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
    """Where a text may be split; it may begin and end with a bracket that has no partner."""
    scan = _Scan()
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in re.finditer(_TOKEN, text):
        kind, word = match.lastgroup, match.group()
        if kind == "open":
            opened.append(match.start())
        elif kind == "close" and opened:
            start = opened.pop()
            if not opened:
                pairs.append((start, match.start()))
        elif kind in ("word", "op") and not opened:
            scan.delimiter(word, match.start())
        if kind is not None:
            scan.previous = word
    return Layout(scan.best, tuple(scan.splits), tuple(pairs))


# --- statements ----------------------------------------------------------------------------------


# ruff: noqa: N802 - the methods are named after the classes that they print


class Remark:
    """A statement that is a line of comment, of the user or not: no gast tree can hold one."""

    def __init__(self, text: str, theirs: bool = False) -> None:
        self.text = text
        self.theirs = theirs


class Printer(ExpressionText, astunparse.Unparser):  # type: ignore[misc]
    """Prints the statements of generated functions, which hold no definitions.

    `lines` is the text so far, `nodes` the statement behind each line.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: list[Any] = []
        self.node: Any = None
        self._indent = 0
        self._part: tuple[str, str, str, bool] | None = None
        self.future_imports: list[str] = []  # for the statements that are printed as they are

    # --- lines ---------------------------------------------------------------------------------

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self.line(text, "", parens=False)

    def write(self, text: str) -> None:
        """Add text to the current line."""
        if text.strip("\n"):
            head, value, tail, parens = self._part or ("", "", "", False)
            if value:
                self._part = (head, value, tail + text, parens)
            else:
                self._part = (head + text, "", "", False)

    def line(self, prefix: str, value: str, suffix: str = "", parens: bool = True) -> None:
        """A line whose value may be put in parentheses if it is too long."""
        self.flush()
        self._part = (prefix, value, suffix, parens)

    def flush(self) -> None:
        """Finish the current line, splitting it if it is too long."""
        if self._part is None:
            return
        prefix, value, suffix, parens = self._part
        self._part = None
        if self.unbreakable or "\n" in value or "\n" in prefix:
            new = (" " * 4 * self._indent + prefix + value + suffix).split("\n")
            self.unbreakable = False
        else:
            value, prefix = (value, prefix) if value else (prefix, "")
            new = wrap(prefix, value, suffix, 4 * self._indent, parens)
        self.lines += new
        self.nodes += [self.node] * len(new)

    @contextmanager
    def block(self) -> Iterator[None]:
        """The lines of an indented block, behind a colon."""
        self.write(":")
        self.flush()
        self._indent += 1
        yield
        self.flush()
        self._indent -= 1

    def dispatch(self, tree: Any) -> None:
        """Print a statement, a list of statements, or an expression into the current line."""
        if isinstance(tree, list):
            for before, node in zip([None, *tree], tree):
                if _is_import(before) and not _is_import(node):
                    self.flush()
                    self.lines.append("")  # as black puts it
                    self.nodes.append(None)
                self.dispatch(node)
        elif isinstance(tree, gast.expr):
            self.write(self.text(tree))
        elif isinstance(tree, (gast.stmt, Remark)):
            self.flush()
            outer, self.node = self.node, tree
            getattr(self, "_" + type(tree).__name__)(tree)
            self.flush()
            self.node = outer
        else:
            getattr(self, "_" + type(tree).__name__)(tree)

    # --- simple statements ---------------------------------------------------------------------

    def _body(self, body: list[Any]) -> None:
        """The statements of a function, after its docstring."""
        if body and _is_text(body[0]):
            self.line("", docstring(body[0].value.value), parens=False)
            self.flush()
            body = body[1:]
        self.dispatch(body)

    def _Remark(self, tree: Remark) -> None:
        self.flush()
        self.lines += [" " * 4 * self._indent + "# " + line for line in tree.text.split("\n")]
        self.nodes += [tree] * (tree.text.count("\n") + 1)

    def _Expr(self, tree: Any) -> None:
        # A bare string would read back as a docstring: only in parentheses is it none.
        level = ATOM + 1 if _is_text(tree) else YIELD
        self.line("", self.text(tree.value, level), parens=False)

    def _Assign(self, tree: Any) -> None:
        targets = "".join(self.text(t, TUPLE) + " = " for t in tree.targets)
        bare = type(tree.targets[0]).__name__ in ("Tuple", "List")
        level = _tuple_level(tree.value, YIELD) if bare else YIELD
        self.line(targets, self.text(tree.value, level))

    def _AugAssign(self, tree: Any) -> None:
        op = BINARY[type(tree.op).__name__][0]
        self.line(f"{self.text(tree.target)} {op}= ", self.text(tree.value, YIELD))

    def _Return(self, tree: Any) -> None:
        if tree.value is None:
            self.fill("return")
        else:
            self.line("return ", self.text(tree.value, _tuple_level(tree.value, TEST)))

    # --- compound statements -------------------------------------------------------------------

    def _If(self, tree: Any) -> None:
        self.line("if ", self.text(tree.test, 0))
        with self.block():
            self.dispatch(tree.body)
        rest = tree.orelse
        while len(rest) == 1 and type(rest[0]).__name__ == "If":
            self.node = rest[0]
            self.line("elif ", self.text(rest[0].test, 0))
            with self.block():
                self.dispatch(rest[0].body)
            rest = rest[0].orelse
        self._else(rest)

    def _else(self, body: list[Any]) -> None:
        """An `else` block, if there is one."""
        if body:
            self.fill("else")
            with self.block():
                self.dispatch(body)

    def _While(self, tree: Any) -> None:
        self.line("while ", self.text(tree.test, 0))
        self._loop(tree)

    def _For(self, tree: Any) -> None:
        self.line(f"for {self.text(tree.target, TUPLE)} in ", self.text(tree.iter, TEST))
        self._loop(tree)

    def _loop(self, tree: Any) -> None:
        """The body of a loop, and its `else`."""
        with self.block():
            self.dispatch(tree.body)
        self._else(tree.orelse)

    def _FunctionDef(self, tree: Any) -> None:
        returns = "" if tree.returns is None else f" -> {self.text(tree.returns)}"
        head, inner, tail = f"def {tree.name}", f"({self.arguments(tree.args)})", returns
        if 4 * self._indent + len(head + inner + tail) < WIDTH or inner == "()":
            head, inner, tail = head + inner + tail, "", ""
        self.line(head, inner, tail, parens=False)  # split between its parameters if too long
        with self.block():
            self._body(tree.body)


def _tuple_level(value: Any, otherwise: int) -> int:
    """How tightly a value must bind: a tuple of several items may stand without parentheses."""
    several = type(value).__name__ == "Tuple" and len(value.elts) > 1
    return TUPLE if several else otherwise


def _is_import(stmt: Any) -> bool:
    """Whether a statement is an import."""
    return isinstance(stmt, (gast.Import, gast.ImportFrom))


def _is_text(stmt: Any) -> bool:
    """Whether a statement is a mere string."""
    value = getattr(stmt, "value", None)
    if type(stmt).__name__ != "Expr" or type(value).__name__ != "Constant":
        return False
    return isinstance(getattr(value, "value", None), str)
