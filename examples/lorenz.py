"""Predict how long the weather can be predicted: a batch of Lorenz systems, each with its own stop.

What: pairs of trajectories of the Lorenz system start a distance of 1e-6 apart, at many places of
the attractor. Each is followed, with a step size of its own, until the two are 1 apart. Prints the
spread of the times, and the growth rate that follows from them: the largest Lyapunov exponent.
Why: an adaptive `while` loop that ends by what it computes is written for one pair. vmap makes it
a program for all: elements that have arrived are left alone, the others go on.
Source of the model: E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130; sigma = 10, rho = 28, beta = 8/3.
Source of the method: P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2 (1989) 321 (orders 3 and 2).
Source of what to expect: the exponent is 0.9056 (J. C. Sprott, Chaos and Time-Series Analysis,
2003, table A.5).
Units: those of the model, in which time has no name; some 0.75 of it are a turn around a wing.

    python examples/lorenz.py       # writes ./lorenz_vmap.py, the emitted loop for a batch
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from tapeless import vmap

TOLERANCE = 1e-5


def slope(state):
    """Change in time of (3,) or, for pairs, of the columns of (3, 2)."""
    x, y, z = state
    return np.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z])


def attempt(state, k1, step):
    """A step: the new state, the slope there, and the difference of two orders in tolerances."""
    k2 = slope(state + 0.5 * step * k1)
    k3 = slope(state + 0.75 * step * k2)
    new = state + step * (2 * k1 + 3 * k2 + 4 * k3) / 9
    k4 = slope(new)
    difference = step * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4) / 72
    return new, k4, np.max(np.abs(difference) / (TOLERANCE * (1 + np.abs(new))))


def horizon(start, nearby, apart, latest):
    """When two trajectories from (3,) and (3,) are so far apart, or `latest`; and steps made.

    Both take the same steps, so that they differ by where they started and not by errors. The last
    step is cut to where the logarithm of the distance, taken as linear, crosses.
    """
    pair = np.stack([start, nearby], axis=1)
    k1 = slope(pair)
    time, step, steps = 0.0, 1e-3, 0
    distance = np.linalg.norm(pair[:, 0] - pair[:, 1])
    while time < latest:
        new, k4, error = attempt(pair, k1, step)
        steps += 1
        if error <= 1:
            before, distance = distance, np.linalg.norm(new[:, 0] - new[:, 1])
            if distance >= apart:
                part = np.log(apart / before) / np.log(distance / before)
                return time + part * step, steps
            pair, k1, time = new, k4, time + step
        step = step * min(2.0, max(0.3, 0.9 * (error + 1e-10) ** (-1 / 3)))
    return latest, steps


def on_the_attractor(rng, count):
    """Random states (count, 3), after they were let run in by the classical Runge-Kutta method."""
    states = rng.normal(size=(3, count)) * 8 + np.array([[0.0], [0.0], [25.0]])
    for _ in range(2000):
        k1 = slope(states)
        k2 = slope(states + 0.005 * k1)
        k3 = slope(states + 0.005 * k2)
        k4 = slope(states + 0.01 * k3)
        states = states + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states.T


def main(argv=None):
    parser = argparse.ArgumentParser(description="Times to which Lorenz systems can be predicted.")
    parser.add_argument("--count", type=int, default=1000, help="of pairs (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where lorenz_vmap.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(args.seed)
    starts = on_the_attractor(rng, args.count)
    directions = rng.normal(size=starts.shape)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    horizons = vmap(horizon, in_axes=(0, 0, None, None))
    times, steps = horizons(starts, starts + 1e-6 * directions, 1.0, 100.0)
    later, _ = horizons(starts, starts + 1e-9 * directions, 1.0, 100.0)
    low, middle, high = np.quantile(times, [0.05, 0.5, 0.95])
    print(f"horizon:   {middle:.2f} for half of the pairs, {low:.2f} to {high:.2f} for 90 %")
    print(f"steps:     {steps.min()} to {steps.max()}")
    print(f"a thousand times closer: {np.mean(later - times):.2f} later")
    print(f"exponent:  {np.log(1000) / np.mean(later - times):.3f} (0.906 in the literature)")

    path = args.out / "lorenz_vmap.py"
    path.write_text(horizons.source(), encoding="utf-8")
    print(f"emitted loop:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
