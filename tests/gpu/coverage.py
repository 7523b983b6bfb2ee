"""Runs the programs of the corpus, and their gradients, on an emulated GPU; counts what is right.

python -m tests.gpu.coverage              every tenth program, and the gradients of others
python -m tests.gpu.coverage --every 1    all of them, which takes an hour
python -m tests.gpu.coverage --nvrtc 80 90 100 120
                                          besides: NVIDIA's compiler takes the text for these
                                          architectures, and tells registers and spills

Values and what is left in arguments are compared with those of NumPy; gradients with those in array
form, where these agree with finite differences.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest

import tapeless
from tapeless import jit, tree
from tapeless.transforms.errors import InternalError, TapelessError
from tests.corpus import Program, programs
from tests.corpus.differences import gradient, ravel
from tests.gpu import nvrtc
from tests.gpu.conftest import REAL, installed
from tests.gpu.emulator import ORDERS, EmulationError, emulating
from tests.gpu.test_programs import code_of

SECONDS = 120  # that a program may take
REGISTERS = 128  # of a thread: with more, few threads run at a time


def slope_of(program: Program) -> Callable[..., Any]:
    """The gradient of a program."""
    return tapeless.grad(program.projected(), argnums=program.wrt)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raises TimeoutError when a program has had its time."""

    def too_late(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def tried(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a function returns, with its arguments after that, or the error that it raises."""
    args = copy.deepcopy(args)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            return function(*args), args
    except Exception as e:  # noqa: BLE001  # it is compared with the other one
        return e


def outcome(program: Program, function: Callable[..., Any], is_slope: bool) -> str:
    """Says "right", "refused: why", "raises: what", "skipped: why" or "wrong: how"."""
    expected = tried(function, program.arguments())
    if isinstance(expected, TapelessError):
        return "skipped: refused without a GPU, too"
    if is_slope and not isinstance(expected, Exception):
        with redirect_stdout(StringIO()):  # some print
            slopes = gradient(program.objective(), ravel(program.active()))
        scale = np.linalg.norm(slopes)
        if not np.allclose(ravel(expected[0]), slopes, rtol=1e-3, atol=1e-3 * scale):
            return "skipped: not its finite differences"
    try:
        with limited(), emulating(order=ORDERS[len(program.name) % 3]):
            on_gpu = jit(function, backend="gpu")
            found = tried(on_gpu, program.arguments())
    except TimeoutError:
        return f"wrong: it takes more than {SECONDS} s"
    if isinstance(found, TapelessError) and not isinstance(found, InternalError):
        return f"refused: {str(found).splitlines()[0]}"
    if isinstance(expected, Exception) and not isinstance(found, (InternalError, EmulationError)):
        same = type(found) is type(expected)
        return f"raises: {type(expected).__name__}" if same else f"wrong: no error, {found}"
    if isinstance(found, Exception):
        return "wrong: " + "".join(traceback.format_exception(found)[-3:])
    return difference(tapeless.device_get(found), expected)


def difference(found: Any, expected: Any) -> str:
    """Says "right", or what differs first."""
    pairs = [tree.leaves(x) for x in (found, expected)]
    if len(pairs[0]) != len(pairs[1]):
        return "wrong: another structure"
    single = any(getattr(x, "dtype", None) in (np.float32, np.complex64) for x in pairs[1])
    tolerance = 2e-4 if single else 1e-8
    for k, (x, y) in enumerate(zip(*pairs, strict=True)):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"wrong: leaf {k} is {x.dtype}{x.shape} instead of {y.dtype}{y.shape}"
        if y.dtype.kind in "fc":
            scale = np.abs(y[np.isfinite(y)]).max(initial=0)
            if not np.allclose(x, y, tolerance, tolerance * scale, equal_nan=True):
                return f"wrong: leaf {k}, {np.ravel(x)[:5]} instead of {np.ravel(y)[:5]}"
        elif not np.array_equal(x, y):
            return f"wrong: leaf {k}, {np.ravel(x)[:5]} instead of {np.ravel(y)[:5]}"
    return "right"


def compiled(
    program: Program, function: Callable[..., Any], compiler: Any, archs: Sequence[int]
) -> Iterator[tuple[str, int, nvrtc.Needs]]:
    """What kernels need on architectures: architecture, and registers and memory of a kernel."""
    with redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = jit(function, backend="gpu").lower(*program.arguments()).source()
    code = code_of(source)
    for arch in archs if code else ():
        for needs in nvrtc.needs(compiler, code, arch):
            yield program.name, arch, needs


def subjects(every: int, only: str) -> Iterator[tuple[str, Program, bool]]:
    """The sample: functions, and gradients of other programs."""
    chosen = [p for p in programs() if re.search(only, p.name)]
    for p in chosen[::every]:
        yield p.name, p, False
    for p in chosen[every // 2 :: every]:
        yield f"{p.name}, gradient", p, True


def main() -> int:
    """Prints a line for each program that is not right, then counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--nvrtc", type=int, nargs="*", default=[], metavar="ARCH")
    parser.add_argument("--not-run", action="store_true", help="only compile")
    options = parser.parse_args()
    compiler = nvrtc.compiler()[0] if options.nvrtc else None
    counts: dict[bool, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    most: dict[int, tuple[int, str]] = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        if not REAL:
            installed(patch)
        for name, program, is_slope in subjects(options.every, options.only):
            try:
                function = slope_of(program) if is_slope else program.function
                if not options.not_run:
                    told = outcome(program, function, is_slope)
                    counts[is_slope][told.partition(":")[0]] += 1
                    if told != "right":
                        say(f"{name}: {told}")
                for _, arch, needs in compiled(program, function, compiler, options.nvrtc):
                    most[arch] = max(most.get(arch, (0, "")), (needs.registers, name))
                    if needs.spilled or needs.registers > REGISTERS:
                        say(f"{name}: sm_{arch} {needs}")
            except Exception as e:  # noqa: BLE001  # the next program is run all the same
                if not isinstance(e, TapelessError) or isinstance(e, InternalError):
                    counts[is_slope]["fails"] += 1
                    say(f"{name}: fails: {type(e).__name__}: {str(e)[:2000]}")
    for is_slope, found in sorted(counts.items()):
        say(f"{'gradients' if is_slope else 'functions'}: {dict(found)}")
    for arch, (registers, name) in sorted(most.items()):
        say(f"sm_{arch}: at most {registers} registers, {name}")
    return sum(found["wrong"] + found["fails"] for found in counts.values())


def say(text: str) -> None:
    """A line of the report, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main() > 0)
