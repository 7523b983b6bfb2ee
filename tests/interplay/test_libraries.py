"""Functions of scikit-learn and dask inside of programs are called, not looked into."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.errors import NotDifferentiableError

pytestmark = pytest.mark.usefixtures("traced")
Y = np.array([1.0, 2.0, 3.0])


def test_a_metric_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="pip install 'tapeless[test]'")

    def error(s):
        return metrics.mean_squared_error(Y, s * Y)

    assert jit(error)(2.0) == error(2.0)
    with pytest.raises(NotDifferentiableError, match="mean_squared_error is called"):
        grad(error)(2.0)


def test_a_fitted_transformer_of_scikit_learn():
    preprocessing = pytest.importorskip("sklearn.preprocessing", reason="'tapeless[test]'")
    scaler = preprocessing.StandardScaler().fit(Y[:, None])

    def scaled(s):
        return np.sum(scaler.transform(s * Y[:, None]))

    assert jit(scaled)(2.0) == scaled(2.0)


def test_arrays_of_dask():
    dask = pytest.importorskip("dask.array", reason="pip install 'tapeless[test]' brings it")
    blocks = dask.from_array(Y, chunks=2)

    def total(s):
        return np.sum(np.multiply(blocks, s)).compute()

    assert jit(total)(2.0) == total(2.0)
