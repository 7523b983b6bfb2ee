"""The public names of JAX 0.10, as they are kept in names.json, and parameters.json.

`python -m tests.from_jax.names` writes these files anew, where JAX is installed.
"""

import importlib
import inspect
import json
import pkgutil
import types
import warnings
from pathlib import Path

FILE = Path(__file__).with_name("names.json")
PARAMETERS = Path(__file__).with_name("parameters.json")
FUNCTIONS = (  # whose parameters are looked at
    "checkpoint closure_convert custom_jvp custom_vjp device_get device_put eval_shape grad "
    "hessian "
    "jacfwd jacobian jacrev jit jvp linear_transpose linearize make_jaxpr named_call pmap "
    "pure_callback value_and_grad vjp vmap"
)
PARTS = {  # modules among the names of a module
    "jax": "ad_checkpoint api_util checkpoint_policies core custom_batching custom_derivatives "
    "debug distributed dlpack dtypes errors "
    "example_libraries experimental export extend ffi flatten_util image interpreters lax lib "
    "memory "
    "monitoring nn numpy ops profiler random ref scipy sharding stages test_util tree tree_util "
    "typing version",
    "jax.scipy": "cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial "
    "special stats",
    "jax.numpy": "fft linalg",
    "jax.lax": "linalg",
    "jax.experimental": "array_serialization buffer_callback checkify colocated_python "
    "compilation_cache compute_on control_deps custom_partitioning fused hijax host_callback "
    "jax2tf jet key_reuse layout maps mesh_utils mosaic multihost_utils ode pallas pjit profiler "
    "random rnn roofline scheduling_groups serialize_executable shard_alike shard_map "
    "source_mapper sparse topologies transfer xla_metadata",
    "jax.nn": "initializers",
}
IMPORTED = ("annotations",)  # no names of their own


def kept():
    """{module of JAX: its names}."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {module: names.split() for module, names in found.items()}


def installed():
    """The same for the JAX that is installed."""
    return {module: list(names_of(module)) for module in modules()}


def parameters_kept():
    """{function of jax: its parameters}."""
    found = json.loads(PARAMETERS.read_text(encoding="utf-8"))
    return {name: text.split() for name, text in found.items()}


def parameters_installed():
    """The same for the JAX that is installed."""
    jax = importlib.import_module("jax")
    return {
        name: [
            p.name
            for p in inspect.signature(getattr(jax, name)).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        for name in FUNCTIONS.split()
    }


def modules():
    stats = importlib.import_module("jax.scipy.stats")
    distributions = {f"jax.scipy.stats.{m.name}" for m in pkgutil.iter_modules(stats.__path__)}
    return sorted({*kept(), *distributions})


def names_of(name):
    module = importlib.import_module(name)
    parts = PARTS.get(name, "").split()
    for each in sorted({*dir(module), *parts}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            value = getattr(module, each, None)
        if each.startswith("_") or each in IMPORTED:
            continue
        if isinstance(value, types.ModuleType) and each not in parts:
            continue
        foreign = callable(value) and getattr(value, "__module__", name) != name
        if not (foreign and name.startswith("jax.example_libraries")):
            yield each


if __name__ == "__main__":
    for path, listed in ((FILE, installed()), (PARAMETERS, parameters_installed())):
        text = json.dumps({name: " ".join(names) for name, names in listed.items()}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
