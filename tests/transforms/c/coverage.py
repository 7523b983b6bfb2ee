"""Says which programs of the tests have a form in C, whether it is right, and what others lack.

python -m tests.transforms.c.coverage         counts what is right, refused or wrong in a sample
python -m tests.transforms.c.coverage --all   all programs of the corpus, and the gradients of all

Each is compiled as in `compiled.py`, and run under sanitizers with two sets of numbers: those of
the corpus, and others nearby. It is compared with NumPy; gradients are compared with those in array
form, which must agree with finite differences.
"""

from __future__ import annotations

import argparse
import collections
import copy
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import tapeless
from tapeless import tree
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.errors import InternalError, TapelessError
from tests.corpus import Program, programs
from tests.corpus.differences import gradient, ravel
from tests.gpu.programs import PROGRAMS
from tests.transforms.c.compiled import SANITIZERS, STRICT

SECONDS = 60  # that a program may take


@dataclass(frozen=True)
class Subject:
    """A function to write as C, and arguments for it.

    slopes  its derivatives by finite differences, if it is a gradient
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    slopes: Callable[[], np.ndarray[Any, Any]] | None = None


def of_corpus(program: Program) -> Subject:
    """A program of the corpus."""
    return Subject(program.name, program.function, program.arguments())


def slope_of(program: Program) -> Subject:
    """The gradient of a program of the corpus."""
    function = tapeless.grad(program.projected(), argnums=program.wrt)

    def slopes() -> np.ndarray[Any, Any]:
        return gradient(program.objective(), ravel(program.active()))

    return Subject(f"{program.name}, gradient", function, program.arguments(), slopes)


def sampled(functions: int, gradients: int, seed: int) -> Iterator[Callable[[], Subject]]:
    """All programs for GPUs, and so many of the corpus: always the same for one seed."""
    for name, p in PROGRAMS.items():
        yield lambda name=name, p=p: Subject(f"gpu.{name}", p.transformed, p.arguments())
    chosen = random.Random(seed).sample(programs(), functions + gradients)
    for p in chosen[:functions]:
        yield lambda p=p: of_corpus(p)
    for p in chosen[functions:]:
        yield lambda p=p: slope_of(p)


def everything() -> Iterator[Callable[[], Subject]]:
    """All programs of the corpus, and the gradients of all."""
    for p in programs():
        yield lambda p=p: of_corpus(p)
        yield lambda p=p: slope_of(p)


def outcome(subject: Subject, memo: dict[str, str]) -> str:
    """Says "right", "refused: why", "skipped: why" or "wrong: how"."""
    c = JitToC(subject.function)
    try:
        with limited():
            c.module_for(copy.deepcopy(subject.args), {})
    except TimeoutError:
        return f"refused: it takes more than {SECONDS} s to be staged"
    except InternalError as e:
        return f"wrong: {e}"
    except TapelessError as e:
        return f"refused: {reason(str(e))}"
    try:
        files = [text for args in inputs(subject) if (text := files_for(c, subject, args))]
    except TapelessError as e:  # what is returned
        return f"refused: {reason(str(e))}"
    if not files:
        return "skipped: NumPy has no value to compare with"
    key = sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
    if key not in memo:
        memo[key] = checked(files)
    return memo[key]


@contextmanager
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


def inputs(subject: Subject) -> Iterator[tuple[Any, ...]]:
    """The arguments, and others nearby."""
    yield subject.args
    rng = np.random.default_rng(1)

    def near(x: Any) -> Any:
        scale = 1 + 0.05 * rng.uniform(-1, 1, np.shape(x))
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            return (x * scale).astype(x.dtype)
        return type(x)(x * scale) if isinstance(x, (float, np.floating)) else x

    yield tree.map(near, copy.deepcopy(subject.args))


def files_for(c: JitToC, subject: Subject, args: tuple[Any, ...]) -> dict[str, str] | None:
    """The files for these arguments; None if NumPy has no value there."""
    after = copy.deepcopy(args)
    try:
        with np.errstate(all="ignore"), redirect_stdout(StringIO()):
            results = subject.function(*after)
    except Exception:  # noqa: BLE001  # the program raises by itself
        return None
    if subject.slopes is not None and args is subject.args:
        with redirect_stdout(StringIO()):
            expected = subject.slopes()
        size = np.linalg.norm(expected)
        if not np.allclose(ravel(results), expected, rtol=1e-3, atol=1e-3 * size):
            return None
    return c.files(copy.deepcopy(args), {}, results, after)


def reason(message: str) -> str:
    """Why a program is refused, without its names and lines."""
    line = message.splitlines()[0].removesuffix(" has no form in C")
    line = re.sub(r" ?\(line \d+\)", "", line)
    return re.sub(r"(the (array|variable)) [\w.]+", r"\1 x", line)


def checked(sets: list[dict[str, str]]) -> str:
    """Compiles a program, and runs it with each set of numbers."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for files in sets:
            for name, text in files.items():
                (folder / name).write_text(text)
            sources = sorted(name for name in files if name.endswith(".c"))
            command = ["gcc", *STRICT, *SANITIZERS, *sources, "-o", "test", "-lm"]
            for run in (command, ["./test"]):
                try:
                    done = subprocess.run(
                        *(run,),
                        cwd=folder,
                        capture_output=True,
                        text=True,
                        timeout=SECONDS,
                        check=False,
                    )
                except subprocess.TimeoutExpired:
                    return "wrong: it takes too long"
                if done.returncode != 0:
                    told = (done.stdout + done.stderr).strip().splitlines()
                    errors = [line for line in told if "error" in line.lower()] or told
                    return f"wrong: {' | '.join(errors[:2])}"
    return "right"


def main() -> None:
    """Print a line for each program, then counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=150, help="programs of the corpus")
    parser.add_argument("--gradients", type=int, default=90, help="gradients of other ones")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--all", action="store_true", help="no sample: the whole corpus")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument(
        "--memo", type=Path, help="a file of outcomes: text that is in it is not run again"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    memo = json.loads(options.memo.read_text()) if options.memo and options.memo.exists() else {}
    counts = {kind: collections.Counter[str]() for kind in ("GPU", "functions", "gradients")}
    sample = (options.functions, options.gradients, options.seed)
    for make in everything() if options.all else sampled(*sample):
        with redirect_stdout(StringIO()):
            subject = make()
        if not re.search(options.only, subject.name):
            continue
        told = outcome(subject, memo)
        kind = "gradients" if subject.slopes is not None else "functions"
        counts["GPU" if subject.name.startswith("gpu.") else kind][told] += 1
        print(f"{subject.name}: {told}", flush=True)  # noqa: T201
    if options.memo:
        options.memo.write_text(json.dumps(memo))
    report(counts)


def report(counts: dict[str, collections.Counter[str]]) -> None:
    """Print how many have each outcome; the same reasons are counted over all kinds."""
    for kind, outcomes in counts.items():
        if not outcomes:
            continue
        short = collections.Counter[str]()
        for told, n in outcomes.items():
            short[told.partition(":")[0]] += n
        told = ", ".join(f"{n} {what}" for what, n in short.most_common())
        print(f"{kind}: {told} of {sum(outcomes.values())}")  # noqa: T201
    reasons = sum(counts.values(), collections.Counter[str]())
    for told, n in reasons.most_common():
        if told != "right":
            print(f"{n:4}  {told}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
