"""`cupy.cuda` of the stand-in: devices that are names, streams that are done at once, NVRTC that
keeps the text, and launches by the emulator."""

from __future__ import annotations

import contextlib
import ctypes
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.gpu.cupy_arrays import (
    COUNTERS,
    STATE,
    CUDARuntimeError,
    MemoryPointer,
    UnownedMemory,
    ndarray,
    refuse_in_capture,
)
from tests.gpu.emulator import Argument, Code, Pointer

MACHINE_CODE = b"text for the emulator\n"
MULTIPROCESSORS, SHARED_MEMORY = 132, 232448


class Machine:
    """How many devices there are, and the limits of the current one, by number."""

    devices = 1
    limits = {2: 2**23}  # noqa: RUF012  # there is one machine


MACHINE = Machine()


class OutOfMemoryError(MemoryError):
    """CuPy's."""


class NVRTCError(RuntimeError):
    """CuPy's."""


class Device:
    """A device, which is current inside of `with`."""

    def __init__(self, device: Any = None) -> None:
        self.id = STATE.device if device is None else int(getattr(device, "id", device))
        if not 0 <= self.id < MACHINE.devices:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.compute_capability = "90"
        self.attributes = {
            "MultiProcessorCount": MULTIPROCESSORS,
            "MaxSharedMemoryPerBlockOptin": SHARED_MEMORY,
        }
        self._before: list[int] = []

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __enter__(self) -> Device:
        self._before.append(STATE.device)
        STATE.device = self.id
        return self

    def __exit__(self, *_: object) -> None:
        STATE.device = self._before.pop()

    def use(self) -> None:
        """Makes it current."""
        STATE.device = self.id

    def synchronize(self) -> None:
        """Waits."""
        COUNTERS.waits += 1


class Stream:
    """A stream, which is current inside of `with`."""

    current: list[Stream]
    null: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        self.ptr = 0 if null else id(self)

    def __enter__(self) -> Stream:
        Stream.current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        Stream.current.pop()

    def use(self) -> Stream:
        """Makes it current."""
        Stream.current[-1] = self
        return self

    def synchronize(self) -> None:
        """Waits."""
        refuse_in_capture("a stream is waited for")
        COUNTERS.waits += 1

    def begin_capture(self, mode: Any = None) -> None:
        """Records what is launched, instead of launching it."""
        if self.ptr == 0:
            raise CUDARuntimeError("cudaErrorStreamCaptureUnsupported: the legacy stream")
        STATE.graph = []

    def end_capture(self) -> Graph:
        """What was recorded."""
        actions, STATE.graph = STATE.graph, None
        if actions is None:
            raise CUDARuntimeError("cudaErrorIllegalState: the stream does not record")
        return Graph(actions)

    def is_capturing(self) -> bool:
        """Whether launches are recorded."""
        return STATE.graph is not None

    def record(self, event: Any = None) -> Any:
        """An event at this point of the stream."""
        return Event() if event is None else event

    def wait_event(self, event: Any) -> None:
        """Lets the stream wait, not the host."""


Stream.null = Stream(null=True)
Stream.current = [Stream.null]


class Graph:
    """`cupy.cuda.Graph`: what was recorded, to be done again."""

    def __init__(self, actions: list[Any]) -> None:
        self.actions = actions

    def launch(self, stream: Any = None) -> None:
        """Does it."""
        COUNTERS.launches.append(("graph", (len(self.actions),), ()))
        for action in self.actions:
            action()


class Event:
    """A point of a stream, which has passed."""

    done = True

    def record(self, stream: Any = None) -> None:
        """Marks the point."""

    def synchronize(self) -> None:
        """Waits."""
        COUNTERS.waits += 1


class Function:
    """A kernel."""

    max_dynamic_shared_size_bytes = 48 << 10

    def __init__(self, code: Code, name: str) -> None:
        if name not in code.names:
            raise CUDARuntimeError("CUDA_ERROR_NOT_FOUND: named symbol not found")
        self.code, self.name = code, name

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise CUDARuntimeError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        values = [argument(x) for x in args]
        if STATE.graph is not None:
            keeps = list(args)  # nobody else gets the memory of a graph
            STATE.graph.append(
                lambda: self.code.launch(self.name, grid, block, values, shared_mem) and keeps
            )
            return
        COUNTERS.launches.append((self.name, tuple(grid), tuple(block)))
        self.code.launch(self.name, grid, block, values, shared_mem)


PINNED: list[np.ndarray] = []


def argument(x: Any) -> Argument:
    """An argument of a launch as CuPy passes it. Raises TypeError for what it refuses."""
    if isinstance(x, ndarray):
        return np.uint64(0) if x.nowhere else Pointer(x._host)
    if isinstance(x, int) and not isinstance(x, bool):
        for memory in PINNED:  # an address that was passed as a number
            offset = x - memory.ctypes.data
            if 0 <= offset < memory.nbytes:
                return Pointer(memory[offset:])
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return np.array(x)
    raise TypeError(f"Unsupported type {type(x)}")


class Module:
    """`cupy.cuda.function.Module`."""

    def load(self, cubin: bytes) -> None:
        """Takes what the stand-in's NVRTC has made."""
        if not cubin.startswith(MACHINE_CODE):
            raise CUDARuntimeError("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid")
        self.code = Code(cubin.removeprefix(MACHINE_CODE).decode())

    def get_function(self, name: str) -> Function:
        """A kernel of the module."""
        return Function(self.code, name)


class RawModule:
    """`cupy.RawModule`."""

    def __init__(
        self,
        *,
        code: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        enable_cooperative_groups: bool = False,
    ) -> None:
        self.code = Code(code, enable_cooperative_groups)

    def get_function(self, name: str) -> Function:
        """A kernel of the module."""
        return Function(self.code, name)


def RawKernel(code: str, name: str, options: tuple[str, ...] = (), **more: Any) -> Function:  # noqa: N802  # CuPy's name
    """`cupy.RawKernel`."""
    return RawModule(code=code, options=options, **more).get_function(name)


class Programs:
    """`cupy.cuda.nvrtc`: what it compiles is run by the emulator."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def module(self) -> Any:
        """The names of the module."""
        return types.SimpleNamespace(
            NVRTCError=NVRTCError,
            getVersion=lambda: (0, 0),  # so that kept code is not taken for that of a GPU
            getSupportedArchs=lambda: [75, 80, 86, 89, 90, 100, 120],
            createProgram=self.create,
            compileProgram=lambda program, options: None,
            getProgramLog=lambda program: "",
            getCUBIN=lambda program: MACHINE_CODE + self.texts[program].encode(),
            destroyProgram=lambda program: None,
        )

    def create(self, text: str, name: str, headers: Any, includes: Any) -> int:
        """The number of a program."""
        self.texts.append(text)
        return len(self.texts) - 1


def alloc_pinned_memory(size: int) -> Any:
    """Memory of the host that devices see."""
    memory = np.full(size, 0xFF, np.uint8)
    PINNED.append(memory)
    return (ctypes.c_char * size).from_buffer(memory)


class MemoryPool:
    """`cupy.cuda.MemoryPool`, as far as it counts: the one that all use, and those that programs
    make for a part of what they do."""

    def __init__(self) -> None:
        self.limit = self.taken = 0

    def malloc(self, size: int) -> None:
        """Counts memory that an array takes."""
        self.taken += size

    def used_bytes(self) -> int:
        """All that was ever made: nothing is counted back."""
        return COUNTERS.allocated if self is POOL else self.taken

    total_bytes = used_bytes

    def free_bytes(self) -> int:
        """What the pool holds for later."""
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives memory back."""

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """The most that the pool may hold."""
        self.limit = int(size if size is not None else (fraction or 0) * TOTAL)

    def get_limit(self) -> int:
        """The most that the pool may hold."""
        return self.limit


@contextlib.contextmanager
def using_allocator(allocator: Any) -> Iterator[None]:
    """`cupy.cuda.using_allocator`."""
    before, STATE.allocator = STATE.allocator, allocator
    try:
        yield
    finally:
        STATE.allocator = before


TOTAL = 80 << 30
POOL = MemoryPool()


def set_device(number: int) -> None:
    """`cudaSetDevice`."""
    Device(number).use()


RUNTIME = types.SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDevice=lambda: STATE.device,
    setDevice=set_device,
    getDeviceCount=lambda: MACHINE.devices,
    getDeviceProperties=lambda k: {
        "name": b"stand-in",
        "multiProcessorCount": MULTIPROCESSORS,
        "totalGlobalMem": TOTAL,
        "major": 9,
        "minor": 0,
    },
    deviceGetAttribute=lambda attribute, device: MULTIPROCESSORS,
    deviceSynchronize=lambda: Device().synchronize(),
    deviceGetLimit=lambda limit: MACHINE.limits[limit],
    deviceSetLimit=lambda limit, size: MACHINE.limits.update({limit: size}),
    memGetInfo=lambda: (TOTAL - COUNTERS.allocated, TOTAL),
    driverGetVersion=lambda: 13000,
    runtimeGetVersion=lambda: 13000,
)


def namespace() -> Any:
    """The module `cupy.cuda`."""
    module = types.ModuleType("cupy.cuda")
    vars(module).update(
        Device=Device,
        Stream=Stream,
        Event=Event,
        Graph=Graph,
        using_allocator=using_allocator,
        MemoryPointer=MemoryPointer,
        UnownedMemory=UnownedMemory,
        MemoryPool=MemoryPool,
        alloc_pinned_memory=alloc_pinned_memory,
        get_current_stream=lambda device_id=None: Stream.current[-1],
        is_available=lambda: MACHINE.devices > 0,
        nvrtc=Programs().module(),
        runtime=RUNTIME,
        function=types.SimpleNamespace(Module=Module, Function=Function),
        memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        compiler=types.SimpleNamespace(CompileException=NVRTCError),
    )
    return module
