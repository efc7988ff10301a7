"""What calls of functions that stay calls do: to their arguments, and what they return.

Takes a function with calls that no body can replace (recursion); gives for each the kind of
its result, the parameters that it writes into, and the lists that it changes.

Rooms:
effects: the summary of a call, and what it says of memory: what is written, results that overlap.
induction: how summaries are found, each for the kinds of its arguments.
"""
