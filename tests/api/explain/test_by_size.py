"""Formulas of sizes: at other sizes they give what the report of a call of those sizes says."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.explain.formulas import Formulas, largest, log2, minimum
from tapeless.explain.residuals import size_of
from tapeless.transforms.errors import ArgumentError

DATA = np.ones((5, 7))


def power_steps(x, w, n):
    for _ in range(n):
        x = np.tanh(w @ x)
        x = x / np.sqrt(np.sum(x**2))
    return np.sum(np.cumsum(x))


def neighbours(x, y, k):
    total = np.sum(x[1:] * y) + np.sum(np.fft.fft(x).real)
    for i in range(k):
        total += np.sum(x[i // 2 :] ** 2)
    return total


def triangle(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total += x[i] * x[j]
    return total


def solved(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.inv(a @ a.T))


def of_outside(x):
    return np.sum(np.sin(DATA @ x)) + np.sum(x)


def blocks(x):
    rows = x[: len(x) // 4 * 4].reshape(len(x) // 4, 4)
    return np.sum(np.max(rows, axis=1)) + np.sum(x[-3:] ** 2)


def array(*shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def of_steps(n, steps):
    return array(n), array(n, n), steps


#: program, arguments for sizes, the sizes of a call, those of another
CASES = {
    "jit": (jit(power_steps), of_steps, (30, 5), (700, 11)),
    "jit of grad": (jit(grad(power_steps)), of_steps, (30, 5), (700, 11)),
    "grad": (grad(power_steps), of_steps, (30, 5), (700, 11)),
    "no passes": (jit(grad(power_steps)), of_steps, (30, 5), (40, 0)),
    "transforms": (jit(neighbours), lambda n, k: (array(n), array(n - 1), k), (16, 3), (100, 8)),
    "a batch": (
        vmap(grad(neighbours), (0, None, None)),
        lambda m, n, k: (array(m, n), array(n - 1), k),
        (3, 16, 3),
        (50, 12, 9),
    ),
    "loops in loops": (jit(triangle), lambda n: (array(n), n), (9,), (40,)),
    "libraries": (grad(solved), lambda n: (array(n, n), array(n)), (5,), (64,)),
    "libraries under jit": (jit(grad(solved)), lambda n: (array(n, n), array(n)), (5,), (64,)),
    "arrays from outside": (jit(grad(of_outside)), lambda n: (array(n),), (7,), (7,)),
    "quotients": (jit(grad(blocks)), lambda n: (array(n),), (16,), (1003,)),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_at_other_sizes(case):
    program, arguments, here, there = CASES[case]
    report, other = program.explain(*arguments(*here)), program.explain(*arguments(*there))
    value = report.by_size.evaluated(numbers_of(other))
    assert value(report.by_size.work.operations) == other.work.operations
    assert value(report.by_size.work.bytes) == other.work.bytes
    assert value(report.by_size.peak_memory) == other.peak_memory
    assert report.work.operations > 0
    for line, wanted in zip(report.lines, other.lines, strict=True):
        if line.by_size is not None:
            assert value(line.by_size.operations) == wanted.work.operations
            assert value(line.by_size.bytes) == wanted.work.bytes
    shapes = [f"{r.dtype}[{', '.join(str(value(n)) for n in r.lengths)}]" for r in report.saved]
    assert shapes == [r.what for r in other.saved]
    assert [value(size_of(r)) for r in report.saved] == [r.bytes for r in other.saved]


def numbers_of(report):
    """The sizes of a call, by their names."""
    return {name: size.value for size in report.by_size.sizes for name in size.names}


def test_operations_by_hand():
    by_size = jit(triangle).explain(array(9), 9).by_size
    operations = [by_size.evaluated({"n": n})(by_size.work.operations) for n in (1, 2, 40)]
    # a product and a sum in each pass of the inner loop, whose count is that in the middle
    assert operations == [n * 2 * (n // 2) for n in (1, 2, 40)]


def test_equal_sizes_are_one():
    sizes = grad(power_steps).explain(*of_steps(30, 5)).by_size.sizes
    assert [(x.names, x.value, x.least) for x in sizes] == [
        (("x.shape[0]", "w.shape[0]", "w.shape[1]"), 30, 2),
        (("n",), 5, 0),
    ]


def test_sizes_that_others_tell_are_not_free():
    by_size = grad(neighbours).explain(array(16), array(15), 3).by_size
    assert [x.names for x in by_size.sizes] == [("x.shape[0]",), ("k",)]
    value = by_size.evaluated({"x.shape[0]": 100})
    shapes = {name: [value(n) for n in lengths] for name, _, lengths in by_size.arguments}
    assert shapes == {"x": [100], "y": [99]}


LABELS = np.array([3, 1, 3, 2])


def by_label(x):
    groups = {}
    for v, label in zip(x, LABELS, strict=True):
        groups.setdefault(int(label), []).append(v)
    return sum(k * np.mean(g) ** 2 for k, g in groups.items())


def test_attempts_at_staging_do_not_count():
    sizes = jit(by_label).explain(array(4)).by_size.sizes
    assert [x.names for x in sizes] == [("x.shape[0]", "LABELS.shape[0]")]


def doubled(x, n):
    return np.sum(np.ones((2,) * n)) * np.sum(x)


def test_values_that_code_is_made_for_are_not_free():
    by_size = grad(doubled).explain(array(4), 3).by_size
    assert [x.names for x in by_size.sizes] == [("x.shape[0]",)]


def test_names_of_sizes_that_are_not_free():
    by_size = grad(neighbours).explain(array(16), array(15), 3).by_size
    with pytest.raises(ArgumentError) as refused:
        by_size.evaluated({"y.shape[0]": 100})
    assert "no size that may be chosen is called 'y.shape[0]'" in str(refused.value)
    assert "these are: x.shape[0], k" in str(refused.value)


def test_for_which_sizes_the_code_is_the_same():
    by_size = jit(power_steps).explain(*of_steps(30, 5)).by_size
    (requirement,) = (x for x in by_size.requirements if x.text == "8192 >= x.shape[0]")
    assert requirement.relation == ">="
    value = by_size.evaluated({"x.shape[0]": 9000})
    assert (value(requirement.left), value(requirement.right)) == (8192, 9000)


def test_equations_of_several_sizes():
    def joined(x, y, z):
        return np.sum(np.concatenate([x, y]) * z)

    by_size = grad(joined).explain(array(3), array(4), array(7)).by_size
    assert [x.names for x in by_size.sizes] == [("x.shape[0]",), ("y.shape[0]",)]
    value = by_size.evaluated({"x.shape[0]": 10, "y.shape[0]": 5})
    assert [value(n) for _, _, (n,) in by_size.arguments] == [10, 5, 15]


# -- formulas


def test_formulas_are_computed_like_numbers():
    table = Formulas()
    n, m = table.size(0), table.size(1)
    formula = 2 * n * m + largest(n - 3, 0) + minimum(m, 4) * 1.5 + log2(n)
    for a, b in ((1, 9), (8, 2), (64, 64)):
        wanted = 2 * a * b + max(a - 3, 0) + min(b, 4) * 1.5 + np.log2(a)
        assert table.evaluate_at([a, b])(formula) == wanted


def test_equal_steps_are_one():
    table = Formulas()
    n = table.size(0)
    assert (n * 8 + 1).place == (n * 8 + 1).place
    assert (table.number(2) * 3 + 4).constant == 10
    assert (n + 0).place == (1 * n).place == n.place
    assert (n * 0).constant == 0


def test_what_is_no_number():
    table = Formulas()
    n = table.size(0)
    quotient = table.compute("//", 12, n)
    value = table.evaluate_at([0])
    assert value(quotient) is None
    assert value(quotient + 1) is None
    assert value(quotient.or_else(5) + 1) == 6
    assert table.evaluate_at([4])(quotient.or_else(5)) == 3
    assert table.evaluate_at([0])(table.compute("passes", 0, 10, n).or_else(1)) == 1
    with pytest.raises(TypeError, match="depends on sizes"):
        assert n
