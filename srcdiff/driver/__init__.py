"""The visible row of passes, and what is kept of their results between calls.

Takes a function, the options of a transform and the arguments of a call; gives a function that was
generated for the kinds of the arguments, once, and serves until something outside has changed.

`pipeline`: the row of passes, from a Python function to the text of its derivative.
`options`: from the arguments of a transform to a request and a target, where these combine; what it
    selects of outputs.
`derivative`: the callable that runs the row at its first call for the kinds of its arguments.
`executable`: what was generated for one derivative, and what of it serves closures that are alike.
`guards`: what is outside of a function, and whether it is what it was when it was generated.
`arguments`: arguments that are refused.
`structures`: structures of arrays and numbers, leaf by leaf.
`pullback`: one forward run, and what it keeps for backward runs.
`snapshots`: what a pullback reads from outside, as it was at the forward run.
`second_order`: the gradient as one call, where its text is not accepted again.
`anomaly`: derivatives that check their adjoints.
`callables`: signatures, methods, completion and pickles of derivatives.
`validation`: every pass run before and after, which `SRCDIFF_VALIDATE=1` asks for.
`replay`: its runs, on copies and in the world as it was.
"""
