"""Sparse matrices as their structure and an array of entries."""
