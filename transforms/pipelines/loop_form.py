"""Orders the passes from a core program to loop form: operations that kernels are made of.

Each pass stands here once; `passes.run` verifies the program after each of them in tests. What
shares a loop, `lowering.partition` decides afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tapeless.transforms.core import dims, passes
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, Statement, Var
from tapeless.transforms.core.size_inequalities import Facts, Relation, facts_of
from tapeless.transforms.lowering.distribution.distribute import distribute
from tapeless.transforms.lowering.lists.growing_rows import rows_of_lists
from tapeless.transforms.lowering.lists.list_assignments import list_assignments
from tapeless.transforms.lowering.lists.list_lengths import list_lengths
from tapeless.transforms.lowering.lists.lists_behind_branches import lists_behind_branches
from tapeless.transforms.lowering.lists.lists_in_lists import lists_in_lists
from tapeless.transforms.lowering.lists.lists_to_arrays import complete_lists
from tapeless.transforms.lowering.lists.materialize_early import materialize_early
from tapeless.transforms.lowering.lists.sums_of_lists import sums_of_lists
from tapeless.transforms.lowering.optimize.carried_factors_last import carried_factors_last
from tapeless.transforms.lowering.optimize.carried_terms_last import carried_terms_last
from tapeless.transforms.lowering.optimize.conditional_store import recognise_conditional_stores
from tapeless.transforms.lowering.optimize.donated_buffers import store_in_donated
from tapeless.transforms.lowering.optimize.fuse_reverse_loop import fuse_reverse_loops
from tapeless.transforms.lowering.optimize.latest_term_last import latest_term_last
from tapeless.transforms.lowering.optimize.linear_recurrences import linear_recurrences
from tapeless.transforms.lowering.optimize.loops_to_slices import vectorise
from tapeless.transforms.lowering.optimize.one_hot import one_hot
from tapeless.transforms.lowering.optimize.out_parameters import store_out_parameters
from tapeless.transforms.lowering.optimize.reciprocals import reciprocals
from tapeless.transforms.lowering.optimize.recompute_parts import recompute_parts
from tapeless.transforms.lowering.optimize.rematerialize import rematerialize
from tapeless.transforms.lowering.optimize.reuse_product_memory import reuse_product_memory
from tapeless.transforms.lowering.optimize.scatter_additions import scatter_additions
from tapeless.transforms.lowering.optimize.select_terms import select_terms
from tapeless.transforms.lowering.optimize.share_between_branches import share_between_branches
from tapeless.transforms.lowering.optimize.stacks_to_arrays import stacks_to_arrays
from tapeless.transforms.lowering.optimize.stores_to_gathers import stores_to_gathers
from tapeless.transforms.lowering.optimize.unroll_few_passes import unroll_few_passes
from tapeless.transforms.lowering.products.einsum_to_matmul import contractions
from tapeless.transforms.lowering.products.outer_products import products_of_outer_products
from tapeless.transforms.lowering.products.row_products import split_row_products
from tapeless.transforms.lowering.products.scaled_products import move_factors_last
from tapeless.transforms.lowering.products.stacked_products import rows_of_stacks
from tapeless.transforms.lowering.products.sum_before_matmul import sum_before_matmul
from tapeless.transforms.lowering.products.transposes import move_transposes_last
from tapeless.transforms.lowering.products.triangular_products import triangular_products
from tapeless.transforms.lowering.products.triangular_solves import solve_triangles_by_blocks
from tapeless.transforms.lowering.products.vector_contractions import vector_contractions
from tapeless.transforms.lowering.rewrite.comparisons import compare_elements
from tapeless.transforms.lowering.rewrite.decompose import decompose
from tapeless.transforms.lowering.rewrite.draws_in_loops import draws_by_number
from tapeless.transforms.lowering.rewrite.masked_updates import masked_updates
from tapeless.transforms.lowering.rewrite.padded_edges import padded_edges
from tapeless.transforms.lowering.rewrite.real_transforms import real_transforms
from tapeless.transforms.lowering.rewrite.small_linalg import Small
from tapeless.transforms.lowering.rewrite.wide_integers import without_wide_integers
from tapeless.transforms.lowering.sizes.part_lengths import part_lengths
from tapeless.transforms.lowering.sizes.rename_sizes import rename_sizes
from tapeless.transforms.lowering.sizes.size_equalities import (
    Fitting,
    Sizes,
    canonical,
    equal_sizes,
    relate_differences,
)
from tapeless.transforms.lowering.target import Target
from tapeless.transforms.optimize.inline_calls import forget
from tapeless.transforms.optimize.tables_to_arrays import tables_to_arrays

LoweredForm = tuple[Block, Sizes, Facts, list[Statement], list[Relation], list[Var]]


def without_lists(block: Block) -> Block:
    """The block with arrays and lengths in the place of lists, as far as loops need no lists."""
    return passes.run(
        block,
        partial(tables_to_arrays, numbers=True),
        rows_of_lists,
        forget,
        lists_behind_branches,
        sums_of_lists,
        lists_in_lists,
        list_assignments,
        list_lengths,
        complete_lists,
        materialize_early,
        stacks_to_arrays,
    )


def loop_form(
    block: Block,
    relations: list[Any],
    stored: Sequence[Var],
    hints: Mapping[dims.Symbol, int],
    donated: Sequence[Var],
    routines: bool,
    fastmath: bool,
    target: Target,
) -> LoweredForm:
    """The program in loop form; with `routines`, small systems are solved inside of loops."""
    small, of_numpy = Small(hints, target), target.library == "NumPy"
    block = passes.run(
        block,
        *([unroll_few_passes] if of_numpy else []),
        rename_sizes,
        padded_edges,
        partial(masked_updates, any_order=fastmath),
        partial(part_lengths, relations=relations),
        *([small.run, rename_sizes] if routines else []),
        *([partial(triangular_products, hints=hints)] if fastmath and of_numpy else []),
        *([solve_triangles_by_blocks] if of_numpy else []),
    )
    sizes = equal_sizes([*relations, *small.relations])

    def equal(a: Size, b: Size) -> bool:
        return canonical(a, sizes) == canonical(b, sizes)

    def inexact(*reordering: passes.Pass) -> tuple[passes.Pass, ...]:
        """Passes that round otherwise: none if what is written is what is computed."""
        return reordering if fastmath else ()

    of_all_passes = partial(distribute, hints=hints, relations=relations)
    fitting = Fitting(sizes, hints, relations)
    fitted = passes.run(
        block,
        *([partial(real_transforms, equal=equal)] if fastmath and of_numpy else []),
        *inexact(
            products_of_outer_products, partial(contractions, hints=hints), vector_contractions
        ),
        *(inexact(of_all_passes) if target.products_of_passes else ()),
        *((draws_by_number,) if target.draws else ()),
        partial(rows_of_stacks, hints=hints, small=target.small_matrix),
        without_wide_integers,
        partial(decompose, target=target),
        partial(move_transposes_last, any_order=fastmath),
        *inexact(reciprocals),
        share_between_branches,
        partial(split_row_products, hints=hints),
        fuse_reverse_loops,
        vectorise,
        fitting.run,
    )
    relate_differences(sizes, relations)
    fitted = passes.run(
        fitted,
        partial(compare_elements, alike=equal),
        *([partial(one_hot, equal=equal)] if target.separate else []),
        *([scatter_additions] if target.separate else []),
        *inexact(
            partial(move_factors_last, equal=equal, hints=hints),
            partial(sum_before_matmul, equal=equal),
            select_terms,
            carried_factors_last,
            *((linear_recurrences,) if target.linear_recurrences else ()),
            carried_terms_last,
            *((latest_term_last,) if target.any_order else ()),
        ),
        rematerialize,
    )
    facts = facts_of(relations, fitted).map(partial(canonical, sizes=sizes))
    fitted, relied = stores_to_gathers(fitted, sizes, hints, facts)
    fitted = passes.run(
        passes.verified(fitted, "stores_to_gathers"),
        partial(recompute_parts, hints=hints),
        partial(recognise_conditional_stores, equal=equal),
    )
    count = len(block.results) - len(stored)
    fitted, ours = store_in_donated(fitted, donated, count, equal)
    fitted = passes.run(
        passes.verified(fitted, "store_in_donated"),
        partial(reuse_product_memory, equal=equal),
        partial(store_out_parameters, stored=stored, overwriting=False, ours=ours),
    )
    return fitted, sizes, facts, fitting.checks, [*fitting.relied, *small.relied, *relied], ours
