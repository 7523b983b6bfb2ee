"""Says what code that is traced on the values of a call, and those who call it, agree on.

raise RuntimeError("not the traced way: line 7 goes on with True")
"""

from __future__ import annotations

import os
from contextvars import ContextVar

#: How the error begins that traced code raises for values which take another way.
OTHER_WAY = "not the traced way: "

#: Whether nothing is traced: what cannot be staged for all values is refused. TAPELESS_STRICT=1
#: says so for a process.
STRICT = [os.environ.get("TAPELESS_STRICT", "") not in ("", "0")]

#: What the error says of lengths that differ, one of which run-time values decide.
NOT_STRETCHED = "one that run-time values decide is not stretched"
#: Whether operands are stretched whose lengths run-time values decide, as a call has needed.
all_lengths: ContextVar[bool] = ContextVar("all_lengths", default=False)
