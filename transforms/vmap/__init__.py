"""Batches core programs: a program for one element becomes one for all elements of an axis."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.vmap instead of {__name__}")
