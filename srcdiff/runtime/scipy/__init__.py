"""Helpers for SciPy: differential equations, integrals, roots, curves, filters, sparse matrices.

Generated code calls them as it calls those of `runtime`; SciPy is imported where one runs.

`integrals`      solutions of differential equations, and integrals, and their derivatives
`roots`          roots of equations, without the object that SciPy returns
`curves`         curves through points, made and evaluated at once
`filters`        parts of filters of `scipy.signal` and `scipy.ndimage`
`distributions`  what distributions ask of their arguments
`sparse`         sparse matrices by the array of their entries
"""
