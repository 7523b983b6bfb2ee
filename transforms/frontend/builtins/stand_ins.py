"""Refuses to give code that is not staged the objects that stand for containers of the program."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList
from tapeless.transforms.prelude.containers.hashed_containers import Keys, View
from tapeless.transforms.prelude.containers.known_keys import Found
from tapeless.transforms.prelude.sparse.entries import WAY_OUT, SparseMatrix

#: What such code would take for an object of another class than the container is of.
STAND_INS = (Keys, View, Found, FilteredList)


def refuse_stand_ins(name: str, *values: Any) -> None:
    """`name` is the function that would get them."""
    for value in values:
        if type(value) is tuple:
            refuse_stand_ins(name, *value)
        refuse_sparse(name, value)
        if isinstance(value, STAND_INS):
            raise UnsupportedError(
                f"{name}() is given a container of which data decides what it holds",
                "give it a list or an array of what the container holds",
            )


def refuse_sparse(f: Any, *values: Any) -> None:
    """Refuses sparse matrices of the program as arguments of a function that knows SciPy's."""
    for value in values:
        if type(value) in (list, tuple):
            refuse_sparse(f, *value)
        if isinstance(value, SparseMatrix):
            name = f if isinstance(f, str) else getattr(f, "__name__", "a function")
            raise UnsupportedError(f"{name}() of a sparse matrix has no rule", WAY_OUT)
