"""All that generated code may call besides NumPy: small, plain functions, copied into files.

Takes the values of a running program.  The functions have rules, so generated code can be
differentiated again.  A file of its own has copies of the functions that it needs: they name
nothing but NumPy and each other, those that need the compiler ask for it through `service`.

`arrays`        few, small functions on arrays: sums over broadcast axes, reductions, products
`indexing`      where parts of arrays stand, and where they go
`linalg`        adjoints of matrix factorisations, determinants and transforms
`layout`        arrays that lie in memory as others do
`records`       objects of classes written in Python, as a class and attributes by name
`devices`       CuPy beside NumPy: its arrays, and what of its objects stands for NumPy's
`trees`         adjoints of containers, and checks of cotangents and adjoints
`sequences`     lists that are joined or searched, or of which a part is copied
`copies`        copies in which what shared memory shares it again
`batched`       what is called where adjoints have a batch axis, the first one
`vectorize`     functions of numbers, called for every number of arrays
`contexts`      what stands for `with` and `try`: `no_grad` and its like, `saved_hooks`
`workspace`     memory that generated code uses again
`service`       what the helpers ask of the compiler while a program runs
`implicit`      solutions of equations, differentiated at the solution
`checkpoint`    calls and loops that run again in the backward part: less memory, more time
`second_order`  a gradient as one call, whose own derivative goes by the tangent
`guards`        what the checks at the top of a generated file call
`short`         shorter forms of helpers, for files
`scipy`         helpers that need SciPy
"""
