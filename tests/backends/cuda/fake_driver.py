"""A driver whose kernels are Python functions: CuPy's part in loading and launching, for tests.

`driver.kernels["f_kernel"] = run` says that `run(grid, block, args, shared)` is called when the
kernel is launched. It stands for the names and signatures of CuPy, and does no arithmetic.
"""

import types
from contextlib import nullcontext

import numpy as np


class ndarray:  # noqa: N801  # CuPy's name
    """An array that NumPy cannot read."""

    device_now = 0

    def __init__(self, shape, dtype=float, host=None, device=None):
        self.host = np.empty(shape, dtype) if host is None else host
        self.place = ndarray.device_now if device is None else device
        self.base = None

    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    nbytes = property(lambda self: self.host.nbytes)
    itemsize = property(lambda self: self.host.itemsize)
    flags = property(lambda self: self.host.flags)
    _c_contiguous = property(lambda self: self.host.flags.c_contiguous)
    device = property(lambda self: Device(self.place))
    data = property(lambda self: types.SimpleNamespace(ptr=self.host.ctypes.data))
    T = property(lambda self: type(self)(None, host=self.host.T, device=self.place))

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __getitem__(self, key):
        return type(self)(None, host=np.asarray(self.host[key]), device=self.place)

    def __add__(self, other):
        return ndarray(None, host=self.host + getattr(other, "host", other), device=self.place)

    def get(self):
        return self.host.copy()

    def item(self):
        return self.host.item()

    def __float__(self):
        return float(self.host)

    def copy(self):
        return type(self)(None, host=self.host.copy())

    def view(self, dtype=None, type=None):  # noqa: A002  # CuPy's name
        return (type or ndarray)(None, host=self.host, device=self.place)


class Device:
    def __init__(self, device=None):
        self.id = ndarray.device_now if device is None else device
        self.compute_capability = "90"
        self.before = []

    def __enter__(self):
        self.before.append(ndarray.device_now)
        ndarray.device_now = self.id
        return self

    def __exit__(self, *_):
        ndarray.device_now = self.before.pop()


class NVRTCError(Exception):
    pass


class OutOfMemoryError(MemoryError):
    pass


class Stream:
    def __init__(self, driver):
        self.driver = driver

    def synchronize(self):
        self.driver.waits += 1
        pending, self.driver.pending = self.driver.pending, []
        for run in pending:
            run()


class Driver:
    """What the module `cupy` is built on.

    late     whether kernels run when somebody waits, as on a device, or at once
    devices  how many there are
    """

    def __init__(self, devices=1):
        self.kernels, self.launches, self.pending = {}, [], []
        self.compiled, self.waits, self.late, self.devices = [], 0, False, devices
        self.fails_to_compile, self.versions, self.archs = "", (13, 0), (75, 80, 90, 100)

    def launched(self, name, grid, block, args, shared_mem=0):
        self.launches.append((name, grid, block))
        run = self.kernels.get(name, lambda *_: None)
        if self.late:
            self.pending.append(lambda: run(grid, block, args, shared_mem))
        else:
            run(grid, block, args, shared_mem)

    def module(self):
        """The module `cupy`."""
        driver, programs = self, {}

        def create(text, name, headers, includes):
            programs[len(programs)] = text
            return len(programs) - 1

        def compile_(program, options):
            driver.compiled.append((programs[program], options))
            if driver.fails_to_compile:
                raise NVRTCError("NVRTC_ERROR_COMPILATION")

        class Module:
            def load(self, code):
                self.code = code

            def get_function(self, name):
                return lambda *args, **kwargs: driver.launched(name, *args, **kwargs)

        nvrtc = types.SimpleNamespace(
            NVRTCError=NVRTCError,
            getVersion=lambda: driver.versions,
            getSupportedArchs=lambda: driver.archs,
            createProgram=create,
            compileProgram=compile_,
            getProgramLog=lambda program: driver.fails_to_compile,
            getCUBIN=lambda program: b"machine code of " + programs[program].encode(),
            destroyProgram=lambda program: None,
        )
        runtime = types.SimpleNamespace(
            getDevice=lambda: ndarray.device_now,
            getDeviceCount=lambda: driver.devices,
            getDeviceProperties=lambda k: {"name": b"NVIDIA Test"},
            memGetInfo=lambda: (6 * 10**9, 10 * 10**9),
            driverGetVersion=lambda: 13000,
            runtimeGetVersion=lambda: 13000,
        )
        self.pool = types.SimpleNamespace(
            limits=[],
            used_bytes=lambda: 10**9,
            total_bytes=lambda: 3 * 10**9,
            set_limit=lambda **limit: self.pool.limits.append((ndarray.device_now, limit)),
        )
        cupy = types.ModuleType("cupy")
        cupy.cuda = types.SimpleNamespace(
            Device=Device,
            nvrtc=nvrtc,
            runtime=runtime,
            function=types.SimpleNamespace(Module=Module),
            memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            alloc_pinned_memory=bytearray,
            get_current_stream=lambda: Stream(driver),
            Stream=nullcontext,
        )
        cupy.ndarray = ndarray
        cupy.empty = ndarray
        cupy.dtype = np.dtype
        cupy.float64, cupy.float32, cupy.uint64 = np.float64, np.float32, np.uint64
        cupy.asarray = asarray
        cupy.from_dlpack = lambda x: x
        cupy.ascontiguousarray = lambda x: type(x)(None, host=np.ascontiguousarray(x.host))
        cupy.get_default_memory_pool = lambda: self.pool
        return cupy


def asarray(x, dtype=None, order="C"):
    return x if isinstance(x, ndarray) else ndarray(None, host=np.array(x, dtype))
