"""Finds loops of the user's program that threads may share, as they share nests of array code.

for j in apart(n): y[j] = exp(x[j])                      is shared: passes have their own elements
for j in range(n): total = plus(total, x[j] * y[j])      is shared: passes only add numbers up
for j in range(n): x = a * x + b                         is not: each pass needs the one before
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

from tapeless.transforms.c_text.expressions import owner
from tapeless.transforms.c_text.renaming import names_and_parameters
from tapeless.transforms.cuda.liveness import live_before
from tapeless.transforms.cuda.reductions import reductions

SIMPLE = (ast.Assign, ast.AugAssign, ast.If, ast.For, ast.Pass)


def summing_loops(node: ast.FunctionDef) -> set[int]:
    """The loops, by their ids, of a kernel whose sums may be added up in any order."""
    ends: dict[int, set[str]] = {}
    live_before(node.body, set(), ends)
    small = _small_arrays(node)
    mentions = Counter(x.id for x in ast.walk(node) if isinstance(x, ast.Name))
    loops = set()
    for s in ast.walk(node):
        if isinstance(s, ast.For) and counts_from_zero(s):
            inside = Counter(x.id for x in ast.walk(s) if isinstance(x, ast.Name))
            only_here = {name for name in small if mentions[name] == inside[name] + 1}
            if _only_adds_up(s, small, only_here, ends[id(s)]):
                loops.add(id(s))
    return loops


def _small_arrays(node: ast.FunctionDef) -> dict[str, int]:
    """The arrays of one axis that the kernel makes, and how many numbers they have."""
    lengths = {}
    for s in ast.walk(node):
        match s:
            case ast.Assign(
                [ast.Name(id=name)],
                ast.Call(
                    func=ast.Name(id="scratch"), args=[ast.Tuple([ast.Constant(value=int(n))]), _]
                ),
            ):
                lengths[name] = n
    return lengths


def counts_from_zero(s: ast.For) -> bool:
    """Whether a loop of the user counts from 0 to a number that the text does not tell."""
    match s.target, s.iter:
        case ast.Name(), ast.Call(func=ast.Name(id="range"), args=[n]):
            return not isinstance(n, ast.Constant)
    return False


def _only_adds_up(
    s: ast.For, small: dict[str, int], only_here: set[str], read_later: set[str]
) -> bool:
    """Whether nothing but what is added up goes from one pass to another, or out; `only_here` are
    small arrays that nothing outside of the loop names."""
    if not all(isinstance(t, SIMPLE) for t in _nodes_inside(s) if isinstance(t, ast.stmt)):
        return False
    totals = reductions(s, small)
    places = [x for x in _nodes_inside(s) if isinstance(x, ast.Subscript)]
    stored = {owner(x) for x in places if isinstance(x.ctx, ast.Store)} - totals.keys()
    if not totals or not stored <= only_here:
        return False
    if not all(_is_set_first(s.body, name, small[name]) for name in stored):
        return False
    assigned = {
        x.id for x in _nodes_inside(s) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
    }
    needed = live_before(s.body, set(), {}) | read_later
    return assigned & needed <= totals.keys() | {ast.unparse(s.target)} - read_later


def _nodes_inside(s: ast.For) -> Iterator[ast.AST]:
    return (x for t in s.body for x in ast.walk(t))


def _is_set_first(body: list[ast.stmt], name: str, count: int) -> bool:
    """Whether statements give an array new numbers in all places before they read one:
    `for k in each(3): d[k] = ...`."""
    first = next(t for t in body if name in names_and_parameters(t))
    match first:
        case ast.For(ast.Name(id=k), ast.Call(args=[ast.Constant(value=int(n))]), lines) if (
            n == count
        ):
            step = next(t for t in lines if name in names_and_parameters(t))
            match step:
                case ast.Assign([ast.Subscript(ast.Name(), ast.Name(id=place))], e):
                    return place == k and name not in names_and_parameters(e)
    return False


def apart_loops(node: ast.FunctionDef) -> set[int]:
    """The loops, by their ids, whose passes are said to be apart; not those of a few passes, nor
    those that may raise one error or another: the first one in the order of passes counts."""
    loops = set()
    for s in ast.walk(node):
        match s:
            case ast.For(iter=ast.Call(func=ast.Name(id="apart"), args=bounds)):
                errors = {ast.unparse(x) for x in ast.walk(s) if isinstance(x, ast.Raise)}
                told = any(isinstance(x, ast.JoinedStr) for x in ast.walk(s))
                few = all(isinstance(n, ast.Constant) for n in bounds)
                if len(errors) < 2 and not told and not few:
                    loops.add(id(s))
    return loops


def reads_other_arrays(node: ast.FunctionDef, is_each: Callable[[ast.AST], bool]) -> bool:
    """Whether what such loops read by their counter is the same for all rows, and all that they do
    is to add it up: each row reads a whole other array, which rows of a block have in common."""
    arrays = {a.arg for a in node.args.args}
    loops = [s for s in ast.walk(node) if isinstance(s, ast.For)]
    pairs = [(s, t) for s in loops for t in ast.walk(s) if t is not s and t in loops and is_each(t)]
    for s, t in pairs:
        counters = {ast.unparse(s.target), ast.unparse(t.target)}
        for x in ast.walk(t):
            if isinstance(x, ast.Subscript) and not isinstance(x.value, ast.Attribute):
                of_row = counters <= names_and_parameters(x.slice)
                if owner(x) in arrays and (of_row or isinstance(x.ctx, ast.Store)):
                    return False
    return bool(pairs)


def moves_along_rows(node: ast.FunctionDef, loops: set[int]) -> bool:
    """Whether passes of such a loop, one after the other, touch elements of a row that are, too."""
    for s in ast.walk(node):
        if isinstance(s, ast.For) and id(s) in loops:
            counter = ast.unparse(s.target)
            for x in ast.walk(s):
                match x:
                    case ast.Subscript(slice=ast.Tuple(elts=[*_, ast.Name(id=name)])):
                        if name == counter:
                            return True
    return False
