"""Rewrites the tree of a user's function so that control flow, calls and stores go through hooks.

    def f(x):                            def f(x):
        if x > 0:                            v0 = hooks.frame(); v0.x = x
            y = np.sin(x)        becomes     def then_1():
        else:                                    v0.y = hooks.call(...)  # np.sin
            y = x                            def else_1(): v0.y = v0.x
        return y                             hooks.if_(v0.x > 0, then_1, else_1)
                                             v0.return_value = v0.y
                                             return hooks.result(v0)

Local variables live on a frame object, so that a branch can be run and undone. Positions stay the
user's.
"""

from __future__ import annotations

import ast
import re
import types
from typing import Any

from tapeless.transforms.frontend.source import find
from tapeless.transforms.frontend.source.push_form import push_form
from tapeless.transforms.frontend.source.rewrite_statements import Rewriter
from tapeless.transforms.frontend.source.tree_building import (
    HOOKS,
    TYPE_PARAMS,
    name_node,
    plain_arguments,
)

#: In qualified names: the function that gives the hooks, and those of branches and loops.
PUT_AROUND = re.compile(r"^factory\.<locals>\.|\.<locals>\.\.[^.]*")
_rewritten: dict[tuple[Any, ...], types.CodeType] = {}


class RewrittenCodes:
    """Maps rewritten code, also of functions inside, to the code of the function that was
    rewritten: by identity, as a dictionary of code hashes all of its instructions at each look-up.

    >>> codes = RewrittenCodes()
    >>> new, old = (compile(text, "file", "exec") for text in ("x", "y"))
    >>> codes[new] = old
    >>> new in codes, old in codes, codes[new] is old
    (True, False, True)
    """

    def __init__(self) -> None:
        self._originals: dict[int, tuple[types.CodeType, types.CodeType]] = {}

    def __setitem__(self, code: types.CodeType, original: types.CodeType) -> None:
        self._originals[id(code)] = code, original  # which keeps the code, and so its identity

    def __contains__(self, code: types.CodeType) -> bool:
        return id(code) in self._originals

    def __getitem__(self, code: types.CodeType) -> types.CodeType:
        return self._originals[id(code)][1]


known_codes = RewrittenCodes()


def rewritten(
    function: types.FunctionType, hooks: Any, leaves: bool | None = None
) -> types.FunctionType:
    """`function` with hooks in the place of control flow, calls and stores.

    leaves  of a generator function that hands its items on: whether it may be told to return
    """
    key: tuple[Any, ...] = (function.__code__, function.__code__.co_filename)  # code of two files
    key += () if leaves is None else (leaves,)  # may be equal
    code = _rewritten.get(key)
    if code is None:
        code = _rewritten[key] = _compile(function, leaves)
    function_made = types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(types.CellType(hooks) for _ in code.co_freevars),
    )
    function_made.__kwdefaults__ = function.__kwdefaults__
    function_made.__qualname__ = function.__qualname__
    return function_made


def is_rewritten(function: Any) -> bool:
    """Whether a function was run in its rewritten form in this process."""
    code = getattr(function, "__code__", None)
    return code is not None and (code, code.co_filename) in _rewritten


def rewritten_text(function: types.FunctionType) -> str:
    """The text of a rewritten function; its own variables have names that no variable can have."""
    return ast.unparse(ast.fix_missing_locations(_tree(function, None)[0]))


def _tree(function: types.FunctionType, leaves: bool | None) -> tuple[ast.FunctionDef, str]:
    definition = find.read(function)
    node = definition.node
    if leaves is not None and isinstance(node, ast.FunctionDef):
        node = push_form(node, leaves)
    owner = function.__qualname__.split(".")[-2:-1]
    rewriter = Rewriter(definition.file, owner[0] if owner and owner[0] != "<locals>" else "")
    return rewriter.function(node), definition.file


def _compile(function: types.FunctionType, leaves: bool | None) -> types.CodeType:
    tree, file = _tree(function, leaves)
    factory = ast.FunctionDef(
        name="factory",
        args=plain_arguments([HOOKS]),
        body=[tree, ast.Return(name_node(tree.name))],
        decorator_list=[],
        returns=None,
        **TYPE_PARAMS,
    )
    module = ast.fix_missing_locations(ast.Module([factory], []))
    code = compile(module, file, "exec", dont_inherit=True)
    inner = _child(_child(code, "factory"), tree.name)
    compiled = _with_qualified_names(
        inner.replace(co_name=function.__name__), function.__code__.co_qualname
    )
    _register(compiled, function.__code__)
    return compiled


def _with_qualified_names(code: types.CodeType, outermost: str) -> types.CodeType:
    """The code with the qualified names that the user's functions and classes have, which Python's
    errors show: without those of the functions that were put around them."""
    name = PUT_AROUND.sub("", code.co_qualname)
    _, dot, rest = name.partition(".")
    qualified = f"{outermost}{dot}{rest}"
    parts = (
        _with_qualified_names(c, outermost) if isinstance(c, types.CodeType) else c
        for c in code.co_consts
    )
    consts = tuple(qualified if c == code.co_qualname else c for c in parts)
    return code.replace(co_consts=consts, co_qualname=qualified)


def _child(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _register(code: types.CodeType, of: types.CodeType) -> None:
    known_codes[code] = of
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            _register(c, of)
