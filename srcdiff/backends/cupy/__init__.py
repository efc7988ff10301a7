"""CuPy: calls in the forms that it has, what it lacks, and the helpers for its arrays.

Takes a finished function and the kinds of its names; gives the same, as CuPy computes it.

`calls`: the form of calls, where they are computed, and those that CuPy lacks.
`transfers`: values that a program asks the device for, each once.
`helpers`: what the global names of a text mean for arrays of CuPy.
"""
