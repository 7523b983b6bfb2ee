"""Options of transformations that are of another type: refused as such, with a way out."""

import numpy as np
import pytest

from tapeless import grad, hessian, jacfwd, jacrev, jit, value_and_grad
from tapeless.transforms.errors import TapelessError

WRONG = (3.5, {"a": 1}, [[1]], object(), np.array([0, 1]), b"x", ["y", 3])
OPTIONS = {
    grad: ("argnums", "argnames", "has_aux", "holomorphic"),
    value_and_grad: ("argnums", "argnames", "has_aux", "holomorphic"),
    jacfwd: ("argnums", "has_aux", "holomorphic"),
    jacrev: ("argnums", "has_aux", "holomorphic"),
    hessian: ("argnums", "has_aux", "holomorphic"),
    jit: ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"),
}


@pytest.mark.parametrize(
    ("transform", "option"), [(f, o) for f, options in OPTIONS.items() for o in options]
)
def test_values_of_other_types(transform, option):
    for value in WRONG:
        with pytest.raises(TypeError) as refused:
            transform(lambda x, y: x * y, **{option: value})
        assert isinstance(refused.value, TapelessError)
        assert refused.value.hint
        assert option.removeprefix("static_").removeprefix("donate_") in str(refused.value)
