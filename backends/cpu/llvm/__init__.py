"""Compiles kernels of loop form by LLVM without Numba, which takes longer to begin than most
kernels take to be compiled. What this does not know, Numba compiles.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu.llvm instead of {__name__}")
