"""Records what was compiled of a program, as `jit(f).compilations` lists it."""

from __future__ import annotations

from tapeless.transforms.dataclass import dataclass


@dataclass(frozen=True)
class Compilation:
    """One kernel made for one signature.

    reason   what was new about the call
    seconds  how long it took to compile it, or to find it
    cached   whether it was found on disk
    """

    kernel: str
    signature: str
    reason: str
    seconds: float
    cached: bool
