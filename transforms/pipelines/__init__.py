"""Orders the passes of array form and of loop form, each once."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.pipelines instead of {__name__}")
