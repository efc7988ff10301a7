"""`match` statements as text."""

# ruff: noqa: N802 - the methods are named after the classes that they print

from __future__ import annotations

from typing import Any

_OR, _AS = 1, 0


class PatternText:
    """Methods that print `match`, its cases and their patterns."""

    def _Match(self: Any, tree: Any) -> None:
        self.line("match ", self.text(tree.subject, 1), parens=False)
        with self.block():
            for case in tree.cases:
                guard = "" if case.guard is None else f" if {self.text(case.guard, 0)}"
                self.fill(f"case {self.pattern(case.pattern)}{guard}")
                with self.block():
                    self.dispatch(case.body)

    def pattern(self: Any, node: Any, level: int = _AS) -> str:
        """The text of a pattern."""
        kind = type(node).__name__
        if kind == "MatchOr":
            text = " | ".join(self.pattern(p, _OR + 1) for p in node.patterns)
            return f"({text})" if level > _OR else text
        if kind == "MatchAs" and node.pattern is not None:
            text = f"{self.pattern(node.pattern, _OR)} as {node.name}"
            return f"({text})" if level > _AS else text
        if kind in ("MatchAs", "MatchStar"):
            return ("*" if kind == "MatchStar" else "") + (node.name or "_")
        if kind == "MatchSingleton":
            return repr(node.value)
        if kind == "MatchValue":
            text = self.text(node.value)
            return str(text)
        return str(getattr(self, "_pattern_" + kind)(node))

    def _pattern_MatchSequence(self: Any, node: Any) -> str:
        return f"[{', '.join(self.pattern(p) for p in node.patterns)}]"

    def _pattern_MatchMapping(self: Any, node: Any) -> str:
        pairs = zip(node.keys, node.patterns)
        items = [f"{self.text(k)}: {self.pattern(p)}" for k, p in pairs]
        return "{" + ", ".join(items + ([f"**{node.rest}"] if node.rest else [])) + "}"

    def _pattern_MatchClass(self: Any, node: Any) -> str:
        args = [self.pattern(p) for p in node.patterns]
        args += [f"{k}={self.pattern(p)}" for k, p in zip(node.kwd_attrs, node.kwd_patterns)]
        return f"{self.text(node.cls)}({', '.join(args)})"
