"""Writes sums and counts of np.bincount, whose length is told by the largest number.

n = np.bincount(k, w)      becomes      i64 length = 0;
                                        for (i64 i = 0; i < k_0; i++) { ... length = k[i] + 1; }
                                        for (i64 i = 0; i < k_0; i++) n[k[i]] += w[i];
"""

from __future__ import annotations

from tapeless.transforms.c.array_operations import ArrayOperations
from tapeless.transforms.c.growing_lists import ROOM
from tapeless.transforms.c.strided import Strided
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import POSTFIX, CValue, cast
from tapeless.transforms.core.language import Let
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.ops.numpy.histograms import bincount, weighted_bincount, weighted_sums

COUNTS = (bincount, weighted_bincount, weighted_sums)
NEGATIVE: Error = ("ValueError", ("'list' argument must have no negative elements",))


class CountedValues(ArrayOperations):
    """Counts outside of kernels."""

    def operation(self, s: Let) -> None:
        if s.op in COUNTS:
            self.count_values(s)
        else:
            super().operation(s)

    def count_values(self, s: Let) -> None:
        """Counts of an array of integers, or sums of weights beside it."""
        weights = None if s.op is bincount else self.view(s.args[0])
        out, values = s.outs[0], self.view(s.args[-1])
        if s.op is weighted_sums:  # the numbers have been tested before
            sums = self.make(out)
        else:
            length = self.longest(s, values)
            place = self.place_for(out, (ROOM,))
            sums = Strided.row_by_row(place, out.type.dtype, (length,))
            self.check_room(sums.lengths)
            self.know(out, sums)
        self.loop_over_elements(
            *(sums.lengths, (sums.strides,)), lambda at: f"{sums.element(at[0])} = 0;", s
        )
        other = values if weights is None else weights
        self.loop_over_elements(
            *(values.lengths, (values.strides, other.strides)),
            lambda at: (
                f"{sums.element(CValue(values.element(at[0]), values.dtype, POSTFIX))} += "
                f"{'1' if weights is None else weights.element(at[1])};"
            ),
            s,
        )

    def longest(self, s: Let, values: Strided) -> CValue:
        """One more than the largest number; none is negative."""
        name = self.fresh(f"{s.outs[0].name or 'counts'}_length")
        self.put(f"i64 {name} = {self.size(s.params['minlength']).text};", s)

        def lengthen(value: CValue) -> str:
            x = cast(value, INT).text
            return f"if ({x} >= {name}) {name} = {x} + 1;"

        if values.dtype.kind == "i":
            self.loop_over_elements(
                *(values.lengths, (values.strides,)),
                lambda at: f"if ({values.element(at[0])} < 0) return {self.code(NEGATIVE)};",
                s,
            )
        self.loop_over_elements(
            *(values.lengths, (values.strides,)),
            lambda at: lengthen(CValue(values.element(at[0]), values.dtype, POSTFIX)),
            s,
        )
        return CValue(name, INT, natural=True)
