"""Writes calls of functions of whole arrays that NumPy has from libraries, and C from `helpers`.

w = np.fft.fft(x)      becomes      fourier_c128(x_0, w, 1, -1, 1, roots);
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tapeless.transforms.c import matrix_exponential
from tapeless.transforms.c.driver_scope import DriverScope
from tapeless.transforms.c.strided import Strided, sum_of
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.dialect import suffix
from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import UNARY, CValue, NotPrintedError, constant
from tapeless.transforms.core.language import Atom, Let, Statement, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.obstacles import library_of
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import BOOL, INT, NARROW, Dtype
from tapeless.transforms.ops.fourier import fft
from tapeless.transforms.ops.linalg import (
    factorisations,
    matrix_functions,
    repeated_eigenvalues,
)
from tapeless.transforms.ops.numpy import histograms

EIGENVALUES: Error = ("LinAlgError", ("Eigenvalues did not converge",))
SVD: Error = ("LinAlgError", ("SVD did not converge",))
PARTS_OF_UNIQUE = ("values", "index", "inverse", "counts")
#: The norm by which a transform, or its inverse, is divided by the number of points.
SCALED = {False: "forward", True: "backward"}


class LibraryFunctions(DriverScope):
    """Functions of whole arrays."""

    def allocate_filled(self, v: Var, length: CValue) -> Strided:
        """Memory for an array of a length that is known once it is filled."""
        raise NotImplementedError

    def copy(self, view: Strided, to: Strided, s: Statement | None = None, sign: str = "=") -> None:
        """The numbers of an array, to a place of others."""
        raise NotImplementedError

    def loop_over_elements(
        self,
        lengths: Sequence[CValue],
        strides: Sequence[Sequence[CValue]],
        text: Callable[[Sequence[CValue]], str],
        s: Statement | None,
    ) -> None:
        """Loops over all elements."""
        raise NotImplementedError

    def library_function(self, s: Let) -> bool:
        """Writes a call, if there is such a function."""
        writers: Mapping[Op, Callable[[Let], None]] = {
            fft.fft: self.fourier,
            fft.rfft: self.half_fourier,
            fft.irfft: self.inverse_of_half,
            factorisations.qr: self.qr,
            factorisations.eigh: self.eigh,
            factorisations.svd: self.svd,
            matrix_functions.matrix_function: self.exponential,
            matrix_functions.slope: self.exponential,
            repeated_eigenvalues.inverse_gaps: self.spectral,
            repeated_eigenvalues.inverse_sums: self.spectral,
            repeated_eigenvalues.parted: self.turns,
            repeated_eigenvalues.clear: self.clear,
            histograms.unique: self.unique,
            histograms.unique_part: self.unique,
        }
        if s.op not in writers:
            return False
        writers[s.op](s)
        return True

    def new_memory(self, stem: str, dtype: Dtype, lengths: Sequence[CValue]) -> Strided:
        """Memory for numbers that are no value of the program."""
        return Strided.row_by_row(self.allocate(stem, dtype, lengths), dtype, lengths)

    # -- Fourier transforms

    def fourier(self, s: Let) -> None:
        """Of complex numbers, along several axes."""
        out = self.make(s.outs[0])
        self.copy(self.view(s.args[0]), out, s)
        for axis in s.params["axes"]:
            self.transform(out, axis % len(out.lengths), s.params["inverse"], s.params["norm"])

    def half_fourier(self, s: Let) -> None:
        """Of real numbers: the frequencies that are not negative."""
        x, axis = self.view(s.args[0]), s.params["axis"]
        whole = self.new_memory("frequencies", s.outs[0].type.dtype, x.lengths)
        self.copy(x, whole, s)
        self.transform(whole, axis, False, s.params["norm"])
        out = self.make(s.outs[0])
        self.copy(replace(whole, lengths=out.lengths), out)

    def inverse_of_half(self, s: Let) -> None:
        """Of the frequencies that are not negative, to real numbers."""
        x, axis, shape = self.view(s.args[0]), s.params["axis"], s.outs[0].type.shape
        dtype = np.result_type(x.dtype, np.complex64)
        whole = self.new_memory("frequencies", dtype, self.lengths_of(shape))
        self.copy(x, replace(whole, lengths=x.lengths), s)
        n, step = whole.lengths[axis], whole.strides[axis]
        self.loop_over_lines(
            whole,
            axis,
            lambda line: f"conjugates_{suffix(dtype)}({n.text}, {line}, {step.text});",
        )
        self.transform(whole, axis, True, s.params["norm"])
        out, part = self.make(s.outs[0]), "crealf" if dtype == NARROW else "creal"
        self.loop_over_elements(
            *(out.lengths, (out.strides, whole.strides)),
            lambda at: f"{out.element(at[0])} = {part}({whole.element(at[1])});",
            None,
        )

    def transform(self, x: Strided, axis: int, inverse: bool, norm: str) -> None:
        """Of the lines of an array along an axis, in their place."""
        n, step, end = x.lengths[axis], x.strides[axis], suffix(x.dtype)
        count = CValue(f"fourier_room({n.text})", INT, natural=True)
        room, sign = self.allocate("roots", x.dtype, (count,)), 1 if inverse else -1
        scales = {"ortho": f"1 / sqrt({n.text})", SCALED[inverse]: f"1.0 / {n.operand(UNARY)}"}
        rest = f"{step.text}, {sign}, {scales.get(norm, '1')}, {room}"
        self.put(f"unit_roots_{end}({n.text}, {sign}, {room});")
        self.loop_over_lines(
            x,
            axis,
            lambda line: f"fourier_{end}({n.text}, {line}, {rest});",
        )

    def loop_over_lines(self, x: Strided, axis: int, text: Callable[[str], str]) -> None:
        """Loops over all lines along an axis; the text of one is told where it begins."""
        lengths = [*x.lengths[:axis], *x.lengths[axis + 1 :]]
        strides = [*x.strides[:axis], *x.strides[axis + 1 :]]
        self.loop_over_elements(
            lengths, (strides,), lambda at: text(replace(x, offset=at[0]).pointer), None
        )

    # -- factorisations

    def qr(self, s: Let) -> None:
        n, m = self.real_lengths(s, s.args[0], 2)
        sizes = [product([n, m]), arithmetic.extreme("min", [n, m])]
        self.factorise(s, f"{n.text}, {m.text}", sum_of(*sizes))

    def eigh(self, s: Let) -> None:
        n, _ = self.real_lengths(s, s.args[0], 2)
        lower = "true" if s.params["lower"] else "false"
        self.factorise(s, f"{n.text}, {lower}", product([n, n]), EIGENVALUES)

    def svd(self, s: Let) -> None:
        n, m = self.real_lengths(s, s.args[0], 2)
        k = arithmetic.extreme("min", [n, m])
        self.factorise(s, f"{n.text}, {m.text}", sum_of(product([n, m]), product([k, k])), SVD)

    def factorise(self, s: Let, sizes: str, room: CValue, error: Error | None = None) -> None:
        """Calls a function for each matrix of a stack, with an error where it fails."""
        memory = self.allocate("room_for_factors", s.outs[0].type.dtype, (room,))
        self.call_for_items(s, s.args, sizes, [memory], error)

    def exponential(self, s: Let) -> None:
        """Of a matrix, or its slope in a direction."""
        if s.params["name"] != "expm":
            raise NotPrintedError(library_of(s)[1])
        n, _ = self.real_lengths(s, s.args[0], 2)
        is_slope = s.op is matrix_functions.slope
        count = matrix_exponential.OF_BLOCKS if is_slope else matrix_exponential.MATRICES
        dtype, size = s.outs[0].type.dtype, product([n, n])
        memory = self.allocate("room_for_powers", dtype, (product([constant(count), size]),))
        self.call_for_items(s, s.args, n.text, [memory], name="expm_slope" if is_slope else "expm")

    # -- derivatives of factorisations

    def spectral(self, s: Let) -> None:
        """Inverse differences or sums of eigenvalues or singular values."""
        (n,) = self.real_lengths(s, s.args[0], 1)
        self.call_for_items(s, s.args, n.text)

    def turns(self, s: Let) -> None:
        n, _ = self.real_lengths(s, s.args[3], 2)
        self.call_for_items(s, s.args[3:], n.text)

    def clear(self, s: Let) -> None:
        n, _ = self.real_lengths(s, s.args[0], 2)
        if s.params["of"] == "eig" or any(not a.type.shape for a in s.args):
            raise NotPrintedError(library_of(s)[1])
        self.call_for_items(s, s.args, n.text, missing=4 - len(s.args))

    def real_lengths(self, s: Let, a: Atom, rank: int) -> Sequence[CValue]:
        """The last lengths of an argument, which has to be of real numbers."""
        if any(out.type.dtype.kind != "f" for out in s.outs):
            raise NotPrintedError(f"{library_of(s)[1]} of complex numbers")
        return self.lengths_of(a.type.shape[-rank:])

    def call_for_items(
        self,
        s: Let,
        args: Sequence[Atom],
        sizes: str,
        room: Sequence[str] = (),
        error: Error | None = None,
        missing: int = 0,
        name: str = "",
    ) -> None:
        """Calls a function for each item of a stack of vectors or matrices.

        missing  how many arguments are not there
        name     that of the function, if it is not called as the operation is
        """
        dtype = s.outs[0].type.dtype
        views = [*(self.rows_of(a, dtype, s) for a in args), *map(self.make, s.outs)]
        lead = len(s.outs[-1].type.shape) - 2  # the last result of each is a matrix
        head, tail = ("if (!", f") return {self.code(error)};") if error else ("", ";")

        def text(places: Sequence[CValue]) -> str:
            pairs = zip(views, places, strict=True)
            texts = [replace(v, offset=sum_of(v.offset, at)).pointer for v, at in pairs]
            texts[len(args) : len(args)] = ["NULL"] * missing
            called = f"{name or s.op.name}_{suffix(dtype)}({', '.join([sizes, *texts, *room])})"
            return f"{head}{called}{tail}"

        self.loop_over_elements(
            views[-1].lengths[:lead], [v.strides[:lead] for v in views], text, s
        )

    def rows_of(self, a: Atom, dtype: Dtype, s: Let) -> Strided:
        """An array row by row, of numbers of a dtype; flags stay flags."""
        view = self.view(a)
        wanted = view.dtype if view.dtype == BOOL else dtype
        if view.is_whole and view.dtype == wanted:
            return view
        rows = self.new_memory("rows", wanted, view.lengths)
        self.copy(view, rows, s)
        return rows

    # -- numbers that are there once

    def unique(self, s: Let) -> None:
        """The numbers of an array in order, or where they are."""
        x, out, part = self.view(s.args[0]), s.outs[0], s.params.get("part", "values")
        if s.params["axis"] is not None or x.dtype.kind == "c":
            raise NotPrintedError(f"{library_of(s)[1]} of rows or complex numbers")
        rows, n = self.rows_of(s.args[0], x.dtype, s), product(x.lengths)
        order = self.allocate("order", INT, (n,))
        count = CValue(self.fresh("count"), INT, natural=True)
        if part == "inverse":
            memory = self.make(out).memory
        else:
            memory = self.allocate_filled(out, count).memory
            self.check_room((n,))
        places = [memory if p == part else "NULL" for p in PARTS_OF_UNIQUE]
        one_nan = "true" if s.params["equal_nan"] else "false"
        texts = ", ".join([n.text, rows.pointer, one_nan, order, *places])
        call = f"unique_{suffix(x.dtype)}({texts});"
        self.put(call if part == "inverse" else f"const i64 {count.text} = {call}", s)
