"""Enters `__post_init__` and the makers of defaults of dataclasses like other functions."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import Any

from tapeless.transforms.frontend.trace.trace import trace


def is_record(cls: Any) -> bool:
    """Whether the class makes its objects by code that `dataclass` wrote."""
    init = cls.__init__
    return (
        dataclasses.is_dataclass(cls)
        and isinstance(init, types.FunctionType)
        and init.__code__.co_filename == "<string>"
    )


def new_record(hooks: Any, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """cls(*args, **kwargs)"""
    record = trace().born(object.__new__(cls))
    try:
        arguments = inspect.signature(cls.__init__).bind(record, *args, **kwargs).arguments
    except TypeError:
        return cls(*args, **kwargs)  # says in Python's words what is wrong
    frozen = cls.__dataclass_params__.frozen
    only_passed = []
    for f in cls.__dataclass_fields__.values():
        if f.name in arguments and f.init:
            value = arguments[f.name]
        elif f.default_factory is not dataclasses.MISSING:
            value = hooks.call(f.default_factory)
        elif f.init or f.default is not dataclasses.MISSING:
            value = f.default
        else:
            continue
        kind = f._field_type.name
        if kind == "_FIELD_INITVAR":
            only_passed.append(value)
        elif kind == "_FIELD" and frozen:
            object.__setattr__(record, f.name, value)
        elif kind == "_FIELD":
            hooks.set_attr(record, f.name, value)
    post = getattr(cls, "__post_init__", None)
    if post is not None:
        hooks.call(post, record, *only_passed)
    return record


def replace_(hooks: Any, obj: Any, /, **changes: Any) -> Any:
    """dataclasses.replace"""
    for f in dataclasses.fields(obj):
        if f.init and f.name not in changes:
            changes[f.name] = hooks.attr(obj, f.name)
        elif not f.init and f.name in changes:
            raise ValueError(f"field {f.name} is declared with init=False")
    return hooks.call(type(obj), **changes)
