"""Names what of jax.lax has no meaning here, and why."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import UnsupportedError

TOKENS = "effects happen in the order of the program, without tokens"
COMPILER = "it speaks to XLA's compiler, which is not used"
REASONS = {
    "AccuracyMode": COMPILER,
    "DotAlgorithm": COMPILER,
    "DotAlgorithmPreset": COMPILER,
    "Tolerance": COMPILER,
    "after_all": TOKENS,
    "composite": COMPILER,
    "create_token": TOKENS,
    "dce_sink": COMPILER,
    "pcast": "types of values do not say over which axes they vary",
    "precv": "use ppermute, which sends and receives",
    "psend": "use ppermute, which sends and receives",
    "ragged_all_to_all": "collectives take parts of one length; pad them, and use all_to_all",
    "rng_bit_generator": "use random.bits, whose keys are two words",
    "rng_uniform": "use random.uniform with a key",
    "scaled_dot": "there are no dtypes of 8 bits that need scales; scale and use dot_general",
}


LINALG = {
    "EigImplementation": COMPILER,
    "EighImplementation": COMPILER,
    "SvdAlgorithm": COMPILER,
    "qdwh": "use svd: of x = u s vh the polar factors are u vh and vh.T s vh",
}


class MissingNameError(UnsupportedError, AttributeError):
    """A name of jax.lax that is not here."""


def refuse(name: str) -> Any:
    """Raises AttributeError with the reason why a name is not here."""
    if name.endswith("_p") and not name.startswith("_"):
        raise MissingNameError(
            f"lax.{name}: there are no primitives: operations are those of NumPy",
            f"use lax.{name[:-2]}, or give a function of your own a rule with custom_jvp",
        )
    if name in REASONS:
        raise MissingNameError(f"lax.{name} does not exist here: {REASONS[name]}")
    raise AttributeError(f"module 'tapeless.lax' has no attribute {name!r}")


def refuse_linalg(name: str) -> Any:
    """Raises AttributeError with the reason why a name of linalg is not here."""
    if name in LINALG:
        raise MissingNameError(f"lax.linalg.{name} does not exist here: {LINALG[name]}")
    raise AttributeError(f"module 'tapeless.lax.linalg' has no attribute {name!r}")


__all__: list[str] = []
