"""Launches kernels of a module on one device: compiled when one is first called, launched in little
time.

softmax_kernel(x.shape[0], x, out)      a look at the sizes, one launch, no wait

The same grids as in the text of modules (`transforms/cuda/launch_text`), and so the same bits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.backends.compilation import Compilation
from tapeless.backends.cuda import compile as compiler
from tapeless.backends.cuda import cubin_cache
from tapeless.backends.cuda.availability import cupy
from tapeless.backends.cuda.errors import ErrorWord, Table, pending, read
from tapeless.backends.fork_safe_locks import COMPILING
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentTypeError

if TYPE_CHECKING:
    from tapeless.backends.cuda.load_module import GpuProgram

# Measured on an H100, 27 November 2026: benchmarks/gpu_results. Nothing here depends on the device:
# the order of sums follows from the grid.
THREADS = 256  # of a block
MOST_THREADS = 1024  # of a team, and of a block
MAX_THREADS_PER_BLOCK = 0  # the attribute of a function, by its number
EACH = ((128, 8), (2048, 16), (2**63, 32))  # elements of a row, up to a length, for each thread
LEAST = 4  # threads of a team, if its rows are as long
BUSY = 1 << 17  # threads of a device, about
TILE = 32  # rows, and columns, of a tile; its block has a team of a warp for every fourth row
WARP = 32  # larger teams meet at barriers of their block, which they have for themselves
BLOCKS = 1 << 24  # at most; each does what is left in steps of the whole grid
BLOCKS_OF_SINGLE = 4096  # where threads load single elements
BLOCKS_OF_RESULTS, BLOCKS_OF_SUMS = 2048, 512  # which leave numbers, or arrays, to be joined
COPIES = 2**31  # bytes that the teams of a launch may have of their own
PLANS = 4096  # grids that a kernel remembers
RESERVED = frozenset({"rows", "results", "error", "room"})
SHARED = 48 << 10  # bytes of a block that its teams may have for themselves
NUMBERS = frozenset(
    {int, float, bool, complex, np.bool_}
    | {np.dtype(code).type for code in (*np.typecodes["AllInteger"], *"efdFD")}
)
ARRAYS: set[type] = set()  # classes of CuPy's arrays, whose elements lie on a device
Shape = tuple[int, ...]
Grid = tuple[tuple[int], tuple[int, int]]  # blocks; threads of a team, teams of a block


@dataclass(frozen=True)
class LaunchPlan:
    """How kernels are launched for some sizes.

    room    bytes of each team in the shared memory of its block; 0: it has memory of the device
    places  arrays at no address, with the shapes of what teams have for themselves there
    """

    grid: Grid
    room: int = 0
    places: tuple[Any, ...] = ()


class CudaModule:
    """The CUDA C of a program, in place of `cupy.RawModule`.

    code     the text
    options  that the text names, beside those that we compile all modules with
    """

    def __init__(self, program: GpuProgram, code: str, options: tuple[str, ...] = ()) -> None:
        self.program, self.code, self.options = program, code, options
        self._loaded: Any = None

    def get_function(self, name: str) -> Any:
        """A function of the module, on the current device."""
        return self.load().get_function(name)

    def load(self) -> Any:
        """The machine code, made or found in the cache if it is not there yet."""
        if self._loaded is None:
            with COMPILING:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        began = time.perf_counter()
        name, arch = self.program.name, compiler.architecture()
        parts = (self.code, str(arch), compiler.version(), *compiler.options_with(self.options))
        code, cached = cubin_cache.load_or_compile(
            name, parts, lambda: compiler.cubin(name, self.code, arch, self.options)
        )
        loaded = cupy().cuda.function.Module()
        loaded.load(code)
        seconds = time.perf_counter() - began
        reason = "another device" if self.program.compilations else "first call"
        self.program.compilations.append(Compilation(name, f"sm_{arch}", reason, seconds, cached))
        return loaded


class LaunchedKernel:
    """A function of CUDA C, as the driver of a module calls it.

    name       of the function
    arguments  what it gets, of the rows, the parameters of the driver's call, and what a launch
               makes for it: a tuple of arrays and numbers
    team       the lengths of the loops that the threads of a team share; None: a thread a row
    side       how many rows each row of the driver is; None: one
    tiles      how many tiles of TILE x TILE passes there are, of the rows and the parameters, if
               blocks take such
    across     whether neighbouring rows read neighbouring elements: they share a block, then
    small_teams
               whether teams are no larger than it takes to keep a device busy
    width      rows that a thread takes at once
    results    dtypes of the numbers that it returns, and how those of the blocks are put together
    errors     what it raises, by number: names of classes, arguments
    scratch    memory that it needs: name, dtype, and the shape as a function of the parameters
    joins      how the copies of the arrays `sums` of a call are put together
    """

    def __init__(
        self,
        module: CudaModule,
        name: str,
        arguments: Callable[..., tuple[Any, ...]],
        *,
        team: Callable[..., tuple[int, ...]] | None = None,
        side: Callable[..., int] | None = None,
        tiles: Callable[..., int] | None = None,
        across: bool = False,
        small_teams: bool = False,
        width: int = 1,
        results: tuple[tuple[str, str], ...] = (),
        errors: Table = (),
        scratch: tuple[tuple[str, str, Callable[..., Shape]], ...] = (),
        joins: tuple[str, ...] = (),
    ) -> None:
        self.module, self.name, self.arguments, self.team = module, name, arguments, team
        self.program = module.program
        self.across, self.width, self.most_threads = across, width, MOST_THREADS
        self.busy, self.side, self.tiles = BUSY if small_teams else None, side, tiles
        self.results, self.errors, self.scratch, self.joins = results, errors, scratch, joins
        self.array = cupy().ndarray
        # what `flags` would say, in a tenth of the time
        quick = hasattr(self.array, "_c_contiguous")
        self.contiguous = attrgetter("_c_contiguous" if quick else "flags.c_contiguous")
        ARRAYS.add(self.array)
        code = arguments.__code__
        names = code.co_varnames[: code.co_argcount]
        self.parameters = [name for name in names if name not in RESERVED]
        self.bare = not (results or errors or scratch or joins)
        self.plans: dict[Any, LaunchPlan] = {}
        self.has_room = "room" in names
        self.word: ErrorWord | None = None
        self.function: Any = None

    def __call__(self, rows: int | None, *args: Any, own: Any = (), sums: Any = ()) -> Any:
        contiguous = self.contiguous
        self.program.launches += 1
        for x in args:
            kind = x.__class__
            if kind not in NUMBERS and (kind not in ARRAYS or not contiguous(x)):
                args = tuple(map(self.kernel_argument, args))
                break
        if own or not self.bare or rows is None:
            return self.launch_with_scratch(rows, args, own, sums)
        if self.side is not None:
            rows *= self.side(*args)
        key = (rows, *self.team(*args)) if self.team else rows
        plan = self.plans.get(key)
        if plan is None:
            plan = self.make_plan(key, rows, args, (), ())
        if rows:
            self.function(*plan.grid, self.arguments(rows, *args))
        return None

    def kernel_argument(self, x: Any) -> Any:
        """An argument as kernels take it. Raises TypeError for arrays of the host."""
        if x.__class__ in NUMBERS:
            return x
        if isinstance(x, self.array):
            ARRAYS.add(type(x))
            return x if x.flags.c_contiguous else cupy().ascontiguousarray(x)
        raise ArgumentTypeError(
            f"{self.name} runs on a GPU, and one of its arguments is of type {type(x).__name__}",
            "put it there: tapeless.device_put(x, tapeless.devices('gpu')[0])",
        )

    def launch_with_scratch(
        self, rows: int | None, args: tuple[Any, ...], own: Any, sums: Any
    ) -> Any:
        """A launch with memory of its own: copies for teams, numbers of blocks, errors."""
        if rows == 0 and not (sums or self.results):
            return None
        copied = (*own, *sums)
        args_and_copies = (*args, *copied)
        if self.side is not None and rows is not None:
            rows *= self.side(*args_and_copies)
        lengths = self.team(*args_and_copies) if self.team else ()
        key = (rows, lengths, *[x.shape for x in copied])
        plan = self.plans.get(key) or self.make_plan(key, rows, args_and_copies, own, sums)
        ((blocks,), (_, teams)), array = plan.grid, self.array
        copies = [] if plan.room else [array((blocks * teams, *x.shape), x.dtype) for x in own]
        parts_of_sums = blocks if plan.room else blocks * teams
        summed = [array((parts_of_sums, *x.shape), x.dtype) for x in sums]
        copies += summed
        values = [*args, *plan.places]
        values += [copy[0] for copy in copies]  # where they begin, with the shape of one
        values += [array(shape(*args_and_copies), dtype) for _, dtype, shape in self.scratch]
        if rows is not None:
            values.insert(0, rows)
        outs = [
            cupy().zeros(2, "int64") if word == "array" else array((), dtype)
            for dtype, word in self.results
        ]
        if self.has_room:
            values.append(plan.room)
        if outs:
            parts = [
                out if word in ("first", "array") or blocks == 1 else array((blocks,), out.dtype)
                for out, (_, word) in zip(outs, self.results, strict=True)
            ]
            values.append(parts)
        if self.word is not None:
            values.append(self.word.address)
            pending[self.word] = None
        self.function(*plan.grid, self.arguments(*values), shared_mem=plan.room * teams)
        for k, out in enumerate(outs):
            if parts[k] is not out:
                self.join(parts[k], out, self.results[k][1])
            elif self.results[k][1] == "array":
                outs[k] = self.take(out, self.results[k][0])
        for part, out, word in zip(summed, sums, self.joins, strict=True):
            self.join(part, out, word)
        return outs[0] if len(outs) == 1 else tuple(outs) if outs else None

    def take(self, kept: Any, dtype: str) -> Any:
        """The array that a kernel left in memory of its own, which is given back. It waits."""
        count = int(read(kept[1]))
        out = self.array((count,), dtype)
        self.module.get_function(f"take_{dtype}")((1,), (THREADS,), (kept, out, count))
        return out

    def grid(self, rows: int | None, lengths: Shape, size: int, tiles: int | None = None) -> Grid:
        most = BLOCKS_OF_SUMS if self.joins else BLOCKS_OF_RESULTS if self.results else BLOCKS
        if self.width == 1 and not self.team:
            most = min(most, BLOCKS_OF_SINGLE)
        if tiles is not None:
            most = min(most, COPIES // max(1, THREADS // TILE * size))
            return (max(1, min(tiles, most)),), (TILE, THREADS // TILE)
        count = None if rows is None else -(-rows // self.width)
        return grid(count, lengths, most, size, self.most_threads, self.busy)

    def make_plan(
        self, key: Any, rows: int | None, args_and_copies: tuple[Any, ...], own: Any, sums: Any
    ) -> LaunchPlan:
        """How a launch is made, which later ones of the same sizes make again."""
        if self.function is None:
            self.function = self.module.get_function(self.name)
            self.word = ErrorWord(self.name, self.errors) if self.errors else None
            self.most_threads = WARP if self.across else _most_threads(self.function)
        lengths = self.team(*args_and_copies) if self.team else ()
        size = sum(map(_bytes, (*own, *sums)))
        if len(self.plans) >= PLANS:
            self.plans.clear()
        room = sum(-(-_bytes(x) // 16) * 16 for x in (*own, *sums)) if self.has_room else 0
        tiles = self.tiles(rows, *args_and_copies) if self.tiles else None
        launch_grid = self.grid(rows, lengths, 0 if room else size, tiles)
        if room * launch_grid[1][1] > (SHARED if tiles is None else SHARED // 2):
            room, launch_grid = 0, self.grid(rows, lengths, size, tiles)
        places = tuple(map(_array_without_memory, own)) if room else ()
        self.plans[key] = plan = LaunchPlan(launch_grid, room, places)
        return plan

    def join(self, parts: Any, out: Any, word: str) -> None:
        """out[j] = parts[0, j] + parts[1, j] + ..., always in the same order."""
        name, size = out.dtype.name, out.size
        self.program.launches += 1
        if name.startswith("complex") and word == "sum":  # the sums of their parts
            name, size = f"float{out.itemsize * 4}", 2 * size
        if size:
            across = min(1 << (size - 1).bit_length(), WARP)
            function = self.module.get_function(f"join_{word}_{name}")
            blocks, threads = (-(-size // across),), (across, THREADS // across)
            function(blocks, threads, (parts, out, parts.shape[0], size))


def _most_threads(function: Any) -> int:
    """How many threads a block of a kernel may have: a power of two."""
    address = getattr(function, "ptr", None)
    if address is None:  # it is none of a device
        return MOST_THREADS
    most = int(cupy().cuda.driver.funcGetAttribute(MAX_THREADS_PER_BLOCK, address))
    return min(MOST_THREADS, 1 << (most.bit_length() - 1))


def _power_of_two(n: int) -> int:
    """The smallest that is not less than a number."""
    return 1 << max(0, n - 1).bit_length()


def _bytes(x: Any) -> int:
    """The memory of an array that is not made yet."""
    return int(math.prod(x.shape) * np.dtype(x.dtype).itemsize)


def _array_without_memory(x: Any) -> Any:
    """An array of this shape at no address: its memory is that of a block."""
    module = cupy()
    nothing = module.cuda.UnownedMemory(0, 0, None, module.cuda.runtime.getDevice())
    return module.ndarray(x.shape, x.dtype, module.cuda.MemoryPointer(nothing, 0))


def grid(
    rows: int | None,
    lengths: Shape,
    most: int,
    size: int,
    most_threads: int = MOST_THREADS,
    busy: int | None = None,
) -> Grid:
    """Blocks, and how a block is shared: threads of a team, teams.

    rows     what teams share; None for kernels that are one block
    lengths  of the loops that the threads of a team share
    most     blocks at most
    size     bytes of what each team has for itself
    most_threads
             of a block, for which a kernel has registers
    busy     threads of all rows at most, if each row has one; None for as many as rows can use
    """
    if rows is None:
        return (1,), (THREADS, 1)
    longest = max((1, *lengths))
    each = next(each for length, each in EACH if longest <= length)
    least = min(_power_of_two(longest), LEAST)
    threads = min(max(_power_of_two(-(-longest // each)), least), most_threads)
    if busy is not None:
        threads = min(threads, 1 << (busy // max(1, rows) | 1).bit_length() - 1)
    teams = THREADS // threads if threads <= WARP else 1
    most = min(most, COPIES // max(1, teams * size))
    return (max(1, min(-(-rows // teams), most)),), (threads, teams)
