"""Writes a page that shows a user's source beside the forms emitted for it."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.tools.page instead of {__name__}")
