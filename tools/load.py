"""Loads the function that `FILE.py:FUNCTION` or `module:function` names."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tapeless.tools.errors import UsageError
from tapeless.tools.signature import object_of
from tapeless.tools.user_output import printing_aside

FORM = "name a function as FILE.py:FUNCTION or module:function"


def load_function(spec: str) -> Callable[..., Any]:
    """Import the module and find the function, which may stand in a class: FILE.py:Class.method."""
    place, colon, path = spec.rpartition(":")
    check_no_notebook(Path(place or path))
    if not (colon and place and path):
        raise UsageError(f"{spec!r} does not name a function", _form_for(Path(place or path)))
    with printing_aside():
        module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    value: Any = module
    for name in path.split("."):
        if not hasattr(value, name):
            raise UsageError(f"{place} has no {path!r}", _offer(value, module))
        owner_of_value, value = value, getattr(value, name)
    if inspect.isclass(value):
        raise UsageError(f"{path!r} in {place} is a class", _offer(value, module))
    if not callable(value):
        raise UsageError(f"{path!r} in {place} is not a function", _offer(owner_of_value, module))
    owner, _, name = path.rpartition(".")
    return _bound(operator.attrgetter(owner)(module), name) if owner else value  # type: ignore[no-any-return]


def _bound(owner: Any, name: str) -> Any:
    """A method of an object of the class, if it needs one: it is made without arguments, or of what
    the annotations of a dataclass say."""
    needs_object = inspect.isclass(owner) and inspect.isfunction(vars(owner).get(name))
    if not needs_object:
        return getattr(owner, name)
    if isinstance(owner, type) and dataclasses.is_dataclass(owner):
        return getattr(object_of(owner), name)
    try:
        inspect.signature(owner).bind()
    except TypeError:
        raise UsageError(
            f"{owner.__name__}.{name} is a method, and {owner.__name__}() needs arguments",
            f"name a function that makes it: def f(x): return {owner.__name__}(...).{name}(x)",
        ) from None
    return getattr(owner(), name)


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path}", FORM)
    folder = path.parent.resolve()
    if (folder / "__init__.py").is_file():  # its imports may be relative
        return _in_package(path, folder)
    sys.path.insert(0, str(folder))
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_{len(sys.modules)}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None  # every .py file has one,
    assert spec.loader is not None  # and a loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    with _ends_refused(path):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _ends_refused(path: Path) -> Iterator[None]:
    """While a file is imported."""
    try:
        yield
    except SystemExit as end:
        raise UsageError(
            f"{path} ends the program where it is imported (exit code {end.code})",
            'put what it runs under if __name__ == "__main__":',
        ) from None


def _in_package(path: Path, folder: Path) -> ModuleType:
    """The module as its package calls it."""
    names = [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    with _ends_refused(path):
        module = importlib.import_module(".".join(names))
    if Path(str(module.__file__)).resolve() != path.resolve():
        raise UsageError(
            f"the package of {path} is called like another, of {module.__file__}",
            "rename its folder, or run from the folder of the other",
        )
    return module


def _load_module(name: str) -> ModuleType:
    if Path(name).is_file():
        raise UsageError(f"{name} is no file of Python: its name does not end in .py", FORM)
    if os.sep in name and Path(name).is_dir():
        raise UsageError(f"{name} is a folder", FORM)
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and misses another one
        raise UsageError(f"there is no module {name!r}", FORM) from None


def check_no_notebook(path: Path) -> None:
    """Raises UsageError for a notebook: it is a file, and no module."""
    if path.suffix == ".ipynb" and path.is_file():
        raise UsageError(
            f"{path} is a notebook, which is not imported",
            f"write it as a script: jupyter nbconvert --to script {path}; or call grad(f).source() "
            "in it",
        )


def _form_for(path: Path) -> str:
    """How to name a function, of a file if there is one."""
    return f"name one of its functions: {path}:FUNCTION" if path.is_file() else FORM


def _offer(owner: Any, module: ModuleType) -> str:
    """What could be named where a name is wrong: methods of a class, or functions of a module."""
    if inspect.isfunction(owner):
        return "functions that a function defines have no name outside: move them out of it"
    if inspect.isclass(owner):
        names = [name for name, value in vars(owner).items() if _is_method(name, value)]
        return f"{owner.__name__} has {', '.join(names) or 'no methods'}"
    names = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    return f"it has {', '.join(names)}" if names else FORM


def _is_method(name: str, value: Any) -> bool:
    return not name.startswith("__") and isinstance(
        value, (FunctionType, staticmethod, classmethod)
    )
