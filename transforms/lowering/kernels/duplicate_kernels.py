"""Merges kernels that do the same: one is enough, and is compiled once.

def k(x, y): y[0] = x[0]; def k_2(a, b): a[0] = b[0]      becomes      def k(x, y): y[0] = x[0]
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import Type
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.python_text.tree_walk import walk

COMMENT = re.compile("# line .*")
#: Found in what a kernel does, and never put there to break a line.
SIGNS = ("for ", " = ", "[", "*", "+", "/")


def twin(kernel: Kernel, others: list[Kernel]) -> Kernel | None:
    """One of the others that differs only in its names, in those of its sizes, or in the order of
    its parameters; the arguments of the kernel are put in the order of that one."""
    kernel.outline = _outline(kernel)
    alike = [other for other in others if other.outline == kernel.outline]
    if not alike:
        return None
    numbers, form = _number_names(kernel)
    kinds = _kinds(kernel, numbers)
    for other in alike:
        others_numbers, others_form = _number_names(other)
        if others_form == form and _kinds(other, others_numbers) == kinds:
            _reorder(kernel, numbers, others_numbers)
            return other
    return None


def _outline(kernel: Kernel) -> tuple[int, ...]:
    """What kernels that do the same have in common, and is soon counted."""
    text = COMMENT.sub("", kernel.text)
    return (len(kernel.types), *map(text.count, SIGNS))


def _kinds(kernel: Kernel, numbers: dict[str, int]) -> list[Any]:
    """The types of what a kernel is given, by the numbers of its parameters; sizes that a call
    decides are all the same."""
    kinds = {
        numbers[name]: replace(t, shape=tuple(n if isinstance(n, int) else -1 for n in t.shape))
        if isinstance(t, Type)
        else t
        for name, t in kernel.types.items()
    }
    return [kinds[k] for k in sorted(kinds)]


def _reorder(kernel: Kernel, numbers: dict[str, int], others: dict[str, int]) -> None:
    names = list(kernel.types)
    place = {numbers[name]: k for k, name in enumerate(names)}
    order = [place[k] for k in others.values() if k in place]
    kernel.arguments = [kernel.arguments[k] for k in order]
    kernel.types = {names[k]: kernel.types[names[k]] for k in order}


def _number_names(kernel: Kernel) -> tuple[dict[str, int], str]:
    """The numbers of the parameters of a kernel, in their order, and its text with numbers in place
    of its own names.

    They are numbered as they are met in the text, so that their order does not matter, but in the
    order of the parameters where threads share the rows: those stand in groups there.
    """
    (function,) = ast.parse(kernel.text).body
    assert isinstance(function, ast.FunctionDef)
    parameters = [a.arg for a in function.args.args]
    numbers = {name: k for k, name in enumerate(parameters)} if kernel.launch else {}
    own_names = set(parameters)
    own_names.update(
        node.id
        for node in walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for statement in function.body:
        for node in walk(statement):
            if isinstance(node, ast.Name) and node.id in own_names:
                node.id = f"v{numbers.setdefault(node.id, len(numbers))}"
    for name in parameters:
        numbers.setdefault(name, len(numbers))
    body = "\n".join(map(ast.dump, function.body))
    return {name: numbers[name] for name in parameters}, f"{len(parameters)}: {body}"
