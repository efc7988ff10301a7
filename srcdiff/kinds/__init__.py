"""The inference of kinds: what is known of every name of a function before it runs.

Kinds themselves are part of the intermediate representation (`ir.kinds`).
"""
