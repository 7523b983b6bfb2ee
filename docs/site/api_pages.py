"""Writes a page for each public module: its functions and classes, with signature and docstring.

The modules are imported, since many of their tables of names are computed.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import docstrings
import signatures
from mkdocs.structure.files import File, Files

import tapeless
from tapeless.dispatch.transformation import Transformed
from tapeless.numpy.array_functions import Function

FOLDER = "api"
#: A page of its own: what users call on the functions that they get.
METHODS = f"{FOLDER}/transformed-functions.md"
SHOWN = ("source", "save", "file", "stages", "explain", "profile", "plot", "clear_cache")


def on_config(config: Any) -> Any:
    """Puts the pages into the navigation, where it says `API: api/`."""
    pages = ["tapeless", *sorted(_modules(tapeless) - {"tapeless"})]
    entries = [{name: _uri(name)} for name in pages]
    entries.insert(1, {"Transformed functions": METHODS})
    config.nav = [{"API": entries} if "API" in each else each for each in config.nav]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages."""
    for name in _modules(tapeless):
        page = "\n\n".join(_page(importlib.import_module(name)))
        files.append(File.generated(config, _uri(name), content=page))
    files.append(File.generated(config, METHODS, content="\n\n".join(_methods())))
    return files


def _uri(module: str) -> str:
    return f"{FOLDER}/{module}.md"


def _modules(module: types.ModuleType) -> set[str]:
    """The names of a public module and of those in it."""
    inner = [value for value in _public(module).values() if inspect.ismodule(value)]
    ours = [each for each in inner if each.__name__.startswith(f"{module.__name__}.")]
    return {module.__name__}.union(*map(_modules, ours))


def _public(module: types.ModuleType) -> dict[str, Any]:
    """What a module offers: all that it names, or that is defined in it."""
    names = getattr(module, "__all__", None)
    if names is not None:
        return {name: getattr(module, name) for name in sorted(names, key=str.lower)}
    everything = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return {k: v for k, v in sorted(everything.items()) if _is_defined_in(module, v)}


def _is_defined_in(module: types.ModuleType, value: Any) -> bool:
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    return _is_ours(value) and (is_error or value.__module__ == module.__name__)


def _is_ours(value: Any) -> bool:
    home = getattr(value, "__module__", None) or ""
    return callable(value) and home.partition(".")[0] == "tapeless"


def _page(module: types.ModuleType) -> Iterator[str]:
    yield f"# {module.__name__}"
    yield docstrings.to_markdown(inspect.getdoc(module) or "")
    first = _first_name(module)
    if first != module.__name__:
        yield f"The names of [{first}]({first}.md)."
        return
    offered = {k: v for k, v in _public(module).items() if not inspect.ismodule(v)}
    described = {name: value for name, value in offered.items() if _is_ours(value) and _text(value)}
    for name, value in described.items():
        yield from _entry(name, value)
    yield from _without_text({k: v for k, v in offered.items() if k not in described})


def _without_text(offered: dict[str, Any]) -> Iterator[str]:
    """Lists: objects of a class of ours below what the class says, then all others."""
    names = defaultdict(list)
    for name, value in offered.items():
        names[_described_class(value)].append(f"`{name}`")
    others = names.pop(None, [])
    for kind, objects in names.items():
        yield f"## Of class {kind.__name__}"
        yield ", ".join(objects)
        yield docstrings.to_markdown(_text(kind))
    if others:
        yield "## Others"
        yield f"Functions of NumPy and SciPy, types, and values: {', '.join(others)}."


def _described_class(value: Any) -> Any:
    """The class of an object of ours; None for functions of NumPy and SciPy, and other objects."""
    kind = type(value)
    known = _is_ours(kind) and _text(kind) and not isinstance(value, Function)
    return kind if known else None


def _first_name(module: types.ModuleType) -> str:
    """The shortest name of a module that offers the same."""
    last = module.__name__.rpartition(".")[2]
    other = getattr(tapeless, last, None) if last in tapeless.MODULES else None
    same = other is not None and _public(other) == _public(module)
    return other.__name__ if same else module.__name__


def _text(value: Any) -> str:
    """The docstring; "" where it is that of the object's type."""
    text = inspect.getdoc(value) or ""
    inherited = not inspect.isclass(value) and text == inspect.getdoc(type(value))
    return "" if inherited else text


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}"
    signature = signatures.shown(name, value)
    if signature:
        yield f"```python\n{signature}\n```"
    yield docstrings.to_markdown(_text(value))


def _methods() -> Iterator[str]:
    """What all transformed functions have."""
    yield "# Transformed functions"
    yield "What `grad`, `vmap`, `jit` and the others return is called like a function, and has:"
    for name in SHOWN:
        yield from _entry(name, getattr(Transformed, name))
