"""How the first call grows with the length of a program: seconds of processor time.

python -m benchmarks.growth [KIND ...]

Each program is written here, and compiled in a process of its own that has compiled a shorter one,
with an empty cache: imports do not count. The last column is the exponent of the growth from the
second to the longest program: 1 is linear.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.own_process import output_of  # after the path is set

FORMS = (
    "np.sin(v{a}) * v{b}",
    "v{a} + 0.5 * v{b}",
    "np.exp(-v{a} * v{a}) - v{b}",
    "np.sqrt(1.0 + v{a} * v{a}) * v{b}",
    "v{a} * v{b} / (1.0 + v{b} * v{b})",
)


def assignments(count: int, indent: str) -> list[str]:
    """Statements, each of the variables of the last and an earlier one."""
    return [
        f"{indent}v{k} = " + FORMS[k % 5].format(a=k - 1, b=max(0, k - 2 - k % 7))
        for k in range(1, count + 1)
    ]


def statements(count: int) -> list[str]:
    return ["def f(v0):", *assignments(count, "    "), f"    return np.sum(v{count})"]


def statements_in_a_loop(count: int) -> list[str]:
    head = ["def f(x):", "    s = 0.0", "    for i in range(len(x)):", "        v0 = x[i]"]
    return [*head, *assignments(count, " " * 8), f"        s += v{count}", "    return s"]


def nests(count: int) -> list[str]:
    nest = [
        "    y = np.zeros_like(x)",
        "    for i in range(1, x.shape[0] - 1):",
        "        for j in range(1, x.shape[1] - 1):",
        "            y[i, j] = x[i - 1, j] + x[i + 1, j] * np.sin(x[i, j - 1]) - x[i, j + 1]",
        "    x = y",
    ]
    return ["def f(x):", *nest * count, "    return np.sum(x)"]


def branches(count: int) -> list[str]:
    lines = ["def f(x):", "    s = 0.0", "    for i in range(len(x)):", "        v = x[i]"]
    for k in range(count):
        lines += [f"        if v > {k / count}:", f"            v = v * 0.5 + {k}"]
        lines += ["        else:", "            s += np.sin(v)"]
    return [*lines, "        s += v", "    return s"]


def calls(count: int) -> list[str]:
    lines = ["def g0(x, y):", "    return np.sin(x) * y + x"]
    for k in range(1, count):
        lines += [f"def g{k}(x, y):", f"    return g{k - 1}(x * 0.9, y) * 1.1 + y"]
    return [*lines, "def f(x):", f"    return np.sum(g{count - 1}(x, x * x))"]


NUMBER, ROW, GRID = 0.3, np.linspace(0.1, 0.9, 1000), np.full((30, 30), 0.5)
#: Writers of programs, with an argument and the numbers of parts.
KINDS: dict[str, tuple[Callable[[int], list[str]], Any, tuple[int, ...]]] = {
    "statements of numbers": (statements, NUMBER, (50, 100, 200, 400)),
    "statements of arrays": (statements, ROW, (50, 100, 200, 400)),
    "statements in a loop": (statements_in_a_loop, ROW, (25, 50, 100, 200)),
    "loop nests": (nests, GRID, (2, 4, 8, 16)),
    "branches in a loop": (branches, ROW, (2, 4, 8, 16)),
    "calls in one another": (calls, ROW, (2, 4, 8, 16)),
}
WAYS = ("jit", "grad", "jit of grad")


def function(lines: list[str], folder: Path) -> Callable[..., Any]:
    """The function `f` of a module with these lines."""
    path = folder / "written.py"
    path.write_text("\n".join(["import numpy as np", *lines, ""]), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f  # type: ignore[no-any-return]


def measured(kind: str, way: str, count: int, folder: Path) -> float:
    """Seconds of a first call, in this process."""
    import tapeless  # noqa: PLC0415  # the parent does without it

    def transformed(f: Callable[..., Any]) -> Callable[..., Any]:
        f = tapeless.grad(f) if "grad" in way else f
        return tapeless.jit(f) if "jit" in way else f

    write, argument, counts = KINDS[kind]
    transformed(function(write(counts[0] // 2 or 1), folder))(argument)
    f = transformed(function(write(count), folder))
    start = time.process_time()
    f(argument)
    return time.process_time() - start


def row(kind: str, way: str) -> str:
    """The times of one kind, and the exponent of their growth."""
    times = []
    for count in KINDS[kind][2]:
        with tempfile.TemporaryDirectory() as cache:
            command = ["benchmarks.growth", "--measure", kind, way, str(count)]
            output, errors = output_of(command, 300, TAPELESS_CACHE_DIR=cache)
        if not output:
            return f"| {kind}, {way} | {errors} |"
        times.append(json.loads(output))
    counts = KINDS[kind][2]
    exponent = math.log(times[-1] / times[1]) / math.log(counts[-1] / counts[1])
    cells = [f"{count}: {seconds:.2f}" for count, seconds in zip(counts, times, strict=True)]
    return f"| {kind}, {way} | {', '.join(cells)} | {exponent:.2f} |"


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        kind, way, count = sys.argv[2:]
        sys.stdout.write(json.dumps(measured(kind, way, int(count), Path.cwd())))
        return
    sys.stdout.write("| program | parts: seconds | exponent |\n|---|---|---|\n")
    for kind in sys.argv[1:] or KINDS:
        for way in WAYS:
            sys.stdout.write(row(kind, way) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
