"""Functions in functions: those that are called, and those that are values.

Takes nested functions of a tree that is being lowered; gives statements in place of a call, or a
`Closure` that is inlined later.

local_functions  what a call of a nested function becomes, wrappers, what closures in it see
closures         functions that are passed on or returned, and those that call themselves
"""
