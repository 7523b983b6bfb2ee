"""Gives the tests of the examples a way to import a script by its path."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example():
    """A function from the name of an example to its freshly imported module."""

    def load(name):
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def emitted():
    """A function that reads an emitted file, having checked that it is Python that stands alone."""

    def read(path):
        source = path.read_text(encoding="utf-8")
        compile(source, str(path), "exec")
        assert "import tapeless" not in source
        assert "from tapeless" not in source
        return source

    return read
