"""Writes numbers as HTML that a script can write anew for other sizes.

8 * n bytes, 80 for the call      becomes      <span data-formula="2" data-as="bytes">80 B</span>
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tapeless.explain.by_size import BySize
from tapeless.explain.formulas import NUMBER, SIZE, SizeFormula
from tapeless.explain.report import in_bytes, short_number

FORMATS: dict[str, Callable[[Any], str]] = {"count": short_number, "bytes": in_bytes, "length": str}


class SizedNumbers:
    """Writes numbers of an explanation, and keeps which formulas these are."""

    def __init__(self, by_size: BySize | None = None) -> None:
        self.by_size = by_size
        self.value = by_size.evaluated() if by_size else lambda formula: formula
        self.used: set[int] = set()

    def span(self, formula: Any, kind: str) -> str:
        """A number in one of the formats; one that depends on sizes says which formula it is."""
        number = self.value(formula)
        text = "?" if number is None else FORMATS[kind](number)
        if not self.varies(formula):
            return text
        self.used.add(formula.place)
        return f'<span data-formula="{formula.place}" data-as="{kind}">{text}</span>'

    def varies(self, formula: Any) -> bool:
        """Whether a number depends on sizes."""
        if not isinstance(formula, SizeFormula):
            return False
        assert self.by_size is not None
        assert formula.table is self.by_size.table, "a formula of another explanation"
        return formula.constant is None

    def shape(self, dtype: str, lengths: tuple[Any, ...]) -> str:
        """A dtype with lengths of axes."""
        return f"{dtype}[{', '.join(self.span(n, 'length') for n in lengths)}]"

    def data(self) -> str:
        """The steps of the formulas that were written, and their sizes, for the script."""
        if self.by_size is None or not self.used:
            return json.dumps({"sizes": [], "steps": [], "requirements": []})
        requirements = [
            [x.text, x.relation, *map(self.place, (x.left, x.right))]
            for x in self.by_size.requirements
        ]
        needed = self.needed_steps()
        steps = [step if k in needed else None for k, step in enumerate(self.by_size.table.steps)]
        sizes = [{"names": x.names, "value": x.value, "least": x.least} for x in self.by_size.sizes]
        return json.dumps(
            {"sizes": sizes, "steps": steps, "requirements": requirements}, separators=(",", ":")
        )

    def place(self, number: Any) -> int:
        """The place of a formula or number."""
        assert self.by_size is not None
        is_formula = isinstance(number, SizeFormula)
        formula: SizeFormula = number if is_formula else self.by_size.table.number(number)
        self.used.add(formula.place)
        return formula.place

    def needed_steps(self) -> set[int]:
        """The steps that those which were written are made of."""
        assert self.by_size is not None
        needed, pending = set[int](), list(self.used)
        while pending:
            place = pending.pop()
            if place not in needed:
                needed.add(place)
                name, *operands = self.by_size.table.steps[place]
                pending += [] if name in (NUMBER, SIZE) else operands
        return needed

    def sizes(self) -> list[int]:
        """The numbers of the sizes that what was written depends on."""
        if self.by_size is None:
            return []
        steps = self.by_size.table.steps
        return sorted(steps[k][1] for k in self.needed_steps() if steps[k][0] == SIZE)
