"""A function at the kinds of its arguments: its calls are operations or known functions.

Takes the IR of a Python function and the kinds of its arguments; gives IR in which every call that
can be resolved is of an operation or of a known function, and in which no objects are left.

Rooms, in reading order:
inline: calls of Python functions become the bodies of these.
static_values: what a name stands for meanwhile: a function, a derivative, a constant.
resolve: calls of what a variable holds, also of a module in one, become calls of known functions,
    round after round.
unroll: what is known of dicts and conditions, and loops over unlike objects written out.
early_activity: which calls meet an input, before kinds are known.
fold: calls of templates and definitions in their plainest form, for the kinds of their arguments.
defunctionalize: functions that are kept as values become data, and calls of them choices.
lifting: variables around a function become parameters of it.
nested: derivatives inside of differentiated functions.
objects: objects of classes as the variables that stand for their attributes.
"""
