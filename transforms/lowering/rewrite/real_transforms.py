"""Writes Fourier transforms of which only the real part is read as real transforms, which take half
the time.

y = real(ifft(z))      becomes      y = irfft((z[:m] + conj(roll(flip(z), 1)[:m])) / 2)

where m is n // 2 + 1. The real part of a sum of waves is what that part of z gives which is its own
mirror image under conjugation. The spectrum of real numbers is such an image, of which half is
computed: real(ifft(fft(x) * h)) becomes irfft(rfft(x) * (h[:m] + conj(roll(flip(h), 1)[:m])) / 2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    statements,
)
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.rewrite.concatenate import store_range
from tapeless.transforms.lowering.rewrite.formulas import Definitions, parts_of, rewritten_lets
from tapeless.transforms.lowering.rewrite.rolled_indices import roll_axis
from tapeless.transforms.lowering.sizes.size_equalities import check_equal, fitted
from tapeless.transforms.ops.fourier.fft import TURNED, fft, irfft, rfft
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.elementwise import conjugate, real
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.ops.primitives.slices_and_gathers import part
from tapeless.transforms.optimize.dead_code import dead_code

Halves = tuple[Any, Any]  # one half of a spectrum, and that of the conjugate of its mirror image
Equal = Callable[[Size, Size], bool]
CONJUGATED_ALIKE = frozenset([add, cast, conjugate, mul, neg, sub, truediv])


def real_transforms(block: Block, equal: Equal) -> Block:
    """The program with real transforms in the place of complex ones.

    equal  whether two sizes are the same in any call
    """
    reads = reads_of(block)
    parts = Counter(s.args[0] for s in statements(block) if isinstance(s, Let) and _is_real_part(s))
    only_real = {a for a, n in parts.items() if isinstance(a, Var) and reads[a] == n}
    spectra: dict[Atom, Atom] = {}

    def rewrite(s: Let, definitions: Definitions) -> Iterator[Statement]:
        source = definitions.get(s.args[0]) if _is_real_part(s) else s
        if not isinstance(source, Let) or source.op is not fft:
            yield s
            return
        halving = _Halving(definitions, reads, equal, spectra, source)
        z, params = source.args[0], source.params
        if source is not s and source.outs[0] in only_real:
            yield from parts_of(s, lambda *_, **__: halving.real_part(z, **params))
        elif source is s and (x := halving.real_operand(s)) is not None:
            yield from parts_of(s, lambda *_, **__: halving.whole_spectrum(x, **params))
        else:
            yield s

    rewritten = rewritten_lets(block, rewrite)
    return block if rewritten is block else dead_code(rewritten)


def _is_real_part(s: Let) -> bool:
    """Whether it takes the real part of complex numbers."""
    if s.op is not real and s.op is not cast:
        return False
    return bool(s.args[0].type.dtype.kind == "c" and s.outs[0].type.dtype.kind == "f")


@dataclass
class _Halving:
    """Halves of spectra along the last of the axes of a transform.

    spectra  the first halves of spectra of real numbers that stand before
    """

    definitions: Definitions
    reads: Counter[Var]
    equal: Equal
    spectra: dict[Atom, Atom]
    transform: Let

    @property
    def spectrum_type(self) -> Type:
        kind: Type = self.transform.outs[0].type
        return kind

    @property
    def axes(self) -> tuple[int, ...]:
        axes: tuple[int, ...] = self.transform.params["axes"]
        return axes

    def real_part(self, z: Atom, *, inverse: bool, norm: str, axes: tuple[int, ...]) -> Any:
        """The real part of the transform of z."""
        half, mirrored = self.halves(z)
        own = mul(add(half, mirrored), 0.5)
        if not inverse:  # that of the inverse of the conjugate, with the factor of the other
            own, norm = conjugate(own), TURNED[norm]
        if axes[:-1]:
            own = fft(own, axes=axes[:-1], inverse=True, norm=norm)
        return irfft(own, n=self.spectrum_type.shape[axes[-1]], axis=axes[-1], norm=norm)

    def halves(self, z: Atom) -> Halves:
        """Both halves of a spectrum, or of a factor of one."""
        if isinstance(z, Literal):
            return z, z if z.type.dtype.kind != "c" else conjugate(z)
        s = self.definitions.get(z)
        if isinstance(s, Let) and s.op in CONJUGATED_ALIKE and self.reads[s.outs[0]] == 1:
            firsts, seconds = zip(*map(self.halves, s.args), strict=True)
            return s.op(*firsts, **s.params), s.op(*seconds, **s.params)
        if isinstance(s, Let) and z in self.spectra and s.params["axes"] == self.axes:
            return self.spectra[z], self.spectra[z]
        z = self.of_whole_length(z)
        mirrored = self.first_half(self.mirror_image(z))
        return self.first_half(z), conjugate(mirrored) if z.type.dtype.kind == "c" else mirrored

    def real_operand(self, s: Let) -> Any:
        """The real numbers that a transform is of."""
        source = self.definitions.get(s.args[0])
        is_converted = isinstance(source, Let) and source.op is cast
        x = source.args[0] if is_converted else s.args[0]  # type: ignore[union-attr]
        return x if x.type.shape == self.spectrum_type.shape and x.type.dtype.kind == "f" else None

    def half_spectrum(self, x: Atom, *, inverse: bool, norm: str, axes: tuple[int, ...]) -> Any:
        norm = TURNED[norm] if inverse else norm
        dtype = np.finfo(self.spectrum_type.dtype).dtype
        x = x if x.type.dtype == dtype else cast(x, dtype=dtype)
        half = rfft(x, axis=axes[-1], norm=norm)
        if axes[:-1]:
            half = fft(half, axes=axes[:-1], inverse=False, norm=norm)
        return conjugate(half) if inverse else half

    def whole_spectrum(self, x: Atom, **params: Any) -> Any:
        """All frequencies of real numbers: those after the first half mirror ones of it."""
        half, last, n = self.half_spectrum(x, **params), self.axes[-1], x.type.shape[self.axes[-1]]
        self.spectra[self.transform.outs[0]] = half
        m = half.type.shape[last]
        mirrored = flip(part(half, last, 1, n - m + 1), last)
        for k in self.axes[:-1]:
            mirrored = roll_axis(flip(mirrored, k), k, 1)
        y = store_range(empty(shape=x.type.shape, dtype=half.type.dtype), half, last, 0, m)
        return store_range(y, conjugate(mirrored), last, m, n)

    def of_whole_length(self, z: Atom) -> Any:
        """A factor whose axes have the lengths of the spectrum: NumPy refuses other ones."""
        shape = list(z.type.shape)
        for k in self.own_axes(z):
            length = self.spectrum_type.shape[k + self.spectrum_type.ndim - z.type.ndim]
            if not self.equal(shape[k], length):
                check_equal(shape[k], length)
            shape[k] = length
        return z if tuple(shape) == z.type.shape else fitted(z, shape=tuple(shape))

    def own_axes(self, z: Atom) -> list[int]:
        """The axes of what is stretched to the spectrum that are those of the transform."""
        places = (k - self.spectrum_type.ndim + z.type.ndim for k in self.axes)
        return [k for k in places if k >= 0 and z.type.shape[k] != 1]

    def first_half(self, z: Atom) -> Any:
        last = self.axes[-1] - self.spectrum_type.ndim + z.type.ndim
        if last not in self.own_axes(z):
            return z
        return part(z, last, 0, z.type.shape[last] // 2 + 1)

    def mirror_image(self, z: Atom) -> Any:
        """Frequency -k in the place of k."""
        for k in self.own_axes(z):
            z = roll_axis(flip(z, k), k, 1)
        return z
