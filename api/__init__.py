"""tapeless: JAX's transformations for plain NumPy code, done by rewriting source."""

if __name__ != "tapeless":
    raise ImportError(f"import tapeless instead of {__name__}")

from tapeless import checkpoint_io, distributed, lax, numpy, random, tree
from tapeless.check import check_grads
from tapeless.compiled import disable_jit, jit
from tapeless.devices import (
    Device,
    block_until_ready,
    default_device,
    device_count,
    device_get,
    device_put,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)
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
from tapeless.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from tapeless.pmap import pmap
from tapeless.ravel import ravel_pytree
from tapeless.transforms.errors import TapelessError
from tapeless.vmap import vmap

__version__ = "0.1.0"

__all__ = [
    "Device",
    "TapelessError",
    "block_until_ready",
    "check_grads",
    "checkpoint",
    "checkpoint_io",
    "custom_jvp",
    "custom_vjp",
    "default_device",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "distributed",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "jvp_fn",
    "lax",
    "linearize",
    "local_device_count",
    "local_devices",
    "numpy",
    "pmap",
    "process_count",
    "process_index",
    "random",
    "ravel_pytree",
    "remat",
    "stop_gradient",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
]
