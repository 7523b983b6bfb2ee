"""Learn the law of motion of a spiral from its path: a neural ordinary differential equation.

What: a point moves on a damped spiral by y' = A y. Pieces of its path are given; the right side
of a differential equation, a small network, is fitted so that its solutions follow them. Prints how
far the learned path is off, from the same start, over eight turns.
Why: the loss holds an integrator, and its gradient goes back through its steps: a loop again.
Source of the problem: R. T. Q. Chen et al., Neural Ordinary Differential Equations, NeurIPS 2018,
who fit spirals too. Here the steps themselves are differentiated.
Units: none.

    python examples/node.py         # writes ./node_grad.py, the emitted gradient
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from tapeless import optimizers, random, value_and_grad

STEP = 0.05
TRUE = np.array([[-0.1, 2.0], [-2.0, -0.1]])


def law(y):
    """The true velocity at points (n, 2)."""
    return y @ TRUE


def network(params, y):
    """The learned velocity at points (n, 2)."""
    return np.tanh(y @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]


def runge_kutta(f, y, h):
    """A step of the classical method, of order 4."""
    k1 = f(y)
    k2 = f(y + 0.5 * h * k1)
    k3 = f(y + 0.5 * h * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def path(f, y, steps):
    """Points at the end of each step (steps, n, 2)."""
    points = np.zeros((steps, *y.shape))
    for t in range(steps):
        y = runge_kutta(f, y, STEP)
        points[t] = y
    return points


def loss(params, starts, pieces):
    """Mean squared difference between solutions from (n, 2) and pieces (steps, n, 2)."""
    return np.mean((path(lambda y: network(params, y), starts, len(pieces)) - pieces) ** 2)


def initial_params(key, hidden=50):
    key_1, key_2 = random.split(key)
    return {
        "w1": random.normal(key_1, (2, hidden)) * 0.5,
        "b1": np.zeros(hidden),
        "w2": random.normal(key_2, (hidden, 2)) * 0.3,
        "b2": np.zeros(2),
    }


def train(key, track_points, iterations, count=100, length=10):
    """The learned parameters and the gradient that was used."""
    weights_key, key = random.split(key)
    initial_state, descend, get_params = optimizers.adam(
        optimizers.exponential_decay(0.03, iterations, 0.02)
    )
    state = initial_state(initial_params(weights_key))
    gradient = value_and_grad(loss)
    for k in track(range(iterations), description="following"):
        last = len(track_points) - length
        first = random.randint(random.fold_in(key, k), (count,), 0, last)
        pieces = track_points[first + 1 + np.arange(length)[:, None]]
        _, slopes = gradient(get_params(state), track_points[first], pieces)
        state = descend(k, slopes, state)
    return get_params(state), gradient


def main(argv=None):
    parser = argparse.ArgumentParser(description="A neural differential equation of a spiral.")
    parser.add_argument("--iterations", type=int, default=1000, help="(default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where node_grad.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    start = np.array([[2.0, 0.0]])
    truth = np.concatenate([start, path(law, start, 500)[:, 0]])
    params, gradient = train(random.key(args.seed), truth, args.iterations)
    learned = path(lambda y: network(params, y), start, 500)[:, 0]
    off = np.sqrt(np.sum((learned - truth[1:]) ** 2, axis=1))
    print(f"learned path:  {off.max():.3f} off at most in {500 * STEP:.0f} units, of a start at 2")

    emitted = args.out / "node_grad.py"
    emitted.write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {emitted}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
