"""All that generated code may call besides NumPy: small, plain functions, copied into files."""
