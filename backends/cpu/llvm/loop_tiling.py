"""Tiles loops that read or store along the rows of one array and the columns of another.

    for i in range(first, last):          for start in range(0, n, 256):
        for j in range(n):                    for i in range(first, last):
            out[i, j] = a[j, i]    becomes        for j in range(start, min(start + 256, n)):
                                                      out[i, j] = a[j, i]

A line of the cache holds several columns: those of so many rows stay in the first cache until the
next passes of the loop over `i` need them. Only where a pass computes elements of its own, from
arrays that share no memory with what is stored to: then the order of passes is nobody's business.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

from tapeless.backends.cpu.llvm.unroll_and_jam import SHAPE, expression, mentions, owner
from tapeless.transforms.python_text.tree_walk import walk

ROWS = 256  # in a tile; 64 of 4096 numbers lie in as many lines of one set of the second cache
WHOLE = 1024  # rows that the second cache holds anyway
PLAIN = (
    *(ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp),
    *(ast.IfExp, ast.Attribute, ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
    ast.expr_context,
)


def tile_loops(function: ast.FunctionDef, others: Collection[str], apart: bool) -> ast.FunctionDef:
    """The function with such loops.

    others  the other functions of its module, which may do anything
    apart   whether no array that it is given shares memory with another one that it stores to
    """
    if not apart:
        return function
    often = [e.id for e in walk(function) if isinstance(e, ast.Name) and _is_set(e)]
    arguments = {a.arg for a in function.args.args} - {*often}
    taken = arguments | {*often}
    tiles = Tiles(arguments, taken, others)
    if not any(isinstance(s, ast.For) and tiles.fits(s) for s in walk(function)):
        return function
    return ast.fix_missing_locations(tiles.visit(copy.deepcopy(function)))  # type: ignore[no-any-return]


class Tiles(ast.NodeTransformer):
    """Replaces loops over two axes.

    given   the arguments, which share no memory
    taken   the names of the function
    others  other functions, which may do anything
    """

    def __init__(self, arguments: set[str], taken: set[str], others: Collection[str]) -> None:
        self.given, self.taken, self.others = arguments, taken, others

    def visit_For(self, s: ast.For) -> ast.For:
        if not self.fits(s):
            self.generic_visit(s)
            return s
        inner = s.body[0]
        n = _count(inner, self.given)
        assert isinstance(inner, ast.For)
        start = self.fresh("start")
        rows = f"({ROWS} if {n} > {WHOLE} else {WHOLE})"
        inner.iter = expression(f"range({start}, min({start} + {rows}, {n}))")
        along = expression(f"range(0, {n}, {rows})")
        return ast.For(ast.Name(start, ast.Store()), along, [s], [], lineno=s.lineno)

    def fits(self, s: ast.For) -> bool:
        """Whether a loop is over two axes, of which the inner one can be cut into tiles."""
        inner = s.body[0]
        if len(s.body) > 1 or not isinstance(inner, ast.For):
            return False
        return _count(inner, self.given) is not None and self.is_free(s, inner)

    def is_free(self, s: ast.For, inner: ast.For) -> bool:
        """Whether its passes may run in any order, and columns are read or stored in some."""
        match s:
            case ast.For(target=ast.Name(id=i), iter=ast.Call(func=ast.Name(id="range"))):
                j = inner.target.id  # type: ignore[attr-defined]
            case _:
                return False
        if mentions(inner.iter, i) or not all(isinstance(x, ast.Assign) for x in inner.body):
            return False
        places: dict[str, str] = {}  # the one element of each array that a pass stores
        readable = {i, j} | self.given
        for x in inner.body:
            assert isinstance(x, ast.Assign)
            if not self.is_plain(x.value, readable):
                return False
            match x.targets:
                case [ast.Name(id=name)] if name not in (i, j):
                    readable.add(name)
                case [ast.Subscript(value=ast.Name(id=name)) as place] if name in self.given:
                    text = ast.unparse(place)
                    if places.setdefault(name, text) != text or not _is_own(place, i, j):
                        return False
                case _:
                    return False
        parts = [e for x in inner.body for e in walk(x) if isinstance(e, ast.Subscript)]
        return all(ast.unparse(e) == places[owner(e)] for e in parts if owner(e) in places) and any(
            _is_column(e, i, j) for e in parts
        )

    def is_plain(self, e: ast.AST, readable: set[str]) -> bool:
        """Whether an expression has no effect, and reads what this pass has made, or what nobody
        changes."""
        match e:
            case ast.Name(id=name):
                return name in readable or name == "np"
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return name not in self.others and all(self.is_plain(a, readable) for a in args)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), keywords=[]):
                pass
            case ast.Subscript() if owner(e) in self.given:
                pass
            case _ if not isinstance(e, PLAIN):
                return False
        return all(self.is_plain(part, readable) for part in ast.iter_child_nodes(e))

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def _count(s: ast.stmt, arguments: set[str]) -> str | None:
    """The passes of a loop that counts from 0 to the length of an axis, or to an argument."""
    match s:
        case ast.For(
            target=ast.Name(),
            iter=ast.Call(func=ast.Name(id="range"), args=[n], keywords=[]),
            orelse=[],
        ):
            pass
        case _:
            return None
    if isinstance(n, ast.Name):
        return n.id if n.id in arguments else None
    return ast.unparse(n) if SHAPE.fullmatch(ast.unparse(n)) else None


def _axes(e: ast.Subscript) -> list[str]:
    parts = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
    return [ast.unparse(p) for p in parts]


def _is_own(place: ast.Subscript, i: str, j: str) -> bool:
    """Whether each pass stores another element."""
    return i in _axes(place) and j in _axes(place)


def _is_column(e: ast.Subscript, i: str, j: str) -> bool:
    """Whether passes of the inner loop go along the columns of an array."""
    *outer, last = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
    return mentions(last, i) and not mentions(last, j) and any(mentions(x, j) for x in outer)


def _is_set(e: ast.Name) -> bool:
    return isinstance(e.ctx, ast.Store)
