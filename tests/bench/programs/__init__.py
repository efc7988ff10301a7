"""Programs of the kind that benchmarks of NumPy compilers publish, in the forms that are compared.

Each is a loss: a function of arrays that gives a number.

`loops`: as people write them with NumPy: what srcdiff gets.
`arrays`: without writes in place, for libraries that trace: torch, autograd, and JAX where there
are no loops.  `in_jax`: for JAX, with its loops.  `by_hand`: adjoints that a person wrote, with
NumPy.  `by_hand_numba`: the same as loops for Numba.
"""
