"""Rewrites what has a derivative although the chain rule does not find it, before a program is
differentiated: functions of Hermitian matrices by their eigenvalues, and powers of roots.

    m = abs(z); y = m**2      becomes      m = abs(z); y = m**2, with slopes of its own
"""

from __future__ import annotations

from tapeless.transforms.autodiff.powers_of_roots import powers_of_roots
from tapeless.transforms.autodiff.spectral_recognition import spectral_functions
from tapeless.transforms.core.language import Block


def differentiable_form(block: Block) -> Block:
    """The block with the same values, ready for the rules of its operations."""
    return powers_of_roots(spectral_functions(block))
