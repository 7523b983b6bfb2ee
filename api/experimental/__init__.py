"""What JAX has in jax.experimental, and the mini-libraries that were there in its first releases.

>>> from tapeless.experimental import minmax, optimizers, stax
>>> len(minmax.sgd(0.1)), len(optimizers.sgd(0.1)), len(stax.Relu)
(2, 3, 2)
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.experimental instead of {__name__}")

from tapeless.callbacks import io_callback
from tapeless.experimental import minmax, ode, optimizers, stax

__all__ = ["io_callback", "minmax", "ode", "optimizers", "stax"]
