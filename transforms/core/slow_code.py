"""Describes what is slower than the user may expect, and why: a loop that does not become one of
compiled code, or code that is traced on the values of each call."""

from __future__ import annotations

from tapeless.transforms.dataclass import dataclass

MANY = 64  # passes that a loop may be unrolled into without a warning


@dataclass(frozen=True)
class SlowCode:
    """A loop, or other code, and what becomes of it.

    file, line  where the user wrote it
    function    the function that it is in
    fate        what becomes of it: "is run by Python, pass by pass"
    reason      why
    way_out     what the user can do about it
    what        what it is called
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
        >>> print(SlowCode("f.py", 3, "f", "is run by Python", "print() stays", "print later"))
        the loop on line 3 of f is run by Python: print() stays; print later
        """
        within = f" of {self.function}" if self.function else ""
        what = f"{self.what} on line {self.line}{within} {self.fate}: {self.reason}"
        return f"{what}; {self.way_out}" if self.way_out else what
