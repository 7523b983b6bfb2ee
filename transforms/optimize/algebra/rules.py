"""Rewrites expressions so that derivatives read like hand-written ones, one rule a function.

a = -x; b = y + a                            becomes      b = y - x
a = np.broadcast_to(1.0, x.shape); b = a * x becomes      b = x

A rule gets a statement and gives an equal atom, or None. Constants and signs move outwards, where
they meet and cancel, unless a constant is cheaper on a factor that is smaller than the product.
"""

from typing import Any

from tapeless.transforms.core.language import Atom, Let
from tapeless.transforms.ops.primitives import shapes, slices_and_gathers, stacks
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not, not_equal
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.optimize.algebra.broadcasts import (
    constant_before_sum,
    needless_spreading,
    reshaped_element,
    reshaped_sum,
    reshaped_twice,
    spread_scalar,
    spread_twice,
    transposed_product,
    transposed_twice,
)
from tapeless.transforms.optimize.algebra.facts import Rule, Uses, as_written
from tapeless.transforms.optimize.algebra.products import (
    constant_first,
    constant_of_quotient,
    constant_on_smaller,
    constants_together,
    multiple_of_fraction,
    multiple_of_quotient,
    of_fraction,
    quotient_of_ones,
    signs_of_factors,
    times_power,
)
from tapeless.transforms.optimize.algebra.signs import (
    chosen_twice,
    not_twice,
    sign_of_chosen,
    sign_of_compared,
    sign_outside,
    signs_of_sign,
)
from tapeless.transforms.optimize.algebra.stores import (
    added_to_zeros,
    added_zeros,
    copied_once,
    made_of_elements,
    read_after_store,
    read_of_selected,
    stored_item,
    stored_part,
    stored_twice,
)
from tapeless.transforms.optimize.algebra.sums import (
    chosen_apart,
    constants_in_a_row,
    multiples,
    multiples_in_a_row,
    of_truths,
    plus_zeros,
    signs_of_terms,
)

ELEMENTWISE: tuple[Rule, ...] = (needless_spreading,)
SUMS: tuple[Rule, ...] = (
    of_truths,
    plus_zeros,
    constants_in_a_row,
    multiples,
    multiples_in_a_row,
    signs_of_terms,
    chosen_apart,
    needless_spreading,
)
RULES: dict[Any, tuple[Rule, ...]] = {
    add: SUMS,
    sub: SUMS,
    floordiv: (quotient_of_ones,),
    shapes.copy: (copied_once,),
    mul: (
        of_truths,
        of_fraction,
        times_power,
        multiple_of_quotient,
        multiple_of_fraction,
        constant_first,
        signs_of_factors,
        constants_together,
        constant_on_smaller,
        needless_spreading,
    ),
    truediv: (constant_of_quotient, signs_of_factors, needless_spreading),
    neg: (signs_of_sign, needless_spreading),
    select: (chosen_twice, sign_of_chosen, needless_spreading),
    not_equal: (sign_of_compared, needless_spreading),
    logical_not: (not_twice, needless_spreading),
    shapes.broadcast_to: (spread_twice, sign_outside),
    shapes.reshape: (reshaped_twice, reshaped_element, reshaped_sum, spread_scalar, sign_outside),
    shapes.transpose: (transposed_twice, transposed_product, spread_scalar, sign_outside),
    shapes.sum: (constant_before_sum,),
    slices_and_gathers.index: (read_after_store, read_of_selected, sign_outside),
    slices_and_gathers.update: (stored_twice, stored_part, made_of_elements),
    slices_and_gathers.add_at: (added_zeros, added_to_zeros),
    stacks.set_item: (stored_item,),
}


#: Those whose results may differ in the last digit, or leave the range of numbers.
ROUNDING = frozenset(
    {
        of_fraction,
        times_power,
        multiple_of_quotient,
        multiple_of_fraction,
        constants_together,
        constant_on_smaller,
        constant_of_quotient,
        multiples,
        multiples_in_a_row,
        constant_before_sum,
    }
)


def algebra(s: Let, uses: Uses) -> Atom | None:
    exact = as_written.get()
    for rule in RULES.get(s.op, ELEMENTWISE if s.op.elementwise else ()):
        if exact and rule in ROUNDING:
            continue
        replacement: Atom | None = rule(s, uses)
        if replacement is not None:
            return replacement
    return None
