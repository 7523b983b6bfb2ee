"""vectorize: broadcasting like NumPy's, with derivatives and signatures."""

import numpy as np
import pytest

from tapeless import grad, vmap
from tapeless.numpy import vectorize
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

A = np.arange(24.0).reshape(4, 2, 3) / 7
COLUMN, ROW = np.array([[0.5], [-1.0], [2.0]]), np.array([[1.0, 0.2, -3.0, 0.5]])


def apart(a, b):
    return a - b if a > b else a * b


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (2.0, 3.0),
        (COLUMN, ROW),
        (COLUMN, 1.0),
        (0.3, ROW[0]),
        (COLUMN[:1], ROW[:, :1]),
        (COLUMN[:, :, None], ROW),
        (A, A[:1, :, :1]),
    ],
)
def test_broadcasting(a, b):
    got, wanted = vectorize(apart)(a, b), np.vectorize(apart)(a, b)
    assert np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(got, wanted)


def test_signatures():
    matvec = vectorize(lambda a, x: a @ x, signature="(n,m),(m)->(n)")
    x = np.arange(15.0).reshape(5, 1, 3)
    np.testing.assert_allclose(matvec(A, x), np.einsum("anm,cm->can", A, x[:, 0]))
    np.testing.assert_allclose(matvec(A[0], x[0, 0]), A[0] @ x[0, 0])
    both = vectorize(lambda x: (np.sum(x), x[::-1]), signature="(n)->(),(n)")
    total, back = both(A)
    np.testing.assert_allclose(total, A.sum(axis=-1))
    np.testing.assert_allclose(back, A[..., ::-1])


def test_excluded_arguments():
    power = vectorize(lambda a, n, scale: a**n * scale, excluded={1, "scale"})
    np.testing.assert_allclose(power(COLUMN, 2, scale=3.0), 3 * COLUMN**2)


def test_derivatives():
    got = grad(lambda a: np.sum(vectorize(apart)(a, ROW)))(COLUMN)
    np.testing.assert_allclose(got, np.where(COLUMN > ROW, 1.0, ROW).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(
        vmap(lambda a: vectorize(apart)(a, ROW[0]))(COLUMN[:, 0]), np.vectorize(apart)(COLUMN, ROW)
    )


def test_a_product_stays_one_product():
    rows = vectorize(lambda x, w: x @ w, signature="(n),(n,m)->(m)")
    assert "return x @ w" in rows.source(np.ones((5, 3)), np.ones((3, 2)))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vectorize(apart, signature="n->n"), ArgumentError, "not a valid signature"),
        (lambda: vectorize(apart, signature="(n->(n)"), ArgumentError, "not a valid signature"),
        (lambda: vectorize(apart, excluded={0.5}), ArgumentTypeError, "positions and names"),
        (lambda: vectorize(apart)(1.0, b=2.0), ArgumentError, "called with b by name"),
        (lambda: vectorize(apart)("x", 1.0), ArgumentTypeError, "str has no axes"),
        (
            lambda: vectorize(np.dot, signature="(n),(n)->()")(np.ones(3), np.ones(4)),
            ArgumentError,
            "core axis n has length 3 in one argument and 4 in another",
        ),
        (
            lambda: vectorize(np.dot, signature="(n),(n)->()")(1.0, np.ones(4)),
            ArgumentError,
            r"argument 0 has shape \(\), and the signature \(n\),\(n\)->\(\) asks for 1 axes",
        ),
        (
            lambda: vectorize(np.sin, signature="(n)->()")(np.ones(3)),
            ArgumentError,
            "asks for 0 axes",
        ),
        (
            lambda: vectorize(np.sin, signature="(n)->(),()")(np.ones(3)),
            ArgumentError,
            "returns 1 values, and the signature",
        ),
        (
            lambda: vectorize(np.dot, signature="(n)->()")(np.ones(3), np.ones(3)),
            ArgumentError,
            "is for 1 arguments, and dot is called with 2",
        ),
    ],
)
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        call()
