"""All that is known of the functions that programs call: rules, effects, memory, spelling.

Takes a callee, or a call and the kinds of what it is given; gives facts, and runs nothing of the
user's.  A callee that nobody knows may do anything.

`notation`   what a template may say besides NumPy: adjoints, questions to the compiler, refusals
`arguments`  the arguments of a call: bound to a template's parameters, and `out`
`registry`   rules, the files of templates that they are read from, and which rule a call has
`operation`  the one list of callees: their effects, what they write into, what results share, axes
`ops`        the operations that passes know by name, however they are spelled
`effects`    what a call writes into, what its result may share memory with, and what is pure
`views`      which calls certainly return a view of their first argument
"""
