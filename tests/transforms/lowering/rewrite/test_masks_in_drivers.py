"""Places of masks are found by NumPy where the loop around them is one of the driver."""

import warnings

import numpy as np

from tapeless import PerformanceWarning, jit


def until_all_have_left(x, steps):
    """Each pass keeps what is still near; the lengths of all arrays are those of the data."""
    left = np.zeros(x.shape, dtype=int)
    places = np.arange(len(x))
    for k in range(steps):
        if not len(x):
            break
        x = x * x + 0.3
        gone = np.abs(x) > 2.0
        print(k, len(x))  # noqa: T201  # by Python
        left[places[gone]] = k + 1
        x, places = x[~gone], places[~gone]
    return left, x


def test_no_loop_over_elements_is_left_to_python():
    x = np.linspace(-1.5, 1.5, 200)
    f = jit(until_all_have_left)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        got, wanted = f(x, 9), until_all_have_left(x, 9)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    driver = f.source(x, 9).partition("\ndef until_all_have_left(")[2]
    assert driver.count("for ") == 1
    assert "[gone]" in driver
