"""What all tests share: a cache folder of their own, fixed seeds, and goldens of emitted source."""

import collections
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
PARTS = 6  # into which the cases of a test are divided
CACHE = pytest.StashKey[tempfile.TemporaryDirectory]()

# Before any other file of tests imports tapeless, which reads them then.
os.environ.setdefault("TAPELESS_CHECK", "1")  # programs are checked after each pass
os.environ.setdefault("TAPELESS_STRICT", "1")  # what is staged for all values stays so

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--refresh-goldens", action="store_true", help="write the goldens instead of comparing"
    )
    parser.addoption(
        "--part",
        choices=(*map(str, range(1, PARTS + 1)), "all"),
        default="1",
        help=f"which of {PARTS} parts of the cases of each test with many runs",
    )


def pytest_configure(config):
    folder = config.stash[CACHE] = tempfile.TemporaryDirectory(prefix="tapeless-tests-")
    os.environ["TAPELESS_CACHE_DIR"] = folder.name
    gc.set_threshold(50_000, 20, 20)  # tests make millions of objects that stay


def pytest_collection_modifyitems(config, items):
    """Of a test with many cases, one part of them runs, chosen by their names, unless a file is
    named, all are asked for, or each case is a promise of its own (marked `every_case`)."""
    part = config.getoption("--part")
    if part == "all" or config.args != config.getini("testpaths"):
        return
    cases = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("every_case") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out = {
        item
        for several in cases.values()
        if len(several) > 3
        for place, item in enumerate(sorted(several, key=_by_name))
        if place % PARTS != int(part) - 1
    }
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def _by_name(item):
    """An order that has nothing to do with that of the cases, and is the same in all runs."""
    return zlib.crc32(item.nodeid.encode()), item.nodeid


def pytest_runtest_teardown(item, nextitem):
    """What earlier files have left is not looked at again by the collector of garbage."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


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
