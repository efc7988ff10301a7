"""Numba: what it computes otherwise than NumPy, what it takes, and what it says.

Takes a text for NumPy; gives functions that Numba compiles, or a refusal: nothing runs uncompiled.

`legalize`: what Numba computes otherwise, written so that it does not, and its forms of helpers.
`array_math`: shapes, new arrays and sums as code that is there, of which nothing is compiled.
`vector_math`: elementary functions and sums that LLVM vectorises in compiled loops.
`inside`: Numba's passes for loops, which are compiled once, in the function that calls them.
`jit`: the decorator, what is refused before Numba sees it, and compiling.
`cache`: modules that are kept for other processes, their functions, and Numba's errors.
"""
