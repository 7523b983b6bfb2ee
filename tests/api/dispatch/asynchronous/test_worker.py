"""Calls are done in order; leaving the interpreter and copying the process wait for them."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import tapeless
from tapeless import jit, pure_callback
from tapeless.dispatch.asynchronous import worker
from tests.api.dispatch.asynchronous.gate import SQUARE, matrix, want


def handed_over(work, results=()):
    call = worker.PendingCall(work)
    call.for_results(results)
    with worker.LENDING:
        worker.submit(call)
    return call


def test_calls_are_done_in_order():
    order = []
    calls = [handed_over(lambda k=k: order.append(k) or []) for k in range(100)]
    calls[-1].wait()
    assert order == list(range(100))


def test_the_barrier_waits_for_all(gate):
    results = [gate.program(matrix(k)) for k in range(3)]
    gate.open_soon()
    tapeless.effects_barrier()
    assert all(y.is_ready() for y in results)


def test_an_error_keeps_its_traceback_however_often_it_is_raised():
    def work():
        raise KeyError("x")

    call = handed_over(work)
    lengths = []
    for _ in range(3):
        with pytest.raises(KeyError) as info:
            call.result()
        lengths.append(len(info.traceback))
        assert info.traceback[-1].name == "work"
    assert len(set(lengths)) == 1


def test_an_error_that_nobody_has_looked_at_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda u: told.append(str(u.exc_value)))

    def work():
        raise ValueError("nobody looks")

    handed_over(work).wait()
    handed_over(list).wait()  # the thread has left the first one
    gc.collect()
    assert told == ["nobody looks"]


def test_memory_of_arguments_is_given_back_when_the_call_is_done():
    array = np.ones(3)
    memory = weakref.ref(array)
    call = handed_over(lambda array=array: [array.sum()][1:])
    del array
    call.wait()
    handed_over(list).wait()  # the thread has left the first one
    assert memory() is None


def test_a_callback_may_look_at_the_result_of_a_later_call(gate):
    later = []

    def look(x):
        gate.pass_on(x)
        return np.array(later[0])

    second = jit(lambda x: x @ x + 1.0)
    second(matrix()).block_until_ready()
    program = jit(lambda x: pure_callback(look, SQUARE, x) @ x)
    later.append(matrix())
    gate.open()
    program(matrix()).block_until_ready()
    gate.close()
    y = program(matrix())
    later[0] = second(matrix())
    gate.open_soon()
    np.testing.assert_allclose(y, want(matrix()) @ np.asarray(matrix()), rtol=1e-12)


def test_a_callback_that_needs_its_own_result_is_refused(gate):
    own = []

    def look(x):
        gate.pass_on(x)
        return np.array(own[0])

    program = jit(lambda x: pure_callback(look, SQUARE, x) @ x)
    own.append(matrix())
    gate.open()
    program(matrix()).block_until_ready()
    gate.close()
    own[0] = program(matrix())
    gate.open_soon()
    with pytest.raises(worker.OwnResultError, match="the result of the call that it belongs to"):
        own[0].block_until_ready()


def test_several_threads_hand_over(gate):
    gate.open()
    right, failures = want(matrix()), []

    def work():
        for _ in range(20):
            y = gate.program(matrix())
            if not np.array_equal(y, right):
                failures.append(y)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# -- other processes

PROGRAM = """
import os
import sys
import time

import numpy as np

import tapeless
import tapeless.numpy as jnp
from tapeless import ShapeDtypeStruct, jit, pure_callback

square = ShapeDtypeStruct((256, 256), float)
x = jnp.ones((256, 256)) / 256
delay = [0.0]


def say(text):  # at once, and in one piece: other processes write, too
    os.write(1, f"{text}\\n".encode())


def slow(v):
    time.sleep(delay[0])
    say("called")
    return v


f = jit(lambda x: pure_callback(slow, square, x) @ x)
f(x).block_until_ready()
delay[0] = 0.2
"""


@pytest.fixture
def run(tmp_path):
    """Runs a program in a process of its own: the lines after the first, errors and exit code."""

    def call(text):
        file = tmp_path / "program.py"
        file.write_text(PROGRAM + textwrap.dedent(text))
        command = [sys.executable, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return done.stdout.split("\n")[1:-1], done.stderr, done.returncode

    return call


def test_leaving_the_interpreter_waits(run):
    lines, errors, code = run(
        """
        y = f(x)
        say(f"ready {y.is_ready()}")
        """
    )
    assert (lines, errors, code) == (["ready False", "called"], "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied here")
def test_copying_the_process_waits(run):
    lines, errors, code = run(
        """
        y = f(x)
        pid = os.fork()
        assert y.is_ready()
        z = f(y)
        np.testing.assert_allclose(z, 1 / 256)
        if pid == 0:
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        say("done")
        """
    )
    assert (lines, errors, code) == (["called", "called", "called", "done"], "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied here")
def test_a_copy_made_by_a_callback_has_not_got_the_results(run):
    lines, errors, code = run(
        """
        def copy(v):
            if forking:
                time.sleep(0.3)
                pid = os.fork()
                if pid == 0:
                    try:
                        np.asarray(y)
                    except RuntimeError as e:
                        say(e.problem)
                    os._exit(0)
                os.waitpid(pid, 0)
            return v

        forking = []
        g = jit(lambda x: pure_callback(copy, square, x) @ x)
        g(x).block_until_ready()
        forking.append(True)
        z, y = g(x), f(x)
        say(y.shape)
        """
    )
    what = "the array is computed by the process that this one was forked from"
    assert (lines, errors, code) == (["(256, 256)", what, "called"], "", 0)
