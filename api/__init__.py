"""tapeless: JAX's transformations for plain NumPy code, done by rewriting source."""

if __name__ != "tapeless":
    raise ImportError(f"import tapeless instead of {__name__}")

from tapeless import tree
from tapeless.check import check_grads
from tapeless.compiled import disable_jit, jit
from tapeless.functions import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    jvp,
    jvp_fn,
    linearize,
    remat,
    stop_gradient,
    value_and_grad,
    vjp,
)
from tapeless.ravel import ravel_pytree
from tapeless.transforms.errors import TapelessError
from tapeless.vmap import vmap

__version__ = "0.1.0"

__all__ = [
    "TapelessError",
    "check_grads",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "disable_jit",
    "grad",
    "jit",
    "jvp",
    "jvp_fn",
    "linearize",
    "ravel_pytree",
    "remat",
    "stop_gradient",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
]
