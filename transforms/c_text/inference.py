"""Infers the dtypes of the variables of a kernel: each holds all that it is ever given.

total = 0; total = total + x[i]      gives      total: float64
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from tapeless.transforms.c_text.arithmetic import unified_dtype
from tapeless.transforms.c_text.expressions import ExpressionPrinter, UnknownVariableError
from tapeless.transforms.c_text.values import CArray, CValue, NotPrintedError
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype
from tapeless.transforms.python_text.tree_walk import names_in

Given = tuple[str, ast.expr, bool]  # a variable, a value that it gets, and whether in a loop


def infer(expressions: ExpressionPrinter, node: ast.FunctionDef) -> None:
    """Puts the dtypes of all variables into the scope of the expressions."""
    scope = expressions.scope
    expressions.inferring = True
    for loop in ast.walk(node):
        if isinstance(loop, ast.For):
            scope.numbers[_target(loop)] = INT
    assigned = [*assignments(node.body)]
    counts: dict[str, int] = {}
    for name, _, _ in assigned:
        counts[name] = counts.get(name, 0) + 1
    _count_from_zero(expressions, node)
    unstable = set(counts)
    for name, e, _ in assigned:
        if counts[name] == 1 and not names_in(e) & unstable:
            unstable.remove(name)
    for _ in range(len(assigned) + 2):
        before = dict(scope.numbers), dict(scope.natural)
        for name, e, inside in assigned:
            _give(expressions, name, e, not inside or _is_bounded(e, unstable))
        _count_from_zero(expressions, node)
        if before == (scope.numbers, scope.natural):
            break
    expressions.inferring = False
    for name, e, _ in assigned:
        if name not in scope.numbers and name not in scope.arrays and not is_filled(e):
            raise NotPrintedError(f"the variable {name}, whose dtype is not known,")


def _target(loop: ast.For) -> str:
    if not isinstance(loop.target, ast.Name):
        raise NotPrintedError("a loop over more than numbers")
    return loop.target.id


def assignments(body: list[ast.stmt], inside: bool = False) -> Iterator[Given]:
    """What variables get, in order."""
    for s in body:
        match s:
            case ast.Assign(targets=targets, value=e):
                for target in targets:
                    yield from _assigned_pairs(target, e, inside)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=e):
                yield name, ast.BinOp(ast.Name(name, ast.Load()), op, e), inside
            case ast.For() | ast.While():
                yield from assignments(s.body, True)
            case ast.If():
                yield from assignments(s.body, inside)
                yield from assignments(s.orelse, inside)


def _assigned_pairs(target: ast.expr, e: ast.expr, inside: bool) -> Iterator[Given]:
    match target, e:
        case ast.Name(id=name), _:
            yield name, e, inside
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            for t, v in zip(targets, values, strict=True):
                yield from _assigned_pairs(t, v, inside)
        case ast.Tuple(elts=targets), _:
            for k, t in enumerate(targets):
                yield from _assigned_pairs(t, ast.Subscript(e, ast.Constant(k), ast.Load()), inside)


def _give(expressions: ExpressionPrinter, name: str, e: ast.expr, bounded: bool) -> None:
    scope = expressions.scope
    if name in scope.arrays or is_scratch(e) or is_filled(e):
        return
    try:
        value = expressions.value(e)
    except UnknownVariableError:
        return  # not known yet
    if isinstance(value, CArray):
        raise NotPrintedError(f"the array {name}")
    if not isinstance(value, CValue):
        raise NotPrintedError(ast.unparse(e))
    held = scope.numbers.get(name)
    scope.numbers[name] = value.dtype if held is None else unified_dtype(held, value.dtype)
    natural = value.natural and bounded and scope.numbers[name].kind in "iu"
    scope.natural[name] = natural and scope.natural.get(name, True)


def _is_bounded(e: ast.expr, unstable: set[str]) -> bool:
    """Whether a value that is given in a loop cannot grow from pass to pass until it overflows;
    counting takes too long for that."""
    match e:
        case ast.BinOp(left=ast.Name(), op=ast.Add(), right=ast.Constant()):
            return True
        case ast.BinOp(op=ast.Mod() | ast.FloorDiv(), right=ast.Constant()) | ast.Name():
            return True
    return not names_in(e) & unstable


def _count_from_zero(expressions: ExpressionPrinter, node: ast.FunctionDef) -> None:
    """Notes which loops count what is never negative."""
    natural = expressions.scope.natural
    for loop in ast.walk(node):
        if isinstance(loop, ast.For):
            name = _target(loop)
            natural[name] = natural.get(name, True) and _is_natural(expressions, loop.iter)


def _is_natural(expressions: ExpressionPrinter, e: ast.expr) -> bool:
    match e:
        case ast.Call(func=ast.Name(id="range" | "each" | "turns" | "apart"), args=args):
            try:
                values = [expressions.number(a) for a in args]
            except UnknownVariableError:
                return True  # not known yet
        case ast.Tuple(elts=items):
            return all(expressions.number(x).natural for x in items)
        case _:
            raise NotPrintedError(f"a loop over {ast.unparse(e)}")
    if len(values) < 2:
        return True
    step = values[2].known if len(values) > 2 else 1
    if not isinstance(step, int):
        return False
    least = values[1].known
    return values[0].natural if step > 0 else values[1].natural or least in (-1, 0)


def is_scratch(e: ast.expr) -> bool:
    """Whether a value is memory for the kernel itself."""
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "scratch"


def is_filled(e: ast.expr) -> bool:
    """Whether a value is an array that a kernel returns, of a list that it filled."""
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "filled"


def scratch_of(expressions: ExpressionPrinter, e: ast.expr) -> tuple[tuple[CValue, ...], Dtype]:
    """The shape and the dtype of memory for the kernel itself."""
    match e:
        case ast.Call(args=[ast.Tuple(elts=lengths), dtype]):
            kind = expressions.value(dtype)
            if isinstance(kind, np.dtype):
                return tuple(expressions.number(n) for n in lengths), kind
    raise NotPrintedError(ast.unparse(e))
