"""Provides the names of jax.ref: arrays behind a reference, which are read and written as
`ref[...]`.

NumPy's arrays can be written to themselves; a reference differs by this: what is read from it is a
copy, which later writes do not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import tree
from tapeless.missing import missing as _missing
from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def _read(array: Any, key: Any) -> Any:
    return np.copy(array[key])


@follow_arguments
def _copied(array: Any) -> Any:
    return np.array(array)


class Ref:
    """A reference to an array. `ref[key]` is a copy of a part, `ref[key] = value` and
    `ref[key] += value` write to it, also where a transformed function is given it or reads it from
    outside.

    >>> ref = new_ref(np.zeros(3))
    >>> ref[1] += 2.0
    >>> ref
    Ref([0., 2., 0.], dtype=float64)
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> Any:
        return _read(self.array, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.array.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype of the array."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.array.shape)

    @property
    def size(self) -> Any:
        """How many elements there are."""
        return self.array.size

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(self.array), separator=", ", prefix="Ref(", suffix=",")
        return f"Ref({text}, dtype={self.dtype.name})"


tree.register_pytree_node(Ref, lambda ref: ((ref.array,), None), lambda _, parts: Ref(*parts))


def new_ref(init_val: Any, *, memory_space: Any = None, kind: Any = None) -> Ref:
    """A reference to a copy of an array.

    init_val  a number or an array
    memory_space, kind
              of JAX; there is one memory

    >>> new_ref(2.0)
    Ref(2., dtype=float64)
    """
    if memory_space is not None or kind is not None:
        raise ArgumentError("new_ref: memory_space and kind", "there is one memory: leave them out")
    return Ref(_copied(init_val))


def get(ref: Ref, idx: Any = ...) -> Any:
    """`ref[idx]`.

    >>> get(new_ref(np.arange(3.0)), 1)
    array(1.)
    """
    return ref[... if idx is None else idx]


def set(ref: Ref, idx: Any, value: Any) -> None:
    """`ref[idx] = value`.

    >>> ref = new_ref(np.zeros(2))
    >>> set(ref, 0, 1.0)
    >>> ref
    Ref([1., 0.], dtype=float64)
    """
    ref[... if idx is None else idx] = value


def swap(ref: Ref, idx: Any, value: Any) -> Any:
    """`ref[idx]`, before it is set to a value.

    >>> swap(new_ref(np.arange(3.0)), 1, 5.0)
    array(1.)
    """
    before = get(ref, idx)
    set(ref, idx, value)
    return before


def addupdate(ref: Ref, idx: Any, x: Any) -> None:
    """`ref[idx] += x`.

    >>> ref = new_ref(np.zeros(2))
    >>> addupdate(ref, 0, 3.0)
    >>> ref
    Ref([3., 0.], dtype=float64)
    """
    ref[... if idx is None else idx] += x


def freeze(ref: Ref) -> Any:
    """The value of a reference that is not used any more.

    >>> freeze(new_ref(np.zeros(2)))
    array([0., 0.])
    """
    if not isinstance(ref, Ref):
        raise ArgumentTypeError(f"freeze: {type(ref).__name__} is no Ref", "new_ref makes one")
    return ref[...]


def free_ref(ref: Ref) -> None:
    """Nothing: memory is freed when nothing refers to it.

    >>> free_ref(new_ref(1.0))
    """


def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """A reference to an array of zeros.

    ty  something with a shape and a dtype

    >>> from tapeless import ShapeDtypeStruct
    >>> empty_ref(ShapeDtypeStruct((2,), float))
    Ref([0., 0.], dtype=float64)
    """
    return new_ref(np.zeros(ty.shape, ty.dtype), memory_space=memory_space)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
