"""Warns where code is slow: loops that are unrolled many times, or run by Python although
under `jit`; code that is traced on the values of each call; batches of which each element is
a call.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

Report = tuple[str, str, int]  # a message, and the file and line that it is about


class PerformanceWarning(UserWarning):
    """A loop of a transformed function does not become a loop of compiled code, or the function is
    traced on the values of each call.

    It is issued when the function is staged, at the line that it is about, once for each place and
    function; later calls do not look for it. `warnings.filterwarnings("ignore",
    category=tapeless.PerformanceWarning)` turns it off, and `"error"` makes it an exception.

    >>> import numpy as np, tapeless, warnings
    >>> def filtered(u, steps):
    ...     for _ in range(steps):
    ...         u = np.fft.fft(u).real
    ...     return u
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     value = tapeless.jit(filtered)(np.ones(9), 5)
    >>> [w.lineno for w in caught], caught[0].category.__name__
    ([2], 'PerformanceWarning')
    """


#: What was issued already.
_told: set[Report] = set()


def warn(reports: Iterable[Report]) -> None:
    """Issues those that were not issued yet."""
    for report in reports:
        if report not in _told:
            message, file, line = report
            warnings.warn_explicit(message, PerformanceWarning, file, line, registry={})
            _told.add(report)
