"""Finds keys of random numbers that a program uses twice."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.random_keys instead of {__name__}")
