"""A template at a call: the adjoint statements or the tangent of the call.

Takes the call, its rule and the facts; gives statements in run order, in which what is known of the
arguments is folded away.  Its rooms:

`adjoint`   the walk through the lines of a template, and what it writes: the adjoint statements
`tangent`   the same lines in forward mode, and the lines of `@forward` templates
"""
