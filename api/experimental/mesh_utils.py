"""Provides `create_device_mesh` of jax.experimental.mesh_utils."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeless.missing import missing
from tapeless.sharding import make_mesh
from tapeless.staging.device_list import Device


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Device] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> Any:
    """An array of devices for `sharding.Mesh`: those of `make_mesh`.

    The other arguments are for networks of accelerators, and say nothing here.

    >>> create_device_mesh((2, 1)).shape
    (2, 1)
    """
    names = [str(k) for k in range(len(mesh_shape))]
    return make_mesh(mesh_shape, names, devices=devices).devices


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = ["create_device_mesh"]
