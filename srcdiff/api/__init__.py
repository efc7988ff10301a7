"""The public transforms.

Each takes a function, and most give a callable that is generated at its first call.

`grad`: `grad`, `value_and_grad`, and the texts: `source`, `stages`.
`vjp`: one forward run and its pullback.
`forward`: the function of forward mode, and tangents of arguments.
`jvp`: `jvp` and `linearize`, derivatives along directions.
`jacobian`: `jacobian` and `hessian`.
`products`: products with the Hessian: `hvp`, `vhp`.
`backward`: gradients that are added into buffers.
`run`: one recorded execution, from which gradients are taken as from a graph.
`differentiable`: a function that stays itself and knows its derivatives.
`gradcheck`: derivatives against differences.
`verify`: derivatives held against their functions at the first call; `pytest_plugin`: in a session.
`profile`: where the time of a gradient goes, and what it keeps.
`point`: a function at some arguments; what the transforms below are written with.
`batch`: gradients for a batch of cotangents.
`matrices`: matrices of derivatives, dense and sparse, by many unit vectors at a time.
`nested`: transforms inside of differentiated functions, and derivatives while a program runs.
"""
