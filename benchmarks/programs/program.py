"""Describes a public program: where it is, what it is called with, what of it is differentiated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

Inputs = Callable[[np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """A function of a public repository and a call of it.

    repository  owner/name
    file        where the function is defined, within the repository
    function    its name; a method's name where `of` is given
    inputs      makes its arguments from a random generator
    smooth      the positions of the arguments that are differentiated; empty for none
    batched     the positions of those that `vmap` maps over; by default the smooth ones
    of          makes the object that has the function, from the module: for methods
    through     makes a function of arrays, from the module: for what is called with objects
    keywords    keyword arguments of the call
    take        takes numbers out of a result that is neither an array nor a container of arrays
    """

    repository: str
    file: str
    function: str
    inputs: Inputs
    smooth: tuple[int, ...] = ()
    batched: tuple[int, ...] = ()
    of: Callable[[Any], Any] | None = None
    through: Callable[[Any], Callable[..., Any]] | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    take: Callable[[Any], Any] | None = None

    @property
    def mapped(self) -> tuple[int, ...]:
        return self.batched or self.smooth

    @property
    def name(self) -> str:
        return f"{self.repository}: {self.function}"

    def callable(self, checkouts: Path) -> Callable[..., Any]:
        """The function, imported from the checkout of its repository."""
        module = load(checkout(checkouts, self.repository), self.file)
        if self.through is not None:
            return self.through(module)
        function: Callable[..., Any] = getattr(
            self.of(module) if self.of else module, self.function
        )
        if not self.keywords and self.take is None:
            return function
        keywords, take = dict(self.keywords), self.take

        def called(*args: Any) -> Any:
            result = function(*args, **keywords)
            return result if take is None else take(result)

        return called


def checkout(checkouts: Path, repository: str) -> Path:
    """The folder of a repository: `owner/name` or `owner+name`."""
    for folder in (checkouts / repository, checkouts / repository.replace("/", "+")):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"no checkout of {repository} in {checkouts}")


def load(repository: Path, path: str) -> ModuleType:
    """Imports a file, by its name; where its packages cannot be imported, without what they run."""
    file = repository / path
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    sys.path[:0] = [str(root), str(repository / "src"), str(repository)]
    sys.path.append(str(file.parent))
    name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    try:
        return importlib.import_module(name)
    except (ImportError, NameError):  # a package that asks for more than its file does
        packages = name.split(".")[:-1]
        for k in range(len(packages)):
            package = ".".join(packages[: k + 1])
            sys.modules[package] = stub = ModuleType(package)
            stub.__path__ = [str(root.joinpath(*packages[: k + 1]))]
        return importlib.import_module(name)
