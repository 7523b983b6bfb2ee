"""Turns functional updates into in-place stores: aliasing, ownership and copies."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.memory instead of {__name__}")
