"""Draws random numbers ahead of a call, as it will draw them: from copies of its generators."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeless.transforms.core.random_generators import is_generator


class ShadowGenerators:
    """Copies of the generators that a program draws from, as they are before the call."""

    def __init__(self) -> None:
        self.of_numpy: Any = None  # the state of np.random's own
        self.copies: dict[int, tuple[Any, Any]] = {}  # by the id of a generator, which is kept, too

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside, np.random's own generator goes on from where the draws before left the copy."""
        before = np.random.get_state()
        np.random.set_state(before if self.of_numpy is None else self.of_numpy)
        try:
            yield
            self.of_numpy = np.random.get_state()
        finally:
            np.random.set_state(before)

    def copy_of(self, value: Any) -> Any:
        """The copy of a generator; other values as they are."""
        if not is_generator(value):
            return value
        if id(value) not in self.copies:
            self.copies[id(value)] = (value, copy.deepcopy(value))
        return self.copies[id(value)][1]
