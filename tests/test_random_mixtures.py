"""Random functions of many kinds of statements: values, slopes in both modes, compiled slopes,
batches, slopes of batches and second derivatives are those of NumPy and of differences.

`python -m tests.test_random_mixtures 0 1000` tries 1000 seeds from 0 on, and prints what is wrong.
"""

import collections
import copy
import importlib.util
import itertools
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, jvp, vmap
from tapeless.transforms.errors import InternalError, TapelessError
from tests.random_mixtures import program

PROGRAMS, GROUP = 9, 3
PASSES = 3
SECONDS = 60
numbers = itertools.count()


class WrongError(Exception):
    """A result that is not the right one."""


class TooLongError(BaseException):
    """A program that is not ready in time."""


def arguments(seed):
    """Parameters, a number, a vector, a matrix, a vector of float32 and places."""
    generator = np.random.default_rng(seed)
    w, b, first, second, x, v, m, g = (
        generator.uniform(-1, 1, shape) for shape in (4, (), 4, 4, (), 4, (3, 4), 4)
    )
    p = {"w": w, "b": float(b), "layers": [first, second]}
    return p, float(x), v, m, g.astype(np.float32), np.array([1, -2, 3, 0])


POINTS = [arguments(11), arguments(12), arguments(14)]


def loaded(text, folder):
    path = Path(folder) / f"mixture_{next(numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(function, *args):
    """What a function returns, or the error that it raises, and the arguments afterwards."""
    args = copy.deepcopy(args)
    try:
        with np.errstate(all="ignore"):
            return function(*args), args
    except InternalError:
        raise
    except Exception as e:  # noqa: BLE001 (every error is looked at)
        return e, args


def require_same(what, actual, expected, rtol, atol=0.0):
    """Compares numbers in containers."""
    a, b = tapeless.tree.leaves(actual), tapeless.tree.leaves(expected)
    size = 1 + max([np.max(np.abs(e), initial=0) for e in b], default=0)
    for x, y in zip(a, b, strict=True):
        if np.shape(x) != np.shape(y) or not np.allclose(x, y, rtol, atol * size, equal_nan=True):
            raise WrongError(f"{what}: {x} for {y}")


def directions(seed):
    """A direction for what has a derivative: all but places."""
    p, x, v, m, g, _ = arguments(1000 + seed)
    return p, x, v, m, np.zeros_like(g)


def moved(point, direction, step):
    *where, k = point
    leaves = tapeless.tree.map(
        lambda a, b: a + np.asarray(step * b, np.asarray(a).dtype), where, list(direction)
    )
    return (*leaves, k)


def in_float64(point):
    *others, g, k = point
    return *others, g.astype(float), k


def along(function, point, direction):
    """The slope by differences; None where the function is not smooth, or may not be."""
    values = []
    for step in (-1e-6, -2.5e-7, 0.0, 2.5e-7, 1e-6):
        value, _ = outcome(function, *moved(point, direction, step))
        if isinstance(value, Exception) or not np.isfinite(value):
            return None
        values.append(float(value))
    first, near, middle, after, last = values
    wide, narrow, ahead = (last - first) / 2e-6, (after - near) / 5e-7, (last - middle) / 1e-6
    smooth = abs(wide - narrow) < 1e-4 * (1 + abs(wide)) > abs(wide - ahead) / 10
    return wide if smooth and abs(wide) < 1e4 else None


def inner(slopes, direction):
    pairs = zip(tapeless.tree.leaves(slopes), tapeless.tree.leaves(direction), strict=True)
    return sum(float(np.sum(np.asarray(a, float) * b)) for a, b in pairs)


def stacked(points):
    return tapeless.tree.map(lambda *each: np.stack(each), *map(list, points))


class Mixture:
    """One function, and how often its results were compared."""

    def __init__(self, seed, folder):
        text = program(seed)
        exact = loaded(text.replace("np.float32", "np.float64"), folder)
        self.exact = lambda *args: exact(*args, PASSES)  # for differences
        self.staged = loaded(text, folder)
        self.compared = collections.Counter()
        self.smooth = []

    def attempt(self, what, transformed, *args):
        """The result; None where it is refused."""
        result, after = outcome(transformed, *args)
        if isinstance(result, TapelessError):
            self.compared[f"refused {what}"] += 1
            return None
        if isinstance(result, Exception):
            raise WrongError(f"{what}: {type(result).__name__}: {result}")
        self.compared[what] += 1
        return result, after

    def check_values(self, compiled):
        """Values, and what is left in arguments; the last call is one more of the first."""
        call = jit(self.staged) if compiled else jit(self.staged).plain
        for point in (*POINTS, POINTS[0]):
            args = (*point, PASSES)
            expected, after = outcome(self.staged, *args)
            if isinstance(expected, Exception):
                result, _ = outcome(call, *args)
                if not isinstance(result, Exception):
                    raise WrongError(f"value: {result} for {type(expected).__name__}")
                continue
            if (actual := self.attempt("value", call, *args)) is not None:
                require_same("value", actual[0], expected, 1e-6, 1e-7)
                require_same("arguments", actual[1], after, 1e-6, 1e-7)

    def check_slopes(self, seed, compiled):
        slopes = grad(self.staged, argnums=(0, 1, 2, 3, 4))
        for j, point in enumerate(POINTS[:2]):
            direction = directions(seed + j)
            expected = along(self.exact, in_float64(point), direction)
            if expected is None:
                continue
            self.smooth.append((point, direction))
            backward = self.attempt("grad", slopes, *point, PASSES)
            if backward is not None:
                require_same("grad", inner(backward[0], direction), expected, 1e-4, 2e-5)
                if compiled and j == 0:
                    result = self.attempt("jit of grad", jit(slopes), *point, PASSES)
                    if result is not None:
                        require_same("jit of grad", result[0], backward[0], 1e-4, 1e-5)

            def forward(*args, direction=direction):
                primals = args[:5]
                return jvp(lambda *moving: self.staged(*moving, *args[5:]), primals, direction)[1]

            result = self.attempt("jvp", forward, *point, PASSES)
            if result is not None:
                require_same("jvp", float(result[0]), expected, 1e-4, 2e-5)

    def check_batches(self, compiled):
        rows = [outcome(self.staged, *point, PASSES)[0] for point in POINTS]
        if any(isinstance(row, Exception) for row in rows):
            return
        axes = (0,) * 6 + (None,)
        batch = stacked(POINTS)
        result = self.attempt("vmap", vmap(self.staged, in_axes=axes), *batch, PASSES)
        if result is not None:
            require_same("vmap", result[0], np.array(rows), 1e-6, 1e-7)
        if not self.smooth:
            return
        slopes = grad(self.staged, argnums=(0, 1, 2, 3))
        each = [self.attempt("grad", slopes, *point, PASSES) for point in POINTS]
        if any(e is None for e in each):
            return
        expected = stacked([list(e[0]) for e in each])
        inside = jit(slopes) if compiled else slopes
        result = self.attempt("vmap of grad", vmap(inside, in_axes=axes), *batch, PASSES)
        if result is not None:
            require_same("vmap of grad", list(result[0]), expected, 1e-5, 1e-6)
        total = grad(
            lambda *args: np.sum(vmap(self.staged, in_axes=axes)(*args)), argnums=(0, 1, 2, 3)
        )
        result = self.attempt("grad of vmap", total, *batch, PASSES)
        if result is not None:
            require_same("grad of vmap", list(result[0]), expected, 1e-5, 1e-6)

    def check_second(self):
        """The derivative of the gradient along a direction, by differences of the gradient."""
        for point, direction in self.smooth[:1]:
            slopes = grad(self.exact, argnums=(0, 1, 2, 3, 4))

            def slope_along(*args, slopes=slopes, direction=direction):
                return inner(slopes(*args), direction)

            expected = along(slope_along, in_float64(point), direction)
            if expected is None:
                return

            def turned(step, point=point, direction=direction):
                p, x, v, m, g, k = point
                dp, dx, dv, dm, _ = direction
                q = {
                    "w": p["w"] + step * dp["w"],
                    "b": p["b"] + step * dp["b"],
                    "layers": [
                        a + step * b for a, b in zip(p["layers"], dp["layers"], strict=True)
                    ],
                }
                return self.staged(q, x + step * dx, v + step * dv, m + step * dm, g, k, PASSES)

            result = self.attempt("second", grad(grad(turned)), 0.0)
            if result is not None:
                require_same("second", result[0], expected, 1e-3, 1e-3)


def check(seed, folder):
    """What could be compared."""
    mixture = Mixture(seed, folder)
    mixture.check_values(compiled=seed % 4 == 0)
    mixture.check_slopes(seed, compiled=seed % 4 == 1)
    mixture.check_batches(compiled=seed % 8 == 2)
    if seed % 2:
        mixture.check_second()
    return mixture.compared


@pytest.mark.usefixtures("traced")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, PROGRAMS, GROUP))
def test_mixtures(first, tmp_path):
    compared = sum(
        (check(seed, tmp_path) for seed in range(first, first + GROUP)), collections.Counter()
    )
    assert compared["value"] >= 3 * GROUP
    assert compared["grad"] >= GROUP


def main(first, count):
    """Prints what is wrong with each seed, and how much was compared."""
    total = collections.Counter()

    def late(*_):
        raise TooLongError

    signal.signal(signal.SIGPROF, late)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                total += check(seed, folder)
                total["programs"] += 1
            except TooLongError:
                total["too long"] += 1
            except (WrongError, InternalError, ValueError) as e:
                signal.setitimer(signal.ITIMER_PROF, 0)
                total["wrong"] += 1
                text = f"{seed}: {type(e).__name__}: {e}"
                sys.stdout.write(" ".join(text.split())[:400] + "\n")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if seed % 25 == 24:
                sys.stdout.write(f"{seed} {dict(total)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
