"""Every example in a docstring of the installed package runs."""

import doctest
import importlib
import pkgutil

import pytest

import tapeless

MODULES = ["tapeless", *(m.name for m in pkgutil.walk_packages(tapeless.__path__, "tapeless."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed
