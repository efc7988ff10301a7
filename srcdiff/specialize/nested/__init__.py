"""Derivatives inside of differentiated functions."""
