"""Objects of classes written in Python as the variables that stand for their attributes.

Takes a function and the kinds of its names, with objects of known classes; gives one without
attributes, and the way back to the parameters that the caller gives.  An object that is stored into
has one name, or the function is refused.

Rooms, in reading order:
methods: methods, properties and operators as calls of plain functions.
construct: what a call of a class makes: `__init__`, `replace`, copies, named tuples.
reflection: `isinstance`, `getattr`, `hasattr`, answered by the kinds; `vars` refused.
places: which variables name an object, and who else holds it when something is stored.
scalar_replacement: attributes become variables; what must stay whole is found by attempts.
boxes: objects out of containers that are stored into, as dicts.
"""
