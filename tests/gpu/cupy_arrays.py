"""Arrays of the stand-in for CuPy: memory of the host that NumPy's functions cannot read.

CuPy's rules hold: results without axes are arrays, indices wrap around, and of a store to one place
several times the first wins (in CuPy any may). `float(x)`, `x.get()` and the like wait.
"""

from __future__ import annotations

import json
import operator
import threading
from pathlib import Path
from typing import Any

import numpy as np

NAMES = json.loads(Path(__file__).with_name("cupy_names.json").read_text(encoding="utf-8"))
REFUSED = (
    "Implicit conversion to a NumPy array is not allowed. "
    "Please use `.get()` to construct a NumPy array explicitly."
)
ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
#: Methods whose results share memory with the array, and are of its class.
VIEWS = frozenset({"reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal"})


class CUDARuntimeError(RuntimeError):
    """CuPy's."""


class State(threading.local):
    """What is current in a thread. `graph` has what is recorded, if launches are."""

    device = 0
    graph: list[Any] | None = None
    allocator: Any = None


STATE = State()


class Counters:
    """What programs have asked of the device."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begins again."""
        self.waits = self.transfers = self.allocated = 0
        self.computed = 0  # bytes of new arrays that functions of CuPy have filled
        self.launches: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []


COUNTERS = Counters()


def refuse_in_capture(what: str) -> None:
    """Raises CUDA's error where launches are recorded: nothing may wait, or read from the host."""
    if STATE.graph is not None:
        raise CUDARuntimeError(f"cudaErrorStreamCaptureUnsupported: {what}")


def recorded(run: Any, out: np.ndarray) -> None:
    """What a function of CuPy does, which a graph does again. Where it is recorded its result is
    not there yet."""
    if STATE.graph is not None:
        STATE.graph.append(lambda: out.__setitem__(..., run()))
        _bytes_of(out).fill(0xFF)


def computed(run: Any, place: int | None = None) -> Any:
    """The result of a function that fills a new array, or gives a part of one."""
    out = np.asarray(run())
    if out.base is None:
        recorded(run, out)
    return on_device(out, place)


def data_pointer(host: np.ndarray) -> Any:
    """Where an array begins, as CuPy says it."""
    return MemoryPointer(UnownedMemory(host.ctypes.data, host.nbytes, host, STATE.device), 0)


class UnownedMemory:
    """Memory of somebody else."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self.owner, self.device_id = ptr, size, owner, device_id


class MemoryPointer:
    """A place in memory."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset


class ndarray:  # noqa: N801  # CuPy's name
    """An array whose elements only kernels and functions of the stand-in touch."""

    __array_priority__ = 100

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> None:
        self.nowhere = memptr is not None and memptr.ptr == 0
        if memptr is None or self.nowhere:
            host = np.empty(shape, dtype, order)
            if host.dtype != bool:  # new memory holds NaN
                _bytes_of(host).fill(0xFF)
            COUNTERS.allocated += 0 if self.nowhere else host.nbytes
            if STATE.allocator is not None and not self.nowhere:
                STATE.allocator(host.nbytes)
        else:
            host = np.ndarray(shape, dtype, memptr.mem.owner, strides=strides)
        self._host, self._place, self.base = host, STATE.device, None

    @classmethod
    def over(cls, host: np.ndarray, place: int | None = None, base: Any = None) -> ndarray:
        """An array over memory of the host."""
        self = cls.__new__(cls)
        self._host, self.base, self.nowhere = host, base, False
        self._place = STATE.device if place is None else place
        return self

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    strides = property(lambda self: self._host.strides)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    flags = property(lambda self: self._host.flags)
    _c_contiguous = property(lambda self: self._host.flags.c_contiguous)
    T = property(lambda self: self._view(self._host.T))
    real = property(lambda self: self._view(self._host.real))
    imag = property(lambda self: self._view(self._host.imag))

    @property
    def data(self) -> Any:
        """Where it begins."""
        if self.nowhere:
            return MemoryPointer(UnownedMemory(0, 0, None), 0)
        return data_pointer(self._host)

    @property
    def device(self) -> Any:
        """The device that it lies on."""
        from tests.gpu.cupy_cuda import Device  # noqa: PLC0415  # which is over these arrays

        return Device(self._place)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = dict(self._host.__array_interface__)
        return {**interface, "version": 3, "stream": 1}

    def _view(self, host: np.ndarray) -> Any:
        return type(self).over(host, self._place, self)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(REFUSED)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from tests.gpu.cupy_stand_in import named  # noqa: PLC0415  # which is over these arrays

        run = named("cupy", ufunc.__name__) or named("cupyx.scipy.special", ufunc.__name__)
        if run is None:
            return NotImplemented
        return (run if method == "__call__" else getattr(run, method))(*inputs, **kwargs)

    def __array_function__(self, func: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        from tests.gpu.cupy_stand_in import named  # noqa: PLC0415  # which is over these arrays

        run = named(func.__module__.replace("numpy", "cupy", 1), func.__name__)
        return NotImplemented if run is None else run(*args, **kwargs)

    def __dlpack__(self, **_: Any) -> Any:
        return self._host.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._place  # of CUDA

    def get(self, *_: Any, **__: Any) -> np.ndarray:
        """A copy for NumPy. It waits."""
        refuse_in_capture("an array is read")
        COUNTERS.waits += 1
        COUNTERS.transfers += 1
        return self._host.copy()

    def set(self, value: np.ndarray, *_: Any, **__: Any) -> None:
        """Copies an array of NumPy into this one."""
        refuse_in_capture("an array is set")
        COUNTERS.transfers += 1
        self._host[...] = value

    def item(self, *key: Any) -> Any:
        return self.get().item(*key)

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        return self.get().tobytes(order)

    def view(self, dtype: Any = None, type: Any = None) -> Any:  # noqa: A002  # CuPy's name
        """The same memory as of another dtype or class."""
        host = self._host if dtype is None else self._host.view(dtype)
        made = (type or self.__class__).over(host, self._place, self)
        made.nowhere = self.nowhere
        return made

    def copy(self, order: str = "C") -> Any:
        """A copy on the current device."""
        return computed(lambda: self._host.copy(order))

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, key: Any) -> Any:
        places = wrapped(key, self._host.shape)
        host = np.asarray(self._host[places])
        if host.base is not None:
            return self._view(host)
        return computed(lambda: np.asarray(self._host[places]).copy(), self._place)

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = wrapped(key, self._host.shape), host_of(value)
        parts = key if isinstance(key, tuple) else (key,)
        if not any(_is_index_array(k) for k in parts):
            if STATE.graph is not None:
                STATE.graph.append(lambda: self._host.__setitem__(key, value))
                return
            self._host[key] = value
            return
        refuse_in_capture("the stand-in records no stores by indices")
        places = np.arange(self._host.size).reshape(self._host.shape)[key]
        values = np.broadcast_to(value, places.shape)
        self._host.flat[places.ravel()[::-1]] = values.ravel()[::-1]  # the first one wins

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in NAMES["ndarray"]:
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        run = getattr(self._host, name)
        if not callable(run):
            return on_device(run, self._place)

        def method(*args: Any, **kwargs: Any) -> Any:
            def compute() -> Any:
                return run(*map(host_of, args), **{k: host_of(v) for k, v in kwargs.items()})

            made = compute()
            if name in VIEWS:
                return self._view(made)
            return computed(compute, self._place) if STATE.graph else on_device(made, self._place)

        return method


def _method(name: str) -> Any:
    """A method of CuPy's that does what NumPy's does."""

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return ndarray.__getattr__(self, name)(*args, **kwargs)

    return method


for _name in NAMES["ndarray"]:  # in the class, where a class over it looks for them
    if callable(getattr(np.ndarray, _name, None)) and not (
        _name[0] == "_" or hasattr(ndarray, _name)
    ):
        setattr(ndarray, _name, _method(_name))


def _bytes_of(host: np.ndarray) -> np.ndarray:
    return host.reshape(-1, order="A").view(np.uint8)


def _is_index_array(key: Any) -> bool:
    return isinstance(key, np.ndarray) and key.dtype.kind in "iu"


def wrapped(key: Any, shape: tuple[int, ...]) -> Any:
    """A key for NumPy, whose places wrap around. Bounds of slices are read from the device."""
    axis, parts = 0, []
    for k in key if isinstance(key, tuple) else (key,):
        part = k._host if isinstance(k, ndarray) else np.asarray(k) if isinstance(k, list) else k
        if isinstance(k, slice):  # it takes what `int` takes, though arrays are no indices
            part = slice(*(x if x is None else int(x) for x in (k.start, k.stop, k.step)))
        if _is_index_array(part):
            part = part % max(1, shape[axis])
        axis += part is not None
        parts.append(part)
    return tuple(parts) if isinstance(key, tuple) else parts[0]


def host_of(x: Any) -> Any:
    """What NumPy works on for an argument. Raises TypeError for NumPy's arrays, as CuPy does."""
    if isinstance(x, ndarray):
        return x._host
    if isinstance(x, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return type(x)(map(host_of, x)) if type(x) in (list, tuple) else x


def on_device(x: Any, place: int | None = None) -> Any:
    """A result of NumPy as one of CuPy."""
    if isinstance(x, (np.ndarray, np.generic)):
        x = np.asarray(x)
        size = x.nbytes if x.base is None else 0
        COUNTERS.allocated += size
        COUNTERS.computed += size
        return ndarray.over(x, place)
    if isinstance(x, tuple):
        made = [on_device(part, place) for part in x]
        return type(x)(*made) if hasattr(x, "_fields") else tuple(made)
    return [on_device(part, place) for part in x] if type(x) is list else x


def _define_operators() -> None:
    """The operators, also reflected and in place."""
    for name in (*ARITHMETIC, *COMPARISONS):
        run = getattr(operator, f"{name}_" if name in ("and", "or") else name)

        def method(self: Any, other: Any, run: Any = run) -> Any:
            return computed(lambda: run(self._host, host_of(other)), self._place)

        def reflected(self: Any, other: Any, run: Any = run) -> Any:
            return computed(lambda: run(host_of(other), self._host), self._place)

        def in_place(self: Any, other: Any, run: Any = run) -> Any:
            self[...] = computed(lambda: run(self._host, host_of(other)), self._place)
            return self

        setattr(ndarray, f"__{name}__", method)
        if name not in COMPARISONS:
            setattr(ndarray, f"__r{name}__", reflected)
            setattr(ndarray, f"__i{name}__", in_place)
    for name in ("neg", "abs", "invert", "pos"):
        run = getattr(operator, name)
        setattr(ndarray, f"__{name}__", lambda self, run=run: computed(lambda: run(self._host)))


_define_operators()
