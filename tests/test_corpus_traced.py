"""Programs of the corpus as if they could not be staged for all values: traced, in both ways."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.staging import stage
from tests.corpus import programs
from tests.corpus.differences import gradient, leaves, ravel

pytestmark = pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
LONG = {"recursion.thousands_of_known_calls"}
SAMPLE = [p for p in itertools.islice(programs(), 3, None, 17) if p.name not in LONG]


@pytest.fixture(params=[False, True], ids=["where_values_are_needed", "every_test"])
def traced(request, monkeypatch):
    """Nothing is staged for all values; the parameter says whether every test goes one way."""

    def refused(*_):
        raise UnsupportedError("staged for all values")

    on_values = stage._on_values

    def every_test(*args):
        return on_values(*args[:5], True, *args[6:])

    monkeypatch.setattr(stage, "_for_all_values", refused)
    if request.param:
        monkeypatch.setattr(stage, "_on_values", every_test)
    with tapeless.strict(False):
        yield


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("program", SAMPLE, ids=lambda each: each.name)
def test_slopes(program):
    slopes = tapeless.grad(program.projected(), argnums=program.wrt)(*program.arguments())
    expected = gradient(program.objective(), ravel(program.active()))
    short = any(np.asarray(x).dtype == np.float32 for x in leaves(program.active()))
    tolerance = 1e-4 if short else 1e-6
    atol = tolerance * np.linalg.norm(expected)
    np.testing.assert_allclose(ravel(slopes), expected, rtol=tolerance, atol=atol)
