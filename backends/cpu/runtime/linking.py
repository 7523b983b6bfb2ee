"""Links object code to functions that Python calls; needs llvmlite, not Numba."""

from __future__ import annotations

import ctypes
import functools
import itertools
import platform
import sys
from collections.abc import Callable, Iterable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tapeless.backends.cpu.runtime import (
    blas,
    products,
    random_functions,
    simd_libraries,
    struct_offsets,
)
from tapeless.backends.cpu.runtime.signature import DTYPES

#: Whether code reaches its constants by short ways (LLVM's small code model). It was tried on Linux
#: only; MCJIT, which serves elsewhere, may put them too far away, and does not notice.
NEAR = sys.platform == "linux" and platform.machine() == "x86_64"
FASTCALL = 0x80
API = """
    PyFloat_Type PyLong_Type PyBool_Type PyComplex_Type _Py_TrueStruct _Py_NoneStruct
    PyObject_Vectorcall PyObject_CallMethod PyLong_AsLongLong PyErr_Occurred Py_IncRef
    PyEval_SaveThread PyEval_RestoreThread PyTuple_New PyTuple_SetItem PyType_GenericAlloc
    PyFloat_FromDouble PyLong_FromLongLong PyBool_FromLong PyComplex_FromDoubles
    PyTuple_GetItem PyList_New PyList_SetItem PyList_GetItem PyList_Size PyErr_Clear Py_DecRef
    PyDict_New PyDict_SetItem PyDict_GetItem PyDict_Next PyDict_Size
    PyObject_GetItem PyObject_GetAttr PyObject_GetAttrString PyCapsule_GetPointer
    PyNumber_Negative PyNumber_MatrixMultiply
"""
#: Places in the table of NumPy's C interface (`multiarray_api.py`).
NUMPY = {"PyArray_New": 93, "PyArray_SetBaseObject": 282}


class PyMethodDef(ctypes.Structure):
    """PyMethodDef: how CPython knows a builtin function."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_make = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(PyMethodDef), ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))


def keep_forever(thing: Any) -> None:
    """Code and descriptions of builtin functions outlast every module: functions made of them may
    be deleted, or called, when the interpreter has cleared this one."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


@functools.cache
def link(code: bytes, externals: tuple[str, ...]) -> Callable[[str], int]:
    """Makes object code ready to run: a function from names in it to their addresses; 0 for names
    that it does not have.

    externals  what it calls in the process
    """
    introduce()
    return _link_by_jitlink(code, externals) if NEAR else _link_by_mcjit(code)


def _link_by_jitlink(code: bytes, externals: Iterable[str]) -> Callable[[str], int]:
    """By JITLink, which puts code and its constants next to one another."""
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in externals:
        builder.import_symbol(name, llvm.address_of_symbol(name))
    library = f"tapeless_{next(_numbers)}"
    keep_forever(builder.link(_linker(), library))

    def place(name: str) -> int:
        try:
            tracker = _linker().lookup(library, name)
        except RuntimeError:
            return 0
        keep_forever(tracker)
        return int(tracker[name])

    return place


def _link_by_mcjit(code: bytes) -> Callable[[str], int]:
    """By MCJIT, for code that names its constants by addresses of 64 bits."""
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    keep_forever(engine)
    return lambda name: int(engine.get_global_value_address(name))


def builtin(address: int, name: str, owner: Any) -> Callable[..., Any]:
    """The function at an address as a builtin one; entries pass on to `owner` what they do not
    take."""
    method = PyMethodDef(name.encode(), address, FASTCALL, None)
    keep_forever(method)
    return _make(ctypes.pointer(method), owner, None)  # type: ignore[no-any-return]


def ready(names: Iterable[str]) -> bool:
    """Whether the process knows all names that code refers to; Numba's are made known."""
    introduce()
    unknown = [name for name in names if not llvm.address_of_symbol(name)]
    if random_functions.needs_draws(unknown):
        random_functions.introduce()
    if unknown:
        simd_libraries.scalar()
    if blas.needs_blas(unknown):
        products.width()
    unknown = [name for name in unknown if not llvm.address_of_symbol(name)]
    if unknown:
        from tapeless.backends.cpu.numba.runtime import start  # noqa: PLC0415

        start()  # some are Numba's, and known from then on
    return all(llvm.address_of_symbol(name) for name in unknown)


@functools.cache
def introduce() -> None:
    """Tells LLVM where the objects are that entries name."""
    struct_offsets.check()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in API.split():
        place = ctypes.c_char.in_dll(ctypes.pythonapi, name)
        llvm.add_symbol(name, ctypes.addressof(place))
    llvm.add_symbol("tapeless_ndarray", id(np.ndarray))
    llvm.add_symbol("tapeless_true", id(np.True_))
    for dtype in DTYPES:
        llvm.add_symbol(f"tapeless_{dtype.name}", id(dtype.type))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    table = pointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    for name, k in NUMPY.items():
        entry = ctypes.c_void_p.from_address(table + k * ctypes.sizeof(ctypes.c_void_p))
        llvm.add_symbol(f"tapeless_{name}", entry.value)


_numbers = itertools.count()


@functools.cache
def _linker() -> Any:
    """JITLink; it does not end the process where a name is unknown."""
    linker = llvm.create_lljit_compiler(use_jit_link=True)
    keep_forever(linker)
    return linker
