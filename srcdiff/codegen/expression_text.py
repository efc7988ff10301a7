"""Expressions of a gast tree as text: minimal parentheses, the spacing of black.

Literals among them: strings, numbers and f-strings, which are read back exactly.
"""

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
    last = "" if not parts or parts[-1][0] else parts[-1][1]
    for quote in _QUOTES:
        if quote not in fields and not (len(quote) == 3 and last.endswith(quote[0])):
            return _quoted(parts, quote), False
    return _quoted(parts, '"""'), True


def _quoted(parts: list[tuple[bool, str]], quote: str) -> str:
    """The parts between quotes, the constant ones escaped."""
    body = "".join(text if is_field else _escaped(text, quote) for is_field, text in parts)
    return f"f{quote}{body}{quote}"


def _escaped(text: str, quote: str) -> str:
    """Constant text of an f-string with its backslashes, quotes and controls escaped."""
    plain = {quote[0]: f"\\{quote[0]}", **{q: q for q in "'\"" if q != quote[0]}}
    return "".join(plain.get(c) or repr(c)[1:-1] for c in text)


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
    space = " " if inner.startswith("{") else ""
    conversion = "" if node.conversion == -1 else "!" + chr(node.conversion)
    text = f"{{{space}{inner}{conversion}"
    if node.format_spec is None:
        return [(True, text + "}")]
    return [(True, text + ":"), *fstring_parts(node.format_spec, expression), (True, "}")]


# --- expressions of a gast tree as text: minimal parentheses, the spacing of black ---------------


# How tightly an expression binds; an operand that binds less tightly than its place is
# put in parentheses.
(
    WALRUS, TUPLE, YIELD, TEST, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, ARITH, TERM,
    FACTOR, POWER, AWAIT, ATOM,
) = range(18)  # fmt: skip

BINARY = {
    "Add": ("+", ARITH), "Sub": ("-", ARITH), "Mult": ("*", TERM), "MatMult": ("@", TERM),
    "Div": ("/", TERM), "FloorDiv": ("//", TERM), "Mod": ("%", TERM), "Pow": ("**", POWER),
    "LShift": ("<<", SHIFT), "RShift": (">>", SHIFT), "BitOr": ("|", BITOR),
    "BitXor": ("^", BITXOR), "BitAnd": ("&", BITAND),
}  # fmt: skip
UNARY = {"USub": "-", "UAdd": "+", "Invert": "~"}
COMPARISON = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is",
    "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip

_BRACKETS = {"List": "[]", "ListComp": "[]", "Set": "{}", "SetComp": "{}", "GeneratorExp": "()"}

Text = tuple[str, int]


def _class(node: Any) -> str:
    """The name of the class of a node."""
    return type(node).__name__


class ExpressionText:
    """Methods `x_Class(node) -> (text, how tightly it binds)`, one for each class of expression."""

    unbreakable = False  # set when a text cannot be split into tokens by simple means

    def text(self, node: Any, level: int = TEST) -> str:
        """The text of an expression, in parentheses if it binds less tightly than `level`."""
        cls = type(node).__name__
        write = self._bracketed if cls in _BRACKETS else getattr(self, "x_" + cls)
        found: Text = write(node)
        return f"({found[0]})" if found[1] < level else found[0]

    def _commas(self, nodes: list[Any], level: int = TEST) -> str:
        return ", ".join([self.text(n, level) for n in nodes])

    # --- atoms ---------------------------------------------------------------------------------

    def x_Name(self, node: Any) -> Text:
        return node.id, ATOM

    def x_Constant(self, node: Any) -> Text:
        text = literal(node.value)
        prefix = "u" if getattr(node, "kind", None) == "u" else ""
        return prefix + text, FACTOR if text[0] == "-" else ATOM

    def x_JoinedStr(self, node: Any) -> Text:
        text, nested = joined(fstring_parts(node, self._field_text))
        self.unbreakable |= nested
        return text, ATOM

    def _field_text(self, node: Any) -> str:
        """An expression inside an f-string: with single quotes, where that is possible."""
        text = self.text(node, OR)
        if '"' in text and "'" not in text and "\\" not in text:
            return text.replace('"', "'")
        return text

    def x_Tuple(self, node: Any) -> Text:
        if not node.elts:
            return "()", ATOM
        if len(node.elts) == 1:
            return f"({self.text(node.elts[0])},)", ATOM
        return self._commas(node.elts), TUPLE

    def x_Dict(self, node: Any) -> Text:
        items = [
            "**" + self.text(v, BITOR) if k is None else f"{self.text(k)}: {self.text(v)}"
            for k, v in zip(node.keys, node.values)
        ]
        return "{" + ", ".join(items) + "}", ATOM

    def x_Starred(self, node: Any) -> Text:
        return "*" + self.text(node.value, BITOR), ATOM

    # --- comprehensions ------------------------------------------------------------------------

    def x_DictComp(self, node: Any) -> Text:
        head = f"{self.text(node.key)}: {self.text(node.value)}"
        return "{" + head + self._generators(node) + "}", ATOM

    def _bracketed(self, node: Any) -> Text:
        """A display, or a comprehension."""
        brackets, items = _BRACKETS[_class(node)], getattr(node, "elts", None)
        within = self._commas([node.elt] if items is None else items) + self._generators(node)
        return brackets[0] + within + brackets[1], ATOM

    def _generators(self, node: Any) -> str:
        out = ""
        for g in getattr(node, "generators", ()):
            out += " async for " if g.is_async else " for "
            out += f"{self.text(g.target, TUPLE)} in {self.text(g.iter, OR)}"
            out += "".join(" if " + self.text(test, OR) for test in g.ifs)
        return out

    # --- operators -----------------------------------------------------------------------------

    def x_BinOp(self, node: Any) -> Text:
        op, binds = BINARY[_class(node.op)]
        if binds == POWER:
            return self._power(node), POWER
        return f"{self.text(node.left, binds)} {op} {self.text(node.right, binds + 1)}", binds

    def _power(self, node: Any) -> str:
        left = self.text(node.left, AWAIT)
        beside = node.right
        while _class(beside) == "BinOp" and _class(beside.op) == "Pow":
            beside = beside.left
        simple = is_simple(node.left) and is_simple(beside) and left[0] != "("
        space = "" if simple else " "
        return f"{left}{space}**{space}{self.text(node.right, FACTOR)}"

    def x_UnaryOp(self, node: Any) -> Text:
        if _class(node.op) == "Not":
            return "not " + self.text(node.operand, NOT), NOT
        level = AWAIT if _class(node.operand) == "BinOp" else FACTOR  # `-(x**2)`, as black
        return UNARY[_class(node.op)] + self.text(node.operand, level), FACTOR

    def x_BoolOp(self, node: Any) -> Text:
        word, binds = ("and", AND) if _class(node.op) == "And" else ("or", OR)
        return f" {word} ".join([self.text(v, binds + 1) for v in node.values]), binds

    def x_Compare(self, node: Any) -> Text:
        out = [self.text(node.left, BITOR)]
        for op, right in zip(node.ops, node.comparators):
            out += [COMPARISON[_class(op)], self.text(right, BITOR)]
        return " ".join(out), COMPARE

    def x_IfExp(self, node: Any) -> Text:
        body, test = self.text(node.body, OR), self.text(node.test, OR)
        return f"{body} if {test} else {self.text(node.orelse, TEST)}", TEST

    def x_Lambda(self, node: Any) -> Text:
        args = self.arguments(node.args)
        return f"lambda{' ' if args else ''}{args}: {self.text(node.body, TEST)}", TEST

    def x_NamedExpr(self, node: Any) -> Text:
        return f"{self.text(node.target)} := {self.text(node.value, TEST)}", WALRUS

    def x_Await(self, node: Any) -> Text:
        return "await " + self.text(node.value, ATOM), AWAIT

    def x_Yield(self, node: Any) -> Text:
        return "yield" + (" " + self.text(node.value, TUPLE) if node.value else ""), YIELD

    def x_YieldFrom(self, node: Any) -> Text:
        return "yield from " + self.text(node.value, TEST), YIELD

    # --- trailers ------------------------------------------------------------------------------

    def x_Attribute(self, node: Any) -> Text:
        value = self.text(node.value, ATOM)
        return (f"({value})" if value.isdigit() else value) + f".{node.attr}", ATOM

    def x_Call(self, node: Any) -> Text:
        func = self.text(node.func, ATOM)
        if len(node.args) == 1 and not node.keywords and _class(node.args[0]) == "GeneratorExp":
            return func + self.text(node.args[0]), ATOM
        args = [self.text(a) for a in node.args]
        for k in node.keywords:
            args.append(("**" if k.arg is None else k.arg + "=") + self.text(k.value))
        return f"{func}({', '.join(args)})", ATOM

    def x_Subscript(self, node: Any) -> Text:
        return f"{self.text(node.value, ATOM)}[{self._index(node.slice)}]", ATOM

    def _index(self, node: Any) -> str:
        """What stands between square brackets; a tuple needs no parentheses unless it is short."""
        if _class(node) != "Tuple" or not node.elts:
            return self.text(node)
        sliced = any(_class(e) == "Slice" for e in node.elts)
        starred = any(_class(e) == "Starred" for e in node.elts)
        if not sliced and (starred or len(node.elts) == 1):
            return self.text(node)
        return self._commas(node.elts) + ("," if len(node.elts) == 1 else "")

    def x_Slice(self, node: Any) -> Text:
        parts = (node.lower, node.upper, node.step)
        space = "" if all(n is None or is_plain(n) for n in parts) else " "
        lower, upper, step = ("" if n is None else self.text(n) for n in parts)
        ends = (lower and lower + space, upper and space + upper)
        return ":".join(ends) + (step and f"{upper and space}:{space}{step}"), ATOM

    # --- parameters ----------------------------------------------------------------------------

    def arguments(self, args: Any) -> str:
        """The parameters of a function or lambda."""
        positional = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        out = [self._parameter(p, d) for p, d in zip(positional, defaults)]
        if args.posonlyargs:
            out.insert(len(args.posonlyargs), "/")
        if args.vararg:
            out.append("*" + self._parameter(args.vararg, None))
        elif args.kwonlyargs:
            out.append("*")
        out += [self._parameter(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults)]
        if args.kwarg:
            out.append("**" + self._parameter(args.kwarg, None))
        return ", ".join(out)

    def _parameter(self, name: Any, default: Any) -> str:
        text: str = name.id
        equals = "="
        if name.annotation is not None:
            text, equals = f"{text}: {self.text(name.annotation)}", " = "
        return text if default is None else text + equals + self.text(default)


def is_simple(node: Any) -> bool:
    """Whether black hugs `**` beside this operand: a name, a number, `a.b`, `-x`."""
    kind = _class(node)
    if kind == "Attribute":
        return _class(node.value) in ("Name", "Attribute") and is_simple(node.value)
    if kind == "UnaryOp":
        return _class(node.op) != "Not" and is_simple(node.operand)
    return kind == "Name" or (kind == "Constant" and not isinstance(node.value, (str, bytes)))


def is_plain(node: Any) -> bool:
    """Whether black puts no space beside the colon of a slice for this bound."""
    if _class(node) == "UnaryOp" and _class(node.op) != "Not":
        node = node.operand
    return _class(node) in ("Name", "Constant")
