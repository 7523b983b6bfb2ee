"""Example arguments from annotations and defaults."""

from typing import Optional

import numpy as np
import numpy.typing as npt
import pytest

from tapeless.tools.errors import UsageError
from tapeless.tools.signature import example_arguments, parameter_names, positions


def model(w: "f8[2,3]", x: np.ndarray, t: float, n: int, y: npt.NDArray[np.float64], z, k=7):  # noqa: F821  # a description
    return w, x, t, n, y, z, k


def test_annotations_and_defaults():
    w, x, t, n, y, z, k = example_arguments(model, None)
    assert w.shape == (2, 3)
    assert x.shape == y.shape == (3,)
    assert [type(value) for value in (t, n, z)] == [float, int, float]
    assert k == 7


def test_annotations_as_text():
    def postponed(x: "float", n: "int", a: "np.ndarray"): ...

    x, n, a = example_arguments(postponed, None)
    assert [type(value) for value in (x, n)] == [float, int]
    assert a.shape == (3,)


Vector = npt.NDArray[np.float64]


def test_annotations_by_other_names_and_of_several_types():
    def aliased(v: "Vector", a: float | None = None, b: Optional["float"] = None): ...

    def nested(pair: tuple[float, np.ndarray], late: "int | None" = None, other: str | None = None):
        return pair

    v, a, b = example_arguments(aliased, None)
    assert v.shape == (3,)
    assert [type(value) for value in (a, b)] == [float, float]
    (first, second), late, other = example_arguments(nested, None)
    assert type(first) is float
    assert second.shape == (3,)
    assert (type(late), other) == (int, None)


def test_described():
    found = example_arguments(lambda x, n=3: x**n, "f8=2")
    assert found == (2.0,)


def test_positions():
    assert positions(model, "x, n") == (1, 3)
    assert parameter_names(model) == ["w", "x", "t", "n", "y", "z", "k"]


def _typed(x: dict):
    return x


def _keyword(x, *, scale):
    return x * scale


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: example_arguments(_typed, None), "_typed does not tell what 'x' is like"),
        (lambda: example_arguments(_typed, "f8, f8"), "--args describes 2 arguments: too many"),
        (lambda: example_arguments(_keyword, None), "_keyword needs the keyword 'scale'"),
        (lambda: positions(_typed, "y"), "_typed has no positional parameter 'y'"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "\n  " in str(caught.value)
