"""The intermediate representation: flat operands, nested control flow, frozen nodes.

Every operand of a call is an atom; every intermediate result has a name; control flow stays nested
as the user wrote it.  Locations are carried along but never compared, so two functions that do the
same are equal.  The frontend makes a function of nodes, every pass takes one and gives another, and
`codegen` prints the last one; this package imports nothing of srcdiff but its errors.

`nodes`     atoms, right-hand sides, statements, functions, and callees that only the compiler knows
`target`    where a program runs: whose arrays, what compiles it, whose memory
`variables` what a variable is to a reader; names that are new
`visit`     what nodes read, write and hold; the ways to go over them
`renaming`  other names in what is kept as text
`builder`   writes statements at one place, and functions anew, statement by statement
`kinds`     what is known of a value before the program runs: its type, dtype and lengths of axes
`printer`   a function as text, for people who look at a pass
`disjoint`  which of some names, sites or definitions have been made one
`frozen`    classes of values that nobody changes
`verifier`  the invariants, checked after every pass in tests
`interpreter`  runs a function as Python runs what it says
"""

from __future__ import annotations

from srcdiff.ir.kinds import *
from srcdiff.ir.nodes import *
from srcdiff.ir.target import *
from srcdiff.ir.variables import *
from srcdiff.ir.visit import *
