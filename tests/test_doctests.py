"""Every example in a docstring of the installed package runs."""

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = [
    "tapeless",
    "tapeless.backends",
    "tapeless.example_libraries",
    "tapeless.experimental",
    "tapeless.lax",
    "tapeless.nn",
    "tapeless.numpy",
    "tapeless.ops",
    "tapeless.optimizers",
    "tapeless.profiler",
    "tapeless.random",
    "tapeless.scipy",
    "tapeless.scipy.cluster",
    "tapeless.scipy.linalg",
    "tapeless.scipy.sparse",
    "tapeless.scipy.spatial",
    "tapeless.scipy.stats",
    "tapeless.stax",
    "tapeless.tools",
    "tapeless.transforms",
    "tapeless.transforms.core",
    "tapeless.transforms.frontend",
    "tapeless.transforms.ops",
    "tapeless.transforms.written",
]
MODULES = sorted(
    {
        *PACKAGES,
        *(
            found.name
            for package in PACKAGES
            for found in pkgutil.iter_modules(
                importlib.import_module(package).__path__, f"{package}."
            )
        ),
    }
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    # Examples are users' code: under the name of one of our modules they would not be staged.
    failed, _ = doctest.testmod(
        importlib.import_module(name),
        extraglobs={"__name__": "__main__"},
        optionflags=doctest.ELLIPSIS,
    )
    assert not failed


def test_every_package_is_looked_at():
    found = {m.name for m in pkgutil.iter_modules(importlib.import_module("tapeless").__path__)}
    assert {"tree", "functions"} <= found
    assert {"tapeless.transforms.jvp", "tapeless.tree", "tapeless.transforms.core.dims"} <= set(
        MODULES
    )
