"""Orders the passes from a core program to array form: NumPy code.

Each pass stands here once; `passes.run` verifies the program after each of them in tests.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from tapeless.transforms.analysis.zero_tests import zero_tests
from tapeless.transforms.core import passes
from tapeless.transforms.core.language import Block, Var
from tapeless.transforms.emit.counter_placement import place_counters
from tapeless.transforms.emit.numpy_scalars import plain
from tapeless.transforms.emit.reread_parts import reread_parts
from tapeless.transforms.emit.whole_mask_keys import whole_mask_keys
from tapeless.transforms.memory.detach_results import as_numbers, detach_results
from tapeless.transforms.memory.hoist_reads import hoist_reads
from tapeless.transforms.memory.in_place_stores import store_in_place
from tapeless.transforms.memory.materialize_fills import materialize_fills
from tapeless.transforms.optimize.hoist_invariants import hoist_invariants
from tapeless.transforms.optimize.hoist_tables import hoist_tables
from tapeless.transforms.optimize.inline_calls import forget, written_out
from tapeless.transforms.optimize.merge_branches import merge_branches
from tapeless.transforms.optimize.placeholders import with_sizes
from tapeless.transforms.optimize.simplify import simplify
from tapeless.transforms.optimize.sink_selections import sink_selections


def array_form(block: Block, count: int, without_axes: Collection[Var] = ()) -> Block:
    """The block as it is emitted; its first `count` results share memory with nothing.

    without_axes  parameters that are arrays without axes
    """
    return passes.run(
        block,
        written_out,
        zero_tests,
        simplify,
        place_selections,
        merge_all_branches,
        forget,
        with_sizes,
        partial(detach_results, count=count),
        partial(as_numbers, arrays=without_axes),
    )


def place_selections(block: Block) -> Block:
    """The block with invariant values ahead of loops, and choices in the branches of their test."""
    moved = passes.run(block, hoist_invariants, hoist_tables, sink_selections)
    return block if moved is block else simplify(moved)


def merge_all_branches(block: Block) -> Block:
    """The block with one branch in the place of adjacent ones by one test; tests inside of their
    arms may be one only then."""
    while (merged := merge_branches(block)) is not block:
        block = passes.run(passes.verified(merged, "merge_branches"), simplify)
    return block


def with_stores(block: Block) -> Block:
    """The block in which stores overwrite arrays, with copies where others see them."""
    return passes.run(
        block,
        materialize_fills,
        plain,
        reread_parts,
        whole_mask_keys,
        hoist_reads,
        store_in_place,
        place_counters,
    )
