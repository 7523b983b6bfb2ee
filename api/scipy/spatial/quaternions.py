"""Computes with rotations as quaternions (x, y, z, w) of length 1, along the last axis of arrays.

J. Diebel, "Representing attitude: Euler angles, unit quaternions, and rotation vectors", 2006;
E. Bernardes, S. Viollet, "Quaternion to Euler angles conversion", PLOS ONE 17, 2022.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

SMALL = 1e-3  # angles of which series are taken


def length(v: Any) -> Any:
    return np.linalg.norm(v, axis=-1)


def normal(q: Any) -> Any:
    return q / length(q)[..., None]


def parts(v: Any) -> Any:
    return [v[..., k] for k in range(v.shape[-1])]


def product(p: Any, q: Any) -> Any:
    """The rotation q, and then p."""
    a, b, c, d = parts(p)
    x, y, z, w = parts(q)
    return np.stack(
        [
            d * x + a * w + b * z - c * y,
            d * y + b * w + c * x - a * z,
            d * z + c * w + a * y - b * x,
            d * w - a * x - b * y - c * z,
        ],
        axis=-1,
    )


def about(axis: int, angle: Any) -> Any:
    """The rotation about a coordinate axis."""
    zero, sine = np.zeros_like(angle), np.sin(angle / 2)
    vector = [sine if k == axis else zero for k in range(3)]
    return np.stack([*vector, np.cos(angle / 2)], axis=-1)


def of_matrix(m: Any) -> Any:
    """From the greatest of the four squares, so that nothing cancels (S. W. Shepperd, 1978)."""
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, xz, yz = (m[..., j, i] + m[..., i, j] for i, j in ((0, 1), (0, 2), (1, 2)))
    wx, wy, wz = (m[..., j, i] - m[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1)))
    trace = xx + yy + zz
    rows = [
        np.stack([1 + 2 * xx - trace, xy, xz, wx], axis=-1),
        np.stack([xy, 1 + 2 * yy - trace, yz, wy], axis=-1),
        np.stack([xz, yz, 1 + 2 * zz - trace, wz], axis=-1),
        np.stack([wx, wy, wz, 1 + trace], axis=-1),
    ]
    best = np.argmax(np.stack([xx, yy, zz, trace], axis=-1), axis=-1)[..., None]
    best_row = rows[3]
    for k in range(3):
        best_row = np.where(best == k, rows[k], best_row)
    return normal(best_row)


def to_matrix(q: Any) -> Any:
    x, y, z, w = parts(q)
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def of_vector(v: Any) -> Any:
    angle = length(v)
    small = angle <= SMALL
    square, away = angle * angle, np.where(small, 1.0, angle)
    series = 0.5 - square / 48 + square * square / 3840
    scale = np.where(small, series, np.sin(away / 2) / away)
    return np.concatenate([scale[..., None] * v, np.cos(angle / 2)[..., None]], axis=-1)


def to_vector(q: Any) -> Any:
    """By an angle from 0 to pi."""
    q = np.where(q[..., 3:] < 0, -q, q)
    angle = 2 * np.arctan2(length(q[..., :3]), q[..., 3])
    small = angle <= SMALL
    square, away = angle * angle, np.where(small, 1.0, angle)
    series = 2 + square / 12 + 7 * square * square / 2880
    return np.where(small, series, away / np.sin(away / 2))[..., None] * q[..., :3]


def canonical(q: Any) -> Any:
    """Of q and -q the one whose last part that is not 0 is positive; of x, y, z the first is
    looked at first."""
    x, y, z, w = parts(q)
    sign = np.sign(w)
    for part in (x, y, z):
        sign = np.where(sign == 0, np.sign(part), sign)
    return np.where(sign < 0, -1.0, 1.0)[..., None] * q


def axes_of(seq: str) -> tuple[list[int], bool]:
    """The numbers of axes by their letters, and whether they turn with the body (capitals)."""
    letters = seq.lower()
    fits = 1 <= len(seq) <= 3 and set(letters) <= set("xyz") and seq in (letters, seq.upper())
    if not fits or any(a == b for a, b in itertools.pairwise(letters)):
        raise ArgumentError(
            f"Rotation: {seq!r} are no axes",
            "give one to three of x, y, z, or of X, Y, Z, no letter twice in a row",
        )
    return ["xyz".index(a) for a in letters], seq.isupper()


def of_angles(seq: str, angles: Any) -> Any:
    """By angles about axes, which lie along the last axis of the array."""
    axes, intrinsic = axes_of(seq)
    turned = about(axes[0], angles[..., 0])
    for k, axis in enumerate(axes[1:], 1):
        turn = about(axis, angles[..., k])
        turned = product(turned, turn) if intrinsic else product(turn, turned)
    return turned


def to_angles(q: Any, seq: str) -> Any:
    """Three angles, the first and the last from -pi to pi. Where two axes coincide, only one of
    them turns."""
    axes, intrinsic = axes_of(seq)
    if len(axes) != 3:
        raise ArgumentError(f"Rotation.as_euler: {seq!r} are {len(axes)} axes", "give three")
    i, j, k = axes[::-1] if intrinsic else axes
    proper = i == k
    k = 3 - i - j if proper else k
    sign = (i - j) * (j - k) * (k - i) // 2
    p = [*parts(q)]
    a, b, c, d = p[3], p[i], p[j], p[k] * sign
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    total, apart = np.arctan2(b, a), np.arctan2(d, c)
    flat, turned = np.abs(middle) <= 1e-7, np.abs(middle - np.pi) <= 1e-7
    alone = np.where(flat, 2 * total, 2 * apart * (1 if intrinsic else -1))
    degenerate = flat | turned
    first, last = total - apart, total + apart
    if intrinsic:
        first, last = last, first
    first, last = np.where(degenerate, alone, first), np.where(degenerate, 0.0, last)
    if not proper:
        middle = middle - np.pi / 2
        first, last = (sign * first, last) if intrinsic else (first, sign * last)
    angles = np.stack([first, middle, last], axis=-1)
    return (angles + np.pi) % (2 * np.pi) - np.pi


def of_mrp(v: Any) -> Any:
    """From modified Rodrigues parameters: the axis times tan(angle / 4)."""
    square = np.sum(v * v, axis=-1, keepdims=True)
    return np.concatenate([2 * v, 1 - square], axis=-1) / (1 + square)


def to_mrp(q: Any) -> Any:
    sign = np.where(q[..., 3:] < 0, -1.0, 1.0)
    return sign * q[..., :3] / (1 + sign * q[..., 3:])
