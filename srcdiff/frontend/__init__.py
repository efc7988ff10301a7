"""From a Python function to the intermediate representation.

Takes a function and what is asked of it; gives statements with flat operands.  Its source is found
and parsed, its tree is rewritten in simpler statements, and lowered.

request         what a caller asks of a derivative: inputs, outputs, the form of the result
source          where the source of a function stands, and its tree
scopes          what names a tree binds, reads and calls, and what those from outside stand for
desugar         statements of Python as simpler ones, on the tree
lowering        `lower` and `lower_template`: what each form of Python becomes, and whole functions
lower           from the tree to the IR: expressions, statements, loops, jumps
local_functions what a call of a nested function becomes, wrappers, what closures in it see
closures        functions that are passed on or returned, and those that call themselves
signatures      parameters and arguments: what is bound to what, functions that are one call
free_variables  variables outside of a function as its parameters
"""
