"""Lets init functions be called without a key, as those of stax could be in 2018."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import random

__staged__ = True  # plain NumPy code: a staged run enters it


def seedable(init: Callable[..., Any]) -> Callable[..., Any]:
    """The init function, which may also be called with the shape alone: its key is then made of
    NumPy's global random numbers, which `np.random.seed` decides.

    >>> from tapeless import stax
    >>> np.random.seed(0)
    >>> shape, params = stax.Dense(3)[0]((-1, 4))
    >>> shape, params[0].shape
    ((-1, 3), (4, 3))
    """

    def init_fun(*args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) == 1:
            shape = args[0] if args else kwargs["input_shape"]
            return init(random.key(np.random.randint(2**31)), shape)
        return init(*args, **kwargs)

    return init_fun
