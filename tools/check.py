"""Compares the derivatives of a function, in both modes, with finite differences."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

import tapeless
from tapeless import tree
from tapeless.tools.differences import (
    ArgumentEntry,
    DifferenceRow,
    compare,
    fresh,
    project,
    refuse_other_results,
)
from tapeless.tools.errors import UsageError
from tapeless.tools.signature import parameter_names
from tapeless.tools.target import CommandTarget, add_order, add_target

EXAMPLES = """\
examples:
  tapeless check models.py:logistic
  tapeless check models.py:loss --wrt params --args "{w: f8[3,2], b: f8[2]}, f8[100,3]"
  tapeless check models.py:logistic --order 2
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser, default="every one that holds floats")
    add_order(parser)


def execute(options: Namespace) -> int:
    """Print `right` or `wrong` with the worst entry of each mode; 1 if wrong."""
    target = CommandTarget.of_options(options, default=_differentiable)
    active = tuple(target.args[i] for i in target.wrt)
    function: Any = _of_active(target)
    refuse_other_results(function(*fresh(active)), options.target)
    for _ in range(options.order - 1):
        function = tapeless.grad(project(function, active), argnums=tuple(range(len(active))))
    rows = compare(function, active)
    if not rows:
        raise UsageError("the arguments hold no numbers to compare", "--args gives their shapes")
    worst = [_worst([row for row in rows if row.mode == m]) for m in ("forward", "reverse")]
    right = all(row.right for row in worst)
    console = Console(highlight=False, soft_wrap=True)
    console.print("[bold green]right[/]" if right else "[bold red]wrong[/]", end=": ")
    entries = "1 entry" if len(rows) == 2 else f"{len(rows) // 2} entries"
    console.print(f"{entries}, order {options.order}, the worst of each mode:")
    for row in worst:
        console.print(escape(_line(row, _label(target, row.entry))))
    return int(not right)


def _differentiable(args: tuple[Any, ...]) -> tuple[int, ...]:
    positions = tuple(i for i, value in enumerate(args) if _floats(value))
    if not positions:
        raise UsageError("no argument holds floats", "--args describes them, as in f8[3]")
    return positions


def _floats(value: Any) -> bool:
    leaves = tree.leaves(value)
    return bool(leaves) and all(np.asarray(leaf).dtype.kind == "f" for leaf in leaves)


def _of_active(target: CommandTarget) -> Any:
    """The function of the arguments that are checked alone."""
    if target.wrt == tuple(range(len(target.args))):
        return target.function
    function, args, wrt = target.function, target.args, target.wrt

    def of_active(*active: Any) -> Any:
        return function(*[active[wrt.index(i)] if i in wrt else args[i] for i in range(len(args))])

    return of_active


def _worst(rows: list[DifferenceRow]) -> DifferenceRow:
    return max(rows, key=lambda row: np.inf if np.isnan(row.off) else row.off / row.tolerance)


def _line(row: DifferenceRow, label: str) -> str:
    numbers = f"{row.derivative:.10e}, finite difference {row.quotient:.10e}"
    off = f"off by {row.off:.1e} of {row.tolerance:.0e} allowed"
    return f"  {row.mode} by {label}: {numbers}, {off}"


def _label(target: CommandTarget, entry: ArgumentEntry) -> str:
    """The entry as Python would write it: params['w1'][0, 2]."""
    position = target.wrt[entry.argument]
    value = target.args[position]
    path = "".join(f"[{key!r}]" for key in tree.paths(value)[entry.leaf])
    shape = np.shape(tree.leaves(value)[entry.leaf])
    index = ", ".join(str(int(i)) for i in np.unravel_index(entry.index, shape)) if shape else ""
    names = parameter_names(target.function)
    name = names[position] if position < len(names) else f"argument {position}"
    return name + path + (f"[{index}]" if index else "")
