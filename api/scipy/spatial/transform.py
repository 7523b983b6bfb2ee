"""Represents rotations in space, and interpolates between them: jax.scipy.spatial.transform.

>>> import numpy as np
>>> from tapeless.scipy.spatial.transform import Rotation
>>> turn = Rotation.from_euler("z", 90, degrees=True)
>>> turn.apply(np.array([1.0, 0.0, 0.0])).round(6)
array([0., 1., 0.])
>>> (turn * turn).as_rotvec().round(4)
array([0.    , 0.    , 3.1416])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeless import random
from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.spatial import quaternions
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it

TURNED = np.array([-1.0, -1.0, -1.0, 1.0])


def _floats(x: Any, degrees: bool = False) -> Any:
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    return np.deg2rad(x) if degrees else x


class Rotation(NamedTuple):
    """One rotation, or an array of them; a tree with one leaf.

    quat  array of shape (4,) or (..., 4): quaternions x, y, z, w of length 1

    Differentiable in what it is made of, also at no rotation.
    """

    quat: Any

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Several arrays of rotations, one behind the other."""
        return cls(np.concatenate([rotation.quat for rotation in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """By angles about axes, one after the other.

        seq      up to three letters: of x, y, z if the axes stay where they are, of X, Y, Z if they
                 turn too
        angles   array of shape (..., number of letters), or one number
        degrees  whether they are degrees

        Raises ValueError for other axes, or another number of angles.
        """
        angles = np.atleast_1d(_floats(angles, degrees))
        if angles.shape[-1] != len(seq):
            raise ArgumentError(
                f"Rotation.from_euler: {angles.shape[-1]} angles for the axes {seq!r}",
                "the last axis has an angle for each letter",
            )
        return cls(quaternions.of_angles(seq, angles))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """By orthogonal matrices: array of shape (..., 3, 3)."""
        return cls(quaternions.of_matrix(_floats(matrix)))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """By modified Rodrigues parameters, the axis times tan(angle / 4): shape (..., 3)."""
        return cls(quaternions.of_mrp(_floats(mrp)))

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """By quaternions x, y, z, w of any length but 0: array of shape (..., 4)."""
        return cls(quaternions.normal(_floats(quat)))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """By the axis times the angle: array of shape (..., 3)."""
        return cls(quaternions.of_vector(_floats(rotvec, degrees)))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """No rotation, or `num` times none."""
        no_turn = np.array([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(no_turn if num is None else np.tile(no_turn, (num, 1)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """One rotation, or `num`, of which all are equally likely."""
        shape = (4,) if num is None else (num, 4)
        return cls(quaternions.normal(random.normal(random_key, shape)))

    def __getitem__(self, indexer: Any) -> Rotation:
        if self.single:
            raise ArgumentTypeError("Rotation: a single rotation cannot be indexed")
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        if self.single:
            raise ArgumentTypeError("Rotation: a single rotation has no length")
        return len(self.quat)

    def __mul__(self, other: Any) -> Rotation:
        """The other rotation, and then this one."""
        return Rotation(quaternions.normal(quaternions.product(self.quat, other.quat)))

    def __pow__(self, n: Any) -> Rotation:
        """The rotation by n times the angle."""
        return Rotation.from_rotvec(n * self.as_rotvec())

    @follow_arguments
    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """The vectors, array of shape (..., 3), turned; or turned back."""
        matrix = quaternions.to_matrix(self.quat)
        matrix = np.swapaxes(matrix, -1, -2) if inverse else matrix
        return (matrix @ _floats(vectors)[..., None])[..., 0]

    @follow_arguments
    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        """Angles about three axes, array of shape (..., 3). Where the first and the last axis
        coincide, the last angle is 0. Raises ValueError for other axes."""
        angles = quaternions.to_angles(self.quat, seq)
        return np.rad2deg(angles) if degrees else angles

    @follow_arguments
    def as_matrix(self) -> Any:
        """Orthogonal matrices, array of shape (..., 3, 3)."""
        return quaternions.to_matrix(self.quat)

    @follow_arguments
    def as_mrp(self) -> Any:
        """Modified Rodrigues parameters, array of shape (..., 3)."""
        return quaternions.to_mrp(self.quat)

    @follow_arguments
    def as_rotvec(self, degrees: bool = False) -> Any:
        """The axis times the angle, array of shape (..., 3)."""
        vector = quaternions.to_vector(self.quat)
        return np.rad2deg(vector) if degrees else vector

    @follow_arguments
    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
        """Quaternions x, y, z, w; canonical: with w >= 0; scalar_first: as w, x, y, z."""
        quaternion = quaternions.canonical(self.quat) if canonical else self.quat
        return np.roll(quaternion, 1, axis=-1) if scalar_first else quaternion

    def inv(self) -> Rotation:
        """The rotation back."""
        return Rotation(self.quat * TURNED.astype(self.quat.dtype))

    @follow_arguments
    def magnitude(self) -> Any:
        """The angle, from 0 to pi."""
        return 2 * np.arctan2(quaternions.length(self.quat[..., :3]), np.abs(self.quat[..., 3]))

    def mean(self, weights: Any = None) -> Rotation:
        """The rotation that is nearest to all: L. Markley et al., "Averaging quaternions", Journal
        of Guidance, Control, and Dynamics 30, 2007."""
        w = np.ones(len(self), self.quat.dtype) if weights is None else np.asarray(weights)
        if w.shape != self.quat.shape[:1]:
            raise ArgumentError(
                f"Rotation.mean: weights of shape {w.shape} for {len(self)} rotations"
            )
        return Rotation(np.linalg.eigh((w * self.quat.T) @ self.quat)[1][:, -1])

    @property
    def single(self) -> bool:
        """Whether it is one rotation, and no array of them."""
        return np.ndim(self.quat) == 1


class Slerp(NamedTuple):
    """Rotations between others, at a constant speed: K. Shoemake, "Animating rotation with
    quaternion curves", SIGGRAPH 1985. Made by `Slerp.init`, as in JAX.

    >>> turns = Rotation.from_euler("x", np.array([[0.0], [90.0]]), degrees=True)
    >>> Slerp.init(np.array([0.0, 1.0]), turns)(0.5).as_euler("xyz", degrees=True).round(6)
    array([45.,  0.,  0.])
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """From increasing times, array of shape (n,), and as many rotations, two or more.

        Raises TypeError where rotations are none, ValueError for other shapes.
        """
        if not isinstance(rotations, Rotation):
            raise ArgumentTypeError("Slerp.init: rotations must be a Rotation")
        times = _floats(times).astype(rotations.quat.dtype)
        if rotations.single or len(rotations) == 1 or times.shape != rotations.quat.shape[:1]:
            raise ArgumentError(
                f"Slerp.init: {times.shape} times for quaternions of shape {rotations.quat.shape}",
                "give two or more rotations, and a time for each",
            )
        first, second = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(times, np.diff(times), first, (first.inv() * second).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """The rotations at a time, or at an array of times of shape (m,). Before and behind all
        times the first and the last motion go on."""
        at = np.asarray(times).astype(self.times.dtype)
        if at.ndim > 1:
            raise ArgumentError("Slerp: times must be a number or have one axis")
        k = np.clip(np.searchsorted(self.times, at) - 1, 0, len(self.timedelta) - 1)
        part = (at - self.times[k]) / self.timedelta[k]
        step = Rotation.from_rotvec(self.rotvecs[k] * part[..., None])
        start: Rotation = self.rotations[k]
        return start * step


__all__ = ["Rotation", "Slerp"]
