"""Keys of random numbers in a program: which of them are used twice."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.random_keys instead of {__name__}")
