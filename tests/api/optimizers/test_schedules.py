"""Schedules by their formulas, also under jit, and norms."""

import numpy as np
import pytest

from tapeless import check_grads, grad, jit, optimizers
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

SCHEDULES = {
    "constant": (optimizers.constant(0.3), lambda i: 0.3),
    "exponential": (optimizers.exponential_decay(0.5, 10, 0.9), lambda i: 0.5 * 0.9 ** (i / 10)),
    "inverse": (optimizers.inverse_time_decay(0.5, 10, 2.0), lambda i: 0.5 / (1 + 2.0 * i / 10)),
    "staircase": (
        optimizers.inverse_time_decay(0.5, 10, 2.0, staircase=True),
        lambda i: 0.5 / (1 + 2.0 * (i // 10)),
    ),
    "polynomial": (
        optimizers.polynomial_decay(1.0, 20, 0.1, power=2.0),
        lambda i: 0.9 * (1 - min(i, 20) / 20) ** 2 + 0.1,
    ),
    "pieces": (
        optimizers.piecewise_constant([5, 15], [1.0, 0.1, 0.01]),
        lambda i: 1.0 if i <= 5 else 0.1 if i <= 15 else 0.01,
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    schedule, want = SCHEDULES[name]
    compiled = jit(lambda i: schedule(i))
    for i in (0, 5, 6, 15, 16, 30):
        assert schedule(i) == pytest.approx(want(i), rel=1e-14)
        assert compiled(i) == pytest.approx(want(i), rel=1e-14)


@pytest.mark.parametrize("name", SCHEDULES)
def test_float32_stays(name):
    init, update, get_params = optimizers.sgd(SCHEDULES[name][0])
    state = init(np.ones(2, np.float32))
    for step in (update, jit(lambda i, g, s: update(i, g, s))):
        assert get_params(step(3, np.ones(2, np.float32), state)).dtype == np.float32


def test_bad_schedules():
    with pytest.raises(ArgumentError, match="2 boundaries and 2 values"):
        optimizers.piecewise_constant([1, 2], [0.1, 0.2])
    with pytest.raises(ArgumentError, match="must be sequences"):
        optimizers.piecewise_constant(1, [0.1, 0.2])
    with pytest.raises(ArgumentTypeError, match="not an array") as caught:
        optimizers.make_schedule(np.ones(3))
    assert "piecewise_constant" in str(caught.value)
    for wrong in (None, "fast"):
        with pytest.raises(ArgumentTypeError, match=f"a number or a function, not {wrong!r}"):
            optimizers.sgd(wrong)


def test_clipping():
    gradients = {"a": np.array([3.0, 0.0], np.float32), "b": 4.0}
    assert optimizers.l2_norm(gradients) == pytest.approx(5.0)
    clipped = optimizers.clip_grads(gradients, 2.5)
    np.testing.assert_allclose(clipped["a"], [1.5, 0.0])
    assert clipped["a"].dtype == np.float32
    assert clipped["b"] == pytest.approx(2.0)
    untouched = optimizers.clip_grads(gradients, 10.0)
    assert untouched["b"] == 4.0
    assert optimizers.clip_grads({"a": np.zeros(2)}, 1.0)["a"].tolist() == [0.0, 0.0]


def test_clipping_what_is_not_finite_or_no_float():
    assert np.isnan(optimizers.clip_grads([np.array([np.nan, 1.0])], 1.0)).all()
    np.testing.assert_allclose(optimizers.clip_grads([np.array([3, 4])], 1.0)[0], [0.6, 0.8])
    np.testing.assert_allclose(optimizers.clip_grads([np.array([3.0, 4.0j])], 1.0)[0], [0.6, 0.8j])


def test_the_norm_of_zeros_has_slope_zero():
    slopes = grad(optimizers.l2_norm)({"a": np.zeros(2), "b": 0.0})
    assert slopes["a"].tolist() == [0.0, 0.0]
    assert slopes["b"] == 0.0
    assert optimizers.l2_norm({}) == 0.0


def test_clipping_is_differentiable():
    check_grads(lambda x, y: optimizers.clip_grads([x, y], 1.0), (np.array([3.0, 1.0]), 2.0), 1)
