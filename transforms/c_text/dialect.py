"""Says whether text is C99 or C++, and how names of functions of C end, which has no templates.

power(x, 5), x of float64      becomes      power<5, double>(x)      or      power_f64(5, x)
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

_c99: contextvars.ContextVar[bool] = contextvars.ContextVar("c99", default=False)


@contextlib.contextmanager
def c99() -> Iterator[None]:
    """Inside, text is C99; else it is C++."""
    token = _c99.set(True)
    try:
        yield
    finally:
        _c99.reset(token)


def suffix(dtype: Dtype) -> str:
    """What ends the name of a function of C for a dtype.

    >>> import numpy as np
    >>> suffix(np.dtype(float)), suffix(np.dtype(np.uint8))
    ('f64', 'u8')
    """
    return f"{dtype.kind}{8 * dtype.itemsize}"


def is_c99() -> bool:
    """Whether text is C99."""
    return _c99.get()
