"""Records calls of NumPy's random generators, which draw when the program runs.

x = rng.normal(0, s)      stays      x = rng.normal(0, s)

Generators from outside always do so; those that the function makes of a seed do where loops or
tests on data draw from them, and draw while staging elsewhere.
"""

from __future__ import annotations

import functools
import random
import sys
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, broadcast, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.errors import ManyElementsError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.trace.recorded_reads import Captured
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.numpy.creation import as_array
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.primitives.callbacks import CALLABLE
from tapeless.transforms.ops.primitives.random_draws import (
    INTEGERS,
    REALS,
    VECTORS,
    draw,
    made_generator,
)

FLOAT, INTEGER = np.dtype(float), np.dtype(np.int64)


def recorded_generator(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A generator that the program makes when it runs, if it does that; None if it draws while
    staging."""
    if "numpy.random" not in sys.modules or f not in (np.random.default_rng, np.random.RandomState):
        return None
    run, (seed, *more) = trace(), (*args, *kwargs.values(), None)
    if len(more) != 1 and (args or kwargs):
        return None
    if seed is None:
        run.decisions.record_draws()
    elif not isinstance(seed, (int, np.integer, Symbol)):
        return None
    if isinstance(seed, Symbol):
        if seed.type.shape or seed.type.dtype.kind not in "iu":
            return None
        run.decisions.record_draws()
    if not run.decisions.recorded:
        return None
    var = Var(CALLABLE)
    seeds = () if seed is None else (atom(atoms(seed)),)
    run.let((var,), made_generator, seeds, {"maker": f.__name__})
    stand_in = run.born(f(0))
    run.generators[id(stand_in)] = var, stand_in
    return stand_in


def is_recorded(value: Any) -> bool:
    """Whether draws from a generator are recorded, since the program makes it when it runs."""
    return id(value) in trace().generators


def record_draw(generator: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a method of a generator from outside gives: recorded, never drawn now."""
    owned = generator is not np.random.mtrand._rand
    call = _Call(name, args, dict(kwargs), _source(generator) if owned else None)
    call.modern = type(generator) is np.random.Generator
    if name == "shuffle":
        return _shuffle(call, generator)
    if name in REALS or name in INTEGERS:
        parameters = (REALS if name in REALS else INTEGERS)[name]
        call.distribution(parameters, FLOAT if name in REALS else INTEGER)
    elif name in ("rand", "randn"):
        call.set_lengths(args)
    elif name in ("integers", "randint"):
        call.integers()
    elif name == "choice":
        call.choice()
    elif name == "permutation":
        call.permutation()
    elif name in VECTORS:
        call.vectors()
    else:
        raise call.refusal(f"{name} of a generator from outside cannot be recorded")
    call.refuse_left_overs()
    return call.record()


def _shuffle(call: _Call, generator: Any) -> None:
    """The rows of an array in another order, which is that of `permutation`."""
    array = call.take("x")
    call.refuse_left_overs()
    if not isinstance(array, Symbol) or not array.type.shape:
        raise call.refusal("shuffle of something else than an array cannot be recorded")
    array[...] = array[record_draw(generator, "permutation", (array.shape[0],), {})]


def with_known_seed(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a function that makes a generator: the seed has to be known."""
    if "numpy.random" not in sys.modules or f not in _makers():
        return args
    if not args or args[0] is None:
        raise UnsupportedError(
            f"{f.__name__}() without a seed would be frozen by staging",
            "give it a seed, or make the generator outside of the function",
        )
    return tuple(int(x) if isinstance(x, Symbol) else x for x in args)


def is_seed(value: Any = None) -> bool:
    """Whether generators of Python's `random` draw the same numbers behind it in each call."""
    return isinstance(value, (int, float, str, bytes, bytearray))


def is_own_generator(value: Any) -> bool:
    """Whether a value is a generator of Python's `random` that the function has seeded."""
    return isinstance(value, random.Random) and bool(trace().birth(value))


def draw_once(generator: Any) -> None:
    """A generator that is made inside draws while staging: not where that is done again."""
    run, birth = trace(), trace().birth(generator)
    if is_generator(generator) and run.is_done_again(birth):
        run.decisions.record_draws()
    what = "draws from a generator that is made outside of it"
    run.only_once(what, "draw before the loop or test", birth)


def moves_elements(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a method of a generator chooses or orders the elements of an array of the program."""
    moves = name in ("choice", "permutation", "shuffle") and "axis" not in kwargs
    return moves and bool(args) and isinstance(args[0], Symbol) and bool(args[0].type.shape)


def permute_elements(
    generator: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a generator made inside does with the elements of an array: it draws their places, as
    NumPy does."""
    array, *rest = args
    options = {k: all_known(v) for k, v in kwargs.items()}
    draws = generator.choice if name == "choice" else generator.permutation
    elements = array[draws(all_known(array.shape[0]), *map(all_known, rest), **options)]
    if name != "shuffle":
        return elements
    array[...] = elements
    return None


def all_known(value: Any) -> Any:
    """An argument of a generator made inside, which draws while staging: integers, such as lengths
    of axes, are made known; of other values the program makes the generator when it runs."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(all_known, value))
    if not isinstance(value, Symbol):
        return value
    if value.type.shape or value.type.dtype.kind not in "iu":
        trace().decisions.record_draws()
        raise ManyElementsError(
            "a generator that is made in the function cannot be given what is known only when it "
            "runs",
            "make the generator outside, or draw standard numbers and scale them",
        )
    return int(value)


@functools.cache
def _makers() -> frozenset[Any]:
    names = "default_rng RandomState SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64"
    return frozenset(getattr(np.random, name) for name in names.split())


def _source(generator: Any) -> Var:
    """The generator as a parameter of the program, or a value of it."""
    if is_recorded(generator):
        return trace().generators[id(generator)][0]
    reads, key = trace().reads, ("draw", id(generator))
    if key not in reads:
        var = Var(CALLABLE, "rng")
        reads[key] = (Captured("rng", lambda: generator, var, generator), generator)
        trace().inputs[var] = generator
    return reads[key][0].var  # type: ignore[no-any-return]


def _has_next(high: Any) -> bool:
    """Whether an upper end is an integer of 64 bits, and not the largest."""
    if isinstance(high, Symbol):
        return high.type.dtype == INTEGER
    return isinstance(high, int) and high < np.iinfo(INTEGER).max


class _Call:
    """One call: the atoms that it gets, its text, and what it gives."""

    def __init__(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], source: Var | None
    ) -> None:
        self.name, self.args, self.kwargs = name, args, kwargs
        self.given: list[Atom] = [] if source is None else [source]
        self.owner = "np.random" if source is None else "{0}"
        self.words: list[str] = []  # of the text
        self.place: int | None = 0  # of the size among them, given or not; None: it has none
        self.other = name  # the method that takes the size as a shape
        self.shape: tuple[Size, ...] = ()
        self.lengths: tuple[Size, ...] | None = None  # what is written of it, if not all
        self.dtype, self.weak = FLOAT, False
        self.among: Any = None  # elements, of which the places are drawn
        self.modern = False  # whether it is a method of a `Generator`
        self.closed = False  # whether the upper end of integers is one of them

    def refusal(self, problem: str) -> UnsupportedError:
        return UnsupportedError(problem, "pass the values in as arguments")

    def refuse_left_overs(self) -> None:
        if self.kwargs or self.args:
            what = ", ".join(self.kwargs) or "so many arguments"
            raise self.refusal(f"{self.name} cannot be recorded with {what}")

    def take(self, name: str, default: Any = None) -> Any:
        """The next argument."""
        if self.args:
            value, *rest = self.args
            self.args = tuple(rest)
            return value
        return self.kwargs.pop(name, default)

    def pass_on(self, value: Any) -> Any:
        """An argument of the call as it is made."""
        argument_atom = as_array(atoms(value))
        self.words.append(f"{{{len(self.given)}}}")
        self.given.append(argument_atom)
        return argument_atom

    def distribution(self, parameters: dict[str, float | None], dtype: np.dtype[Any]) -> None:
        values = [(p, self.take(p, default)) for p, default in parameters.items()]
        size = self.take("size")
        for p, value in values:
            if value is None:
                raise self.refusal(f"{self.name} needs {p}")
        shapes = [self.pass_on(value).type.shape for _, value in values]
        self.dtype = np.dtype(self.kwargs.pop("dtype", dtype))
        self.place = len(self.words)
        if size is None:
            self.shape = broadcast(*shapes)
            self.weak = not self.shape and self.dtype == dtype  # one number is Python's
        else:
            self.set_size(size)
        if self.dtype != dtype:
            self.words.append(f"dtype=np.{self.dtype.name}")

    def set_size(self, size: Any) -> None:
        self.shape = shape_of(atoms(size))
        self.words.append("{shape}")

    def set_lengths(self, lengths: tuple[Any, ...]) -> None:
        """rand(n, m)"""
        self.args = ()
        self.shape = shape_of(atoms(tuple(lengths)))
        self.words = [f"{{lengths_{k}}}" for k in range(len(self.shape))]
        self.lengths = self.shape
        self.weak = not lengths
        self.other = {"rand": "random_sample", "randn": "standard_normal"}[self.name]

    def integers(self) -> None:
        low, high = self.take("low"), self.take("high")
        size, dtype = self.take("size"), np.dtype(self.take("dtype", np.int64))
        options = []
        if dtype.kind not in "iu":
            raise self.refusal(f"{self.name} of the dtype {dtype} cannot be recorded")
        if self.take("endpoint", False):
            low, high = (0, low) if high is None else (low, high)
            if dtype == INTEGER and _has_next(high):
                high = high + 1
            else:
                options.append("endpoint=True")
        shapes = [self.pass_on(v).type.shape for v in (low, high) if v is not None]
        self.dtype, self.closed = dtype, "endpoint=True" in options
        if high is None:
            self.words.append("None")
        self.place = len(self.words)
        if size is None:
            self.shape = broadcast(*shapes)
            self.weak = self.name == "randint" and not self.shape
        else:
            self.set_size(size)
        if dtype != INTEGER:
            options.append(f"dtype=np.{dtype.name}")
        self.words += options

    def choice(self) -> None:
        """choice(a, size, replace, p): of the integers below a, or of its elements."""
        among, size = self.positions(self.take("a")), self.take("size")
        replace, p = self.take("replace", True), self.take("p")
        if not isinstance(replace, bool):
            raise self.refusal("choice takes True or False for replace")
        self.pass_on(among)
        self.dtype, self.place = INTEGER, len(self.words)
        if size is not None:
            self.set_size(size)
        if not replace:
            self.words.append("replace=False")
        if p is not None:
            self.pass_on(p)
            self.words[-1] = f"p={self.words[-1]}"
        if not replace or p is not None:
            self.place = None

    def permutation(self) -> None:
        """permutation(x): of the integers below x, or of its elements."""
        n = self.positions(self.take("x"))
        self.pass_on(n)
        self.shape, self.dtype, self.place = (size_of(atom(atoms(n))),), INTEGER, None

    def vectors(self) -> None:
        """multivariate_normal(mean, cov, size): vectors of as many numbers as the mean has."""
        names, place = VECTORS[self.name]
        values = [self.take(name) for name in names]
        if any(value is None for value in values):
            raise self.refusal(f"{self.name} needs {' and '.join(names)}")
        passed = [self.pass_on(value) for value in values]
        several = passed[place].type.ndim != 1
        if self.name == "multinomial":
            self.dtype, several = INTEGER, several or bool(passed[0].type.shape)
        if several:
            raise self.refusal(f"{self.name} of several distributions cannot be recorded")
        size = self.take("size")
        if size is not None:
            self.set_size(size)
            self.words[-1], self.lengths = "{lengths}", self.shape
        self.shape, self.place = (*self.shape, passed[place].type.shape[0]), None

    def positions(self, among: Any) -> Any:
        """How many there are to choose from: a number, or that of given ones, which are drawn by
        their places as NumPy does."""
        kind = getattr(among, "type", None)
        number = kind is not None and not kind.shape and kind.dtype.kind in "iu"
        if isinstance(among, (int, np.integer)) or number:
            return among
        self.among = apply(FUNCTIONS[np.asarray], among)
        if not self.among.ndim:
            raise self.refusal(f"{self.name} among a number that is not whole")
        return self.among.shape[0]

    def text(self, name: str, words: list[str]) -> str:
        return f"{self.owner}.{name}({', '.join(words)})"

    def record(self) -> Any:
        how: dict[str, Any] = {"shape": self.shape, "dtype": self.dtype, "weak": self.weak}
        if self.lengths is not None:
            how["lengths"] = self.lengths
        text, sized = self.text(self.name, self.words), ""
        if self.other != self.name:
            sized = self.text(self.other, ["{shape}"])
        elif self.place is not None:
            rest = [word for word in self.words[self.place :] if word != "{shape}"]
            sized = self.text(self.name, [*self.words[: self.place], "{shape}", *rest])
        how["sized"], how["modern"], how["closed"] = sized, self.modern, self.closed
        (drawn,) = trace().bind(draw, tuple(self.given), {**how, "name": self.name, "text": text})
        return wrap(drawn) if self.among is None else self.among[wrap(drawn)]
