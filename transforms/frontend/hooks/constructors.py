"""Makes objects of classes as a staged run does."""

from __future__ import annotations

import contextlib
import functools
import random
import types
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.numpy_scalars import is_python_complex
from tapeless.transforms.frontend.arrays.random_draws import (
    is_seed,
    recorded_generator,
    with_known_seed,
)
from tapeless.transforms.frontend.arrays.symbols import apply
from tapeless.transforms.frontend.builtins import dicts_and_sets
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.iterators import advancing
from tapeless.transforms.frontend.heap.locations import put_attribute
from tapeless.transforms.frontend.hooks.library_calls import (
    call_opaque,
    is_for_library,
    rule_or_external_call,
)
from tapeless.transforms.frontend.objects.attributes import watch_class
from tapeless.transforms.frontend.objects.dataclasses import is_record, new_record
from tapeless.transforms.frontend.objects.derived_arrays import is_derived, staged_class
from tapeless.transforms.frontend.trace.provenance import is_library_class, makes_plain_objects
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.ops.function_table import FUNCTIONS


def construct(hooks: Any, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if (generator := recorded_generator(cls, args, kwargs)) is not None:
        return generator
    if cls is np.matrix and args and isinstance(args[0], str):
        args = (np.asarray(np.matrix(args[0])), *args[1:])
    cls, args = staged_class(cls) if is_derived(cls) else cls, with_known_seed(cls, args)
    init = cls.__init__  # type: ignore[misc]
    new: Any = cls.__new__
    plain = (
        isinstance(init, types.FunctionType)
        and new is object.__new__
        and type(cls).__call__ is type.__call__
    )
    library = is_library_class(cls)
    if plain:
        watch_class(cls, "__init__")
    if plain and not library and is_record(cls):
        return new_record(hooks, cls, args, kwargs)
    if (
        plain
        and not library
        and init.__code__.co_filename != "<string>"
        and "__dataclass_fields__" not in cls.__dict__
    ):
        obj = trace().born(object.__new__(cls))
        hooks.call_function(init, (obj, *args), kwargs)
        return obj
    if makes_plain_objects(cls) and isinstance(new, types.FunctionType):
        watch_class(cls, "__new__")
        obj = hooks.call_function(new, (cls, *args), kwargs)
        if isinstance(obj, cls) and isinstance(init, types.FunctionType):
            watch_class(cls, "__init__")
            hooks.call_function(init, (obj, *args), kwargs)
        return obj
    if cls in (*dicts_and_sets.DICTS, *dicts_and_sets.SETS) and not kwargs:
        return dicts_and_sets.construct(hooks, cls, args)
    if isinstance(cls, type) and issubclass(cls, np.generic):
        if not has_symbols(args):
            return cls(*args, **kwargs)
        if is_python_complex(args[0]) and not issubclass(cls, (np.bool_, np.complexfloating)):
            return cls(1j)  # which is an error
        rule = functools.partial(apply, FUNCTIONS[np.asarray])
        return rule_or_external_call(lambda: rule(args[0], cls), cls, args, kwargs)
    if issubclass(cls, BaseException) and has_symbols(args):
        obj = trace().born(cls.__new__(cls))
        obj.args = args
        if isinstance(init, types.FunctionType):
            hooks.call_function(init, (obj, *args), kwargs)
        return obj
    if issubclass(cls, random.Random) and not has_symbols((args, kwargs)):
        generator = cls(*args, **kwargs)
        return trace().born(generator) if is_seed(*args) else generator
    if is_for_library(cls, args, kwargs):
        return call_outside(cls, args, kwargs)
    if library and (has_symbols(args) or has_symbols(kwargs)):
        obj = rule_or_external_call(
            functools.partial(call_opaque, cls, args, kwargs), cls, args, kwargs
        )
        return trace().born(advancing(obj))
    return trace().born(advancing(cls(*args, **kwargs)))


def construct_parametrised(
    hooks: Any, alias: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """An object of `Stack[float]`: one of `Stack`, which knows with which types it was made."""
    if not getattr(alias, "_inst", True):
        alias()  # TypeError: typing.Dict is only for hints
    obj = hooks.call(alias.__origin__, *args, **kwargs)
    with contextlib.suppress(AttributeError):  # lists and dicts have no attributes
        put_attribute(obj, "__orig_class__", alias)
    return obj
