"""How windows move over an array: how much is padded, and how many of them there are."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import ArgumentError

Pads = list[tuple[int, int]]


def pads(lengths: Any, window: Any, strides: Any, padding: Any) -> Pads:
    """Elements before and behind each axis: 'SAME' gives ceil(length / stride) windows, 'VALID'
    keeps windows inside, and pairs are as they are.

    >>> pads((5,), (3,), (2,), "SAME"), pads((5,), (3,), (2,), "VALID")
    ([(1, 1)], [(0, 0)])
    """
    if not isinstance(padding, str):
        return [(low, high) for low, high in padding]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(window)
    if padding.upper() != "SAME":
        raise ArgumentError(f"stax: padding must be 'SAME', 'VALID' or pairs, not {padding!r}")
    totals = [
        max((-(-n // s) - 1) * s + w - n, 0)
        for n, w, s in zip(lengths, window, strides, strict=True)
    ]
    return [(total // 2, total - total // 2) for total in totals]


def counts(lengths: Any, window: Any, strides: Any, padding: Any) -> tuple[int, ...]:
    """How many windows there are along each axis.

    >>> counts((5, 5), (3, 3), (2, 1), "VALID")
    (2, 3)
    """
    around = pads(lengths, window, strides, padding)
    each = zip(lengths, window, strides, around, strict=True)
    return tuple(max((n + low + high - w) // s + 1, 0) for n, w, s, (low, high) in each)


def spread(lengths: Any, window: Any, strides: Any, padding: Any) -> tuple[int, ...]:
    """How long the axes are that a transposed convolution makes.

    >>> spread((4,), (3,), (2,), "SAME"), spread((4,), (3,), (2,), "VALID")
    ((8,), (9,))
    """
    each = zip(lengths, window, strides, strict=True)
    if not isinstance(padding, str):
        around = [low + high for low, high in padding]
        return tuple(
            (n - 1) * s + more - w + 2 for (n, w, s), more in zip(each, around, strict=True)
        )
    same = padding.upper() == "SAME"
    return tuple(n * s + (0 if same else max(w - s, 0)) for n, w, s in each)
