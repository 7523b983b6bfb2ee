"""Says how what a call gave differs from what NumPy gave: not at all, in last places, in kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.errors import TapelessError

#: From what nobody notices to what is wrong.
KINDS = (
    *("same", "refused", "sign of zero", "last places", "nan part", "accepted", "exception"),
    *("type", "dtype", "shape", "value", "failed"),
)
#: Results that are further apart than so many units in the last place are other values.
MOST = 64.0


@dataclass(frozen=True)
class Raised:
    """An exception that a call ended with."""

    error: Exception

    def __str__(self) -> str:
        text = str(self.error).split("\n")[0]
        return f"{type(self.error).__name__}: {text[:90]}"


@dataclass(frozen=True)
class Difference:
    """The worst difference of a call, and by how many units in the last place results differ."""

    kind: str
    ulps: float = 0.0
    text: str = ""

    def worse(self, other: Difference) -> Difference:
        a, b = ((KINDS.index(d.kind), d.ulps) for d in (self, other))
        return self if a >= b else other


SAME = Difference("same")


def difference(actual: Any, wanted: Any) -> Difference:
    """How `found` differs from what NumPy gave."""
    if isinstance(actual, Raised) or isinstance(wanted, Raised):
        return _of_errors(actual, wanted)
    if isinstance(wanted, (tuple, list)):
        return _of_sequences(actual, wanted)
    if wanted is None or isinstance(wanted, (str, np.dtype, type, range)):
        same = type(actual) is type(wanted) and actual == wanted
        return SAME if same else Difference("value", text=f"{actual!r} for {wanted!r}")
    return _of_arrays(actual, wanted)


def _of_errors(actual: Any, wanted: Any) -> Difference:
    if not isinstance(wanted, Raised):
        refused = isinstance(actual.error, TapelessError) and "Internal" not in str(actual)
        return Difference("refused" if refused else "failed", text=str(actual))
    if not isinstance(actual, Raised):
        return Difference("accepted", text=f"{_short(actual)} for {wanted}")
    if isinstance(actual.error, _public(type(wanted.error))):
        return SAME
    if isinstance(actual.error, TapelessError) and "Internal" not in str(actual):
        return Difference("refused", text=f"{actual} for {wanted}")
    return Difference("exception", text=f"{actual} for {wanted}")


def _public(error: type) -> type:
    """The class by which users catch an exception: the first that is not private."""
    for cls in error.__mro__:
        if not cls.__name__.startswith("_") and cls.__name__ not in PRIVATE:
            return cls
    return error


PRIVATE = ("UFuncTypeError", "LinAlgError", "AxisError", "SVDConvergenceError")


def _of_sequences(actual: Any, wanted: Any) -> Difference:
    if not isinstance(actual, (tuple, list)) or len(actual) != len(wanted):
        return Difference("shape", text=f"{_short(actual)} for {_short(wanted)}")
    plain = isinstance(actual, list) == isinstance(wanted, list)
    worst = SAME if plain else Difference("type", text=f"{type(actual)} for {type(wanted)}")
    for a, b in zip(actual, wanted, strict=True):
        worst = worst.worse(difference(a, b))
    return worst


def _of_arrays(actual: Any, wanted: Any) -> Difference:
    text = f"{_short(actual)} for {_short(wanted)}"
    a, b = np.asarray(actual), np.asarray(wanted)
    if a.shape != b.shape:
        return Difference("shape", text=text)
    if a.dtype != b.dtype:
        return Difference("dtype", text=text)
    worst = SAME if type(actual) is type(wanted) else Difference("type", text=text)
    return worst.worse(_of_values(a, b, text))


def _of_values(a: Any, b: Any, text: str) -> Difference:
    if b.dtype.kind not in "fc":
        return SAME if np.array_equal(a, b) else Difference("value", text=text)
    with np.errstate(all="ignore"):
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return Difference("value", text=text)
        apart = _greatest_distance(a, b)
        if apart:
            return Difference("last places" if apart <= MOST else "value", apart, text)
    if b.dtype.kind == "c":
        parts = [(a.real, b.real), (a.imag, b.imag)]
        if not all(np.array_equal(np.isnan(x), np.isnan(y)) for x, y in parts):
            return Difference("nan part", text=text)
    else:
        parts = [(a, b)]
    if all(_same_signs(x, y) for x, y in parts):
        return SAME
    return Difference("sign of zero", text=text)


def _greatest_distance(a: Any, b: Any) -> float:
    """How many units in the last place two arrays are apart at most: of each number, or, where
    that is much, of the greatest of the array, which is where sums that cancel stand."""
    told = ~(np.isnan(a) | np.isnan(b) | (a == b))
    if not np.any(told):
        return 0.0
    x, y = a[told], b[told]
    if not np.all(np.isfinite(x) & np.isfinite(y)):
        return np.inf
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    far = np.abs(x.astype(wide) - y.astype(wide))
    real = np.zeros(0, b.dtype).real.dtype
    each = float(np.max(far / np.spacing(np.abs(y).astype(real))))
    if each <= MOST:
        return each
    scale = np.abs(b[np.isfinite(b)]).astype(real)
    return float(np.max(far / np.spacing(np.max(np.append(scale, np.ones(1, real))))))


def _same_signs(a: Any, b: Any) -> bool:
    zero = (a == 0) & (b == 0)
    return bool(np.array_equal(np.signbit(a)[zero], np.signbit(b)[zero]))


def _short(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        text = " ".join(np.array2string(np.asarray(value), threshold=20).split())
        return f"{value.dtype}{list(value.shape)} {text[:110]}"
    return repr(value)[:120]
