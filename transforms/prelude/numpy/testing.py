"""Implements the assertions of np.testing about numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-07,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
    *,
    strict: bool = False,
) -> None:
    """abs(actual - desired) <= atol + rtol * abs(desired)"""
    if not np.allclose(actual, desired, rtol, atol, equal_nan):
        raise AssertionError(f"Not equal to tolerance rtol={rtol}, atol={atol}\n{err_msg}")


def assert_almost_equal(
    actual: Any, desired: Any, decimal: int = 7, err_msg: str = "", verbose: bool = True
) -> None:
    """abs(desired - actual) < 1.5 * 10**-decimal"""
    if not np.all(_are_near(actual, desired, decimal)):
        raise AssertionError(f"Arrays are not almost equal to {decimal} decimals\n{err_msg}")


def assert_array_almost_equal(
    actual: Any, desired: Any, decimal: int = 6, err_msg: str = "", verbose: bool = True
) -> None:
    assert_almost_equal(actual, desired, decimal, err_msg)


def assert_array_equal(
    actual: Any, desired: Any, err_msg: str = "", verbose: bool = True, *, strict: bool = False
) -> None:
    actual, desired = np.asarray(actual), np.asarray(desired)
    alike = actual.shape == desired.shape or not (strict or (actual.ndim and desired.ndim))
    if not alike or not np.all((actual == desired) | ((actual != actual) & (desired != desired))):
        raise AssertionError(f"Arrays are not equal\n{err_msg}")


def assert_array_less(
    x: Any, y: Any, err_msg: str = "", verbose: bool = True, *, strict: bool = False
) -> None:
    if not np.all(np.asarray(x) < np.asarray(y)):
        raise AssertionError(f"Arrays are not strictly ordered `x < y`\n{err_msg}")


def _are_near(actual: Any, desired: Any, decimal: int) -> Any:
    actual, desired = np.asarray(actual), np.asarray(desired)
    same = (actual == desired) | ((actual != actual) & (desired != desired))  # infinite, or nan
    return same | (np.abs(desired - actual) < 1.5 * 10.0**-decimal)


ASSERTIONS: dict[str, Any] = {
    "assert_allclose": assert_allclose,
    "assert_almost_equal": assert_almost_equal,
    "assert_array_almost_equal": assert_array_almost_equal,
    "assert_array_equal": assert_array_equal,
    "assert_equal": assert_array_equal,
    "assert_array_less": assert_array_less,
}


def standing_for(f: Any) -> Any:
    """Ours for one of np.testing."""
    return ASSERTIONS.get(f.__name__)
