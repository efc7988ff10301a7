"""Statements of Python as simpler ones, on the syntax tree."""
