"""Programs on a GPU: the real CuPy where there is one, else the stand-in with emulated kernels."""

import importlib.util
import shutil
import sys

import pytest

from tapeless.backends.cuda import availability, errors, graphs, launch, memory
from tests.gpu import cupy_cuda, cupy_stand_in
from tests.gpu.cupy_arrays import COUNTERS, STATE

#: One for all tests: classes over CuPy's array are made once.
STAND_IN = cupy_stand_in.modules()
#: Where kernels note errors: those of functions that an earlier test has compiled, too.
WORDS, CHUNKS = [], []


def real_gpu() -> bool:
    """Whether CuPy is installed and sees a device."""
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy  # noqa: PLC0415  # an optional package

    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


REAL = real_gpu()


def installed(patch):
    """Puts the stand-in in the place of CuPy, with no program or error left of before."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("cupy", "cupyx")]:
        patch.delitem(sys.modules, name)
    for name, module in STAND_IN.items():
        patch.setitem(sys.modules, name, module)
    for _, chunk in CHUNKS:
        chunk[:, 0] = errors.NONE
    patch.setattr(errors, "_words", WORDS)
    patch.setattr(errors, "_chunks", CHUNKS)
    patch.setattr(launch, "ARRAYS", set())
    patch.setattr(cupy_cuda.MACHINE, "devices", 1)
    patch.setattr(STATE, "device", 0)
    _forget()
    COUNTERS.clear()


@pytest.fixture
def stand_in(monkeypatch):
    """The stand-in, as `cupy`, with its counters `waits`, `launches`, `transfers`."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there: no kernel of CUDA C can be emulated")
    if REAL:
        pytest.skip("a GPU is there: programs run on it, and a process has one CuPy")
    installed(monkeypatch)
    yield COUNTERS
    _forget()


def _forget():
    availability.why_not.cache_clear()
    graphs._copying.cache_clear()
    memory.limit_pool.cache_clear()
    errors.pending.clear()


@pytest.fixture
def gpu(request):
    """A GPU: the real one where there is one. Its value is the module `cupy`."""
    if not REAL:
        request.getfixturevalue("stand_in")
    return sys.modules["cupy"] if not REAL else importlib.import_module("cupy")
