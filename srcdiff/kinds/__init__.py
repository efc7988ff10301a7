"""The inference of kinds: what is known of every name of a function before it runs.

Takes a function and the kinds of its parameters; gives a kind for every name, which describes every
value that the name has.  Kinds themselves are part of the intermediate representation (`ir.kinds`).

interpreter   goes through a function; `infer`, and `Typed`, a function with its kinds
heap          what lists and dicts hold, wherever they were made and whoever writes into them
calls         the kind of one call or atom: asks the files below, probes where none of them knows
elementwise   operators and ufuncs: broadcasting, dtypes, integers that are lengths
indexing      `x[i]`: views, elements and selections of arrays, items of containers
methods       attributes, methods, functions whose arguments say the shape, random numbers
containers    sums, products, copies and parts of lists, tuples, dicts; adjoints of containers
matrices      sparse matrices of SciPy, and what is made of them
higher_order  helpers, and functions of SciPy, that call a function
lengths       what unknown lengths are called, what calls give, and which are equal
complexes     whether complex numbers can occur in a function
probing       the function called on tiny stand-ins for its operands
lattice       the kind of a value, the join of kinds, the key that calls are dispatched on
"""
