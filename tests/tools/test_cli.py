"""The command line as a user types it: results, errors and exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = ["grad", "stages", "check", "run", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(tapeless, command):
    result = tapeless(command, "--help")
    assert result.code == 0
    assert f"examples:\n  tapeless {command}" in result.out


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
        (("grad", "gone.py:f"), "tapeless: there is no file gone.py"),
        (("grad", "models.py:logistic", "--wrt", "z"), "no positional parameter 'z'"),
        (("grad", "models.py:logistic", "--args", "f8[x]"), "    f8[x]\n       ^"),
        (("check", "models.py:decay", "--args", "i8"), "no argument holds floats"),
        (("run", "gone.py", "--emit", "out"), "there is no file gone.py"),
        (("run", "models.py"), "--emit DIR is missing"),
        (("run", "models.py", "--emit", "models.py"), "models.py is not a folder"),
    ],
)
def test_misunderstood_requests_leave_with_2(tapeless, argv, message):
    result = tapeless(*argv)
    assert result.code == 2
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


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("models.py:decay", "--order", "2"), "def decay"),
        (("models.py:logistic", "--value"), "return"),
        (("models.py:logistic", "--mode", "forward"), "x_dot"),
        (("models.py:logistic", "--mode", "forward", "--order", "2"), "x_dot"),
        (("models.py:loss", "--args", "{w: f8[3,2], b: f8[2]}, f8[4,3]"), "w_bar"),
        (
            ("models:loss", "--wrt", "params,x", "--args", "{w: f8[3,2], b: f8[2]}, f8[4,3]"),
            "x_bar",
        ),
        (("models:Model.square",), "def square_grad"),
    ],
)
def test_grad_options(tapeless, options, part):
    result = tapeless("grad", *options)
    assert result.code == 0, result.err
    assert part in result.out
    compile(result.out, "emitted", "exec")


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


def test_a_refusal_leaves_with_1(tapeless, models):
    """The error of the engine is shown as it is, and no traceback."""
    (models / "late.py").write_text("import json\n\ndef f(x):\n    return json.dumps(x)\n")
    result = tapeless("grad", "late.py:f")
    assert result.code == 1
    assert result.err.startswith("tapeless: ")
    assert "Traceback" not in result.err
    assert "late.py" in result.err


def test_doctor_reports(tapeless):
    result = tapeless("doctor")
    assert result.code == 0
    titles = [line for line in result.out.splitlines() if not line.startswith(" ")]
    assert titles == ["versions", "backends", "threads", "cache"]
    assert "  numpy " in result.out
    assert "  writable              yes" in result.out


def test_the_script_is_installed():
    script = Path(sys.executable).with_name("tapeless")
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("tapeless 0.")
