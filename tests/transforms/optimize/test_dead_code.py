"""What nobody reads is not computed, unless it does something else as well."""

import numpy as np
import pytest

from tapeless import grad, jacfwd, jit, value_and_grad, vmap


def draws_in_a_loop(x, n, rng):
    for _ in range(n):
        rng.normal()
    return x * rng.normal()


def draws_while(x, n, rng):
    left = x
    while left > n:
        rng.normal()
        left = left - 1
    return x * rng.normal()


def drawn_deeply(x, n, rng):
    def deeper(x):
        if x < 0.3:
            return x
        return deeper(x * 0.5) + rng.normal()

    deeper(x)
    return deeper(x) + deeper(x)


@pytest.mark.parametrize("f", [draws_in_a_loop, draws_while, drawn_deeply])
def test_numbers_that_nobody_reads_are_drawn(f):
    rng = np.random.default_rng
    expected = f(5.5, 3, rng(0))
    assert jit(f)(5.5, np.int64(3), rng(0)) == expected
    step = (f(5.5 + 1e-6, 3, rng(0)) - f(5.5 - 1e-6, 3, rng(0))) / 2e-6
    np.testing.assert_allclose(grad(f)(5.5, np.int64(3), rng(0)), step, rtol=1e-6)


def test_loops_that_nobody_reads_are_dropped():
    def settled(x):
        while x > 0.3:
            x = 0.9 * np.sin(x)
        return x

    second = jacfwd(grad(settled))
    step = (grad(settled)(0.5 + 1e-6) - grad(settled)(0.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(second(0.5), step, rtol=1e-7)
    assert second.source().count("while ") == 1


def early(x, v):
    if np.any(v > 0.6):
        pass
    elif x < 0.3:  # noqa: SIM102
        if np.any(v > 0.6):
            return np.sin(x)
    return 0.5 * x


def test_a_length_is_read_of_what_stands_ahead_of_a_branch():
    x = np.array([-0.8, 0.7])
    for v in (np.array([0.7, -0.5]), np.array([0.3, -0.5])):
        value, slope = value_and_grad(lambda x, v: np.sum(vmap(early, (0, None))(x, v)))(x, v)
        assert value == sum(early(e, v) for e in x)
        np.testing.assert_array_equal(slope, [0.5, 0.5])
