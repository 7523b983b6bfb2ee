"""Writes a staged run as a module: parameters, results and the function between them."""

from __future__ import annotations

import ast
import copy
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapeless.transforms.analysis.structural_hash import whole_form
from tapeless.transforms.core.language import Block, Function, Program, Var
from tapeless.transforms.core.printer import show
from tapeless.transforms.core.user_names import CALLED
from tapeless.transforms.emit.expressions import usual_source
from tapeless.transforms.emit.writer import BUILTINS, called_by, emit_function
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.objects.derived_arrays import user_class
from tapeless.transforms.frontend.staging.results import (
    FilledList,
    NthObject,
    OfData,
    OfKnownKeys,
    OneOfTwo,
)
from tapeless.transforms.frontend.values.structure import Structure, deque_like, dict_like
from tapeless.transforms.ops.primitives.function_calls import calls
from tapeless.transforms.pipelines.array_form import array_form
from tapeless.transforms.prelude.numpy.derived_arrays import DerivedArray
from tapeless.transforms.prelude.numpy.masked_arrays import MaskedArray
from tapeless.transforms.python_text.python_source import quote

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def is_plain(spec: Structure) -> bool:
    """Whether a result can be written with Python's own containers and constants."""
    if spec.kind == "leaf":
        return True
    if spec.kind == "static":
        return type(spec.value) in PLAIN  # members of enumerations are numbers, too
    if isinstance(spec.value, FilledList):
        return _is_list(spec.value) and _is_row(spec.value.element)
    if isinstance(spec.kind, str):
        return False
    if isinstance(spec.value, OfKnownKeys):
        return False
    if isinstance(spec.value, OfData):
        lists = len(spec.children) > 2
        return spec.kind in (dict, set) and not lists and all(map(is_plain, spec.children))
    builtin = spec.kind in (tuple, dict, OneOfTwo) or issubclass(spec.kind, list)
    keys = spec.kind is not dict or all(type(k) in PLAIN for k in spec.keys)
    return builtin and keys and all(map(is_plain, spec.children))


def _is_list(rows: FilledList) -> bool:
    """Whether what loops filled is a list to the caller, and no deque."""
    return type(rows.like).of_python is StagedList.of_python


def _is_row(element: Structure) -> bool:
    """Whether elements of a list are numbers, or tuples or lists of one or more numbers."""
    if element.kind == "leaf":
        return True
    if isinstance(element.value, FilledList):  # lists of numbers, in one array
        inner = element.value
        return _is_list(inner) and inner.element.kind == "leaf" and all(inner.weak)
    plain = element.kind in (tuple, list, StagedList) and not isinstance(element.value, FilledList)
    parts = element.children if plain else ()
    return bool(parts) and all(c.kind == "leaf" for c in parts)


def result_text(spec: Structure, values: list[str]) -> str:
    texts = iter(values)
    return _text(spec, texts)


def _text(spec: Structure, texts: Any) -> str:
    if spec.kind == "leaf":
        return next(texts)  # type: ignore[no-any-return]
    if spec.kind == "static":
        return quote(spec.value)
    parts = [_text(c, texts) for c in spec.children]
    if isinstance(spec.value, FilledList):
        return _rows_text(spec.value, parts)
    if spec.kind is OneOfTwo:
        test, yes, no = parts
        yes = f"({yes})" if spec.children[1].kind is OneOfTwo else yes
        return f"{yes} if {test} else {no}"
    if isinstance(spec.value, OfData):
        whole = f"zip({', '.join(parts)})" if len(parts) > 1 else parts[0]
        return f"{spec.kind.__name__}({whole})"
    if spec.kind is dict:
        entries = [f"{quote(k)}: {v}" for k, v in zip(spec.keys, parts, strict=True)]
        return "{" + ", ".join(entries) + "}"
    if issubclass(spec.kind, list):
        return "[" + ", ".join(parts) + "]"
    return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"


def _rows_text(rows: FilledList, columns: list[str]) -> str:
    """A list of the elements of arrays."""
    columns = [x if _is_primary(x) else f"({x})" for x in columns]
    if isinstance(rows.element.value, FilledList):
        if rows.uneven:
            return f"[{_rows_text(rows.element.value, ['row'])} for row in {columns[0]}]"
        return f"{columns[0]}.tolist()"
    lists = [
        f"{x}.tolist()" if weak else f"list({x})"
        for x, weak in zip(columns, rows.weak, strict=True)
    ]
    if rows.element.kind == "leaf":
        return lists[0]
    items = f"zip({', '.join(lists)})"
    return f"list({items})" if rows.element.kind is tuple else f"list(map(list, {items}))"


def _is_primary(text: str) -> bool:
    """Whether an attribute can be asked of an expression as it is written."""
    e = ast.parse(text, mode="eval").body
    return isinstance(e, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))


def rebuild(
    spec: Structure, leaves: Any, held_objects: Sequence[Any] = (), objects: Any = None
) -> Any:
    """A result with other containers, from its leaves, and from objects that were there before;
    `objects`: those that the call made, by their number."""
    objects = {} if objects is None else objects
    if spec.kind == "leaf":
        return next(leaves)
    if spec.kind == "static":
        return spec.value
    if spec.kind == "copied":
        return copy.copy(spec.value)
    if spec.kind == "held":
        return held_objects[spec.value.number]
    if spec.kind == "again":
        return objects[spec.value.number]
    if isinstance(spec.value, FilledList):
        return _list_of(spec.value, [next(leaves) for _ in spec.children])
    instance = object.__new__(spec.kind) if _is_object(spec.kind) else None
    if isinstance(spec.value, NthObject):
        objects[spec.value.number] = instance
    children = [rebuild(c, leaves, held_objects, objects) for c in spec.children]
    if isinstance(spec.kind, type) and issubclass(spec.kind, DerivedArray):
        return _array_of_class(spec, children)
    if spec.kind is MaskedArray:
        data, mask = children
        return np.ma.array(data, mask=np.ma.nomask if mask is None else mask)
    if spec.kind is OneOfTwo:
        test, yes, no = children
        return yes if test else no
    if isinstance(spec.value, OfData):
        return spec.value.container(*children)
    if issubclass(spec.kind, dict):
        return dict_like(spec.value, dict(zip(spec.keys, children, strict=True)))
    if issubclass(spec.kind, deque):
        return deque_like(spec.value, children[1:])
    if hasattr(spec.kind, "_fields"):
        return spec.kind(*children)
    if issubclass(spec.kind, list):
        own = getattr(spec.value, "of_python", None)
        return children if own is None else own(children)
    if issubclass(spec.kind, tuple):
        return tuple(children)
    for name, child in zip(spec.keys, children, strict=True):
        object.__setattr__(instance, name, child)
    return instance


def _array_of_class(spec: Structure, children: list[Any]) -> Any:
    """An array of a class that is derived from np.ndarray, with its attributes."""
    values = dict(zip(spec.keys, children, strict=True))
    array = np.asarray(values.pop("__elements__")).view(user_class(spec.kind))
    for name, value in values.items():
        object.__setattr__(array, name, value)
    return array


def _is_object(kind: Any) -> bool:
    return not issubclass(kind, (dict, set, frozenset, deque, list, tuple))


def _list_of(rows: FilledList, columns: list[Any]) -> Any:
    """A list that loops filled, of the arrays of what its elements are made of."""
    pairs = zip(columns, rows.weak, strict=True)
    parts = [
        column.tolist() if weak and not isinstance(column, list) else list(column)
        for column, weak in pairs
    ]
    items = [rebuild(rows.element, iter(row)) for row in zip(*parts, strict=True)]
    return rows.like.of_python(items)


def flat_text(values: list[str]) -> str:
    return "(" + ", ".join(values) + ("," if len(values) == 1 else "") + ")"


Text = tuple[str, list[str], set[str]]  # of a function, its helpers, its imports


def called_functions(blocks: Iterable[Block], *names: str) -> dict[Function, Block]:
    """The functions that blocks call, and those that they call, with a name of its own each, which
    is none of `names`. What calls them is emitted afterwards."""
    bodies: dict[Function, Block] = {}
    seen: set[Function] = set()
    forms: dict[Any, Function] = {}  # those that compute the same are one
    pending = [f for block in blocks for f in calls(block)]
    taken = {*CALLED, *names}
    while pending:
        function = pending.pop(0)
        if function in seen:
            continue
        seen.add(function)
        block = array_form(function.block, len(function.block.results))
        first = forms.setdefault(whole_form(block), function)
        if first is not function:
            function.name = first.name
            continue
        function.name = unused_name(function.name, taken)
        taken.add(function.name)
        bodies[function] = block
        pending += calls(block)
    return bodies


def show_with_functions(name: str, block: Block) -> str:
    """A program as text, with the functions that it calls."""
    functions = called_functions([block], name).items()
    return "\n\n".join(
        [*(show(Program(f.name, b)) for f, b in functions), show(Program(name, block))]
    )


def unused_name(name: str, taken: Iterable[str]) -> str:
    taken, stem, k = set(taken), name, 1
    while name in taken:
        k += 1
        name = f"{stem}_{k}"
    return name


def function_text(name: str, block: Block, doc: str, result: Any = None) -> Text:
    """A function that takes the parameters of its block by their names, but for those of functions
    that it calls."""
    names: list[str] = []
    taken = called_by(block, usual_source) | BUILTINS
    for v in block.params:
        wish = v.name if v.name.isidentifier() else "t"
        names.append(unused_name(wish, taken.union(names)))
    unpack = list(zip(block.params, names, strict=True))
    signature = ", ".join(names)
    return emit_function(name, block, signature, unpack, result or plain_text, doc, set(names))


def plain_text(values: list[str]) -> str:
    return values[0] if len(values) == 1 else flat_text(values)


def write_module(
    name: str,
    block: Block,
    arguments: list[str],
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
) -> str:
    """The whole text of a module with one public function."""
    functions = [function_text(f.name, b, "") for f, b in called_functions([block], name).items()]
    main = emit_function(name, block, ", ".join(arguments), unpack, result, doc, set(arguments))
    return join_module([*functions, main])


def join_module(functions: list[Text]) -> str:
    text = [t for t, _, _ in functions]
    helpers = list(dict.fromkeys(h for _, hs, _ in functions for h in hs))
    imports = sorted({"import numpy as np", *(i for _, _, more in functions for i in more)})
    return "\n".join(imports) + "\n\n\n" + "\n\n\n".join([*helpers, *text]) + "\n"
