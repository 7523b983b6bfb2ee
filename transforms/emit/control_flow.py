"""Writes branches and loops as Python does; a loop is left where the flag that ends it is set.

until(flag): if c: flag = True, else: f()      becomes      if c: break
                                                            f()
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    blocks,
    statements,
)
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not
from tapeless.transforms.optimize.loop_carries import carries, known_flags, yields
from tapeless.transforms.python_text.line_breaking import else_lines
from tapeless.transforms.python_text.python_source import rename_variables, to_source
from tapeless.transforms.python_text.tree_walk import names_in

if TYPE_CHECKING:
    from tapeless.transforms.emit.writer import Writer

Write = Callable[[], None]
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}


class Side(NamedTuple):
    """One side of a branch, and the flag that says whether the loop around is left at its end."""

    of: If
    block: Block
    flag: Atom | None = None


def without_bool(test: ast.expr) -> ast.expr:
    """x for bool(x), which is as true."""
    match test:
        case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]):
            return inner
        case _:
            return test


def negate(test: ast.expr) -> ast.expr:
    test = without_bool(test)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITE:
            return ast.Compare(left, [OPPOSITE[type(op)]()], [right])
        case _:
            return ast.UnaryOp(ast.Not(), test)


# -- branches


def write_branch(w: Writer, s: If) -> None:
    write_sides(w, Side(s, s.then), Side(s, s.orelse), lambda: None)


def write_sides(w: Writer, a: Side, b: Side, escape: Write) -> None:
    """An if statement; what `escape` writes follows where a side leaves the loop."""
    test, origin, before = without_bool(w.expr(a.of.test)), a.of.origin, w.line
    if is_true(b.flag) and not is_true(a.flag):
        test, a, b = negate(test), b, a
    while (inner := only_branch(w, a, b)) is not None:
        test = ast.BoolOp(ast.And(), [test, w.expr(inner.test)])
        a, b = Side(inner, inner.then), Side(inner, inner.orelse)
    head = w.capture(lambda: w.put(f"if {to_source(test)}:", origin))
    then = w.capture_indented(lambda: write_side(w, a, escape))
    if is_true(a.flag):
        w.lines += [*head, *then]
        write_side(w, b, escape)
        return
    at = w.line
    orelse = w.capture_indented(lambda: write_side(w, b, escape))
    if then:
        w.lines += [*head, *then, *else_lines(orelse, w.depth)]
    elif orelse:
        w.line = before
        w.put(f"if {to_source(negate(test))}:", origin)
        w.lines += orelse
    w.line = w.line if orelse else at if then else before


def write_side(w: Writer, side: Side, escape: Write) -> None:
    def settle() -> None:
        w.put_assign(w.results(side.of.outs, side.block.results))

    write_until(w, side.block.body, side.flag, settle, escape)


def only_branch(w: Writer, a: Side, b: Side) -> If | None:
    """The branch that is all there is in `a`, where neither it nor `b` has another side."""
    body = written_statements(w, a.block)
    if (
        a.flag is not None
        or len(body) != 1
        or sets(w, a)
        or written_statements(w, b.block)
        or sets(w, b)
    ):
        return None
    (inner,) = body
    if (
        not isinstance(inner, If)
        or written_statements(w, inner.orelse)
        or sets(w, Side(inner, inner.orelse))
    ):
        return None
    return inner


def written_statements(w: Writer, block: Block) -> list[Statement]:
    """The statements that have lines of their own."""
    return [s for s in block.body if not (s.outs and s.outs[0] in w.layout.folded)]


def sets(w: Writer, side: Side) -> bool:
    """Whether a side ends with assignments."""
    pairs = w.results(side.of.outs, side.block.results)
    return any(not (isinstance(value, ast.Name) and value.id == name) for name, value in pairs)


# -- leaving loops


def is_true(a: Atom | None) -> bool:
    return isinstance(a, Literal) and a.value is True


def is_false(a: Atom | None) -> bool:
    return isinstance(a, Literal) and a.value is False


def ends_by(body: tuple[Statement, ...], flag: Atom) -> If | None:
    """The last statement of a pass, if it is a branch that decides by or about `flag`."""
    last = body[-1] if body else None
    if isinstance(last, If) and isinstance(flag, Var) and (last.test is flag or flag in last.outs):
        return last
    return None


def is_exit_decided(flag: Atom | None, body: tuple[Statement, ...]) -> bool:
    """Whether the last branch of a pass decides, by its sides, if the loop is left."""
    if flag is None or isinstance(flag, Literal):
        return True
    last = ends_by(body, flag)
    return last is not None and all(
        is_exit_decided(s.flag, s.block.body) for s in sides(last, flag)
    )


def sides(s: If, flag: Atom) -> tuple[Side, Side]:
    """The sides of the branch that ends a pass, with the flag at the end of each."""
    if s.test is flag:
        flags: tuple[Atom, Atom] = (Literal(True, s.test.type), Literal(False, s.test.type))
    else:
        k = s.outs.index(flag)
        flags = (s.then.results[k], s.orelse.results[k])
    return Side(s, s.then, flags[0]), Side(s, s.orelse, flags[1])


def write_until(
    w: Writer, body: tuple[Statement, ...], flag: Atom | None, settle: Write, escape: Write
) -> None:
    """A body and what `settle` writes at its end, and `escape` after that if the flag is set."""

    def leave() -> None:
        settle()
        escape()

    last = None if flag is None else ends_by(body, flag)
    if flag is not None and last is not None:
        w.body(body[:-1])
        write_sides(w, *sides(last, flag), leave)
        settle()
        return
    w.body(body)
    settle()
    if is_true(flag):
        escape()


# -- loops


def loop_flag(s: Statement) -> Atom | None:
    """What says at the end of a pass that it was the last."""
    if isinstance(s, For) and s.until:
        return s.body.results[0]
    if isinstance(s, While):
        over, flags = [a for a, true in terms(s.test) if not true], known_flags(s)
        rows = zip(carries(s), yields(s), s.test.params, strict=True)
        return next((y for p, y, q in rows if q in over and p in flags), None)
    return None


def flag_carry(s: Statement) -> int | None:
    """Which carry is the flag of a loop that is left by it: false until then."""
    flag = loop_flag(s)
    if not isinstance(flag, Var) or not isinstance(s, (For, While)):
        return None
    flags = known_flags(s)
    rows = enumerate(zip(carries(s), yields(s), strict=True))
    return next((k for k, (p, y) in rows if y is flag and p in flags), None)


def terms(test: Block) -> list[tuple[Atom, bool]]:
    """What must hold, each with whether it must be true or false, for a test to be true."""
    definitions = {v: s for s in test.body for v in s.outs}

    def split(a: Atom, true: bool) -> list[tuple[Atom, bool]]:
        s = definitions.get(a) if isinstance(a, Var) else None
        if isinstance(s, Let) and s.op is logical_not and not s.args[0].type.shape:
            return split(s.args[0], not true)
        if true and isinstance(s, If):
            then, orelse = s.then.results[0], s.orelse.results[0]
            if is_false(orelse):
                return split(s.test, True) + split(then, True)
            if is_false(then):
                return split(s.test, False) + split(orelse, True)
        return [(a, true)]

    return split(test.results[0], True)


def unneeded_flags(block: Block, reads: Mapping[Var, int]) -> set[Var]:
    """Flags that nobody looks at but to leave a loop."""
    flags: set[Var] = set()
    for s in statements(block):
        flag, k = loop_flag(s), flag_carry(s)
        if flag is None or not isinstance(s, (For, While)):
            continue
        if k is not None:
            rows = {s.outs[k], carries(s)[k]} | (
                {s.test.params[k]} if isinstance(s, While) else set()
            )
            if not any(reads[v] for v in (s.outs[k], carries(s)[k])):
                flags |= rows
        if is_exit_decided(flag, s.body.body):
            own = isinstance(s, For) + (k is not None)
            flags |= _unneeded_flags(flag, s.body.body, reads, own)
    return flags


def _unneeded_flags(
    flag: Atom | None, body: tuple[Statement, ...], reads: Mapping[Var, int], own: int = 1
) -> set[Var]:
    last = ends_by(body, flag) if isinstance(flag, Var) else None
    if last is None or not isinstance(flag, Var) or last.test is flag or reads[flag] > own:
        return set()
    inner = (_unneeded_flags(side.flag, side.block.body, reads) for side in sides(last, flag))
    return {flag}.union(*inner)


def flags_tested(s: Statement) -> Iterator[Var]:
    """For each use as a flag but one, what decides about the end of a pass."""
    flag = loop_flag(s)
    twice = isinstance(s, For) and flag_carry(s) is not None
    if not isinstance(flag, Var):
        return
    if not is_exit_decided(flag, blocks(s)[-1].body):
        yield from [flag] if twice else []
        return
    if twice:
        yield from _flags_tested(flag, blocks(s)[-1].body, inner=False)
    yield from _flags_tested(flag, blocks(s)[-1].body)


def _flags_tested(
    flag: Atom | None, body: tuple[Statement, ...], inner: bool = True
) -> Iterator[Var]:
    last = ends_by(body, flag) if isinstance(flag, Var) else None
    if last is None or not isinstance(flag, Var):
        return
    if last.test is flag:
        yield flag
    elif inner:
        for side in sides(last, flag):
            yield from _flags_tested(side.flag, side.block.body)


def write_pass(w: Writer, s: For | While) -> None:
    """The body of a loop, with what leaves it."""
    flag, k = loop_flag(s), flag_carry(s)
    carry_name = None if k is None or carries(s)[k] in w.silent else w.name(carries(s)[k])
    pairs = [c for c in enumerate(zip(carries(s), yields(s), strict=True)) if c[0] != k]
    params, results = [p for _, (p, _) in pairs], [y for _, (_, y) in pairs]

    def escape() -> None:
        if carry_name is not None:
            w.put(f"{carry_name} = True")
        w.put("break")

    def settle() -> None:
        w.put_assign(w.results(params, results))

    if flag is None or is_exit_decided(flag, s.body.body):
        write_until(w, s.body.body, flag, settle, escape)
        return
    w.body(s.body.body)
    test = _test_after_assignment(w, without_bool(w.expr(flag)), w.results(params, results))
    settle()
    w.put(f"if {to_source(test)}:")
    w.nest(escape)


def _test_after_assignment(
    w: Writer, test: ast.expr, pairs: list[tuple[str, ast.expr]]
) -> ast.expr:
    """A test as it is when names have got other values: u, f = f, u; if np.sum(u) > 4."""
    changed = {n: v for n, v in pairs if not (isinstance(v, ast.Name) and v.id == n)}
    lost = names_in(test) & set(changed)
    if not lost:
        return test
    moved = {v.id: n for n, v in changed.items() if isinstance(v, ast.Name)}
    if lost <= set(moved):
        return rename_variables(test, moved)
    name = _unused_name("done", w.layout.names.values())
    w.put(f"{name} = {to_source(test)}")
    return ast.Name(name, ast.Load())


def _unused_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores until no variable has it."""
    names = {*taken}
    while name in names:
        name += "_"
    return name


def write_for(w: Writer, s: For) -> None:
    w.put_assign(w.results(s.carries, s.inits), s.origin)
    count = s.count if s.count in w.used else None
    if count is not None:
        w.put(f"{w.name(count)} = 0")
    start, stop, step = (to_source(w.expr(a)) for a in (s.start, s.stop, s.step))
    first = "" if start == "0" and step == "1" else f"{start}, "
    span = f"range({first}{stop}{'' if step == '1' else f', {step}'})"
    is_read = s.index in w.used
    read = (n for v, n in w.layout.names.items() if v in w.used)
    index = w.name(s.index) if is_read else _unused_name("_", read)
    backwards = s.reverse and is_read
    w.put(f"for {index} in {f'reversed({span})' if backwards else span}:", s.origin)

    def write_body() -> None:
        if count is not None:
            w.put(f"{w.name(count)} += 1")
        write_pass(w, s)

    w.nest(write_body)


def write_while(w: Writer, s: While) -> None:
    w.put_assign(w.results(s.body.params, s.inits), s.origin)
    k = flag_carry(s)
    over = None if k is None else s.test.params[k]
    test = while_test(w, s.test, over)
    simple = not written_statements(w, s.test)
    w.put(f"while {to_source(test) if simple else 'True'}:", s.origin)

    def write_body() -> None:
        if not simple:
            write_test(w, s.test, over)
            w.put(f"if {to_source(negate(test))}:")
            w.nest(lambda: w.put("break"))
        write_pass(w, s)

    w.nest(write_body)


def write_test(w: Writer, test: Block, over: Var | None) -> None:
    """What a test computes; the flag that ends the loop elsewhere is false there."""
    last = test.body[-1] if test.body else None
    if isinstance(last, If) and last.test is over and is_false(last.then.results[0]):
        w.body(test.body[:-1])
        w.body(last.orelse.body)
    else:
        w.body(test.body)


def while_test(w: Writer, test: Block, over: Var | None) -> ast.expr:
    """The test of a loop without the flag that ends it elsewhere."""
    if over is None:
        return w.expr(test.results[0])
    rest = [(w.expr(a), true) for a, true in terms(test) if a is not over]
    each = [tree if true else negate(tree) for tree, true in rest]
    return ast.BoolOp(ast.And(), each) if len(each) > 1 else (each or [ast.Constant(True)])[0]
