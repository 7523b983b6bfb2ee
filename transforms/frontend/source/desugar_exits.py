"""Removes `return`, `break` and `continue`: what follows moves into the branch that falls through.

for x in xs:                         stop = False
    if x > 0:                        for x in xs:           (ends when stop is true)
        break              becomes       if x > 0:
    f(x)                                     stop = True
g()                                      else:
                                             f(x)
                                     g()
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.source.desugar_match import Matching
from tapeless.transforms.frontend.source.tree_building import RESULT, hidden_name


@dataclass(frozen=True)
class Context:
    """Where we are: flags to set on leaving, the flag of the loop around, and names made so far."""

    names: itertools.count[int]
    flags: tuple[str, ...] = ()
    loop: str | None = None  # the flag that ends the loop around
    returned: str | None = None  # the flag that says the function has returned, inside loops
    loop_flags: tuple[str, ...] = ()


def desugar(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function without return statements; its result is in the variable RESULT."""
    matching = Matching()
    body = [*itertools.chain.from_iterable(map(_as_list, map(matching.visit, body)))]
    end = ast.copy_location(ast.Return(value=ast.Constant(None)), body[-1])
    ast.fix_missing_locations(end)
    return _lower([*body, end], Context(itertools.count(1)))


def _as_list(statement: ast.stmt | list[ast.stmt]) -> list[ast.stmt]:
    return statement if isinstance(statement, list) else [statement]


def exits(node: ast.AST, kinds: tuple[type, ...] = (ast.Return, ast.Break, ast.Continue)) -> bool:
    """Whether control can leave `node` by one of the statements."""
    if isinstance(node, kinds):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    if isinstance(node, (ast.For, ast.While)):
        inner = tuple(k for k in kinds if k is ast.Return)
        return any(exits(s, inner) for s in node.body) or any(exits(s, kinds) for s in node.orelse)
    return any(exits(child, kinds) for child in ast.iter_child_nodes(node))


def _always_exits(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return True
    return isinstance(last, ast.If) and _always_exits(last.body) and _always_exits(last.orelse)


def _set(name: str, value: ast.expr, like: ast.AST) -> ast.stmt:
    assignment = ast.Assign(targets=[ast.Name(name, ast.Store())], value=value)
    return ast.fix_missing_locations(ast.copy_location(assignment, like))


def _flag(name: str, value: bool, like: ast.AST) -> ast.stmt:
    return _set(name, ast.Constant(value), like)


def _guard_by_flag(flag: str, body: list[ast.stmt], like: ast.AST) -> list[ast.stmt]:
    if not body:
        return []
    guarded = ast.If(test=ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load())), body=body, orelse=[])
    return [ast.fix_missing_locations(ast.copy_location(guarded, like))]


def _lower(stmts: list[ast.stmt], at: Context) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for k, s in enumerate(stmts):
        rest = stmts[k + 1 :]
        match s:
            case ast.Return():
                return out + _leave_function(s, at)
            case ast.Break():
                flags = (*at.flags, at.loop) if at.loop else at.flags
                return out + [_flag(f, True, s) for f in flags]
            case ast.Continue():
                return out + [_flag(f, True, s) for f in at.flags]
            case ast.If() if exits(s):
                return out + _branch(s, rest, at)
            case ast.For() | ast.While():
                done, loop, otherwise = _loop(s, at)
                out += loop
                rest = otherwise + rest
                if done is not None:
                    around = (at.returned, at.loop) if at.returned else ()
                    leave = [_flag(f, True, s) for f in (*at.flags, *around) if f]
                    if _endless(s):
                        return out + leave
                    test = ast.copy_location(ast.Name(done, ast.Load()), s)
                    after = _lower(rest, at)
                    if not leave and not after:
                        return out
                    branch = ast.If(test=test, body=leave or [ast.Pass()], orelse=after)
                    return [*out, ast.fix_missing_locations(ast.copy_location(branch, s))]
                if otherwise:
                    return out + _lower(rest, at)
            case ast.With() | ast.Try() | ast.TryStar() | ast.Match() if exits(s):
                flag = hidden_name(f"left_{next(at.names)}")
                if isinstance(s, (ast.Try, ast.TryStar)) and any(map(exits, s.body)):
                    s.orelse = _guard_by_flag(flag, s.orelse, s)  # jumps out of the body pass it by
                inner = _lower_blocks(s, replace(at, flags=(*at.flags, flag)))
                return [
                    *out,
                    _flag(flag, False, s),
                    inner,
                    *_guard_by_flag(flag, _lower(rest, at), s),
                ]
            case _:
                out.append(_lower_blocks(s, at))
    return out


def _leave_function(s: ast.Return, at: Context) -> list[ast.stmt]:
    value = s.value if s.value is not None else ast.Constant(None)
    flags = [*at.flags, *([at.returned] if at.returned else []), *([at.loop] if at.loop else [])]
    return [_set(RESULT, value, s), *(_flag(f, True, s) for f in dict.fromkeys(flags))]


def _branch(s: ast.If, rest: list[ast.stmt], at: Context) -> list[ast.stmt]:
    """The rest goes where the branch falls through; a flag guards it where both may."""
    if _always_exits(s.body):
        then, orelse = _lower(s.body, at), _lower(s.orelse + rest, at)
    elif _always_exits(s.orelse):
        then, orelse = _lower(s.body + rest, at), _lower(s.orelse, at)
    else:
        flag = hidden_name(f"left_{next(at.names)}")
        inner = replace(at, flags=(*at.flags, flag))
        branch = ast.If(
            test=s.test, body=_lower(s.body, inner) or [ast.Pass()], orelse=_lower(s.orelse, inner)
        )
        ast.copy_location(branch, s)
        return [_flag(flag, False, s), branch, *_guard_by_flag(flag, _lower(rest, at), s)]
    branch = ast.If(test=s.test, body=then or [ast.Pass()], orelse=orelse)
    return [ast.copy_location(branch, s)]


def _endless(s: ast.For | ast.While) -> bool:
    """Whether a loop can only be left by `return` (or an error)."""
    return (
        isinstance(s, ast.While)
        and isinstance(s.test, ast.Constant)
        and bool(s.test.value)
        and not any(exits(b, (ast.Break,)) for b in s.body)
    )


def _loop(s: ast.For | ast.While, at: Context) -> tuple[str | None, list[ast.stmt], list[ast.stmt]]:
    """The flag that says whether the function has returned inside the loop, the loop without jumps,
    and its else part, still to be lowered."""
    returns = any(exits(b, (ast.Return,)) for b in s.body)
    breaks = any(exits(b, (ast.Break,)) for b in s.body)
    n = next(at.names) if returns or breaks else 0
    done = hidden_name(f"done_{n}") if returns else None
    stop = hidden_name(f"stop_{n}") if breaks else done
    inner = Context(at.names, (), stop, done)
    body = _lower(s.body, inner) or [ast.Pass()]
    loop: ast.For | ast.While
    if isinstance(s, ast.For):
        loop = ast.For(target=s.target, iter=s.iter, body=body, orelse=[])
    else:
        loop = ast.While(test=s.test, body=body, orelse=[])
    ast.copy_location(loop, s)
    loop.type_comment = stop  # type: ignore[union-attr]  # read by the rewriter
    out: list[ast.stmt] = [_flag(f, False, s) for f in dict.fromkeys((stop, done)) if f]
    out.append(loop)
    otherwise = _guard_by_flag(stop, s.orelse, s) if stop else s.orelse
    return done, out, otherwise


def _lower_blocks(s: ast.stmt, at: Context) -> ast.stmt:
    """A statement whose own blocks are lowered; nested functions are left to the rewriter."""
    if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return s
    for name in ("body", "orelse", "finalbody"):
        block = getattr(s, name, None)
        if isinstance(block, list) and block:
            setattr(s, name, _lower(block, at) or [ast.copy_location(ast.Pass(), s)])
    for part in (*getattr(s, "handlers", []), *getattr(s, "cases", [])):
        part.body = _lower(part.body, at) or [ast.copy_location(ast.Pass(), s)]
    return s
