"""Compiles a kernel and its entry to object code without Numba."""

from __future__ import annotations

import ast
import functools
import os
import platform
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.llvm.calls import release
from tapeless.backends.cpu.llvm.checks_ahead import checks_ahead
from tapeless.backends.cpu.llvm.fixed_branches import has_fixed_branches
from tapeless.backends.cpu.llvm.function import (
    pass_arguments,
    read_result,
    read_word,
    returns_rows,
    slots,
)
from tapeless.backends.cpu.llvm.gemm import ProductBuilder
from tapeless.backends.cpu.llvm.interleave_chains import add_interleave_hints
from tapeless.backends.cpu.llvm.ir import values as kinds
from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT
from tapeless.backends.cpu.llvm.ir.ir_helpers import spill, variable
from tapeless.backends.cpu.llvm.ir.values import (
    POINTER,
    STATUS,
    LlvmUnsupportedError,
    Number,
    RowKind,
    Stream,
)
from tapeless.backends.cpu.llvm.loop_tiling import tile_loops
from tapeless.backends.cpu.llvm.math import inlined_functions
from tapeless.backends.cpu.llvm.module import CompiledFunction, LlvmModuleWriter
from tapeless.backends.cpu.llvm.python_entry import FIRST_ROW, LONG, EntryBuilder, Result, is_count
from tapeless.backends.cpu.llvm.unroll_and_jam import unroll_and_jam
from tapeless.backends.cpu.runtime import random_functions
from tapeless.backends.cpu.runtime import struct_offsets as offsets
from tapeless.backends.cpu.runtime.linking import NEAR, introduce
from tapeless.backends.cpu.runtime.object_cache import ObjectCode
from tapeless.backends.cpu.runtime.signature import (
    Argument,
    ArrayType,
    CallForm,
    GeneratorType,
    Signature,
)
from tapeless.backends.cpu.runtime.signature import NumberType as NumberKind
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.python_text.tree_walk import walk

PASSES = 128  # of a loop, from which a kernel is taken to run long whatever its arrays
LARGE = 1_500  # basic blocks: where loops are longer in text than in passes, LLVM takes minutes
SETTINGS = ("NUMBA_ENABLE_AVX", "NUMBA_OPT")
#: In functions that say so, LLVM does not carry x[i + 1] over to the next pass, which reads it as
#: x[i]: vectors would be shuffled together of two others, which takes longer than to load them.
#: Nothing else is meant; what checks addresses is a pass of its own, and not run.
NEIGHBOURS = "sanitize_address"


def compile_kernel(
    name: str,
    sources: Mapping[str, ast.FunctionDef],
    options: Mapping[str, dict[str, Any]],
    globals_: dict[str, Any],
    wanted: Signature,
    symbol: str,
    form: CallForm | None = None,
    apart: bool = False,
) -> ObjectCode | None:
    """The object code of a kernel for one signature; None where it takes Numba to compile it.

    name, sources, options, globals_  the module, and the kernel in it
    wanted                            the types of the arguments
    symbol                            the name of the entry
    form                              of a function that only calls the kernel
    apart                             whether no array shares memory with another one that is
                                      stored to
    """
    if any(name in os.environ for name in SETTINGS):
        return None
    introduce()
    if GeneratorType() in wanted and not random_functions.introduce():
        return None
    module = ir.Module(symbol, context=ir.Context())
    module.triple, module.data_layout = llvm.get_process_triple(), str(_machine().target_data)
    others = sources.keys() - {name}
    kernel = sources[name]
    tested = checks_ahead(kernel, apart)
    sources = {**sources, name: unroll_and_jam(tile_loops(tested, others, apart), apart)}
    try:
        unit = LlvmModuleWriter(module, sources, options, globals_, _features(), apart)
        LlvmEntryBuilder(unit, name, symbol, wanted, runs_long(kernel), form).build()
    except LlvmUnsupportedError:
        return None
    for function in module.functions:
        if not function.is_declaration:
            function.attributes.add(NEIGHBOURS)
    compiled = llvm.parse_assembly(str(module))
    if (text := add_interleave_hints(before := str(compiled))) is not before:
        compiled = llvm.parse_assembly(text)
    level = 3 if has_fixed_branches(kernel) else 2
    large = sum(len(function.blocks) for function in module.functions) > LARGE
    passes, builder = _passes(level, whole_loops=not large)
    passes.run(compiled, builder)
    _supply(compiled)
    code = _machine().emit_object(compiled)
    return ObjectCode(code, symbol, _externals(compiled), (), tuple(unit.errors))


def compile_product(kind: str, symbol: str) -> ObjectCode:
    """The object code of products of matrices, of numbers of a kind: s or d."""
    introduce()
    module = ir.Module(symbol, context=ir.Context())
    module.triple, module.data_layout = llvm.get_process_triple(), str(_machine().target_data)
    name = ProductBuilder.function(module, kind).name
    compiled = llvm.parse_assembly(str(module))
    passes, builder = _passes(2)
    passes.run(compiled, builder)
    return ObjectCode(_machine().emit_object(compiled), name, _externals(compiled))


def _supply(compiled: Any) -> None:
    """Writes functions that come along with a kernel in place of its calls of them."""
    if not any(inlined_functions.NAME.fullmatch(f.name) for f in compiled.functions):
        return
    module = ir.Module(context=ir.Context())
    module.triple, module.data_layout = compiled.triple, compiled.data_layout
    for symbol in sorted(inlined_functions.used(str(compiled))):
        inlined_functions.define(module, symbol)
    compiled.link_in(llvm.parse_assembly(str(module)))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(compiled, _passes(2)[1])


class LlvmEntryBuilder(EntryBuilder):
    """The entry of a kernel that a unit writes."""

    def __init__(
        self,
        unit: LlvmModuleWriter,
        name: str,
        symbol: str,
        wanted: Signature,
        long: bool | None,
        form: CallForm | None,
    ):
        super().__init__(unit.module, symbol, wanted, long, form)
        self.unit, self.kernel = unit, name

    def unpack_arguments(self, args: list[tuple[Any, Argument]]) -> list[Any]:
        values = [self.value_of(x, want) for x, want in args]
        self.counts = [x.value for x, (_, want) in zip(values, args, strict=True) if is_count(want)]
        if self.wanted and self.wanted[0] == FIRST_ROW:
            rows = self.rows(*(x.value for x in values[:2]))
            values[:2] = [Number(INT, x, natural=True) for x in rows]
        return values

    def value_of(self, x: Any, want: Argument) -> Any:
        """An argument of the kernel."""
        if isinstance(want, ArrayType):
            return self.array(x, want)
        if isinstance(want, GeneratorType):
            return Stream(self.stream(x))
        return Number(_dtype(want), self.number(x, want))

    def array(self, x: Any, want: ArrayType) -> Any:
        axes = range(want.ndim)
        args = [
            self.field(x, offsets.DATA, OBJECT),
            *(self.axis(x, offsets.SHAPE, k) for k in axes),
        ]
        if want.layout == "A":
            args += [self.axis(x, offsets.STRIDES, k) for k in axes]
        return kinds.unflatten_array(want, args)

    def run(self, values: list[Any]) -> None:
        function = self.unit.function(self.kernel, tuple(values), inline=True)
        room = ir.ArrayType(kinds.WORD, max(slots(function.results)[-1] + 1, function.told))
        place = self.builder.bitcast(variable(self.builder, room), POINTER)
        self.take_locks()
        state = self.save()
        status = self.builder.call(function.function, [*pass_arguments(values), place])
        self.restore(state)
        self.give_locks()
        failed = self.builder.icmp_signed("!=", status, STATUS(0))
        with self.builder.if_then(failed, likely=False):
            self.fail(self.builder.zext(status, LONG), place)
        self.give_back(self.results(function, place), function.single)

    def results(self, function: CompiledFunction, place: Any) -> list[Result] | None:
        if function.results is None:
            return None
        places = slots(function.results)
        if not returns_rows(function.results):
            return [
                self.result(place, k, d) for k, d in zip(places, function.results, strict=False)
            ]
        first = read_word(self.builder, place, places[-1], POINTER)
        results = [
            self.row(place, k, d.dtype, first)
            if isinstance(d, RowKind)
            else self.result(place, k, d)
            for k, d in zip(places, function.results, strict=False)
        ]
        self.builder.call(release(self.module), [first])
        return results

    def result(self, place: Any, k: int, dtype: Any) -> Result:
        return Result(read_result(self.builder, place, k, dtype), dtype)

    def row(self, place: Any, k: int, dtype: np.dtype[Any], first: Any) -> Result:
        """An array of NumPy's of what the kernel has found; `first` is to be given back."""
        b, whole = self.builder, ir.IntType(32)
        data, count = read_word(b, place, k, POINTER), read_word(b, place, k + 1, LONG)
        what = (self.object("tapeless_ndarray"), whole(1), spill(b, count), whole(dtype.num))
        more = (LONG.as_pointer()(None), OBJECT(None), whole(0), whole(0), OBJECT(None))
        array = self.api("tapeless_PyArray_New", OBJECT, *what, *more)
        with b.if_then(self.is_same_object(array, OBJECT(None)), likely=False):
            b.call(release(self.module), [first])
            b.ret(OBJECT(None))
        size = b.mul(count, LONG(dtype.itemsize))
        self.api("memcpy", OBJECT, self.field(array, offsets.DATA, OBJECT), data, size)
        return Result(array, dtype, array=True)

    def of_class(self, x: Result, name: str) -> Result:
        wanted = np.dtype(name)
        value = kinds.cast(self.builder, Number(x.dtype, x.value), wanted).value
        return Result(value, wanted, numpy=True)


def _dtype(want: NumberKind) -> Any:
    kinds.register(want.dtype)
    return want.dtype


def runs_long(kernel: ast.FunctionDef) -> bool | None:
    """Whether a kernel runs long: not without loops, and where one makes many passes whatever the
    arguments are; None where they tell."""
    loops = [s for s in walk(kernel) if isinstance(s, (ast.For, ast.While))]
    return (any(map(_has_many_passes, loops)) or None) if loops else False


def _has_many_passes(loop: ast.For | ast.While) -> bool:
    bounds = loop.iter.args if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) else []
    numbers = [b.value for b in bounds if isinstance(b, ast.Constant)]
    return any(isinstance(n, int) and n >= PASSES for n in numbers)


# -- the machine


@functools.cache
def _processor() -> tuple[str, str]:
    """The processor that code is made for, and what it has: this one, or what Numba's own settings
    name. AMD's take longer to gather numbers at some distance than to load them one by one."""
    name = os.environ.get("NUMBA_CPU_NAME") or str(llvm.get_host_cpu_name())
    host = "" if name == "generic" else str(llvm.get_host_cpu_features().flatten())
    if host and name.startswith("znver"):
        host += ",+prefer-no-gather"
    return name, os.environ.get("NUMBA_CPU_FEATURES", host)


def _features() -> str:
    return _processor()[1]


@functools.cache
def _machine() -> Any:
    """The machine that code is made for, with addresses of 64 bits."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    x86 = platform.machine() in ("x86_64", "AMD64")
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=_processor()[0],
        features=_features(),
        opt=3,
        reloc="pic" if NEAR else "static" if x86 else "default",
        codemodel="small" if NEAR else "jitdefault",
        jit=True,
    )


def _passes(level: int, whole_loops: bool = True) -> tuple[Any, Any]:
    """The passes of a level; `whole_loops`: also those that make vectors of passes of a loop, or
    write several out."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization, options.slp_vectorization = whole_loops, False
    options.loop_unrolling = whole_loops
    builder = llvm.create_pass_builder(_machine(), options)
    return builder.getModulePassManager(), builder


def _externals(module: Any) -> tuple[str, ...]:
    """What the code needs from the process, but for what LLVM provides."""
    declared = (*module.functions, *module.global_variables)
    return tuple(
        sorted(
            x.name
            for x in declared
            if x.is_declaration
            and not (x.name.startswith("llvm.") or inlined_functions.NAME.fullmatch(x.name))
        )
    )
