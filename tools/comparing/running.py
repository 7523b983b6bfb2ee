"""Runs calls in NumPy, as emitted code and compiled, and counts how results differ."""

from __future__ import annotations

import functools
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tapeless
from tapeless.tools.comparing import programs
from tapeless.tools.comparing.calls import ComparedCall, program
from tapeless.tools.comparing.inputs import copy_value
from tapeless.tools.comparing.outcomes import SAME, Difference, Raised, difference
from tapeless.tools.comparing.reasons import reason
from tapeless.tools.numpy_table import sections
from tapeless.transforms.ops import function_table


@functools.cache
def functions() -> dict[str, Any]:
    """Every function of the tables by the name that users write."""
    every = (f for family in sections().values() for f in family)
    return dict(sorted((function_table.full_name(f), f) for f in every))


@dataclass
class Walk:
    """What the calls of one function came to: differences by the form of the code and kind."""

    name: str
    count: dict[str, int] = field(default_factory=lambda: {"emitted": 0, "jit": 0})
    found: dict[tuple[str, str], list[tuple[ComparedCall, Difference]]] = field(
        default_factory=dict
    )

    def add(self, form: str, call: ComparedCall, result: Difference) -> None:
        self.count[form] += 1
        if result is not SAME:
            self.found.setdefault((form, result.kind), []).append((call, result))

    def record(self) -> dict[str, Any]:
        """The number of calls, and the kinds of differences with the most units in last places."""
        record: dict[str, Any] = {}
        for form, count in self.count.items():
            kinds = {k: v for (f, k), v in sorted(self.found.items()) if f == form}
            record[form] = {"calls": count} | {
                kind: _power_of_two(max(d.ulps for _, d in each))
                if kind == "last places"
                else len(each)
                for kind, each in kinds.items()
            }
        return record

    def line(self) -> str:
        return f"{self.name}: {self.record()}"

    def unexplained_differences(self) -> list[str]:
        """The kinds of differences that no reason is written down for."""
        return [f"{form}: {kind}" for form, kind in self.found if reason(self.name, kind) is None]

    def examples(self) -> Iterator[str]:
        """One example of each kind of difference that is not explained."""
        for (form, kind), each in self.found.items():
            if reason(self.name, kind) is None:
                call, result = max(each, key=lambda pair: pair[1].ulps)
                yield f"{form} {kind}: {call}: {result.text}"


def _power_of_two(ulps: float) -> int:
    """Units in the last place as a power of two, so that records of two machines are alike."""
    most = 1
    while most < ulps:
        most *= 2
    return most


def compare_calls(name: str, calls: Iterable[ComparedCall], share: float, jitted: int) -> Walk:
    """The calls of a sample of so large a share, of which so many are compiled too."""
    picked = [call for call in calls if call.is_in_sample(share)]
    compiled = set(sorted(map(str, picked), key=lambda text: zlib.crc32(text.encode()))[:jitted])
    walk = Walk(name)
    for call in picked:
        for form, result in compare_forms(call, str(call) in compiled):
            walk.add(form, call, result)
    return walk


def compare_forms(call: ComparedCall, jitted: bool) -> Iterator[tuple[str, Difference]]:
    """How a call differs in each form of the code."""
    run, args = program(call)
    wanted = outcome(run, args)
    yield "emitted", difference(outcome(functools.partial(run_emitted, run), args), wanted)
    if jitted:
        yield "jit", difference(outcome(tapeless.jit(run), args), wanted)


def run_emitted(run: Callable[..., Any], *args: Any) -> Any:
    """What the emitted code of a program gives: it goes along with a derivative."""
    return tapeless.value_and_grad(programs.beside_a_weight(run), has_aux=True)(1.0, *args)[0][1]


def outcome(run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a call gives, or what it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(*map(copy_value, args))
        except Exception as error:  # noqa: BLE001 (what is raised is what is compared)
            return Raised(error)
