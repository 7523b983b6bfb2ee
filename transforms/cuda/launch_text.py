"""Writes the part of a module for a GPU that launches its kernels: Python that runs by itself with
CuPy.

softmax_kernel = Kernel("softmax_kernel", lambda rows, x, out: (rows, x, out, x.shape[1]), ...)
softmax_kernel(x.shape[0], x, out)      rows are shared among teams of threads

The loader of `backends/cuda` puts a class of its own there, which does the same in less time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

#: Names of the module that are not the user's.
NAMES = (
    *("cp", "numpy", "cupyx", "CODE", "module", "Kernel"),
    *("on_device", "host", "within", "raising", "unique_rows"),
)

#: Limit 2 is that of memory that kernels make; before the first of them is launched it can be set.
HEAP = """
if cp.cuda.runtime.deviceGetLimit(2) < 2**29:  # bytes for lists that grow in kernels
    cp.cuda.runtime.deviceSetLimit(2, 2**29)
"""

#: Without it CuPy goes on with what a factorisation that failed left behind.
RAISING = '''
def raising(function):
    """The function, in which matrices that cannot be factorised are errors, as in NumPy."""

    def run(*args):
        with cupyx.errstate(linalg="raise"):
            return function(*args)

    return run
'''

KERNEL = '''
class Kernel:
    """A kernel of the module; a call launches it.

    Each row has a team of threads: one of them, or as many as its longest loop can use. Grids
    depend on sizes alone, whatever the device, and so do the bits of sums.
    """

    def __init__(
        self,
        name,
        arguments,
        *,
        team=None,
        side=None,  # how many rows each row of the driver is
        tiles=None,  # how many tiles of 32 x 32 passes blocks share
        across=False,  # neighbouring rows read neighbouring elements
        small_teams=False,  # no larger than it takes to keep a device busy
        width=1,  # rows that a thread takes at once
        results=(),
        errors=(),
        scratch=(),
        joins=(),
    ):
        self.name, self.arguments, self.team, self.results = name, arguments, team, results
        self.side, self.tiles = side, tiles
        self.across, self.small_teams, self.width = across, small_teams, width
        self.errors, self.scratch, self.joins = errors, scratch, joins
        names = arguments.__code__.co_varnames[: arguments.__code__.co_argcount]
        self.has_room = "room" in names
        self.names = [name for name in names if name not in ("rows", "results", "error", "room")]

    def __call__(self, rows, *args, own=(), sums=()):
        if rows == 0 and not sums and not self.results:
            return None
        given = dict(zip(self.names, (*map(self.contiguous, args), *own, *sums)))
        if self.side:
            rows *= self.side(**given)
        blocks, teams, threads = self.grid(rows, given, (*own, *sums))
        scratch = {name: cp.empty(shape(**given), dtype) for name, dtype, shape in self.scratch}
        copies = [cp.empty((blocks * teams, *x.shape), x.dtype) for x in (*own, *sums)]
        outs = [
            cp.zeros(2, cp.int64) if word == "array" else cp.empty((), dtype)
            for dtype, word in self.results
        ]
        parts = [
            out if word in ("first", "array") or blocks == 1 else cp.empty(blocks, out.dtype)
            for out, (_, word) in zip(outs, self.results)
        ]
        for name, copy in zip(self.names[len(args) :], copies):
            given[name] = copy[0]  # where all copies begin, with the shape of one
        given |= scratch
        if rows is not None:
            given["rows"] = rows
        if self.has_room:
            given["room"] = 0  # bytes that teams share with their block; here they have memory
        if self.results:
            given["results"] = parts
        if self.errors:
            given["error"] = cp.array([2**64 - 1, 0, 0, 0], cp.uint64)
        module.get_function(self.name)((blocks,), (threads, teams), self.arguments(**given))
        for part, out, (_, word) in zip(parts, outs, self.results):
            if part is not out:
                self.join(part, out, word)
        for part, out, word in zip(copies[len(own) :], sums, self.joins):
            self.join(part, out, word)
        if self.errors:
            self.check(*map(int, given["error"].get()))
        for k, (dtype, word) in enumerate(self.results):
            outs[k] = self.take(outs[k], dtype) if word == "array" else outs[k]
        return outs[0] if len(outs) == 1 else tuple(outs) if outs else None

    def grid(self, rows, given, copied):
        """Blocks, teams of a block, and threads of a team."""
        if rows is None:
            return 1, 1, 256
        longest = max((1, *self.team(**given))) if self.team else 1
        each = 8 if longest <= 128 else 16 if longest <= 2048 else 32  # elements for a thread
        least = max(min(longest, 4), -(-longest // each))
        threads = min(1 << max(0, least - 1).bit_length(), 32 if self.across else 1024)
        if self.small_teams:
            threads = min(threads, 1 << (2**17 // max(1, rows) | 1).bit_length() - 1)
        teams = 256 // threads if threads <= 32 else 1  # larger teams meet at barriers of the block
        most = 512 if self.joins else 2048 if self.results else 2**24
        if self.width == 1 and not self.team:
            most = min(most, 4096)
        if self.tiles:
            threads, teams, count = 32, 8, self.tiles(rows, **given)
        else:
            count = -(-rows // (teams * self.width))
        room = 2**31 // max(1, teams * sum(map(self.bytes_of, copied)))
        return max(1, min(count, most, room)), teams, threads

    def check(self, noted, *told):
        """Raises the error of the first row that failed: the row, times 256, and its number. Where
        its arguments have `...`, it tells an integer; ("%", text, ...) is a text that does."""
        if noted != 2**64 - 1:
            import builtins, numpy.linalg

            kind, args = self.errors[noted % 256]
            integers = iter([n - 2**64 * (n >= 2**63) for n in told])

            def filled(a):
                if isinstance(a, tuple):
                    a = tuple(map(filled, a))
                    return a[1] % a[2:] if a[:1] == ("%",) else a
                return next(integers) if a is ... else a

            raise (getattr(builtins, kind, None) or getattr(numpy.linalg, kind))(*filled(args))

    @staticmethod
    def take(kept, dtype):
        """The array that a kernel left in memory of its own, which is given back."""
        out = cp.empty(int(kept[1]), dtype)
        module.get_function(f"take_{dtype}")((1,), (256,), (kept, out, len(out)))
        return out

    @staticmethod
    def contiguous(x):
        """The argument as kernels take it: arrays have their rows one behind the other."""
        return cp.ascontiguousarray(x) if isinstance(x, cp.ndarray) and x.ndim else x

    @staticmethod
    def bytes_of(x):
        """The memory of an array that is not made yet."""
        size = cp.dtype(x.dtype).itemsize
        for n in x.shape:
            size *= n
        return size

    @staticmethod
    def join(parts, out, word):
        """out[j] = parts[0, j] + parts[1, j] + ..., always in the same order."""
        # complex numbers are added up as two
        flat = out.dtype.type(0).real.dtype if word == "sum" else out.dtype
        size = out.size * (out.dtype.itemsize // flat.itemsize)
        across = min(1 << max(0, size - 1).bit_length(), 32)
        function = module.get_function(f"join_{word}_{flat}")
        if size:
            function((-(-size // across),), (across, 256 // across), (parts, out, len(parts), size))
'''
ON_DEVICE = '''
def on_device(x, dtype):
    """A number that a kernel reads from memory: it is there, or is put there."""
    return x if isinstance(x, cp.ndarray) else cp.asarray(x, dtype)
'''
HOST = '''
def host(x):
    """A number or an array as NumPy has it; it waits for the device."""
    return x.get()[()] if isinstance(x, cp.ndarray) else x
'''

#: CuPy's own indices wrap around.
WITHIN = '''
def within(places, x, axis):
    """Indices of an axis, if all are within its bounds; it waits for the device."""
    n = x.shape[axis]
    if places.size and not -n <= int(places.min()) <= int(places.max()) < n:
        index = next(int(k) for k in places.ravel() if not -n <= k < n)
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    return places
'''

#: CuPy sorts rows on the host.
UNIQUE_ROWS = '''
def unique_rows(x, axis, part="values"):
    """np.unique along an axis: its parts in order, by their first numbers, then the second ones;
    it waits for the device."""
    rows = cp.moveaxis(x, axis, 0)
    flat = cp.ascontiguousarray(rows.reshape(len(rows), rows.size // max(1, len(rows))))
    kinds = {"c": flat.real.dtype, "b": cp.uint8}
    keys = flat.view(kinds.get(flat.dtype.kind, flat.dtype))  # complex numbers are two keys
    keys = keys.astype(cp.float32) if keys.dtype == cp.float16 else keys
    order = cp.lexsort(cp.ascontiguousarray(keys.T[::-1])) if keys.size else cp.arange(len(flat))
    ordered = flat[order]
    is_first = cp.ones(len(order), cp.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = cp.flatnonzero(is_first)
    if part == "index":
        return order[first]
    if part == "inverse":
        inverse = cp.empty(len(order), cp.int64)
        inverse[order] = cp.cumsum(is_first) - 1
        return inverse
    if part == "counts":
        ends = cp.full(len(first) + 1, len(order))
        ends[:-1] = first
        return ends[1:] - ends[:-1]
    return cp.moveaxis(ordered[first].reshape(len(first), *rows.shape[1:]), 0, axis)
'''

#: How two partial results become one, a before b. NaN is larger and smaller than all numbers.
COMBINED = {
    "sum": "a + b",
    "prod": "a * b",
    "max": "a > b || a != a ? a : b",
    "min": "a < b || a != a ? a : b",
    "any": "a || b",
    "all": "a && b",
}
C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
JOIN = """extern "C" __global__
void {name}(const {c}* parts, {c}* out, long long count, long long n) {{
  // out[j] = parts[0, j] and parts[1, j] and ... put together, always in the same order
  __shared__ {c} held[256];
  long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  unsigned y = threadIdx.y, k = y * blockDim.x + threadIdx.x;
  if (j < n && y < count) {{
    {c} a = parts[y * n + j];
    for (long long p = y + blockDim.y; p < count; p += blockDim.y) {{
      {c} b = parts[p * n + j];
      a = {combined};
    }}
    held[k] = a;
  }}
  for (unsigned d = blockDim.y / 2; d; d /= 2) {{
    __syncthreads();
    if (j < n && y < d && y + d < count) {{
      {c} a = held[k], b = held[k + d * blockDim.x];
      held[k] = {combined};
    }}
  }}
  if (j < n && y == 0) out[j] = held[k];
}}"""


def join_text(dtype: np.dtype[Any], word: str) -> str:
    """The kernel that puts the partial results of blocks together, as CUDA C.

    dtype  of the results; sums of complex numbers are sums of their parts, and their products are
           those of the class that kernels have for them
    word   how: a key of COMBINED

    Raises KeyError for what has no such kernel.

    >>> print(join_text(np.dtype("float32"), "sum").partition("(")[0])
    extern "C" __global__
    void join_sum_float32
    """
    flat = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" and word == "sum" else dtype
    name = f"join_{word}_{flat.name}"
    c = f"c{8 * flat.itemsize}" if (flat.kind, word) == ("c", "prod") else C_TYPES[flat.name]
    return JOIN.format(name=name, c=c, combined=COMBINED[word])


TAKE = """extern "C" __global__
void take_{name}(long long* kept, {c}* out, long long count) {{
  // what a kernel left: where it is, and how many
  {c}* items = ({c}*)kept[0];
  for (long long k = threadIdx.x; k < count; k += blockDim.x) out[k] = items[k];
  __syncthreads();
  if (threadIdx.x == 0 && items) free(items);
}}"""


def join_texts(partial: Iterable[tuple[np.dtype[Any], str]]) -> list[str]:
    """The kernels that a module needs for its partial results, each once.

    partial  dtypes, and how results of that dtype are put together; "first" needs nothing, and
             "array" one that fetches the elements
    """
    texts = (
        TAKE.format(name=dtype.name, c=C_TYPES.get(dtype.name, f"c{8 * dtype.itemsize}"))
        if word == "array"
        else join_text(dtype, word)
        for dtype, word in partial
        if word != "first"
    )
    return list(dict.fromkeys(texts))
