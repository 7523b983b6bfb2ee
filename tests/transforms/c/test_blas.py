"""Large products as calls of BLAS: of a stand-in that tests its arguments as the reference does."""

import copy
import subprocess

import numpy as np
import pytest

from tapeless import grad
from tapeless.transformations.compilation.jit_to_c import JitToC
from tests.transforms.c.compiled import SANITIZERS, STRICT, needs_compiler, normal

HEADER = """
#ifndef CBLAS_H
#define CBLAS_H
enum CBLAS_ORDER { CblasRowMajor = 101 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };
#define DECLARED(L, T) \\
  void cblas_##L##gemv(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, int, int, T, const T*, int, \\
      const T*, int, T, T*, int); \\
  void cblas_##L##gemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, \\
      int, T, const T*, int, const T*, int, T, T*, int);
DECLARED(s, float)
DECLARED(d, double)
#endif
"""
SOURCE = """
#include "cblas.h"
#include <assert.h>
#include <stdio.h>
#define AT(a, lda, turned, i, j) ((turned) ? (a)[(j) * (lda) + (i)] : (a)[(i) * (lda) + (j)])
#define DEFINED(L, T) \\
  void cblas_##L##gemv(enum CBLAS_ORDER o, enum CBLAS_TRANSPOSE t, int m, int n, T alpha, \\
      const T* a, int lda, const T* x, int incx, T beta, T* y, int incy) { \\
    assert(o == CblasRowMajor && m >= 0 && n >= 0 && lda >= (n > 1 ? n : 1) && incx && incy); \\
    int rows = t == CblasTrans ? n : m, columns = t == CblasTrans ? m : n; \\
    for (int i = 0; i < rows; i++) { \\
      T total = 0; \\
      for (int j = 0; j < columns; j++) total += AT(a, lda, t == CblasTrans, i, j) * x[j * incx]; \\
      y[i * incy] = alpha * total + (beta == 0 ? 0 : beta * y[i * incy]); \\
    } \\
    puts("gemv"); \\
  } \\
  void cblas_##L##gemm(enum CBLAS_ORDER o, enum CBLAS_TRANSPOSE t, enum CBLAS_TRANSPOSE u, int m, \\
      int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) { \\
    int a_least = t == CblasTrans ? m : k, b_least = u == CblasTrans ? k : n; \\
    assert(o == CblasRowMajor && lda >= a_least && ldb >= b_least && ldc >= n && n > 0); \\
    for (int i = 0; i < m; i++) { \\
      for (int j = 0; j < n; j++) { \\
        T total = 0; \\
        for (int l = 0; l < k; l++) \\
          total += AT(a, lda, t == CblasTrans, i, l) * AT(b, ldb, u == CblasTrans, l, j); \\
        c[i * ldc + j] = alpha * total + (beta == 0 ? 0 : beta * c[i * ldc + j]); \\
      } \\
    } \\
    puts("gemm"); \\
  }
DEFINED(s, float)
DEFINED(d, double)
"""
A, B, V = normal(20, 30), normal(30, 25), normal(30)


def in_single_precision(*arrays):
    return tuple(x.astype(np.float32) for x in arrays)


PRODUCTS = {
    "matrices": (lambda a, b: a @ b, (A, B), "gemm"),
    "turned": (lambda a, b: b.T @ a.T, (A, B), "gemm"),
    "of one that is turned": (lambda a: a @ a.T, (normal(20, 30),), "gemm"),
    "parts": (lambda a, b: a[3:, 5:] @ b[:-5, ::2], (A, B), ""),
    "rows of a part": (lambda a, b: a[3:, 5:] @ b[:-5], (A, B), "gemm"),
    "backwards": (lambda a, b: a[::-1] @ b, (A, B), ""),
    "single precision": (lambda a, b: a @ b, in_single_precision(A, B), "gemm"),
    "few": (lambda a, b: a[:9, :9] @ b[:9, :9], (A, B), ""),
    "a vector": (lambda a, v: a @ v, (normal(50, 30), V), "gemv"),
    "turned, a vector": (lambda a, v: a.T @ v, (normal(30, 50), V), "gemv"),
    "a vector before": (lambda v, b: v @ b, (V, normal(30, 50)), "gemm"),
    "some of a vector": (lambda a, v: a @ v[::2], (normal(90, 15), V), "gemv"),
    "a derivative": (grad(lambda a, b: np.sum(np.tanh(a @ b) ** 2)), (A, B), "gemm"),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, tmp_path):
    needs_compiler()
    function, args, called = PRODUCTS[name]
    results = function(*copy.deepcopy(args))
    files = JitToC(function).files(args, {}, results, args, blas=True)
    for file, text in {**files, "cblas.h": HEADER, "cblas.c": SOURCE}.items():
        (tmp_path / file).write_text(text)
    sources = [file for file in files if file.endswith(".c")]
    command = ["gcc", *STRICT, *SANITIZERS, "-I.", *sources, "cblas.c", "-o", "test", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    run = subprocess.run(["./test"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert {*run.stdout.split()} & {"gemm", "gemv"} == {*called.split()}, run.stdout


def test_what_cmake_looks_for():
    files = JitToC(lambda a, b: a @ b).files((A, B), {}, A @ B, (A, B), blas=True)
    assert "find_path(CBLAS_FOLDER cblas.h" in files["CMakeLists.txt"]


def test_programs_without_products_need_no_library():
    files = JitToC(lambda v: v * 2).files((V,), {}, V * 2, (V,), blas=True)
    assert "cblas" not in "".join(files.values()).lower()
