"""Lowers a program to a driver and the kernels that it calls.

y = sin(x) * 2; z = solve(a, y)      becomes      y = empty(x.shape); kernel(x, y); z = solve(a, y)

What has no loop form stays in the driver, as NumPy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Block, Var
from tapeless.transforms.core.size_inequalities import Relation
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.lists.lists_between_kernels import handed_on
from tapeless.transforms.lowering.lists.lists_of_numbers import has_lists, lists_of_numbers
from tapeless.transforms.lowering.lists.longest_memory import forms_in_memory
from tapeless.transforms.lowering.partition import LoopForm, Lowering
from tapeless.transforms.lowering.placement import Placement
from tapeless.transforms.lowering.rewrite.small_linalg import left_over
from tapeless.transforms.lowering.schedule.reassociable_sums import IN_ORDER
from tapeless.transforms.lowering.schedule.user_errors import UserErrors
from tapeless.transforms.lowering.target import CPU, Target
from tapeless.transforms.pipelines.loop_form import loop_form, without_lists


@dataclass
class Lowered:
    """The driver of a program, its kernels, and the relations of sizes that they rely on."""

    driver: Block
    kernels: list[Kernel]
    relied: list[Relation]
    overwritten: list[Var]  # donated parameters that results are in
    host: set[Var]  # numbers that the driver of a GPU program has; others lie on the device
    notes: list[str]  # what runs on one block of a GPU, and why
    placement: Placement
    errors: UserErrors


def lower(
    name: str,
    block: Block,
    relations: Iterable[Any],
    stored: Sequence[Var] = (),
    hints: Mapping[dims.Symbol, int] | None = None,
    boundscheck: bool = True,
    parallel: bool = False,
    donated: Sequence[Var] = (),
    fastmath: bool = True,
    target: Target = CPU,
    on_device: Collection[Var] = (),
) -> Lowered:
    """Splits a program into a driver and kernels.

    relations    sizes that are equal, ("==", a, b)
    stored       parameters that are overwritten: the last results of the block
    hints        sizes of this call
    boundscheck  whether an index out of bounds raises
    parallel     whether threads may share the rows of kernels
    donated      parameters whose memory results may take
    fastmath     whether sums may be added up in any order, and quotients be products
    target       what runs the kernels
    on_device    parameters that are numbers in the memory of a GPU
    """
    relations = list(relations)
    block = without_lists(block)
    of_numbers = handed_on(lists_of_numbers(block, hints or {})) if target.makes_arrays else block
    in_memory = (
        [] if target.separate else forms_in_memory(of_numbers, target.makes_arrays, hints or {})
    )
    forms = [(form, True, relied) for form, relied in in_memory]
    if of_numbers is not block:
        forms.append((of_numbers, True, []))
    forms += [(block, True, []), (block, False, [])]
    for k, (form, routines, relied) in enumerate(forms):
        prepared = LoopForm(
            *loop_form(form, relations, stored, hints or {}, donated, routines, fastmath, target)
        )
        prepared.relied += relied
        is_in_memory = k < len(in_memory)
        lowering = Lowering(
            *(name, prepared, hints or {}, boundscheck, parallel, target, on_device),
            in_memory=is_in_memory,
        )
        driver = lowering.run()
        if is_in_memory and lowering.placement.loops:
            continue
        if not left_over(driver) and not (form is not block and has_lists(driver)):
            break
    if not fastmath:
        for kernel in lowering.kernels:
            kernel.helpers = {IN_ORDER.get(text, text): None for text in kernel.helpers}
    return Lowered(
        *(driver, lowering.kernels, prepared.relied, prepared.donated),
        *(lowering.numbers.host, lowering.notes, lowering.placement),
        lowering.analysis.errors,
    )
