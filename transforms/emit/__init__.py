"""Emits core programs as readable Python source."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.emit instead of {__name__}")
