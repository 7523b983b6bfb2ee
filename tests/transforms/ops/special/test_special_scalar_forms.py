"""Special functions in kernels have SciPy's values: inside of their domains and at the ends."""

import itertools

import numpy as np
import pytest
from scipy import special

from tapeless import jit

EDGES = [0.0, -0.0, 1.0, -1.0, 0.3, 0.5, 0.65, 0.66, 1e-300, 1e300, np.inf, -np.inf, np.nan]
RNG = np.random.default_rng(0)
ONE = {
    "expit": lambda x: special.expit(x) + 0.0,
    "log_expit": lambda x: special.log_expit(x) + 0.0,
    "logit": lambda x: special.logit(x) + 0.0,
    "entr": lambda x: special.entr(x) + 0.0,
}
TWO = {
    "xlogy": lambda x, y: special.xlogy(x, y) + 0.0,
    "xlog1py": lambda x, y: special.xlog1py(x, y) + 0.0,
    "rel_entr": lambda x, y: special.rel_entr(x, y) + 0.0,
    "kl_div": lambda x, y: special.kl_div(x, y) + 0.0,
}


def check(f, *args, rtol):
    compiled = jit(f)
    with np.errstate(all="ignore"):
        expected = f(*args)
    found = compiled(*args)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol)
    assert "scipy" not in compiled.source(*args)


@pytest.mark.parametrize("name", ONE)
def test_of_one_number(name):
    inside = np.concatenate([RNG.uniform(0, 1, 500), RNG.normal(size=500) * 30])
    check(ONE[name], np.concatenate([EDGES, inside]), rtol=1e-14)
    check(ONE[name], inside.astype(np.float32), rtol=1e-5)
    check(ONE[name], np.arange(-3, 4), rtol=1e-14)


@pytest.mark.parametrize("name", TWO)
def test_of_two_numbers(name):
    x, y = np.array(list(itertools.product(EDGES, EDGES))).T
    check(TWO[name], x, y, rtol=1e-14)
    x, y = RNG.uniform(0, 3, (2, 500))
    check(TWO[name], x, y, rtol=1e-11)  # kl_div is a difference where x is near y
    check(TWO[name], x, 2.5, rtol=1e-11)
