"""Saves trees of arrays to files and loads them, so that a job can resume after a failure. A file
is written whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.subprogram import describe, is_value
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def save(path: str | os.PathLike[str], value: Any) -> None:
    """Writes the numbers and arrays of a tree to a file that `numpy.load` reads as well.

    path   the file; an old one is there until the new one is complete
    value  a number, an array, or a tree of them

    Raises TypeError for other leaves, OSError where the file cannot be written.
    """
    leaves = tree.leaves(value)
    for leaf in leaves:
        if not is_value(leaf):
            raise ArgumentTypeError(f"checkpoint: {describe(leaf)} is not a number or an array")
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **dict(zip(_names(value), leaves, strict=True)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def load(path: str | os.PathLike[str], like: Any) -> Any:
    """The value that `save` wrote.

    path  the file
    like  a tree that is built like the value; what it holds does not matter

    Returns a tree like that; Python numbers where `like` has them. Raises ValueError for a file
    whose value is built otherwise, OSError where there is none.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/state.npz", {"step": 3, "w": np.ones(2)})
    ...     load(f"{folder}/state.npz", {"step": 0, "w": np.zeros(2)})
    {'step': 3, 'w': array([1., 1.])}
    """
    likes, structure = tree.flatten(like)
    names = _names(like)
    with np.load(path, allow_pickle=False) as file:
        if list(file.files) != names:
            raise ArgumentError(
                f"checkpoint: {path} holds {', '.join(file.files)}, and {', '.join(names)} is "
                "asked for"
            )
        arrays = [file[name] for name in names]
    pairs = zip(likes, arrays, strict=True)
    leaves = [x if isinstance(old, np.ndarray) else type(old)(x[()]) for old, x in pairs]
    return tree.unflatten(structure, leaves)


def _names(value: Any) -> list[str]:
    """A name for each leaf: the expression that reads it."""
    return [a.codify("value") for a in tree.accessors(value)]


__all__ = ["load", "save"]
