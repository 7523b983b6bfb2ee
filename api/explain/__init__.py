"""Says what a transformed function does, line by line of the user's code."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.explain instead of {__name__}")
