"""Writes docs/numpy.md, the table of the functions that have a rule, from the rules themselves.

Run `python -m tapeless.tools.numpy_table > docs/numpy.md` after adding one.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.tools.comparing import records
from tapeless.tools.comparing.reasons import OWN, reason
from tapeless.transforms.frontend.builtins.numpy_callbacks import APPLIED
from tapeless.transforms.ops import function_table
from tapeless.transforms.ops.primitives import ufuncs
from tapeless.transforms.prelude.numpy.function_table import WRITTEN

HEAD = """\
# NumPy functions

Written by `python -m tapeless.tools.numpy_table` from the rules; a test compares.

Every function here works in forward and in reverse mode, to any order unless a note says otherwise,
as a function, as a method where arrays have one, and as an operator where Python has one. *zero*
stands for functions whose result is piecewise constant: their value is used as NumPy gives it, and
no derivative goes through. What is not here is refused by name; `custom_jvp` and `custom_vjp`
give it a derivative.
"""
EQUAL = "for equal values see [below](#equal-eigenvalues-and-singular-values)"
NOTES = {
    np.absolute: "slope 1 at 0; 0 there for complex numbers",
    np.fabs: "slope 1 at 0",
    np.sqrt: "slope infinite at 0",
    np.maximum: "half to each side of a tie",
    np.minimum: "half to each side of a tie",
    np.max: "equal parts to elements that tie",
    np.min: "equal parts to elements that tie",
    np.amax: "equal parts to elements that tie",
    np.amin: "equal parts to elements that tie",
    np.std: "slope 0 where all elements are equal",
    np.hypot: "slope 0 at the origin",
    np.linalg.norm: "slope 0 at 0",
    np.linalg.cholesky: "the lower triangle is read, as NumPy reads it",
    np.linalg.eigh: EQUAL,
    np.linalg.eigvalsh: EQUAL,
    np.linalg.eig: f"always complex; {EQUAL}",
    np.linalg.eigvals: f"always complex; {EQUAL}",
    np.roots: "always complex",
    np.poly: "complex for complex roots, also for pairs of conjugates",
    np.polymul: "refuses data that starts with a zero",
    np.lib.stride_tricks.sliding_window_view: "read-only",
    np.lib.stride_tricks.as_strided: "read-only; of arrays whose elements lie in order",
    np.linalg.svd: EQUAL,
    np.linalg.svdvals: EQUAL,
    np.linalg.qr: "with more columns than rows only for `mode='complete'`",
    np.linalg.lstsq: "residuals are given for any rank",
    np.linalg.pinv: "where the rank does not change",
    np.power: "slope 0 in the exponent where the base is 0",
    np.copysign: "in the first argument",
    np.ldexp: "in the first argument",
    np.remainder: "between the jumps",
    np.empty: "filled with zeros",
    np.ndarray: "filled with zeros; not of a buffer",
    np.where: "an exact zero goes to the side not taken",
    np.bincount: "in the weights",
    np.unique: "values from the first of equal elements",
    np.insert: "positions must be known",
    np.sort: "elements that tie keep their order",
}
OF_SCIPY = {"scipy.linalg.expm": "first order only"}
COINCIDING = """
## Equal eigenvalues and singular values

Vectors of equal values may be turned among each other, so they have no derivatives one by one.
Functions of the matrix as a whole have: `(v * f(w)) @ v.T`, also written with `np.diag`, `einsum`,
divisions, products with other matrices or vectors between (`v @ ((v.T @ b) / w)`) and quadratic
forms, is recognised before it is differentiated, where `f` is elementwise and may have parameters.
Its derivatives of all orders are exact: divided differences of `f`, which are derivatives of `f`
where eigenvalues are equal (Daleckii and Krein). Right to all orders, too, are functions of
isolated values and vectors, whatever the others do, and of the space that all vectors of equal
values span (`v[:, :k] @ v[:, :k].T`), `u @ vt` of `np.linalg.svd`, the nuclear norm,
`scipy.linalg.polar` and `sqrtm`, `np.linalg.slogdet`, pseudoinverses.

Functions of eigenvalues or singular values alone are right where they take equal ones alike (sums
over them); of one of several equal values, as of the greatest one, the slope is one of the
generalised derivatives, in both modes. What reads the values and the vectors of one block in any
other way is nan where they are equal, and so are second derivatives in forward mode twice.
"""
AGREEMENT = """
## How values agree with NumPy and SciPy

`python -m tapeless.tools.numpy_comparison` calls every function above at all dtypes from `bool` to
`complex128`, shapes (also without axes and empty), memory layouts, NaN, infinities and zeros of
both signs, with each value of its options and pairs of these, and compares what emitted and
compiled code give with NumPy 2.4 and SciPy 1.17 themselves: values, dtypes, shapes and errors.
The columns *value* (emitted code) and *jit* come from a sample of {emitted} and {jit} calls:
`exact` is bit for bit, `2 ulp` says that results were up to two units in the last place apart
(of sums that cancel, of the greatest element). Refusals by name are not counted. All else in
which calls differed stands here, also those of earlier, larger samples; *open* is what nothing but
the difference is known of.

| differs in | why | functions |
| --- | --- | --- |
"""
CONSTANT = {
    *(np.floor, np.ceil, np.trunc, np.rint, np.sign, np.round, np.around, np.fix, np.isnan),
    *(np.isinf, np.isfinite, np.signbit, np.isposinf, np.isneginf, np.isreal, np.iscomplex),
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.gcd),
    *(np.logical_not, np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.lcm),
    *(np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.invert),
    *(np.floor_divide, np.isclose, np.allclose, np.array_equal, np.any, np.all, np.isscalar),
    *(np.count_nonzero, np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort),
    *(np.argpartition, np.lexsort, np.searchsorted, np.digitize, np.histogram, np.isin),
    *(np.nonzero, np.flatnonzero, np.argwhere, np.ix_, np.unravel_index, np.shape, np.ndim),
    *(np.ravel_multi_index, np.diag_indices, np.diag_indices_from, np.tril_indices, np.size),
    *(np.triu_indices, np.tril_indices_from, np.triu_indices_from, np.linalg.matrix_rank),
    *(np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.arange),
    *(np.spacing, np.bitwise_count, np.array_equiv, np.mask_indices, np.packbits, np.unpackbits),
    *(
        np.eye,
        np.tri,
        np.iterable,
        np.broadcast_shapes,
        np.identity,
        np.indices,
        np.iscomplexobj,
        np.ndarray,
        np.common_type,
        np.isrealobj,
        np.result_type,
    ),
    *(math.isnan, math.isinf, math.isfinite, math.gcd, math.lcm),
}


def _order(function: Any) -> str:
    return function_table.full_name(function)


def sections() -> dict[str, set[Any]]:
    """Functions by family, each in the first that has it."""
    functions_by_section: dict[str, set[Any]] = {}
    seen: set[Any] = set()
    extra = {
        "Elementwise": list(ufuncs.UFUNCS),
        "Functions of `math`": [f for f in function_table.FUNCTIONS if _module(f) == "math"],
        "Functions that overwrite an argument": list(function_table.WRITERS),
        "Functions that call a function": [
            f for f in (*APPLIED, np.vectorize) if f not in function_table.FUNCTIONS
        ],
        "Functions written with others": [f for f in WRITTEN if _module(f) != "scipy"],
        **{part: list(rules()) for part, rules in function_table.SCIPY.items()},
    }
    families = {_title(f): getattr(f, "NUMPY", {}) for f in function_table.FAMILIES}
    rest = {"Choices": [np.where, np.clip, np.select, np.i0]}
    methods = {
        "Methods of ufuncs": [f for f in function_table.FUNCTIONS if f not in function_table.OURS]
    }
    for name, functions in (extra | families | rest | methods).items():
        new = {
            f
            for f in functions
            if f not in seen
            and not _order(f).split(".")[-1].startswith("_")
            # masked arrays have tests of their own; what the prelude calls is no user's function
            and not _order(f).startswith(("np.ma.", "tapeless."))
        }
        seen |= new
        if new:
            functions_by_section[name] = new
    return functions_by_section


def _module(function: Any) -> str:
    return getattr(function, "__module__", None) or ""


def _title(family: types.ModuleType) -> str:
    """What a family defines, by its docstring without the verb."""
    sentence = " ".join((family.__doc__ or "").split())
    _, _, title = re.split(r"[.:](?: |$)", sentence)[0].partition(" ")
    return title[:1].upper() + title[1:] if not title.startswith("np.") else title


def _lines(functions: Iterable[Any]) -> Iterable[str]:
    for f in sorted(functions, key=_order):
        owner = getattr(f, "__self__", None)
        constant = f in CONSTANT or owner in CONSTANT
        note = NOTES.get(f) or OF_SCIPY.get(_order(f), "")
        name, derivative = _order(f), "zero" if constant else "yes"
        values = " | ".join(records.column(name, form) for form in ("emitted", "jit"))
        yield f"| `{name}` | {derivative} | {values} | {note} |"


def _agreement() -> str:
    """What the columns `value` and `jit` say, and all other differences with reasons."""
    alike: dict[tuple[str, str], list[str]] = {}
    met = {(name, kind) for name in records.read() for kind in records.kinds(name)}
    for name, kind in sorted(met | {pair for pair in OWN if "*" not in pair[0]}):
        alike.setdefault((kind, reason(name, kind) or "open"), []).append(f"`{name}`")
    rows = [
        f"| {kind} | {why} | {', '.join(names)} |" for (kind, why), names in sorted(alike.items())
    ]
    calls = records.total()
    return AGREEMENT.format(**calls) + "\n".join(rows) + "\n"


def page() -> str:
    """The text of docs/numpy.md."""
    parts = [HEAD]
    for name, functions in sections().items():
        columns = "| function | derivative | value | jit | notes |\n| --- | --- | --- | --- | --- |"
        heading = f"\n## {name}\n\n{columns}\n"
        parts.append(heading + "\n".join(_lines(functions)) + "\n")
    parts += [COINCIDING, _agreement()]
    names = ", ".join(f"`.{name}`" for name in sorted(function_table.METHODS))
    return (
        "".join(parts)
        + f"\n## Methods of arrays\n\n{names}, and `x.T`, `x.mT`, `x.real`, \
`x.imag`, `x.flat`, `x.item`, `x.fill`, `x.tolist`, `x.sort`.\n"
    )


if __name__ == "__main__":
    print(page(), end="")
