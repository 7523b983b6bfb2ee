"""Recover the initial state of a diffusion from its final state, through an in-place stencil.

What: a rod with two warm spots is left to itself; the temperatures are measured at the end, with
noise.  The initial temperatures are recovered by least squares, by descending the gradient through
the loops of the simulation.  Prints how far off the initial state is before (the measurement itself
is the guess) and after.
Why: code that overwrites an array element by element is what automatic differentiation of arrays
finds hardest: the derivative must run both loops backwards and save nothing for a linear step.
Source: made up, with a fixed seed.  The scheme is the explicit one for the heat equation, swept in
place as in the method of Gauss and Seidel.  The optimiser: Y. Nesterov, Soviet Math. Doklady 27
(1983) 372, restarted as in B. O'Donoghue, E. Candes, Found. Comput. Math. 15 (2015) 715.  Stopping
after some hundred iterations is what keeps the noise from being amplified.
Units: temperature in kelvin above the ends, which are held at 0; length in cells, time in steps.

    python examples/diffuse.py      # recovers; writes ./diffuse_grad.py, the emitted gradient
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

import tapeless


def diffuse(u, steps):
    """Let the temperatures u spread for so many steps, in place; the two ends stay as they are."""
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return u


def misfit(initial, measured, steps):
    """Half the squared difference between simulation and measurement, in kelvin squared."""
    final = diffuse(initial.copy(), steps)
    return 0.5 * np.sum((final - measured) ** 2)


def two_spots(cells):
    """The true initial temperatures: a tall narrow spot and a low wide one."""
    x = np.linspace(0, 1, cells)
    u = 10 * np.exp(-(((x - 0.3) / 0.06) ** 2)) + 5 * np.exp(-(((x - 0.7) / 0.1) ** 2))
    u[0] = u[-1] = 0
    return u


def recover(gradient, measured, steps, iterations, rate=1.0):
    """The initial temperatures that lead to the measured ones.

    gradient(initial, measured, steps) is (misfit, array).  A sweep lengthens no vector that is 0 at
    both ends, so the curvature of the misfit is at most 1, and a rate of 1 is safe.
    """
    initial = measured.copy()
    ahead = measured.copy()
    momentum = 1.0
    for _ in track(range(iterations), description="recovering"):
        _, slope = gradient(ahead, measured, steps)
        following = ahead - rate * slope
        following[0] = following[-1] = 0
        if slope @ (following - initial) > 0:
            momentum = 1.0
        momentum_next = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / momentum_next * (following - initial)
        initial, momentum = following, momentum_next
    return initial


def error(guess, truth):
    """Root mean square difference, in kelvin."""
    return np.sqrt(np.mean((guess - truth) ** 2))


def main(argv=None):
    parser = argparse.ArgumentParser(description="Recover the initial state of a diffusion.")
    parser.add_argument("--cells", type=int, default=50, help="cells of the rod (default: 50)")
    parser.add_argument("--steps", type=int, default=60, help="time steps (default: 60)")
    parser.add_argument(
        "--iterations", type=int, default=500, help="of the optimiser (default: 500)"
    )
    parser.add_argument("--noise", type=float, default=0.001, help="in kelvin (default: 0.001)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where diffuse_grad.py goes (default: here)",
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    truth = two_spots(args.cells)
    noise = args.noise * np.random.default_rng(0).normal(size=args.cells)
    noise[0] = noise[-1] = 0
    measured = diffuse(truth.copy(), args.steps) + noise
    gradient = tapeless.value_and_grad(misfit)
    recovered = recover(gradient, measured, args.steps, args.iterations)
    print(f"misfit before:  {misfit(measured, measured, args.steps):.3e} K^2")
    print(f"misfit after:   {misfit(recovered, measured, args.steps):.3e} K^2")
    print(f"error before:   {error(measured, truth):.4f} K")
    print(f"error after:    {error(recovered, truth):.4f} K")

    path = args.out / "diffuse_grad.py"
    path.write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
