"""Describes a loop of the user's that does not become a loop of compiled code, and why; or code
that is traced on the values of each call."""

from __future__ import annotations

from dataclasses import dataclass

MANY = 64  # passes that a loop may be unrolled into without a warning


@dataclass(frozen=True)
class SlowLoop:
    """One loop, and what becomes of it.

    file, line  where the user wrote it
    function    the function that it is in
    fate        what becomes of it, after "the loop": "is run by Python, pass by pass"
    reason      why it is not compiled as a loop
    way_out     what the user can do about it
    what        what is there, where it is no loop
    """

    file: str
    line: int
    function: str
    fate: str
    reason: str
    way_out: str
    what: str = "the loop"

    def __str__(self) -> str:
        """
        >>> print(SlowLoop("f.py", 3, "f", "is run by Python", "print() stays", "print later"))
        the loop on line 3 of f is run by Python: print() stays; print later
        """
        within = f" of {self.function}" if self.function else ""
        what = f"{self.what} on line {self.line}{within} {self.fate}: {self.reason}"
        return f"{what}; {self.way_out}" if self.way_out else what
