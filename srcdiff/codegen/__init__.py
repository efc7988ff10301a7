"""From the intermediate representation to the source that a careful person would have written.

Takes finished functions; gives their text, the primal place of every line, and the objects that its
global names stand for.  The text computes what the function says.  Its rooms:

`emit`              the source of a function, with comments
`structure`         loops over items, `break`, `continue` and early `return` in place of flags
`idioms`            unpackings, comprehensions and conditional expressions
`nest`              which temporaries stand inside the expression that uses them
`statements`        statements as gast statements
`expressions`       right-hand sides as gast expressions, and how objects from outside are spelled
`printer`           a gast tree as text, its long lines split as black does
`expression_text`   expressions and literals as text
`tapes`             one list for what is saved together
`naming`            readable names for the variables that remain
`loops`             plainer loops and whole numbers
`link`              functions put together as one text
"""
