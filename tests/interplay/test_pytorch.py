"""Tensors of PyTorch: refused as arguments, shared by DLPack, asked by a compiled program."""

import numpy as np
import pytest

from tapeless import dlpack, grad, jit
from tapeless.transforms.errors import ArgumentTypeError, NotDifferentiableError

torch = pytest.importorskip("torch", reason="pip install 'tapeless[interplay]' brings it")


def test_arguments_are_refused_by_name():
    with pytest.raises(ArgumentTypeError, match=r"x is of type torch\.Tensor(.|\n)*np\.asarray"):
        jit(lambda x: np.sum(x))(torch.ones(2))


def test_dtypes_that_numpy_does_not_have_are_refused_by_name():
    with pytest.raises(ArgumentTypeError, match=r"no dtype for torch\.bfloat16"):
        dlpack.from_dlpack(torch.ones(2, dtype=torch.bfloat16))


def test_what_is_stored_reaches_the_tensor():
    tensor = torch.arange(3.0)

    @jit
    def doubled(a):
        a *= 2
        return a

    doubled(dlpack.from_dlpack(tensor))
    assert tensor.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.usefixtures("traced")
def test_tensors_from_outside_are_asked_in_each_call():
    tensor = torch.tensor([1.0, 2.0])
    scaled = jit(lambda s: float((tensor * s).sum()))
    assert scaled(2.0) == 6.0
    tensor[0] = 4.0
    assert scaled(2.0) == 12.0
    with pytest.raises(NotDifferentiableError):
        grad(lambda s: float((tensor * s).sum()))(2.0)
    assert grad(lambda s: np.sum(np.asarray(tensor) * s))(2.0) == 6.0
