"""Reports: a function beside its gradient, as a page, in a notebook, as a graph."""

from srcdiff.report.dot import graph, picture
from srcdiff.report.html import fragment, page

__all__ = ["fragment", "graph", "page", "picture"]
