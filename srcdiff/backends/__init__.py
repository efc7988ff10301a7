"""What makes a generated text run: as a function for NumPy, CuPy or Numba, or as a file."""
