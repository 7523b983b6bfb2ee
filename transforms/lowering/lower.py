"""A program as a driver, which calls kernels, and the kernels.

y = sin(x) * 2; z = solve(a, y)      becomes      y = empty(x.shape); kernel(x, y); z = solve(a, y)

What has no loop form stays in the driver, as NumPy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tapeless.transforms.core import dims, passes
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, Var
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.lists.drop_front import shifted_lists
from tapeless.transforms.lowering.lists.list_lengths import list_lengths
from tapeless.transforms.lowering.lists.lists_to_arrays import complete_lists
from tapeless.transforms.lowering.lists.materialize_early import taken_early
from tapeless.transforms.lowering.optimize.conditional_store import accepted
from tapeless.transforms.lowering.optimize.donated_buffers import into_donated
from tapeless.transforms.lowering.optimize.fuse_reverse_loop import alongside
from tapeless.transforms.lowering.optimize.loops_to_slices import vectorise
from tapeless.transforms.lowering.optimize.one_hot import one_hot
from tapeless.transforms.lowering.optimize.out_parameters import stored_back
from tapeless.transforms.lowering.optimize.reciprocals import reciprocals
from tapeless.transforms.lowering.optimize.rematerialize import made_again
from tapeless.transforms.lowering.optimize.reuse_product_memory import overlaid
from tapeless.transforms.lowering.optimize.select_terms import chosen_terms
from tapeless.transforms.lowering.optimize.share_between_branches import alike
from tapeless.transforms.lowering.optimize.stacks_to_arrays import counted
from tapeless.transforms.lowering.optimize.stores_to_gathers import gathered
from tapeless.transforms.lowering.partition import LoopForm, Lowering
from tapeless.transforms.lowering.rewrite.decompose import decompose
from tapeless.transforms.lowering.rewrite.einsum_to_matmul import contractions
from tapeless.transforms.lowering.rewrite.row_products import by_rows
from tapeless.transforms.lowering.rewrite.small_linalg import Small, left_over
from tapeless.transforms.lowering.rewrite.sum_before_matmul import sums_first
from tapeless.transforms.lowering.rewrite.transposes import transposes_last
from tapeless.transforms.lowering.rewrite.wide_integers import without_wide_integers
from tapeless.transforms.lowering.schedule.reassociable_sums import IN_ORDER
from tapeless.transforms.lowering.sizes.rename_sizes import lasting
from tapeless.transforms.lowering.sizes.size_equalities import (
    Fitting,
    canonical,
    equal_sizes,
    relate_differences,
)
from tapeless.transforms.lowering.sizes.size_inequalities import Relation, facts_of
from tapeless.transforms.lowering.target import CPU, Target
from tapeless.transforms.optimize.inline_calls import forget
from tapeless.transforms.optimize.lists_to_arrays import tables_as_arrays


@dataclass
class Lowered:
    """The driver of a program, its kernels, and the relations of sizes that they rely on."""

    driver: Block
    kernels: list[Kernel]
    relied: list[Relation]
    overwritten: list[Var]  # donated parameters that results are in
    host: set[Var]  # numbers that the driver of a GPU program has; others lie on the device
    notes: list[str]  # what runs on one block of a GPU, and why


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
    block = passes.run(
        block,
        partial(tables_as_arrays, numbers=True),
        forget,
        shifted_lists,
        list_lengths,
        complete_lists,
        taken_early,
    )
    for routines in (True, False):
        prepared = _prepared(
            block, relations, stored, hints or {}, donated, routines, fastmath, target
        )
        lowering = Lowering(name, prepared, hints or {}, boundscheck, parallel, target, on_device)
        driver = lowering.run()
        if not left_over(driver):
            break
    if not fastmath:
        for kernel in lowering.kernels:
            kernel.helpers = {IN_ORDER.get(text, text): None for text in kernel.helpers}
    return Lowered(
        driver, lowering.kernels, prepared.relied, prepared.donated, lowering.host, lowering.notes
    )


def _prepared(
    block: Block,
    relations: list[Any],
    stored: Sequence[Var],
    hints: Mapping[dims.Symbol, int],
    donated: Sequence[Var],
    routines: bool,
    fastmath: bool,
    target: Target,
) -> LoopForm:
    """The program in loop form; with `routines`, small systems are solved inside of loops."""
    small = Small(hints)
    block = passes.run(block, lasting, *([small.run, lasting] if routines else []))
    sizes = equal_sizes([*relations, *small.relations])

    def equal(a: Size, b: Size) -> bool:
        return canonical(a, sizes) == canonical(b, sizes)

    def inexact(*reordering: passes.Pass) -> tuple[passes.Pass, ...]:
        """Passes that round otherwise: none if what is written is what is computed."""
        return reordering if fastmath else ()

    fitting = Fitting(sizes, hints, facts_of(relations))
    fitted = passes.run(
        block,
        *inexact(partial(contractions, hints=hints)),
        without_wide_integers,
        partial(decompose, everywhere=target.taken_apart),
        partial(transposes_last, any_order=fastmath),
        *inexact(reciprocals),
        alike,
        partial(by_rows, hints=hints),
        counted,
        alongside,
        vectorise,
        fitting.run,
    )
    relate_differences(sizes, relations)
    fitted = passes.run(
        fitted,
        *([partial(one_hot, equal=equal)] if target.separate else []),
        *inexact(partial(sums_first, equal=equal), chosen_terms),
        made_again,
    )
    facts = [canonical(n, sizes) for n in facts_of(relations)]
    fitted, relied = gathered(fitted, sizes, hints, facts)
    fitted = accepted(fitted, equal)
    count = len(block.results) - len(stored)
    fitted, ours = into_donated(fitted, donated, count, equal)
    fitted = overlaid(fitted, equal)
    loop_form = stored_back(fitted, stored, overwriting=False, ours=ours)
    relied = [*fitting.relied, *small.relied, *relied]
    return LoopForm(loop_form, sizes, facts, fitting.checks, relied, ours)
