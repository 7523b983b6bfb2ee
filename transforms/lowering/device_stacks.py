"""Splits kernels for a GPU whose rows have stacks of unknown length: one that counts, one that
fills.

kernel(rows, x, out)      becomes      kernel_count(rows, x, saved_count); memory for all items;
                                       kernel(rows, x, out, saved, saved_place)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.lowering.kernels.counted_stacks import (
    counted_stacks,
    counts_name,
    insert_before_last,
    places_name,
    scratch_dtypes,
)
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.schedule.stack_capacity import GROWN
from tapeless.transforms.python_text.line_breaking import NOTE


def counted_kernels(
    kernel: Kernel,
) -> tuple[Kernel, Kernel, list[tuple[Var, Var, Var]]] | None:
    """A kernel over rows with stacks of unknown length as one that counts and one that fills; for
    each stack the variables of its counts, its places, and its items. None if there are none."""
    if kernel.launch is None or GROWN.strip() not in kernel.helpers:
        return None
    (node,) = ast.parse(kernel.text).body
    last = len(kernel.launch.own) + len(kernel.launch.sums)
    assert isinstance(node, ast.FunctionDef)
    split_kernel = counted_stacks(node, last)
    if split_kernel is None:
        return None
    rows, count = kernel.launch.rows, np.dtype(np.int64)
    dtypes = {n: np.dtype(d) for n, d in scratch_dtypes(node).items()}
    stacks = [
        (
            Var(Type(count, (rows,)), counts_name(stack)),
            Var(Type(count, (rows,)), places_name(stack)),
            Var(Type(dtypes[stack], (dims.symbol("total"),)), stack),
        )
        for stack in split_kernel.stacks
    ]
    helpers = {text: None for text in kernel.helpers if text != GROWN.strip()}
    counted = [v for v, _, _ in stacks]
    used = [v for _, places, items in stacks for v in (items, places)]
    first = read_only_what_is_named(
        replace(
            kernel,
            name=split_kernel.counting.name,
            text=_with_notes(split_kernel.counting, kernel.text),
            arguments=insert_before_last(kernel.arguments, counted, last),
            results=(),
            same={},
            helpers=helpers,
            types=_with_types(kernel, counted, last),
        )
    )
    second = replace(
        kernel,
        text=_with_notes(split_kernel.using, kernel.text),
        arguments=insert_before_last(kernel.arguments, used, last),
        helpers=helpers,
        types=_with_types(kernel, used, last),
        stacks=frozenset(items.name for _, _, items in stacks),
    )
    return first, second, stacks


def read_only_what_is_named(kernel: Kernel) -> Kernel:
    """The kernel without parameters that it does not name; it returns nothing."""
    (node,) = ast.parse(kernel.text).body
    assert isinstance(node, ast.FunctionDef)
    assert kernel.launch is not None
    named = {e.id for s in node.body for e in ast.walk(s) if isinstance(e, ast.Name)}
    pairs = zip(kernel.arguments, kernel.types, strict=True)
    kept = [a for a, name in pairs if name in named]
    node.args.args = [a for a in node.args.args if a.arg in named]
    return replace(
        kernel,
        text=_with_notes(node, kernel.text),
        arguments=kept,
        scratch=[(v, t) for v, t in kernel.scratch if v in kept],
        types={name: t for name, t in kernel.types.items() if name in named},
        launch=replace(
            kernel.launch, own=tuple(v for v in kernel.launch.own if v in kept), sums=(), join=()
        ),
    )


def _with_notes(node: ast.AST, text: str) -> str:
    """The text of a function with the notes of the lines that its statements are from."""
    notes = {k: m[0] for k, line in enumerate(text.splitlines(), 1) if (m := NOTE.search(line))}
    lines = ast.unparse(node).splitlines()
    for new, old in zip(ast.walk(ast.parse("\n".join(lines))), _walk(node), strict=True):
        if isinstance(new, ast.stmt) and getattr(old, "lineno", None) in notes:
            lines[new.lineno - 1] += f"  {notes[old.lineno]}"  # type: ignore[attr-defined]
    return "\n".join(lines)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module with one statement."""
    return ast.walk(ast.Module([node], []))  # type: ignore[list-item]


def _with_types(kernel: Kernel, new: list[Var], last: int) -> dict[str, Type]:
    """The types of parameters, new ones among them."""
    return dict(insert_before_last([*kernel.types.items()], [(v.name, v.type) for v in new], last))
