"""Tests whether matrices can be factorised: what `except np.linalg.LinAlgError` finds out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.new_arrays import no_tangent

FACTORISES = '''
def factorises(method, a):
    """Whether a function of numpy.linalg has a result for a."""
    try:
        method(a)
    except np.linalg.LinAlgError:
        return False
    return True
'''


def _source(args: Any, params: Any) -> tuple[str, str]:
    return f"factorises(np.linalg.{params['method']}, {{0}})", FACTORISES


def _infer(a: Atom, *, method: str) -> Type:
    return Type(np.dtype(bool), ())


factorises = Op("factorises", _infer, _source, no_tangent, costly=True)
