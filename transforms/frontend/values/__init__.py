"""Flattens, joins and compares structured values while staging."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.values instead of {__name__}")
