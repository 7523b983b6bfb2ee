"""Finds where the threads that share a row have to wait for each other.

for j in each(n): e[j] = x[j]
t = e[k]                            waits between the two: another thread may have stored e[k]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from tapeless.transforms.c_text.expressions import owner
from tapeless.transforms.dataclass import dataclass

READ, WRITE, ADD = "read", "write", "add"  # ADD in one step, whatever other threads add
FIRST, ALL, SHARED = "first", "all", "shared"  # which threads: the first one, all alike, each some


@dataclass(frozen=True)
class SharedAccess:
    """An access to an element of an array, or to all of it: `places` are texts of indices."""

    array: str
    mode: str
    places: tuple[str, ...] | None


def accesses(node: ast.AST, arrays: Iterable[str]) -> Iterator[SharedAccess]:
    """What a statement or an expression does to these arrays."""
    match node:
        case ast.Call(func=ast.Name(id="add_at"), args=[ast.Subscript() as target, e]):
            for access in accesses(target, arrays):
                yield (
                    access
                    if access.mode == READ and access.places is None
                    else SharedAccess(
                        access.array, ADD if owner(target) == access.array else READ, access.places
                    )
                )
            yield from accesses(e, arrays)
            return
        case ast.Assign(value=ast.Call(func=ast.Name(id="scratch"))):
            return
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            for e in (*targets, *values):
                if not (isinstance(e, ast.Name) and e.id in arrays):  # which take turns
                    yield from accesses(e, arrays)
            return
        case ast.AugAssign(target=ast.Subscript() as target):
            read = ast.Subscript(target.value, target.slice, ast.Load())
            yield from accesses(read, arrays)
        case ast.Subscript(value=ast.Name(id=name)) if name in arrays:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            mode = READ if isinstance(node.ctx, ast.Load) else WRITE
            yield SharedAccess(name, mode, tuple(map(ast.unparse, parts)))
            yield from accesses(node.slice, arrays)
            return
        case ast.Attribute(value=ast.Name(), attr="shape" | "size" | "ndim"):
            return
        case ast.Expr(value=ast.Call(args=args)):
            for a in args:
                yield from accesses(a, arrays)
                if owner(a) in arrays:
                    yield SharedAccess(
                        owner(a), WRITE, None
                    )  # a function without results stores to it
            return
        case ast.Name(id=name) if name in arrays:
            yield SharedAccess(name, READ, None)
    for child in ast.iter_child_nodes(node):
        yield from accesses(child, arrays)


def stored_arrays(node: ast.AST, arrays: Iterable[str]) -> set[str]:
    return {a.array for a in accesses(node, arrays) if a.mode != READ}


def with_counters(
    body: Iterable[ast.stmt],
    arrays: set[str],
    is_shared: Callable[[ast.AST], bool],
    around: ast.For | None,
) -> Iterator[tuple[SharedAccess, ast.For | None]]:
    """All accesses, each with the loop around it that threads share."""
    for s in body:
        head = s.test if isinstance(s, (ast.If, ast.While)) else s
        head = s.iter if isinstance(s, ast.For) else head
        yield from ((a, around) for a in accesses(head, arrays))
        inner = s if around is None and isinstance(s, ast.For) and is_shared(s) else around
        for suite in ("body", "orelse"):
            yield from with_counters(getattr(s, suite, ()), arrays, is_shared, inner)


@dataclass
class Pending:
    """What threads have done to each array since they have waited for each other."""

    done: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def conflicts(self, doing: Iterable[SharedAccess], who: str) -> bool:
        """Whether they have to wait before these accesses."""
        return any(
            _conflict(mode, a.mode, other == who == FIRST)
            for a in doing
            for mode, other in self.done.get(a.array, ())
        )

    def note(self, doing: Iterable[SharedAccess], who: str) -> None:
        for a in doing:
            self.done.setdefault(a.array, set()).add((a.mode, who))

    def copy(self) -> Pending:
        return Pending({name: set(done) for name, done in self.done.items()})

    def join(self, other: Pending) -> None:
        for name, done in other.done.items():
            self.done.setdefault(name, set()).update(done)


def _conflict(before: str, now: str, same_thread: bool) -> bool:
    return not same_thread and (before, now) not in ((READ, READ), (ADD, ADD))
