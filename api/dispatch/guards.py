"""Tests of what a program read from outside, written out as one expression.

c0['rate'] is c1 and c2.__code__ is c3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tapeless.lazy_import import later

if TYPE_CHECKING:
    from tapeless.transforms.frontend.trace import readers
    from tapeless.transforms.frontend.trace import recorded_reads as reads
else:
    readers = later("tapeless.transforms.frontend.trace.readers")
    reads = later("tapeless.transforms.frontend.trace.recorded_reads")

Naming = Callable[[Any], str]


def tests(guards: Iterable[Any], naming: Naming) -> Iterator[str]:
    """An expression for each guard, true where it holds. The object that was read is compared
    first; whether another one means the same is asked of the guard. They may raise what `missing`
    lists."""
    for guard in guards:
        holds = f"{naming(guard.holds)}()"
        read = getattr(guard.get, "expression", None)
        if read is None or type(guard) is not reads.Guard:
            yield holds
        else:
            yield f"({read(naming)} is {naming(guard.value)} or {holds})"


def missing() -> tuple[type[Exception], ...]:
    """What reading raises where a variable or an attribute is no more."""
    return readers.GONE


def together(guards: list[Any]) -> list[Callable[[], bool]]:
    """At most one function, which tests all guards."""
    if not guards:
        return []
    names: dict[str, Any] = {"GONE": missing()}

    def naming(value: Any) -> str:
        names[f"c{len(names)}"] = value
        return f"c{len(names) - 1}"

    lines = (
        "def holds():",
        "    try:",
        f"        return {' and '.join(tests(guards, naming))}",
        "    except GONE:",
        "        return False",
    )
    exec(compile("\n".join(lines), "<guards>", "exec", dont_inherit=True), names)
    return [names["holds"]]
