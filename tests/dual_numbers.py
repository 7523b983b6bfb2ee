"""The transformations of plain Python code by dual numbers: what others are compared with.

Numbers carry their derivative along, through NumPy's arrays of objects, so that programs with
loops, branches and stores run as they are; nested, they give derivatives of any order, exactly. A
comparison of equal numbers with different derivatives is a kink, where there is nothing to compare.
"""

import itertools
import math
import types

import numpy as np

from tapeless import tree

levels = itertools.count(1)


class KinkError(Exception):
    """The derivative does not exist, or is a matter of convention."""


class Dual:
    """value + slope * e; those of an inner derivative have the higher level."""

    def __init__(self, value, slope, level):
        self.value, self.slope, self.level = value, slope, level

    def __add__(self, other):
        return linear(self, other, lambda a, b: a + b)

    def __radd__(self, other):
        return linear(other, self, lambda a, b: a + b)

    def __sub__(self, other):
        return linear(self, other, lambda a, b: a - b)

    def __rsub__(self, other):
        return linear(other, self, lambda a, b: a - b)

    def __mul__(self, other):
        return product(self, other)

    def __rmul__(self, other):
        return product(other, self)

    def __truediv__(self, other):
        return product(self, inverse(other))

    def __rtruediv__(self, other):
        return product(other, inverse(self))

    def __neg__(self):
        return product(-1.0, self)

    def __pos__(self):
        return self

    def __pow__(self, n):
        if isinstance(n, Dual) or n != int(n) or n < 0:
            raise TypeError("only powers by integers")
        return math.prod([self] * int(n)) if n else 1.0

    def __abs__(self):
        return self if self > 0.0 else -self

    def __lt__(self, other):
        return sign(self - other) < 0

    def __gt__(self, other):
        return sign(self - other) > 0

    def __le__(self, other):
        return sign(self - other) <= 0

    def __ge__(self, other):
        return sign(self - other) >= 0

    def __eq__(self, other):
        return sign(self - other) == 0

    def __ne__(self, other):
        return sign(self - other) != 0

    def __int__(self):
        return int(self.value)

    __hash__ = None


def parts(x, level):
    """Value and slope of a number at a level."""
    return (x.value, x.slope) if isinstance(x, Dual) and x.level == level else (x, 0.0)


def level_of(*numbers):
    return max((x.level for x in numbers if isinstance(x, Dual)), default=0)


def linear(a, b, operation):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return NotImplemented
    level = level_of(a, b)
    (u, du), (v, dv) = parts(a, level), parts(b, level)
    return Dual(operation(u, v), operation(du, dv), level)


def product(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return NotImplemented
    level = level_of(a, b)
    if not level:
        return a * b
    (u, du), (v, dv) = parts(a, level), parts(b, level)
    return Dual(product(u, v), product(du, v) + product(u, dv), level)


def inverse(a):
    if not isinstance(a, Dual):
        return 1.0 / a
    made = inverse(a.value)
    return Dual(made, -product(product(made, made), a.slope), a.level)


def sign(x):
    """-1, 0 or 1; refuses a zero with a slope."""
    slopes = []
    while isinstance(x, Dual):
        slopes.append(x.slope)
        x = x.value
    if x == 0 and any(map(is_something, slopes)):
        raise KinkError
    return (x > 0) - (x < 0)


def is_something(x):
    return is_something(x.value) or is_something(x.slope) if isinstance(x, Dual) else x != 0


def smooth(function, slope):
    """An elementwise function of numbers and arrays."""

    def of_number(x):
        if not isinstance(x, Dual):
            return function(x)
        return Dual(of_number(x.value), product(slope(x.value), x.slope), x.level)

    return np.frompyfunc(of_number, 1, 1)


sin = smooth(math.sin, lambda x: cos(x))
cos = smooth(math.cos, lambda x: -sin(x))
exp = smooth(math.exp, lambda x: exp(x))
tanh = smooth(math.tanh, lambda x: 1.0 - tanh(x) * tanh(x))
sqrt = smooth(math.sqrt, lambda x: inverse(2.0 * sqrt(x)))


def where(test, a, b):
    made = np.where(test, a, b)
    return made if made.ndim else made[()]


class Numpy(types.SimpleNamespace):
    """NumPy for arrays of objects."""

    def __getattr__(self, name):
        return getattr(np, name)


def of_objects(make):
    return lambda *args: make(*args).astype(object)


numpy = Numpy(
    sin=sin,
    cos=cos,
    exp=exp,
    tanh=tanh,
    sqrt=sqrt,
    abs=np.frompyfunc(abs, 1, 1),
    where=where,
    maximum=np.frompyfunc(lambda a, b: a if a > b else b, 2, 1),
    ones=of_objects(np.ones),
    zeros=of_objects(np.zeros),
    array=lambda x: np.array(x, dtype=object),
    linalg=types.SimpleNamespace(norm=lambda v: sqrt(np.sum(v * v))),
)


# -- the transformations


def private(args):
    """Arguments that the function may overwrite."""
    return tree.map(lambda x: x.copy() if isinstance(x, np.ndarray) else x, args)


def jvp(f, primals, tangents):
    level = next(levels)
    leaves, structure = tree.flatten(primals)
    dots = tree.leaves(tangents)
    lifted = [lift(x, dot, level) for x, dot in zip(leaves, dots, strict=True)]
    out = f(*tree.unflatten(structure, lifted))
    first, second = (
        tree.map(lambda x, k=k: each(lambda e: parts(e, level)[k], x), out) for k in (0, 1)
    )
    return first, second


def lift(x, dot, level):
    if isinstance(x, np.ndarray):
        return np.frompyfunc(lambda a, b: Dual(a, b, level), 2, 1)(x, dot)
    return x if isinstance(x, int) else Dual(x, dot, level)


def each(function, x):
    return np.frompyfunc(function, 1, 1)(x) if isinstance(x, np.ndarray) else function(x)


def linearize(f, *primals):
    return f(*private(primals)), lambda *tangents: jvp(f, private(primals), tangents)[1]


def units(primals, argnums):
    """For each leaf in question, tangents with a one at each of its entries."""
    flat = [tree.flatten(x) for x in primals]
    zeros = [[np.zeros(np.shape(x))[()] for x in leaves] for leaves, _ in flat]
    for n in argnums:
        for k, leaf in enumerate(flat[n][0]):
            found = []
            for entry in np.ndindex(np.shape(leaf)):
                dots = [[np.array(x) for x in part] for part in zeros]
                dots[n][k][entry] = 1.0
                dots = [[x[()] if x.ndim == 0 else x for x in part] for part in dots]
                pairs = zip(dots, flat, strict=True)
                found.append([tree.unflatten(structure, part) for part, (_, structure) in pairs])
            yield n, np.shape(leaf), found


def by_argument(primals, argnums, made):
    """What was made for each leaf, built like the arguments."""
    chosen = [argnums] if isinstance(argnums, int) else list(argnums)
    flat = [(n, x) for n, x in made]
    trees = []
    for n in chosen:
        _, structure = tree.flatten(primals[n])
        trees.append(tree.unflatten(structure, [x for m, x in flat if m == n]))
    return trees[0] if isinstance(argnums, int) else tuple(trees)


def positions(argnums):
    return [argnums] if isinstance(argnums, int) else list(argnums)


def grad(f, argnums=0):
    def derivative(*primals):
        made = []
        for n, shape, dots in units(primals, positions(argnums)):
            slopes = np.empty(len(dots), object)
            for k, dot in enumerate(dots):
                slopes[k] = jvp(f, private(primals), dot)[1]
            made.append((n, slopes.reshape(shape) if shape else slopes[0]))
        return by_argument(primals, argnums, made)

    return derivative


def value_and_grad(f, argnums=0):
    return lambda *primals: (f(*private(primals)), grad(f, argnums)(*primals))


def vjp(f, *primals):
    def back(cotangent):
        def weighted(*args):
            pairs = zip(tree.leaves(f(*args)), tree.leaves(cotangent), strict=True)
            return sum(np.sum(x * ct) for x, ct in pairs)

        return grad(weighted, tuple(range(len(primals))))(*primals)

    return f(*private(primals)), back


def jacobian(f, argnums=0):
    def derivative(*primals):
        out, structure = tree.flatten(f(*private(primals)))
        rows = [[] for _ in out]
        for n, shape, dots in units(primals, positions(argnums)):
            columns = [tree.leaves(jvp(f, private(primals), dot)[1]) for dot in dots]
            for k, row in enumerate(rows):
                row.append((n, stacked([c[k] for c in columns], -1, shape)))
        return tree.unflatten(structure, [by_argument(primals, argnums, row) for row in rows])

    return derivative


def stacked(values, axis, shape=None):
    """The values along a new axis, which is then several of another shape."""
    arrays = [np.array(x, dtype=object) for x in values]
    made = np.stack(arrays, axis=axis)
    if shape is not None:
        made = made.reshape((*made.shape[:-1], *shape))
    return made if made.ndim else made[()]


def hessian(f, argnums=0):
    return jacobian(grad(f, argnums), argnums)


def hvp(f, primals, tangents):
    argnums = tuple(range(len(primals)))
    made = jvp(grad(f, argnums), primals, tangents)[1]
    return made[0] if len(primals) == 1 else made


def vmap(f, in_axes=0):
    def mapped(*args):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        pairs = list(zip(args, axes, strict=True))
        size = next(x.shape[k] for x, k in pairs if k is not None)
        outs = [
            f(*(private(x) if k is None else np.take(x, i, axis=k) for x, k in pairs))
            for i in range(size)
        ]
        return tree.map(lambda *xs: stacked(xs, 0), *outs)

    return mapped


def unchanged(f):
    return f


class Ruled:
    """A function whose rule says what its derivative is anyway."""

    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*private(args))

    def defjvp(self, rule):
        return rule

    def defvjp(self, forward, backward):
        pass


API = {
    "np": numpy,
    "tree": tree,
    "grad": grad,
    "value_and_grad": value_and_grad,
    "jvp": jvp,
    "vjp": vjp,
    "linearize": linearize,
    "jacfwd": jacobian,
    "jacrev": jacobian,
    "hessian": hessian,
    "hvp": hvp,
    "vmap": vmap,
    "pmap": vmap,
    "jit": unchanged,
    "checkpoint": unchanged,
    "custom_jvp": Ruled,
    "custom_vjp": Ruled,
}
