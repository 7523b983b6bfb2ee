"""Finds the constants that loops and branches give to variables, and that decide a dtype there.

total = np.int64(0) before a loop that adds numbers of int16 stays of int64; total = 0 would not.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Type,
    Var,
    While,
    statements,
)
from tapeless.transforms.emit.numpy_scalars import (
    PYTHON,
    RAISE,
    decides,
    is_numpy,
    is_test,
    is_weak_or_constant,
)


def typed_variables(block: Block) -> set[Var]:
    """The variables to which constants are given that must be spelled with their dtype."""
    pairs = list(_numbers_assigned(block))
    if not any(is_numpy(a) for _, a in pairs):
        return set()
    sources: dict[Var, set[Atom]] = {}
    for v, a in pairs:
        sources.setdefault(v, set()).add(a)
    computed = [s for s in statements(block) if isinstance(s, Let) and s.op.elementwise]
    maybe_python = {v for v, a in pairs if is_numpy(a)}
    while (
        fresh := {
            *(v for v, a in pairs if a in maybe_python),
            *(
                v
                for s in computed
                if _stays_python(s, maybe_python)
                for v in s.outs
                if _is_number(v)
            ),
        }
        - maybe_python
    ):
        maybe_python |= fresh
    for s in computed:
        for v in maybe_python.intersection(s.outs):
            sources[v] = {a for a in s.args if a in maybe_python}
    return _origins({a for s in computed for a in _dtype_givers(s, maybe_python)}, sources)


def _numbers_assigned(block: Block) -> Iterator[tuple[Var, Atom]]:
    """Each number of a variable that a branch or a loop sets, and what it is set to."""
    for s in statements(block):
        for v, a in _assignments(s):
            if _is_number(v):
                yield v, a


def _is_number(v: Var) -> bool:
    """Whether a variable holds a number of NumPy's that could be one of Python's."""
    t = v.type
    return isinstance(t, Type) and not t.shape and not t.weak and t.dtype.kind in PYTHON


def _assignments(s: Statement) -> Iterator[tuple[Var, Atom]]:
    if isinstance(s, If):
        for side in (s.then, s.orelse):
            yield from zip(s.outs, side.results, strict=True)
    elif isinstance(s, For):
        for values in (s.inits, s.yields):
            yield from zip(s.carries, values, strict=True)
        yield from zip(s.outs, s.carries, strict=True)
    elif isinstance(s, While):
        for values in (s.inits, s.body.results):
            yield from zip(s.body.params, values, strict=True)
        for names in (s.test.params, s.outs):
            yield from zip(names, s.body.params, strict=True)


def _numpy_arguments(s: Let, maybe_python: set[Var]) -> list[Atom]:
    """The arguments that are NumPy's in any case; tests have no say."""
    return [a for a in s.args if not (is_weak_or_constant(a) or a in maybe_python or is_test(a))]


def _stays_python(s: Let, maybe_python: set[Var]) -> bool:
    """Whether an operation of Python's numbers gives one of them."""
    return any(a in maybe_python for a in s.args) and not _numpy_arguments(s, maybe_python)


def _dtype_givers(s: Let, maybe_python: set[Var]) -> Iterator[Var]:
    """The arguments that must be NumPy's: they decide the dtype, or whether an error is raised."""
    dtypes = {a.type.dtype for a in _numpy_arguments(s, maybe_python)}
    for a in s.args:
        if (
            isinstance(a, Var)
            and a in maybe_python
            and (decides(a, dtypes) if dtypes else s.op in RAISE)
        ):
            yield a


def _origins(needed: set[Var], sources: dict[Var, set[Atom]]) -> set[Var]:
    """The variables by which constants come into what is needed."""
    todo, seen = list(needed), set(needed)
    while todo:
        fresh = {a for a in sources.get(todo.pop(), ()) if isinstance(a, Var)} - seen
        seen |= fresh
        todo += fresh
    return {v for v in seen if any(map(is_numpy, sources.get(v, ())))}
