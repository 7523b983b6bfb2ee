"""Writes the statements of a driver as LLVM code.

out = empty(x.shape, np.float64)      PyArray_New; large ones by `empty`
f_kernel(x, out)                      PyObject_Vectorcall of what the module calls f_kernel
return out
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.backends.cpu.driver.allocate import ArrayAllocator
from tapeless.backends.cpu.driver.argument_checks import ObjectParts
from tapeless.backends.cpu.driver.python_c_api import NOTHING
from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT, WORD
from tapeless.backends.cpu.llvm.ir.values import LlvmUnsupportedError
from tapeless.backends.cpu.runtime.threads import FEWEST, PART

PURE = frozenset(["zeros", "ones", "full"])  # of NumPy or of ours: Python may call them again


class DriverBody(ArrayAllocator):
    """Writes the body of a driver.

    kernels  names of functions of the module that are compiled
    """

    kernels: frozenset[str]

    def body(self, function: ast.FunctionDef) -> None:
        for s in function.body:
            self.statement(s)
        if not isinstance(function.body[-1], ast.Return):
            raise LlvmUnsupportedError("a driver that returns nothing")

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=ast.Call() as e):
                self.value(e)
            case ast.Assign(targets=[target], value=e):
                self.assign(target, self.value(e))
            case ast.If(test=test, body=[ast.Raise()], orelse=[]):  # Python raises it
                self.require(self.builder.not_(self.test(test)))
            case ast.Return(value=e):
                self.give(NOTHING if e is None else self.object(self.value(e)))
            case _:
                raise LlvmUnsupportedError(type(s).__name__)

    def assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=parts):
                values = (
                    value if isinstance(value, tuple) else self.items_of_tuple(value, len(parts))
                )
                for part, x in zip(parts, values, strict=True):
                    self.assign(part, x)
            case _:
                raise LlvmUnsupportedError(type(target).__name__)

    def items_of_tuple(self, x: Any, count: int) -> list[ObjectParts]:
        """The items of a tuple that a kernel returned."""
        if not isinstance(x, ObjectParts) or x.parts is not None:
            raise LlvmUnsupportedError("what is unpacked")
        items = [self.api("PyTuple_GetItem", OBJECT, x.value, WORD(k)) for k in range(count)]
        return [ObjectParts(self.own(self.new_reference(item))) for item in items]

    # -- expressions

    def value(self, e: ast.expr) -> Any:
        match e:
            case ast.Constant(value=int() as n) if not isinstance(n, bool):
                return WORD(n)
            case ast.Constant(value=None | bool() | float() | str() as x):
                return ObjectParts(self.constant(x))
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Tuple(elts=parts):
                return tuple(map(self.value, parts))
            case ast.List(elts=parts):
                return ObjectParts(
                    self.sequence("List", [self.object(self.value(x)) for x in parts])
                )
            case ast.Dict(keys=keys, values=values):
                return self.mapping(keys, values)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self.matrix_product(self.value(left), self.value(right))
            case ast.BinOp():
                return self.arithmetic(e)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.negative(self.value(inner))
            case ast.Attribute(value=owner, attr="shape"):
                return self.array_of(owner)
            case ast.Attribute(value=owner, attr="T"):
                return self.transpose(self.value(owner))
            case ast.Attribute(value=owner, attr="size"):
                return self.product(self.array_of(owner))
            case ast.Attribute(value=ast.Name(id="np")) | ast.Name(id="bool"):
                return ObjectParts(self.constant(self.static(e)))
            case ast.Subscript(value=owner, slice=key):
                return self.part(self.value(owner), key)
            case ast.Call():
                return self.call_expression(e)
        raise LlvmUnsupportedError(type(e).__name__)

    def mapping(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> ObjectParts:
        entries = []
        for key, x in zip(keys, values, strict=True):
            if key is None:
                raise LlvmUnsupportedError("a dict in a dict")
            entries.append((self.object(self.value(key)), self.object(self.value(x))))
        return ObjectParts(self.dictionary(entries))

    def array_of(self, e: ast.expr) -> tuple[Any, ...]:
        x = self.value(e)
        if not isinstance(x, ObjectParts) or x.shape is None:
            raise LlvmUnsupportedError("the shape of what is no array")
        return x.shape

    def part(self, x: Any, key: ast.expr) -> Any:
        """A part of a container that is known, else what Python finds."""
        if isinstance(key, ast.Constant):
            parts = dict(enumerate(x)) if isinstance(x, tuple) else x.parts
            if parts is not None and key.value in parts:
                return parts[key.value]
        if not isinstance(x, ObjectParts) or x.shape is None:
            raise LlvmUnsupportedError("a part of what is no container")
        at = self.object(self.value(key))
        return ObjectParts(self.own(self.api("PyObject_GetItem", OBJECT, x.value, at)))

    def matrix_product(self, a: Any, b: Any) -> ObjectParts:
        if not isinstance(a, ObjectParts) or not isinstance(b, ObjectParts):
            raise LlvmUnsupportedError("a product of what are no arrays")
        product = self.own(self.api("PyNumber_MatrixMultiply", OBJECT, a.value, b.value))
        return ObjectParts(product, shape=self.shape_of_product(a, b))

    def large_product(self, a: Any, b: Any) -> ObjectParts:
        """A product in memory of the pool, by threads of ours."""
        if not isinstance(a, ObjectParts) or not isinstance(b, ObjectParts):
            raise LlvmUnsupportedError("a product of what are no arrays")
        product = self.call(self.looked_up(self.values, "matmul"), [a.value, b.value])
        return ObjectParts(product, shape=self.shape_of_product(a, b))

    def shape_of_product(self, a: ObjectParts, b: ObjectParts) -> tuple[Any, ...] | None:
        if a.shape is None or b.shape is None or max(len(a.shape), len(b.shape)) > 2:
            return None
        return (*a.shape[:-1], *b.shape[1:])

    def transpose(self, x: Any) -> ObjectParts:
        if not isinstance(x, ObjectParts) or x.shape is None:
            raise LlvmUnsupportedError("a view of what is no array")
        view = self.own(self.api("PyObject_GetAttr", OBJECT, x.value, self.constant("T")))
        return ObjectParts(view, shape=x.shape[::-1])

    def negative(self, x: Any) -> Any:
        if isinstance(x, ObjectParts):
            return ObjectParts(self.own(self.api("PyNumber_Negative", OBJECT, x.value)))
        return self.overflow_checked("ssub", WORD(0), self.number(x))

    # -- calls

    def call_expression(self, e: ast.Call) -> Any:
        match e:
            case ast.Call(func=ast.Name(id="len"), args=[x], keywords=[]):
                return self.array_of(x)[0]
            case ast.Call(func=ast.Name(id="int"), args=[x], keywords=[]):
                return self.size(x)
            case ast.Call(func=ast.Name(id="max" | "min" as name), args=[x, y], keywords=[]):
                return self.extreme(">" if name == "max" else "<", self.size(x), self.size(y))
            case ast.Call(func=ast.Name(id="empty"), args=[shape, dtype], keywords=[]):
                return self.empty(self.lengths(shape), self.static(dtype))
            case ast.Call(func=ast.Name(id="matmul"), args=[x, y], keywords=[]):
                return self.large_product(self.value(x), self.value(y))
            case ast.Call(func=ast.Name(id="zeros" | "full" as name), keywords=[]):
                return self.create_array(
                    self.looked_up(self.values, name), [*map(self.value, e.args)]
                )
            case ast.Call(func=ast.Name(id="copy_of"), args=[x], keywords=[]):
                return self.copy_of(self.value(x))
            case ast.Call(func=ast.Name(id="in_parallel"), args=args, keywords=named):
                return self.in_parallel(args, named)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in self.kernels:
                items = [self.object(self.value(a)) for a in args]
                return ObjectParts(self.call(self.looked_up(self.values, name), items))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), keywords=[]):
                if name in PURE:
                    function = self.constant(getattr(np, name))
                    return self.create_array(function, [*map(self.value, e.args)])
                if len(e.args) == 1:
                    return self.convert_to_class(self.static(e.func), self.value(e.args[0]))
        raise LlvmUnsupportedError("a call")

    def create_array(self, function: Any, args: Sequence[Any]) -> ObjectParts:
        """An array that a function makes of its shape, and fills."""
        shape = args[0] if isinstance(args[0], tuple) else (self.number(args[0]),)
        items = [*map(self.object, args)]
        return ObjectParts(self.call(function, items), shape=shape)

    def copy_of(self, x: Any) -> ObjectParts:
        """A copy of an array, in memory of the pool."""
        if not isinstance(x, ObjectParts) or x.shape is None:
            raise LlvmUnsupportedError("a copy of what is no array")
        array = self.call(self.looked_up(self.values, "copy_of"), [x.value])
        return ObjectParts(array, shape=x.shape)

    @staticmethod
    def static(e: ast.expr) -> Any:
        """A type of numbers."""
        match e:
            case ast.Attribute(value=ast.Name(id="np"), attr=name):
                numpy_type = getattr(np, name)
                if isinstance(numpy_type, type) and issubclass(numpy_type, np.generic):
                    return numpy_type
            case ast.Name(id="bool"):
                return bool
        raise LlvmUnsupportedError("what is no type of numbers")

    def lengths(self, e: ast.expr) -> tuple[Any, ...]:
        lengths = self.value(e)
        return tuple(map(self.number, lengths if isinstance(lengths, tuple) else (lengths,)))

    def convert_to_class(self, cls: type, x: Any) -> ObjectParts:
        """A number of a class of NumPy's; results of kernels mostly have it."""
        place, number = self.place(), self.object(x)

        def store_unchanged() -> None:
            self.builder.store(self.new_reference(number), place)

        def by_class() -> None:
            self.own(self.vectorcall(self.constant(cls), [number]), place)

        self.if_else(self.is_a(number, cls), store_unchanged, by_class)
        return ObjectParts(self.builder.load(place))

    # -- rows

    def in_parallel(self, args: Sequence[ast.expr], named: Sequence[ast.keyword]) -> ObjectParts:
        """A kernel for all its rows: for little work a call, else what `threads` makes of it."""
        match args:
            case [ast.Name(id=name), rows, work, *rest] if name in self.kernels:
                pass
            case _:
                raise LlvmUnsupportedError("rows of what is no kernel")
        place = self.place()
        count, each = self.size(rows), self.size(work)
        items = [self.object(self.value(a)) for a in rest]
        more = {str(k.arg): self.value(k.value) for k in named}
        kernel = self.looked_up(self.values, name)
        sizes = [self.python_int(count), self.python_int(each)]

        def at_once() -> None:
            own = [self.object(x) for key in ("own", "sums") for x in more.get(key, ())]
            kernel_args = [self.python_int(WORD(0)), sizes[0], *items, *own]
            self.own(self.vectorcall(kernel, kernel_args), place)

        def call_threads() -> None:
            others = {key: self.object(x) for key, x in more.items()}
            function = self.looked_up(self.values, "in_parallel")
            self.own(self.vectorcall(function, [kernel, *sizes, *items], others), place)

        little = self.builder.icmp_signed(
            "<", self.overflow_checked("smul", count, each), WORD(FEWEST * PART)
        )
        self.if_else(little, at_once, call_threads)
        return ObjectParts(self.builder.load(place))
