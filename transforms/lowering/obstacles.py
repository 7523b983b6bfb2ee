"""Finds what keeps a loop out of kernels: the first statement in it that has no loop form.

for t in range(n): x = np.fft.fft(x) * k      is kept out by      np.fft.fft
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Effect,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.writer_base import NotCompiled
from tapeless.transforms.lowering.rewrite.array_routines import is_routine
from tapeless.transforms.lowering.scalars.operations import DTYPES
from tapeless.transforms.lowering.schedule.analysis import Analysis
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.element_loops import raises_constant
from tapeless.transforms.lowering.schedule.library_products import is_called
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.stack_capacity import is_of_stacks, of_numbers
from tapeless.transforms.lowering.schedule.user_errors import told_by_kernels
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.lowering.target import Target
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.callbacks import callback, outside
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.ops.primitives.new_arrays import arange, empty, full, ones, zeros
from tapeless.transforms.ops.primitives.random_draws import draw

FUNCTION = re.compile(
    r"\b(?:np|scipy|math)(?:\.[A-Za-z_]\w*)+(?=\()"
    r"|\b(?:np|scipy)(?!\.(?:newaxis|s_|inf|nan|pi)\b)(?:\.\w+)+"
)
PASSES = (
    "work on larger arrays in each pass, or on all passes at once as a stack, "
    "so that the call outweighs what Python adds"
)
LATER = "move it behind the loop, with what it needs kept in an array"
ARRAYS = "use an array that is made before the loop, with a row for each item"
RECURSION = "write the recursion as a loop"
OWN = "write it with arithmetic, slices, np.where and reductions, or move it out of the loop"
WITHOUT_LIBRARY = (empty, zeros, ones, full, arange)  # constants that any driver makes
LENGTHS = "make arrays with lengths that are known before the loop, and use parts of them or masks"


@dataclass(frozen=True)
class Obstacle:
    """A statement that has no loop form.

    statement  which one
    reason     why it has none
    way_out    what the user can do about it
    loop       the innermost loop around it; None if it stands in none
    """

    statement: Statement
    reason: str
    way_out: str
    loop: Statement | None = None


@dataclass
class Obstacles:
    """What is known of the lists that stay lists, beside the analysis of all kernels."""

    memory: Dependences
    analysis: Analysis
    lists: set[Var] = field(default_factory=set)  # stacks that the driver has, by their cells
    in_memory: bool = False  # whether kernels have memory for arrays of lengths that they change
    reasons: dict[Var, NotCompiled] = field(default_factory=dict)  # why it has some of them

    def obstacle_of(self, s: Statement, top: bool = False) -> Obstacle | None:
        """What keeps a statement out of kernels; None if nothing does. `top`: it stands in no
        loop, where the library is as fast."""
        loop = s if isinstance(s, (For, While)) else None
        if isinstance(s, Let) and s.op in (callback, outside):
            return Obstacle(s, f"{s.params['name']}() is called by Python", LATER, loop)
        if not of_machine(s):
            reason = f"{_dtypes(s)} has no form in compiled code"
            return Obstacle(s, reason, _of_numbers(s), loop)
        if isinstance(s, Let):
            return self.of_let(s, top)
        if isinstance(s, Effect):
            tells = self.analysis.target.tells_errors and told_by_kernels(s)
            fits = s.kind in ("blank", "check") or raises_constant(s) or tells
            return None if fits else Obstacle(s, f"{shown_effect(s)} is done by Python", LATER)
        for v in outputs(s):
            if not self.in_kernels(v):
                return replace(self.of_list(s, v), loop=loop)
        if isinstance(s, If) and self.decides_length(s):
            return Obstacle(s, "a branch decides how long an array is", LENGTHS)
        return self.obstacle_within(s)

    def decides_length(self, s: If) -> bool:
        """Whether the length of an array that a branch gives is told by that array alone."""
        told = sizes_in([v.type for v in self.memory.needs(s)]) | self.analysis.lengths.keys()
        lengths = {n for v in s.outs if isinstance(v.type, Type) for n in v.type.shape}
        symbols = {x for n in lengths for x in dims.symbols(self.analysis.canon(n))}
        return any(x.var is None and not x.given and x not in told for x in symbols)

    def obstacle_within(self, s: Statement) -> Obstacle | None:
        for b in blocks(s):
            for t in b.body:
                obstacle = self.obstacle_of(t)
                if obstacle is not None:
                    is_loop = isinstance(s, (For, While)) and obstacle.loop is None
                    return replace(obstacle, loop=s) if is_loop else obstacle
        return None

    def of_let(self, s: Let, top: bool) -> Obstacle | None:
        if is_view(s) or is_routine(s):
            return None
        if is_of_stacks(s):
            stacks = (a for a in (*s.outs, *s.args) if isinstance(a.type, StackType))
            return next((self.of_list(s, v) for v in stacks if not self.in_kernels(v)), None)  # type: ignore[arg-type]
        if s.op is draw and (top or not self.analysis.target.draws):
            return Obstacle(s, *_why_called(s))
        stage = self.analysis.stage(s)
        if stage is None or (top and s.op is matmul and not is_called(stage, self.memory)):
            return Obstacle(s, *_why_called(s))
        kept = s in self.memory.inline or s.op is empty or self.is_measured(s)
        if top and made_first(stage, self.analysis.target) and not kept:
            return Obstacle(s, "a constant is made before the kernels", "")
        return None

    def is_measured(self, s: Let) -> bool:
        """Whether a loop or branch of a kernel finds out how long an array is."""
        if not self.in_memory:
            return False
        named = {x.var for v in s.outs for n in v.type.shape for x in dims.symbols(n)}
        return any(isinstance(self.memory.defs.get(v), (For, While, If)) for v in named)

    def in_kernels(self, v: Var) -> bool:
        """Whether kernels have a form for it: numbers, arrays, and stacks that are theirs alone."""
        if isinstance(v.type, StackType):
            return of_numbers(v.type) and self.memory.cell(v) not in self.lists
        return isinstance(v.type, Type)

    def of_list(self, s: Statement, v: Var) -> Obstacle:
        """Why a list stays a list of Python's."""
        name = self.memory.cell(v).name or v.name
        name = f"the list {name!r}" if name else "a list"
        if not of_numbers(v.type):
            return Obstacle(s, f"{name} holds arrays", ARRAYS)
        told = self.reasons.get(self.memory.cell(v))
        if told is not None:
            return Obstacle(s, f"{name} stays a list: {told.reason}", told.way_out or ARRAYS)
        return Obstacle(s, f"{name} is used as a whole, not item by item", ARRAYS)


def made_first(stage: LoopNest, target: Target) -> bool:
    """Whether the driver makes a constant, before the kernels that read it."""
    return stage.constant and (bool(target.library) or stage.let.op in WITHOUT_LIBRARY)


def by_writer(s: Statement, error: NotCompiled) -> Obstacle:
    """What the writer of kernels could not do, in a loop all of whose statements have loop form."""
    loop = s if isinstance(s, (For, While)) else None
    return Obstacle(s, error.reason, error.way_out or LENGTHS, loop)


def of_machine(s: Statement) -> bool:
    """Whether a statement is about numbers that kernels have: none of float16, for one."""
    if isinstance(s, Let) and s.op is draw:
        return True  # of a generator, which is none
    held = [a.type for a in (*operands(s), *outputs(s)) if isinstance(a.type, Type)]
    return all(t.dtype in DTYPES for t in held)


def _dtypes(s: Statement) -> str:
    held = (a.type.dtype for a in (*operands(s), *outputs(s)) if isinstance(a.type, Type))
    dtype = next(t for t in held if t not in DTYPES)
    if dtype.kind in "OV":
        return f"the call of {s.params['function'].name}()" if is_call(s) else "a Python object"
    return f"dtype {dtype.name}"


def _of_numbers(s: Statement) -> str:
    return RECURSION if is_call(s) else "use float64, float32, integers or complex numbers"


def _why_called(s: Let) -> tuple[str, str]:
    """Why a statement is a call of a function, and what to do about it."""
    if is_call(s):
        return f"the function {s.params['function'].name}() calls itself", RECURSION
    kind, name = library_of(s)
    if kind in ("FFT", "LAPACK", "BLAS"):
        return f"{name} is a call of a library ({kind})", PASSES
    return f"{name} has no loop form here", OWN


#: What a function of NumPy or SciPy is computed by, by the beginning of its name.
LIBRARIES: tuple[tuple[str, str], ...] = (
    ("np.linalg.", "LAPACK"),
    ("scipy.linalg.", "LAPACK"),
    ("np.fft.", "FFT"),
    ("scipy.fft.", "FFT"),
    ("np.random.", "random numbers"),
    ("scipy.", "SciPy"),
    ("math.", "Python"),
    ("np.", "NumPy"),
)
PRODUCTS = (matmul, einsum)


def library_of(s: Let) -> tuple[str, str]:
    """The library that computes an operation outside of kernels, and the name of its function.

    >>> from tapeless.transforms.ops.numpy.sorting import argsort
    >>> x = Var(Type(float, (3,)), "x")
    >>> library_of(Let((), argsort, (x,), {"axis": 0}))
    ('NumPy', 'np.argsort')
    """
    if s.op in PRODUCTS:
        return "BLAS", "a product of matrices"
    name = _function(s.op.source, s)
    return next((kind for start, kind in LIBRARIES if name.startswith(start)), "Python"), name


def _function(source: Any, s: Let) -> str:
    """The function that the text of an operation calls."""
    text = _text(source, s) if callable(source) else source
    helper = text[1] if isinstance(text, tuple) else ""
    match = FUNCTION.search(text[0] if isinstance(text, tuple) else str(text or ""))
    match = match or FUNCTION.search(helper if isinstance(helper, str) else "")
    return match.group() if match else f"the operation {s.op.name!r}"


def _text(source: Callable[..., Any], s: Let) -> Any:
    try:
        return source(s.args, s.params)
    except (KeyError, IndexError, AttributeError, TypeError):  # of a statement without operands
        return ""


def shown_effect(s: Effect) -> str:
    """An effect as the user wrote it."""
    match s.kind:
        case "print":
            return "print()"
        case "raise":
            return f"raise {s.params['type'].__name__}(...) with values in its text"
        case "call":
            form = str(s.params["form"])
            return f"the call {form.partition('(')[0].strip('{}0123456789. ') or 'of a function'}()"
    return f"the effect {s.kind!r}"
