"""Runs random towers of transformations, and compares them with dual numbers.

`python -m tests.towers 0 10000` tries 10,000 seeds from 0 on. It prints each that is not right, a
small program that fails the same way, and how many there were of each kind. Programs are verified
after each pass, so that a mistake is no reason to trace them on the values of the call.
"""

import collections
import importlib.util
import itertools
import os
import random
import re
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

from tapeless import tree
from tapeless.transforms.errors import InternalError, TapelessError
from tests import dual_numbers
from tests.random_towers import module
from tests.shrinking import shrunk

NAMES = [name for name in dual_numbers.API if name not in ("np", "tree")]
IMPORTS = (
    "import numpy as np\nfrom tapeless import tree\n"
    f"from tapeless import (\n    {', '.join(NAMES)}\n)\n\n\n"
)
SECONDS = 60  # of processor time, for one tower
SHRINKING = 120  # seconds, for one that fails
numbers = itertools.count()


class TooLongError(BaseException):
    """A tower that is not ready in time."""


def tower(seed):
    """The text of a module, and the name of the function in it that is the tower."""
    generator = random.Random(seed)
    return module(generator, generator.choice([1, 2, 3, 4]), generator.choice([1, 2, 2, 3, 3, 4]))


def point(seed):
    """A number, a vector and a matrix."""
    generator = np.random.default_rng(seed)
    v, m = generator.uniform(-1, 1, 3), generator.uniform(-1, 1, (2, 3))
    return float(generator.uniform(-1, 1)), v, m


def right_value(text, name, args):
    """What dual numbers say; None where there is a kink, an error or an overflow."""
    names = dict(dual_numbers.API)
    x, v, m = args
    try:
        with np.errstate(all="ignore"):
            exec(compile(text, "<tower>", "exec"), names)
            value = names[name](x, v.astype(object), m.astype(object))
        value = tree.map(lambda leaf: np.array(leaf, dtype=object).astype(float), value)
    except Exception:  # noqa: BLE001  # not a program that Python runs, or with a kink
        return None
    return value if all(np.all(np.abs(x) < 1e6) for x in tree.leaves(value)) else None


def loaded(text, folder):
    """The module in a file of its own, so that its source is found."""
    path = Path(folder) / f"tower_{os.getpid()}_{next(numbers)}.py"
    path.write_text(IMPORTS + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def outcome(text, name, args, folder):
    """What becomes of a tower: right, skipped, refused, or what went wrong in a few words."""
    expected = right_value(text, name, args)
    if expected is None:
        return "skipped"
    try:
        with np.errstate(all="ignore"):
            actual = getattr(loaded(text, folder), name)(*args)
    except InternalError as e:
        return f"InternalError: {e}"
    except TapelessError as e:
        return f"refused: {type(e).__name__}: {e}"
    except Exception as e:  # noqa: BLE001  # any is a failure
        where = traceback.extract_tb(e.__traceback__)[-1]
        return f"{type(e).__name__}: {e} ({where.name})"
    return agreement(actual, expected)


def agreement(actual, expected):
    if tree.structure(actual) != tree.structure(expected):
        return f"wrong: structure {tree.structure(actual)} for {tree.structure(expected)}"
    size = 1 + max(np.max(np.abs(x), initial=0) for x in tree.leaves(expected))
    for a, b in zip(tree.leaves(actual), tree.leaves(expected), strict=True):
        if np.shape(a) != np.shape(b):
            return f"wrong: shape {np.shape(a)} for {np.shape(b)}"
        if not np.allclose(a, b, rtol=1e-7, atol=1e-8 * size):
            return "wrong: value"
    return "right"


def fails(result):
    """Whether it is a mistake, rather than a program that is refused."""
    return not result.startswith(("right", "skipped", "too long", "refused"))


def kind(result):
    """What went wrong, without names and numbers."""
    return re.sub(r"\d+|'[^']*'", "#", result.split("\n")[0])[:100]


def in_time(text, name, args, folder):
    """The outcome, or that it takes too long."""

    def late(*_):
        raise TooLongError

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return outcome(text, name, args, folder)
    except TooLongError:
        return "too long"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main(first, count):
    os.environ.setdefault("TAPELESS_CHECK", "1")
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            (text, name), args = tower(seed), point(seed)
            result = in_time(text, name, args, folder)
            found[kind(result)] += 1
            if result in ("right", "skipped"):
                continue
            tell(f"{seed}: {result.splitlines()[0]}")
            if fails(result):
                same = kind(result)

                def fails_so(t):
                    return kind(in_time(t, name, args, folder)) == same  # noqa: B023

                small = shrunk(text, fails_so, SHRINKING)
                tell(f"{small[small.index('def f(') :]}{name}{args}")
    for what, n in found.most_common():
        tell(f"{n:6} {what}")
    return any(map(fails, found))


def tell(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
