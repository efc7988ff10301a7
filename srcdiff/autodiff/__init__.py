"""Differentiation: a function becomes a forward and a backward part, or tangents, or a batch.

Takes a function in the few forms that `normalize` leaves, and what `analysis` says of it.  Gives
functions of the same language; nothing here prints or runs anything.  Its rooms:

`reverse`       pairs every statement with its adjoint
`containers`    statements on lists, tuples and dicts: on their companions, and their adjoints
`shadows`       memory that nobody can follow: its statements are repeated on shadows
`calls`         functions that stay calls: recursive ones, and those known only when they run
`expand`        a template at a call: its adjoint statements, or its tangent
`accumulate`    how every adjoint is added to: bound, summed, or in place where it owns its memory
`tape`          the pairs split into two parts, with what is saved between them
`assemble`      the seeds of the adjoints, and the finished derivative
`saved_hooks`   calls of the user's hooks around what is saved
`forward`       forward mode: beside every value stands its tangent
`tangents`      the tangent of one call, by its rule
`batch`         one run for many cotangents or directions
`diagnostics`   why a derivative is missing, or where it became nan
"""
