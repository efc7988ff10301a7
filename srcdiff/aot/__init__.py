"""Ahead of time: derivatives as files that need NumPy alone, and whether they are up to date."""
