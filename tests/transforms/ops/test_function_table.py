"""Every operation, by cases: values and dtypes as NumPy has them, derivatives by differences."""

import copy
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import tapeless
from tapeless.tools.numpy_table import CONSTANT, page
from tapeless.transforms.core.language import Let
from tapeless.transforms.frontend.builtins.numpy_callbacks import APPLIED
from tapeless.transforms.ops import function_table
from tapeless.transforms.ops.function_table import FUNCTIONS, METHODS, OURS, WRITERS, full_name
from tapeless.transforms.ops.primitives.ufuncs import UFUNCS
from tapeless.transforms.ops.special.special_bessel import SEVERAL, TWO
from tapeless.transforms.ops.special.special_more import UNARY
from tapeless.transforms.prelude.numpy.function_table import WRITTEN
from tests.corpus.differences import leaves, rebuild, signed, unravel
from tests.transforms.ops import (
    cases_arrays,
    cases_calculus,
    cases_elementwise,
    cases_fft,
    cases_indexing,
    cases_linalg,
    cases_masked,
    cases_reductions,
    cases_special,
    cases_special_distributions,
    cases_special_more,
    cases_written,
)
from tests.transforms.ops.cases import is_float

FILES = (
    cases_elementwise,
    cases_reductions,
    cases_arrays,
    cases_indexing,
    cases_linalg,
    cases_masked,
    cases_calculus,
    cases_fft,
    cases_special,
    cases_special_distributions,
    cases_special_more,
    cases_written,
)
CASES = [each for file in FILES for each in file.CASES]
SMOOTH = [each for each in CASES if each.wrt()]


def first(listed, key):
    return list({key(each): each for each in reversed(listed)}.values())


#: One case a function, and one for each way in which a function is called.
FUNCTION = first(SMOOTH, lambda each: each.name.partition("(")[0])
WAY = first(CASES, lambda each: (each.name.partition("(")[0], *map(type, each.args), *each.static))


def cases(listed):
    return pytest.mark.parametrize("case", listed, ids=lambda each: each.name)


def parts(result):
    """The arrays of a result."""
    return [leaf for leaf in leaves(result) if not isinstance(leaf, str)]


def kinds(result):
    return [(np.shape(leaf), np.asarray(leaf).dtype) for leaf in parts(result)]


def assert_alike(ours, numpy, tolerance):
    assert kinds(ours) == kinds(numpy)
    for a, b in zip(parts(ours), parts(numpy), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def in_single(args):
    return rebuild(
        args,
        iter([np.asarray(a, np.float32)[()] if is_float(a) else a for a in leaves(args)]),
    )


class Plain:
    """A case as a function of one vector: the floats of its arguments."""

    def __init__(self, case):
        self.case = case
        self.program, self.wrt = case.program(), case.wrt()
        self.active = [case.args[k] for k in self.wrt]
        self.point = ravel(self.active)
        result = self.program(*copy.deepcopy(case.args))
        self.weights = [
            signed(np.size(leaf), seed=k).reshape(np.shape(leaf)) if smooth(leaf) else None
            for k, leaf in enumerate(parts(result))
        ]

    def filled(self, vector):
        """The arguments with the numbers of a vector."""
        args = list(copy.deepcopy(self.case.args))
        for k, arg in zip(self.wrt, unravel(self.active, vector), strict=True):
            args[k] = arg
        return args

    def __call__(self, vector):
        return project(parts(self.program(*self.filled(vector))), self.weights)

    def projected(self):
        program, weights = self.program, self.weights

        def projected(*args):
            return project(flat(program(*args)), weights)

        return projected

    def tangents(self, vector):
        """Tangents for all arguments, zero for those without floats."""
        tangents = list(copy.deepcopy(self.case.args))
        for k, each in zip(self.wrt, unravel(self.active, vector, keep_dtypes=True), strict=True):
            tangents[k] = each
        return tuple(tangents)


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def project(results, weights):
    total = 0.0
    for leaf, weight in zip(results, weights, strict=True):
        if weight is not None:
            total = total + np.sum(leaf * weight)
    return total


def smooth(leaf):
    return np.asarray(leaf).dtype.kind == "f"


def ravel(tree):
    return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in leaves(tree)])


def slope(function, point, direction, step=1e-3):
    """The derivative along a direction, by central differences of fourth order."""
    near = function(point + step * direction) - function(point - step * direction)
    far = function(point + 2 * step * direction) - function(point - 2 * step * direction)
    return (8 * near - far) / (12 * step)


def gradient(function, point):
    return np.array([slope(function, point, unit) for unit in np.eye(point.size)])


def close(actual, expected, tolerance=1e-7):
    expected = np.asarray(expected)
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale)


@cases([each for each in CASES if not each.wrt()])
def test_values_without_derivative(case):
    program = case.program()
    expected = program(*copy.deepcopy(case.args))
    value, _ = tapeless.jvp(program, case.args, case.args)
    assert_alike(value, expected, 1e-11)


@cases(SMOOTH)
def test_values_and_forward_mode(case):
    plain = Plain(case)
    direction = signed(plain.point.size, seed=5)
    value, tangent = tapeless.jvp(plain.program, case.args, plain.tangents(direction))
    assert_alike(value, plain.program(*copy.deepcopy(case.args)), 1e-11)
    close(project(parts(tangent), plain.weights), slope(plain, plain.point, direction))


@cases([each for each in FUNCTION if each.single])
def test_single_precision_stays(case):
    program, args = case.program(), in_single(case.args)
    expected = program(*copy.deepcopy(args))
    value, tangent = tapeless.jvp(program, args, args)
    assert_alike(value, expected, 1e-4)
    for a, b in zip(parts(value), parts(tangent), strict=True):
        if smooth(a):
            assert np.asarray(b).dtype == np.asarray(a).dtype


@cases(SMOOTH)
def test_reverse_mode(case):
    plain = Plain(case)
    slopes = tapeless.grad(plain.projected(), argnums=plain.wrt)(*case.args)
    assert kinds(slopes) == kinds(plain.active)
    close(ravel(slopes), gradient(plain, plain.point))


def curvature(plain, first, second):
    return slope(lambda at: slope(plain, at, first, 1e-3), plain.point, second, 1e-3)


@cases([each for each in FUNCTION if each.second])
def test_forward_over_reverse(case):
    plain = Plain(case)
    first, second = signed(plain.point.size, seed=6), signed(plain.point.size, seed=7)
    slopes = tapeless.grad(plain.projected(), argnums=plain.wrt)
    _, bends = tapeless.jvp(slopes, case.args, plain.tangents(first))
    close(ravel(bends) @ second, curvature(plain, first, second), 1e-5)


@cases([each for each in FUNCTION if each.second])
def test_reverse_over_forward(case):
    plain = Plain(case)
    first, second = signed(plain.point.size, seed=6), signed(plain.point.size, seed=7)
    program, tangents, weights = plain.program, plain.tangents(first), plain.weights

    def along(*args):
        return project(flat(tapeless.jvp(program, args, tangents)[1]), weights)

    bends = tapeless.grad(along, argnums=plain.wrt)(*case.args)
    close(ravel(bends) @ second, curvature(plain, first, second), 1e-5)


def covered():
    return set().union(*(each.covers() for each in CASES))


#: Tested with matrices (`frontend/objects/test_matrices.py`), another name of `np.vstack`, of which
#: NumPy warns, and the solution that sparse matrices have (`frontend/test_sparse_matrices.py`).
ELSEWHERE = {
    *("np.asmatrix", "np.bmat", "np.row_stack"),
    "tapeless.transforms.prelude.sparse.systems.solve_entries",
}


def test_every_function_has_a_case():
    scipys = set().union(*(rules() for rules in function_table.SCIPY.values()))
    rules = {*FUNCTIONS, *scipys, *WRITERS, *APPLIED, *WRITTEN} - {*OURS}
    assert sorted({full_name(f) for f in rules - covered()} - ELSEWHERE) == []


def test_every_method_has_a_case():
    assert set(METHODS) - covered() == set()


def test_every_operation_has_a_case(monkeypatch):
    """Operations that no function stands for are met on the way: all are recorded."""
    met = set()
    create = Let.__init__

    def recorded(self, outs, op, *more, **named):
        met.add(op)
        create(self, outs, op, *more, **named)

    monkeypatch.setattr(Let, "__init__", recorded)
    for each in WAY:
        if not isinstance(each.function, np.ufunc):
            tapeless.jvp(each.program(), each.args, each.args)
    for each in FUNCTION:
        if not isinstance(each.function, np.ufunc):
            tapeless.grad(Plain(each).projected(), argnums=each.wrt())(*each.args)
    for loop in (until_large, over_elements):
        tapeless.grad(loop)(0.7, np.arange(3.0))
    met |= {op for function, op in UFUNCS.items() if function in covered()}
    families = function_table.special_families()
    special = {f: op for family in families for f, op in family.SPECIAL.items()}
    special |= {getattr(scipy.special, op.name): op for op in (*UNARY, *SEVERAL, *TWO)}
    met |= {op for function, op in special.items() if function in covered()}
    expected = {op for op in function_table.operations().values() if op.name not in TESTED_BY_LOOPS}
    assert sorted(op.name for op in expected - met) == []


#: Made by passes over nested loops and branches, of which the corpus is full; of sparse matrices.
TESTED_BY_LOOPS = (
    "solve_entries",
    "add_stacks",
    "zero_tape",
    "axis_size",
    "size_if_set",
    "batch_if_set",
    "length_if_set",
    "stack_length",
    "peek",
    "set_item",
    "add_item",
    "zero_items",
    "zeros_of_items",
    "concatenate_items",
    "split_items",
    "shift",
    "unshift",
    *("extend", "segment", "set_segment", "add_segment", "truncate"),
    *("clear", "refill", "refill_zeros", "add_items"),
)


def until_large(x, v):
    """A loop of unknown length, which saves on a stack."""
    while x < 100.0:
        x = x * x + v.shape[0]
        v = v * x
    return x + v[0]


def over_elements(x, v):
    for each in v:
        x = np.sin(x * each)
    return x


def test_documentation_lists_the_rules():
    """docs/numpy.md is written by `python -m tapeless.tools.numpy_table`."""
    written = Path(__file__).parents[3] / "docs" / "numpy.md"
    assert written.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("function", sorted(CONSTANT & set(FUNCTIONS), key=full_name))
def test_functions_listed_as_constant_have_no_derivative(function):
    for each in CASES:
        if each.function is function and each.wrt():
            plain = Plain(each)
            tangents = plain.tangents(np.ones(plain.point.size))
            _, tangent = tapeless.jvp(plain.program, each.args, tangents)
            assert not any(np.any(part) for part in parts(tangent) if smooth(part))
