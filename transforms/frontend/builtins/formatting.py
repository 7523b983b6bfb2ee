"""Makes text in which values of a run stand: f-strings, `str.format`, `%`, texts of objects.

f"at {point}"     what `Point.__repr__` makes of its fields, some of which only a run knows
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import string
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapeless.transforms.frontend.arrays.concretization import SHOWN_AS
from tapeless.transforms.frontend.arrays.foreign_arrays import has_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.builtins.stand_ins import refuse_stand_ins
from tapeless.transforms.frontend.control_flow.branches import for_each_option, has_options
from tapeless.transforms.frontend.effects.effects import not_shown
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.objects.special_methods import special
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import MAKERS, Template, Text, join_texts, method
from tapeless.transforms.frontend.values.text import percent as percent_of_values

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "": lambda value: value,
    "r": repr,
    "s": str,
    "a": ascii,
}
#: Brackets around the items of a container.
BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    StagedList: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
}
#: A field of a text that `%` fills, without those that take their width from the values.
FIELD = re.compile(r"%(?P<flags>[#0\- +]*\d*(?:\.\d+)?)(?P<kind>[a-zA-Z%])")


def format_parts(*parts: Any) -> Any:
    """An f-string of texts and (value, conversion, spec): a template if it shows symbols."""
    parts = tuple(p if isinstance(p, (str, Text)) else _with_text(*p) for p in parts)
    shown = [p if isinstance(p, (str, Text)) else p[0] for p in parts]
    if any(map(has_options, shown)):
        return for_each_option(
            lambda *values: format_parts(*map(_with_value, parts, values)), *shown
        )
    flat: list[Any] = []
    for p in parts:
        if isinstance(p, str):
            flat.append(p)
            continue
        value, conversion, spec = p
        if isinstance(value, Text) and not conversion and not spec:
            flat += value.pieces()
        elif has_symbols(value) or has_symbols(spec):
            flat.append((value, conversion, spec))
        elif trace().observing and has_foreign(value):
            raise not_shown(value)
        else:
            flat.append(_complete(format(CONVERSIONS[conversion](value), spec), value))
    if all(isinstance(p, str) for p in flat):
        return "".join(flat)
    return Template(tuple(flat))


def _with_text(value: Any, conversion: str, spec: Any) -> tuple[Any, str, Any]:
    """A field of an f-string, with the text of an object in place of it."""
    text = text_of(value, conversion) if conversion else formatted_object(value, spec)
    return (value, conversion, spec) if text is value else (text, "", spec if conversion else "")


def _with_value(part: Any, value: Any) -> Any:
    """The part of an f-string, where data chose this value for it."""
    return value if isinstance(part, (str, Text)) else (value, *part[1:])


def formatted_object(value: Any, spec: Any) -> Any:
    """What format(value, spec) gives for an object of the user's; others as they are."""
    if (own := special(value, "__format__")) is not None:
        return trace().enter(own, value, spec)
    return value if spec else text_of(value, "s")


def text_of(value: Any, conversion: str) -> Any:
    """str(value) or repr(value), as the conversion "s" or "r" says, of objects of the user's and of
    containers that hold some; what else there is as it is."""
    if isinstance(value, (Symbol, Text, str)) or conversion == "a":
        return value
    cls: Any = type(value)
    by_str = conversion == "s" and cls.__str__ is not object.__str__
    own = special(value, "__str__" if by_str else "__repr__")
    if own is not None and not hasattr(own, "__wrapped__"):
        return trace().enter(own, value)
    if by_str and cls.__str__ is BaseException.__str__ and has_symbols(value.args):
        shown = value.args[0] if len(value.args) == 1 else value.args
        return format_parts((shown, "s", ""))
    if by_str:
        return value
    if (fields := _fields_of(value)) is not None:
        return _with_fields(*fields)
    return _of_container(value) if type(value) in BRACKETS and has_own_text(value) else value


def _fields_of(value: Any) -> tuple[str, Iterable[tuple[str, Any]]] | None:
    """The name and the fields of which Python makes the text of an object."""
    if dataclasses.is_dataclass(value) and special(value, "__repr__") is not None:
        shown = (f.name for f in dataclasses.fields(value) if f.repr)
        return type(value).__qualname__, ((name, getattr(value, name)) for name in shown)
    if type(value) is types.SimpleNamespace:
        return "namespace", vars(value).items()
    if _is_named_tuple(value):
        return type(value).__name__, zip(value._fields, value, strict=True)
    return None


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields") and has_symbols(value)


def _with_fields(name: str, fields: Iterable[tuple[str, Any]]) -> Any:
    """The text that Python makes of the fields of an object."""
    parts: list[Any] = []
    for field, value in fields:
        parts += [f"{', ' if parts else ''}{field}=", (value, "r", "")]
    return format_parts(f"{name}(", *parts, ")")


def has_own_text(value: Any) -> bool:
    """Whether a user's class says what the text of a value is, or of one in a container."""
    if type(value) in BRACKETS:
        return not own_attribute(value, "tail") and any(map(has_own_text, _items(value)))
    methods = ("__repr__", "__str__", "__format__")
    return any(special(value, name) for name in methods) or _fields_of(value) is not None


def _items(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _of_container(value: Any) -> Any:
    opening, closing = BRACKETS[type(value)]
    parts: list[Any] = [opening]
    for k, item in enumerate(_items(value)):
        parts += [", " if k else "", (item, "r", "")]
        if isinstance(value, dict):
            parts.insert(-1, f"{[*value][k]!r}: ")
    if type(value) is tuple and len(value) == 1:
        parts.append(",")
    return format_parts(*parts, closing)


def _complete(text: str, value: Any) -> str:
    """Text that Python made of an object; refuses what shows symbols instead of values."""
    if SHOWN_AS in text:
        raise not_shown(value)
    return plain_text(text, value)


def plain_text(text: str, value: Any) -> str:
    """Text that Python made of a value; where it shows an address, the program relies on it."""
    if " at 0x" in text:
        trace().ask_address(value)
    return text


def percent(text: Any, values: Any) -> Any:
    """`"%.3f of %s" % (x, obj)`."""
    refuse_stand_ins("%", values)
    if isinstance(text, str) and has_own_text(values):
        text, *operands = with_texts((text, *(values if isinstance(values, tuple) else (values,))))
        values = tuple(operands)
        if any(map(has_options, operands)):
            return for_each_option(lambda *options: percent(text, options), *operands)
    if isinstance(text, Text) or has_symbols(values):
        return percent_of_values(text, values)
    return plain_text(text % values, values)


def with_texts(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A text that `%` fills and its values, among the arguments of a call that does so: objects of
    the user's are replaced by their texts."""
    place = next((k for k, v in enumerate(args) if isinstance(v, str)), len(args))
    text, values = args[place : place + 1], args[place + 1 :]
    kinds = [m["kind"] for m in FIELD.finditer(*text) if m["kind"] != "%"] if text else []
    if len(kinds) != len(values):
        return args
    shown = [text_of(v, k) if k in "rs" else v for v, k in zip(values, kinds, strict=True)]
    are_texts = iter([new is not v for new, v in zip(shown, values, strict=True)])

    def field(m: re.Match[str]) -> str:
        """A text is put in as it is, without the quotes of repr."""
        return m[0] if m["kind"] == "%" or not next(are_texts) else f"%{m['flags']}s"

    return (*args[:place], FIELD.sub(field, *text), *shown)


def of_string(text: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of a string that is given values known when the program runs; None if it has no
    rule."""
    if name == "format":
        return format_method(text, args, kwargs)
    if name == "join":
        return join_texts(text, list(*args))
    return method(text, name, args) if name in MAKERS and not kwargs else None


def format_method(
    text: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    position: Iterator[int] | None = None,
) -> Any:
    """str.format; fields without a name take the next `position`, also those in a format spec."""
    formatter = string.Formatter()
    position = itertools.count() if position is None else position
    parts: list[Any] = []
    for literal, field, spec, conversion in formatter.parse(text):
        parts.append(literal)
        if field is None:
            continue
        path = field if field[:1] not in ("", ".", "[") else f"{next(position)}{field}"
        value, _ = formatter.get_field(path, args, kwargs)
        shown = format_method(spec or "", args, kwargs, position)
        parts.append((value, conversion or "", shown))
    return format_parts(*parts)
