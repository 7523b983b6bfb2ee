"""Makes our rotations of what makes those of `scipy.spatial.transform`, as SciPy does.

A matrix is projected to the nearest rotation by Newton's iteration for the polar factor (N. Higham,
"Computing the polar decomposition, with applications", SIAM J. Sci. Stat. Comput. 7, 1986), whose
derivative is that of the projection.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.scipy.spatial.transform import Rotation

__staged__ = True  # plain NumPy code: a staged run enters it


def from_quat(quat: Any, *, scalar_first: bool = False) -> Any:
    quat = np.asarray(quat)
    quat = np.concatenate([quat[..., 1:], quat[..., :1]], axis=-1) if scalar_first else quat
    if np.any(np.all(quat == 0, axis=-1)):
        raise ValueError("Found zero norm quaternions in `quat`.")
    return Rotation.from_quat(quat)


def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Any:
    matrix = np.asarray(matrix) * 1.0
    if assume_valid:
        return Rotation.from_matrix(matrix)
    if np.any(np.linalg.det(matrix) <= 0):
        raise ValueError("Non-positive determinant (left-handed or null coordinate frame)")
    return Rotation.from_matrix(nearest(matrix))


def nearest(matrix: Any) -> Any:
    """The rotation nearest to each matrix."""
    new = halfway(matrix)
    while np.max(np.abs(new - matrix)) > 1e-9:  # the next step squares the distance
        matrix, new = new, halfway(new)
    return new


def halfway(matrix: Any) -> Any:
    """The mean of a matrix and its inverse, transposed: equal to it where it is a rotation."""
    return 0.5 * (matrix + np.swapaxes(np.linalg.inv(matrix), -1, -2))


def from_euler(seq: str, angles: Any, degrees: bool = False) -> Any:
    angles = np.asarray(angles)
    if len(seq) == 1 and angles.ndim == 1 and angles.shape[0] != 1:
        angles = angles[:, None]
    single = angles.ndim == 0
    turned = Rotation.from_euler(seq, angles, degrees)
    return Rotation(turned.quat.reshape(4)) if single else turned


#: By their names in SciPy's class.
MAKERS = {
    "from_quat": from_quat,
    "from_matrix": from_matrix,
    "from_euler": from_euler,
    "from_rotvec": Rotation.from_rotvec,
    "from_mrp": Rotation.from_mrp,
    "concatenate": Rotation.concatenate,
}


def method_of(name: str, quat: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A method of a rotation of SciPy's, which is known, on values of the program."""
    return getattr(Rotation(quat), name)(*args, **kwargs)


def standing_for(f: Any) -> Any:
    """Our function for one that makes rotations, or for a method of one; None for others."""
    owner, name = getattr(f, "__self__", None), getattr(f, "__name__", "")
    if owner is not None and type(owner).__name__ == "Rotation" and name in ("apply", "as_euler"):
        return functools.partial(method_of, name, owner.as_quat())
    of_class = getattr(f, "__qualname__", "") == f"Rotation.{name}"
    return MAKERS.get(name) if of_class else None
