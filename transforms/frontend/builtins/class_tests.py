"""Stages isinstance and type: the class that a value would have without staging."""

from __future__ import annotations

import importlib
from typing import Any, cast

import numpy as np

from tapeless.transforms.frontend.arrays.external_objects import ExternalObject
from tapeless.transforms.frontend.arrays.number_types import same_for_all
from tapeless.transforms.frontend.arrays.python_scalars import class_of, number_class
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.truth import is_none, presence_flag
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.objects.derived_arrays import user_class
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.text import Text
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList
from tapeless.transforms.prelude.containers.hashed_containers import Keys
from tapeless.transforms.prelude.containers.known_keys import Found
from tapeless.transforms.prelude.containers.linked_lists import Part, Row
from tapeless.transforms.prelude.containers.ragged_lists import GivenLists
from tapeless.transforms.prelude.numpy.derived_arrays import DerivedArray
from tapeless.transforms.prelude.numpy.masked_arrays import MaskedArray
from tapeless.transforms.prelude.sparse.entries import SparseMatrix


def isinstance_(hooks: Any, x: Any, kinds: Any) -> Any:
    if isinstance(x, Text):
        return isinstance("", kinds)
    if isinstance(x, ExternalObject):
        return call_outside(isinstance, (x, kinds), {})
    if isinstance(x, StagedList):
        return issubclass(x.stands_for, kinds)
    if isinstance(x, (Part, Row, GivenLists, FilteredList)):
        return issubclass(list, kinds) or isinstance(x, kinds)
    if isinstance(x, Keys):
        return issubclass(x.kind, kinds) or isinstance(x, kinds)
    if isinstance(x, Found):
        return issubclass(dict, kinds)
    if isinstance(x, SparseMatrix):
        return isinstance(x, kinds) or issubclass(_class_of_sparse(x), kinds)
    if not isinstance(x, Symbol):
        derived = isinstance(x, (DerivedArray, MaskedArray))
        return isinstance(x, kinds) or (derived and issubclass(user_class(type(x)), kinds))
    outcome = issubclass(list, kinds) if x.listing is not None else _is_kind(x, kinds)
    if presence_flag(x) is not None and isinstance(None, kinds) != outcome:
        return hooks.is_none(x, outcome)
    _check_set(x)
    return outcome


def _class_of_sparse(x: SparseMatrix) -> type:
    """The class of scipy.sparse that a matrix would be of."""
    scipy_sparse = importlib.import_module("scipy.sparse")
    kind = getattr(scipy_sparse, f"{x.format}_{'array' if x.arraylike else 'matrix'}")
    return cast("type", kind)


def _check_set(x: Symbol) -> None:
    """An error where a variable that a function looks at is not set."""
    if x.undefined is not None and not x.undefined.none:
        x.value()


def _is_kind(x: Symbol, kind: Any) -> bool:
    t = x.type
    if t.shape or x.is_array:
        return issubclass(np.ndarray, kind)
    return same_for_all(x, t, lambda of: issubclass(number_class(of), kind))


def type_(hooks: Any, x: Any, *more: Any) -> Any:
    if isinstance(x, StagedList):
        return x.stands_for
    if isinstance(x, (Part, Row, GivenLists, FilteredList)):
        return list
    if isinstance(x, Keys):
        return x.kind
    if isinstance(x, Found):
        return dict
    if isinstance(x, ExternalObject):
        same = call_outside(isinstance, (x, type(x.value)), {})
        return type(x.value) if same else call_outside(type, (x,), {})
    if isinstance(x, SparseMatrix):
        return _class_of_sparse(x)
    if not isinstance(x, Symbol):
        return str if isinstance(x, Text) else user_class(type(x, *more))
    if presence_flag(x) is not None:
        return Either(is_none(x), type(None), class_of(x))
    _check_set(x)
    return class_of(x)
