"""scipy.spatial.transform.Rotation of values of the program."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is optional")
from scipy.spatial.transform import Rotation

from tapeless import grad, jit, vmap
from tapeless.errors import TapelessError
from tests.corpus.differences import gradient

X = np.array([0.3, -0.9, 0.5, 1.2, 0.7, -0.4])
POINTS = np.array([[1.0, 0.5, -0.2], [0.1, 2.0, 0.3]])
FIXED = Rotation.from_euler("xyz", [0.1, 0.2, 0.3])


def rotation(x):
    return Rotation.from_rotvec(x[:3])


PROGRAMS = {
    "quaternions": lambda x: Rotation.from_quat(x[:4]).as_matrix(),
    "scalar first": lambda x: Rotation.from_quat(x[:4], scalar_first=True).as_quat(canonical=True),
    "vectors": lambda x: rotation(x).as_quat(scalar_first=True),
    "degrees": lambda x: Rotation.from_rotvec(50 * x[:3], degrees=True).as_rotvec(degrees=True),
    "small vectors": lambda x: Rotation.from_rotvec(1e-4 * x[:3]).as_rotvec(),
    "several": lambda x: Rotation.from_rotvec(x.reshape(2, 3)).as_matrix(),
    "one of several": lambda x: Rotation.from_rotvec(x.reshape(2, 3))[1].apply(x[:3]),
    "extrinsic angles": lambda x: Rotation.from_euler("zyx", x[:3]).as_matrix(),
    "intrinsic angles": lambda x: Rotation.from_euler("XZX", 20 * x[:3], degrees=True).as_quat(),
    "one angle": lambda x: Rotation.from_euler("y", x[0]).as_matrix(),
    "two angles": lambda x: Rotation.from_euler("yz", x[:2]).as_matrix(),
    **{
        f"as {seq}": lambda x, seq=seq: rotation(x).as_euler(seq)
        for seq in ("xyz", "ZYX", "zxz", "YXY", "yxz", "XZY")
    },
    "a matrix": lambda x: Rotation.from_matrix(rotation(x).as_matrix()).as_rotvec(),
    "half turns": lambda x: Rotation.from_matrix(
        Rotation.from_rotvec(np.array([3.1, 0.1, 0.2]) + 0.01 * x[:3]).as_matrix()
    ).as_quat(canonical=True),
    "no rotation": lambda x: Rotation.from_matrix(
        np.eye(3) + 0.2 * np.outer(x[:3], x[3:])
    ).as_matrix(),
    "applied": lambda x: rotation(x).apply(POINTS * x[3]),
    "applied backwards": lambda x: rotation(x).apply(x[3:], inverse=True),
    "products": lambda x: (rotation(x) * Rotation.from_rotvec(x[3:]).inv()).as_matrix(),
    "powers": lambda x: (rotation(x) ** 0.5).as_rotvec(),
    "angle": lambda x: np.stack([rotation(x).magnitude(), rotation(x).inv().magnitude()]),
    "known": lambda x: FIXED.apply(x[:3]) + FIXED.inv().apply(x[3:]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_scipy_does(name):
    f = PROGRAMS[name]

    def objective(x):
        y = f(x)
        return np.sum(np.cos(np.arange(1.0, 1 + y.size)).reshape(y.shape) * y)

    np.testing.assert_allclose(jit(f)(X), f(X), rtol=1e-9, atol=1e-12)
    slopes = gradient(objective, X)
    np.testing.assert_allclose(grad(objective)(X), slopes, rtol=1e-5, atol=1e-6)
    batch = np.stack([X, X[::-1] * 0.8])
    np.testing.assert_allclose(vmap(f)(batch), [f(x) for x in batch], rtol=1e-9, atol=1e-12)


def test_the_slope_at_no_rotation():
    def objective(v):
        return np.sum(Rotation.from_rotvec(v).as_matrix() * np.arange(9.0).reshape(3, 3))

    np.testing.assert_allclose(grad(objective)(np.zeros(3)), [2.0, -4.0, 2.0], atol=1e-12)


def test_a_rotation_is_a_result():
    turned = jit(rotation)(X)
    np.testing.assert_allclose(turned.as_matrix(), rotation(X).as_matrix())


def test_mistakes_are_errors_as_in_scipy():
    with pytest.raises(ValueError, match="zero norm"):
        jit(lambda x: Rotation.from_quat(x).as_matrix())(np.zeros(4))
    with pytest.raises(ValueError, match="Non-positive determinant"):
        jit(lambda x: Rotation.from_matrix(x).as_quat())(-np.eye(3))
    with pytest.raises(TapelessError):
        grad(lambda x: Rotation.align_vectors(x.reshape(2, 3), POINTS)[1])(X)
