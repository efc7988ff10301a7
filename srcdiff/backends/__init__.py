"""What makes a generated text run: as a function for NumPy, CuPy or Numba, or as a file.

Takes a text from `codegen` and what its global names stand for; gives functions, or a file.

`target`: how a program is legalised and loaded for where it is to run.
`loader`: functions of a text, shown in tracebacks.
`references`: the text of a constant, and the import of a name.
`function_text`: the text of a function that is copied into a file.
`kind_checks`: the lines that check that arguments are of some kinds.
`standalone`: a text as a module of its own, with what it calls imported or copied beside it.
`cupy`: what is other for arrays of CuPy.
`numba`: what is other where Numba compiles.
"""
