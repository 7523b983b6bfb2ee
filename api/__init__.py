"""tapeless: JAX's transformations for plain NumPy code, done by rewriting source."""

if __name__ != "tapeless":
    raise ImportError(f"import tapeless instead of {__name__}")

from tapeless import tree
from tapeless.functions import (checkpoint, custom_jvp, custom_vjp, grad, jvp, jvp_fn, linearize, remat, stop_gradient, value_and_grad, vjp)
from tapeless.transforms.errors import TapelessError

__version__ = "0.1.0"

__all__ = ["TapelessError", "grad", "jvp", "tree", "value_and_grad"]
