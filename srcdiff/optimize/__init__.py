"""The same function, smaller: equal values computed once, plainer forms, what nobody needs gone.

Takes a function and the kinds of its names; gives one that computes the same values in the same
memory, but for the sign of a zero and the rounding of products with adjoints.  What the user wrote
stays as it was written.  Its rooms:

`simplify`    the rounds of a finished function, and of adjoints beside their primals
`memory`      which names may share memory, and what names are known to equal at a point
`rewrite`     one forward walk: copies replaced, plainer forms, equal values computed once
`algebra`     plainer forms of single calls
`shapes`      plainer forms of what does and undoes broadcasting, and who asks for shapes alone
`products`    signs and numbers in chains of products
`dead_code`   what nobody needs is removed
`copies`      copies of what nobody looks at again
`clearing`    elements of adjoints cleared, or copied, that nobody touches again
`stores`      stores into one place, one after the other, as one
`coalesce`    one name for what has two, one array for an adjoint and what it becomes
`schedule`    the order of statements: bindings stand right before their uses
`finish`      the last forms of a finished derivative
`squares`     squares of norms, which are smooth at zero, said apart before differentiation
"""
