"""Goldens of gradients that textbooks show, which are checked by differences."""

# ruff: noqa: N803, N806 (names as in textbooks)

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

pytestmark = pytest.mark.every_case

RANDOM = np.random.default_rng(0)
CASES = []


def draw(*shape):
    return RANDOM.normal(size=shape).round(2)


def textbook(*args, wrt=0):
    """The gradient of the decorated function by argument `wrt` is kept as a golden."""

    def register(function):
        CASES.append(pytest.param(function, args, wrt, id=function.__name__))
        return function

    return register


SPREAD = draw(3, 3)


@textbook(draw(4, 2), 0.3 * draw(3, 3), draw(2, 3), np.eye(2), draw(3), SPREAD @ SPREAD.T, wrt=1)
def kalman(zs, F, H, R, x, P):
    misfit = 0.0
    for z in zs:
        x = F @ x
        P = F @ P @ F.T
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = P - K @ H @ P
        misfit += y @ y
    return misfit


@textbook(np.eye(3) * 4 + draw(3, 3), draw(3), draw(3), 2)
def gauss_seidel(A, b, x, sweeps):
    x = x.copy()
    n = len(b)
    for _ in range(sweeps):
        for i in range(n):
            s = A[i] @ x - A[i, i] * x[i]
            x[i] = (b[i] - s) / A[i, i]
    return np.sum(x)


@textbook([(draw(3, 4), draw(4)), (draw(4, 2), draw(2))], draw(5, 3))
def perceptron(params, x):
    for W, b in params:
        x = np.tanh(x @ W + b)
    return np.sum(x)


@textbook(np.arange(8.0), draw(5), 4.3, 2, wrt=1)
def de_boor(knots, coeffs, x, degree):
    k = np.searchsorted(knots, x, side="right") - 1
    d = [coeffs[j + k - degree] for j in range(degree + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            alpha = (x - knots[j + k - degree]) / (knots[j + 1 + k - r] - knots[j + k - degree])
            d[j] = (1 - alpha) * d[j - 1] + alpha * d[j]
    return d[degree]


@textbook(draw(4, 3), 1.0)
def lennard_jones(pos, sigma):
    energy = 0.0
    for i in range(len(pos)):
        for j in range(i + 1, len(pos)):
            d = pos[i] - pos[j]
            s6 = (sigma**2 / np.sum(d * d)) ** 3
            energy += 4 * (s6 * s6 - s6)
    return energy


@textbook(draw(4, 3))
def lennard_jones_by_reciprocals(pos):
    energy = 0.0
    for i in range(len(pos)):
        for j in range(i):
            x, y, z = pos[i, 0] - pos[j, 0], pos[i, 1] - pos[j, 1], pos[i, 2] - pos[j, 2]
            s = 1.0 / (x * x + y * y + z * z)  # the only division
            s6 = s * s * s
            energy += 4 * (s6 * s6 - s6)
    return energy


@textbook(draw(4), draw(4, 4), draw(4, 3), np.array([0, 2, 1, 1]), wrt=1)
def viterbi(logp, logA, logB, obs):
    delta = logp + logB[:, obs[0]]
    for t in range(1, len(obs)):
        delta = np.max(delta[:, None] + logA, axis=0) + logB[:, obs[t]]
    return np.max(delta)


@textbook(draw(4, 3), draw(5, 3), draw(5, 2))
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    w = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return np.sum(w / np.sum(w, axis=-1, keepdims=True) @ v)


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in tapeless.tree.leaves(tree)])


@pytest.mark.parametrize(("function", "args", "wrt"), CASES)
def test_golden(golden, function, args, wrt):
    slope = tapeless.grad(function, argnums=wrt)
    golden(f"textbook/{function.__name__}.py", slope.source(*args))

    def moved(point):
        sizes = [np.size(leaf) for leaf in tapeless.tree.leaves(args[wrt])]
        parts = iter(np.split(point, np.cumsum(sizes)[:-1]))
        new = tapeless.tree.map(lambda leaf: next(parts).reshape(np.shape(leaf)), args[wrt])
        return function(*args[:wrt], new, *args[wrt + 1 :])

    expected = gradient(moved, flat(args[wrt]))
    np.testing.assert_allclose(flat(slope(*args)), expected, rtol=1e-6, atol=1e-7)
