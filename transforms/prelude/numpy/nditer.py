"""Implements np.nditer: one loop over the places of arrays, in the order in which they lie.

for v in np.nditer(x): ...      is      for k in range(x.size): v = x[k // m, k % m, ...]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain code: a staged run enters it

FLAGS = frozenset(
    {"multi_index", "c_index", "f_index", "external_loop", "refs_ok", "zerosize_ok"}
    | {"copy_if_overlap", "reduce_ok"}
)
WAY_OUT = "loop over np.ndindex(x.shape), and read and store x[index]"


class NDIter:
    """The methods of `np.nditer` that have a rule."""

    __stays_inside__ = "return arrays, and make the iterator outside"

    def __init__(
        self,
        op: Any,
        flags: Any = (),
        op_flags: Any = None,
        op_dtypes: Any = None,
        order: Any = "K",
        casting: Any = "safe",
        op_axes: Any = None,
        itershape: Any = None,
        buffersize: Any = 0,
    ) -> None:
        others = [f for f in flags or () if f not in FLAGS]
        if others or op_dtypes is not None or op_axes is not None or itershape is not None:
            what = f"the flag '{others[0]}'" if others else "op_dtypes, op_axes or itershape"
            raise UnsupportedError(f"np.nditer with {what} has no rule", WAY_OUT)
        several = isinstance(op, (list, tuple))
        optional = [None if x is None else np.asarray(x) for x in (op if several else (op,))]
        arrays = [x for x in optional if x is not None]
        self.shape = np.broadcast_shapes(*[x.shape for x in arrays])
        self.flags = tuple(flags or ())
        self.of_columns = _goes_by_columns(arrays, order)
        kind = np.result_type(*arrays)
        self.operands = tuple(np.empty(self.shape, kind) if x is None else x for x in optional)
        self.views = tuple(self._view(x) for x in self.operands)
        self.nop, self.ndim = len(self.operands), len(self.shape)
        self.itersize = self.views[0].size
        self.iterindex = 0
        self.external = "external_loop" in self.flags
        if "zerosize_ok" not in self.flags and self.itersize == 0:
            raise ValueError("Iteration of zero-sized operands is not enabled")

    def _view(self, x: Any) -> Any:
        """An operand with the shape of all."""
        return x if x.shape == self.shape else np.broadcast_to(x, self.shape)

    def _place(self) -> Any:
        """The indices of the present element."""
        k = self.iterindex
        indices = []
        lengths = self.shape if self.of_columns else self.shape[::-1]
        for n in lengths[:-1]:
            indices.append(k % n)
            k = k // n
        if self.shape:
            indices.append(k)
        return tuple(indices) if self.of_columns else tuple(indices[::-1])

    def _line(self, x: Any) -> Any:
        """All elements, in their order."""
        if x.shape != self.shape:
            raise UnsupportedError(
                "np.nditer with an external loop over arrays of several shapes", WAY_OUT
            )
        return x.T.reshape(-1) if self.of_columns else x.reshape(-1)

    @property
    def multi_index(self) -> Any:
        if "multi_index" not in self.flags:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._place()

    @property
    def index(self) -> Any:
        by_rows = "c_index" in self.flags
        if not by_rows and "f_index" not in self.flags:
            raise ValueError("Iterator does not have an index")
        if by_rows != self.of_columns:
            return self.iterindex
        at = 0
        place, lengths = self._place(), self.shape
        if not by_rows:
            place, lengths = place[::-1], lengths[::-1]
        for i, n in zip(place, lengths, strict=True):
            at = at * n + i
        return at

    @property
    def finished(self) -> Any:
        return self.iterindex >= self.itersize

    @property
    def value(self) -> Any:
        return self[0] if self.nop == 1 else tuple(self[k] for k in range(self.nop))

    def __getitem__(self, k: Any) -> Any:
        if self.external:
            return self._line(self.operands[k])
        return self.views[k][(*self._place(), ...)]

    def __setitem__(self, k: Any, value: Any) -> None:
        self[k][...] = value

    def iternext(self) -> Any:
        self.iterindex = self.itersize if self.external else self.iterindex + 1
        return self.iterindex < self.itersize

    def reset(self) -> None:
        self.iterindex = 0

    def close(self) -> None:
        pass

    def __len__(self) -> int:
        return self.nop

    def __iter__(self) -> Iterator[Any]:
        if self.external:
            yield self.value
        else:
            for k in range(self.iterindex, self.itersize):
                self.iterindex = k
                yield self.value
        self.iterindex = self.itersize

    def __enter__(self) -> NDIter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def refuse_method(self, *_: Any) -> NoReturn:
        raise UnsupportedError("this method of np.nditer has no rule", WAY_OUT)

    copy = debug_print = enable_external_loop = remove_axis = remove_multi_index = refuse_method
    __next__ = __copy__ = refuse_method


def _goes_by_columns(arrays: Any, order: Any) -> bool:
    """Whether the first index of all changes first."""
    if order in ("C", "F"):
        return bool(order == "F")
    if all(x.flags.c_contiguous or (x.ndim == 1 and x.strides[0] > 0) for x in arrays):
        return False
    if all(x.flags.f_contiguous and x.ndim == arrays[0].ndim for x in arrays):
        return True
    if order == "A":
        return False
    raise UnsupportedError(
        "np.nditer over arrays whose elements do not lie in one order",
        "give order='C', or np.ascontiguousarray(x)",
    )


NUMPY: dict[Any, Any] = {np.nditer: NDIter}
