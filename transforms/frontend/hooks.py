"""The hooks that rewritten code calls: names, attributes, stores and calls during a staged run."""

from __future__ import annotations

import builtins
import functools
import operator
import string
import sys
import types
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Var
from tapeless.transforms.errors import Signal, StructureError, TapelessError, UnsupportedError
from tapeless.transforms.frontend import builtins_, capture
from tapeless.transforms.frontend.applied import applied
from tapeless.transforms.frontend.branches import branch, choose, short_circuit
from tapeless.transforms.frontend.cells import undefined
from tapeless.transforms.frontend.dependence import can_be_known
from tapeless.transforms.frontend.desugar import RESULT
from tapeless.transforms.frontend.effects import Template, raise_
from tapeless.transforms.frontend.loops import for_loop, while_loop
from tapeless.transforms.frontend.rewrite import known_codes, rewritten
from tapeless.transforms.frontend.rolling import Unrollable
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import (
    BoundRule,
    Symbol,
    apply,
    atoms,
    call_numpy,
    constant,
    store_into,
    wrap,
)
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.values import (
    AttributeLocation,
    ClosureLocation,
    ContentsLocation,
    FrameLocation,
    GlobalLocation,
    contains_symbol,
)
from tapeless.transforms.ops import creation
from tapeless.transforms.ops.table import FUNCTIONS, WRITERS

SIGNALS = (TapelessError, Signal)
LIBRARIES = frozenset(sys.stdlib_module_names) - {"__main__", "this", "antigravity"} | {
    "numpy",
    "scipy",
    "optree",
    "rich",
    "numba",
    "pytest",
    "_pytest",
}
OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "MatMult": "matmul",
    "BitAnd": "and_",
    "BitOr": "or_",
    "BitXor": "xor",
    "LShift": "lshift",
    "RShift": "rshift",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
    "Eq": "eq",
    "NotEq": "ne",
    "Is": "is_",
    "IsNot": "is_not",
}
MUTATORS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "intersection_update",
        "difference_update",
        "symmetric_difference_update",
        "appendleft",
        "popleft",
    ]
)
STAGED_ALWAYS = frozenset(creation.NUMPY)


class Frame:
    """The local variables of one call of a rewritten function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get(name, self) is value:
            return
        trace().touch(FrameLocation(self, name))
        if (
            type(value) is Symbol
            and value.cell is not None
            and isinstance(value.cell.atom, Var)
            and not value.cell.atom.name
            and name != RESULT
        ):
            value.cell.atom.name = name
        self.__dict__.get(" diverged", {}).pop(name, None)
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        diverged = self.__dict__.get(" diverged", {})
        if name in diverged:
            raise StructureError(diverged[name].reason, diverged[name].hint)
        raise undefined(name)


class Hooks:
    """The hooks of one function: they know where its names come from."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.closure = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    # -- names

    def frame(self, name: str) -> Frame:
        return trace().born(Frame())  # type: ignore[no-any-return]

    def result(self, frame: Frame) -> Any:
        value = getattr(frame, RESULT)
        if isinstance(value, Symbol) and value.undefined is not None:
            value.undefined = None
        return value

    def load(self, name: str) -> Any:
        cell = self.closure.get(name)
        if cell is not None:
            try:
                value = cell.cell_contents
            except ValueError:
                raise NameError(
                    f"cannot access free variable '{name}' where it is not associated with a value"
                ) from None
            return capture.outer(value, lambda: cell.cell_contents, name)
        values = self.function.__globals__
        if name in values:
            return capture.outer(values[name], lambda: values[name], name)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name '{name}' is not defined")

    def store_outer(self, name: str, value: Any) -> None:
        cell = self.closure.get(name)
        location = (
            ClosureLocation(cell, name)
            if cell is not None
            else GlobalLocation(self.function.__globals__, name)
        )
        trace().touch(location)
        location.set(value)

    def assign(self, frame: Frame, name: str, value: Any) -> Any:
        setattr(frame, name, value)
        return value

    def delete_name(self, frame: Frame, name: str) -> None:
        getattr(frame, name)
        trace().touch(FrameLocation(frame, name))
        del frame.__dict__[name]

    def super_(self, owner: str, this: Any) -> Any:
        for cls in (this if isinstance(this, type) else type(this)).__mro__:
            if cls.__name__ == owner:
                return super(cls, this)
        raise TypeError("super(): no such class")

    # -- attributes and items

    def attr(self, obj: Any, name: str) -> Any:
        if isinstance(obj, (Symbol, types.ModuleType)):
            return getattr(obj, name)
        found = _static_attribute(type(obj), name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            return self.call(found.fget, obj)
        if isinstance(found, functools.cached_property) and name not in getattr(
            obj, "__dict__", {}
        ):
            value = self.call(found.func, obj)
            self.set_attr(obj, name, value)
            return value
        value = getattr(obj, name)
        if (
            isinstance(value, (types.MethodType, types.BuiltinMethodType))
            or isinstance(obj, super)
            or callable(value)
        ):
            return value
        if trace().birth(obj) or isinstance(obj, Frame):
            return value
        return capture.outer(value, lambda: getattr(obj, name), f"{_name_of(obj)}.{name}")

    def set_attr(self, obj: Any, name: str, value: Any) -> None:
        found = _static_attribute(type(obj), name)
        if isinstance(found, property) and found.fset is not None:
            self.call(found.fset, obj, value)
            return
        if not isinstance(obj, Symbol):
            trace().touch(AttributeLocation(obj, name))
        setattr(obj, name, value)

    def item(self, obj: Any, key: Any) -> Any:
        if isinstance(obj, np.ndarray) and contains_symbol(key):
            return wrap(constant(obj))[key]
        return obj[key]

    def set_item(self, obj: Any, key: Any, value: Any) -> None:
        if isinstance(obj, (list, dict)):
            trace().touch(ContentsLocation(obj))
        obj[key] = value

    def delete_item(self, obj: Any, key: Any) -> None:
        if isinstance(obj, (list, dict)):
            trace().touch(ContentsLocation(obj))
        del obj[key]

    def delete_attr(self, obj: Any, name: str) -> None:
        trace().touch(AttributeLocation(obj, name))
        delattr(obj, name)

    def slice(self, start: Any, stop: Any, step: Any) -> slice:
        return slice(start, stop, step)

    def new(self, container: Any) -> Any:
        return trace().born(StagedList(container) if isinstance(container, list) else container)

    def bind(self, frame: Frame, pattern: Any, value: Any) -> None:
        """Binds the target of a comprehension: a name, or a tuple of patterns; '*name' takes the rest."""
        if isinstance(pattern, str):
            setattr(frame, pattern, value)
            return
        star = next(
            (k for k, p in enumerate(pattern) if isinstance(p, str) and p.startswith("*")), -1
        )
        parts = list(self.unpack(value, len(pattern), star))
        if star >= 0:
            parts = list(self.unpack_star(parts, len(pattern), star))
        if len(parts) != len(pattern):
            raise ValueError(
                f"not enough or too many values to unpack (expected {len(pattern)}, got {len(parts)})"
            )
        for p, v in zip(pattern, parts, strict=True):
            self.bind(frame, p.removeprefix("*") if isinstance(p, str) else p, v)

    def unpack(self, value: Any, n: int, star: int) -> Any:
        if (
            isinstance(value, Symbol)
            and star < 0
            and value.type.shape
            and not isinstance(value.type.shape[0], int)
        ):
            value.shape[0].__index__()
        return value

    def unpack_star(self, value: Any, n: int, star: int) -> Any:
        parts = list(value)
        after = n - star - 1
        return (*parts[:star], parts[star : len(parts) - after], *parts[len(parts) - after :])

    def iterate(self, value: Any) -> Any:
        return value

    # -- operators

    def inplace(self, kind: str, target: Any, value: Any) -> Any:
        name = OPERATORS[kind]
        if isinstance(target, (list, dict, set)):
            trace().touch(ContentsLocation(target))
        if isinstance(target, np.ndarray):
            raise UnsupportedError(
                "an array that was made outside of the program is overwritten", "copy it first"
            )
        return getattr(operator, "i" + name.rstrip("_"))(target, value)

    def inplace_item(self, kind: str, obj: Any, key: Any, value: Any) -> None:
        if isinstance(obj, Symbol):
            key = _fixed(key)
            old = obj[key]
            new = getattr(operator, OPERATORS[kind])(old, value())
            if isinstance(old, Symbol) and old.mutable:
                store_into(
                    old if old.parent is not None else obj, new
                ) if old.parent is not None else obj.__setitem__(key, new)
                return
            obj[key] = new
            return
        self.set_item(obj, key, self.inplace(kind, self.item(obj, key), value()))

    def inplace_attr(self, kind: str, obj: Any, name: str, value: Any) -> None:
        self.set_attr(obj, name, self.inplace(kind, self.attr(obj, name), value()))

    def not_(self, value: Any) -> Any:
        if isinstance(value, Symbol):
            return (
                apply(FUNCTIONS[np.logical_not], value)
                if value.type.dtype.kind == "b"
                else value == 0
            )
        if isinstance(value, StagedList) and value.tail is not None:
            return value.length() == 0
        return not value

    def and_(self, *parts: Any) -> Any:
        return short_circuit(parts, True)

    def or_(self, *parts: Any) -> Any:
        return short_circuit(parts, False)

    def compare(self, left: Any, kinds: tuple[str, ...], *rights: Any) -> Any:
        def one(left: Any, k: int) -> Any:
            right = rights[k]()
            test = getattr(operator, OPERATORS[kinds[k]])(left, right)
            if k + 1 == len(kinds):
                return test
            return short_circuit((lambda: test, lambda: one(right, k + 1)), True)

        return one(left, 0)

    def contains(self, item: Any, container: Any, negate: bool) -> Any:
        if isinstance(container, Symbol) or (
            contains_symbol(item) and isinstance(container, (list, tuple, range, set))
        ):
            if isinstance(container, range) and container.step == 1:
                found = short_circuit(
                    (lambda: item >= container.start, lambda: item < container.stop), True
                )
            else:
                options = [container] if isinstance(container, Symbol) else list(container)
                found = functools.reduce(
                    lambda a, b: apply(FUNCTIONS[np.logical_or], a, b),
                    [item == c for c in options],
                    False,
                )
                if isinstance(container, Symbol):
                    found = apply(FUNCTIONS[np.any], found)
        else:
            found = item in container
        return self.not_(found) if negate else found

    # -- control flow

    def if_(self, test: Any, then: Any, orelse: Any) -> None:
        branch(test, then, orelse)

    def if_expression(self, test: Any, then: Any, orelse: Any) -> Any:
        return choose(test, then, orelse)

    def for_(
        self, iterable: Any, body: Any, frame: Frame, stop: str | None, name: str = ""
    ) -> None:
        for_loop(iterable, body, frame, stop, name)

    def while_(self, test: Any, body: Any, frame: Frame, stop: str | None) -> None:
        while_loop(test, body, frame, stop)

    def comprehension(self, kind: str, made: Any) -> Any:
        return builtins_.comprehension(kind, made)

    def enter(self, manager: Any) -> Any:
        start = getattr(type(manager), "__enter__", None)
        users = isinstance(start, types.FunctionType) and not _of_library(start)
        return _Managed(self, manager) if users else manager

    @property
    def signals(self) -> tuple[type[BaseException], ...]:
        """What no except clause of the user's may catch."""
        return SIGNALS

    @contextmanager
    def trying(self, kinds: Any) -> Iterator[None]:
        """The body of a try statement; `kinds` gives the exceptions that it catches."""
        t = trace()
        t.handlers.append((len(t.journals), kinds))
        try:
            yield
        finally:
            t.handlers.pop()

    def raise_(self, exc: Any, cause: Any = None) -> None:
        raise_(exc, cause)

    def assert_(self, test: Any, message: Any) -> None:
        if isinstance(test, Symbol):

            def fail() -> None:
                text = message()
                raise_(AssertionError() if text is None else AssertionError(text))

            branch(test, lambda: None, fail)
        elif not test:
            text = message()
            raise_(AssertionError() if text is None else AssertionError(text))

    def format(self, *parts: Any) -> Any:
        flat: list[Any] = []
        for p in parts:
            if isinstance(p, str):
                flat.append(p)
                continue
            value, conversion, spec = p
            if contains_symbol(value) or isinstance(value, Template):
                flat.append((value, conversion, spec))
            else:
                shown = {-1: lambda v: v, 114: repr, 115: str, 97: ascii}[conversion](value)
                flat.append(builtins.format(shown, spec))
        if all(isinstance(p, str) for p in flat):
            return "".join(flat)
        return Template(tuple(flat))

    # -- calls

    def call(self, f: Any, *args: Any, **kwargs: Any) -> Any:

        staged = getattr(type(f), "__staged_call__", None)
        if staged is not None:
            return staged(f, *args, **kwargs)
        if isinstance(f, BoundRule):
            return f(*args, **kwargs)
        if _hashable(f):
            if f in builtins_.BUILTINS:
                return builtins_.BUILTINS[f](self, *args, **kwargs)
            if (staged := applied(f)) is not None:
                return staged(self, *args, **kwargs)
        if isinstance(f, types.MethodType):
            return self.call_method(f, args, kwargs)
        if isinstance(f, types.FunctionType):
            return self.call_function(f, args, kwargs)
        if isinstance(f, functools.partial):
            return self.call(f.func, *f.args, *args, **{**f.keywords, **kwargs})
        if isinstance(f, type):
            return self.construct(f, args, kwargs)
        if isinstance(f, functools._lru_cache_wrapper):
            return self.call(f.__wrapped__, *args, **kwargs)
        if isinstance(
            f, (np.ufunc, types.BuiltinFunctionType, types.BuiltinMethodType)
        ) or _is_numpy(f):
            return self.call_native(f, args, kwargs)
        method = getattr(type(f), "__call__", None)
        if isinstance(method, types.FunctionType):
            return self.call_function(method, (f, *args), kwargs)
        return self.call_native(f, args, kwargs)

    def call_method(
        self, f: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if isinstance(f.__self__, Symbol):
            return f(*args, **kwargs)
        if isinstance(f.__self__, STATEFUL):
            return self.call_native(f, args, kwargs)
        if isinstance(f.__self__, StagedList) and f.__name__ in MUTATORS:
            trace().touch(ContentsLocation(f.__self__))
            return f(*args, **kwargs)
        if isinstance(f.__func__, types.FunctionType):
            return self.call_function(f.__func__, (f.__self__, *args), kwargs)
        return self.call(f.__func__, f.__self__, *args, **kwargs)

    def call_function(
        self, f: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if _is_numpy(f):
            return self.call_native(f, args, kwargs)
        if f.__code__ in known_codes:
            return f(*args, **kwargs)
        return self.call_native(f, args, kwargs) if _of_library(f) else enter(f, args, kwargs)

    def construct(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        init = cls.__init__  # type: ignore[misc]
        plain = (
            isinstance(init, types.FunctionType)
            and cls.__new__ is object.__new__
            and type(cls).__call__ is type.__call__
        )
        root = (cls.__module__ or "").partition(".")[0]
        if (
            plain
            and root not in LIBRARIES
            and init.__code__.co_filename != "<string>"
            and "__dataclass_fields__" not in cls.__dict__
        ):
            made = trace().born(object.__new__(cls))
            self.call_function(init, (made, *args), kwargs)
            return made
        if isinstance(cls, type) and issubclass(cls, np.generic):
            return (
                apply(FUNCTIONS[np.asarray], args[0], cls)
                if contains_symbol(args)
                else cls(*args, **kwargs)
            )
        if issubclass(cls, BaseException) and contains_symbol(args):
            made = cls.__new__(cls)
            made.args = args
            return made
        return trace().born(cls(*args, **kwargs))

    def call_native(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function that is known by rule, or is run as it is."""
        symbolic = contains_symbol(args) or contains_symbol(kwargs)
        name = getattr(f, "__name__", "")
        this = getattr(f, "__self__", None)
        if isinstance(this, str) and name == "format" and symbolic:
            return _format_method(this, args, kwargs)
        if isinstance(this, (list, dict, set, deque)) and not isinstance(f, type):
            if name in MUTATORS:
                trace().touch(ContentsLocation(this))
            return f(*args, **kwargs)
        if isinstance(this, STATEFUL):
            self.advance(this)
        elif _impure(f):
            raise UnsupportedError(
                f"{_qualified(f)} gives other values at each call, and would be frozen by staging",
                "pass its values in as arguments",
            )
        if _is_numpy(f) or (_hashable(f) and f in FUNCTIONS):
            arrays = any(isinstance(a, np.ndarray) for a in (*args, *kwargs.values()))
            known = _hashable(f) and (f in FUNCTIONS or f in WRITERS)
            if symbolic or (known and (f in STAGED_ALWAYS or arrays)):
                return call_numpy(f, args, dict(kwargs))
        made = _opaque(f, args, kwargs) if symbolic else f(*args, **kwargs)
        if isinstance(made, np.ndarray) and made.dtype.kind in "fc":
            return Symbol(constant(made))
        return trace().born(made) if isinstance(made, STATEFUL) else made

    def advance(self, owner: Any) -> None:
        """A generator of random numbers or an iterator is used: only where the program runs as written."""
        t = trace()
        if not t.birth(owner):
            raise UnsupportedError(
                f"{type(owner).__name__} objects from outside give other values at each call, and would be frozen by staging",
                "pass the values in as arguments",
            )
        if t.rolling:
            raise Unrollable("it draws from a generator that is made outside of it")
        if len(t.journals) > 1:
            raise UnsupportedError(
                "a generator is used in a branch that depends on data", "draw before the branch"
            )


STATEFUL = (np.random.RandomState, np.random.Generator)


def enter(f: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs the rewritten form of a user's function."""
    t = trace()
    depth = t.entered[f.__code__] = t.entered.get(f.__code__, 0) + 1
    try:
        if depth > 1 and t.tests:
            _need_depth(f, depth)
        return rewritten(f, Hooks(f))(*args, **kwargs)
    finally:
        t.entered[f.__code__] = depth - 1


DEEP = (
    30  # a function that enters itself so often under undecided tests is taken to recurse on them
)


def _need_depth(f: types.FunctionType, depth: int) -> None:
    """A recursion whose end depends on tests: those that depend on integer inputs are made known."""
    t = trace()
    why = f"{f.__name__} calls itself under a test, so the test must be known while staging"
    for test in t.tests:
        if can_be_known(test):
            raise NeedStatic(test, why)
    if depth <= DEEP:
        return
    if t.rolling:
        raise Unrollable(f"{f.__name__} calls itself to a depth that differs from pass to pass")
    raise UnsupportedError(
        f"{f.__name__} calls itself to a depth that depends on the contents of arrays",
        "write it as a loop",
    )


class _Managed:
    """A user's context manager whose methods are rewritten."""

    def __init__(self, hooks: Hooks, manager: Any) -> None:
        self.hooks, self.manager = hooks, manager

    def __enter__(self) -> Any:
        return self.hooks.call(type(self.manager).__enter__, self.manager)

    def __exit__(self, *what: Any) -> Any:
        handled = self.hooks.call(type(self.manager).__exit__, self.manager, *what)
        return handled and not isinstance(what[1], SIGNALS)


def _format_method(text: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    parts: list[Any] = []
    position = 0
    for literal, field, spec, conversion in string.Formatter().parse(text):
        parts.append(literal)
        if field is None:
            continue
        key: Any = field
        if not field:
            key, position = position, position + 1
        value = args[int(key)] if isinstance(key, int) or key.isdigit() else kwargs[key]
        parts.append((value, ord(conversion) if conversion else -1, spec or ""))
    return Hooks.format(None, *parts)  # type: ignore[arg-type]


def _fixed(key: Any) -> Any:
    """A key whose symbols do not change between the load and the store of `x[key] += v`."""
    return wrap(atoms(key)) if isinstance(key, (Symbol, tuple)) and contains_symbol(key) else key


def _opaque(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs a function that has no rule on symbols, which it may pass on but not look into."""
    try:
        return f(*args, **kwargs)
    except TapelessError:
        raise
    except (TypeError, AttributeError) as e:
        raise UnsupportedError(
            f"{_qualified(f)} has no rule, and cannot take a value that is known only when the"
            f" program runs ({e})",
            "write it with NumPy functions, or call it outside and pass in what it gives",
        ) from e


def _of_library(f: Any) -> bool:
    """Whether a function is no user's, and is run as it is."""
    return (f.__module__ or "").partition(".")[0] in LIBRARIES | {"tapeless"}


def _hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True


def _is_numpy(f: Any) -> bool:
    if isinstance(f, np.ufunc):
        return True
    return (getattr(f, "__module__", None) or "").partition(".")[0] in (
        "numpy",
        "scipy",
    ) and not isinstance(f, type)


def _qualified(f: Any) -> str:
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return f"{type(owner).__module__}.{type(owner).__name__}.{f.__name__}"
    return f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', f)}"


def _impure(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    module = getattr(f, "__module__", None) or ""
    return module in ("time", "random", "secrets") or type(owner).__module__ == "random"


def _static_attribute(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _name_of(obj: Any) -> str:
    return getattr(obj, "__name__", type(obj).__name__.lower())
