"""Makes known to the process what kernels call that all kernels share: products of matrices are
compiled once, or found in the cache."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import llvmlite.binding as llvm

from tapeless.backends.cpu.runtime import blas, linking, object_cache, products

PREFIX = "tapeless_product_"


def ready(names: Iterable[str]) -> bool:
    """Whether the process knows all names that object code refers to; what kernels share is
    compiled where they do."""
    names = tuple(names)
    for name in names:
        if name.startswith(PREFIX):
            _introduce(name, products.width())
    return linking.ready(names)


@functools.cache
def _introduce(name: str, bits: int | None) -> None:
    """Tells LLVM where a function is that kernels share; the BLAS takes integers of so many
    bits."""
    text = f"integers of {bits} bits, threads: {blas.threads() is not None}"
    make = functools.partial(_compile, name.removeprefix(PREFIX))
    code, _ = object_cache.load_or_compile(name, text, (), {}, make)
    if code is not None:
        llvm.add_symbol(name, linking.link(code.code, code.externals)(code.symbol))


def _compile(kind: str, symbol: str) -> object_cache.ObjectCode:
    from tapeless.backends.cpu.llvm import compile as llvm_compiler  # noqa: PLC0415  # on demand

    return llvm_compiler.compile_product(kind, symbol)
