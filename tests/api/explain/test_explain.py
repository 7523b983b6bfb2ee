"""Reports of transformed functions: what runs each line, why, and estimates of what it costs."""

import ast
import tracemalloc

import numpy as np
import pytest

import tapeless
from tapeless import PerformanceWarning, ShapeDtypeStruct, grad, jit
from tapeless.transformations.compilation.compiled_function import Jit
from tests.corpus import programs
from tests.transforms.lowering.gpu_loop_form import gradient

V = np.linspace(0.5, 1.5, 200)


def line_with(report, text):
    """The line of the report that has this text."""
    (found,) = [line for line in report.lines if text in line.source]
    return found


def loops_of_driver(source):
    """The loops of the functions of an emitted module that are not compiled."""
    functions = [f for f in ast.parse(source).body if isinstance(f, ast.FunctionDef)]
    plain = [f for f in functions if not f.decorator_list]
    return sum(isinstance(x, (ast.For, ast.While)) for f in plain for x in ast.walk(f))


def smoothed(u, steps):
    for _ in range(steps):
        u = np.tanh(u) * 0.5
    return np.sum(u)


def spectral(u, steps):
    total = 0.0
    for t in range(steps):
        u = np.abs(np.fft.ifft(np.fft.fft(u) * 0.5))
        total += u[t]
    return total


def test_kernels_are_those_of_the_source():
    compiled = jit(smoothed)
    report = compiled.explain(V, 10)
    assert line_with(report, "np.tanh").runs_in == ("smoothed_kernel",)
    assert line_with(report, "def smoothed").runs_in == ()
    assert "def smoothed_kernel(" in compiled.source(V, 10)
    assert report.loops == ()
    assert [c.kernel for c in report.compilations] == ["smoothed_kernel"]


def test_operations_and_bytes_by_hand():
    report = jit(smoothed).explain(V, 10)
    assert line_with(report, "np.tanh").work.operations == 10 * 2 * 200
    assert line_with(report, "np.sum").work.operations == 200
    # each pass loads and stores the array, the sum loads it, and it is copied before the loop
    assert line_with(report, "np.tanh").work.bytes == 10 * 2 * 8 * 200
    assert line_with(report, "np.sum").work.bytes == 8 * 200


def test_counts_do_not_depend_on_the_first_call():
    compiled = jit(smoothed)
    compiled(V[:3], 2)
    assert compiled.explain(V, 10).work == jit(smoothed).explain(V, 10).work
    assert len(compiled.compilations) == 1


@pytest.mark.parametrize("steps", [1, 7, 50])
def test_triangular_loops_are_counted_by_their_middle(steps):
    def pairs(x, n):
        total = 0.0
        for i in range(n):
            for j in range(i):
                total += x[i] * x[j]
        return total

    report = jit(pairs).explain(np.ones(steps), steps)
    wanted = 2 * steps * (steps - 1) / 2
    assert abs(line_with(report, "total +=").work.operations - wanted) <= 2 * steps


def test_a_loop_of_the_driver_says_why_and_the_way_out():
    compiled = jit(spectral)
    with pytest.warns(PerformanceWarning):
        report = compiled.explain(V, 10)
    (loop,) = report.loops
    assert loop.line == spectral.__code__.co_firstlineno + 2
    assert loop.reason.startswith("np.fft.rfft is a call of a library (FFT) (line ")
    assert "larger arrays" in loop.way_out
    assert loops_of_driver(compiled.source(V, 10)) == 1
    transform = line_with(report, "np.fft")
    assert {"FFT: np.fft.rfft", "FFT: np.fft.ifft"} < set(transform.runs_in)
    assert "! is run by Python, pass by pass: np.fft.rfft" in str(report)


def test_what_is_saved_for_the_backward_pass():
    def model(w, x, steps):
        for _ in range(steps):
            x = np.tanh(w @ x)
        return np.sum(x)

    w = np.eye(20)
    report = jit(grad(model)).explain(w, V[:20], 7)
    # x before and after each pass: the one after it is the next one before it
    assert [(r.what, r.bytes) for r in report.saved] == [("float64[8, 20]", 8 * 8 * 20)]
    assert jit(model).explain(w, V[:20], 7).saved == ()
    linear = jit(grad(lambda x, n: np.sum(x * 0.5**n))).explain(V, 3)
    assert linear.saved == ()


def test_without_jit_lines_are_calls_of_numpy():
    def solved(a, b):
        x = np.linalg.solve(a, b)
        return np.sum(np.sin(x))

    report = grad(solved).explain(np.eye(5), np.ones(5))
    assert "LAPACK: np.linalg.solve" in line_with(report, "x = np").runs_in
    assert "NumPy" in line_with(report, "np.sin").runs_in
    assert report.compilations == ()


def long_chain(x):
    a = np.sin(x)
    b = a * x
    c = np.outer(b, b)
    return np.sum(c * c)


def test_memory_at_once_is_what_numpy_takes():
    x = np.linspace(0, 1, 400)
    emitted = tapeless.vmap(long_chain)  # the batch of one makes no other arrays
    batch = x[None]
    emitted(batch)
    tracemalloc.start()
    emitted(batch)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    estimate = emitted.explain(batch).peak_memory - batch.nbytes
    assert 0.9 * most < estimate < 1.1 * most + batch.nbytes


def test_memory_at_once_has_the_arrays_of_kernels():
    def sorted_rows(x):
        return np.sum(np.linalg.inv(x @ x.T + np.eye(len(x))))

    x = np.ones((30, 30))
    report = jit(sorted_rows).explain(x)
    assert report.peak_memory >= 3 * x.nbytes


def test_made_for():
    class Settings:
        rate = 0.5

    def scaled(x, k, name):
        return x[k] * Settings.rate * (1, 2)[k] if name == "left" else x

    report = jit(scaled).explain(np.ones((3, 1)), 1, "left")
    assert "x: float64[n, 1]" in report.specialised
    assert "k = 1" in report.specialised
    assert "name = 'left'" in report.specialised
    assert "Settings.rate = 0.5" in report.specialised


def test_only_shapes_are_needed():
    shape = ShapeDtypeStruct((200,), float)
    assert jit(smoothed).explain(shape, 10).work == jit(smoothed).explain(V, 10).work


def test_methods_and_functions_of_functions():
    class Model:
        scale = 2.0

        @jit
        def value(self, x):
            return inner(x) * self.scale

    def inner(x):
        return np.sum(x * x)

    report = Model().value.explain(V)
    assert {line.function.rpartition(".")[2] for line in report.lines} == {"value", "inner"}
    assert line_with(report, "x * x").work.operations == 2 * 200


def test_recursion_and_lists_are_named():
    def power(x, n):
        return x if n <= 0 else x * power(x, n - 1)

    def summed(x, n):
        total = 0.0
        for i in range(n):
            total += power(x, int(x) + i)
        return total

    with pytest.warns(PerformanceWarning, match=r"power\(\) calls itself"):
        report = jit(summed).explain(1.0, 3)
    assert [loop.way_out for loop in report.loops] == ["write the recursion as a loop"]


def test_functions_that_call_themselves_are_shown():
    def halved(x, n):
        if n <= 0:
            return x
        for _ in range(n):
            x = 0.5 * x
        return halved(x, n - 1)

    with pytest.warns(PerformanceWarning, match=r"halved\(\) calls itself"):
        report = jit(lambda x, k: halved(x, int(k))).explain(V, 2.5)
    assert "NumPy" in line_with(report, "x = 0.5").runs_in
    assert line_with(report, "for _ in range(n)").slow


@pytest.mark.parametrize("program", programs()[2::29], ids=lambda each: each.name)
def test_loops_of_the_driver_are_named_where_the_text_has_some(program, monkeypatch, capsys):
    monkeypatch.setattr(Jit, "prepare", lambda *_: None)  # quicker
    for function in (program.function, gradient(program)):
        compiled = jit(function)
        report = compiled.explain(*program.arguments())
        by_python = [loop for loop in report.loops if "Python" in loop.fate]
        assert bool(by_python) == bool(loops_of_driver(compiled.source(*program.arguments())))
        assert all(loop.reason and loop.way_out for loop in report.loops)
        assert report.name in str(report)


def test_functions_without_results_cost_nothing():
    def told(x, n):
        if n > 0:
            print(n)  # noqa: T201 (all that it does)
            told(x, n - 1)

    def repeated(x, k, n):
        for _ in range(n):
            told(x, int(k))
            x = x * 2
        return x

    with pytest.warns(PerformanceWarning, match=r"told\(\) calls itself"):
        report = jit(repeated).explain(V, 2.5, 3)
    assert line_with(report, "x = x * 2").work.operations == 3 * 200


def test_lists_come_as_arrays():
    def total(items, x):
        s = 0.0
        for item in items:
            s += item * item
        return s * x

    compiled = jit(total)
    report = compiled.explain([1.5] * 20, V)
    assert line_with(report, "s += item").runs_in == ("total_kernel",)
    assert report.loops == ()
    assert "def total_kernel(" in compiled.source([1.5] * 20, V)


def test_generators_are_told():
    def walk(rng, n):
        x = 0.0
        for _ in range(n):
            x = 0.9 * x + rng.normal()
        return x

    report = jit(walk).explain(np.random.default_rng(0), 20)
    assert "rng: a generator or function" in report.specialised
