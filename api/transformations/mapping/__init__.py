"""Implements vmap and pmap: functions of one element become functions of all elements."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transformations.mapping instead of {__name__}")
