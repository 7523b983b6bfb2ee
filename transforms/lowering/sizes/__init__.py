"""Checks and renames axis lengths that loop nests rely on."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.sizes instead of {__name__}")
