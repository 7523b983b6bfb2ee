"""Implements the public transformations: derivatives, custom rules and callbacks.

vmap and pmap, and jit, have folders of their own.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transformations instead of {__name__}")
