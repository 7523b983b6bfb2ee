"""Prints functions in loop form as text of C: what CUDA C and C99 have in common."""
