"""Every operation of the tables inside of loops, branches, batches, recursions, and with operands
whose lengths change, or that stand at a place which data decides.

All combinations, or those whose names contain the words that are given:

    python -m tests.transforms.ops.surroundings [--modes grad,jvp] [--every N] [word ...]

The value is that of the same program under plain NumPy, the derivative is compared with central
differences of it. `inapplicable` are combinations that NumPy refuses, too.
"""

import argparse
import signal
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import tapeless
from tapeless import TapelessError
from tapeless.transforms.errors import InternalError
from tests.corpus.differences import leaves, rebuild, signed
from tests.transforms.ops.test_function_table import FUNCTION, flat, smooth

TICKS = np.array([0.002, -0.003, 0.004])
PLACES = np.array([1, 2, 0])
SECONDS = 120
INAPPLICABLE = "inapplicable"


def measured(result, kept):
    """A weighted sum of all floats of a result, of whatever lengths it has."""
    total = 0.0
    for leaf, keep in zip(flat(result), kept, strict=True):
        if keep:
            total = total + np.sum(np.cos(np.arange(np.size(leaf)) + 1.0) * np.ravel(leaf))
    return total


class At(NamedTuple):
    """Where the floats are in the leaves, the length that is cut, and what maps over a batch."""

    floats: list
    n: int
    vmap: Callable


class Combination:
    """A case in surroundings: a function of ticks, places, and the leaves of the arguments."""

    def __init__(self, case, surroundings):
        self.case, self.surroundings = case, surroundings
        self.name = f"{surroundings.__name__}-{case.name}"
        self.leaves = leaves(case.args)
        floats = {id(leaf) for k in case.wrt() for leaf in leaves(case.args[k])}
        self.floats = [k for k, leaf in enumerate(self.leaves) if id(leaf) in floats]
        result = case.program()(*rebuild(case.args, iter(self.leaves)))
        self.kept = [smooth(leaf) for leaf in flat(result)]
        lengths = Counter(np.shape(v)[0] for v in self.leaves if np.ndim(v))
        self.n = max(lengths, key=lambda n: (n > 2, lengths[n]), default=0)
        self.ticks, self.places = TICKS, PLACES
        if surroundings.__name__.startswith("batch"):
            self.ticks = np.stack([TICKS, -TICKS])
            self.places = np.stack([PLACES, PLACES[::-1]])

    def program(self, vmap):
        case, function, kept = self.case, self.case.program(), self.kept
        around, at = self.surroundings, At(self.floats, self.n, vmap)

        def call(values, scale):
            scaled = [v * scale if k in at.floats else v for k, v in enumerate(values)]
            return measured(function(*rebuild(case.args, iter(scaled))), kept)

        def program(ticks, places, *values):
            return around(call, ticks, places, values, at)

        return program

    def filled(self, vector):
        """The leaves moved by a vector."""
        values, start = list(self.leaves), 0
        for k in self.floats:
            size = np.size(values[k])
            step = vector[start : start + size].reshape(np.shape(values[k]))
            moved = values[k] + step
            values[k] = float(moved) if type(values[k]) is float else moved
            start += size
        return values

    def expected(self):
        """The value, a direction, and the derivative along it; None where NumPy refuses."""
        program = self.program(by_element)
        size = sum(np.size(self.leaves[k]) for k in self.floats)
        direction = signed(size, seed=11)

        def along(step):
            return program(self.ticks, self.places, *self.filled(step * direction))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = along(0.0)
                near, far = (along(h) - along(-h) for h in (1e-3, 2e-3))
            except Exception:  # noqa: BLE001 (whatever NumPy refuses)
                return None
        slope = (8 * near - far) / 12e-3
        finite = np.isfinite(value) and np.isfinite(slope)
        return (value, direction, slope) if finite else None


# -- surroundings


def rolled_loop(call, ticks, places, values, at):
    total, scale = 0.0, 1.0
    for tick in ticks:
        y = call(values, 1.0 + tick * scale)
        scale = np.cos(y)
        total = total + y * y
    return total


def while_loop(call, ticks, places, values, at):
    total, k = 0.0, 0
    while k < places[0] + 1:
        total = np.sin(total) + call(values, 1.0 + ticks[k])
        k += 1
    return total


def branch(call, ticks, places, values, at):
    total = call(values, 1.0 + ticks[1]) if ticks[0] > 0 else ticks[2] * 2.0
    if places[0] < 2:
        total = total * (2.0 + call(values, 1.0 + ticks[2]))
    return total


def branch_in_loop(call, ticks, places, values, at):
    total = 0.0
    for tick in ticks:
        if tick > 0:
            total = np.cos(total) + call(values, 1.0 + tick)
        elif tick < -1:
            break
    return total


def place_from_data(call, ticks, places, values, at):
    i, j = places[0], places[1]
    y = call([_table(v)[i] if k in at.floats else v for k, v in enumerate(values)], 1.0)
    kept = np.zeros(4)
    kept[j] = y
    kept[i] += 2.0 * y * y
    return np.sum(kept * np.array([1.0, 2.0, 3.0, 4.0])) + kept[j - i]


def _table(v):
    return np.stack([v, v * 1.002, v * 0.997])


def place_in_loop(call, ticks, places, values, at):
    tables = [_table(v) if k in at.floats else v for k, v in enumerate(values)]
    kept = np.zeros(3)
    for i in places:
        y = call([v[i] if k in at.floats else v for k, v in enumerate(tables)], 1.0)
        kept[i] = y + kept[i - 1]
    return np.sum(kept * np.array([1.0, 2.0, 3.0]))


def list_of_operands(call, ticks, places, values, at):
    """Operands stacked from lists that a loop fills."""
    rows = [[] for _ in values]
    for tick in ticks:
        if tick > -0.5:
            for k in at.floats:
                rows[k].append(values[k] * (1.0 + tick))
    picked = [np.array(rows[k])[places[0]] if k in at.floats else v for k, v in enumerate(values)]
    return call(picked, 1.0)


def changing_sizes(call, ticks, places, values, at):
    """The leading axes, cut to another length in each pass."""
    total = 0.0
    for k in range(at.n - 1, at.n + 1):
        total = np.cos(total) + call([_cut(v, at.n, k) for v in values], 1.0)
    return total


def changing_squares(call, ticks, places, values, at):
    total = 0.0
    for k in range(at.n - 1, at.n + 1):
        total = np.cos(total) + call([_cut_square(v, at.n, k) for v in values], 1.0)
    return total


def _cut(v, n, k):
    return v[:k] if np.ndim(v) and np.shape(v)[0] == n else v


def _cut_square(v, n, k):
    square = np.ndim(v) > 1 and np.shape(v)[:2] == (n, n)
    return v[:k, :k] if square else _cut(v, n, k)


def masked(call, ticks, places, values, at):
    """Rows that data chooses."""
    keep = np.arange(at.n) != places[1]
    return call([v[keep] if np.ndim(v) and np.shape(v)[0] == at.n else v for v in values], 1.0)


def masked_squares(call, ticks, places, values, at):
    """Rows and columns that data chooses."""
    keep = np.arange(at.n) != places[1]
    picked = []
    for v in values:
        if np.ndim(v) > 1 and np.shape(v)[:2] == (at.n, at.n):
            picked.append(v[keep][:, keep])
        else:
            picked.append(v[keep] if np.ndim(v) and np.shape(v)[0] == at.n else v)
    return call(picked, 1.0)


def many_calls(call, ticks, places, values, at):
    y = call(values, 1.0)
    first = call(values, 1.0 + ticks[1])
    second = call(values, 1.0 + ticks[2] * np.sin(first))
    third = call(values, 1.0 + ticks[0] * np.cos(second))
    return y * first + call(values, 1.0 + 0.001 * np.sin(third))


def recursion(call, ticks, places, values, at):
    def descend(k, scale):
        if k <= 0:
            return 0.0 * scale
        y = call(values, scale)
        return y + 0.5 * descend(k - 1, scale + ticks[0] * np.cos(y))

    return descend(places[1], 1.0 + ticks[1])


def _in_batch(surroundings):
    """A batch of two elements, each with its own ticks, places and operands."""

    def batched(call, ticks, places, values, at):
        def element(ticks, places, scale):
            scaled = [v * scale if k in at.floats else v for k, v in enumerate(values)]
            return surroundings(call, ticks, places, scaled, at)

        results = at.vmap(element)(ticks, places, 1.0 + ticks[:, 0])
        return results[0] + 2.0 * results[1]

    batched.__name__ = f"batch_{surroundings.__name__}"
    return batched


def by_element(element):
    """What stands for tapeless.vmap where nothing is staged."""
    return lambda *columns: [element(*row) for row in zip(*columns, strict=True)]


PLAIN = (
    rolled_loop,
    while_loop,
    branch,
    branch_in_loop,
    place_from_data,
    place_in_loop,
    list_of_operands,
    changing_sizes,
    changing_squares,
    masked,
    masked_squares,
    many_calls,
    recursion,
)
BATCHED = tuple(
    _in_batch(around)
    for around in (rolled_loop, branch, branch_in_loop, place_in_loop, masked, recursion)
)
ALL = PLAIN + BATCHED

# -- checking


def close(actual, expected, tolerance):
    scale = max(1.0, abs(expected))
    return abs(actual - expected) <= tolerance * scale


def checked(combination, mode):
    """None, or what is wrong: a text, or the error that was raised."""
    wanted = combination.expected()
    if wanted is None:
        return INAPPLICABLE
    value, direction, slope = wanted
    program, floats = combination.program(tapeless.vmap), combination.floats
    args = (combination.ticks, combination.places, *combination.leaves)
    positions = tuple(k + 2 for k in floats)
    moved = combination.filled(direction)
    tangents = {k: moved[k] - combination.leaves[k] for k in floats}
    if mode == "jit":
        found, wanted = tapeless.jit(program)(*args), value
    elif mode in ("grad", "jit(grad)"):
        gradient = tapeless.grad(program, argnums=positions)
        slopes = (tapeless.jit(gradient) if mode == "jit(grad)" else gradient)(*args)
        found = sum(np.sum(s * tangents[k]) for s, k in zip(slopes, floats, strict=True))
        wanted = slope
    else:

        def active(*values):
            filled = list(args)
            for k, v in zip(positions, values, strict=True):
                filled[k] = v
            return program(*filled)

        primals = tuple(args[k] for k in positions)
        moved = tuple(np.asarray(tangents[k])[()] for k in floats)
        found, wanted = tapeless.jvp(active, primals, moved)[1], slope
    if close(found, wanted, 1e-6):
        return None
    return f"WRONG {float(found)!r}, expected {float(wanted)!r}"


MODES = ("jvp", "grad", "jit(grad)", "jit")


def combinations(every=1, part=0, words=()):
    """All combinations, or a sample of them, with the names that contain some words."""
    pairs = [(f"{a.__name__}-{case.name}", case, a) for a in ALL for case in FUNCTION]
    return [
        Combination(case, around)
        for name, case, around in pairs
        if chosen(name, every, part) and all(word in name for word in words)
    ]


def chosen(name, every, part=0):
    """Whether a deterministic sample has a combination."""
    return zlib.crc32(name.encode()) % every == part


def _late(*_):
    raise TimeoutError(f"more than {SECONDS} s")


def met(combination, mode):
    """What is wrong with a combination, also where an error is raised; None where it is right."""
    try:
        return checked(combination, mode)
    except InternalError as e:
        return f"InternalError: {e.problem}"
    except TapelessError as e:
        return f"refused: {type(e).__name__}: {e.problem}"
    except Exception as e:  # noqa: BLE001 (each is reported)
        return f"{type(e).__name__}: {e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--every", type=int, default=1, help="only one combination of so many")
    parser.add_argument("--part", type=int, default=0, help="which of these")
    parser.add_argument("words", nargs="*", help="only combinations with these in their names")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _late)
    counts = Counter()
    for combination in combinations(options.every, options.part, options.words):
        for mode in options.modes.split(","):
            signal.alarm(SECONDS)
            problem = met(combination, mode)
            signal.alarm(0)
            counts["right" if problem is None else problem.split()[0]] += 1
            if problem not in (None, INAPPLICABLE):
                sys.stdout.write(f"{combination.name} {mode}: {problem}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{dict(counts)}\n")
    sys.exit(bool(set(counts) - {"right", INAPPLICABLE}))


if __name__ == "__main__":
    main()
