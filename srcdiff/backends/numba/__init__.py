"""Numba: what it computes otherwise than NumPy, what it takes, and what it says."""
