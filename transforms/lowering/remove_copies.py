"""Removes copies of arrays in a driver that nobody overwrites.

c = copy(x); f_kernel(c, out); r = copy(out); return r    becomes    f_kernel(x, out); return out
c = whole(x.T); y = c @ w; f_kernel(x, y)                 becomes    y = x.T @ w; f_kernel(x, y)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from tapeless.transforms.core.language import Atom, Block, Effect, Let, Statement, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import nested_reads
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.optimize.materialized_views import whole
from tapeless.transforms.lowering.schedule.dependences import stores
from tapeless.transforms.ops.primitives.shapes import copy


def remove_copies(
    block: Block, kernels: Sequence[Kernel], kept: Collection[Var], memory: Op
) -> Block:
    """The driver without such copies.

    kept    parameters that are not overwritten
    memory  the operation that makes an array for kernels
    """
    called = {kernel.name: kernel for kernel in kernels}
    own = {v for s in block.body if isinstance(s, Let) and s.op is memory for v in s.outs}
    same: dict[Var, Atom] = {}
    readers = _places_of_readers(block)
    for k, s in enumerate(block.body):
        if not isinstance(s, Let) or s.op not in (copy, whole):
            continue
        a, v = s.args[0], s.outs[0]
        if s.op is whole:
            if v not in block.results and _read_at_once(block, k, readers.get(v, ()), called):
                same[v] = a
            continue
        before, after = (_readers(block, k, readers.get(x, ())) for x in (a, v))
        last = a in own and a not in block.results and a not in same.values()
        if (last and not before[1] and all(map(_is_kernel, before[0]))) or (
            a in kept and v not in block.results and _only_read(after[1], v, called)
        ):
            same[v] = a
    body = tuple(s for s in block.body if not (isinstance(s, Let) and same.keys() & {*s.outs}))
    return substitute(replace(block, body=body), same) if same else block


def _places_of_readers(block: Block) -> dict[Atom, list[int]]:
    """Which statements read each variable, by their places."""
    places: dict[Atom, list[int]] = {}
    for k, s in enumerate(block.body):
        for v in {*nested_reads(s)}:
            places.setdefault(v, []).append(k)
    return places


def _readers(
    block: Block, k: int, places: Sequence[int]
) -> tuple[list[Statement], list[Statement]]:
    """The statements before and after a place, of those that read a value."""
    return [block.body[j] for j in places if j < k], [block.body[j] for j in places if j > k]


def _is_kernel(s: Statement) -> bool:
    return isinstance(s, Effect) and s.kind == "kernel"


def _called_kernel(s: Statement, kernels: dict[str, Kernel]) -> Kernel | None:
    """The kernel that a statement calls."""
    match s:
        case Effect(kind="kernel"):
            return kernels.get(s.params["text"].partition("(")[0])
        case Let():
            return kernels.get(s.op.name)
    return None


def _read_at_once(block: Block, k: int, places: Sequence[int], kernels: dict[str, Kernel]) -> bool:
    """Whether library calls have read all of an array before anything is stored to, or a kernel
    gets it: of one that a statement makes, and those in some places read."""
    before = block.body[k + 1 : places[-1] + 1] if places else ()
    quiet = all(
        isinstance(s, Let) and s.op.pure and not stores(s) and _called_kernel(s, kernels) is None
        for s in before
    )
    readers = [block.body[j] for j in places]
    return quiet and not any(isinstance(s, Let) and s.op.view for s in readers)


def _only_read(readers: list[Statement], v: Var, kernels: dict[str, Kernel]) -> bool:
    """Whether all that gets an array are kernels that only look at its elements."""
    for s in readers:
        kernel = _called_kernel(s, kernels)
        if kernel is None or kernel.launch is not None:
            return False
        function = next(t for t in ast.parse(kernel.text).body if isinstance(t, ast.FunctionDef))
        names = [p.arg for p in function.args.args]
        operands = s.args if isinstance(s, (Effect, Let)) else ()
        if not all(_looked_at(function, n) for n, a in zip(names, operands, strict=True) if a is v):
            return False
    return bool(readers)


def _looked_at(function: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter is named in `x[i, j]` and `x.shape` only, and not stored to."""
    looks = 0
    for n in ast.walk(function):
        match n:
            case ast.Subscript(value=ast.Name(id=array), slice=key, ctx=ast.Load()):
                parts = key.elts if isinstance(key, ast.Tuple) else [key]
                looks += array == name and not any(isinstance(p, ast.Slice) for p in parts)
            case ast.Attribute(value=ast.Name(id=array), attr="shape"):
                looks += array == name
    return looks == sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(function))
