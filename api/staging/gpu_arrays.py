"""Extends CuPy's arrays by what JAX's arrays can do, for those that `device_put` and programs give.

CuPy's functions take them as they are. The class is made when the first one is: CuPy is imported
then.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.backends import cuda
from tapeless.lazy_import import lazy_module
from tapeless.staging import device_placement as layouts
from tapeless.staging.device_list import Device, device_get
from tapeless.staging.jax_arrays import Array
from tapeless.transforms.core.on_gpu import on_gpu

if TYPE_CHECKING:
    from tapeless.staging import gpu_updates as updates
else:
    updates = lazy_module("tapeless.staging.gpu_updates")

OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
#: Methods that give arrays.
METHODS = (
    *("sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "trace"),
    *("cumsum", "cumprod", "dot", "clip", "round", "conj", "conjugate", "sort", "argsort"),
    *("astype", "copy", "ravel", "flatten", "reshape", "transpose", "swapaxes", "squeeze"),
    *("take", "repeat", "diagonal", "compress", "choose", "partition", "argpartition"),
    "__getitem__",
)
#: Methods that give the host a value, and wait for it.
WAITING = (
    *("__float__", "__int__", "__complex__", "__bool__", "__index__"),
    *("item", "tolist", "tobytes", "get"),
)


class Mixin:
    """What the class has beside CuPy's."""

    functional = True  # `x += v` gives x a new array, also while staging
    weak_type = False
    committed = True
    is_fully_addressable = is_fully_replicated = True

    @property
    def at(self) -> Any:
        """`x.at[key].set(v)` is a changed copy, made on the device; also add, subtract, multiply,
        divide, power, min, max, apply and get."""
        return updates.GpuUpdateAt(self)

    @property
    def device(self) -> Device:
        """The GPU that the array lies on."""
        own: Any = super()
        return Device(int(own.device.id), platform="gpu")

    def devices(self) -> set[Device]:
        """The GPU that the array lies on."""
        return {self.device}

    @property
    def sharding(self) -> Any:
        """The whole array is on one device."""
        return layouts.SingleDeviceSharding(self.device)

    def block_until_ready(self) -> Any:
        """The array, once it is computed; raises what kernels have noted until then."""
        cuda.synchronize(self.device.id)
        return self

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array on another device, as `device_put` gives it."""
        return layouts.device_put(self, device)

    @property
    def addressable_shards(self) -> list[Any]:
        """The array as the one block that there is."""
        whole: Any = self
        return [layouts.Shard(self.device, (slice(None),) * whole.ndim, whole)]

    global_shards = addressable_shards

    def addressable_data(self, index: int) -> Any:
        """The block of a device."""
        return self.addressable_shards[index].data

    def copy_to_host_async(self) -> None:
        """Nothing: `device_get` waits."""

    def is_deleted(self) -> bool:
        """False: arrays live as long as somebody has them."""
        return False

    def on_device_size_in_bytes(self) -> int:
        """The bytes of its elements."""
        own: Any = self
        return int(own.nbytes)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """`np.sin(x)` is CuPy's, on the device; so is `a + x` of an array of NumPy."""
        own: Any = super()
        return as_gpu_arrays(
            own.__array_ufunc__(ufunc, method, *move_beside(self, inputs), **kwargs)
        )

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """`np.stack([x, y])` is CuPy's, on the device."""
        own: Any = super()
        with cuda.device_of([self], None):
            args, kwargs = tree.map(_put_array, (args, kwargs))
        return as_gpu_arrays(own.__array_function__(function, types, args, kwargs))

    def __repr__(self) -> str:
        """As arrays of `tapeless.numpy`; it waits."""
        return repr(device_get(self).view(Array))

    def __round__(self, ndigits: int | None = None) -> Any:
        own: Any = self
        return round(float(own)) if ndigits is None else own.round(ndigits)


def _replacing(name: str) -> Any:
    plain = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def method(self: Any, other: Any) -> Any:
        return plain(self, other)

    return method


def _ours(name: str, base: Any) -> Any:
    """An operator or a method whose result is an array of our class."""
    run = getattr(base, name)

    def method(self: Any, *others: Any, **kwargs: Any) -> Any:
        return as_gpu_array(run(self, *move_beside(self, others), **kwargs))

    return functools.update_wrapper(method, run)


def move_beside(x: Any, others: Sequence[Any]) -> Sequence[Any]:
    """Values, of which arrays of the host are put where an array of a GPU lies."""
    if not any(isinstance(y, np.ndarray) for y in others):
        return others
    with cuda.device_of([x], None):
        return [_put_array(y) for y in others]


def _put_array(y: Any) -> Any:
    return cuda.on_device(y) if isinstance(y, np.ndarray) else y


def _waiting(name: str, base: Any) -> Any:
    run = getattr(base, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.block_until_ready()
        return run(self, *args, **kwargs)

    return functools.update_wrapper(method, run)


def gpu_array() -> Any:
    """The class."""
    return _class_over(cuda.cupy().ndarray)


@functools.cache
def _class_over(base: Any) -> Any:
    body = {f"__i{name}__": _replacing(name) for name in OPERATORS}
    computing = [f"__{r}{name}__" for name in (*OPERATORS, "divmod") for r in ("", "r")]
    computing += [f"__{name}__" for name in ("neg", "pos", "abs", "invert", *COMPARISONS)]
    body |= {name: _ours(name, base) for name in (*computing, *METHODS) if hasattr(base, name)}
    body |= {name: _waiting(name, base) for name in WAITING if hasattr(base, name)}
    array_class = type("GpuArray", (Mixin, base), {**body, "__module__": __name__, "__doc__": DOC})
    cuda.ARRAYS.add(array_class)
    return array_class


DOC = """An array on a GPU with `.at`, `.block_until_ready()`, `.device` and their kin.

`x += v` gives `x` a new array, as in JAX: other names of the old one do not see it.
"""


def __getattr__(name: str) -> Any:
    if name == "GpuArray":
        return gpu_array()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def as_gpu_array(x: Any) -> Any:
    """The same memory as an array of our class; other values as they are."""
    return x.view(type=gpu_array()) if on_gpu(x) and not isinstance(x, Mixin) else x


def as_gpu_arrays(value: Any) -> Any:
    """The arrays on GPUs of a tree as those of our class."""
    return as_gpu_array(value) if on_gpu(value) else tree.map(as_gpu_array, value)


def like_arguments(value: Any, leaves: Iterable[Any]) -> Any:
    """The results of a program: arrays of CuPy's own class where that is what the arguments on the
    GPU are, else of ours."""
    kinds = {isinstance(x, Mixin) for x in leaves if on_gpu(x)}
    return value if kinds == {False} else as_gpu_arrays(value)


def put(x: Any, device: Device | None) -> Any:
    """A copy of a number or an array on a GPU; one that lies there already as it is. None is where
    it lies."""
    if device is None:
        return as_gpu_array(x)
    value = x if on_gpu(x) else np.asarray(x)
    with cuda.device_of((), device), cuda.explaining(f"an array of shape {value.shape}"):
        return as_gpu_array(cuda.on_device(value))


def import_shared(x: Any, device: Any, copy: bool | None) -> Any:
    """The array in memory of a GPU that another library has made, by DLPack; elsewhere a copy."""
    imported = as_gpu_array(cuda.cupy().from_dlpack(x))
    if device is not None:
        return layouts.device_put(imported, device)
    return as_gpu_array(imported.copy()) if copy else imported
