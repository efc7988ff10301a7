"""Refusals: programs whose derivative would be wrong, with the place, the reason and a remedy.

Takes a function and what the analyses say of it; gives nothing, or raises.
"""
