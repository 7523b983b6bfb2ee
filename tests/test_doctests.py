"""Every example in a docstring of the installed package runs."""

import doctest
import importlib
import pkgutil

import pytest

import tapeless

MODULES = sorted(
    {"tapeless", *(m.name for m in pkgutil.walk_packages(tapeless.__path__, "tapeless."))}
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
    assert {"tapeless.transforms.autodiff.jvp", "tapeless.tree"} <= set(MODULES)
