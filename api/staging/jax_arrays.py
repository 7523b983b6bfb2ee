"""Extends NumPy's arrays by what JAX's arrays can do (`.at`, `.device`, ...), for `tapeless.numpy`.

Functions of NumPy take them as they are, and make none themselves of plain arrays.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.staging.pending_arrays import PendingArray, wait_for_all

if TYPE_CHECKING:
    from tapeless.staging import device_placement as layouts
    from tapeless.staging.device_list import Device
    from tapeless.transforms.frontend.arrays import functional_updates as updates
else:
    layouts = lazy_module("tapeless.staging.device_placement")
    updates = lazy_module("tapeless.transforms.frontend.arrays.functional_updates")


def _replacing(name: str) -> Any:
    operator = getattr(np.ndarray, f"__{name}__")

    def method(self: Any, other: Any) -> Any:
        return operator(self, other)

    return method


def _ours(name: str) -> Any:
    """A method of arrays that would make plain arrays or numbers."""
    run = getattr(np.ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return functional(run(self, *args, **kwargs))

    return functools.update_wrapper(method, run)


class Array(np.ndarray[Any, Any]):
    """An array with `.at`, `.block_until_ready()`, `.device` and their kin.

    `x += v` gives `x` a new array, as in JAX: other names of the old one do not see it.

    >>> import tapeless.numpy as jnp
    >>> x = jnp.zeros(3)
    >>> x.at[1].set(2.0)
    Array([0., 2., 0.], dtype=float64)
    >>> x
    Array([0., 0., 0.], dtype=float64)
    """

    __slots__ = ("_sharding",)
    _sharding: layouts.Sharding  # where one was asked for
    functional = True  # `x += v` gives x a new array, also while staging

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Functions of NumPy that are no ufuncs make plain arrays."""
        args, kwargs = wait_for_all(args), wait_for_all(kwargs)
        return func(*map_leaves(own, args), **map_leaves(own, kwargs))

    def __repr__(self) -> str:
        """The elements and the dtype, spaced as JAX does."""
        width = np.get_printoptions()["linewidth"]
        text = _elements(self, width) if self.size else f"[], shape={self.shape}"
        dtype = f"dtype={self.dtype.name})"
        fits = len(text) - text.rfind("\n") + len(dtype) + 2 <= width
        return f"Array({text},{' ' if fits else ' ' * len('Array(')}{dtype}"

    @property
    def at(self) -> updates.At:
        """`x.at[key].set(v)` is a changed copy; also add, subtract, multiply, divide, power, min,
        max, apply and get."""
        return updates.At(self)

    def block_until_ready(self) -> Array:
        """The array: it has been computed."""
        return self

    def is_ready(self) -> bool:
        """True: it has been computed."""
        return True

    @property
    def device(self) -> Any:
        """The device of the array; the sharding of one in blocks on several."""
        sharding = self.sharding
        return getattr(sharding, "device", sharding)

    @property
    def sharding(self) -> layouts.Sharding:
        """What `device_put` was given; without that the array is on one device."""
        try:
            return self._sharding
        except AttributeError:
            return layouts.as_sharding(None, "sharding")

    def devices(self) -> set[Device]:
        """The devices that hold the array."""
        return self.sharding.device_set

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """The array on a device, or with a sharding, as `device_put` gives it."""
        return layouts.device_put(self, device)  # type: ignore[no-any-return]

    @property
    def addressable_shards(self) -> list[layouts.Shard]:
        """The parts of the array on the devices of this process: views of it."""
        own = self.sharding.addressable_devices
        return [shard for shard in self.global_shards if shard.device in own]

    @property
    def global_shards(self) -> list[layouts.Shard]:
        """The parts of the array on all devices."""
        return layouts.shards(self, self.sharding)

    def addressable_data(self, index: int) -> Array:
        """The part of the array on a device of this process."""
        return self.addressable_shards[index].data

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all of its devices belong to this process."""
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each of its devices has all of it."""
        return self.sharding.is_fully_replicated

    @property
    def committed(self) -> bool:
        """Whether `device_put` was told where it belongs."""
        return hasattr(self, "_sharding")

    @property
    def weak_type(self) -> bool:
        """False: arrays keep their dtype."""
        return False

    def copy_to_host_async(self) -> None:
        """Nothing: it is there."""

    def is_deleted(self) -> bool:
        """False: arrays live as long as somebody has them."""
        return False

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(float(self)) if ndigits is None else np.round(self, ndigits)

    def on_device_size_in_bytes(self) -> int:
        """The bytes of its elements."""
        return self.nbytes

    round, dot, argmax, argmin = map(_ours, ("round", "dot", "argmax", "argmin"))
    nonzero, searchsorted, trace = map(_ours, ("nonzero", "searchsorted", "trace"))
    __iadd__, __isub__ = _replacing("add"), _replacing("sub")
    __imul__, __itruediv__ = _replacing("mul"), _replacing("truediv")
    __ifloordiv__, __imod__ = _replacing("floordiv"), _replacing("mod")
    __ipow__, __imatmul__ = _replacing("pow"), _replacing("matmul")
    __iand__, __ior__, __ixor__ = _replacing("and"), _replacing("or"), _replacing("xor")
    __ilshift__, __irshift__ = _replacing("lshift"), _replacing("rshift")


def _elements(array: Array, width: int) -> str:
    view = array.view(np.ndarray)
    return np.array2string(view, width, separator=", ", prefix="Array(", suffix=",")


def functional(value: Any) -> Any:
    """The arrays and numbers of NumPy in a tree as arrays of `tapeless.numpy`."""
    return map_leaves(_as_array, value)


def _as_array(value: Any) -> Any:
    if type(value) is np.ndarray:
        return value.view(Array)
    return np.asarray(value).view(Array) if isinstance(value, np.generic) else value


def plain(value: Any) -> Any:
    """The tree with NumPy's own arrays; what holds no others is passed on itself."""
    return map_leaves(own, value)


def own(value: Any) -> Any:
    """NumPy's own array in the place of one of ours, to be read and not to be handed out."""
    if type(value) is PendingArray:
        value = value.value()
    return value.view(np.ndarray) if type(value) is Array else value


ARRAYS = frozenset({Array, PendingArray})
LEAVES = ARRAYS | {np.ndarray, np.float64, np.float32, np.int64, np.bool_, int, float, str}


def map_leaves(change: Any, value: Any) -> Any:
    """The tree with its leaves changed; quick for what results mostly are."""
    kind = type(value)
    if kind in LEAVES:
        return change(value)
    if kind is tuple or kind is list:
        parts = [map_leaves(change, v) for v in value]
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else kind(parts)
    if kind is dict:
        new_values = {k: map_leaves(change, v) for k, v in value.items()}
        return value if all(new_values[k] is v for k, v in value.items()) else new_values
    return tree.map(change, value)


def has_functional(leaves: Any) -> bool:
    """Whether some of the leaves are arrays of `tapeless.numpy`."""
    return any(type(x) in ARRAYS for x in leaves)
