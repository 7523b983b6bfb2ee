"""Takes arrays of other libraries without a copy: by NumPy's DLPack functions, or CuPy's for a
GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.lazy_import import lazy_module
from tapeless.transforms.errors import ArgumentTypeError

if TYPE_CHECKING:
    from tapeless.staging import gpu_arrays
else:
    gpu_arrays = lazy_module("tapeless.staging.gpu_arrays")

CUDA = (2, 13)  # DLPack's numbers for memory of a GPU, and for memory that it shares with the host


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Any:
    """An array of NumPy, or on a GPU, in the memory of an array of another library.

    external_array  an array with `__dlpack__`: of PyTorch, JAX, TensorFlow, CuPy
    device, copy    as for `numpy.from_dlpack`; arrays on a GPU stay there

    Raises BufferError or ValueError for what cannot be shared, TypeError for dtypes that NumPy does
    not have.

    >>> from_dlpack(np.arange(3.0))
    array([0., 1., 2.])
    """
    place = getattr(external_array, "__dlpack_device__", None)
    if place is not None and place()[0] in CUDA:
        return gpu_arrays.import_shared(external_array, device, copy)
    try:
        return np.from_dlpack(external_array, device=device, copy=copy)
    except RuntimeError as e:
        if "Unsupported dtype" not in str(e):
            raise
        dtype = getattr(external_array, "dtype", "its dtype")
        raise ArgumentTypeError(
            f"from_dlpack: NumPy has no dtype for {dtype}",
            "convert it first, to float32 for instance",
        ) from e


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays of a dtype can be exchanged.

    >>> is_supported_dtype(float), is_supported_dtype(str)
    (True, False)
    """
    return np.dtype(dtype).kind in "biufc"


__all__ = ["from_dlpack", "is_supported_dtype"]
