"""The memory of objects is as compiled code reads it; other builds are refused."""

import numpy as np
import pytest

from tapeless.backends.cpu import load
from tapeless.backends.cpu.runtime import linking, struct_offsets
from tapeless.transforms.errors import UnsupportedError
from tests.backends.cpu.text import HEAD


def test_this_build_is_as_expected():
    struct_offsets.check()


@pytest.mark.parametrize(
    "name", ["TYPE", "NDIM", "FLAGS", "TYPE_NUMBER", "BYTE_ORDER", "VALUE", "DATA", "DESCR"]
)
def test_other_builds_are_refused_before_code_runs(name, monkeypatch):
    monkeypatch.setattr(struct_offsets, name, getattr(struct_offsets, name) + 8)
    linking.introduce.cache_clear()
    f = load("f", HEAD + "@njit\ndef f(x):\n    return x[0]\n")
    with pytest.raises(UnsupportedError, match="this build of Python or NumPy"):
        f(np.ones(3))
