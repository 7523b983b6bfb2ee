"""Learn to learn: parameters from which a network learns any sine wave in one step of descent.

What: each task is a sine wave of some amplitude and phase, known at 10 points. The network is
trained so that it fits a new wave after one step of gradient descent (MAML). Prints the error on
new waves after a few such steps, from the parameters that were learned, and from those of a network
that was trained on all waves at once, which can only find their mean.
Why: the loss holds a gradient, and is itself differentiated: grad of grad, over a batch of tasks.
Source of the method: C. Finn, P. Abbeel, S. Levine, Model-Agnostic Meta-Learning, ICML 2017,
section 5.1, from which tasks and network are taken.
Units: amplitudes and errors in those of the waves (0.1 to 5), positions in radians.

    python examples/meta.py         # writes ./meta_grad.py, the emitted gradient
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from tapeless import grad, optimizers, random, stax, tree, value_and_grad, vmap
from tapeless.stax import Dense, Tanh

initial_params, network = stax.serial(Dense(40), Tanh, Dense(40), Tanh, Dense(1))


def tasks(key, count, points):
    """Waves at random points (count, points, 1): x and y to learn from, x and y to judge by."""
    amplitude_key, phase_key, x_key = random.split(key, 3)
    amplitude = random.uniform(amplitude_key, (count, 1, 1), minval=0.1, maxval=5.0)
    phase = random.uniform(phase_key, (count, 1, 1), minval=0.0, maxval=np.pi)
    x = random.uniform(x_key, (count, 2 * points, 1), minval=-5.0, maxval=5.0)
    y = amplitude * np.sin(x - phase)
    return x[:, :points], y[:, :points], x[:, points:], y[:, points:]


def loss(params, x, y):
    """Mean squared error."""
    return np.mean((network(params, x) - y) ** 2)


def adapted(params, x, y, steps, rate=0.01):
    """The parameters after steps of gradient descent on one task."""
    for _ in range(steps):
        slopes = grad(loss)(params, x, y)
        params = tree.map(lambda p, g: p - rate * g, params, slopes)
    return params


def after_adapting(params, x, y, x_new, y_new, steps):
    """The error at new points of a wave, after having learned from others."""
    return loss(adapted(params, x, y, steps), x_new, y_new)


def mean_error(params, batch, steps):
    """`after_adapting`, as the mean over a batch of tasks."""
    errors = vmap(after_adapting, in_axes=(None, 0, 0, 0, 0, None))
    return np.mean(errors(params, *batch, steps))


def train(key, iterations, inner_steps, count=25, points=10):
    """Parameters of least error after so many inner steps; 0 is ordinary training on all waves."""
    weights_key, key = random.split(key)
    initial_state, descend, get_params = optimizers.adam(step_size=0.002)
    state = initial_state(initial_params(weights_key, (-1, 1))[1])
    gradient = value_and_grad(mean_error)
    for k in track(range(iterations), description=f"training, {inner_steps} inner steps"):
        batch = tasks(random.fold_in(key, k), count, points)
        _, slopes = gradient(get_params(state), batch, inner_steps)
        state = descend(k, slopes, state)
    return get_params(state), gradient


def main(argv=None):
    parser = argparse.ArgumentParser(description="Meta-learning of sine waves.")
    parser.add_argument("--iterations", type=int, default=1500, help="(default: 1500)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where meta_grad.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    key, plain_key, test_key = random.split(random.key(args.seed), 3)
    learned, gradient = train(key, args.iterations, inner_steps=1)
    path = args.out / "meta_grad.py"
    path.write_text(gradient.source(), encoding="utf-8")
    plain, _ = train(plain_key, args.iterations, inner_steps=0)
    new = tasks(test_key, 200, 10)
    print("steps   learned to learn   trained on all")
    for steps in (0, 1, 5):
        errors = [mean_error(params, new, steps) for params in (learned, plain)]
        print(f"{steps:5} {errors[0]:18.3f} {errors[1]:16.3f}")
    print(f"emitted gradient:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
