"""Objects that behave as numbers, containers and arrays by their special methods."""

import numpy as np

from tests.corpus import normal, program


class Complex:
    def __init__(self, real, imaginary):
        self.real, self.imaginary = real, imaginary

    def __add__(self, other):
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def __mul__(self, other):
        if not isinstance(other, Complex):
            return Complex(self.real * other, self.imaginary * other)
        return Complex(
            self.real * other.real - self.imaginary * other.imaginary,
            self.real * other.imaginary + self.imaginary * other.real,
        )

    __rmul__ = __mul__

    def __neg__(self):
        return -1 * self

    def __abs__(self):
        return np.hypot(self.real, self.imaginary)


@program(0.3, 0.4, wrt=(0, 1))
def operator_overloading(x, y):
    c, z = Complex(x, y), Complex(0.1, 0.2)
    for _ in range(3):
        z = z * z + 2 * c
    z += -c
    return abs(z)


class Polynomial:
    def __init__(self, *coefficients):
        self.coefficients = coefficients

    def __len__(self):
        return len(self.coefficients)

    def __getitem__(self, k):
        return self.coefficients[k]

    def __iter__(self):
        return iter(self.coefficients)

    def __contains__(self, value):
        return value in range(len(self))

    @property
    def degree(self):
        return len(self) - 1

    def derivative(self):
        return Polynomial(*[k * c for k, c in enumerate(self) if k])

    def __call__(self, x):
        value = 0.0
        for c in reversed(self.coefficients):
            value = value * x + c
        return value


@program((1.0, 0.5, -0.3, 0.2), 1.7, wrt=(0, 1))
def container_protocol(coefficients, x):
    p = Polynomial(*coefficients)
    extra = p[1] if 1 in p else 0.0
    return p(x) + p.derivative()(x) * p.degree + extra * len(p)


class Grid:
    __slots__ = ("cells",)

    def __init__(self, cells):
        self.cells = cells

    def __setitem__(self, key, value):
        self.cells[key] = value

    def __getitem__(self, key):
        return self.cells[key]


@program(normal(3, 3))
def object_wraps_array(x):
    grid = Grid(x.copy())
    grid[0, 1] = grid[1, 0] ** 2
    grid[2] += grid[1] * grid[0]
    grid.cells[:, 2] *= 3.0
    return grid.cells


class Tape:
    """Someone's own mini autodiff, to be differentiated again."""

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __mul__(self, other):
        return Tape(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def sin(self):
        return Tape(np.sin(self.value), np.cos(self.value) * self.slope)


@program(0.8)
def dual_numbers_of_the_user(x):
    y = Tape(x, 1.0)
    return ((y * y).sin() * y).slope


class ByAttribute(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Doubled:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return getattr(obj, self.name)

    def __set__(self, obj, value):
        setattr(obj, self.name, value * 2)


class Kept:
    a = Doubled()

    def __init__(self, v):
        object.__setattr__(self, "data", {})
        self.a, self.b = v, v

    def __getattr__(self, name):
        return self.data[name]

    def __setattr__(self, name, value):
        if name == "b":
            self.data[name] = value * 3
        else:
            super().__setattr__(name, value)


@program(0.3)
@program(1.7)
def attributes_with_code_behind_them(x):
    d, e = ByAttribute(a=x, n=0.0), Kept(x)
    for _ in range(3):
        if d.a > 1:
            d.a = d.a * 0.5
        else:
            d.a += x
            d.n += 1
    if x > 1:
        e.a = 5 * x * x
        e.b = e.a * x
    return d.a**2 + d["n"] + e.a * e.b
