"""Compiles drivers of compiled functions to machine code: what is done around kernels, without
Python.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu.driver instead of {__name__}")
