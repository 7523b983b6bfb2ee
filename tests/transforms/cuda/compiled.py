"""Runs printed expressions on the CPU: device functions are C++, but for some words of CUDA."""

import ast
import ctypes
import itertools
import shutil
import subprocess

import numpy as np
import pytest

from tapeless.transforms.c_text.expressions import ExpressionPrinter, KernelScope
from tapeless.transforms.c_text.values import c_type
from tapeless.transforms.cuda.helpers import needed_helpers

SHIM = r"""
#include <math.h>
#include <string.h>
#include <cmath>
#define __device__
#define __forceinline__ inline
typedef long long i64;
template <class A, class B> static A bits_as(B b) { A a; memcpy(&a, &b, sizeof a); return a; }
static float __int_as_float(int x) { return bits_as<float>(x); }
static float __uint_as_float(unsigned x) { return bits_as<float>(x); }
static int __float_as_int(float x) { return bits_as<int>(x); }
static unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
static double __longlong_as_double(i64 x) { return bits_as<double>(x); }
static i64 __double_as_longlong(double x) { return bits_as<i64>(x); }
using std::isfinite; using std::isinf; using std::isnan;
"""


def library(code, folder):
    """A library that g++ makes of the text."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there: printed expressions are not compiled")
    count = len([*folder.iterdir()])  # a library of the same name would not be loaded again
    source, out = folder / f"code_{count}.cpp", folder / f"code_{count}.so"
    source.write_text(SHIM + code)
    flags = ["-O1", "-shared", "-fPIC", "-std=c++17", "-fwrapv", "-w", "-ffp-contract=off"]
    run = subprocess.run(
        ["g++", *flags, str(source), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr + code
    return ctypes.CDLL(str(out))


def printed(text, dtypes):
    """An expression of loop form, with the dtypes of its variables, as CUDA C."""
    scope = KernelScope(numbers={name: np.dtype(d) for name, d in dtypes.items()})
    return ExpressionPrinter(scope).number(ast.parse(text, mode="eval").body)


def evaluated(cases, folder):
    """The values of expressions [(text, {variable: array of values})]: one loop for each."""
    texts, functions = [], []
    for k, (text, values) in enumerate(cases):
        value = printed(text, {name: x.dtype for name, x in values.items()})
        arguments = "".join(f", const {c_type(x.dtype)}* {n}_" for n, x in values.items())
        names = "".join(f"{c_type(x.dtype)} {n} = {n}_[at]; " for n, x in values.items())
        functions.append((value.dtype, list(values.values())))
        texts.append(
            f'extern "C" void f{k}(i64 n, {c_type(value.dtype)}* out{arguments}) {{\n'
            f"  for (i64 at = 0; at < n; at++) {{ {names}out[at] = {value.text}; }}\n}}"
        )
    made = library("\n".join([*needed_helpers(texts), *texts]), folder)
    results = []
    for k, (dtype, arrays) in enumerate(functions):
        out = np.empty(len(arrays[0]), dtype)
        getattr(made, f"f{k}")(
            ctypes.c_longlong(len(out)),
            *(x.ctypes.data_as(ctypes.c_void_p) for x in (out, *arrays)),
        )
        results.append(out)
    return results


def pairs(a, b, dtype_a, dtype_b):
    """All pairs of values, as two arrays."""
    both = [*itertools.product(a, b)]
    return np.array([x for x, _ in both], dtype_a), np.array([y for _, y in both], dtype_b)
