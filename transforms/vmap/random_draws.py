"""Batches draws of random numbers: other ones for each element, all at once.

rng.normal(0.0, s, 3)      becomes      rng.normal(0.0, s, (len(x), 3))

After a call of `np.random.seed` or `random.seed` in the function, those of that module are the same
for all, as in one call after the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Function,
    Let,
    Statement,
    Var,
    statements,
)
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.primitives.callbacks import CALLABLE
from tapeless.transforms.ops.primitives.function_calls import calls
from tapeless.transforms.ops.primitives.random_draws import draw, draws, is_draw_of_python
from tapeless.transforms.ops.primitives.shapes import batch_first
from tapeless.transforms.vmap import sizes
from tapeless.transforms.vmap.divergence import read_by
from tapeless.transforms.vmap.fallback_loop import one_by_one

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

#: What sets the generator of a module, by the module.
SEEDS = {"numpy": "np.random.seed", "random": "random.seed"}
SEED = "after np.random.seed"
HINT = "draw outside and pass the numbers in, or use tapeless.random with a key for each element"


def apply(batch: Batch, s: Let, args: tuple[Atom, ...], axes: tuple[Any, ...]) -> None:
    """Draws for all elements. Parameters of the distribution line up with the shape from behind."""
    what = f"vmap: {s.params['name']} of a generator from outside"
    own = "numpy" in batch.seeded and all(a.type != CALLABLE for a in args)
    if own or not batch.generators.keys().isdisjoint(args):
        _same_for_all(batch, s, args, axes)
        return
    if batch.masked:
        raise UnsupportedError(f"{what} in a branch or loop that elements decide", HINT)
    if not s.params["sized"]:
        raise UnsupportedError(f"{what} gives one order for all elements", HINT)
    if sizes.differ(batch, s):
        raise UnsupportedError(f"{what} gives as many numbers as the element says", HINT)
    shape = (batch.size, *s.params["shape"])
    ndim = len(s.params["shape"])
    lifted_args = [
        a if a.type == CALLABLE else batch_first(a, k, ndim)
        for a, k in zip(args, axes, strict=True)
    ]
    (old,) = s.outs
    out = Var(replace(old.type, shape=shape, weak=False), old.name, old.origin)
    params = {k: v for k, v in s.params.items() if k != "lengths"}
    params |= {"shape": shape, "weak": False, "text": params["sized"]}
    builder.current().let((out,), draw, tuple(lifted_args), params)
    batch.bind(old, out, 0)


def _same_for_all(batch: Batch, s: Let, args: tuple[Atom, ...], axes: tuple[Any, ...]) -> None:
    parted = not batch.parted.isdisjoint(args)
    if batch.masked or parted or sizes.differ(batch, s) or any(k is not None for k in axes):
        seeded = "of a seeded generator" if s.args[:1] and s.args[0].type == CALLABLE else SEED
        raise UnsupportedError(
            f"vmap: {s.params['name']} {seeded} depends on the element of the batch",
            "draw standard numbers of a fixed shape, and scale them",
        )
    batch.drawn.update(args)
    batch.emit(replace(s, args=args))


def make(batch: Batch, s: Let, args: tuple[Atom, ...], axes: tuple[Any, ...]) -> None:
    """A generator that the program makes of a seed: one for all elements, which draws the same
    numbers for each."""
    if batch.masked or any(k is not None for k in axes):
        raise UnsupportedError("vmap: a generator is made of a seed of each element", HINT)
    maker = replace(s, args=args)
    batch.emit(maker)
    batch.generators.update(dict.fromkeys(s.outs, maker))


def of_elements(batch: Batch, body: list[Statement]) -> list[Let]:
    """What makes the generators that a loop over the elements reads: each element begins with one
    from which nothing was drawn.

    Raises UnsupportedError where numbers were drawn before, or where the loop is in another one.
    """
    read = [v for v in read_by(body) if v in batch.generators]
    makers = [batch.generators[v] for v in read]
    began = not batch.drawn.union(batch.parted).isdisjoint(read)
    here = builder.current().blocks[-1]
    if began or any(all(s is not maker for s in here) for maker in makers):
        raise UnsupportedError("vmap: how often a generator draws depends on the element", HINT)
    if batch.seeded and draws(Block((), tuple(body), ())):
        raise UnsupportedError("vmap: how often it draws after a seed depends on the element", HINT)
    batch.parted.update(read)
    return makers


def is_for_each(batch: Batch, s: Let) -> bool:
    """Whether a statement draws a number of Python's `random`, for each element another one."""
    return is_draw_of_python(s) and "random" not in batch.seeded


def for_each(batch: Batch, s: Let, args: tuple[Atom, ...], axes: tuple[Any, ...]) -> None:
    """One draw after the other, of an array with one for each element."""
    if batch.masked:
        raise UnsupportedError(
            f"vmap: {s.params['name']} of Python's random in a branch or loop that elements decide",
            HINT,
        )
    for v, (out, axis) in zip(s.outs, one_by_one(s, args, axes, batch.size), strict=True):
        batch.bind(v, out, axis)


def seed(batch: Batch, module: str, same: bool) -> None:
    """From here on all elements draw the same numbers of this module."""
    if batch.masked or not same:
        problem = f"vmap: {SEEDS[module]} depends on the element of the batch"
        raise UnsupportedError(problem, HINT)
    batch.seeded |= {module}


def seeded_by(s: Statement) -> str | None:
    """The module whose generator a statement sets."""
    if isinstance(s, Effect) and s.kind == "call":
        form = s.params["form"]
        return next((m for m, name in SEEDS.items() if form.startswith(f"{name}(")), None)
    return None


def seeds(block: Block) -> frozenset[str]:
    """The modules whose generators a block sets, or a function that it calls."""
    blocks, seen = [block], set[Function]()
    for each in blocks:
        new = [f for f in calls(each) if f not in seen]
        seen.update(new)
        blocks += [f.block for f in new]
    modules = {seeded_by(s) for each in blocks for s in statements(each)}
    return frozenset(m for m in modules if m is not None)
