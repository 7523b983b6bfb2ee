"""Approximate a posterior by a normal distribution, from its density alone, and see how good it is.

What: how deadly a substance is, from 20 animals at four doses: a logistic curve with two unknown
numbers. A normal distribution is brought as near to their posterior as it can be, in the sense of
Kullback and Leibler, by climbing the evidence lower bound. Prints its moments beside the exact
ones, which a fine grid gives, and the bound beside the evidence.
Why: the model is a black box with a gradient: vmap runs it at many draws, and the derivative goes
through the draws to mean and deviations (the reparametrisation).
Source of the data: A. Racine et al., Applied Statistics 35 (1986) 93; the prior is that of
A. Gelman et al., Bayesian Data Analysis (3rd edition, 2013), sections 3.7 and 3.11.
Source of the method: A. Kucukelbir et al., J. Mach. Learn. Res. 18 (2017) 14.
Units: doses are natural logarithms of g/ml.

    python examples/variational.py      # writes ./variational_grad.py, the emitted gradient
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from tapeless import nn, optimizers, random, value_and_grad, vmap

DOSE = np.array([-0.86, -0.30, -0.05, 0.73])
ANIMALS = np.array([5, 5, 5, 5])
DEATHS = np.array([0, 1, 3, 5])
PRIOR_MEAN = np.array([0.0, 10.0])
PRIOR_PRECISION = np.linalg.inv(np.array([[4.0, 10.0], [10.0, 100.0]]))


def log_joint(line):
    """Log density of the data and of (intercept, slope), without the binomial coefficients."""
    scores = line[0] + line[1] * DOSE
    fit = DEATHS * nn.log_sigmoid(scores) + (ANIMALS - DEATHS) * nn.log_sigmoid(-scores)
    off = line - PRIOR_MEAN
    constant = 0.5 * np.log(np.linalg.det(PRIOR_PRECISION)) - np.log(2 * np.pi)
    return np.sum(fit) - 0.5 * off @ PRIOR_PRECISION @ off + constant


def lower(params):
    """The lower triangle L whose L @ L.T is the covariance."""
    return np.array(
        [[np.exp(params["log_scale"][0]), 0.0], [params["tilt"], np.exp(params["log_scale"][1])]]
    )


def lower_bound(params, noise):
    """The evidence lower bound, estimated with standard normal numbers (n, 2)."""
    draws = params["mean"] + noise @ lower(params).T
    entropy = np.sum(params["log_scale"]) + np.log(2 * np.pi) + 1
    return np.mean(vmap(log_joint)(draws)) + entropy


def loss(params, noise):
    return -lower_bound(params, noise)


def climb(key, steps, draws=100):
    """The parameters of the normal distribution, and the gradient that was used."""
    initial_state, descend, get_params = optimizers.adam(
        optimizers.exponential_decay(0.2, steps, 0.005)
    )
    state = initial_state({"mean": np.zeros(2), "log_scale": np.zeros(2), "tilt": 0.0})
    gradient = value_and_grad(loss)
    for k in track(range(steps), description="climbing"):
        noise = random.normal(random.fold_in(key, k), (draws // 2, 2))
        _, slopes = gradient(get_params(state), np.concatenate([noise, -noise]))
        state = descend(k, slopes, state)
    return get_params(state), gradient


def exact(cells=400):
    """Logarithm of the evidence, mean and covariance of the posterior, from a grid."""
    intercept, slope = np.meshgrid(np.linspace(-5, 10, cells), np.linspace(-10, 45, cells))
    points = np.stack([intercept.ravel(), slope.ravel()], axis=1)
    log_p = vmap(log_joint)(points)
    weights = np.exp(log_p - log_p.max())
    cell = (15 / (cells - 1)) * (55 / (cells - 1))
    evidence = log_p.max() + np.log(weights.sum() * cell)
    return evidence, np.average(points, axis=0, weights=weights), np.cov(points.T, aweights=weights)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Variational inference for a dose and response.")
    parser.add_argument("--steps", type=int, default=1500, help="(default: 1500)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where variational_grad.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    key, judging_key = random.split(random.key(args.seed))
    params, gradient = climb(key, args.steps)
    evidence, mean, covariance = exact()
    found = lower(params) @ lower(params).T
    bound = lower_bound(params, random.normal(judging_key, (20000, 2)))
    print("                    normal   exact")
    for k, name in enumerate(("intercept", "slope")):
        print(f"mean of {name:9} {params['mean'][k]:8.2f} {mean[k]:8.2f}")
    for k, name in enumerate(("intercept", "slope")):
        print(f"deviation {name:9} {np.sqrt(found[k, k]):6.2f} {np.sqrt(covariance[k, k]):8.2f}")
    print(f"log evidence:    {bound:8.3f} {evidence:8.3f}   (a bound below, and the value)")

    path = args.out / "variational_grad.py"
    path.write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
