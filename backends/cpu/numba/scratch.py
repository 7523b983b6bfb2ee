"""Allocates arrays that a kernel makes for itself: memory of the C library, freed where the kernel
ends.

The helper `scratch` of emitted modules calls `numpy.empty`, for which Numba counts references. Here
each array is a link of a chain that begins in a variable of the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.npydecl import parse_dtype
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import populate_array

WORD, POINTER = ir.IntType(64), ir.IntType(8).as_pointer()
LINK = 64  # bytes in front of an array, so that vectors in it are in one line of the cache
CHAIN = "tapeless_chain"
RELEASE = """
define internal void @tapeless_release(ptr %chain) {
  br label %test
test:
  %link = phi ptr [ %chain, %0 ], [ %next, %more ]
  %none = icmp eq ptr %link, null
  br i1 %none, label %done, label %more
more:
  %next = load ptr, ptr %link
  call void @free(ptr %link)
  br label %test
done:
  ret void
}
"""
RETURN = re.compile(r"^  ret ", re.MULTILINE)


def scratch(shape: Any, dtype: Any) -> Any:
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


@type_callable(scratch)  # type: ignore[untyped-decorator]
def _type_scratch(context: Any) -> Callable[..., Any]:
    def infer_type(shape: Any, dtype: Any) -> Any:
        kind = parse_dtype(dtype)
        if kind is None or not isinstance(shape, types.BaseTuple):
            return None
        return types.Array(kind, len(shape), "C")

    return infer_type


@lower_builtin(scratch, types.BaseTuple, types.Any)  # type: ignore[untyped-decorator]
def _lower_scratch(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lengths = [
        context.cast(builder, n, kind, types.intp)
        for n, kind in zip(cgutils.unpack_tuple(builder, args[0]), sig.args[0], strict=True)
    ]
    size = context.get_abi_sizeof(context.get_data_type(sig.return_type.dtype))
    steps = [WORD(size)]
    for n in reversed(lengths):
        steps.insert(0, builder.mul(steps[0], n))
    array = context.make_array(sig.return_type)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(_allocate(context, builder, steps[0]), array.data.type),
        shape=lengths,
        strides=steps[1:],
        itemsize=WORD(size),
        meminfo=None,
    )
    return array._getvalue()


def _allocate(context: Any, builder: Any, size: Any) -> Any:
    """Memory of so many bytes, as the new first link."""
    malloc = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(POINTER, [WORD]), "malloc"
    )
    link = builder.call(malloc, [builder.add(size, WORD(LINK))])
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, link)):
        context.call_conv.return_user_exc(builder, MemoryError, ("no memory for a kernel",))
    chain = _chain(builder)
    builder.store(builder.load(chain), builder.bitcast(link, POINTER.as_pointer()))
    builder.store(link, chain)
    return builder.gep(link, [WORD(LINK)])


def _chain(builder: Any) -> Any:
    """The variable of the kernel that holds the first link."""
    for instruction in builder.function.entry_basic_block.instructions:
        if instruction.name == CHAIN:
            return instruction
    return cgutils.alloca_once(builder, POINTER, name=CHAIN, zfill=True)


def add_release_calls(text: str, kernel: str) -> str:
    """The text of a module whose kernel gives back what it made."""
    start = re.search(rf'^define .*@"?{re.escape(kernel)}"?\(', text, re.MULTILINE)
    end = text.find("\n}", start.start()) if start else -1
    if start is None or f"%{CHAIN} = " not in text[start.start() : end]:
        return text
    body = text[start.start() : end]
    link = f"%{CHAIN}.N"
    release_call = f"  {link} = load ptr, ptr %{CHAIN}\n  call void @tapeless_release(ptr {link})\n"
    count = iter(range(len(body)))
    body = RETURN.sub(lambda m: release_call.replace(".N", f".{next(count)}") + m[0], body)
    free = "" if "@free(" in text else "declare void @free(ptr)\n"
    return text[: start.start()] + body + text[end:] + RELEASE + free
