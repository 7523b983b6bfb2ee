"""Sampled calls of every function give what NumPy and SciPy give, but for what is recorded."""

import math

import numpy as np
import pytest

from tapeless.tools import numpy_comparison
from tapeless.tools.comparing import records
from tapeless.tools.comparing.calls import ComparedCall, calls
from tapeless.tools.comparing.inputs import Sample, copy_value
from tapeless.tools.comparing.outcomes import Raised, difference
from tapeless.tools.comparing.running import compare_calls, functions

SHARE = 0.016
#: As many parts as share the sample, so that no test takes long.
PARTS = 8


# scipy.special.hyp0f1 divides by zero, and says so on the way
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_functions_agree_as_recorded(part):
    """Every eighth function is compiled too. Another processor may round otherwise, so that units
    in the last place have a margin."""
    surprises = []
    for k, (name, function) in enumerate(functions().items()):
        if k % PARTS != part:
            continue
        walk = compare_calls(name, calls(name, function), SHARE, int(k % (8 * PARTS) == part))
        known = records.read().get(name, {})
        for (form, kind), each in walk.found.items():
            limit = known[form].get(kind, 0) if form in known else 0
            most = max(d.ulps for _, d in each)
            if not (limit and (kind != "last places" or most <= 4 * limit + 4)):
                surprises += [f"{form} {kind}: {call}: {d.text}" for call, d in each[:1]]
    assert not surprises, "\n".join(surprises)


def test_what_is_recorded_is_there():
    assert set(records.read()) <= set(functions())


DIFFERENT = {
    "same": (np.array([1.0, np.nan, -0.0]), np.array([1.0, np.nan, -0.0])),
    "sign of zero": (np.array([0.0]), np.array([-0.0])),
    "last places": (np.array([np.nextafter(1.0, 2.0)]), np.array([1.0])),
    "value": (np.array([1.0, 2.0]), np.array([1.0, np.nan])),
    "dtype": (np.float32(1.0), np.float64(1.0)),
    "shape": (np.zeros(2), np.zeros((2, 1))),
    "type": (1.0, np.array(1.0)),
    "nan part": (np.array([complex(math.nan, 1.0)]), np.array([complex(math.nan, math.nan)])),
    "accepted": (1.0, Raised(ValueError("no"))),
    "exception": (Raised(TypeError("no")), Raised(ValueError("no"))),
    "failed": (Raised(TypeError("no")), 1.0),
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_differences_are_noticed(kind):
    found, wanted = DIFFERENT[kind]
    assert difference(found, wanted).kind == kind
    assert difference([found], [wanted]).kind == kind


def test_units_in_the_last_place():
    """Of single numbers; of sums that cancel, those of the greatest number."""
    up = np.spacing(np.float32(3.0))
    assert difference(np.float32(3.0) + 5 * up, np.float32(3.0)).ulps == 5
    assert difference(np.array([8.0, 1e-15]), np.array([8.0, 0.0])).ulps < 1


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "broadcast"])
def test_samples_keep_their_layout(layout):
    array = Sample("float32", (3, 4), "special", layout).array()
    again = copy_value(array)
    assert again.strides == array.strides
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again, array)
    np.testing.assert_array_equal(np.signbit(again), np.signbit(array))


def test_a_wrong_rule_is_found(monkeypatch):
    """A rule that adds where NumPy subtracts differs in its values."""
    wrong = ComparedCall("np.subtract", np.subtract, Sample("float64", (3,)))
    monkeypatch.setattr(
        "tapeless.tools.comparing.calls.forms_of",
        lambda name, f: (lambda s: (s.array(), s.array(1)),),
    )
    walk = compare_calls("np.subtract", [wrong], 1.0, 0)
    assert not walk.found
    monkeypatch.setattr(
        "tapeless.tools.comparing.running.run_emitted", lambda run, *args: np.add(*args)
    )
    walk = compare_calls("np.subtract", [wrong], 1.0, 0)
    assert {kind for _, kind in walk.found} == {"value"}


def test_the_command(capsys):
    assert numpy_comparison.main(["np.trunc", "--share", "0.05"]) == 0
    printed = capsys.readouterr().out
    assert "np.trunc" in printed
    assert "0 kinds of differences are not explained" in printed


def test_names_that_no_function_has_are_refused(capsys):
    with pytest.raises(SystemExit):
        numpy_comparison.main(["exprel"])
    assert "no function that has a rule is called exprel" in capsys.readouterr().err
