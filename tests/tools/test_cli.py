"""The command line as a user types it: results, errors and exit codes."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

COMMANDS = ["grad", "jit", "stages", "check", "run", "cache", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(tapeless, command):
    result = tapeless(command, "--help")
    assert result.code == 0
    assert f"examples:\n  tapeless {command}" in result.out


@pytest.mark.parametrize("device", ["gpu", "cuda"])
@pytest.mark.parametrize("command", [("jit",), ("grad", "--jit"), ("grad",)])
def test_programs_for_a_gpu_are_printed_without_one(tapeless, command, device):
    name, *more = command
    result = tapeless(name, "models.py:logistic", *more, "--args", "f4", "--device", device)
    assert result.code == 0, result
    assert result.out.startswith("import cupy as cp\n")
    assert 'extern "C" __global__ void logistic' in result.out


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x, w):\n    return x @ w", "x, w"),
        ("def f(x, n=3):\n    return x.max() * n", "x"),
        ("def f(w: 'f8[3]', y):\n    return y.sum() + w.sum()", "y"),
    ],
)
def test_a_function_that_fails_says_which_arguments_were_taken_for_numbers(
    tapeless, tmp_path, text, names
):
    path = tmp_path / "unknown.py"
    path.write_text(text)
    result = tapeless("grad", f"{path}:f")
    assert result.code == 1
    assert f"\n  {names}: taken for float scalars; --args describes them" in result.err
    result = tapeless("grad", f"{path}:f", "--args", "f8, f8")
    assert result.code == 1
    assert "taken for float scalars" not in result.err


def test_help_lists_commands_and_codes(tapeless):
    result = tapeless("--help")
    assert result.code == 0
    assert all(f"    {command} " in result.out for command in COMMANDS)
    assert "exit codes:" in result.out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("derive",), "invalid choice: 'derive'"),
        (("grad",), "the following arguments are required: FILE.py:FUNCTION"),
        (("grad", "models.py:logistic", "--order", "0"), "'0' is not a whole number from 1"),
        (("grad", "models.py:logistic", "--mode", "up"), "invalid choice: 'up'"),
        (("jit", "models.py:logistic", "--device", "tpu"), "invalid choice: 'tpu'"),
        (("grad", "gone.py:f"), "tapeless: there is no file gone.py"),
        (("grad", "models.py:logistic", "--wrt", "z"), "no positional parameter 'z'"),
        (("grad", "models.py:logistic", "--args", "f8[x]"), "    f8[x]\n       ^"),
        (("grad", "models.py:decay", "--wrt", "rate,rate"), "names a parameter twice"),
        (("grad", "models.py:Sized.volume"), "Sized.volume is a method, and Sized() needs arg"),
        (("check", "models.py:decay", "--args", "i8"), "no argument holds floats"),
        (("check", "models.py:empty"), "the arguments hold no numbers to compare"),
        (("run", "gone.py", "--emit", "out"), "there is no file gone.py"),
        (("run", "models.py"), "--emit DIR is missing"),
        (("run", "models.py", "--emit", "models.py"), "models.py is not a folder"),
    ],
)
def test_misunderstood_requests_leave_with_2(tapeless, argv, message):
    result = tapeless(*argv)
    assert result.code == 2
    assert result.err.startswith("tapeless: ")
    assert result.err.count("\n") >= 2, "no way out is named"
    assert message in result.err
    assert not result.out


def test_grad_prints_a_module_that_runs(tapeless):
    result = tapeless("grad", "models.py:logistic")
    assert result.code == 0
    namespace = {}
    exec(result.out, namespace)
    assert namespace["logistic_grad"](1.0) == pytest.approx(0.19661193324148185)


def test_grad_writes_a_file(tapeless, models):
    printed = tapeless("grad", "models.py:logistic").out
    result = tapeless("grad", "models.py:logistic", "-o", models / "out.py")
    assert (result.code, result.out) == (0, "")
    assert (models / "out.py").read_text() == printed


W, B = np.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.7]]), np.array([0.2, -0.1])
X = np.linspace(-1, 1, 12).reshape(4, 3)
DESCRIBED = ("--args", "{w: f8[3,2], b: f8[2]}, f8[4,3]")


def derivative(tapeless, *options):
    """The function that `tapeless grad` prints, from a module that stands alone."""
    result = tapeless("grad", *options)
    assert result.code == 0, result.err
    assert "tapeless" not in result.out
    namespace = {}
    exec(result.out, namespace)
    (made,) = [f for f in namespace.values() if inspect.isfunction(f)]
    return made


def slope(f, x, h=1e-5):
    """The central difference quotient."""
    return (f(x + h) - f(x - h)) / (2 * h)


def slopes(f, x):
    """The same by each entry of an array, which keeps its place in the arguments of f."""
    units = np.eye(x.size).reshape(x.size, *x.shape)
    return np.reshape([slope(lambda t: f(x + t * unit), 0.0) for unit in units], x.shape)  # noqa: B023  # called at once


def logistic(x):
    return 1 / (1 + np.exp(-x))


def decay(rate, steps):
    return (1 - 0.1 * rate) ** steps


def loss(w, b, x):
    return np.mean((x @ w + b) ** 2)


def test_grad_takes_defaults_and_annotations(tapeless):
    made = derivative(tapeless, "models.py:decay")
    assert made(0.7, 5) == pytest.approx(slope(lambda rate: decay(rate, 5), 0.7), rel=1e-8)


def test_grad_of_higher_order(tapeless):
    made = derivative(tapeless, "models.py:logistic", "--order", "2")
    first = derivative(tapeless, "models.py:logistic")
    assert made(0.4) == pytest.approx(slope(first, 0.4), rel=1e-8)
    third = derivative(tapeless, "models.py:logistic", "--order", "3")
    assert third(0.4) == pytest.approx(slope(made, 0.4), rel=1e-8)


def test_grad_with_the_value(tapeless):
    value, made = derivative(tapeless, "models.py:logistic", "--value")(0.4)
    assert value == pytest.approx(logistic(0.4), rel=1e-12)
    assert made == pytest.approx(slope(logistic, 0.4), rel=1e-8)


def test_grad_forward(tapeless):
    value, made = derivative(tapeless, "models.py:logistic", "--mode", "forward")(0.4, 2.0)
    assert value == pytest.approx(logistic(0.4), rel=1e-12)
    assert made == pytest.approx(2 * slope(logistic, 0.4), rel=1e-8)


def test_grad_forward_of_higher_order(tapeless):
    made = derivative(tapeless, "models.py:logistic", "--mode", "forward", "--order", "2")
    (_, first), (along, second) = made(0.4, 1.0, 2.0)
    assert first == pytest.approx(slope(logistic, 0.4), rel=1e-8)
    assert along == pytest.approx(2 * first, rel=1e-12)
    assert second == pytest.approx(2 * slope(lambda x: slope(logistic, x), 0.4), rel=1e-4)


def test_grad_by_containers(tapeless):
    made = derivative(tapeless, "models.py:loss", *DESCRIBED)({"w": W, "b": B}, X)
    np.testing.assert_allclose(made["w"], slopes(lambda w: loss(w, B, X), W), rtol=1e-7)
    np.testing.assert_allclose(made["b"], slopes(lambda b: loss(W, b, X), B), rtol=1e-7)


def test_grad_by_names(tapeless):
    made = derivative(tapeless, "models:loss", "--wrt", "params,x", *DESCRIBED)
    by_params, by_x = made({"w": W, "b": B}, X)
    np.testing.assert_allclose(by_params["b"], slopes(lambda b: loss(W, b, X), B), rtol=1e-7)
    np.testing.assert_allclose(by_x, slopes(lambda x: loss(W, B, x), X), rtol=1e-7)
    by_x_alone = derivative(tapeless, "models:loss", "--wrt", "x", *DESCRIBED)
    np.testing.assert_array_equal(by_x_alone({"w": W, "b": B}, X), by_x)


def test_grad_of_a_method(tapeless):
    assert derivative(tapeless, "models:Model.square")(3.0) == 6
    assert derivative(tapeless, "models:Model.cube")(3.0) == 27


def test_defaults_that_only_the_function_understands(tapeless):
    np.testing.assert_array_equal(derivative(tapeless, "numpy:sum")(2.0, None, None, None), 1.0)


def test_stages_end_with_the_source(tapeless):
    result = tapeless("stages", "models.py:logistic")
    assert result.code == 0
    assert result.out.count("── ") >= 3
    assert tapeless("grad", "models.py:logistic").out.strip() in result.out


@pytest.mark.parametrize(
    "options",
    [
        ("models.py:logistic",),
        ("models.py:logistic", "--order", "2"),
        ("models.py:logistic", "--order", "3"),
        ("models.py:norm", "--order", "3"),
        ("models.py:switched",),
        ("models.py:Model.cube",),
        ("models.py:decay",),
        ("models.py:norm", "--args", "f8[2,3]"),
        ("models.py:norm", "--args", "f4[40]"),
        ("models.py:loss", "--args", "{w: f8[3,2], b: f8[2]}, f8[4,3]"),
    ],
)
def test_check_finds_right(tapeless, options):
    result = tapeless("check", *options)
    assert result.code == 0, result.out + result.err
    assert result.out.startswith("right: ")
    assert "forward by " in result.out
    assert "reverse by " in result.out


@pytest.mark.parametrize(
    ("function", "returned"),
    [("words", "a value of type str"), ("prints", "nothing"), ("items", "a value of type gen")],
)
def test_check_refuses_results_that_have_no_derivative(tapeless, function, returned):
    result = tapeless("check", f"models.py:{function}")
    assert result.code == 1
    assert result.err.startswith(f"tapeless: models.py:{function} returns {returned}")


def test_a_file_that_ends_the_program(tapeless, models):
    (models / "script.py").write_text("raise SystemExit(3)\n")
    result = tapeless("grad", "script.py:f")
    assert result.code == 2
    assert "script.py ends the program where it is imported (exit code 3)" in result.err


def test_a_refusal_leaves_with_1(tapeless, models):
    """The error of the engine is shown as it is, and no traceback."""
    (models / "late.py").write_text("import json\n\ndef f(x):\n    return json.dumps(x)\n")
    result = tapeless("grad", "late.py:f")
    assert result.code == 1
    assert result.err.startswith("tapeless: ")
    assert "Traceback" not in result.err
    assert "late.py" in result.err


@pytest.mark.parametrize("command", ["grad", "stages", "check"])
@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("def f(x):\n    raise RuntimeError('of the user')\n", "RuntimeError: of the user"),
        ("def f(:\n", "SyntaxError: invalid syntax"),
        ("import surely_not_installed\n", "ModuleNotFoundError: No module named 'surely_not_inst"),
    ],
)
def test_errors_of_the_user_leave_with_1(tapeless, models, command, source, last):
    """Only the user's own lines of the traceback are shown."""
    (models / "late.py").write_text(source)
    result = tapeless(command, "late.py:f")
    assert result.code == 1
    assert result.err.startswith("tapeless: late.py:f failed\n")
    assert result.err.splitlines()[-1].startswith(last)
    assert result.err.count("  File ") == 1
    assert f'File "{models / "late.py"}", line' in result.err


def test_a_mistake_of_ours_is_not_hidden(tapeless, monkeypatch):
    monkeypatch.setattr("tapeless.tools.stages.CommandDerivative", None)
    with pytest.raises(AttributeError):
        tapeless("stages", "models.py:logistic")


def test_a_file_that_cannot_be_written(tapeless):
    result = tapeless("grad", "models.py:logistic", "-o", "gone/out.py")
    assert result.code == 2
    assert "gone/out.py cannot be written: No such file" in result.err


def test_doctor_reports(tapeless):
    result = tapeless("doctor")
    assert result.code == 0
    titles = [line for line in result.out.splitlines() if not line.startswith(" ")]
    assert titles == ["versions", "backends", "threads", "cache"]
    assert "  numpy " in result.out
    assert "  writable              yes" in result.out
    assert "  TAPELESS_NUM_THREADS  " in result.out
    assert "  compiled code         " in result.out


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("command", ["grad", "jit", "stages", "explain"])
def test_files_and_pipes_get_utf8_where_the_locale_has_another_encoding(
    tmp_path, command, encoding
):
    (tmp_path / "grösse.py").write_text(
        'def größe(x: "f8", ω: "f8"):\n    return x * ω\n', encoding="utf-8"
    )
    code = "from tapeless.tools.cli import script; raise SystemExit(script())"
    run = subprocess.run(
        [sys.executable, "-c", code, command, "grösse.py:größe"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert "x" in run.stdout.decode("utf-8")
    assert "ω" in run.stdout.decode("utf-8")


def test_the_script_is_installed():
    script = Path(sys.executable).with_name("tapeless")
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("tapeless 0.")


def test_jit_of_a_function_without_arguments(tapeless, models):
    (models / "constant.py").write_text("def two():\n    return 1.0 + 1.0\n")
    done = tapeless("jit", "constant.py:two")
    assert done.code == 0
    assert "def two():" in done.out


def test_explain_tells_what_runs_each_line(tapeless):
    result = tapeless("explain", "models.py:norm", "--args", "f8[1000]")
    assert result.code == 0
    assert re.search(
        r"return np.sum\(x\*\*2\) +2 k op +8 kB +norm_kernel$", result.out, re.MULTILINE
    )
    assert "x: float64[n]" in result.out


def test_explain_of_a_derivative(tapeless):
    args = ("--args", "{w: f8[3], b: f8}, f8[4,3]", "--wrt", "params")
    compiled = tapeless("explain", "models.py:loss", *args, "--transform", "jit,grad")
    assert compiled.out.startswith("jit of d loss / d params, models.py:")
    assert "loss_grad_kernel" in compiled.out
    plain = tapeless("explain", "models.py:loss", *args, "--transform", "grad")
    assert "NumPy" in plain.out
    assert "kernel" not in plain.out


def test_explain_refuses_what_is_no_transformation(tapeless):
    result = tapeless("explain", "models.py:norm", "--transform", "jit,grades")
    assert result.code == 2
    assert "'grades' is none of jit, grad, value_and_grad, jacfwd, jacrev, hessian" in result.err


def test_check_of_an_async_function(tapeless, models):
    (models / "later.py").write_text("async def f(x):\n    return x\n")
    done = tapeless("check", "later.py:f")
    assert done.code == 1
    assert "returns a value of type coroutine" in done.err
