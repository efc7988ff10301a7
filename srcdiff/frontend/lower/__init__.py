"""From the syntax tree to the intermediate representation.

Takes nodes of a tree and a builder, in whose block statements are written; gives atoms and
right-hand sides.  Operands are evaluated from left to right, as Python does.

builder      the state of one lowering: the block, the names in scope, the errors
expressions  names, literals, operators, attributes, subscripts, displays
calls        of functions known by name, of methods, of nested functions, and what stands for others
statements   simple statements, and those that are refused
targets      what can stand left of `=`
jumps        `break`, `continue` and `return` as branches and flags
loops        loops, comprehensions and `functools.reduce`
iterables    what can be iterated: the number of its items, and the item at an index
purity       what must have no effect: expressions that are kept as text
"""
