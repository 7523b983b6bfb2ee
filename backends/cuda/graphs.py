"""Captures calls of drivers that launch many small kernels as one CUDA graph, which costs the time
of a few launches.

run(x)       a driver in Python, and a launch for each kernel and each product
replay(x)    x is copied to where the graph reads it, the graph is launched, results are copied out

A graph is taken of a call that has been made twice, and only of drivers that do nothing but launch:
what they ask of Python follows from shapes. Its first two calls are also made as before. If their
bits differ, as those of atomic additions may, or CUDA refuses the capture, there is no graph.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapeless.backends.cuda import errors
from tapeless.backends.cuda.availability import cupy
from tapeless.backends.cuda.launch import THREADS, CudaModule
from tapeless.backends.cuda.load_module import GpuProgram, program_of

# Chosen on paper: no card has run graphs yet. benchmarks/gpu.py measures them.
SEEN = 2  # calls before a graph is taken: what kernels and libraries need is there by then
COMPARED = 2  # calls of a graph that are also made by launches
LEAST = 4  # launches of a call, below which a graph saves nothing
MOST = 10_000
BYTES = 4 << 20  # that may be copied for each launch saved: 4 us at 1 TB/s, twice
HELD = 1 << 30  # bytes that a graph may keep
MANY = 256  # graphs of a process
TOGETHER = 8  # arrays that one launch copies
SETTING = "TAPELESS_GPU_GRAPHS"
COPY = "copy_arrays"
PAIRS = ", ".join(f"const char* from_{k}, char* to_{k}, i64 size_{k}" for k in range(TOGETHER))
COPY_TEXT = f"""typedef long long i64;

extern "C" __global__ void {COPY}({PAIRS}) {{
  // blockIdx.y says which array: bytes of it go from one place to another
  const char* sources[] = {{{", ".join(f"from_{k}" for k in range(TOGETHER))}}};
  char* targets[] = {{{", ".join(f"to_{k}" for k in range(TOGETHER))}}};
  i64 sizes[] = {{{", ".join(f"size_{k}" for k in range(TOGETHER))}}};
  const char* from = sources[blockIdx.y];
  char* to = targets[blockIdx.y];
  i64 size = sizes[blockIdx.y], first = blockIdx.x * (i64)blockDim.x + threadIdx.x;
  i64 step = gridDim.x * (i64)blockDim.x;
  i64 wide = ((unsigned long long)from | (unsigned long long)to) % 16 ? 0 : size / 16;
  for (i64 k = first; k < wide; k += step) ((double2*)to)[k] = ((const double2*)from)[k];
  for (i64 k = 16 * wide + first; k < size; k += step) to[k] = from[k];
}}
"""


class ReplayedRun:
    """A driver for arguments of the same types and shapes, by launches or by a graph.

    reason  why there is no graph; "" if there is one, or may still be
    """

    def __init__(self, run: Callable[..., Any], program: GpuProgram) -> None:
        self.run, self.program = run, program
        self.lock = threading.Lock()
        self.calls = self.compared = 0
        self.graph: _Graph | None = None
        self.reason = ""

    def __call__(self, *args: Any) -> Any:
        graph = self.graph
        if graph is not None and self.compared >= COMPARED:
            done, results = self.replay(graph, args)
            return results if done else self.run(*args)
        if self.reason:
            return self.run(*args)
        with self.lock:
            return self.first_calls(args)

    def replay(self, graph: _Graph, args: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether the graph is for these arguments, and what it gives."""
        leaves = list(_leaves(args))
        if not graph.takes(leaves):
            return False, None
        if errors.pending:
            errors.raise_noted()
        with self.lock:  # another thread's arguments would come between
            return True, graph.launch(leaves)

    def first_calls(self, args: tuple[Any, ...]) -> Any:
        """A call by launches, with what it takes to have a graph later."""
        self.calls += 1
        before = self.program.launches
        results = self.run(*args)
        leaves = list(_leaves(args))
        if self.calls == SEEN:
            self.reason = _why_not(self.program.launches - before, leaves, results)
        elif self.calls > SEEN and not self.reason:
            self.compare(leaves, args, results)
        return results

    def compare(self, leaves: list[Any], args: tuple[Any, ...], results: Any) -> None:
        """Takes a graph, if there is none, and gives it up if its results are others than those of
        launches. What the user records is left alone."""
        if cupy().cuda.get_current_stream().is_capturing():
            return
        try:
            if self.graph is None:
                self.graph = _Graph(self.run, args, results)
            if not self.graph.takes(leaves):
                return
            replayed = self.graph.launch(leaves)
        except Exception as e:  # noqa: BLE001  # whatever CUDA or CuPy refuses: launches do it
            self.graph, self.reason = None, f"{type(e).__name__}: {e}"
            return
        pairs = zip(_leaves(replayed), _leaves(results), strict=True)
        if all(_same_bits(a, b) for a, b in pairs):
            self.compared += 1
        else:
            self.graph, self.reason = None, "its results differ from those of launches"


def with_graphs(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `load` that becomes a graph after some calls, if it may."""
    program = program_of(run)
    if program is None or os.environ.get(SETTING, "1") == "0" or not program.only_launches:
        return run
    return ReplayedRun(run, program)


def _why_not(launches: int, leaves: list[Any], results: Any) -> str:
    """Why a call is better made by launches; "" if a graph may do better."""
    array = cupy().ndarray
    outs = [x for x in _leaves(results) if isinstance(x, array)]
    arrays = [x for x in leaves if isinstance(x, array)]
    if not LEAST <= launches <= MOST:
        return f"it makes {launches} launches"
    if sum(x.nbytes for x in (*arrays, *outs)) > BYTES * launches:
        return "its arguments and results are large"
    if _Graph.count >= MANY:
        return f"there are {MANY} graphs"
    if not outs or not all(_is_dense(x) for x in outs):
        return "its results do not lie one behind the other"
    if any(not isinstance(x, (array, int, float, bool, type(None))) for x in _leaves(results)):
        return "its results are more than arrays and numbers"
    return ""


class _Graph:
    """A call that CUDA repeats: `inputs` are the arrays that it reads, `outputs` what it fills."""

    count = 0  # of all of this process

    def __init__(self, run: Callable[..., Any], args: tuple[Any, ...], results: Any) -> None:
        module = cupy()
        self.array = module.ndarray
        self.copy = _copying(module.cuda.runtime.getDevice())
        self.numbers = [x for x in _leaves(args) if not isinstance(x, self.array)]
        current = module.cuda.get_current_stream()
        stream = module.cuda.Stream(non_blocking=True)
        self.pool = module.cuda.MemoryPool()  # nobody else gets what the graph uses
        with stream, module.cuda.using_allocator(self.pool.malloc):
            stream.wait_event(current.record())
            inputs = _map_leaves(args, self._new_like)
            self.inputs = [x for x in _leaves(inputs) if isinstance(x, self.array)]
            self.copy_all([x for x in _leaves(args) if isinstance(x, self.array)], self.inputs)
            run(*inputs)  # libraries take what they need on this stream, before it is recorded
            before = dict(errors.pending)
            errors.pending.clear()
            try:
                with _recording(stream) as recorded:
                    self.results = run(*inputs)
                self.words = dict(errors.pending)
            finally:
                errors.pending.update(before)
        current.wait_event(stream.record())
        self.graph, self.stream = recorded[0], current
        if int(self.pool.total_bytes()) > HELD:
            raise MemoryError(f"a graph would keep {self.pool.total_bytes()} bytes")
        self.outputs = [x for x in _leaves(self.results) if isinstance(x, self.array)]
        expected = [x for x in _leaves(results) if isinstance(x, self.array)]
        if [(x.shape, x.strides) for x in expected] != [(x.shape, x.strides) for x in self.outputs]:
            raise ValueError("the results lie otherwise in memory")
        _Graph.count += 1

    def _new_like(self, x: Any) -> Any:
        return self.array(x.shape, x.dtype) if isinstance(x, self.array) else x

    def takes(self, leaves: list[Any]) -> bool:
        """Whether the graph is right for arguments: numbers are part of it."""
        arrays = [x for x in leaves if isinstance(x, self.array)]
        numbers = [x for x in leaves if not isinstance(x, self.array)]
        same = all(
            a is b or (type(a) is type(b) and repr(a) == repr(b))
            for a, b in zip(numbers, self.numbers, strict=True)
        )
        return same and all(x.flags.c_contiguous for x in arrays)

    def launch(self, leaves: list[Any]) -> Any:
        """Results of the graph for arguments, in memory of their own. Nothing is waited for, but by
        another stream than that of the last call, which may still read the arguments of that."""
        stream = cupy().cuda.get_current_stream()
        if stream.ptr != self.stream.ptr:
            stream.wait_event(self.stream.record())
            self.stream = stream
        self.copy_all([x for x in leaves if isinstance(x, self.array)], self.inputs)
        self.graph.launch()
        errors.pending.update(self.words)
        fresh = [_empty_like(x, self.array) for x in self.outputs]
        self.copy_all(self.outputs, fresh)
        rest = iter(fresh)
        return _map_leaves(self.results, lambda x: next(rest) if isinstance(x, self.array) else x)

    def copy_all(self, sources: list[Any], targets: list[Any]) -> None:
        """Copies arrays of the same sizes, several by a launch."""
        pairs = [(a, b, a.nbytes) for a, b in zip(sources, targets, strict=True) if a.nbytes]
        for k in range(0, len(pairs), TOGETHER):
            some = pairs[k : k + TOGETHER]
            most = max(size for _, _, size in some)
            blocks = max(1, min(-(-most // (16 * THREADS)), 1024))
            filled = [*some, *[some[0]] * (TOGETHER - len(some))]
            grid = (blocks, len(some))
            self.copy(grid, (THREADS,), tuple(x for pair in filled for x in pair))


@functools.cache
def _copying(device: int) -> Any:
    """The function that copies several arrays, for the device that is current."""
    return CudaModule(GpuProgram(COPY, COPY_TEXT), COPY_TEXT).get_function(COPY)


@contextlib.contextmanager
def _recording(stream: Any) -> Iterator[list[Any]]:
    """The launches inside as a graph, which is in the list behind it."""
    graphs: list[Any] = []
    stream.begin_capture()
    try:
        yield graphs
    except BaseException:
        with contextlib.suppress(Exception):
            stream.end_capture()
        raise
    graphs.append(stream.end_capture())


def _leaves(x: Any) -> Iterable[Any]:
    """The arrays and numbers in nested containers."""
    kind = type(x)
    if kind is tuple or kind is list:
        for part in x:
            yield from _leaves(part)
    elif kind is dict:
        for part in x.values():
            yield from _leaves(part)
    else:
        yield x


def _map_leaves(x: Any, function: Callable[[Any], Any]) -> Any:
    """Nested containers with other leaves."""
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([_map_leaves(part, function) for part in x])
    if kind is dict:
        return {key: _map_leaves(part, function) for key, part in x.items()}
    return function(x)


def _is_dense(x: Any) -> bool:
    """Whether all elements lie in one piece of memory that begins with the first one."""
    return bool(x.flags.c_contiguous or x.flags.f_contiguous)


def _empty_like(x: Any, array: Any) -> Any:
    return array(x.shape, x.dtype, order="C" if x.flags.c_contiguous else "F")


def _same_bits(a: Any, b: Any) -> bool:
    """Whether two results are the same. It waits."""
    if not hasattr(a, "get"):
        return bool(a == b)
    return bool(a.get().tobytes() == b.get().tobytes())
