"""Enters special methods of users' classes, which Python calls by itself, like other functions, so
that they may branch on run-time values, and what they read and write is known.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Var
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.external_objects import ExternalObject
from tapeless.transforms.frontend.arrays.foreign_arrays import (
    as_array,
    decides,
    has_foreign,
    is_foreign,
    qualified_class,
    refuse_foreign,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, opposite
from tapeless.transforms.frontend.effects.exception_handlers import handling
from tapeless.transforms.frontend.effects.foreign_calls import refuse_foreign_store
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.iterators import Advancing, Once, refuse_outer_iterators
from tapeless.transforms.frontend.heap.lists import StagedList, as_list, taken_from
from tapeless.transforms.frontend.objects.attributes import watch_class
from tapeless.transforms.frontend.objects.fractions_as_floats import beside_fraction
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.own_attributes import is_own_class, own_attribute
from tapeless.transforms.frontend.trace.provenance import of_library, static_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import may_be_one, require_current
from tapeless.transforms.frontend.values.list_elements import places_in_one_list
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.appended_lists import Grown
from tapeless.transforms.prelude.containers.linked_lists import Part, Row

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
    "USub": "neg",
    "UAdd": "pos",
    "Invert": "invert",
}
#: Comparisons that the right operand is asked for where the left one does not know.
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
#: Classes whose objects are met most; none of them is a user's.
KNOWN = frozenset(
    (Symbol, StagedList, int, float, bool, complex, str, tuple, list, dict, set, range, slice)
) | {np.ndarray, np.float64, np.float32, np.int64, np.bool_, types.NoneType}


def foreign(value: Any) -> bool:
    """Whether a program that is traced passes an object on to the library that it is of."""
    return type(value) not in KNOWN and trace().observing and is_foreign(value)


def special(value: Any, name: str) -> types.FunctionType | None:
    """The method `name` of the class of a value, if a user wrote it."""
    if type(value) in KNOWN:
        return None
    method = static_attribute(type(value), name)
    if not isinstance(method, types.FunctionType) or method.__code__.co_filename == "<string>":
        return None  # dataclasses compare fields by code of theirs
    ordering = method.__module__ == "functools"  # total_ordering calls a user's method
    if not ordering and of_library(method):
        return None
    watch_class(type(value), name)
    return method


def method_of_all(value: Any, name: str) -> Any:
    """The method or property that all objects have of which run-time values say which one is
    meant, where lists keep such by number; None where it may be another one."""
    if not trace().decisions.codes or not isinstance(value, Either):
        return None
    options = value.options()
    cls = type(options[0])
    if any(type(o) is not cls or name in getattr(o, "__dict__", {}) for o in options):
        return None
    attribute = static_attribute(cls, name)
    method = attribute.fget if isinstance(attribute, property) else attribute
    if not isinstance(method, types.FunctionType) or of_library(method) or is_own_class(cls):
        return None
    if method.__code__.co_filename == "<string>":
        return None
    watch_class(cls, name)
    return attribute


def getter(obj: Any, name: str, attribute: Any, absent: bool) -> tuple[Any, ...] | None:
    """The user's code that an attribute is read by, with its arguments: that of a descriptor which
    the class has under this name, or `__getattr__`; `absent` where the object has none itself."""
    if attribute is not None and type(attribute) is not types.FunctionType:
        method = special(attribute, "__get__")
        if method is not None and (special(attribute, "__set__") or absent):
            return method, attribute, obj, type(obj)
    method = special(obj, "__getattr__")
    if method is None or attribute is not None or not absent:
        return None
    return method, obj, name


def setter(obj: Any, name: str, attribute: Any) -> tuple[Any, ...] | None:
    """The user's code that an attribute is set by, with its first arguments."""
    if attribute is not None and (method := special(attribute, "__set__")) is not None:
        return method, attribute, obj
    method = special(obj, "__setattr__")
    return None if method is None else (method, obj, name)


#: Operators that ask which of two values is larger, or whether they are equal.
COMPARING = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})


def binary(kind: str, left: Any, right: Any) -> Any:
    """left + right, and every other operator with two operands."""
    if kind in ("Is", "IsNot"):
        same = identical(left, right)
        return same if kind == "Is" else opposite(same)
    if foreign(left) or foreign(right):
        return call_outside(getattr(operator, OPERATORS[kind]), (left, right), {})
    if type(left) is Fraction or type(right) is Fraction:
        kind, left, right = beside_fraction(kind, left, right)
    name, left, right = OPERATORS[kind], as_list(left), _operand(left, as_list(right))
    for method, this, other in _operator_methods(name.rstrip("_"), left, right):
        result = trace().enter(method, this, other)
        if result is not NotImplemented:
            return result
    if kind in ("Add", "Mult"):
        left, right = _with_arrays(kind, left, right)
    cls: Any = type(left)
    if kind in ("Eq", "NotEq") and left is not right and cls.__eq__ is object.__eq__:
        trace().ask_identity(left, right)
    if kind in COMPARING or isinstance(left, (set, frozenset, dict)):
        trace().ask_compared(left, right)
    if kind == "NotEq" and special(left, "__eq__") and special(left, "__ne__") is None:
        return opposite(binary("Eq", left, right))
    try:
        result = getattr(operator, name)(_operand(right, left), right)
    except TypeError as e:
        raise _in_words_of_numpy(e, left, right) from None
    return trace().born(result) if type(result) in (set, dict) else result


def identical(left: Any, right: Any) -> Any:
    """left is right. What a loop carries or a test chose may be one of several arrays."""
    if not isinstance(left, Symbol) or not isinstance(right, Symbol):
        flag, other = (left, right) if isinstance(left, Symbol) else (right, left)
        if isinstance(flag, Symbol) and isinstance(other, bool):
            is_truth = flag.type.weak and flag.type.dtype.kind == "b"
            return is_truth and (flag if other else opposite(flag))
        if left is not right and (places := places_in_one_list(left, right)) is not None:
            return binary("Eq", *places)
        if left is not right and may_be_one(left, right):
            trace().undecided_identity("container")
        return left is right
    wholes, t = (_base_array(left), _base_array(right)), trace()
    if wholes[0] is wholes[1] or _same_cell(*wholes):
        if left.viewed_whole or right.viewed_whole:
            trace().undecided_identity("array")  # one may be a view that NumPy makes anew
        if left is right or _same_cell(left, right):
            return True
        if t.exact:
            trace().undecided_identity("array")  # a reference to all of it, or a view
    if all(x.type.dtype.kind == "b" and not x.mutable for x in (left, right)):
        if left.type.weak != right.type.weak:
            return False
        return apply(FUNCTIONS[np.equal], left, right)  # Python and NumPy have one True each
    if any(x.cell in t.memory.loans.places for x in (left, right) if x.cell is not None):
        trace().undecided_identity("array")  # an item of a list at a run-time index
    allocations = [x.cell.made for x in (left, right) if x.cell is not None]
    passed = [a for a in allocations if isinstance(a, Var) and a not in t.definitions]
    branch_dependent = any(a in t.loops.flows or t.parents.get(a, ("",))[0] == "if" for a in passed)
    views = left.cell is right.cell is None and _root(left) is _root(right)
    shared = None not in (left.cell, right.cell) and not t.memory.are_apart(left.cell, right.cell)
    if branch_dependent or views or len(passed) == 2 or shared:
        trace().undecided_identity("array")
    return False


def _base_array(array: Value) -> Value:
    """The array that a reference, or a view, shows all of."""
    while array.parent is not None and not array.chain:
        array = array.parent
    return array


def _same_cell(a: Value, b: Value) -> bool:
    return a.cell is not None and a.cell is b.cell


def _root(view: Value) -> Any:
    return view.cell if view.parent is None else _root(view.parent)


def _operand(beside: Any, value: Any) -> Any:
    """An operand, as an array's operators see it: an object that says which array it is, and claims
    no operators for itself, is that array."""
    cls = type(value)
    if not _is_numpys(beside) or special(value, "__array__") is None:
        return value
    claims = hasattr(cls, "__array_ufunc__") or getattr(cls, "__array_priority__", 0) > 0
    return value if claims else array_of(value)


def _is_numpys(value: Any) -> bool:
    """Whether it is an array or one of NumPy's scalars."""
    if isinstance(value, Symbol):
        return value.mutable or not value.type.weak
    return isinstance(value, (np.ndarray, np.generic))


def _with_arrays(kind: str, left: Any, right: Any) -> tuple[Any, Any]:
    """The operands of a sum or product, where one is a list: beside what is NumPy's it is taken for
    an array, but numbers of NumPy's repeat it."""
    for items, other in ((left, right), (right, left)):
        if not isinstance(items, (list, tuple)) or not _is_numpys(other):
            continue
        if kind == "Mult" and not _is_array(other):
            if other.dtype.kind not in "iu":
                name = f"numpy.{other.dtype.name}"
                raise TypeError(f"can't multiply sequence by non-int of type '{name}'")
            return items, other
        items = apply(FUNCTIONS[np.asarray], array_of(items))
        return (items, other) if other is right else (other, items)
    return left, right


def _is_array(value: Any) -> bool:
    return value.mutable if isinstance(value, Symbol) else isinstance(value, np.ndarray)


def _in_words_of_numpy(error: TypeError, *operands: Any) -> TypeError:
    """Python names the classes of operands, and a user has not heard of symbols."""
    symbols = [x for x in operands if isinstance(x, Symbol)]
    if not symbols or "Symbol" not in str(error):
        return error
    return TypeError(str(error).replace("Symbol", symbols[0].class_name()))


def _operator_methods(
    name: str, left: Any, right: Any
) -> list[tuple[types.FunctionType, Any, Any]]:
    """The methods of users that Python asks for the result of an operator, in this order."""
    mirrored = f"__{MIRRORED.get(name, 'r' + name)}__"
    asked = [(special(left, f"__{name}__"), left, right), (special(right, mirrored), right, left)]
    if type(left) is type(right) and name not in MIRRORED:
        asked.pop()
    elif type(left) is not type(right) and issubclass(type(right), type(left)):
        asked.reverse()
    return [(method, this, other) for method, this, other in asked if method is not None]


def inplace(kind: str, target: Any, value: Any) -> Any:
    """target += value, and every other operator that may change its target."""
    if isinstance(target, (Fraction, ExternalObject)) or type(value) is Fraction:
        return binary(kind, target, value)  # they never change
    if foreign(target):
        refuse_foreign_store(target)
    elif foreign(value):
        if not isinstance(target, np.ndarray) and not own_attribute(target, "mutable"):
            return binary(kind, target, value)
        raise UnsupportedError(
            f"an operation in place on an array, by an object of {qualified_class(value)}",
            "take the array that it holds, np.asarray(...), or write x = x + y for x += y",
        )
    name, target = OPERATORS[kind].rstrip("_"), as_list(target)
    value = _operand(target, as_list(value))
    repeats = kind == "Mult" and not _is_array(value)
    if type(target) in (list, StagedList) and _is_numpys(value) and not repeats:
        return binary(kind, target, value)  # NumPy's operators come before those of lists
    method = special(target, f"__i{name}__")
    result = NotImplemented if method is None else trace().enter(method, target, value)
    if result is not NotImplemented:
        return result
    if _operator_methods(name, target, value):
        return binary(kind, target, value)
    try:
        return getattr(operator, "i" + name)(target, value)
    except TypeError as e:
        raise _in_words_of_numpy(e, target, value) from None


def unary(kind: str, value: Any) -> Any:
    """-value, +value, ~value."""
    return call_special(f"__{OPERATORS[kind]}__", getattr(operator, OPERATORS[kind]), value)


def call_special(name: str, native: Any, value: Any, *args: Any) -> Any:
    """`native` of a value, by the user's method where there is one."""
    if foreign(value):
        return call_outside(native, (value, *args), {})
    method = special(value, name)
    return native(value, *args) if method is None else trace().enter(method, value, *args)


def array_of(value: Any) -> Any:
    """What NumPy makes of an object that says how, also of those in lists and tuples."""
    if type(value) in (list, tuple, StagedList) and own_attribute(value, "tail") is None:
        items = list(map(array_of, value))
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else items
    if isinstance(value, Part):
        return trace().enter(Part.lists, value)
    if foreign(value):
        return call_outside(np.asarray, (value,), {})
    method = special(value, "__array__")
    return value if method is None else trace().enter(method, value)


def operand_of(f: Any, value: Any) -> Any:
    """An argument of a function of NumPy or SciPy: the array that an object is taken for, or the
    object itself where its class says what the function gives of it."""
    passed_on = trace().observing and has_foreign(value) and decides(value, f)
    return value if passed_on else array_of(value)


def index_of(key: Any) -> Any:
    """An index of an array, where rows of growing lists are lists of their own, and
    objects of other libraries are arrays."""
    if isinstance(key, tuple):
        return tuple(map(index_of, key))
    if type(key) not in KNOWN and is_foreign(key):
        if not trace().observing:
            refuse_foreign(key, "the index")
        return array_of(key)
    return trace().enter(type(key).lists, key) if isinstance(key, (Part, Row)) else integer_of(key)


def integer_of(key: Any) -> Any:
    """An index, where an object says by its `__index__` which integer it is."""
    if isinstance(key, slice):
        bounds = (key.start, key.stop, key.step)
        integers = tuple(map(integer_of, bounds))
        same = all(a is b for a, b in zip(integers, bounds, strict=True))
        return key if same else slice(*integers)
    method = special(key, "__index__")
    return key if method is None else trace().enter(method, key)


def place_in(items: Any, key: Any) -> Any:
    """An index of a list or tuple, which no truth value of NumPy's is."""
    if isinstance(key, slice):
        if any(map(_is_numpy_truth, (key.start, key.stop, key.step))):
            what = "slice indices must be integers or None or have an __index__ method"
            raise TypeError(what)
    elif _is_numpy_truth(key):
        kind = "list" if isinstance(items, list) else type(items).__name__
        raise TypeError(f"{kind} indices must be integers or slices, not numpy.bool")
    return integer_of(key)


def _is_numpy_truth(key: Any) -> bool:
    if not isinstance(key, Symbol):
        return isinstance(key, np.bool_)
    return key.type.dtype.kind == "b" and not (key.type.shape or key.type.weak)


def truth_operand(value: Any) -> Any:
    """What decides whether an object is true."""
    if foreign(value):
        return call_outside(bool, (value,), {})
    for name in ("__bool__", "__len__"):
        method = special(value, name)
        if method is not None:
            return trace().enter(method, value)
        if type(value) not in KNOWN:
            watch_class(type(value), name)  # that it has none
    return value


def iterable_of(value: Any, whole: bool = False) -> Any:
    """An object that is run over: what its `__iter__` gives; `whole`: now, and to its end."""
    if value is None:
        raise TypeError("'NoneType' object is not iterable")
    if foreign(value):
        raise UnsupportedError(
            f"a loop over an object of {qualified_class(value)}",
            f"loop over indices, or over the rows of {as_array(value, '...')}",
        )
    method, iterator_method = special(value, "__iter__"), value
    if method is not None:
        value = trace().enter(method, value)
    if isinstance(value, Once):
        items = value.rest(whole)
        return taken_from(items, iterator_method) if isinstance(iterator_method, Grown) else items
    require_current(value)
    return (
        Advancing(given_by(value)) if special(value, "__next__") else refuse_outer_iterators(value)
    )


def given_by(iterator: Any) -> Iterator[Any]:
    """What an object with the user's `__next__` gives, one by one."""
    method = special(iterator, "__next__")
    while True:
        try:
            with handling(lambda: StopIteration):
                item = trace().enter(method, iterator)
        except StopIteration:
            return
        yield item
