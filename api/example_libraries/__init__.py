"""Provides `stax` and `optimizers` where JAX has them.

>>> from tapeless.example_libraries import optimizers, stax
>>> optimizers.adam.__name__, len(stax.Relu)
('adam', 2)
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.example_libraries instead of {__name__}")

from tapeless.example_libraries import optimizers, stax

__all__ = ["optimizers", "stax"]
