"""Shows a user's source beside emitted code, with lines linked, for pages and notebooks."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.view instead of {__name__}")
