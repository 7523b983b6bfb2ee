"""Replaces the products of a program in C by calls of a BLAS library, where they are large.

for (...) out[...] += x * b[...];      becomes      cblas_dgemm(CblasRowMajor, ...);
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tapeless.transforms.c.helpers import of_dtype
from tapeless.transforms.c.module import CModule

FEW = 1000  # multiplications, below which loops take less time than a call
IS_MATRIX = """
static bool is_matrix(i64 rows, i64 columns, i64 row, i64 column) {  // as BLAS takes them
  return (column == 1 || columns == 1) && (rows == 1 || row >= columns) && row <= INT_MAX;
}
"""
BY_BLAS = """
static bool by_blas_f{bits}(  // out = a @ b, if it is large and lies as BLAS takes it
    i64 n, i64 m, i64 k, const {c}* a, i64 a_row, i64 a_column,
    const {c}* b, i64 b_row, i64 b_column, {c}* restrict out) {{
  if ((double)n * m * k < {few} || n > INT_MAX || m > INT_MAX || k > INT_MAX) return false;
  const bool a_turned = !is_matrix(n, k, a_row, a_column);
  const bool b_turned = !is_matrix(k, m, b_row, b_column);
  if (a_turned && !is_matrix(k, n, a_column, a_row)) return false;
  const int a_step = a_turned ? (k == 1 ? n : a_column) : (n == 1 ? k : a_row);
  const int b_step = b_turned ? (m == 1 ? k : b_column) : (k == 1 ? m : b_row);
  if (m == 1 && b_row > 0 && b_row <= INT_MAX) {{
    cblas_{letter}gemv(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans, a_turned ? k : n,
        a_turned ? n : k, 1, a, a_step, b, b_row, 0, out, 1);
    return true;
  }}
  if (b_turned && !is_matrix(m, k, b_column, b_row)) return false;
  cblas_{letter}gemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
      b_turned ? CblasTrans : CblasNoTrans, n, m, k, 1, a, a_step, b, b_step, 0, out, m);
  return true;
}}

"""
LOOPS = "  for (i64 i = 0; i < n; i++) {\n"
CALL = "  if (by_blas_f{bits}(n, m, k, a, a_row, a_column, b, b_row, b_column, out)) return;\n"


def with_blas(module: CModule) -> CModule:
    """The program, whose large products call cblas_dgemm, cblas_dgemv and those of floats."""
    source = module.source
    for name, c, letter in (("f4", "float", "s"), ("f8", "double", "d")):
        loops = of_dtype("product", np.dtype(name))
        if loops not in source:
            continue
        is_matrix = "" if "is_matrix" in source else IS_MATRIX
        by_blas = BY_BLAS.format(few=FEW, c=c, letter=letter, bits=8 * int(name[1]))
        body = loops.replace(LOOPS, CALL.format(bits=8 * int(name[1])) + LOOPS, 1)
        source = source.replace(loops, (is_matrix + by_blas).lstrip() + body)
    if source == module.source:
        return module
    includes = "#include <cblas.h>\n#include <limits.h>\n#include <math.h>"
    return replace(module, source=source.replace("#include <math.h>", includes, 1))


def calls_blas(module: CModule) -> bool:
    """Whether a program needs a BLAS library."""
    return "#include <cblas.h>" in module.source
