"""The table of names is complete: what jax.lax has is here, or refused with a reason."""

import pytest

from tapeless import lax
from tests.api.lax.tables import jax_lax


def public(module):
    return {name for name in dir(module) if not name.startswith("_")}


def test_every_name_of_jax_is_here_or_refused():
    theirs = jax_lax()
    for name in public(theirs) - set(lax.__all__):
        with pytest.raises(AttributeError, match=r"does not exist here|there are no primitives"):
            getattr(lax, name)
    for name in public(theirs.linalg) - public(lax.linalg):
        if not name.endswith("_p"):
            with pytest.raises(AttributeError, match="does not exist here"):
                getattr(lax.linalg, name)


def test_names_are_there():
    assert all(hasattr(lax, name) for name in lax.__all__)
    assert all(getattr(lax, name).__doc__ for name in lax.__all__ if callable(getattr(lax, name)))


def test_refused():
    with pytest.raises(AttributeError, match=r"lax\.psend does not exist here: use ppermute"):
        _ = lax.psend
    with pytest.raises(AttributeError, match=r"lax\.sin_p: there are no primitives"):
        _ = lax.sin_p
    with pytest.raises(AttributeError, match="has no attribute 'sine'"):
        _ = lax.sine
