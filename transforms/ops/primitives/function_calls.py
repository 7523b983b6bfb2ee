"""Defines calls of functions of the program, and the tapes that their forward parts give.

A tape is a tuple of what a backward part reads, with the tapes of the calls inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

from tapeless.transforms.core import builder
from tapeless.transforms.core.language import (
    NOTHING,
    TAPE,
    Atom,
    Effect,
    Function,
    Let,
    Literal,
    Statement,
    Var,
    statements,
)
from tapeless.transforms.core.operation import Op, types_given
from tapeless.transforms.ops.primitives.callbacks import outside
from tapeless.transforms.ops.primitives.new_arrays import zero_of
from tapeless.transforms.ops.primitives.stacks import PLUS


def _call_source(args: Sequence[Atom], params: dict[str, Any]) -> str:
    holes = ", ".join(f"{{{k}}}" for k in range(len(args)))
    return f"{params['function'].name}({holes})"


#: function(*args); `act` is the same where the function prints or raises.
call = Op("call", types_given, _call_source, costly=True, word="value")
act = Op("call", types_given, _call_source, costly=True, pure=False, word="value")
CALLS = {True: call, False: act}


def is_call(s: Statement) -> TypeGuard[Let]:
    return type(s) is Let and (s.op is call or s.op is act)


def calls(block: Any) -> list[Function]:
    """The functions that a block calls, in order."""
    functions = (s.params["function"] for s in statements(block) if is_call(s))
    return list(dict.fromkeys(functions))


def functions_called(block: Any) -> list[Function]:
    """The functions that a block calls, and those that these call, each once."""
    functions = dict.fromkeys(calls(block))
    pending = list(functions)
    while pending:
        more = [f for f in calls(pending.pop().block) if f not in functions]
        functions |= dict.fromkeys(more)
        pending += more
    return list(functions)


def acts(block: Any) -> bool:
    """Whether a block does something besides computing; to draw random numbers is that, too."""
    return any(
        isinstance(s, Effect) or (isinstance(s, Let) and (s.op is outside or not s.op.pure))
        for s in statements(block)
    )


def enter(
    function: Function, args: Iterable[Atom], outs: tuple[Var, ...], pure: bool = True
) -> tuple[Var, ...]:
    """Records a call."""
    builder.current().let(outs, CALLS[pure], tuple(args), {"function": function})
    return outs


def _linear_call_transpose(
    ct: Any, args: tuple[Atom, ...], linear: Any, params: dict[str, Any]
) -> tuple[Any, ...]:
    cts = ct if isinstance(ct, tuple) else (ct,)
    names = (a.name.removesuffix("_dot") if isinstance(a, Var) else "" for a in args[1:])
    bars = tuple(Var(a.type, n and n + "_bar") for a, n in zip(args[1:], names, strict=True))
    return (None, *enter(params["backward"], (args[0], *cts), bars))


#: (tape, *tangents) to tangents of the results; only its transpose is ever run.
linear_call = Op("linear_call", types_given, transpose=_linear_call_transpose)


# -- tapes


def _bundle_source(args: Sequence[Atom], params: dict[str, Any]) -> str:
    holes = ", ".join(f"{{{k}}}" for k in range(len(args)))
    return f"({holes},)" if len(args) == 1 else f"({holes})"


def _smooth(a: Atom, value: Any) -> Atom:
    """What stands for `a` in the tape of tangents."""
    if not a.type.differentiable or (isinstance(a, Literal) and a.value is None):
        return Literal(None, _tangent_kind(a.type))
    if value is None:
        return zero_of(a)
    if isinstance(value, Var) and isinstance(a, Var) and a.partial:
        value.partial = True
    return value  # type: ignore[no-any-return]


def _tangent_kind(kind: Any) -> Any:
    """The type of what stands for a value of the type `kind` in the tape of tangents."""
    return kind if kind.differentiable else NOTHING


def _bundle_jvp(primals: Any, tangents: Any, outs: Any, params: Any) -> tuple[Atom]:
    return (bundle(*map(_smooth, primals, tangents)),)


def _bundle_transpose(ct: Atom, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    parts = unbundle.bind(ct, kinds=tuple(_tangent_kind(a.type) for a in args))
    for part, a, on in zip(parts, args, linear, strict=True):
        assert isinstance(part, Var)
        part.partial = not on or (isinstance(a, Var) and a.partial)
    return tuple(p if on else None for p, on in zip(parts, linear, strict=True))


bundle = Op(
    "bundle", lambda *parts: TAPE, _bundle_source, _bundle_jvp, _bundle_transpose, word="saved"
)


def _unbundle_infer(tape: Atom, *, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    return kinds


def _unbundle_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    dots = unbundle.bind(tangents[0], kinds=tuple(map(_tangent_kind, params["kinds"])))
    for dot, part in zip(dots, outs, strict=True):
        assert isinstance(dot, Var)
        dot.partial = part.partial
    return tuple(d if d.type.differentiable else None for d in dots)


def _unbundle_transpose(ct: Any, args: Any, linear: Any, params: Any) -> tuple[Atom]:
    cts = ct if isinstance(ct, tuple) else (ct,)
    pairs = zip(cts, params["kinds"], strict=True)
    return (bundle(*(c if k.differentiable else Literal(None, NOTHING) for c, k in pairs)),)


unbundle = Op(
    "unbundle",
    _unbundle_infer,
    lambda args, params: "{0}[0]" if len(params["kinds"]) == 1 else "{0}",
    _unbundle_jvp,
    _unbundle_transpose,
    word="part",
    of_results=("kinds",),
)


def _sum(name: str) -> Op:
    """An operation for sums, part by part; what has no value counts as zero."""

    def jvp(primals: Any, tangents: Any, outs: Any, params: Any) -> tuple[Any]:
        a, b = tangents
        return (b if a is None else a if b is None else op(a, b),)

    op = Op(
        name,
        lambda a, b: a.type,
        ("plus({0}, {1})", PLUS),
        jvp,
        lambda ct, args, linear, params: (ct, ct),
        costly=True,
    )
    return op


add_tapes = _sum("add_tapes")
#: Of cotangents of a value that may not be there.
add_if_set = _sum("add_if_set")


REPEATED = '''
def repeated(saved, n, axis=0):
    """What a tape holds, n times along a new axis of each array; None stays None."""
    if isinstance(saved, (tuple, list)):
        return type(saved)(repeated(part, n, axis) for part in saved)
    return None if saved is None else np.stack([saved] * n, axis)
'''
SUMMED = '''
def summed(saved, axis=0):
    """What a tape holds, summed over an axis of each array; None stays None."""
    if isinstance(saved, (tuple, list)):
        return type(saved)(summed(part, axis) for part in saved)
    return None if saved is None else np.sum(saved, axis)
'''


def _axis_text(params: dict[str, Any]) -> str:
    return f", {params['axis']}" if params["axis"] else ""


def _tape_jvp(op: Op, tangents: Any, params: Any) -> tuple[Any]:
    return (None if tangents[0] is None else op(tangents[0], **params),)


#: A tape that is the same for all elements of a batch, as one of the batch; and back.
repeat_tape: Op = Op(
    "repeat_tape",
    lambda tape, *, size, axis: TAPE,
    lambda args, params: (f"repeated({{0}}, {{size}}{_axis_text(params)})", REPEATED),
    lambda primals, tangents, outs, params: _tape_jvp(repeat_tape, tangents, params),
    lambda ct, args, linear, params: (sum_tape(ct, **params),),
    costly=True,
)
sum_tape: Op = Op(
    "sum_tape",
    lambda tape, *, size, axis: TAPE,
    lambda args, params: (f"summed({{0}}{_axis_text(params)})", SUMMED),
    lambda primals, tangents, outs, params: _tape_jvp(sum_tape, tangents, params),
    lambda ct, args, linear, params: (repeat_tape(ct, **params),),
    costly=True,
)
