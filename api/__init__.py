"""Transforms plain NumPy code as JAX does (grad, jit, vmap, pmap, ...), by rewriting its source."""

if __name__ != "tapeless":
    raise ImportError(f"import tapeless instead of {__name__}")

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapeless import (
        ad_checkpoint,
        checkpoint_io,
        checkpoint_policies,
        custom_derivatives,
        debug,
        distributed,
        dlpack,
        dtypes,
        errors,
        example_libraries,
        experimental,
        flatten_util,
        image,
        lax,
        nn,
        numpy,
        ops,
        optimizers,
        profiler,
        random,
        ref,
        scipy,
        sharding,
        stages,
        stax,
        test_util,
        tree,
        tree_util,
        typing,
    )
    from tapeless.configuration.config import (
        check_tracer_leaks,
        checking_leaks,
        config,
        debug_infs,
        debug_key_reuse,
        debug_nans,
        default_matmul_precision,
        default_prng_impl,
        enable_checks,
        enable_custom_prng,
        enable_x64,
        legacy_prng_key,
        log_compiles,
        numpy_dtype_promotion,
        numpy_rank_promotion,
        strict,
        threefry_partitionable,
        transfer_guard,
        transfer_guard_device_to_device,
        transfer_guard_device_to_host,
        transfer_guard_host_to_device,
    )
    from tapeless.configuration.jax_context_managers import (
        copy_to_host_async,
        effects_barrier,
        ensure_compile_time_eval,
        named_call,
        named_scope,
        no_tracing,
    )
    from tapeless.dispatch.performance_warnings import PerformanceWarning
    from tapeless.profiler.live_arrays import live_arrays
    from tapeless.ref import Ref, empty_ref, free_ref, freeze, new_ref
    from tapeless.sharding import P, make_mesh, reshard, set_mesh, shard_map
    from tapeless.staging.device_list import (
        Device,
        block_until_ready,
        default_backend,
        default_device,
        device_count,
        device_get,
        devices,
        local_device_count,
        local_devices,
        process_count,
        process_index,
        process_indices,
    )
    from tapeless.staging.device_placement import (
        NamedSharding,
        Shard,
        device_put,
        make_array_from_callback,
        make_array_from_single_device_arrays,
    )
    from tapeless.transformations.callbacks import io_callback, pure_callback
    from tapeless.transformations.check_grads import check_grads
    from tapeless.transformations.compilation.disable_jit import disable_jit
    from tapeless.transformations.compilation.jit import jit
    from tapeless.transformations.eval_shape import Array, ShapeDtypeStruct, eval_shape, typeof
    from tapeless.transformations.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
    from tapeless.transformations.linear_functions import (
        closure_convert,
        custom_gradient,
        fwd_and_bwd,
        linear_transpose,
    )
    from tapeless.transformations.make_jaxpr import clear_caches, make_jaxpr
    from tapeless.transformations.mapping.pmap import pmap
    from tapeless.transformations.mapping.vmap import vmap
    from tapeless.transformations.public_functions import (
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
    from tapeless.transformations.ravel import ravel_pytree
    from tapeless.transforms.errors import TapelessError

__version__ = "0.1.0"

# Everything is imported on first use: `import tapeless` alone costs next to nothing.
MODULES = frozenset(
    [
        "ad_checkpoint",
        "checkpoint_io",
        "checkpoint_policies",
        "custom_derivatives",
        "debug",
        "distributed",
        "dlpack",
        "dtypes",
        "errors",
        "example_libraries",
        "experimental",
        "flatten_util",
        "image",
        "lax",
        "nn",
        "numpy",
        "ops",
        "optimizers",
        "profiler",
        "random",
        "ref",
        "scipy",
        "sharding",
        "stages",
        "stax",
        "test_util",
        "tree",
        "tree_util",
        "typing",
    ]
)
#: The module of each name.
NAMES = {
    name: module
    for module, names in {
        "transformations.mapping.vmap": "vmap",
        "transformations.callbacks": "io_callback pure_callback",
        "transformations.check_grads": "check_grads",
        "transformations.compilation.disable_jit": "disable_jit",
        "transformations.compilation.jit": "jit",
        "transformations.public_functions": (
            "checkpoint custom_jvp custom_vjp jvp jvp_fn linearize remat stop_gradient vjp"
        ),
        "transformations.grad": "grad value_and_grad",
        "staging.device_list": (
            "block_until_ready default_backend default_device Device device_count "
            "device_get devices local_device_count local_devices "
            "process_count process_index process_indices"
        ),
        "transformations.jacobians": "hessian hvp jacfwd jacobian jacrev",
        "staging.device_placement": (
            "NamedSharding Shard device_put make_array_from_callback "
            "make_array_from_single_device_arrays"
        ),
        "transformations.linear_functions": (
            "closure_convert custom_gradient fwd_and_bwd linear_transpose"
        ),
        "transformations.mapping.pmap": "pmap",
        "profiler.live_arrays": "live_arrays",
        "transformations.make_jaxpr": "clear_caches make_jaxpr",
        "transformations.ravel": "ravel_pytree",
        "ref": "Ref empty_ref free_ref freeze new_ref",
        "configuration.jax_context_managers": (
            "copy_to_host_async effects_barrier ensure_compile_time_eval named_call "
            "named_scope no_tracing"
        ),
        "configuration.config": (
            "check_tracer_leaks checking_leaks config debug_infs debug_key_reuse "
            "debug_nans default_matmul_precision default_prng_impl enable_checks "
            "enable_custom_prng enable_x64 legacy_prng_key log_compiles strict "
            "numpy_dtype_promotion numpy_rank_promotion threefry_partitionable "
            "transfer_guard transfer_guard_device_to_device "
            "transfer_guard_device_to_host transfer_guard_host_to_device"
        ),
        "transformations.eval_shape": "Array eval_shape ShapeDtypeStruct typeof",
        "sharding": "make_mesh P reshard set_mesh shard_map",
        "transforms.errors": "TapelessError",
        "dispatch.performance_warnings": "PerformanceWarning",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return _imported(f"tapeless.{name}")
    if name not in NAMES:
        raise _imported("tapeless.missing").missing("tapeless", name)
    value = getattr(_imported(f"tapeless.{NAMES[name]}"), name)
    globals()[name] = value
    return value


def _imported(name: str) -> Any:
    return importlib.import_module("tapeless.lazy_import").imported(name)


class _Absent:
    """The last of Python's finders of modules: says why one that JAX has is not here."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith("tapeless."):
            _imported("tapeless.missing").refuse_module(name)


sys.meta_path.append(_Absent)


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *MODULES, *NAMES})


__all__ = [
    "Array",
    "Device",
    "NamedSharding",
    "P",
    "PerformanceWarning",
    "Ref",
    "ShapeDtypeStruct",
    "Shard",
    "TapelessError",
    "ad_checkpoint",
    "block_until_ready",
    "check_grads",
    "check_tracer_leaks",
    "checking_leaks",
    "checkpoint",
    "checkpoint_io",
    "checkpoint_policies",
    "clear_caches",
    "closure_convert",
    "config",
    "copy_to_host_async",
    "custom_derivatives",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "distributed",
    "dlpack",
    "dtypes",
    "effects_barrier",
    "empty_ref",
    "enable_checks",
    "enable_custom_prng",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "example_libraries",
    "experimental",
    "flatten_util",
    "free_ref",
    "freeze",
    "fwd_and_bwd",
    "grad",
    "hessian",
    "hvp",
    "image",
    "io_callback",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "jvp_fn",
    "lax",
    "legacy_prng_key",
    "linear_transpose",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "make_jaxpr",
    "make_mesh",
    "named_call",
    "named_scope",
    "new_ref",
    "nn",
    "no_tracing",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "ops",
    "optimizers",
    "pmap",
    "process_count",
    "process_index",
    "process_indices",
    "profiler",
    "pure_callback",
    "random",
    "ravel_pytree",
    "ref",
    "remat",
    "reshard",
    "scipy",
    "set_mesh",
    "shard_map",
    "sharding",
    "stages",
    "stax",
    "stop_gradient",
    "strict",
    "test_util",
    "threefry_partitionable",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
    "tree",
    "tree_util",
    "typeof",
    "typing",
    "value_and_grad",
    "vjp",
    "vmap",
]

if sys.gettrace() is not None:  # under a debugger
    _imported("tapeless.configuration.stepping").skip_ours()
