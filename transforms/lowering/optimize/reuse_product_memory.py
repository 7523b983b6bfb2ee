"""Writes elementwise values to the memory of a product that nothing else reads.

y = maximum(x @ w + b, 0)      becomes      t = x @ w; t[:] = maximum(t + b, 0); y = t

Less memory is touched, where arrays are large; it is as a program by hand would do it.

>>> from operator import eq
>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(reuse_product_memory, equal=eq), '''
... (x: f8[n, m], w: f8[m, k], b: f8[k]):
...     t = matmul(x, w)
...     u = add(t, b)
...     y = maximum(u, 0.0)
...     return y
... '''))
(x: f8[n, m], w: f8[m, k], b: f8[k]):
    t: f8[n, k] = matmul(x, w)
    u: f8[n, k] = add(t, b)
    y: f8[n, k] = maximum(u, 0.0)
    y_2: f8[n, k] = update(t, y, key=(slice(None, None, None), slice(None, None, None)))
    return y_2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, Let, Statement, Type, Var
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.lowering.optimize.library_calls import CallPositions, of_elements
from tapeless.transforms.lowering.schedule.library_products import is_apart
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.slices_and_gathers import update

Equal = Callable[[Size, Size], bool]


def reuse_product_memory(block: Block, equal: Equal) -> Block:
    """The block; what loops and branches in it do stays as it is."""
    if not any(map(is_apart, block.body)):
        return block
    program = _Overlaid(block, equal)
    body: list[Statement] = []
    names: dict[Var, Var] = {}
    for s in block.body:
        s = substitute(Block((), (s,), ()), names).body[0]
        body.append(s)
        v = s.outs[0] if isinstance(s, Let) and of_elements(s) else None
        p = program.place_for(v) if v is not None else None
        if v is not None and p is not None:
            names[v] = product = Var(v.type, v.name)
            whole = (slice(None),) * v.type.ndim
            body.append(Let((product,), update, (p, v), {"key": whole}, s.origin))
    results = substitute(Block((), (), block.results), names).results
    return replace(block, body=tuple(body), results=results)


class _Overlaid(CallPositions):
    """The statements of a block. `taken` are values whose memory stays as it is."""

    def __init__(self, block: Block, equal: Equal) -> None:
        super().__init__(list(block.body), block.results)
        self.equal = equal
        self.taken = {b for a in block.results for b in self.bases(a)}

    def place_for(self, v: Var) -> Var | None:
        """A product that nothing but this value is made of."""
        if v not in self.kept:
            return None
        for p in self.products_behind(v):
            if p not in self.taken and self.fits(p, v) and self.leads(p, v):
                self.taken.add(p)
                return p
        return None

    def products_behind(self, v: Var) -> list[Var]:
        """The products that a value is made of by elements, in their order."""
        places: dict[Var, int] = {}
        waiting, met = [v], {v}
        while waiting:
            s = self.body[self.defs[waiting.pop()]]
            for a in s.args if isinstance(s, Let) and of_elements(s) else ():
                if not isinstance(a, Var) or a in met or a not in self.defs:
                    continue
                met.add(a)
                maker = self.body[self.defs[a]]
                if isinstance(maker, Let) and maker.op is matmul:
                    places[a] = self.defs[a]
                elif a not in self.kept:
                    waiting.append(a)
        return sorted(places, key=places.__getitem__)

    def fits(self, p: Var, v: Var) -> bool:
        if not isinstance(p.type, Type) or p.type.dtype != v.type.dtype:
            return False
        return p.type.ndim == v.type.ndim and all(map(self.equal, p.type.shape, v.type.shape))

    def leads(self, p: Var, v: Var) -> bool:
        """Whether all that reads p makes v in the end, by elements."""
        waiting, met = [*self.readers.get(p, ())], set[int]()
        if not waiting:
            return False
        while waiting:
            k = waiting.pop()
            if k in met:
                continue
            met.add(k)
            further = self.readers_on_the_way(self.body[k], v)
            if further is None:
                return False
            waiting += further
        return True

    def readers_on_the_way(self, s: Statement, v: Var) -> list[int] | None:
        """What reads the result of a statement that works by elements, as v is made of it; none of
        v itself. None where something else is done, or nothing."""
        if not isinstance(s, Let) or not of_elements(s):
            return None
        (out,) = s.outs
        if out is v:
            return []
        fits = out.type.ndim == v.type.ndim and all(map(self.equal, out.type.shape, v.type.shape))
        return (self.readers.get(out) or None) if fits and out not in self.kept else None
