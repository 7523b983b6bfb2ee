"""Values and derivatives where an operation has a case of its own: nothing, nan, length one."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, hessian, jit, vmap

RNG = np.random.default_rng(5)
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
HOLES = np.array([[1.0, np.nan, 3.0], [np.nan] * 3, [2.0, 5.0, 4.0]])
M = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4) + 1
ENDS = np.array([1.5, np.inf, -np.inf, np.nan, -2.5])

VALUES = {
    "variance of complex numbers": (np.nanvar, Z),
    "largest of a row of nan": (lambda n: np.nanmax(n, axis=1), HOLES),
    "smallest of a row of nan": (lambda n: np.nanmin(n, axis=1), HOLES),
    "smallest of all": (np.nanmin, HOLES),
    "variance of one": (lambda n: np.nanvar(n, axis=1, ddof=1), HOLES),
    "deviation of none": (lambda n: np.nanstd(n, axis=1), HOLES),
    "deviation of none chosen": (lambda m: np.std(m, axis=1, ddof=1, where=m > 5), M),
    "more degrees than numbers": (lambda m: np.var(m, axis=0, ddof=5), M),
    "as many degrees as numbers": (lambda m: np.var(m, ddof=12), M),
    "covariance of few": (lambda m: np.cov(m[:, :3], ddof=4), M),
    "covariance in float32": (lambda m: np.cov(m, dtype=np.float32), M),
    "correlation in float32": (lambda m: np.corrcoef(m, dtype=np.float32), M**1.5),
    "complex nan": (np.nan_to_num, np.array([1 + 1j * np.nan, np.nan + 2j, np.inf - 1j])),
    "fraction of infinity": (lambda x: np.modf(x)[0], ENDS),
    "no difference": (lambda x: np.diff(x, n=0, prepend=1.0), np.ones(5)),
    "weights of two axes": (lambda a: np.average(a, axis=(0, 1), weights=a[:, :, 0]), CUBE),
    "weights turned": (lambda a: np.average(a, axis=(1, 0), weights=a[:, :, 0].T), CUBE),
    "choices in an array": (lambda m: np.choose(np.array([0, 2, 1, 0]), m), M),
    "numbered labels": (lambda a: np.einsum(a, [0, 26]), M),
    "numbered labels turned": (lambda a: np.einsum(a, [1, 0]), M),
    "shares of nothing": (lambda x: np.sum(x[x > 50] / np.sum(x[x > 50])) + x[0], M[0]),
}


@pytest.mark.parametrize(("f", "a"), VALUES.values(), ids=VALUES)
@pytest.mark.filterwarnings("ignore")
def test_values(f, a):
    with np.errstate(all="ignore"):
        wanted = f(a)
        for found in (jit(f)(a), tapeless.linearize(f, a)[0]):
            assert np.asarray(found).dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("of", [np.var, np.std])
def test_degrees_of_freedom_that_are_an_argument(of):
    def f(x, d):
        return np.sum(of(x, axis=1, ddof=d))

    v = RNG.normal(size=M.shape)
    for d in (0, 1, 2, 1.5, 2.5):
        np.testing.assert_allclose(jit(f)(M, d), f(M, d))
        wanted = (f(M + 1e-6 * v, d) - f(M - 1e-6 * v, d)) / 2e-6
        for slope in (grad(f), jit(grad(f))):
            assert abs(np.sum(slope(M, d) * v) - wanted) < 1e-6 * (1 + abs(wanted))
    found = vmap(lambda x, d: of(x, ddof=d))(M, np.array([0, 1, 2]))
    np.testing.assert_allclose(found, [of(x, ddof=d) for x, d in zip(M, (0, 1, 2), strict=True)])


def test_complex_numbers_that_become_infinite():
    with pytest.raises(tapeless.TapelessError, match="not finite"):
        jit(lambda z: np.nan_to_num(z, posinf=np.inf))(Z)


def test_gradient_of_one_number():
    with pytest.raises(ValueError, match="too small"):
        jit(lambda x: np.gradient(x[:1]))(np.ones(4))


@pytest.mark.parametrize("x", [-2.0, 2.0, 0.5, -0.3])
def test_the_branch_of_a_complex_function(x):
    def f(x):
        return np.real(np.arccosh(x + 1j))

    assert abs(grad(f)(x) - (f(x + 1e-6) - f(x - 1e-6)) / 2e-6) < 1e-8


EINSUMS = [
    (lambda x: np.einsum("ij,ij->j", x.reshape(1, 6), np.outer(x[:2], x)), (6,)),
    (lambda b, a: np.einsum("ij,ij->j", a, b), (2, 3), (1, 3)),
    (lambda b, a: np.einsum("ij,ij->j", a, b), (1, 3), (2, 3)),
    (lambda a, x: np.einsum("ij,i->i", a, x), (1, 3), (6,)),
    (lambda a: np.einsum("ii,ij->j", a, a), (3, 3)),
    (lambda a, b, c: np.einsum("ij,jk,k->ik", a, b, c), (2, 1), (3, 4), (1,)),
    (lambda a, b: np.einsum("i,j->", a, b), (1,), (4,)),
]


@pytest.mark.parametrize(("f", "shapes"), [(f, shapes) for f, *shapes in EINSUMS])
def test_einsum_over_axes_of_length_one(f, shapes):
    args = [RNG.normal(size=s).round(2) for s in shapes]

    def loss(*args):
        return np.sum(np.sin(f(*args)))

    for k, a in enumerate(args):
        v = RNG.normal(size=a.shape)
        ends = [
            loss(*(b + h * v if j == k else b for j, b in enumerate(args))) for h in (1e-6, -1e-6)
        ]
        wanted = (ends[0] - ends[1]) / 2e-6
        for slope in (grad(loss, k), jit(grad(loss, k))):
            found = slope(*args)
            assert found.shape == a.shape
            assert abs(np.sum(found * v) - wanted) < 1e-6 * (1 + abs(wanted))
        both = vmap(grad(loss, k))(*(np.stack([b, 1.1 * b]) for b in args))
        np.testing.assert_allclose(both[1], grad(loss, k)(*(1.1 * b for b in args)))


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.eigvalsh(a)[0],
        lambda a: np.linalg.eigvalsh(a) @ M[0, :3],
        lambda a: np.linalg.eigh(a)[0] @ M[1, :3],
        lambda a: np.sum(M[0, :3] * np.linalg.svd(a, compute_uv=False)),
    ],
)
def test_batches_of_derivatives_of_eigenvalues(f):
    a = RNG.normal(size=(2, 3, 3))
    a = a + a.swapaxes(1, 2)
    for of in (grad, hessian):
        np.testing.assert_allclose(vmap(of(f))(a), [of(f)(each) for each in a], atol=1e-12)


def until_from_the_end(x):
    x, s = x * 1.0, 0.0
    for i in range(1, len(x)):
        s = s + np.sin(x[0])
        x[:-i] = np.cos(x[:-i])
    return s


def between_from_the_end(x):
    x, s = x * 1.0, 0.0
    for i in range(1, len(x)):
        s += np.sin(x[1] * x[2])
        x[1:-i] = np.cos(x[1:-i])
        x[:i] *= 0.9
    return s


@pytest.mark.parametrize("f", [until_from_the_end, between_from_the_end])
def test_stores_that_end_at_a_place_from_the_end(f):
    x = np.array([0.3, 0.7, -0.4, 0.9, 0.2])
    wanted = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(5)]
    for slope in (grad(f), jit(grad(f))):
        np.testing.assert_allclose(slope(x), wanted, rtol=1e-6, atol=1e-8)


def row_times_one(m, scale=1):
    row = m[0] * scale
    part = row[1:]
    row[1] = 5.0
    return part, row


def row_plus_nothing(m):
    row = m[0] + 0
    part = row[::-1]
    part[0] = 5.0
    return row, part


def row_taken(m):
    row = np.take(m, 0, axis=0)
    part = row[1:]
    row[1] = 5.0
    return part, m


def columns_times_one(m):
    row = m.T * 1
    part = row[:, 1]
    row[2, 1] = 5.0
    return part, m, row


def rows_that_change_names(m):
    b, c, d = m[1] * 1, m[2] * 1, m[0] * 1
    for _ in range(3):
        b += 0.3 * c
        c, b, d = b, d, c
        d = b[:]
    return b, c, d


@pytest.mark.parametrize(
    "f", [row_times_one, row_plus_nothing, row_taken, columns_times_one, rows_that_change_names]
)
def test_what_numpy_copies_is_no_view(f):
    m = M + 0.5
    for a, b in zip(jit(f)(m.copy()), f(m.copy()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)

    def total(m):
        return sum(np.sum(np.sin(a) * (k + 1)) for k, a in enumerate(f(m.copy())))

    v = RNG.normal(size=m.shape)
    wanted = (total(m + 1e-6 * v) - total(m - 1e-6 * v)) / 2e-6
    for slope in (grad(total), jit(grad(total))):
        assert abs(np.sum(slope(m) * v) - wanted) < 1e-6 * (1 + abs(wanted))
