"""Reports: a function beside its gradient, as a page, in a notebook, as a graph.

Takes a derivative and the kinds of its arguments; gives HTML, or a graph for Graphviz.

`view`: what a report shows, and what a reader should know of.
`costs`: how many operations the lines cost, as polynomials of lengths.
`html`: the page, and the part of a notebook.
`dot`: the graph of values.
"""

from srcdiff.report.dot import graph, picture
from srcdiff.report.html import fragment, page

__all__ = ["fragment", "graph", "page", "picture"]
