"""Represents text that shows run-time values by how it is put together."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic, static
from tapeless.transforms.core.language import Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.external_objects import NamedMethod
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, opposite
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS

#: Methods of str that make text out of text.
MAKERS = frozenset(
    [
        "upper",
        "lower",
        "title",
        "capitalize",
        "swapcase",
        "casefold",
        "strip",
        "lstrip",
        "rstrip",
        "removeprefix",
        "removesuffix",
        "ljust",
        "rjust",
        "center",
        "zfill",
        "expandtabs",
        "replace",
    ]
)


#: Methods of str that cut text into pieces.
CUTTERS = frozenset(["split", "rsplit", "splitlines", "partition", "rpartition"])

#: Methods of str that give text or bytes, which the program calls.
CALLED = frozenset(["encode", "format", "format_map", "join", "translate"])


class Text:
    """Text of a staged run: it can be made into other text and shown, but not looked into."""

    def pieces(self) -> tuple[Any, ...]:
        """As parts of an f-string."""
        return ((self, "", ""),)

    def operands(self) -> tuple[Any, ...]:
        """The values that the text depends on."""
        raise NotImplementedError

    def text_in_call(self) -> str:
        """What the text says in the call at hand, on whose values a program is traced."""
        raise NotImplementedError

    def with_values(self, change: Callable[[Any], Any]) -> Text:
        """The same text of other values: `change` says which, also of lists and tuples of them."""
        raise NotImplementedError

    def need(self, what: str) -> str:
        """Makes the values known that the text shows; refuses those that depend on data, where
        the program is not traced on them."""
        if trace().tracing:
            return self.text_in_call()
        raise NeedStatic(
            next(_shown_symbols(self)).value(),
            f"{what} needs a text",
            "work with the values that it shows, and make the text where it is printed or raised",
        )

    def as_atom(self) -> Any:
        if trace().tracing and any(s.type.dtype.kind in "fc" for s in _shown_symbols(self)):
            raise UnsupportedError(
                "a function of NumPy is given text that shows values known when the program runs",
                "give it the values",
            )
        return self.need("a function of NumPy")

    def __add__(self, other: Any) -> Text:
        return Template((*self.pieces(), *_pieces(other)))

    def __radd__(self, other: Any) -> Text:
        return Template((*_pieces(other), *self.pieces()))

    def __mul__(self, n: Any) -> Text:
        return ComputedText("{0} * {1}", (self, n))

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Text:
        if isinstance(key, slice):
            bounds = [key.start, key.stop, key.step]
            key = ":".join("" if b is None else str(b) for b in bounds)
        return ComputedText(f"{{0}}[{key}]", (self,))

    def __getattr__(self, name: str) -> Any:
        if name in MAKERS:
            return lambda *args: method(self, name, args)
        if name in CUTTERS:
            return lambda *args: cut(self, name, args)
        if name.startswith("__") or not hasattr(str, name):
            raise AttributeError(f"'str' object has no attribute '{name}'")
        if name in CALLED and trace().observing:
            return types.MethodType(NamedMethod(name), self)
        return lambda *args, **kwargs: getattr(self.need(f"str.{name}"), name)(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self is other or self.need("a comparison") == other

    def __hash__(self) -> int:
        return hash(self.need("a dictionary or set"))

    def __bool__(self) -> bool:
        return bool(self.need("a test"))

    def __len__(self) -> int:
        return len(self.need("len()"))

    def __contains__(self, part: Any) -> bool:
        return part in self.need("in")

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self.need("a loop over its characters"))))

    def __int__(self) -> int:
        return int(self.need("int()"))

    def __float__(self) -> float:
        return float(self._read_as_number("float()"))

    def __complex__(self) -> complex:
        return complex(self._read_as_number("complex()"))

    def _read_as_number(self, what: str) -> str:
        """Text that a number is read from, which has no derivative."""
        text = self.need(what)
        for symbol in _shown_symbols(self):
            symbol.read_as_number(f"{what} of a text that shows it")
        return text

    def __str__(self) -> str:
        return self.need("code without a rule")

    def __format__(self, spec: str) -> str:
        return format(self.need("code without a rule"), spec)

    def __repr__(self) -> str:
        return "<text known when the program runs>"


@dataclass(frozen=True, eq=False, repr=False)
class Template(Text):
    """An f-string: parts are text or (value, conversion, spec)."""

    parts: tuple[Any, ...]

    def pieces(self) -> tuple[Any, ...]:
        return self.parts

    def operands(self) -> tuple[Any, ...]:
        return tuple(each for p in self.parts if not isinstance(p, str) for each in p)

    def text_in_call(self) -> str:
        return "".join(
            p if isinstance(p, str) else _format_field(*map(_known_in_call, p)) for p in self.parts
        )

    def with_values(self, change: Callable[[Any], Any]) -> Text:
        return Template(change(self.parts))


@dataclass(frozen=True, eq=False, repr=False)
class ComputedText(Text):
    """Text by an expression, such as `{0}.upper()`, of values."""

    form: str
    values: tuple[Any, ...]

    def operands(self) -> tuple[Any, ...]:
        return self.values

    def text_in_call(self) -> str:
        names = [f"value{k}" for k in range(len(self.values))]
        values = dict(zip(names, map(_known_in_call, self.values), strict=True))
        return str(eval(self.form.format(*names), values))

    def with_values(self, change: Callable[[Any], Any]) -> Text:
        return ComputedText(self.form, change(self.values))


@dataclass(frozen=True, eq=False, repr=False)
class ChosenText(Text):
    """One of two texts by a test on data; what it says can be asked."""

    test: Any
    yes: Any
    no: Any

    def operands(self) -> tuple[Any, ...]:
        return self.test, self.yes, self.no

    def text_in_call(self) -> str:
        return str(
            _known_in_call(self.yes) if _known_in_call(self.test) else _known_in_call(self.no)
        )

    def with_values(self, change: Callable[[Any], Any]) -> Text:
        return ChosenText(*map(change, (self.test, self.yes, self.no)))

    def options(self) -> list[Any]:
        """The texts of which it is one."""
        parts = (self.yes, self.no)
        return [x for p in parts for x in (p.options() if isinstance(p, ChosenText) else [p])]

    def is_of_known(self) -> bool:
        """Whether it is known what each of the two says."""
        return all(isinstance(option, str) for option in self.options())

    def map_texts(self, change: Callable[[str], str]) -> Any:
        """Another text made of it, where it is known what each of the two says."""
        parts = (self.yes, self.no)
        yes, no = (p.map_texts(change) if isinstance(p, ChosenText) else change(p) for p in parts)
        alike = isinstance(yes, str) and isinstance(no, str) and yes == no
        return yes if alike else ChosenText(self.test, yes, no)

    def __add__(self, other: Any) -> Any:
        is_constant = isinstance(other, str) and self.is_of_known()
        return self.map_texts(lambda text: text + other) if is_constant else super().__add__(other)

    def __radd__(self, other: Any) -> Any:
        is_constant = isinstance(other, str) and self.is_of_known()
        return self.map_texts(lambda text: other + text) if is_constant else super().__radd__(other)

    def __iter__(self) -> Iterator[Any]:
        if self.is_of_known() and len({*map(len, self.options())}) == 1:
            length = len(self.options()[0])
            return iter([self.map_texts(operator.itemgetter(k)) for k in range(length)])
        return super().__iter__()

    def __eq__(self, other: object) -> Any:
        yes, no = self.yes == other, self.no == other
        if isinstance(yes, bool) and isinstance(no, bool):
            return yes if yes is no else self.test if yes else opposite(self.test)
        both = apply(FUNCTIONS[np.logical_and], self.test, yes)
        rest = apply(FUNCTIONS[np.logical_and], opposite(self.test), no)
        return apply(FUNCTIONS[np.logical_or], both, rest)

    def __ne__(self, other: object) -> Any:
        return opposite(self == other)

    __hash__ = Text.__hash__


@dataclass(frozen=True, eq=False, repr=False)
class ExternalText(Text):
    """Text that a call gives.

    call    makes it of values
    values  what the program has for them
    read    what the text says in the call at hand, which the program guards from here on
    """

    call: Callable[[list[Any]], str]
    values: tuple[Any, ...]
    read: Callable[[ExternalText], str]

    def operands(self) -> tuple[Any, ...]:
        return self.values

    def text_in_call(self) -> str:
        if any(isinstance(v, Symbol) for v in self.values):
            return self.read(self)
        return self.call(list(self.values))

    def with_values(self, change: Callable[[Any], Any]) -> Text:
        return ExternalText(self.call, change(self.values), self.read)


def _known_in_call(value: Any) -> Any:
    """A value that text shows, as it is in the call at hand."""
    if isinstance(value, Symbol):
        return _number_in_call(value.value())
    if isinstance(value, Text):
        return value.text_in_call()
    if isinstance(value, dict):
        return {k: _known_in_call(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [_known_in_call(v) for v in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def _number_in_call(value: Any) -> Any:
    """A number as text shows it, which is one of NumPy's or of Python's."""
    number = static(value, "text needs this value")
    numpys = isinstance(value, Var) and not (value.type.weak or value.type.shape)
    return value.type.dtype.type(number) if numpys else number


def _format_field(value: Any, conversion: str, spec: str) -> str:
    """A field of an f-string."""
    shown: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
    return format(shown[conversion](value) if conversion else value, spec)


def _shown_symbols(value: Any) -> Iterator[Symbol]:
    """The symbols in a value that is shown."""
    if isinstance(value, Symbol):
        yield value
        return
    inside = value.operands() if isinstance(value, Text) else value
    for each in inside.values() if isinstance(inside, dict) else inside:
        if isinstance(each, (Symbol, Text, list, tuple, dict)):
            yield from _shown_symbols(each)


def method(this: Any, name: str, args: tuple[Any, ...]) -> ComputedText:
    """this.name(*args), one of `MAKERS`."""
    holes = ", ".join(f"{{{k + 1}}}" for k in range(len(args)))
    return ComputedText(f"{{0}}.{name}({holes})", (this, *args))


def cut(this: Text, name: str, args: tuple[Any, ...]) -> Any:
    """this.name(*args), one of `CUTTERS`: pieces that show what the text shows."""
    pieces = getattr(this.need(f"str.{name}"), name)(*args)
    call = method(this, name, args)
    return type(pieces)(ComputedText(f"{call.form}[{k}]", call.values) for k in range(len(pieces)))


def percent(text: Any, values: Any) -> Text:
    """`"%.3f" % x`."""
    return ComputedText("{0} % {1}", (text, values))


def join_texts(between: Any, items: list[Any]) -> Any:
    """str.join."""
    parts: list[Any] = []
    for k, item in enumerate(items):
        if not isinstance(item, (str, Text)):
            kind = type(item).__name__
            raise TypeError(f"sequence item {k}: expected str instance, {kind} found")
        parts += [*(_pieces(between) if k else ()), *_pieces(item)]
    return Template(tuple(parts)) if any(isinstance(v, Text) for v in items) else "".join(parts)


def _pieces(text: Any) -> tuple[Any, ...]:
    if isinstance(text, str):
        return (text,)
    if not isinstance(text, Text):
        raise TypeError(f'can only concatenate str (not "{type(text).__name__}") to str')
    return text.pieces()
