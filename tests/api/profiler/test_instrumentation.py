"""What a trace replaces is named by text: all of it is there."""

import importlib

import pytest

from tapeless.profiler.instrumentation import PROBES


@pytest.mark.parametrize(("module", "owner", "attribute"), [probe[:3] for probe in PROBES])
def test_what_is_watched_is_there(module, owner, attribute):
    scope = importlib.import_module(module)
    assert callable(getattr(getattr(scope, owner) if owner else scope, attribute))
