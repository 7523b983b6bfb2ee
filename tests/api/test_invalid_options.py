"""Options of transformations that are of another type: refused as such, with a way out."""

import numpy as np
import pytest

from tapeless import grad, hessian, jacfwd, jacrev, jit, pmap, value_and_grad, vmap
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


AXES = (3.5, object(), b"x", "x", np.array([0, 1]), ["y"])
NUMBERS = (3.5, "3", [1], object())
WITHOUT_HASH = ([1], {"a": 1}, np.zeros(2))
BATCHED = [
    *((t, o, v) for t in (vmap, pmap) for o in ("in_axes", "out_axes") for v in AXES),
    *((t, "axis_size", v) for t in (vmap, pmap) for v in NUMBERS),
    *((t, "axis_name", v) for t in (vmap, pmap) for v in WITHOUT_HASH),
    *((pmap, "devices", v) for v in (3, "cpu", ["cpu"])),
    *((pmap, o, v) for o in ("static_broadcasted_argnums", "donate_argnums") for v in (1.5, "x")),
]


@pytest.mark.parametrize(("transform", "option", "value"), BATCHED)
def test_options_of_batches_of_other_types(transform, option, value):
    with pytest.raises(TypeError) as refused:
        transform(lambda x: x, **{option: value})(np.ones((1, 2)))
    assert isinstance(refused.value, TapelessError)
    assert refused.value.hint
    assert str(refused.value).startswith(transform.__name__)


@pytest.mark.parametrize("option", ["device", "backend"])
def test_places_that_are_none(option):
    with pytest.raises(ValueError, match=option) as refused:
        jit(lambda x: x, **{option: np.ones(2)})
    assert isinstance(refused.value, TapelessError)


@pytest.mark.parametrize("transform", [jacfwd, jacrev, hessian])
def test_errors_say_what_was_called(transform):
    for wrong in (
        lambda: transform(lambda x: x, has_aux=True)(1.0),
        lambda: transform(lambda x: x)(1),
        lambda: transform(lambda x: x, argnums=2)(1.0),
        lambda: transform(lambda x: 1j * x)(1.0),
    ):
        with pytest.raises(TapelessError) as refused:
            wrong()
        assert str(refused.value).startswith(transform.__name__)
