"""Small rewrites that make derivatives read like hand-written ones, one rule a function.

a = -x; b = y + a                            becomes      b = y - x
a = np.broadcast_to(1.0, x.shape); b = a * x becomes      b = x

A rule gets a statement and gives an equal atom, or None. Constants and signs move outwards, where
they meet and cancel, unless a constant is cheaper on a factor that is smaller than the product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tapeless.transforms.core.builder import broadcast, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.ops import fresh, joining, parts, shapes
from tapeless.transforms.ops.elementwise import (
    add,
    floordiv,
    is_number,
    logical_not,
    mul,
    neg,
    power,
    select,
    sub,
    truediv,
)

Uses = Mapping[Var, int]  # how often variables are read; those made by rules are not in it
Rule = Callable[[Let, Uses], Any]


def algebra(s: Let, uses: Uses) -> Atom | None:
    for rule in RULES.get(s.op, ELEMENTWISE if s.op.elementwise else ()):
        found: Atom | None = rule(s, uses)
        if found is not None:
            return found
    return None


# -- what an atom was made by


def made_by(a: Atom, *ops: Op) -> Let | None:
    let = current().definitions.get(a) if isinstance(a, Var) else None
    return let if let is not None and let.op in ops else None


def negated(a: Atom) -> Any:
    """x for -x, else None."""
    let = made_by(a, neg)
    return let.args[0] if let is not None and a.type.dtype.kind in "fc" else None


def number(a: Atom) -> Any:
    """The value of a Python number, else None."""
    if isinstance(a, Literal) and a.type.weak and type(a.value) in (int, float):
        return a.value
    return None


def scaled(a: Atom) -> tuple[Any, Atom]:
    """(c, x) for c * x with a Python number c, (-1, x) for -x, else (1, a)."""
    let = made_by(a, mul)
    if let is not None and (c := number(let.args[0])) is not None:
        return c, let.args[1]
    if (inner := negated(a)) is None:
        return 1, a
    c, x = scaled(inner)
    return -c, x


def is_zeros(a: Atom) -> bool:
    """Whether all elements of an array are a zero that is known now."""
    let = made_by(a, fresh.zeros, fresh.full, shapes.broadcast_to)
    return let is not None and (let.op is fresh.zeros or is_number(let.args[0], 0))


def fits(a: Atom, t: Type) -> bool:
    """Whether an atom has the dtype and the shape of a result: sizes with other names are equal,
    or broadcasting would have failed."""
    return a.type.dtype == t.dtype and same_shape(a.type.shape, t.shape)


def same_shape(a: tuple[Size, ...], b: tuple[Size, ...]) -> bool:
    return len(a) == len(b) and all((m == 1) == (n == 1) for m, n in zip(a, b, strict=True))


def once(a: Atom, uses: Uses) -> bool:
    """Whether a value is read here only, so that it goes away if it is not read here."""
    return isinstance(a, Var) and uses.get(a, 1) <= 1


def is_float(*atoms: Atom) -> bool:
    return all(a.type.dtype.kind == "f" for a in atoms)


def short(value: float, *others: float) -> bool:
    """Whether a number reads as well as those that it was made of."""
    return len(repr(value)) <= max([6, *(len(repr(float(v))) for v in others)])


# -- sums


def plus_zeros(s: Let, uses: Uses) -> Any:
    a, b = s.args
    if is_zeros(b) and fits(a, s.outs[0].type):
        return a
    if is_zeros(a) and fits(b, s.outs[0].type):
        return b if s.op is add else neg(b)
    return None


def signs_of_terms(s: Let, uses: Uses) -> Any:
    """a + -b is a - b, also where -b hides in a constant."""
    a, b = s.args
    opposite = sub if s.op is add else add
    for x, y in ((a, b), (b, a)) if s.op is add else ((a, b),):
        if (positive := negated(y)) is not None:
            return opposite(x, positive)
        c, factor = scaled(y)
        if factor is not y and c < 0 and is_float(y):
            return opposite(x, mul(-c, factor))
    if s.op is sub and (positive := negated(a)) is not None and once(a, uses):
        return neg(add(positive, b))
    return None


def multiples(s: Let, uses: Uses) -> Any:
    """c x + d x is (c + d) x."""
    (c, x), (d, y) = map(scaled, s.args)
    if x is not y or isinstance(x, Literal) or not is_float(*s.args) or (c, d) == (1, -1):
        return None
    total = c + d if s.op is add else c - d
    if total == 0 or not short(total, c, d) or not fits(x, s.outs[0].type):
        return None
    return x if total == 1 else mul(total, x)


def multiples_in_a_row(s: Let, uses: Uses) -> Any:
    """(a + c x) + d x is a + (c + d) x."""
    total, last = s.args
    before = made_by(total, add, sub)
    if before is None or not once(total, uses) or not is_float(total, last):
        return None
    a, b = before.args
    (c, x), (d, y) = scaled(b), scaled(last)
    if x is not y or isinstance(x, Literal) or not fits(a, s.outs[0].type):
        return None
    both = (c if before.op is add else -c) + (d if s.op is add else -d)
    return add(a, mul(both, x)) if both and short(both, c, d) else None


def constants_in_a_row(s: Let, uses: Uses) -> Any:
    """(x + 1) + 2 is x + 3: of numbers with one sign, so that nothing cancels, or of integers."""
    for rest, last in (s.args, s.args[::-1]) if s.op is add else (s.args,):
        let, d = made_by(rest, add, sub), number(last)
        if let is None or d is None or not once(rest, uses):
            continue
        for x, c in (let.args, let.args[::-1]) if let.op is add else (let.args,):
            if (c := number(c)) is None or not _same_kind(s, x, c, d):
                continue
            total = (c if let.op is add else -c) + (d if s.op is add else -d)
            small = c == int(c) and d == int(d) and abs(total) < 100
            if is_integer(x) or (let.op is s.op and c * d > 0 and small):
                return add(x, total) if total > 0 else sub(x, -total) if total else x
    return None


def _same_kind(s: Let, x: Atom, *numbers: Any) -> bool:
    """Whether `x` with numbers added has the type of a result."""
    whole = all(isinstance(n, int) for n in numbers)
    return x.type == s.outs[0].type and (x.type.dtype.kind == "f" or (is_integer(x) and whole))


def is_integer(a: Atom) -> bool:
    """Whether an atom is a Python integer, which never overflows."""
    return bool(a.type.dtype.kind == "i" and a.type.weak)


def quotient_of_ones(s: Let, uses: Uses) -> Any:
    """(a - b) // -1 is b - a."""
    a, b = s.args
    let = made_by(a, sub)
    if not is_number(b, -1) or not is_integer(a):
        return None
    return neg(a) if let is None else sub(*let.args[::-1])


# -- products


def constant_first(s: Let, uses: Uses) -> Any:
    a, b = s.args
    if is_number(a, -1) and is_float(b):
        return neg(b)
    if is_number(a, 1.0) and isinstance(b, Var) and fits(b, s.outs[0].type):
        return b
    if isinstance(b, Literal) and not isinstance(a, Literal) and not b.type.shape:
        return mul(b, a)
    return None


def signs_of_factors(s: Let, uses: Uses) -> Any:
    """-a * b is -(a * b), and the like of quotients."""
    a, b = s.args
    if (x := negated(a)) is not None and is_float(*s.outs):
        return neg(s.op(x, b))
    if (y := negated(b)) is not None and is_float(*s.outs):
        return neg(s.op(a, y))
    return None


def constants_together(s: Let, uses: Uses) -> Any:
    """c (d x) is (c d) x, and a (c x) is c (a x) if a is not the larger one."""
    a, b = s.args
    for x, y in ((a, b), (b, a)):
        inner = made_by(y, mul)
        if inner is None or not isinstance(c := inner.args[0], Literal):
            continue
        if isinstance(x, Literal):
            return mul(mul(x, c), inner.args[1])
        if is_float(x, y) and y.type.shape == s.outs[0].type.shape and number(c) is not None:
            rest = inner.args[1]
            return mul(c, mul(x, rest) if y is b else mul(rest, x))
    return None


def constant_on_smaller(s: Let, uses: Uses) -> Any:
    """c (x y) is (c x) y where x is smaller than the product, and c (x / n) is (c / n) x."""
    c, product = s.args
    quotient = made_by(product, truediv)
    if number(c) is not None and quotient is not None and once(product, uses):
        x, n = quotient.args
        if x.type.shape and not n.type.shape and is_float(x):
            return mul(truediv(float(number(c)), n), x)
    inner = made_by(product, mul)
    if number(c) is None or inner is None or not once(product, uses):
        return None
    x, y = inner.args
    for small, large in ((x, y), (y, x)):
        if large.type.shape == product.type.shape != small.type.shape and is_float(small):
            made = mul(c, small)
            return mul(made, large) if small is x else mul(large, made)
    return None


def times_power(s: Let, uses: Uses) -> Any:
    """x x^k is x^(k + 1) for an integer k > 1."""
    for x, y in (s.args, s.args[::-1]):
        let = made_by(y, power)
        if let is None or let.args[0] is not x or not once(y, uses) or not is_float(x):
            continue
        k = number(let.args[1])
        if isinstance(k, int) and 1 < k < 9 and y.type == s.outs[0].type:
            return power(x, k + 1)
    return None


def multiple_of_quotient(s: Let, uses: Uses) -> Any:
    """c (x / d) is (c / d) x, where c / d is an integer or a power of two."""
    c, quotient = s.args
    let = made_by(quotient, truediv)
    if let is None or number(c) is None or not once(quotient, uses) or not is_float(quotient):
        return None
    x, d = let.args[0], number(let.args[1])
    if not d or not fits(x, s.outs[0].type) or not is_float(x):
        return None
    factor = number(c) / d
    if factor == 1:
        return x
    return mul(factor, x) if math.frexp(factor)[0] in (0.5, -0.5) else None


def constant_of_quotient(s: Let, uses: Uses) -> Any:
    """c x / d is (c / d) x, and x / (d y) is (1 / d) (x / y)."""
    a, b = s.args
    e, y = scaled(b)
    if y is not b and e and e != -1 and is_float(a, b) and number(a) is None and short(1 / e, e):
        return mul(1 / e, truediv(a, y))
    d, (c, x) = number(b), scaled(a)
    if d and x is not a and c != -1 and short(c / d, c, d):
        return mul(c / d, x)
    return None


# -- signs through what only moves elements


def sign_outside(s: Let, uses: Uses) -> Any:
    inner = negated(s.args[0])
    return None if inner is None else neg(s.op(inner, *s.args[1:], **s.params))


def signs_of_sign(s: Let, uses: Uses) -> Any:
    (a,) = s.args
    if (x := negated(a)) is not None:
        return x
    if not once(a, uses) or not is_float(a):
        return None
    c, x = scaled(a)
    if x is not a:
        return mul(-c, x)
    let = made_by(a, sub)
    return None if let is None else sub(*let.args[::-1])


def sign_of_chosen(s: Let, uses: Uses) -> Any:
    """where(c, -a, 0) is -where(c, a, 0)."""
    test, a, b = s.args
    if is_number(b, 0) and (x := negated(a)) is not None:
        return neg(select(test, x, b))
    if is_number(a, 0) and (x := negated(b)) is not None:
        return neg(select(test, a, x))
    return None


def chosen_twice(s: Let, uses: Uses) -> Any:
    """where(c, where(c, a, b), b) is where(c, a, b)."""
    test, a, b = s.args
    let = made_by(a, select)
    return a if let is not None and let.args[0] is test and let.args[2] == b else None


# -- shapes


def spread_twice(s: Let, uses: Uses) -> Any:
    let = made_by(s.args[0], shapes.broadcast_to)
    return None if let is None else shapes.broadcast_to(let.args[0], **s.params)


def spread_scalar(s: Let, uses: Uses) -> Any:
    """A scalar that was spread is as good in any shape."""
    let = made_by(s.args[0], shapes.broadcast_to)
    if let is None or let.args[0].type.shape:
        return None
    return shapes.broadcast_to(let.args[0], shape=s.outs[0].type.shape)


def reshaped_twice(s: Let, uses: Uses) -> Any:
    let = made_by(s.args[0], shapes.reshape)
    return None if let is None else shapes.reshape(let.args[0], **s.params)


def transposed_twice(s: Let, uses: Uses) -> Any:
    let = made_by(s.args[0], shapes.transpose)
    if let is None:
        return None
    inner = let.params["axes"]
    return shapes.transpose(let.args[0], axes=tuple(inner[k] for k in s.params["axes"]))


def needless_spreading(s: Let, uses: Uses) -> Any:
    """broadcast_to(a) * b needs no broadcast_to if b has the full shape already; if b is a scalar,
    the product is spread."""
    shape = s.outs[0].type.shape
    if not shape:
        return None
    inner = [made_by(a, shapes.broadcast_to) for a in s.args]
    spread = [k for k, let in enumerate(inner) if let is not None]
    if not spread:
        return None
    small = [a if let is None else let.args[0] for a, let in zip(s.args, inner, strict=True)]
    if same_shape(broadcast(*(a.type.shape for a in small)), shape):
        return s.op(*small)
    if any(a.type.shape for k, a in enumerate(s.args) if k not in spread):
        return None
    return shapes.broadcast_to(s.op(*small), shape=shape)


def constant_before_sum(s: Let, uses: Uses) -> Any:
    """sum(c x) is c sum(x) for a scalar c."""
    (x,) = s.args
    let = made_by(x, mul, truediv)
    if let is None or not once(x, uses) or not is_float(x, *let.args):
        return None
    a, b = let.args
    if b.type.shape == () and a.type.shape:
        return let.op(shapes.sum(a, **s.params), b)
    if let.op is mul and a.type.shape == () and b.type.shape:
        return mul(a, shapes.sum(b, **s.params))
    return None


def not_twice(s: Let, uses: Uses) -> Any:
    let = made_by(s.args[0], logical_not)
    return let.args[0] if let is not None and let.args[0].type.dtype.kind == "b" else None


def added_to_zeros(s: Let, uses: Uses) -> Any:
    """x[i] += v is x[i] = v where x is still zero."""
    x, v = s.args[:2]
    if parts.may_repeat(s.params["key"], s.args[2:]) or v.type.dtype.kind == "b":
        return None
    while (let := made_by(x, parts.update, parts.add_at)) is not None:
        if not apart(let, s):
            return None
        x = let.args[0]
    zeros = made_by(x, fresh.zeros) is not None
    return parts.update(*s.args, **s.params) if zeros else None


def apart(a: Let, b: Let) -> bool:
    """Whether two stores are sure to write different elements: by known places on an axis."""
    pairs = zip(a.params["key"], b.params["key"], strict=False)
    whole = (int, slice)
    for p, q in pairs:
        if type(p) is int and type(q) is int and p != q and (p < 0) == (q < 0):
            return True
        if not isinstance(p, whole) or not isinstance(q, whole):
            return False  # the axes that follow may be others
    return False


def made_of_elements(s: Let, uses: Uses) -> Any:
    """x = zeros(2); x[0] = a; x[1] = b is x = array([a, b])."""
    shape = s.args[0].type.shape
    if len(shape) != 1 or not isinstance(shape[0], int) or not 1 < shape[0] <= 6:
        return None
    found: dict[int, Atom] = {}
    store: Let | None = s
    while store is not None:
        (k, *_), x, v = store.params["key"], store.args[0], store.args[1]
        if type(k) is not int or v.type.shape or v.type.dtype != x.type.dtype:
            return None
        found.setdefault(k % shape[0], v)
        if store is not s and not once(store.outs[0], uses):
            return None
        store = made_by(x, parts.update)
    if len(found) < shape[0] or made_by(x, fresh.zeros) is None:
        return None
    elements = [found[k] for k in range(shape[0])]
    return joining.array(*elements, shape=shape, dtype=s.args[0].type.dtype)


def copied_once(s: Let, uses: Uses) -> Any:
    """A copy of what nobody else reads is the thing itself."""
    (x,) = s.args
    let = current().definitions.get(x) if isinstance(x, Var) and not x.name else None
    return x if let is not None and once(x, uses) and not let.op.view else None


def added_zeros(s: Let, uses: Uses) -> Any:
    """x[i] += 0 does nothing."""
    x, v = s.args[:2]
    return x if is_number(v, 0) or is_zeros(v) else None


# -- stores


def same_place(a: Let, b: Let) -> bool:
    """Whether two reads or stores name the same elements of an array."""
    rests = [s.args[1 if s.op is parts.index else 2 :] for s in (a, b)]
    return a.params["key"] == b.params["key"] and rests[0] == rests[1]


def stored_part(s: Let, uses: Uses) -> Any:
    """x[k] = x[k] + v is x[k] += v; x[k] = (x[k] with [j] = v) is x[k, j] = v."""
    x, v = s.args[:2]
    if (same := made_by(v, parts.index)) is not None and _of(same, s):
        return x
    let = made_by(v, add, sub, parts.update, parts.add_at)
    if let is None or not once(v, uses):
        return None
    a, b = let.args[:2]
    for old, new in ((a, b), (b, a)) if let.op is add else ((a, b),):
        part = made_by(old, parts.index)
        if part is None or not _of(part, s):
            continue
        if let.op in (parts.update, parts.add_at):
            made = parts.compose(s.params["key"], s.args[2:], let.params["key"], let.args[2:])
            return None if made is None else let.op(x, new, *made[1], key=made[0])
        if v.type == part.outs[0].type and v.type.dtype == x.type.dtype:
            return parts.add_at(x, neg(new) if let.op is sub else new, *s.args[2:], **s.params)
    return None


def _of(part: Let, store: Let) -> bool:
    return part.args[0] is store.args[0] and same_place(part, store)


def stored_twice(s: Let, uses: Uses) -> Any:
    """x[k] = u; x[k] = v is x[k] = v."""
    before = made_by(s.args[0], parts.update, parts.add_at)
    if before is None or not once(s.args[0], uses) or not same_place(before, s):
        return None
    return parts.update(before.args[0], *s.args[1:], **s.params)


def read_after_store(s: Let, uses: Uses) -> Any:
    """x[k] = v; y = x[k] is y = v."""
    store = made_by(s.args[0], parts.update)
    if store is None or not same_place(store, s):
        return None
    v = store.args[1]
    return v if fits(v, s.outs[0].type) and v.type.weak == s.outs[0].type.weak else None


ELEMENTWISE: tuple[Rule, ...] = (needless_spreading,)
SUMS: tuple[Rule, ...] = (
    plus_zeros,
    constants_in_a_row,
    multiples,
    multiples_in_a_row,
    signs_of_terms,
    needless_spreading,
)
RULES: dict[Any, tuple[Rule, ...]] = {
    add: SUMS,
    sub: SUMS,
    floordiv: (quotient_of_ones,),
    shapes.copy: (copied_once,),
    mul: (
        times_power,
        multiple_of_quotient,
        constant_first,
        signs_of_factors,
        constants_together,
        constant_on_smaller,
        needless_spreading,
    ),
    truediv: (constant_of_quotient, signs_of_factors, needless_spreading),
    neg: (signs_of_sign, needless_spreading),
    select: (chosen_twice, sign_of_chosen, needless_spreading),
    logical_not: (not_twice, needless_spreading),
    shapes.broadcast_to: (spread_twice, sign_outside),
    shapes.reshape: (reshaped_twice, spread_scalar, sign_outside),
    shapes.transpose: (transposed_twice, spread_scalar, sign_outside),
    shapes.sum: (constant_before_sum,),
    parts.index: (read_after_store, sign_outside),
    parts.update: (stored_twice, stored_part, made_of_elements),
    parts.add_at: (added_zeros, added_to_zeros),
}
