"""Runs public NumPy programs, out of checkouts that the user has, under every transformation."""
