"""Represents meshes, devices along named axes, and how arrays are cut along these."""

from __future__ import annotations

import contextvars
import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeless.staging.device_list import Device, chosen_devices, local_devices
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.frontend.trace.recorded_reads import Guard
from tapeless.transforms.frontend.trace.trace import trace


class PartitionSpec:
    """How an array is cut into blocks: for each axis the name of an axis of the mesh, several
    names, or None. Axes at the end that are not mentioned are not cut.

    >>> PartitionSpec("data", None, ("x", "y"))
    PartitionSpec('data', None, ('x', 'y'))
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = tuple(p if p is None or isinstance(p, str) else tuple(p) for p in parts)
        used = self.names
        if len(set(used)) != len(used):
            raise ArgumentError(f"{self!r} names an axis of the mesh twice")

    @property
    def by_axis(self) -> tuple[tuple[str, ...], ...]:
        """The names for each axis."""
        return tuple(() if p is None else (p,) if isinstance(p, str) else p for p in self.parts)

    @property
    def names(self) -> list[str]:
        return [name for names in self.by_axis for name in names]

    def __repr__(self) -> str:
        return f"PartitionSpec({', '.join(map(repr, self.parts))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionSpec) and self.parts == other.parts

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, k: Any) -> Any:
        return self.parts[k]

    def __hash__(self) -> int:
        return hash(self.parts)


P = PartitionSpec


class AxisType(enum.Enum):
    """JAX's kinds of mesh axes; here all of them mean the same."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


_context: contextvars.ContextVar[Mesh | None] = contextvars.ContextVar("mesh", default=None)


class Mesh:
    """Devices along axes that have names; `with mesh:` makes it the mesh of the context.

    devices     an array of devices; a device may be there several times
    axis_names  a name for each axis of that array
    axis_types  of JAX; axes of all types are handled alike

    >>> from tapeless import devices
    >>> Mesh(devices()[:1] * 4, ("data",)).shape
    {'data': 4}
    """

    def __init__(
        self, devices: Any, axis_names: str | Sequence[str], axis_types: Any = None
    ) -> None:
        self.devices = np.asarray(devices, dtype=object)
        self._outer: list[contextvars.Token[Mesh | None]] = []
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if self.devices.ndim and not all(isinstance(d, Device) for d in self.devices.flat):
            raise ArgumentTypeError(
                "Mesh: the devices of a mesh are those of tapeless.devices()",
                "make_mesh((4, 2), names) takes them itself",
            )
        if len(set(self.axis_names)) != len(self.axis_names) or self.devices.ndim != len(
            self.axis_names
        ):
            raise ArgumentError(
                f"Mesh: {self.devices.ndim} axes of devices have the names {self.axis_names}",
                "give each axis a name of its own",
            )

    @property
    def shape(self) -> dict[str, int]:
        return dict(zip(self.axis_names, self.devices.shape, strict=True))

    @property
    def size(self) -> int:
        return 0 if self.empty else int(self.devices.size)

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.devices.shape

    @property
    def device_ids(self) -> Any:
        """The numbers of the devices, as an array."""
        return np.reshape([d.id for d in self.devices.flat], self.devices.shape)

    @property
    def local_devices(self) -> list[Device]:
        """The devices of this process."""
        own = set(local_devices())
        return [d for d in self.devices.flat if d in own]

    @property
    def empty(self) -> bool:
        """Whether there are no devices."""
        return self.devices.ndim == 0

    def __enter__(self) -> Mesh:
        self._outer.append(_context.set(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _context.reset(self._outer.pop())

    def __repr__(self) -> str:
        return "Mesh(" + ", ".join(f"{name}={n}" for name, n in self.shape.items()) + ")"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Mesh)
            and self.axis_names == other.axis_names
            and self.devices.tolist() == other.devices.tolist()
        )

    def __hash__(self) -> int:
        return hash((self.axis_names, self.devices.shape, *self.devices.flat))


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: Any = None,
    *,
    devices: Iterable[Device] | None = None,
) -> Mesh:
    """A mesh of the devices of this process.

    axis_shapes  how many devices lie along each axis
    axis_names   a name for each axis
    axis_types   of JAX; axes of all types are handled alike
    devices      which to take; those of this process. Where the mesh has more places, devices are
                 taken again from the first on: blocks on one device run one after the other, or
                 share it

    >>> make_mesh((2, 2), ("data", "model")).shape
    {'data': 2, 'model': 2}
    """
    available = chosen_devices(None if devices is None else tuple(devices))
    count = math.prod(axis_shapes)
    row = np.empty(count, object)
    row[:] = [available[k % len(available)] for k in range(count)]
    return Mesh(row.reshape(tuple(axis_shapes)), axis_names)


class set_mesh:  # noqa: N801 (used like a function, as JAX names it)
    """Makes a mesh that of the context: from now on, or inside `with set_mesh(mesh):`.

    mesh  a `Mesh`, or None for none

    >>> mesh = make_mesh((2,), ("data",))
    >>> with set_mesh(mesh):
    ...     get_mesh() is mesh
    True
    """

    def __init__(self, mesh: Mesh | None) -> None:
        if mesh is not None and not isinstance(mesh, Mesh):
            raise ArgumentTypeError(
                f"set_mesh: mesh is {type(mesh).__name__}", "make_mesh((2,), ('data',)) is one"
            )
        if active():
            raise ArgumentError(
                "set_mesh is called inside a transformed function", "call it around the function"
            )
        self.mesh, self.token = mesh, _context.set(mesh)

    def __enter__(self) -> Mesh | None:
        return self.mesh

    def __exit__(self, *exception: object) -> None:
        _context.reset(self.token)


def get_mesh() -> Mesh:
    """The mesh of the context; one without axes where none is set.

    >>> get_mesh().empty
    True
    """
    return context_mesh() or Mesh(np.empty((), object), ())


def context_mesh() -> Mesh | None:
    """The mesh of the context; a staged run relies on it."""
    if active():
        trace().reads["the mesh of the context"] = Guard(
            "the mesh of the context", _context.get, _context.get()
        )
    return _context.get()
