"""What all tests share: a cache folder of their own, fixed seeds, and goldens of emitted source."""

import gc
import os
import random
import tempfile
import warnings
import zlib
from pathlib import Path

import hypothesis
import numpy as np
import pytest

GOLDENS = Path(__file__).parent / "goldens"
CACHE = pytest.StashKey[tempfile.TemporaryDirectory]()

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--refresh-goldens", action="store_true", help="write the goldens instead of comparing"
    )
    parser.addoption(
        "--all-combinations", action="store_true", help="run all tests that are products of lists"
    )


def pytest_configure(config):
    folder = config.stash[CACHE] = tempfile.TemporaryDirectory(prefix="tapeless-tests-")
    os.environ["TAPELESS_CACHE_DIR"] = folder.name
    os.environ.setdefault("TAPELESS_CHECK", "1")  # programs are checked after each pass
    os.environ.setdefault("TAPELESS_STRICT", "1")  # what is staged for all values stays so


def pytest_collection_modifyitems(config, items):
    """Of tests that are products (of all programs, or all functions, and all transformations) one
    in three is run, chosen by its name, unless a file is named or all are asked for."""
    if config.getoption("--all-combinations") or config.args != config.getini("testpaths"):
        return
    kept, left_out = [], []
    for item in items:
        sampled = item.get_closest_marker("combinations") is not None
        out = sampled and zlib.crc32(item.nodeid.encode()) % 3 != 0
        (left_out if out else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def pytest_unconfigure(config):
    config.stash[CACHE].cleanup()


@pytest.fixture(autouse=True)
def _seeded():
    random.seed(0)
    np.random.seed(0)


@pytest.fixture
def traced():
    """Inside, what cannot be staged for all values is traced on those of the call, in silence."""
    import tapeless  # noqa: PLC0415  (after the environment is set)

    with tapeless.strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore", tapeless.PerformanceWarning)
        yield


@pytest.fixture
def only_new_objects():
    """Inside, the collector looks at no object of the tests before, of which there are millions."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    return np.random.default_rng(0)


@pytest.fixture
def golden(request):
    """Compare text with tests/goldens/NAME, or write that file with --refresh-goldens."""

    def compare(name, text):
        path = GOLDENS / name
        if request.config.getoption("--refresh-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"{path} is missing: write it with pytest --refresh-goldens and read it")
        assert text == path.read_text(encoding="utf-8")

    return compare
