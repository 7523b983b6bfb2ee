"""The package over a driver whose kernels are Python functions."""

import sys

import pytest

from tapeless.backends.cuda import availability, errors, launch, memory
from tests.backends.cuda.fake_driver import Driver


@pytest.fixture
def driver(monkeypatch, tmp_path):
    """A machine with one GPU."""
    made = Driver()
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TAPELESS_POOL_SIZE", raising=False)
    monkeypatch.setitem(sys.modules, "cupy", made.module())
    monkeypatch.setattr(errors, "_words", [])
    monkeypatch.setattr(errors, "_chunks", [])
    monkeypatch.setattr(launch, "ARRAYS", set())
    availability.why_not.cache_clear()
    memory.limit_pool.cache_clear()
    errors.pending.clear()
    yield made
    availability.why_not.cache_clear()
    memory.limit_pool.cache_clear()
    errors.pending.clear()
