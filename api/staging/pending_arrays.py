"""Represents arrays that another thread computes; who looks into one waits until it is computed.

y = f(x)          returns at once, and y.shape and y.dtype are known
g(y)              is done after f, and does not wait either
np.asarray(y)     waits

The memory of such an array is lent to the calls that it is passed to, as long as nobody else can
write to it. Who looks at the memory itself waits for these calls, too; later calls get copies.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.backends.cpu.runtime import buffer_pool
from tapeless.lazy_import import lazy_module
from tapeless.transforms.errors import ArgumentError

if TYPE_CHECKING:
    from tapeless.staging import jax_arrays as arrays
else:
    arrays = lazy_module("tapeless.staging.jax_arrays")

UNARY = "neg pos abs invert"
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
COMPARED = "lt le eq ne gt ge"
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": int,
    "complex": complex,
    "bool": bool,
    "index": operator.index,
    "repr": repr,
    "str": str,
}
#: Methods whose results lie in memory of their own, and what only tells of the array.
COPYING = {"all", "any", "argmax", "argmin", "argsort", "copy", "cumprod", "cumsum", "dot", "flags"}
COPYING |= {"item", "max", "mean", "min", "nonzero", "prod", "round", "searchsorted", "std", "sum"}
COPYING |= {"tobytes", "tolist", "trace", "var"}
#: What arrays know of themselves before they are computed.
METADATA = {"committed", "copy_to_host_async", "device", "devices", "is_fully_addressable"}
METADATA |= {"is_fully_replicated", "on_device_size_in_bytes", "sharding", "weak_type"}


@functools.cache
def _array_class() -> type[Any]:
    """`Array`, which each `isinstance` asks for: looking into a late module takes longer."""
    return arrays.Array


class PendingArray:
    """An `Array` that a call will have computed; `isinstance` takes it for one.

    What can be written to by others is handed out by `memory`, all else reads `value`.
    """

    __slots__ = ("__weakref__", "_call", "_dtype", "_lent", "_seen", "_shape", "_taken", "_value")

    functional = True  # `x += v` gives x a new array, also while staging
    __hash__ = None  # type: ignore[assignment]  # as of all arrays

    def __init__(self, call: Any, dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> None:
        self._call, self._dtype, self._shape = call, dtype, shape
        self._value: Any = None
        self._seen = False  # whether others can write to its memory
        self._lent: Any = None  # the last call that reads its memory
        self._taken = ""  # the function that has overwritten it

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        return _array_class()

    # -- the call that computes it

    def fill(self, value: Any) -> None:
        """Takes what was computed."""
        self._value, self._shape = value, value.shape

    def is_ready(self) -> bool:
        """Whether it has been computed, so that nothing waits for it."""
        return self._call.finished  # type: ignore[no-any-return]

    def block_until_ready(self) -> PendingArray:
        """The array, once it is computed. Raises what its computation raised."""
        self._call.result()
        return self

    def is_deleted(self) -> bool:
        """Whether its memory was donated to a call."""
        return bool(self._taken)

    def lent_value(self) -> Any:
        """The array for a call that it was lent to."""
        self._call.result()
        return self._value

    def value(self) -> Any:
        """The array of which this is the future, to be read and not to be handed out."""
        if self._taken:
            raise ArgumentError(
                f"the array was donated to the {self._taken}, which overwrites it",
                "use what that call returned, or leave the argument out of donate_argnums",
            )
        return self.lent_value()

    def memory(self) -> Any:
        """The same for one who may keep it and write to it: after the calls that read it."""
        self._seen = True
        value = self.value()
        if self._lent is not None:
            self._lent.wait()
            self._lent = None
        return value

    def is_shared(self) -> bool:
        """Whether others can write to its memory."""
        return self._seen

    def lend(self, call: Any) -> Any:
        """What a call that runs later is given: this, or a copy where others can write to it."""
        before, self._lent = self._lent, call  # first, so that who looks meanwhile waits
        if not self._seen:
            return self
        self._lent = before
        return copy_array(self.value())

    def donate(self, name: str) -> None:
        """Gives the memory away: only calls that it was lent to read it from now on."""
        self._taken = name

    # -- what is known before

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements, known at once."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes: known at once, unless the elements of arrays decide them."""
        if self._shape is None:
            self._call.result()
        assert self._shape is not None
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self.size * self._dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # -- reading

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(arrays.Array, name)  # the array is not asked for what none has
        if name in METADATA:
            return attribute.__get__(self)
        if name == "_sharding":  # which `device_put` gives, and no call
            raise AttributeError(name)
        return getattr(self.value() if name in COPYING else self.memory(), name)

    def __getitem__(self, key: Any) -> Any:
        part = self.value()[wait_for_all(key)]
        if isinstance(part, np.ndarray) and np.may_share_memory(part, self._value):
            self.memory()
        return part

    def __setitem__(self, key: Any, new: Any) -> None:
        self.memory()[wait_for_all(key)] = wait_for_all(new)

    def __iter__(self) -> Any:
        return iter(self.memory())

    def __contains__(self, element: Any) -> bool:
        return element in self.value()

    def __format__(self, form: str) -> str:
        return format(self.value(), form)

    def __round__(self, ndigits: int | None = None) -> Any:
        return self.value().__round__(ndigits)

    def __divmod__(self, other: Any) -> Any:
        return divmod(self.value(), wait_for_all(other))

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(other, self.value())

    def __copy__(self) -> Any:
        return self.value().copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.value().copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.value().__reduce_ex__(protocol)

    def __dir__(self) -> list[str]:
        return dir(arrays.Array)

    # -- what other libraries ask for

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        own = self.value() if copy else self.memory()
        return np.array(own, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        fresh = method == "__call__" and not kwargs.get("out")
        read = read_only if fresh else wait_for_all
        inputs, kwargs = read(inputs), wait_for_all(kwargs)
        return getattr(ufunc, method)(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*wait_for_all(args), **wait_for_all(kwargs))

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.memory())

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.memory().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the memory of the host


def _reading(operation: Callable[..., Any]) -> Any:
    def method(self: PendingArray, *others: Any) -> Any:
        return operation(self.value(), *others)

    return method


def _reflected_method(operation: Callable[[Any, Any], Any]) -> Any:
    def method(self: PendingArray, other: Any) -> Any:
        return operation(other, self.value())

    return method


def _operators() -> dict[str, Any]:
    """The operators of arrays, which give new ones."""
    methods = {f"__{name}__": _reading(run) for name, run in NUMBERS.items()}
    for name in (*UNARY.split(), *BINARY.split(), *COMPARED.split()):
        methods[f"__{name}__"] = _reading(getattr(operator, f"__{name}__"))
    for name in BINARY.split():
        run = getattr(operator, f"__{name}__")
        methods[f"__r{name}__"], methods[f"__i{name}__"] = _reflected_method(run), _reading(run)
    return methods


for _name, _method in _operators().items():
    setattr(PendingArray, _name, _method)


def copy_array(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that lies in memory like the original, in memory that was used before if possible."""
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        return copy_array(x.T).T
    new = buffer_pool.empty(x.shape, x.dtype)
    new[...] = x
    return new


def wait_for_all(value: Any) -> Any:
    """The tree with arrays that others may write to in the place of pending ones."""
    return arrays.map_leaves(lambda x: x.memory() if type(x) is PendingArray else x, value)


def lent_values(value: Any) -> Any:
    """The same for a call that they were lent to."""
    return arrays.map_leaves(lambda x: x.lent_value() if type(x) is PendingArray else x, value)


def read_only(value: Any) -> Any:
    """The same for one who reads them and keeps none."""
    return arrays.map_leaves(lambda x: x.value() if type(x) is PendingArray else x, value)
