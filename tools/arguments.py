"""Makes example arguments from a short description of their dtypes and shapes.

    items  item, item, ...
    item   dtype          a scalar: f8 i8 b1 c16 are Python's own, the others NumPy's
           dtype[3,2]     an array of that shape
           item = value   a scalar with that value, an array filled with it
           {name: item}   a dict
           (item, item)   a tuple

Values that are not given are drawn with a fixed seed: floats between 0.5 and 1.5, where most
functions are smooth; scalar integers are 3, those in arrays 0 or 1.

>>> parse("f8=0.5, i8=5, b1=True")
(0.5, 5, True)
>>> parse("f4[2,3]")[0].shape
(2, 3)
>>> parse("{w: f8[2]=1, b: f8=0}, (i4=1, c16=1j)")
({'w': array([1., 1.]), 'b': 0.0}, (np.int32(1), 1j))
>>> parse("f8[2, x]")
Traceback (most recent call last):
    ...
tapeless.tools.errors.UsageError: 'x' is not a size
    f8[2, x]
          ^
  a size is a whole number, as in "f8[100,3], f8, i8=5"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tapeless.tools.errors import pointing

Sizes = tuple[int, ...]
TOKEN = re.compile(r"[\[\](){}:,=]|[^\s\[\](){}:,=]+")
LIKE = 'as in "f8[100,3], f8, i8=5"'
PYTHONS_OWN = {np.dtype(t) for t in (float, int, bool, complex)}
TRUTH = {"True": True, "False": False, "1": True, "0": False}


def parse(text: str) -> tuple[Any, ...]:
    """Example arguments that fit `text`; a UsageError shows the place where it is malformed."""
    reader = _Reader(text)
    return tuple(reader.series(reader.item, end=""))


def example(dtype: np.dtype[Any], shape: Sizes | None, value: Any, rng: np.random.Generator) -> Any:
    """An array, or a scalar where `shape` is None, of the value or (None) of generic numbers."""
    if value is None:
        value = _generic(dtype.kind, shape, rng)
    array = np.full(shape or (), value, dtype)
    if shape is not None:
        return array
    return array.item() if dtype in PYTHONS_OWN else array[()]


def _generic(kind: str, shape: Sizes | None, rng: np.random.Generator) -> Any:
    if kind in "iu":
        return 3 if shape is None else rng.integers(0, 2, shape)
    if kind == "b":
        return True if shape is None else rng.integers(0, 2, shape)
    numbers = rng.uniform(0.5, 1.5, shape)
    return numbers + 1j * rng.uniform(0.5, 1.5, shape) if kind == "c" else numbers


class _Reader:
    """One pass over the tokens of a description; `at` is the next one."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens = [(m.group(), m.start()) for m in TOKEN.finditer(text)]
        self.rng = np.random.default_rng(0)

    def series(self, read: Callable[[], Any], end: str) -> list[Any]:
        """What `read` finds between commas, up to and with `end`; a comma may stand before it."""
        items = []
        while self.peek() != end:
            items.append(read())
            if not self.skip(","):
                break
        if self.peek() != end:
            wanted = f"a comma or {end!r}" if end else "a comma"
            self.refuse(f"is where {wanted} is expected", f"commas separate, {LIKE}")
        self.at += 1
        return items

    def item(self) -> Any:
        if self.skip("("):
            return tuple(self.series(self.item, ")"))
        if self.skip("{"):
            return dict(self.series(self.entry, "}"))
        dtype = self.dtype()
        shape = tuple(self.series(self.size, "]")) if self.skip("[") else None
        value = self.value(dtype) if self.skip("=") else None
        return example(dtype, shape, value, self.rng)

    def entry(self) -> tuple[str, Any]:
        name = self.next()
        if not self.skip(":"):
            self.refuse("is where a colon is expected", "as in {w: f8[2,3], b: f8[3]}")
        return name, self.item()

    def dtype(self) -> np.dtype[Any]:
        name = self.next()
        try:
            dtype = np.dtype(name if name.isalnum() else object)  # "," and more are dtypes to NumPy
        except (TypeError, ValueError):
            dtype = np.dtype(object)
        if dtype.kind not in "biufc":
            self.refuse("is not a dtype", f"a dtype is NumPy's short or long name, {LIKE}", back=1)
        return dtype

    def size(self) -> int:
        word = self.next()
        if not word.isdecimal():
            self.refuse("is not a size", f"a size is a whole number, {LIKE}", back=1)
        return int(word)

    def value(self, dtype: np.dtype[Any]) -> Any:
        word = self.next()
        try:
            return TRUTH[word] if dtype.kind == "b" else dtype.type(word)
        except (KeyError, ValueError, OverflowError):
            problem = f"is not a value of dtype {dtype}"
            self.refuse(problem, f"a value is one literal, {LIKE}", back=1)

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            self.refuse("is where more is expected", f"write a dtype and a shape, {LIKE}")
        self.at += 1
        return token

    def skip(self, token: str) -> bool:
        matches = self.peek() == token
        self.at += matches
        return matches

    def refuse(self, problem: str, hint: str, back: int = 0) -> NoReturn:
        token, start = [*self.tokens, ("", len(self.text))][self.at - back]
        met = repr(token) if token else "the end"
        raise pointing(f"{met} {problem}", self.text, start, start + len(token), hint)
