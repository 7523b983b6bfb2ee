"""Writes results that are objects of the user's classes: the wrapper in Python has records of them.

return Point(a, b)      becomes      return Point(x=out_0, y=out_1)
"""

from __future__ import annotations

import keyword
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tapeless.transforms.emit.module import is_plain, result_text
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.staging.results import OneOfTwo
from tapeless.transforms.frontend.values.structure import Structure
from tapeless.transforms.prelude.numpy.derived_arrays import DerivedArray
from tapeless.transforms.prelude.numpy.masked_arrays import MaskedArray

#: Kinds that are no records: the wrapper would have to know more of them than what they hold.
OTHERS = (DerivedArray, MaskedArray, OneOfTwo, dict, set, frozenset, deque, list)


@dataclass(frozen=True)
class ResultClass:
    """A class of the user's, by its name and the names of its fields."""

    name: str
    fields: tuple[str, ...]
    is_tuple: bool

    @property
    def lines(self) -> list[str]:
        """What the wrapper has in its place."""
        if self.is_tuple:
            return [f'{self.name} = namedtuple("{self.name}", {[*self.fields]!r})']
        return [f"class {self.name}(SimpleNamespace):", f'    """{", ".join(self.fields)}."""']


@dataclass(frozen=True)
class ContainerStores:
    """What a wrapper does to containers of its caller.

    held   expressions of its parameters, which it reads before the call, as a tuple `held`
    lines  statements after the call, of `held` and of the values `new` that containers get
    """

    held: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass
class ResultExpression:
    """Writes a result as an expression of Python; `records` are the classes that it names."""

    records: dict[str, ResultClass] = field(default_factory=dict)

    def text(self, spec: Structure, values: list[str]) -> str:
        return self._text(spec, iter(values))

    def _text(self, spec: Structure, values: Iterator[str]) -> str:
        if is_plain(spec):
            return result_text(spec, [next(values) for _ in spec.leaves()])
        if not isinstance(spec.kind, type) or not spec.children:
            raise _no_form()
        names = getattr(spec.kind, "_fields", None)
        record = names is not None or not issubclass(spec.kind, (tuple, *OTHERS))
        if record:
            return self._record(spec, tuple(spec.keys if names is None else names), values)
        if spec.kind not in (tuple, dict) and not issubclass(spec.kind, list):
            raise _no_form()
        texts = [self._text(child, values) for child in spec.children]
        return result_text(replace(spec, children=tuple(map(_as_leaf, spec.children))), texts)

    def _record(self, spec: Structure, names: tuple[str, ...], values: Iterator[str]) -> str:
        kind: Any = spec.kind
        record = ResultClass(kind.__name__, names, issubclass(kind, tuple))
        clash = self.records.setdefault(record.name, record) != record
        if clash or not all(isinstance(n, str) and _is_name(n) for n in (record.name, *names)):
            raise _no_form()
        parts = [self._text(child, values) for child in spec.children]
        pairs = (f"{name}={part}" for name, part in zip(names, parts, strict=True))
        return f"{record.name}({', '.join(pairs)})"


def _as_leaf(spec: Structure) -> Structure:
    return replace(spec, kind="leaf", children=())


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _no_form() -> UnsupportedError:
    return UnsupportedError(
        "a result that is an object of a class has no form in C",
        "return arrays, in tuples, lists, dicts, named tuples or dataclasses",
    )
