"""Defines products, factorisations and functions of matrices and their derivatives."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops.linalg instead of {__name__}")
