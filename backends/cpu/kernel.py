"""Compiles a kernel at its first call with each signature, or finds it in the cache."""

from __future__ import annotations

import ast
import functools
import time
from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING, Any

from tapeless.backends.compilation import Compilation
from tapeless.backends.cpu.runtime.kernel_errors import Failures
from tapeless.backends.cpu.runtime.kernel_lines import KernelLines
from tapeless.backends.cpu.runtime.signature import (
    Argument,
    ArrayType,
    CallForm,
    Signature,
    plain,
    signature,
)
from tapeless.backends.fork_safe_locks import COMPILING
from tapeless.backends.postponed_gc import gc_postponed
from tapeless.transforms.errors import InternalError

if TYPE_CHECKING:
    from tapeless.backends.cpu.runtime.object_cache import ObjectCode


class KernelModule:
    """The kernels of one module, and what has been compiled of them."""

    def __init__(self, values: dict[str, Any], text: str, apart: bool = False) -> None:
        self.values, self.text, self.apart = values, text, apart
        self.kernels: dict[str, JitKernel] = {}
        self.compilations: list[Compilation] = []
        self._known: dict[bool, dict[str, Any]] = {}

    def kernel(self, function: Callable[..., Any], options: dict[str, Any]) -> JitKernel:
        """The kernel that stands for a function of the module."""
        kernel = JitKernel(self, function, options)
        self.kernels[kernel.__name__] = kernel
        return kernel

    @functools.cached_property
    def lines(self) -> KernelLines:
        """Where the kernels are in the file of the module."""
        return KernelLines(self.values["__file__"], self.values["__name__"], self.definitions)

    @functools.cached_property
    def definitions(self) -> dict[str, ast.FunctionDef]:
        """The functions of the module that are kernels, by name."""
        written = [s for s in ast.parse(self.text).body if isinstance(s, ast.FunctionDef)]
        return {s.name: s for s in written if s.name in self.kernels}

    def compiled_names(self, entered: bool = True) -> dict[str, Any]:
        """What names mean inside compiled code; `entered`: by our entries, where kernels give back
        the arrays that they make for themselves (`scratch`). Elsewhere these are Numba's."""
        if entered not in self._known:
            from tapeless.backends.cpu.numba import (  # noqa: PLC0415  # imports Numba
                error_texts,
                math_functions,
                reassociable_sums,
            )

            namespace = {k: math_functions.vectorised_function(v) for k, v in self.values.items()}
            namespace[error_texts.TELLING] = error_texts.TellingError
            for name, kernel in self.kernels.items():
                helper = reassociable_sums.instructions(kernel.function, kernel.options)
                helper = helper if entered or name != "scratch" else None
                namespace[name] = helper or math_functions.callee(
                    kernel.function, namespace, kernel.options
                )
            self._known[entered] = namespace
        return self._known[entered]


class JitKernel:
    """A callable over arrays and numbers."""

    def __init__(
        self, program: KernelModule, function: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        self.program, self.function, self.options = program, function, options
        self.__name__ = self.__qualname__ = function.__name__
        self.__doc__, self.__wrapped__ = function.__doc__, function
        self.split = False  # whether it is called for some of the rows, by several threads
        self.form: CallForm | None = None  # of what calls it, where that is all that is called
        self.entry: Callable[..., Any] = self.compile_and_call  # of the last signature
        self.entries: dict[Signature, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        return self.entry(*args)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def compile_and_call(self, *args: Any) -> Any:
        """A call that the current entry does not take."""
        args, wanted = self.read(args)
        return self.entry_for(wanted)(*args)

    def ready(self, args: tuple[Any, ...]) -> None:
        """Compiles it for a call with arguments like these, which is not made."""
        self.entry_for(self.read(args)[1])

    def entry_for(self, wanted: Signature) -> Callable[..., Any]:
        """The entry for a signature, made now if there is none."""
        entry = self.entries.get(wanted)
        if entry is None:
            with COMPILING:
                entry = self.entries.get(wanted) or self.make(wanted)
        return entry

    def read(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Signature]:
        """The arguments as compiled code takes them, and their signature."""
        args = tuple(map(plain, args))
        return args, signature(args, self.split)

    def make(self, wanted: Signature) -> Callable[..., Any]:
        """The entry for a signature."""
        from tapeless.backends.cpu import shared_functions  # noqa: PLC0415  # imports llvmlite
        from tapeless.backends.cpu.runtime import object_cache  # noqa: PLC0415  # the same

        start = time.perf_counter()
        reason = self.reason(wanted)
        code, cached = object_cache.load_or_compile(
            self.__name__,
            self.fixed_key(),
            wanted,
            self.options,
            lambda symbol: self.compile(wanted, symbol),
            shared_functions.ready,
        )
        sure = self.by_numba() if code is None else self.link_entry(code)
        self.entries[wanted] = sure
        text = ", ".join(map(str, wanted))
        seconds = time.perf_counter() - start
        self.program.compilations.append(
            Compilation(self.__name__, f"{self.__name__}({text})", reason, seconds, cached)
        )
        return sure

    def fixed_key(self) -> str:
        """What object code depends on, signature and options apart."""
        return f"{self.program.text}\n# apart: {self.program.apart}"

    def link_entry(self, code: ObjectCode) -> Callable[..., Any]:
        """The entry in object code; calls go straight there from now on."""
        from tapeless.backends.cpu.runtime import linking  # noqa: PLC0415

        address, failures = self.place(code)
        self.entry = linking.builtin(address, self.__name__, SlowPath(self, failures))
        self.program.values[self.__name__] = self.entry
        return linking.builtin(address, self.__name__, SignatureBug(self, failures))

    def place(self, code: ObjectCode) -> tuple[int, Failures]:
        """Where object code is in memory, and what tells its errors."""
        from tapeless.backends.cpu.runtime import linking  # noqa: PLC0415

        place = linking.link(code.code, code.externals)
        environments = tuple(map(place, code.environments))
        return place(code.symbol), Failures(environments, code.errors, self.program.values)

    def by_numba(self) -> Callable[..., Any]:
        """Numba's own function, for what our entries do not serve."""
        return self.program.compiled_names(entered=False)[self.__name__]  # type: ignore[no-any-return]

    def compile(self, wanted: Signature, symbol: str) -> Any:
        """Object code: written here, or by Numba."""
        with gc_postponed():
            from tapeless.backends.cpu.llvm import compile as llvm_compiler  # noqa: PLC0415

            program = self.program
            options = {name: kernel.options for name, kernel in program.kernels.items()}
            code = llvm_compiler.compile_kernel(
                *(self.function.__name__, program.definitions, options, program.values),
                *(wanted, symbol, self.form, program.apart),
            )
            if code is not None:
                return code
            from tapeless.backends.cpu.numba.compile import compile_kernel  # noqa: PLC0415
            from tapeless.backends.cpu.numba.math_functions import seeing  # noqa: PLC0415

            function = seeing(self.function, self.program.compiled_names())
            apart = self.program.apart
            return compile_kernel(function, wanted, self.options, symbol, self.form, apart)

    def reason(self, wanted: Signature) -> str:
        """What tells a signature from the nearest that has been compiled."""
        if not self.entries:
            return "first call"
        names = self.function.__code__.co_varnames
        before = min(self.entries, key=lambda s: _distance(s, wanted))
        pairs = zip(names, before, wanted, strict=False)
        return "; ".join(_difference(n, a, b) for n, a, b in pairs if a != b)


class SlowPath:
    """Owner of an entry: other signatures go to the kernel, errors are raised."""

    def __init__(self, kernel: JitKernel, failures: Failures) -> None:
        self.kernel, self.failures = kernel, failures

    def __call__(self, *args: Any) -> Any:
        return self.kernel.compile_and_call(*args)

    def fail(self, address: int, words: int) -> None:
        error, place = self.failures.find_error(address, words)
        self.kernel.program.lines.raise_at(place, error)

    def take_locks(self, *locks: Lock) -> None:
        """Waits for the generators that a kernel draws from: all threads in the same order, so that
        none waits for one that waits for it."""
        with ExitStack() as taken:
            for lock in sorted(locks, key=id):
                taken.enter_context(lock)
            taken.pop_all()


class SignatureBug(SlowPath):
    """Owner of the entry that was made for the very arguments."""

    def __call__(self, *args: Any) -> Any:
        kinds = ", ".join(map(str, signature(args)))
        raise InternalError(f"{self.kernel.__name__} was not compiled for ({kinds})")


def _distance(a: Signature, b: Signature) -> int:
    return abs(len(a) - len(b)) + sum(x != y for x, y in zip(a, b, strict=False))


def _difference(name: str, before: Argument, now: Argument) -> str:
    """What is new about an argument."""
    if not isinstance(before, ArrayType) or not isinstance(now, ArrayType):
        return f"{name} is {now}, not {before}"
    if before.dtype != now.dtype:
        return f"new dtype of {name}: {now.dtype.name}"
    if before.ndim != now.ndim:
        return f"{name} has {now.ndim} axes, not {before.ndim}"
    if before.layout != now.layout:
        return f"new layout of {name}: {now.layout}"
    if before.readonly != now.readonly:
        return f"{name} is {'read-only' if now.readonly else 'writeable'}"
    return f"{name} is {'aligned' if now.aligned else 'unaligned'}"
