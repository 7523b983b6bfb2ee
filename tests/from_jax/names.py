"""The public names of JAX 0.10, as they are kept in names.json.

`python -m tests.from_jax.names` writes that file anew, where JAX is installed.
"""

import importlib
import json
import pkgutil
import types
import warnings
from pathlib import Path

FILE = Path(__file__).with_name("names.json")
PARTS = {  # modules among the names of a module
    "jax": "custom_batching custom_derivatives debug distributed dlpack dtypes errors "
    "example_libraries experimental export ffi flatten_util image interpreters lax monitoring nn "
    "numpy ops profiler random scipy sharding stages test_util tree tree_util typing",
    "jax.numpy": "fft linalg",
    "jax.lax": "linalg",
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
    found = {module: " ".join(names) for module, names in installed().items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
