"""The memory that derivatives of time stepping hold, beside JAX's `scan`, and their time.

    python benchmarks/memory.py                        # benchmarks/memory.md
    python benchmarks/memory.py --only heat,LSTM       # some programs, printed only

Each measurement is a process of its own. The memory is the peak of a call above what the process
held before, where no memory of an earlier call is kept; for JAX there is also what its compiler
says it needs. JAX runs the loop by `lax.scan`, as it is and with `jax.checkpoint` around the step.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # after the path is set

from benchmarks.cell import peak, version  # the same
from benchmarks.time_stepping import PROGRAMS  # the same

HERE = Path(__file__).parent
LIBRARIES = ("tapeless", "JAX", "JAX, checkpoint")
PATIENCE = 300  # seconds for one measurement
REPEATS = 5  # calls, of which the fastest counts
LONGEST = 20  # seconds of repeated calls


# -- one measurement


def loss_of(program):
    """The program as its users write it: a function of the state and the number of steps."""
    if program.jax is not None:
        return program.make(np)
    step = program.make(np)

    def loss(state, steps):
        for _ in range(steps):
            state = step(*state)
        return np.sum(state[0] ** 2)

    return loss


def by_tapeless(program, steps):
    """The gradient by the first array of the state."""
    import tapeless  # noqa: PLC0415  # only what is measured is imported

    gradient = tapeless.jit(tapeless.grad(loss_of(program)))
    if program.jax is not None:
        return lambda state: gradient(state[0], steps)
    return lambda state: gradient(state, steps)[0]


def by_jax(program, steps, around=lambda step: step):
    import jax  # noqa: PLC0415  # a peer, where it is installed

    jax.config.update("jax_enable_x64", True)
    step = around((program.jax or program.make)(jax.numpy))
    last = program.make is PROGRAMS["edit distance"].make

    def loss(state):
        if last:  # the row is made of nothing but its length
            row = jax.numpy.arange(len(state[0]) + 1.0)
            state = row, state[0], jax.numpy.asarray(0.0)
        state, _ = jax.lax.scan(lambda s, _: (step(*s), None), state, None, length=steps)
        return state[0][-1] if last else jax.numpy.sum(state[0] ** 2)

    compiled = {}

    def call(state):
        if not compiled:
            compiled["gradient"] = jax.jit(jax.grad(loss)).lower(state).compile()
            needs = compiled["gradient"].memory_analysis()
            call.said = (needs.temp_size_in_bytes + needs.output_size_in_bytes) / 1e6
        return jax.block_until_ready(compiled["gradient"](state))[0]

    return call


def by_jax_checkpoint(program, steps):
    import jax  # noqa: PLC0415  # a peer, where it is installed

    return by_jax(program, steps, jax.checkpoint)


MAKERS = dict(zip(LIBRARIES, (by_tapeless, by_jax, by_jax_checkpoint), strict=True))


def measured(name, library, n, steps):
    """Megabytes at most above what was there before, seconds, and the sum of magnitudes."""
    program = PROGRAMS[name]
    state = program.start(n, np.random.default_rng(0))
    call = MAKERS[library](program, steps)
    if library != "tapeless":
        import jax  # noqa: PLC0415  # a peer, where it is installed

        state = tuple(map(jax.numpy.asarray, state))
    check = float(np.sum(np.abs(np.asarray(call(state)))))
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    held = peak(functools.partial(call, state)) * 1.024  # of 1,024,000 bytes
    return {"held": held, "said": getattr(call, "said", None), "check": check} | {
        "seconds": fastest(functools.partial(call, state))
    }


def fastest(call):
    times, begin = [], time.perf_counter()
    while len(times) < REPEATS and (not times or time.perf_counter() - begin < LONGEST):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


# -- all measurements


def in_process(name, library, n, steps):
    """What a process of its own measures; None where it fails."""
    one = {f"{pool}_NUM_THREADS": "1" for pool in ("OMP", "OPENBLAS", "MKL", "TAPELESS")}
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "TAPELESS_POOL_SIZE": "0"}
    command = [sys.executable, __file__, "--cell", name, library, str(n), str(steps)]
    if sys.platform == "linux":
        command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **one, **flags, "TAPELESS_CACHE_DIR": folder}
        try:
            run = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    if run.returncode:
        print(f"{name}, {library}: {run.stderr.strip()[-500:]}", file=sys.stderr)
        return None
    return json.loads(run.stdout.splitlines()[-1])


def rows(names, libraries=LIBRARIES):
    for name in names:
        for n, steps in PROGRAMS[name].sizes:
            cells = {k: in_process(name, k, n, steps) for k in libraries}
            cells = {k: cell for k, cell in cells.items() if cell is not None}
            checks = [cell["check"] for cell in cells.values()]
            assert np.allclose(checks, checks[0], rtol=1e-6, equal_nan=True), f"{name}: {checks}"
            yield name, n, steps, cells


def needed(name, n, steps):
    """Megabytes that the derivation must keep, of steps and of the result."""
    return PROGRAMS[name].kept * n * steps * 8 / 1e6


def line(name, n, steps, cells):
    texts = [f"{needed(name, n, steps):.1f}"]
    texts += [f"{cells[k]['held']:.1f}" if k in cells else "-" for k in LIBRARIES]
    texts += [f"{cells[k]['said']:.1f}" if k in cells else "-" for k in LIBRARIES[1:]]
    texts += [f"{cells[k]['seconds'] * 1e3:.3g}" if k in cells else "-" for k in LIBRARIES]
    return f"| {name} | {n:,} | {steps:,} | {' | '.join(texts)} |"


def means(results):
    """The geometric means of our memory over that of each form of JAX."""
    for k in LIBRARIES[1:]:
        pairs = [
            (max(cells["tapeless"]["held"], 0.5), max(cells[k]["held"], 0.5))
            for *_, cells in results
            if k in cells and "tapeless" in cells
        ]
        if pairs:
            logs = [math.log(ours / theirs) for ours, theirs in pairs]
            yield f"Our memory over that of {k}, geometric mean: **{math.exp(np.mean(logs)):.2f}**."


HEAD = f"""# Memory of derivatives of time stepping

Made by `python benchmarks/memory.py` with Python {platform.python_version()}, NumPy
{np.__version__} and JAX {{jax}}: gradients of the sum of squares after so many steps by the state
at the beginning, 64-bit numbers, one core. "Needed" is what the steps are not linear in, 8 bytes
for each number. "Held" is the peak of a call above what the process held before, "said" what JAX's
compiler gives as temporary memory and results. Megabytes and milliseconds of processor time.
"""


def main():
    parser = argparse.ArgumentParser(description="Measure the memory of derivatives.")
    parser.add_argument("--only", default="", help="how names of programs begin: heat,LSTM")
    parser.add_argument("--ours", action="store_true", help="without JAX")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        name, library, n, steps = options.cell
        print(json.dumps(measured(name, library, int(n), int(steps))))
        return
    chosen = [name for name in PROGRAMS if name.startswith(tuple(options.only.split(",")))]
    columns = ["program", "n", "steps", "needed", *(f"held, {k}" for k in LIBRARIES)]
    columns += [*(f"said, {k}" for k in LIBRARIES[1:]), *(f"ms, {k}" for k in LIBRARIES)]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    print("\n".join(lines))
    results = []
    for result in rows(chosen, LIBRARIES[: 1 if options.ours else None]):
        results.append(result)
        lines.append(line(*result))
        print(lines[-1], flush=True)
    lines += ["", *means(results)]
    if not (options.only or options.ours):
        text = "\n".join([HEAD.format(jax=version("JAX")), *lines]) + "\n"
        (HERE / "memory.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
