"""Every example in a docstring of the installed package runs."""

import doctest
import importlib
import pkgutil

import pytest

import tapeless
import tapeless.backends
import tapeless.tools
import tapeless.transforms

pytestmark = pytest.mark.every_case

#: Each of these is a folder of its own where the package is installed from a checkout.
PACKAGES = (tapeless, tapeless.transforms, tapeless.backends, tapeless.tools)
MODULES = sorted(
    {
        *(package.__name__ for package in PACKAGES),
        *(
            module.name
            for package in PACKAGES
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
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
    assert {"tapeless.transforms.autodiff.jvp", "tapeless.tree"} <= set(MODULES)
