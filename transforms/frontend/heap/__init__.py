"""Models lists, references and aliases of mutable objects while staging."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.heap instead of {__name__}")
