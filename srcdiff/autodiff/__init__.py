"""Differentiation: a function becomes a forward and a backward part, or tangents, or a batch.

Takes a function in the few forms that `normalize` leaves, and what `analysis` says of it.
`reverse` pairs every statement with its adjoint, `accumulate` decides how adjoints are added to,
`tape` splits the pairs into two parts; `forward` is the tangents, `batch` one run for many
cotangents.
"""
