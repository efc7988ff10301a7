"""From a Python function to the intermediate representation.

`source` finds and parses the text, `desugar` and `closures` rewrite its tree, `lower` makes
statements with flat operands of it.
"""
