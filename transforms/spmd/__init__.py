"""Implements named axes: what elements of a mapped axis say to each other, on one device or on
many.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.spmd instead of {__name__}")
