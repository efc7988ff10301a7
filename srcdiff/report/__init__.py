"""Reports: a function beside its gradient, as a page, in a notebook, as a graph.

Takes a derivative and the kinds of its arguments; gives HTML, one page with everything in it or a
part of a notebook, or a graph for Graphviz.

`view`: what a report shows, and what a reader should know of.
`costs`: how many operations the lines cost, as polynomials of lengths.
`dot`: the graph of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srcdiff import ir
from srcdiff.aot.job import Job, Wanted
from srcdiff.driver.derivative import Derivative
from srcdiff.errors import ExtraError, TransformError
from srcdiff.report.dot import graph, picture
from srcdiff.report.view import Source, View, view
from srcdiff.version import VERSION

__all__ = ["fragment", "graph", "page", "picture"]


def page(f: Any, **options: Any) -> str:
    """The report of a function's gradient as a page of its own; the options are `generate`'s.

    Raises:
        ExtraError: Jinja2 or Pygments is not installed.
    """
    job = Job(f, Wanted.of(options))
    example = None if job.example is None else job.arguments
    return _rendered("page.html", view(job.made, job.kinds, example))


def fragment(derivative: Derivative, kinds: Mapping[str, ir.Kind]) -> str:
    """The report of a gradient for arguments of some kinds, to be put into a page."""
    return _rendered("report.html", view(derivative, kinds))


def shown(derivative: Derivative, kinds: Mapping[str, ir.Kind]) -> str | None:
    """What a notebook shows; None where it can only show text."""
    try:
        return fragment(derivative, kinds)
    except (ExtraError, TransformError):
        return None


def _rendered(name: str, shown: View) -> str:
    """A template filled in."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer
    except ImportError as error:
        raise ExtraError(
            f"a report needs Jinja2 and Pygments ({error}): pip install 'srcdiff[report]'"
        ) from None

    def coloured(source: Source) -> list[tuple[Any, Any]]:
        """The lines with their text highlighted."""
        text = "\n".join(line.text for line in source.lines)
        lexer = PythonLexer(stripnl=False, ensurenl=False)
        html = highlight(text, lexer, HtmlFormatter(nowrap=True))
        return [(line, Markup(h)) for line, h in zip(source.lines, html.split("\n"))]

    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["coloured"] = coloured
    return str(environment.get_template(name).render(view=shown, version=VERSION))
