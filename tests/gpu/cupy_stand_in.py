"""A module that stands for CuPy on a machine without a GPU: its rules, over memory of the host.

`module()` has the names of CuPy 14.2 and no others (`cupy_names.json`, written by the real one).
It cannot find differences of CuPy's functions from NumPy's in values, dtypes and strides, what they
refuse, nor the order of events on streams.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import scipy.special

from tests.gpu import cupy_cuda
from tests.gpu.cupy_arrays import (
    COUNTERS,
    NAMES,
    STATE,
    computed,
    host_of,
    ndarray,
    on_device,
    recorded,
    refuse_in_capture,
)

OWNERS = {
    "cupy": np,
    "cupy.linalg": np.linalg,
    "cupy.fft": np.fft,
    "cupyx.scipy.special": scipy.special,
}


class errstate:  # noqa: N801  # CuPy's name
    """What factorisations do that fail: CuPy's leave nan, unless they are told to raise."""

    linalg = "ignore"

    def __init__(self, *, linalg: str) -> None:
        self.new = linalg

    def __enter__(self) -> None:
        self.old, errstate.linalg = errstate.linalg, self.new

    def __exit__(self, *_: Any) -> None:
        errstate.linalg = self.old


class StandInFunction:
    """A function of NumPy under CuPy's rules."""

    def __init__(self, run: Any) -> None:
        self.run, self.__name__ = run, getattr(run, "__name__", "?")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if STATE.graph is not None:
            return self.recorded(args, kwargs)
        with np.errstate(all="ignore"):
            out = kwargs.get("out")
            try:
                made = self.run(*map(host_of, args), **{k: host_of(v) for k, v in kwargs.items()})
            except np.linalg.LinAlgError:
                if errstate.linalg == "raise":
                    raise
                made = np.full_like(host_of(args[-1]), np.nan)
            return out if isinstance(out, ndarray) else on_device(made)

    def recorded(self, args: Any, kwargs: Any) -> Any:
        """The result of a call that is recorded: a new array, or a part of an argument."""

        def compute() -> Any:
            with np.errstate(all="ignore"):
                return self.run(*map(host_of, args), **{k: host_of(v) for k, v in kwargs.items()})

        made = compute()
        if isinstance(kwargs.get("out"), ndarray):
            recorded(compute, kwargs["out"]._host)
            return kwargs["out"]
        if not isinstance(made, (np.ndarray, np.generic)):
            refuse_in_capture(f"the stand-in does not record {self.__name__}")
        hosts = [host_of(x) for x in args if isinstance(x, ndarray)]
        if any(np.shares_memory(made, host) for host in hosts):
            return on_device(made)
        out = np.array(made)
        recorded(compute, out)
        return on_device(out)

    def __getattr__(self, name: str) -> Any:
        return StandInFunction(getattr(self.run, name))


def named(module: str, name: str) -> Any:
    """What CuPy has under a name; None if it has nothing."""
    if name not in NAMES.get(module, ()):
        return None
    value = getattr(OWNERS[module], name, None)
    return value if isinstance(value, type) or not callable(value) else StandInFunction(value)


def asarray(x: Any, dtype: Any = None, order: Any = "K", **_: Any) -> Any:
    """An array on the current device. Arrays of the host are copied."""
    if isinstance(x, ndarray):
        same = dtype in (None, x.dtype) and x.device == cupy_cuda.Device()
        return x if same else computed(lambda: np.array(x._host, dtype))
    refuse_in_capture("an array is put on the device")
    COUNTERS.transfers += 1
    host = x if isinstance(x, np.ndarray) else _host_parts(x)
    return on_device(np.array(host, dtype, order=order))


def array(x: Any, dtype: Any = None, **_: Any) -> Any:
    """A copy on the current device."""
    made = asarray(x, dtype)
    return made.copy() if made is x else made


def _host_parts(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_host_parts(part) for part in x]
    return host_of(x)


def asnumpy(x: Any, *_: Any, **__: Any) -> Any:
    """A copy for NumPy. It waits."""
    return x.get() if isinstance(x, ndarray) else np.asarray(x)


def empty(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """New memory, which holds NaN."""
    return ndarray(shape, dtype, order=order)


def empty_like(x: Any, dtype: Any = None, **_: Any) -> Any:
    """New memory as an array has it."""
    return ndarray(x.shape, x.dtype if dtype is None else dtype)


def ascontiguousarray(x: Any, dtype: Any = None) -> Any:
    """The array if it lies row by row, else a copy."""
    if isinstance(x, ndarray) and x.flags.c_contiguous and dtype in (None, x.dtype):
        return x
    return computed(lambda: np.ascontiguousarray(host_of(x), dtype))


def from_dlpack(x: Any) -> Any:
    """An array over the memory of another library's."""
    return x.view(type=ndarray) if isinstance(x, ndarray) else on_device(np.from_dlpack(x))


OWN = {
    "newaxis": None,
    "ndarray": ndarray,
    "asarray": asarray,
    "array": array,
    "asnumpy": asnumpy,
    "empty": empty,
    "empty_like": empty_like,
    "ascontiguousarray": ascontiguousarray,
    "from_dlpack": from_dlpack,
    "RawModule": cupy_cuda.RawModule,
    "RawKernel": cupy_cuda.RawKernel,
    "get_default_memory_pool": lambda: cupy_cuda.POOL,
}


def _module(name: str) -> Any:
    made = types.ModuleType(name)

    def missing(attribute: str) -> Any:
        found = named(name, attribute)
        if found is None:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        return found

    made.__getattr__ = missing  # type: ignore[method-assign]
    return made


def modules() -> dict[str, Any]:
    """What `sys.modules` is to hold."""
    found = {name: _module(name) for name in OWNERS}
    cupy = found["cupy"]
    vars(cupy).update(OWN)
    cupy.__version__ = NAMES["version"]
    cupy.linalg, cupy.fft = found["cupy.linalg"], found["cupy.fft"]
    cupy.cuda = found["cupy.cuda"] = cupy_cuda.namespace()
    for name in ("cupyx", "cupyx.scipy"):
        found[name] = types.ModuleType(name)
    found["cupyx"].scipy = found["cupyx.scipy"]
    found["cupyx"].errstate = errstate
    found["cupyx.scipy"].special = found["cupyx.scipy.special"]
    return found
