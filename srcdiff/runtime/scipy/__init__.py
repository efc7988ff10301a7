"""Helpers for SciPy: differential equations, integrals, roots, curves, filters, sparse matrices."""
