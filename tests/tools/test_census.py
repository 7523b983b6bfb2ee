"""Each public function of NumPy and SciPy has a rule, or a reason why it has none."""

from pathlib import Path

import numpy as np
import pytest

scipy = pytest.importorskip("scipy", reason="SciPy is optional")
from tapeless.tools import census  # noqa: E402 (it reads SciPy)

COMPARED = ("2.4", "1.17")
#: Functions that users meet: they must stay.
MET = {
    "numpy": ["real_if_close", "ndarray", "common_type", "interp", "convolve"],
    "numpy.lib.stride_tricks": ["as_strided", "sliding_window_view"],
    "scipy.special": ["fdtr", "chdtri", "spherical_jn", "voigt_profile", "hankel1", "bdtr"],
    "scipy.stats": ["t", "dirichlet", "multivariate_normal", "lognorm", "wishart", "weibull_min"],
    "scipy.signal": ["convolve2d", "correlate2d", "chirp"],
}


def versions():
    return tuple(".".join(m.__version__.split(".")[:2]) for m in (np, scipy))


def test_every_function_has_a_rule_or_a_reason():
    unknown = [f"{module}.{name}" for module, name, why in census.without_rule() if why is None]
    assert unknown == []


@pytest.mark.parametrize("module", MET)
def test_what_users_meet_has_a_rule(module):
    found = dict(census.functions(module))
    assert [name for name in MET[module] if not census.has_rule(found[name])] == []


def test_every_reason_is_needed():
    met = {why for _, _, why in census.without_rule()}
    assert met == {*census.REASONS}


def test_a_new_function_without_a_reason_is_seen(monkeypatch):
    def unheard_of(x):
        return x

    unheard_of.__module__ = "numpy"
    monkeypatch.setattr(np, "unheard_of", unheard_of, raising=False)
    monkeypatch.setattr(np, "__all__", [*np.__all__, "unheard_of"])
    assert ("numpy", "unheard_of", None) in [*census.without_rule()]


def test_the_page_is_that_of_the_libraries():
    page = (Path(__file__).parents[2] / "docs" / "census.md").read_text()
    assert all(why in page for why in census.REASONS)
    if versions() == COMPARED:  # others have other functions
        assert page == census.page()
