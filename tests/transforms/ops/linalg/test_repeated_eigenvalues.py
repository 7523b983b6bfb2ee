"""Eigenvalues and singular values that are equal: derivatives are right, or nan."""

import itertools

import mpmath as mp
import numpy as np
import pytest
import scipy.linalg

from tapeless import grad, hessian, jit, jvp, vmap

N = 4
RNG = np.random.default_rng(5)
C = RNG.normal(size=(N, N))
C = C + C.T
D = RNG.normal(size=(N, N))
MIRROR = np.eye(N) - 2 * np.ones((N, N)) / N
#: Symmetric, with an eigenvalue three times; the same turned; a unitary matrix times lengths.
DIAGONAL = np.diag([1.0, 1.0, 1.0, 3.0])
TURNED = MIRROR @ DIAGONAL @ MIRROR
LONGER = np.roll(DIAGONAL, 1, axis=0)
SYMMETRIC = [e + e.T for e in RNG.normal(size=(3, N, N))]
OFF = [np.eye(N)[[1, 0, 3, 2]]] * 3
ANY = list(RNG.normal(size=(3, N, N)))


def leading(a):
    v = np.linalg.eigh(a)[1][:, -1]
    return v @ C @ v


def leading_pair(a):
    w, v = np.linalg.eigh(a)
    return np.exp(w[-1]) * (v[:, -1] @ C @ v[:, -1])


def projection(a):
    v = np.linalg.eigh(a)[1]
    return np.sum(C * (v[:, :3] @ v[:, :3].T)) ** 2


def greatest(a):
    return np.exp(np.linalg.eigvalsh(a)[-1])


def unitary(a):
    u, _, vt = np.linalg.svd(a)
    return np.sum(D * (u @ vt)) ** 2


def nuclear(a):
    return np.linalg.norm(a, "nuc") ** 2


def positive(a):
    return np.sum(D * scipy.linalg.polar(a)[1])


def spectral(a):
    return np.linalg.norm(a, 2) ** 2


def triple(a):
    u, s, vt = np.linalg.svd(a)
    return s[0] ** 2 * (u[:, 0] @ D @ vt[0])


def pseudoinverse(a):
    return np.sum(D * np.linalg.pinv(a, 0.5)) + np.sum(np.linalg.lstsq(a, D[0], 0.5)[0] ** 3)


def full_pseudoinverse(a):
    return np.sum(D * np.linalg.pinv(a, 1e-9))


# -- the same with many digits


def product(x, y):
    return sum(x[i, j] * y[i, j] for i in range(x.rows) for j in range(x.cols))


def eigen(a):
    return mp.eigsy((a + a.T) / 2)


def singular(a):
    """In increasing order."""
    w, v = mp.eigsy(a.T * a)
    s = [mp.sqrt(x) for x in w]
    return a * v * mp.diag([1 / x for x in s]), s, v


def exact_leading_pair(a, of_value=mp.exp):
    w, v = eigen(a)
    return of_value(w[N - 1]) * (v[:, N - 1].T * mp.matrix(C.tolist()) * v[:, N - 1])[0]


def exact_projection(a):
    v = eigen(a)[1][:, :3]
    return product(mp.matrix(C.tolist()), v * v.T) ** 2


def exact_unitary(a):
    u, _, v = singular(a)
    return u * v.T


def exact_triple(a):
    u, s, v = singular(a)
    return s[-1] ** 2 * (u[:, N - 1].T * mp.matrix(D.tolist()) * v[:, N - 1])[0]


def exact_pseudoinverse(a):
    """Of what belongs to the greatest singular value."""
    u, s, v = singular(a)
    inverse = v[:, N - 1] * u[:, N - 1].T / s[-1]
    x = inverse * mp.matrix(D[0].tolist())
    return product(mp.matrix(D.tolist()), inverse) + sum(e**3 for e in x)


HERMITIAN = {
    leading: lambda a: exact_leading_pair(a, lambda w: 1),
    leading_pair: exact_leading_pair,
    projection: exact_projection,
    greatest: lambda a: mp.exp(eigen(a)[0][N - 1]),
}
GENERAL = {
    unitary: lambda a: product(mp.matrix(D.tolist()), exact_unitary(a)) ** 2,
    nuclear: lambda a: sum(singular(a)[1]) ** 2,
    positive: lambda a: product(mp.matrix(D.tolist()), exact_unitary(a).T * a),
    spectral: lambda a: singular(a)[1][-1] ** 2,
    triple: exact_triple,
    pseudoinverse: exact_pseudoinverse,
    full_pseudoinverse: lambda a: product(mp.matrix(D.tolist()), a**-1),
}


def difference(f, a, directions):
    """The mixed derivative in some directions, by central differences with 60 digits."""
    h, total = mp.mpf(10) ** -12, mp.mpf(0)
    with mp.workdps(60):
        for signs in itertools.product([1, -1], repeat=len(directions)):
            moved = mp.matrix(a.tolist())
            for sign, e in zip(signs, directions, strict=True):
                moved += sign * h * mp.matrix(e.tolist())
            total += np.prod(signs) * f(moved)
        return float(total / (2 * h) ** len(directions))


def forward(f, direction):
    return lambda a: jvp(f, (a,), (direction,))[1]


def reverse(f, direction):
    return lambda a: np.sum(grad(f)(a) * direction)


CASES = [
    *(
        (f, of, a, es)
        for f, of in HERMITIAN.items()
        for a, es in ((TURNED, SYMMETRIC), (DIAGONAL, OFF))
    ),
    *((f, of, a, ANY) for f, of in GENERAL.items() for a in (DIAGONAL, LONGER)),
]


@pytest.mark.parametrize(("f", "of", "a", "directions"), CASES)
def test_what_does_not_depend_on_how_vectors_are_turned_is_right(f, of, a, directions):
    orders = [(reverse,), (forward,), (reverse, forward), (reverse, reverse), (forward, reverse)]
    for order in orders:
        derived = f
        for mode, e in zip(order, directions, strict=False):
            derived = mode(derived, e)
        want = difference(of, a, directions[: len(order)])
        np.testing.assert_allclose(derived(a), want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("f", [leading_pair, projection, unitary])
def test_third_derivatives(f):
    directions = SYMMETRIC if f in HERMITIAN else ANY
    derived = forward(forward(reverse(f, directions[0]), directions[1]), directions[2])
    want = difference((HERMITIAN | GENERAL)[f], TURNED, directions)
    np.testing.assert_allclose(derived(TURNED), want, rtol=1e-8)


def logarithm(a):
    w, v = np.linalg.eigh(a)
    return np.sum(C * ((v * np.log(w)) @ v.T))


def corner_of_logarithm(a):
    w, v = np.linalg.eigh(a)
    return ((v * np.log(w)) @ v.T)[0, 1]


def stretched(a):
    u, s, vt = np.linalg.svd(a)
    return np.sum(D * ((u * s**2) @ vt))


@pytest.mark.parametrize("f", [logarithm, corner_of_logarithm])
def test_functions_of_a_matrix_through_its_vectors(f):
    """Beside SciPy's logarithm of a matrix of blocks (N. J. Higham, Functions of Matrices, 2008,
    section 3.1)."""
    for a in (DIAGONAL, TURNED, np.eye(N)):
        direction = SYMMETRIC[0]
        blocks = scipy.linalg.logm(np.block([[a, direction], [np.zeros((N, N)), a]]))
        want = np.sum(C * blocks[:N, N:]) if f is logarithm else blocks[0, N + 1]
        np.testing.assert_allclose(forward(f, direction)(a), want, rtol=1e-6)
        np.testing.assert_allclose(reverse(f, direction)(a), want, rtol=1e-6)


def test_functions_through_singular_vectors_are_nan():
    for a in (DIAGONAL, np.eye(N)):
        assert np.isnan(grad(stretched)(a)).any()
        assert np.isnan(forward(stretched, OFF[0])(a))


def test_a_sum_over_equal_values():
    """Its second derivative is -tr(a^-1 e a^-1 f); forward mode of forward mode does not see the
    sum, and gives nan where values turn into each other."""

    def volume(a):
        return np.sum(np.log(np.linalg.eigvalsh(a)))

    inverse = np.linalg.inv(DIAGONAL)
    np.testing.assert_allclose(grad(volume)(DIAGONAL), inverse)
    want = -np.trace(inverse @ OFF[0] @ inverse @ OFF[1])
    for mode in (forward, reverse):
        np.testing.assert_allclose(mode(reverse(volume, OFF[0]), OFF[1])(DIAGONAL), want)
        assert np.isnan(mode(forward(volume, OFF[0]), OFF[1])(DIAGONAL))
    along = np.diag([1.0, 2.0, 0.0, 0.0])  # values change, vectors need not
    for mode in (forward, reverse):
        np.testing.assert_allclose(mode(reverse(volume, along), along)(DIAGONAL), -5.0)


def test_single_vectors_of_equal_values_have_no_derivative():
    assert np.isnan(grad(lambda a: np.linalg.eigh(a)[1][1, 0])(DIAGONAL)).any()


def test_values_that_differ_by_rounding_are_equal():
    rounded = np.diag([1.0, 1.0 + 2e-16, 1.0 - 1e-16, 3.0])
    np.testing.assert_allclose(
        hessian(projection)(rounded), hessian(projection)(DIAGONAL), atol=1e-9
    )


def test_eigenvectors_of_matrices_that_are_not_symmetric():
    a = DIAGONAL.copy()
    a[0, 3], a[1, 3] = 0.5, -0.3

    def isolated(t):
        w, v = np.linalg.eig(a + t[0] * D + t[1] * C)
        k = np.argmax(w.real)
        return np.real(w[k] ** 2 * v[0, k] / v[1, k])

    h = 1e-4
    steps = h * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    want = np.dot([1, -1, -1, 1], [isolated(s) for s in steps]) / (4 * h**2)
    np.testing.assert_allclose(hessian(isolated)(np.zeros(2))[0, 1], want, rtol=1e-4)


def test_under_jit_and_vmap():
    several = np.stack([DIAGONAL, TURNED])
    want = np.stack([hessian(leading_pair)(a) for a in several])
    np.testing.assert_allclose(vmap(hessian(leading_pair))(several), want, atol=1e-12)
    np.testing.assert_allclose(jit(hessian(leading_pair))(TURNED), want[1], atol=1e-12)


def test_the_quaternion_of_a_rotation():
    """The leading eigenvector of a matrix whose other eigenvalues are equal (I. Bar-Itzhack, "New
    method for extracting the quaternion from a rotation matrix", 2000)."""

    def quaternion(m):
        (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = m
        rows = [
            [xx - yy - zz, 0.0, 0.0, 0.0],
            [yx + xy, yy - xx - zz, 0.0, 0.0],
            [zx + xz, zy + yz, zz - xx - yy, 0.0],
            [yz - zy, zx - xz, xy - yx, xx + yy + zz],
        ]
        v = np.linalg.eigh(np.stack([np.stack(r) for r in rows]) / 3)[1][:, -1]
        return v[0] * v[1] + 2 * v[2] * v[3]

    angle = 0.4
    m = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]]
    )
    e = RNG.normal(size=(3, 3))
    h = 1e-4
    want = (quaternion(m + h * e) - 2 * quaternion(m) + quaternion(m - h * e)) / h**2
    np.testing.assert_allclose(forward(reverse(quaternion, e), e)(m), want, rtol=1e-5)
