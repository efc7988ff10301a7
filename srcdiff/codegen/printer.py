"""A gast tree as text: statements, long lines, and the line each statement begins at."""

# ruff: noqa: N802 - the methods are named after the classes that they print

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import astunparse
import gast

from srcdiff.codegen.literals import docstring
from srcdiff.codegen.patterns import PatternText
from srcdiff.codegen.text import ATOM, BINARY, OR, TEST, TUPLE, YIELD, ExpressionText
from srcdiff.codegen.wrap import wrap

WIDTH = 100
_DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
_IMPORTS = ("Import", "ImportFrom")


class Remark:
    """A statement that is a line of comment, of the user or not: no gast tree can hold one."""

    def __init__(self, text: str, theirs: bool = False) -> None:
        self.text = text
        self.theirs = theirs


class Printer(PatternText, ExpressionText, astunparse.Unparser):  # type: ignore[misc]
    """Prints statements; `lines` is the text so far, `nodes` the statement behind each line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: list[Any] = []
        self.node: Any = None
        self._indent = 0
        self._part: tuple[str, str, str, bool] | None = None
        self._definition = self._import = False

    # --- lines ---------------------------------------------------------------------------------

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self.flush()
        self._part = (text, "", "", False)

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
            new = wrap(prefix, value, suffix, 4 * self._indent, WIDTH, parens)
        self.lines += new
        self.nodes += [self.node] * len(new)

    def enter(self) -> None:
        """Print the colon before an indented block."""
        self.write(":")
        self.flush()
        self._indent += 1

    def leave(self) -> None:
        """End an indented block."""
        self.flush()
        self._indent -= 1

    @contextmanager
    def block(self) -> Iterator[None]:
        """The lines of an indented block."""
        self.enter()
        yield
        self.leave()

    def dispatch(self, tree: Any) -> None:
        """Print a statement, a list of statements, or an expression into the current line."""
        if isinstance(tree, list):
            for i, node in enumerate(tree):
                self._blank_lines(node, i)
                self.dispatch(node)
        elif hasattr(self, "x_" + type(tree).__name__):
            self.write(self.text(tree))
        elif isinstance(tree, (gast.stmt, Remark)):
            self.flush()
            outer, self.node = self.node, tree
            getattr(self, "_" + type(tree).__name__)(tree)
            self.flush()
            self.node = outer
        else:
            getattr(self, "_" + type(tree).__name__)(tree)

    def _blank_lines(self, node: Any, position: int) -> None:
        """Blank lines around definitions and after imports, as black puts them."""
        kind = type(node).__name__
        is_definition = kind in _DEFINITIONS
        count = 1 if self._indent or not (is_definition or self._definition) else 2
        after_imports = self._import and kind not in _IMPORTS
        if position and (is_definition or self._definition or after_imports):
            self.flush()
            self.lines += [""] * count
            self.nodes += [None] * count
        self._definition, self._import = is_definition, kind in _IMPORTS

    # --- simple statements ---------------------------------------------------------------------

    def _Module(self, tree: Any) -> None:
        self._body(tree.body)

    def _body(self, body: list[Any]) -> None:
        """The statements of a module, class or function, after its docstring."""
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

    def _AnnAssign(self, tree: Any) -> None:
        target = self.text(tree.target)
        if not tree.simple and type(tree.target).__name__ == "Name":
            target = f"({target})"
        head = f"{target}: {self.text(tree.annotation)}"
        if tree.value is None:
            self.fill(head)
        else:
            self.line(head + " = ", self.text(tree.value, YIELD))

    def _Return(self, tree: Any) -> None:
        if tree.value is None:
            self.fill("return")
        else:
            self.line("return ", self.text(tree.value, _tuple_level(tree.value, TEST)))

    def _TypeAlias(self, tree: Any) -> None:
        name = self.text(tree.name) + self._type_params(tree)
        self.line(f"type {name} = ", self.text(tree.value))

    def _alias(self, tree: Any) -> None:
        self.write(tree.name + (f" as {tree.asname}" if tree.asname else ""))

    def _ImportFrom(self, tree: Any) -> None:
        names = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in tree.names)
        self.fill(f"from {'.' * (tree.level or 0)}{tree.module or ''} import {names}")

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

    def _else(self, body: list[Any], word: str = "else") -> None:
        """An `else` block, if there is one."""
        if body:
            self.fill(word)
            with self.block():
                self.dispatch(body)

    def _While(self, tree: Any) -> None:
        self.line("while ", self.text(tree.test, 0))
        with self.block():
            self.dispatch(tree.body)
        self._else(tree.orelse)

    def _For(self, tree: Any, word: str = "for") -> None:
        target = self.text(tree.target, TUPLE)
        self.line(f"{word} {target} in ", self.text(tree.iter, TEST))
        with self.block():
            self.dispatch(tree.body)
        self._else(tree.orelse)

    def _AsyncFor(self, tree: Any) -> None:
        self._For(tree, "async for")

    def _withitem(self, tree: Any) -> None:
        self.write(self.text(tree.context_expr))
        if tree.optional_vars is not None:
            self.write(" as " + self.text(tree.optional_vars))

    def _ExceptHandler(self, tree: Any, word: str = "except") -> None:
        kind = f" {self.text(tree.type)}" if tree.type else ""
        self.fill(word + kind + (f" as {self.text(tree.name)}" if tree.name else ""))
        with self.block():
            self.dispatch(tree.body)

    def _TryStar(self, tree: Any) -> None:
        self.fill("try")
        with self.block():
            self.dispatch(tree.body)
        for handler in tree.handlers:
            self._ExceptHandler(handler, "except*")
        self._else(tree.orelse)
        self._else(tree.finalbody, "finally")

    # --- definitions ---------------------------------------------------------------------------

    def _FunctionDef(self, tree: Any, word: str = "def") -> None:
        self._decorators(tree)
        returns = "" if tree.returns is None else f" -> {self.text(tree.returns)}"
        head = f"{word} {tree.name}{self._type_params(tree)}("
        self._definition_line(head, self.arguments(tree.args), ")" + returns)
        with self.block():
            self._body(tree.body)
        self._definition = True

    def _definition_line(self, head: str, inner: str, tail: str) -> None:
        """`def f(...) -> T`: split between its parameters if it is too long."""
        if 4 * self._indent + len(head + inner + tail) < WIDTH or not inner:
            self.fill(head + inner + tail)
        else:
            # The value is what stands in the parentheses; the line is split there.
            self.line(head[:-1], f"({inner})", tail[1:], parens=False)

    def _AsyncFunctionDef(self, tree: Any) -> None:
        self._FunctionDef(tree, "async def")

    def _decorators(self, tree: Any) -> None:
        for decorator in tree.decorator_list:
            self.line("@", self.text(decorator, 0), parens=False)

    def _ClassDef(self, tree: Any) -> None:
        self._decorators(tree)
        bases = [self.text(b) for b in tree.bases] + self._keywords(tree.keywords)
        inner = f"({', '.join(bases)})" if bases else ""
        self.fill(f"class {tree.name}{self._type_params(tree)}{inner}")
        with self.block():
            self._body(tree.body)
        self._definition = True

    def _type_params(self, tree: Any) -> str:
        params = getattr(tree, "type_params", None)
        return f"[{', '.join(self._type_param(p) for p in params)}]" if params else ""

    def _type_param(self, tree: Any) -> str:
        stars = {"TypeVarTuple": "*", "ParamSpec": "**"}.get(type(tree).__name__, "")
        bound = getattr(tree, "bound", None)
        default = getattr(tree, "default_value", None)
        text: str = stars + tree.name + ("" if bound is None else f": {self.text(bound)}")
        return text + ("" if default is None else f" = {self.text(default, OR)}")


def _tuple_level(value: Any, otherwise: int) -> int:
    """How tightly a value must bind: a tuple of several items may stand without parentheses."""
    several = type(value).__name__ == "Tuple" and len(value.elts) > 1
    return TUPLE if several else otherwise


def _is_text(stmt: Any) -> bool:
    """Whether a statement is a mere string."""
    value = getattr(stmt, "value", None)
    if type(stmt).__name__ != "Expr" or type(value).__name__ != "Constant":
        return False
    return isinstance(getattr(value, "value", None), str)


def to_text(tree: Any) -> str:
    """The text of a gast module or statement."""
    printer = Printer()
    printer.dispatch(tree)
    printer.flush()
    return "\n".join(printer.lines) + "\n"


def expression_text(tree: Any) -> str:
    """The text of a gast expression on one line."""
    return Printer().text(tree.body if type(tree).__name__ == "Expression" else tree)
