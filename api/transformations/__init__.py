"""Implements the public transformations: grad, jvp, vjp, vmap, pmap, jit."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transformations instead of {__name__}")
