"""Functions of `scipy.special`: in kernels where they are made of others, else CuPy's."""

import numpy as np
import pytest
from scipy import special

import tapeless
from tapeless import grad, jit

X = np.linspace(0.2, 0.9, 7)
FUNCTIONS = {
    "logistic": lambda x: special.expit(x) * special.logit(x) + special.log_expit(x),
    "entropies": lambda x: special.entr(x) + special.xlogy(x, x) + special.rel_entr(x, 1 + x),
    "log-gamma": lambda x: special.gammaln(x) + special.betaln(x, 2.0),
    "polygamma": lambda x: special.digamma(x) + special.polygamma(2, x),
    "normal": lambda x: special.ndtri(x) + special.log_ndtr(x) + special.erfinv(x),
    "Bessel": lambda x: special.j0(x) + special.i0e(x),
    "incomplete": lambda x: special.gammainc(2.0, x) + special.betainc(2.0, 3.0, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes(name, gpu):
    f = FUNCTIONS[name]
    for g in (f, grad(lambda x: np.sum(f(x)))):
        found = tapeless.device_get(jit(g, backend="gpu")(X))
        np.testing.assert_allclose(found, g(X), rtol=1e-12)


def test_logistic_functions_are_in_kernels(gpu):
    assert "scipy" not in jit(FUNCTIONS["logistic"], backend="gpu").source(X)


def test_what_cupy_does_not_have_is_refused_with_the_line(gpu):
    def f(x):
        return special.hyp1f1(1.0, 2.0, x)

    with pytest.raises(tapeless.errors.UnsupportedError, match="hyp1f1 has no form on") as told:
        jit(f, backend="gpu")(X)
    assert "        return special.hyp1f1(1.0, 2.0, x)".strip() in str(told.value)
