"""Warnings of loops that are slow: where they point, what they say, and when they are silent."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import tapeless
from tapeless import PerformanceWarning, grad, jit
from tapeless.transforms.frontend.control_flow import python_loops

V = np.linspace(0.5, 1.5, 9)


def warned(call):
    """The performance warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, PerformanceWarning)]


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def test_a_loop_that_python_runs_under_jit():
    def filtered(u, steps):
        for _ in range(steps):
            u = np.fft.ifft(np.fft.fft(u)).real
        return u

    (warning,) = warned(lambda: jit(filtered)(V, 3))
    assert warning.filename == __file__
    assert warning.lineno == line_of(filtered, 1)
    assert str(warning.message) == (
        f"the loop on line {line_of(filtered, 1)} of {filtered.__qualname__} is run by Python, "
        "pass by pass: np.fft.rfft is a call of a library (FFT) "
        f"(line {line_of(filtered, 2)}); work on larger arrays in each pass, or on all passes at "
        "once as a stack, so that the call outweighs what Python adds"
    )


def test_once_for_each_place_and_function():
    def shown(u, steps):
        for k in range(steps):
            print(k, end="")  # noqa: T201 (what the loop is left to Python for)
            u = u * 2
        return u

    f = jit(shown)
    assert len(warned(lambda: f(V, 2))) == 1
    assert warned(lambda: f(V, 3)) == []
    assert warned(lambda: f(V[:, None], 3)) == []


def test_the_innermost_loop_is_named():
    def nested(u, n):
        for _ in range(n):
            u = u + 1
            for _ in range(n):
                u = np.real(np.fft.fft(u))
        return u

    assert [w.lineno for w in warned(lambda: jit(nested)(V, 3))] == [line_of(nested, 3)]


def unrolled(xs, y):
    for x in xs:
        y = np.sin(y) * x
    return y


def test_a_loop_unrolled_into_many_passes():
    def chained(y, xs):
        for x in xs:
            y = np.sin(y) * x
        return y

    many = [1.0 + 0.1j] * 65
    (warning,) = warned(lambda: jit(chained)(V, tuple(many)))
    assert warning.lineno == line_of(chained, 1)
    assert "is unrolled into more than 64 passes" in str(warning.message)
    assert "goes over a tuple" in str(warning.message)
    assert warned(lambda: jit(unrolled)(tuple([1.0] * 64), 2.0)) == []
    assert len(warned(lambda: grad(unrolled, 1)(tuple([1.0] * 65), 2.0))) == 1


def test_loops_in_one_another_that_are_unrolled_into_very_much_code(monkeypatch):
    monkeypatch.setattr(python_loops, "LARGE", 200)
    functions = (np.sin, np.cos, np.tanh, np.arctan)

    def chains(x):
        total = 0.0
        for f in functions:
            for g in functions:
                for h in functions:
                    for k in functions:
                        total = total + f(g(h(k(x))))
        return total

    (warning,) = warned(lambda: grad(chains)(0.4))
    assert warning.lineno == line_of(chains, 3)
    assert "is unrolled, into code of more than 200 operations" in str(warning.message)


def test_loops_of_two_passes_of_which_the_first_is_apart(monkeypatch):
    monkeypatch.setattr(python_loops, "LARGE", 60)
    rows = [[np.sin, np.cos], [np.tanh, np.exp]]

    def chains(x):
        total = 0.0
        for i in range(2):
            for f in rows[i]:
                for j in range(2):
                    for g in rows[j]:
                        for k in range(2):
                            for h in rows[k]:
                                total = total + f(g(h(x)))
        return total

    (warning,) = warned(lambda: grad(chains)(0.4))
    assert "is unrolled, into code of more than 60 operations" in str(warning.message)


def test_a_loop_whose_passes_differ_says_how():
    def shorter(x, n):
        outs = ()
        for _ in range(n):
            outs = (*outs, x)
            x = x[:-1]
        return outs[-1]

    (warning,) = warned(lambda: jit(shorter, static_argnums=1)(np.ones(90), 70))
    assert "'outs' changes from pass to pass" in str(warning.message)


def silent():
    def numbers(x):  # nothing is recorded in its loop
        table = [k * k for k in range(200)]
        for k in range(200):
            table[k] += 1
        return x * table[-1]

    def few(u):
        for _ in range(3):
            u = np.fft.fft(u).real
        return u

    def large(a, n):
        for _ in range(n):
            a = np.linalg.inv(a)
        return a

    def compiled(u, n):
        for _ in range(n):
            u = np.sin(u)
        return u

    yield jit(numbers), (1.0,)
    yield jit(few), (V,)
    yield jit(large), (np.eye(200), 3)
    yield jit(compiled), (V, 3)
    yield grad(lambda x, n: np.sum(compiled(x, n))), (V, 3)


@pytest.mark.parametrize(("function", "args"), list(silent()))
def test_what_costs_little_is_silent(function, args):
    assert warned(lambda: function(*args)) == []


def test_it_can_be_an_error_and_the_call_then_fails_again():
    def drawn(u, n):
        for _ in range(n):
            u = np.fft.fft(u).real
        return u

    f = jit(drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(PerformanceWarning, match="is run by Python"):
                f(V, 3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=tapeless.PerformanceWarning)
        assert f(V, 1).shape == V.shape


def test_another_process_that_finds_it_on_disk_warns_too(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport tapeless\n\n\ndef filtered(u, steps):\n"
        "    for _ in range(steps):\n"
        "        u = np.fft.ifft(np.fft.fft(u)).real\n    return u\n\n\n"
        "tapeless.jit(filtered)(np.ones(9), 3)\n"
    )
    environment = {"TAPELESS_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, str(program)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"{program}:6: PerformanceWarning: the loop on line 6" in run.stderr
    assert list((tmp_path / "cache").rglob("*"))


def test_no_compilation_at_all_is_told():
    def careful(u, n):
        with np.errstate(divide="raise"):
            for _ in range(n):
                u = 1 / u
        return u

    (warning,) = warned(lambda: jit(careful)(V, 3))
    assert "asks for errors of NumPy" in str(warning.message)
