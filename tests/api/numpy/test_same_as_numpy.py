"""Every function of tapeless.numpy that is NumPy's gives what NumPy gives, in arrays of ours."""

import copy

import numpy as np
import pytest

import tapeless.numpy as jnp
from tapeless import tree
from tapeless.staging.jax_arrays import Array
from tests.transforms.ops.cases import is_float
from tests.transforms.ops.test_function_table import CASES

MODULES = ((np, jnp), (np.linalg, jnp.linalg), (np.fft, jnp.fft))
OURS = {
    getattr(theirs, name): getattr(ours, name)
    for theirs, ours in MODULES
    for name in ours.__all__
    if callable(getattr(ours, name)) and hasattr(theirs, name)
}
#: They mean more than NumPy's, and are tested by themselves.
VARIED = {
    *(np.argsort, np.sort, np.put, np.place, np.put_along_axis, np.fill_diagonal, np.unique),
    *(np.polymul, np.polydiv, np.setdiff1d, np.setxor1d, np.intersect1d, np.vectorize),
    *(np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh, np.linalg.lstsq),
}


def is_same(function):
    """Whether a function means the same here."""
    hashes = getattr(function, "__hash__", None) is not None
    return hashes and function in OURS and function not in VARIED


SAME = [each for each in CASES if is_same(each.function)]


@pytest.mark.parametrize("case", SAME, ids=lambda each: each.name)
def test_values(case):
    made = OURS[case.function](*copy.deepcopy(case.args), **case.static)
    wanted = case.function(*copy.deepcopy(case.args), **case.static)
    leaves, expected = tree.leaves(made), tree.leaves(wanted)
    assert len(leaves) == len(expected)
    for a, b in zip(leaves, expected, strict=True):
        if isinstance(b, (np.ndarray, np.generic)):
            assert type(a) is Array
            assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12 if is_float(b) else 0, equal_nan=True)


def test_most_functions_are_here():
    assert len({each.function for each in SAME}) > 250
