"""Times the C of `tapeless export` beside CasADi's: gradients and Hessians of control problems.

python -m benchmarks.control      prints microseconds a call, and bytes of source text, of both

Both get the same NumPy code: a cost over a horizon of steps of Runge-Kutta's fourth order, by the
controls. CasADi expands it into scalar operations (SX), as is usual where speed counts. Both are
compiled by gcc -O3 -march=native, with and without -ffast-math, of which the faster counts, and
called from a loop in C. Ours are those of `--maths fast`: functions are written out, and sums of
loops are in the order that waits least, which -ffast-math allows CasADi's, too. CasADi's
Hessians are functions of megabytes: where gcc takes longer than LIMIT for one, it is compiled by
-O1, and the row says so; they are compiled with -ffast-math alone, which is faster for gradients.
Needs `pip install casadi`, and gcc.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi
import numpy as np

import tapeless
from tapeless.dispatch.jit_options import Options
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.c.inline_functions import with_inline_functions

casadi.GlobalOptions.setNumpyMode(1)
STEPS, H = 30, 0.05
FLAGS = ["-O3", "-march=native", "-fwrapv", "-shared", "-fPIC", "-lm"]
FAST, EXACT = ["-ffast-math"], ["-fno-math-errno", "-fno-trapping-math"]
CALLS, RUNS = 1_000, 40  # the best run counts
LIMIT = 120  # seconds that gcc may take


def pendulum(x: Any, u: Any) -> list[Any]:
    return [x[1], u - 0.1 * x[1] - 9.81 * np.sin(x[0])]


def van_der_pol(x: Any, u: Any) -> list[Any]:
    return [(1 - x[1] ** 2) * x[0] - x[1] + u, x[0]]


def cart_pole(x: Any, u: Any) -> list[Any]:
    s, c = np.sin(x[2]), np.cos(x[2])
    total = u + 0.1 * x[3] ** 2 * s
    turn = (9.81 * s - c * total / 1.1) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
    return [x[1], (total - 0.05 * turn * c) / 1.1, x[3], turn]


def tank(x: Any, u: Any) -> list[Any]:
    first, second = np.sqrt(x[0] + 0.1), np.sqrt(x[1] + 0.1)
    return [0.5 * u**2 - 0.3 * first, 0.3 * first - 0.2 * second]


def reactor(x: Any, u: Any) -> list[Any]:
    rate = x[0] * np.exp(-2.0 / (x[1] + 1.5))
    return [1.0 - x[0] - rate, 0.5 - x[1] + 2.0 * rate + 0.3 * (u - x[1])]


PROBLEMS = {
    "pendulum": (pendulum, [0.5, 0.0]),
    "van der Pol": (van_der_pol, [0.0, 1.0]),
    "cart-pole": (cart_pole, [0.0, 0.0, 0.2, 0.0]),
    "two tanks": (tank, [1.0, 0.5]),
    "reactor": (reactor, [0.8, 0.5]),
}


def cost(dynamics: Callable[..., Any], start: list[float]) -> Callable[..., Any]:
    """The cost of controls, for NumPy: what both are made of."""

    def total(u: Any) -> Any:
        x, sum_of_costs = [*start], 0.0
        for k in range(u.shape[0]):
            a = dynamics(x, u[k])
            b = dynamics([p + H / 2 * q for p, q in zip(x, a, strict=True)], u[k])
            c = dynamics([p + H / 2 * q for p, q in zip(x, b, strict=True)], u[k])
            d = dynamics([p + H * q for p, q in zip(x, c, strict=True)], u[k])
            slopes = zip(x, a, b, c, d, strict=True)
            x = [p + H / 6 * (q + 2 * r + 2 * s + t) for p, q, r, s, t in slopes]
            sum_of_costs = sum_of_costs + sum(p * p for p in x) + 0.1 * u[k] ** 2
        return sum_of_costs

    return total


def of_tapeless(
    f: Callable[..., Any], folder: Path
) -> tuple[Callable[[np.ndarray], Any], str, str]:
    """A function in C: how it is called for values, its source, and a call of it in C."""
    u = np.zeros(STEPS)
    module = with_inline_functions(JitToC(f, Options(fastmath=True)).module_for((u,), {}))
    (folder / f"{module.name}.h").write_text(module.header)
    work = f"{module.name}_work({STEPS})" if module.has_work else "1"
    call = f"{module.name}(u, {STEPS}, out{', work' * module.has_work})"
    return module.source, f"char* work = malloc({work}); REPEAT {call};"


def of_casadi(cost_of: Callable[..., Any], second: bool) -> tuple[str, str]:
    """The same by CasADi."""
    u = casadi.SX.sym("u", STEPS)
    value = cost_of(u)
    derivative = casadi.hessian(value, u)[0] if second else casadi.gradient(value, u)
    function = casadi.Function("f", [u], [casadi.densify(derivative)])
    generator = casadi.CodeGenerator("f", {"casadi_int": "int"})
    generator.add(function)
    source = generator.dump()
    sizes = [function.sz_arg(), function.sz_res(), function.sz_iw(), function.sz_w()]
    lines = [
        f"const double* arg[{sizes[0] + 1}] = {{u}}; double* res[{sizes[1] + 1}] = {{out}};",
        f"int iw[{sizes[2] + 1}]; double* w = malloc(8 * {sizes[3] + 1});",
        "REPEAT f(arg, res, iw, w, 0);",
    ]
    return source, " ".join(lines)


def compiled(name: str, folder: Path, extra: list[str]) -> str:
    """Compiles a file, and says how far it is optimised."""
    for level, limit in (("-O3", LIMIT), ("-O1", None)):
        flags = [level if flag == "-O3" else flag for flag in (*FLAGS, *extra)]
        command = ["gcc", f"{name}.c", "-o", f"{name}.so", *flags]
        try:
            subprocess.run(command, cwd=folder, check=True, timeout=limit)
        except subprocess.TimeoutExpired:
            continue
        return level
    raise AssertionError("the last try has no limit")


def fastest(
    source: str, body: str, folder: Path, u: np.ndarray, choices: tuple[list[str], ...]
) -> tuple[float, np.ndarray, str]:
    """What `timed` gives for the choice of flags that makes the fastest code."""
    times = [timed(source, body, folder, u, extra) for extra in choices]
    return min(times, key=lambda result: result[0])


def timed(
    source: str, body: str, folder: Path, u: np.ndarray, extra: list[str]
) -> tuple[float, np.ndarray, str]:
    """Microseconds a call in a loop of C, what comes out, and how far gcc optimised it."""
    text = f"""{source}
#include <stdlib.h>
#include <time.h>
#define REPEAT for (int r = 0; r < calls; r++)
double timed(const double* u, double* out, int calls) {{
  struct timespec a, b;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  {body}
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
  return ((b.tv_sec - a.tv_sec) * 1e6 + (b.tv_nsec - a.tv_nsec) * 1e-3) / calls;
}}
"""
    name = f"timed_{len([*folder.iterdir()])}"
    (folder / f"{name}.c").write_text(text)
    level = compiled(name, folder, extra)
    run = ctypes.CDLL(str(folder / f"{name}.so")).timed
    run.restype = ctypes.c_double
    out = np.zeros((STEPS, STEPS))
    best = min(run(u.ctypes, out.ctypes, CALLS) for _ in range(RUNS))
    return best, out, level


def main() -> None:
    """Print the table."""
    u = np.random.default_rng(0).normal(size=STEPS) * 0.3
    print(f"{'':28}{'tapeless':>10}{'CasADi':>10}{'ratio':>8}{'bytes':>9}{'CasADi':>9}{'part':>7}")
    for name, (dynamics, start) in PROBLEMS.items():
        for word, transform in (("gradient", tapeless.grad), ("Hessian", tapeless.hessian)):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                f = cost(dynamics, start)
                ours = of_tapeless(transform(f), folder)
                theirs = of_casadi(f, word == "Hessian")
                a, x, _ = fastest(*ours, folder, u, (FAST, EXACT))
                choices = (FAST,) if word == "Hessian" else (FAST, EXACT)
                b, y, level = fastest(*theirs, folder, u, choices)
            assert np.allclose(x, y, rtol=1e-9, atol=1e-9), name
            sizes = len(ours[0]), len(theirs[0])
            print(
                f"{name + ', ' + word:28}{a:10.2f}{b:10.2f}{b / a:8.2f}"
                f"{sizes[0]:9}{sizes[1]:9}{sizes[0] / sizes[1]:7.2f}"
                f"{'' if level == '-O3' else f'  CasADi: {level}'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
