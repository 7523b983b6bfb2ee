"""Programs on a GPU give NumPy's values, whatever the order of blocks and threads."""

import ast

import numpy as np
import pytest

import tapeless
from tapeless import jit
from tests.gpu.programs import PROGRAMS

#: Never wait for the device, with arguments that lie there.
WITHOUT_WAITS = ["s1", "s2", "s3", "s4", "softmax", "cross-entropy", "mlp", "layer-norm"]
WITHOUT_WAITS += ["cross-entropy-gradient", "mlp-gradient"]


def code_of(source):
    """The CUDA C of an emitted module; "" if it has none."""
    for s in ast.parse(source).body:
        match s:
            case ast.Assign(targets=[ast.Name("CODE")], value=ast.Constant(str(text))):
                return text
    return ""


def source_of(program):
    """The emitted module."""
    return jit(program.transformed, backend="gpu").lower(*program.arguments()).source()


def on_gpu(program):
    """The result, transferred to the host."""
    return tapeless.device_get(jit(program.transformed, backend="gpu")(*program.arguments()))


def assert_near(program, found, expected):
    found, expected = (tapeless.tree.leaves(x) for x in (found, expected))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        b = np.asarray(b)
        scale = np.abs(b).max() if b.size else 0
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=program.rtol, atol=program.rtol * scale)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_numpy(name, gpu):
    program = PROGRAMS[name]
    assert_near(program, on_gpu(program), program.expected())
