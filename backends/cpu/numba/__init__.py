"""Holds all that imports Numba: typing, lowering and the entries of kernels. It is imported at
first use.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu.numba instead of {__name__}")
