"""Turns the user's source into a core program."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend instead of {__name__}")
