"""Evaluates variables of a program that is being staged, for code that is traced on the values of a
call.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.evaluation instead of {__name__}")
