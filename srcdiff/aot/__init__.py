"""Ahead of time: derivatives as files that need NumPy alone, and whether they are up to date.

Takes a function, or its name, and options; gives the text of a file, or the derivative from one.

`generate`: `generate` and `generated`, the public functions.
`job`: the making of one file, and the command line that asks for it.
`checks`: the lines that check the arguments of what it offers, and what else may be passed.
`dependencies`: the facts that a text depends on, each with a hash.
`fingerprint`: what a value is, as a text that is the same in every process.
`files`: the head of a file, and files on disk.
`verify`: whether a file is right, is compiled by Numba, and is up to date.
"""
