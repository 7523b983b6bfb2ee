"""Writes the tests of what a program read from outside as one expression.

    (r0 := c0['SETTINGS']) is c1 and type(r0) is c2 and c3(r0) and c4.__code__ is c5

Tests compare addresses. Only where one is another than before the guard itself is asked, which may
find that the other object means the same.
"""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tapeless.lazy_import import lazy_module

if TYPE_CHECKING:
    from tapeless.backends.cpu.driver import identical_contents
    from tapeless.transforms.frontend.trace import readers
    from tapeless.transforms.frontend.trace import recorded_reads as reads
else:
    identical_contents = lazy_module("tapeless.backends.cpu.driver.identical_contents")
    readers = lazy_module("tapeless.transforms.frontend.trace.readers")
    reads = lazy_module("tapeless.transforms.frontend.trace.recorded_reads")

Naming = Callable[[Any], str]


def tests(guards: Iterable[Any], constant: Naming) -> Iterator[str]:
    """An expression for each guard, true where it holds, to be tested in this order: what several
    guards read is kept in a variable. They may raise what `missing` lists."""
    guards = [*guards]
    reads_of = Counter(id(reader) for guard in guards for reader in _readers(guard))
    variables: dict[int, str] = {}

    def naming(value: Any) -> str:
        if not isinstance(value, readers.Reader):
            return constant(value)
        if id(value) in variables:
            return variables[id(value)]
        text = value.expression(naming)
        if reads_of[id(value)] < 2:
            return text
        variables[id(value)] = f"r{len(variables)}"
        return f"({variables[id(value)]} := {text})"

    for guard in guards:
        quick, holds = _addresses(guard, naming), f"{constant(guard.holds)}()"
        yield holds if quick is None else f"({quick} or {holds})"


def _readers(guard: Any) -> Iterator[Any]:
    """The reader of a guard, and those that it reads inside of."""
    reader = guard.get
    while isinstance(reader, readers.Reader):
        yield reader
        reader = getattr(reader, "get", None)


def _addresses(guard: Any, naming: Naming) -> str | None:
    """A test whether a guard holds since all objects are the same; None if there is none."""
    if isinstance(guard.get, readers.KeysOf):
        keys = readers.read(guard.get.get, naming)
        same = f"all(map({naming(operator.is_)}, r, {naming(guard.value)}))"
        return f"len(r := {keys}) == {len(guard.value)} and {same}"
    if guard.contents is not None:
        test = _identical(guard)
        return test and f"{naming(test)}({readers.read(guard.contents, naming)})"
    if type(guard) is reads.Guard and isinstance(guard.get, readers.Reader):
        return f"{naming(guard.get)} is {naming(guard.value)}"
    return None


def _identical(guard: Any) -> Callable[[Any], bool] | None:
    """A compiled test whether a container, and those in it, hold the objects that they hold now."""
    if "llvmlite" not in sys.modules:
        return None
    try:
        test = identical_contents.test_of(guard.contents())
    except missing():
        return None
    return test if guard.holds() else None


def missing() -> tuple[type[Exception], ...]:
    """What reading raises where a variable or an attribute is no more."""
    return readers.GONE


def combine_guards(guards: list[Any]) -> list[Callable[[], bool]]:
    """At most one function, which tests all guards."""
    if not guards:
        return []
    names: dict[str, Any] = {"GONE": missing()}

    def constant(value: Any) -> str:
        names[f"c{len(names)}"] = value
        return f"c{len(names) - 1}"

    lines = (
        "def holds():",
        "    try:",
        f"        return {' and '.join(tests(guards, constant))}",
        "    except GONE:",
        "        return False",
    )
    exec(compile("\n".join(lines), "<guards>", "exec", dont_inherit=True), names)
    return [names["holds"]]
