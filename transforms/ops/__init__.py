"""Defines operations, one family a file. `functions()` is the table of NumPy functions that have a
rule.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops instead of {__name__}")
