"""Unpacks and tests arguments in machine code: those of the signature are taken, others are not.

f(params=[(w, b)], x)      list of 1? tuple of 2? arrays of these dtypes, ranks and lengths?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.backends.cpu.driver.argument_forms import (
    ArgumentForm,
    ArrayForm,
    DictForm,
    LeafForm,
    SequenceForm,
)
from tapeless.backends.cpu.driver.python_c_api import (
    INT,
    LIST_ITEMS,
    OBJECTS,
    TUPLE_ITEMS,
    CApiFunction,
)
from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT, WORD
from tapeless.backends.cpu.llvm.ir.ir_helpers import variable
from tapeless.backends.cpu.runtime import struct_offsets as offsets
from tapeless.transforms.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class ObjectParts:
    """An object: its parts if it is a container, its lengths if it is an array."""

    value: Any
    parts: dict[Any, ObjectParts] | None = None
    shape: tuple[Any, ...] | None = None
    kind: type | None = None


class UnpackedArguments(CApiFunction):
    """`leaves` are the numbered parts of the arguments."""

    def __init__(self, module: Any, symbol: str, missed: Any) -> None:
        super().__init__(module, symbol, missed)
        self.leaves: dict[int, ObjectParts] = {}

    def arguments(self, forms: Sequence[ArgumentForm]) -> list[ObjectParts]:
        self.require(self.builder.icmp_signed("==", self.count, WORD(len(forms))))
        return [self.take(self.load_pointer(self.args, k), x) for k, x in enumerate(forms)]

    def load_pointer(self, row: Any, k: int) -> Any:
        return self.builder.load(self.builder.gep(row, [WORD(k)], inbounds=True))

    def take(self, x: Any, like: ArgumentForm) -> ObjectParts:
        """The object, if it is like this."""
        match like:
            case None:
                self.require(self.is_same_object(x, self.constant(None)))
                return ObjectParts(x)
            case SequenceForm():
                return self.items(x, like)
            case DictForm():
                return self.fields(x, like)
            case ArrayForm():
                return self.array(x, like)
            case LeafForm(number=k, kind=None, same=expected):
                self.require(self.is_same_object(x, self.constant(expected)))
                self.leaves[k] = ObjectParts(x)
            case LeafForm(number=k, kind=type() as kind):
                self.require(self.is_a(x, kind))
                self.leaves[k] = ObjectParts(x, kind=kind)
        return self.leaves[k]

    def items(self, x: Any, like: SequenceForm) -> ObjectParts:
        self.require(self.is_a(x, like.kind))
        count = self.field(x, offsets.VALUE, WORD)
        self.require(self.builder.icmp_signed("==", count, WORD(len(like.parts))))
        if like.kind is list:
            row = self.field(x, LIST_ITEMS, OBJECTS)
        else:
            row = self.builder.bitcast(self.builder.gep(x, [WORD(TUPLE_ITEMS)]), OBJECTS)
        items = [self.take(self.load_pointer(row, k), part) for k, part in enumerate(like.parts)]
        return ObjectParts(x, dict(enumerate(items)))

    def fields(self, x: Any, like: DictForm) -> ObjectParts:
        self.require(self.is_a(x, dict))
        count = self.api("PyDict_Size", WORD, x)
        self.require(self.builder.icmp_signed("==", count, WORD(len(like.keys))))
        place = variable(self.builder, WORD)
        key, value = (variable(self.builder, OBJECT) for _ in range(2))
        self.builder.store(WORD(0), place)
        values = []
        for k in like.keys:
            self.api("PyDict_Next", INT, x, place, key, value)
            self.require(self.is_same_object(self.builder.load(key), self.constant(k)))
            values.append(self.builder.load(value))
        pairs = zip(values, like.parts, strict=True)
        return ObjectParts(
            x, dict(zip(like.keys, [self.take(v, part) for v, part in pairs], strict=True))
        )

    def array(self, x: Any, like: ArrayForm) -> ObjectParts:
        b = self.builder
        self.require(self.is_a(x, np.ndarray))
        self.require(
            self.is_same_object(self.field(x, offsets.DESCR, OBJECT), self.constant(like.dtype))
        )
        rank = INT(len(like.lengths))
        self.require(b.icmp_signed("==", self.field(x, offsets.NDIM, INT), rank))
        lengths = self.field(x, offsets.SHAPE, WORD.as_pointer()) if like.lengths else None
        shape = tuple(self.load_pointer(lengths, k) for k in range(len(like.lengths)))
        for n, expected in zip(shape, like.lengths, strict=True):
            order, least = (">", 1) if expected is None else ("==", expected)
            self.require(b.icmp_signed(order, n, WORD(least)))
        self.leaves[like.number] = ObjectParts(x, shape=shape)
        return self.leaves[like.number]
