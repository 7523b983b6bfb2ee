"""`is` tells a view, which NumPy makes anew, from the array itself that some functions return."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

ROW = np.arange(1.0, 4.0)

SAME = {
    "asarray": lambda v: np.asarray(v),
    "atleast_1d": lambda v: np.atleast_1d(v),
    "squeeze": lambda v: np.squeeze(v),
    "method squeeze": lambda v: v.squeeze(),
    "real": lambda v: v.real,
    "conj": lambda v: v.conj(),
    "astype": lambda v: v.astype(float, copy=False),
    "array": lambda v: np.array(v, copy=None),
}
NEW = {
    "slice": lambda v: v[:],
    "ellipsis": lambda v: v[...],
    "T": lambda v: v.T,
    "transpose": lambda v: np.transpose(v),
    "reshape": lambda v: v.reshape(-1),
    "ravel": lambda v: v.ravel(),
    "swapaxes": lambda v: np.swapaxes(v, 0, 0),
    "split": lambda v: np.split(v, 1)[0],
}
OTHER = {
    "copy": lambda v: v.copy(),
    "conj of NumPy": lambda v: np.conj(v),
    "sum": lambda v: v + 1,
    "part": lambda v: v[1:],
}


def same_object(function, own):
    def asked(v):
        v = v * 2 if own else v
        return function(v) is v

    return asked


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", [*SAME, *OTHER])
def test_what_is_told(name, own):
    asked = same_object({**SAME, **OTHER}[name], own)
    assert tapeless.jit(asked)(ROW) is asked(ROW) is (name in SAME)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", NEW)
def test_what_is_refused(name, own):
    asked = same_object(NEW[name], own)
    assert asked(ROW) is False
    with pytest.raises(UnsupportedError, match="whether two variables hold one array"):
        tapeless.jit(asked)(ROW)


@pytest.mark.parametrize("function", [np.require, np.asfortranarray])
def test_what_may_be_a_copy_is_refused(function):
    with pytest.raises(UnsupportedError, match="whether two variables hold one array"):
        tapeless.jit(same_object(function, True))(ROW)


def test_an_array_that_was_not_viewed_is_itself():
    def kept(v):
        first, best = v * 2, v * 3
        best, second = first, best
        return best is first, best is second

    assert tapeless.jit(kept)(ROW) == (True, False)
