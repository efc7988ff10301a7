"""Random ordinary NumPy programs, and what becomes of their gradients."""
