"""The public transforms, one a file."""
