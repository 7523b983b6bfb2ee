"""Random programs, right and wrong: every error names the user's line and a way out, or is the one
that Python or NumPy would raise."""

import contextlib
import importlib.util
import io
import itertools
import signal
import sys

import numpy as np
import pytest

import tapeless as tp
from tapeless.transforms.errors import InternalError, TapelessError
from tests.random_mistakes import Writer

SECONDS = 4  # of CPU time for one program
PROGRAMS = 70
NUMBERS = itertools.count()
#: Words of our own that no error of the user's may hold.
INNER = ("Symbol", "StagedList", "Keyed", "Members", "__hooks__", "factory.<locals>")


def alone():
    return np.array([0.3, -1.2, 2.0]), np.arange(6.0).reshape(2, 3) + 0.5, 0.7, 2


def several():
    x, m, s, n = alone()
    return np.stack([x, x + 0.1]), np.stack([m, m]), np.array([s, -0.3]), n


AXES = (0, 0, 0, None)
MODES = {
    "as it is": (lambda f: tp.jit(f).plain, alone),
    "grad": (lambda f: tp.grad(f, argnums=(0, 2)), alone),
    "vmap": (lambda f: tp.vmap(f, in_axes=AXES), several),
    "vmap of grad": (lambda f: tp.vmap(tp.grad(f), in_axes=AXES), several),
    "jit": (tp.jit, alone),
    "jit of grad": (lambda f: tp.jit(tp.grad(f)), alone),
    "jit of vmap": (lambda f: tp.jit(tp.vmap(f, in_axes=AXES)), several),
    "grad of grad": (lambda f: tp.grad(tp.grad(f, argnums=2), argnums=2), alone),
}


class TooLong(BaseException):
    """A program runs without end."""


@contextlib.contextmanager
def limited():
    """Text is not shown, and what takes too long is stopped."""

    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def outcome(call, *args):
    """(value, error) of a call."""
    np.random.seed(0)
    with limited():
        try:
            return call(*args), None
        except Exception as e:  # noqa: BLE001 (every error is looked at)
            return None, e


def load(folder, seed):
    """A random module in a file of its own; None if Python does not read it."""
    name = f"mistaken_{next(NUMBERS)}"
    path = folder / f"{name}.py"
    path.write_text(Writer(seed).program())
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError:
        return None
    return module


def complaint(error, right):
    """What is wrong with an error, where plain Python ends with `right`; None if nothing is."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, InternalError):
        return text
    if any(word in text for word in INNER):
        return f"it names what is ours: {text}"
    if isinstance(error, TapelessError):
        if right is not None and isinstance(error, type(right)):
            return None
        if "  File " not in text:
            return f"it names no line: {text}"
        return None if error.hint else f"it says no way out: {text}"
    return None if right is not None else f"Python raises nothing here: {text}"


def found(folder, seed, mode):
    """What one mode does wrong with one program; None if nothing."""
    module = load(folder, seed)
    if module is None:
        return None
    try:
        _, right = outcome(module.f, *alone())
    except TooLong:
        return None
    make, given = MODES[mode]
    try:
        _, error = outcome(lambda: make(load(folder, seed).f)(*given()))
    except TooLong:
        return None
    return None if error is None else complaint(error, right)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", list(MODES)[:4])
def test_errors_are_the_users(mode, tmp_path):
    wrong = {seed: found(tmp_path, seed, mode) for seed in range(PROGRAMS)}
    assert {seed: what for seed, what in wrong.items() if what} == {}


@pytest.mark.filterwarnings("ignore")
def test_errors_are_the_users_under_jit(tmp_path):
    wrong = {seed: found(tmp_path, seed, "jit of grad") for seed in range(1000, 1012)}
    assert {seed: what for seed, what in wrong.items() if what} == {}


def main(first, last, *modes):
    """Shows what goes wrong: python -m tests.test_random_mistakes 0 10000 [MODE ...]"""
    import tempfile  # noqa: PLC0415 (where this runs as a script)
    import warnings  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(last)):
            for mode in modes or MODES:
                if what := found(Path(folder), seed, mode):
                    print(seed, mode, what.replace("\n", " | "), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
