"""Names what JAX has and tapeless has not: why, and what to use. Asking for one says so."""

from __future__ import annotations

import sys

from tapeless.transforms.errors import TapelessError

MEMORY = "arrays are NumPy's, in the memory of the machine"
SHARDS = f"{MEMORY}: x.sharding and x.addressable_shards say which part belongs to which device"
INSIDE = "it is part of the inside of JAX; ours is described in docs/design.md"
XLA = "it speaks to XLA, which is not used"
LOGS = "use log_compiles, jit(f).compilations, or profiler.trace"
OUTSIDE = "functions of other languages are called by pure_callback"
SMALL = "NumPy has no dtypes of this kind"
PRIMITIVES = "there are no primitives: operations are those of NumPy"
KERNELS = "it is for kernels of accelerators: write array code, or loops, and use jit"
DTYPES = "dtypes are those of the arrays; the setting tapeless.enable_x64 changes nothing"
PROCESS = "JAX has given it up: use process_index and process_count"

REASONS: dict[str, dict[str, str]] = {
    "tapeless": {
        "PartitionSpec": SHARDS,
        "ad": INSIDE,
        "allow_f16_reductions": "sums are done in the dtype that NumPy does them in",
        "api_util": INSIDE,
        "array_garbage_collection_guard": "arrays are freed when nothing refers to them",
        "auto_pcast": "types of values do not say over which axes they vary",
        "core": INSIDE,
        "custom_batching": "vmap has no rules of users; write f in array code for the whole batch",
        "ds": "it is for Pallas; slices of known length are x[i : i + n]",
        "explain_cache_misses": LOGS,
        "extend": INSIDE,
        "export": "f.source() is a module that runs by itself, with NumPy (and Numba)",
        "ffi": OUTSIDE,
        "float0": "cotangents of integers are floats that are 0; dtypes.float0 is the name",
        "host_count": PROCESS,
        "host_id": PROCESS,
        "host_ids": PROCESS,
        "interpreters": INSIDE,
        "jax2tf_associative_scan_reductions": "it is for TensorFlow",
        "lib": INSIDE,
        "make_array_from_process_local_data": SHARDS,
        "make_user_context": "what a program is staged for is found by itself: types, values that "
        "are read from outside",
        "memory": MEMORY,
        "monitoring": LOGS,
        "no_execution": "to stage without running, use eval_shape, make_jaxpr or f.stages(...)",
        "print_environment_info": "use the command `tapeless doctor`",
        "remove_size_one_mesh_axis_from_type": SHARDS,
        "smap": SHARDS,
        "softmax_custom_jvp": "nn.softmax has the derivative that JAX's has by default",
        "thread_guard": "any thread may call any function",
        "version": "tapeless.__version__ has it",
    },
    "tapeless.checkpoint_policies": {
        "offload_dot_products_to_host": "JAX has given it up: use offload_dot_with_no_batch_dims"
    },
    "tapeless.debug": {
        "DebugEffect": INSIDE,
        "OrderedDebugEffect": INSIDE,
        "inspect_array_sharding": SHARDS,
        "visualize_array_sharding": SHARDS,
        "visualize_sharding": SHARDS,
    },
    "tapeless.profiler": {
        **dict.fromkeys(
            ("ProfileData", "ProfileEvent", "ProfilePlane"),
            "trace.json is a JSON file: json.load reads it",
        ),
        "ProfileOptions": "there is one way to trace",
        "register_subprocess": "each process traces itself",
        "start_server": "there is no server: use trace, start_trace and stop_trace",
        "stop_server": "there is no server: use trace, start_trace and stop_trace",
    },
    "tapeless.dtypes": {
        "bfloat16": SMALL,
        "extended": "keys of random are arrays of two uint32 words",
        "prng_key": "keys of random are arrays of two uint32 words",
    },
    "tapeless.tree_util": {
        "default_registry": "the registry is optree's; the functions of this module use it",
    },
    "tapeless.errors": {
        "JAXIndexError": "what NumPy raises: IndexError",
        "JaxprTypeError": INSIDE,
    },
    "tapeless.custom_derivatives": dict.fromkeys(
        (
            "CustomVJPPrimal",
            "SymbolicZero",
            "custom_vjp_primal_tree_values",
            "zero_from_primal",
        ),
        "rules get numbers and arrays: tangents that are zero are arrays of zeros",
    )
    | dict.fromkeys(
        ("custom_jvp_call_p", "custom_vjp_call_p", "remat_opt_p"),
        PRIMITIVES,
    )
    | {"linear_call": "use custom_vjp, or linear_transpose"},
    "tapeless.sharding": dict.fromkeys(
        (
            *("AbstractDevice", "AbstractMesh", "ManualAxisType", "auto_axes", "explicit_axes"),
            *("get_abstract_mesh", "use_abstract_mesh"),
        ),
        "types of values do not say how arrays are laid out: use set_mesh and NamedSharding",
    ),
    "tapeless.ref": {"AbstractRef": INSIDE},
    "tapeless.random": {"random_gamma_p": PRIMITIVES},
    "tapeless.nn": dict.fromkeys(
        ("get_scaled_dot_general_config", "scaled_dot_general", "scaled_matmul"),
        "there are no dtypes of 8 bits that need scales; scale and use lax.dot_general",
    ),
    "tapeless.ad_checkpoint": {
        **dict.fromkeys(
            ("Offloadable", "Recompute", "Saveable"),
            "policies are those of checkpoint_policies: they are not asked about primitives",
        ),
        "print_saved_residuals": "vjp(f, x)[1].source() shows what is saved",
    },
    "tapeless.stages": {
        "CompilerOptions": XLA,
    },
    "tapeless.experimental.checkify": {
        "ErrorCategory": "categories are the members of user_checks, nan_checks and their like",
        "init_error": INSIDE,
    },
    "tapeless.experimental.mesh_utils": {
        "create_hybrid_device_mesh": "use create_device_mesh, or make_mesh",
        "device_kind_handler_dict": XLA,
    },
    "tapeless.experimental": {
        "EArray": INSIDE,
        "array_serialization": "use tapeless.checkpoint_io",
        "buffer_callback": OUTSIDE,
        "colocated_python": SHARDS,
        "compilation_cache": "config.update('jax_compilation_cache_dir', path) says where it is",
        "compute_on": "there are the cores of this machine",
        "control_deps": "effects happen in the order of the program",
        "cur_qdd": INSIDE,
        "custom_partitioning": SHARDS,
        "disable_x64": DTYPES,
        "enable_x64": DTYPES,
        "fused": XLA,
        "hijax": INSIDE,
        "host_callback": "JAX has given it up: use pure_callback, io_callback, or debug.callback",
        "jax2tf": "f.source() is a module that runs by itself, with NumPy (and Numba)",
        "key_reuse": "debug_key_reuse says where a key is used twice",
        "layout": MEMORY,
        "maps": "JAX has given it up: use shard_map, or vmap with axis_name",
        "mosaic": KERNELS,
        "multihost_utils": "processes meet in pmap and shard_map: use lax.all_gather and lax.psum",
        "pallas": KERNELS,
        "pjit": "JAX has given it up: use jit, or shard_map",
        "primal_tangent_dtype": INSIDE,
        "profiler": XLA,
        "random": "keys are explicit: use tapeless.random",
        "rnn": "it is for cuDNN: write the cell, and use lax.scan",
        "roofline": "use tapeless.profiler",
        "scheduling_groups": XLA,
        "serialize_executable": "compiled code is kept on disk by itself, and found again",
        "shard_alike": SHARDS,
        "source_mapper": "lines of f.source() say which line of the function they come from",
        "sparse": "NumPy has no sparse arrays: keep values and indices, and use ops.segment_sum "
        "or x.at[i].add; scipy.sparse.linalg has solvers that take functions",
        "topologies": XLA,
        "transfer": MEMORY,
        "xla_metadata": XLA,
    },
}


class MissingNameError(TapelessError, AttributeError):
    """A name of JAX that is not here."""


class MissingModuleError(TapelessError, ModuleNotFoundError):
    """A module of JAX that is not here."""


def refuse_module(full_name: str) -> None:
    """Says why there is no module of this name, where its package knows that."""
    parent, _, name = full_name.rpartition(".")
    try:
        getattr(sys.modules.get(parent), name)
    except AttributeError as e:
        if isinstance(e, TapelessError):
            raise MissingModuleError(e.problem, e.hint) from None


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module does not have."""
    reason = REASONS.get(module, {}).get(name)
    if reason is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return MissingNameError(f"{module}.{name} does not exist: {reason}")
