"""tapeless: JAX's transformations for plain NumPy code, done by rewriting source."""

if __name__ != "tapeless":
    raise ImportError(f"import tapeless instead of {__name__}")

from tapeless import tree
from tapeless.functions import grad, jvp, value_and_grad
from tapeless.transforms.errors import TapelessError

__version__ = "0.1.0"

__all__ = ["TapelessError", "grad", "jvp", "tree", "value_and_grad"]
