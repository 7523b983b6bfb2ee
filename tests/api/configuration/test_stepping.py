"""A debugger's `step` goes from the user's call into the emitted function."""

import bdb
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad, value_and_grad, vmap
from tapeless.configuration import stepping

SCRIPT = """\
import numpy as np
from tapeless import grad


def f(x):
    return np.sum(np.sin(x) ** 2)


slope = grad(f)
x = np.ones(3)
for _ in range(3):
    value = slope(x)
print("done")
"""


def total(x):
    return np.sum(np.sin(x) ** 2)


def pdb(folder, *commands):
    script = folder / "program.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "pdb", str(script)]
    run = subprocess.run(
        command, input="\n".join([*commands, "q", ""]), capture_output=True, text=True, check=False
    )
    return run.stdout.split("(Pdb) ")[1:]


def test_one_step_of_pdb_goes_in_and_the_next_ones_back(tmp_path):
    there, into, line, end, back = pdb(tmp_path, "b 12", "c", "s", "n", "n", "n")[1:6]
    assert "value = slope(x)" in there
    assert "f_grad()" in into
    assert "def f_grad(x):" in into
    assert "return 2 * np.sin(x) * np.cos(x)" in line
    assert "--Return--" in end
    assert "program.py(11)" in back


@pytest.mark.parametrize("call", [2, 3])
def test_one_step_of_later_calls(tmp_path, call):
    into = pdb(tmp_path, "b 12", "c", *["c"] * (call - 1), "s")[call + 1]
    assert "def f_grad(x):" in into


def test_breakpoints_by_the_public_path(tmp_path):
    (tmp_path / "program.py").write_text(SCRIPT)
    path = runpy.run_path(str(tmp_path / "program.py"))["slope"].file()
    line = 1 + Path(path).read_text().splitlines().index("    return 2 * np.sin(x) * np.cos(x)")
    stopped = pdb(tmp_path, f"b {path}:{line}", "c")[1]
    assert f"{path}({line})f_grad()" in stopped


class Stepper(bdb.Bdb):
    """Steps as long as it can, and notes where."""

    def __init__(self, stop=None):
        super().__init__()
        self.stops = []
        if stop:
            self.set_break(*stop)

    def user_line(self, frame):
        self.stops.append((frame.f_globals["__name__"], frame.f_code.co_name))
        self.set_step()

    def user_call(self, frame, argument_list):
        self.user_line(frame)


@pytest.mark.parametrize("transform", [grad, value_and_grad, vmap, lambda f: vmap(grad(f))])
def test_a_debugger_that_comes_late_stops_in_one_function_of_ours(transform):
    f = transform(total)
    x = np.ones((3, 2))
    for k in range(3):
        stepper = Stepper()
        stepper.runcall(lambda: f(x))
        names = [name for name, _ in stepper.stops]
        ours = [stop for stop in stepper.stops if stop[0].startswith("tapeless.")]
        assert {name for _, name in ours} == {"__call__"}, k
        assert len(ours) <= 3
        assert any(name.startswith("tapeless_emitted.") for name in names)


def test_a_debugger_that_was_there_never_stops_in_ours():
    stepper, x = Stepper(), np.ones(3)

    def run():
        f = grad(lambda x: np.sum(np.cos(x)))
        f(x)
        f(x)

    stepper.runcall(run)
    names = [name for name, _ in stepper.stops]
    entered = [k for k, name in enumerate(names) if name.startswith("tapeless_emitted.")]
    assert entered
    assert not [s for s in stepper.stops[entered[0] :] if s[0].startswith("tapeless.")]


def test_breakpoints_hold_while_the_function_is_staged():
    line = total.__code__.co_firstlineno + 1
    stepper, x = Stepper((__file__, line)), np.ones(3)
    stepper.runcall(lambda: grad(lambda x: total(x) * 2)(x))
    assert (__name__, "total") in stepper.stops


def test_other_trace_functions_are_left_alone():
    events, f = [], grad(total)

    def note(frame, event, _):
        events.append(frame.f_code.co_name)

    sys.settrace(note)
    try:
        f(np.ones(3))
        assert sys.gettrace() is note
    finally:
        sys.settrace(None)
    assert "__call__" in events
    assert stepping.debugger(note) is None
