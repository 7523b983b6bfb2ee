"""Stages attributes, special methods and captured objects."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.objects instead of {__name__}")
