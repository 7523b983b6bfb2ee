"""Sample the posterior of the eight schools by Hamiltonian Monte Carlo, with a compiled gradient.

What: how much coaching helped in a test of scholastic aptitude, in eight schools, and how much the
schools differ: a hierarchical model in its non-centred form, 10 parameters. Four chains start apart
and find the same posterior, which is checked by R-hat and by effective sample sizes.
Why: the inner loop of statistics: a log density is written down, its gradient is taken, and it is
compiled with the leapfrog loop around it. vmap advances all chains, each with a key of its own.
Source of the data and of the model: D. B. Rubin, J. Educ. Stat. 6 (1981) 377; A. Gelman et al.,
Bayesian Data Analysis (3rd edition, 2013), section 5.5, with the prior tau ~ half-Cauchy(0, 5).
Source of the method: R. M. Neal, Handbook of Markov Chain Monte Carlo (2011), chapter 5; R-hat and
effective sample size as in Gelman et al., sections 11.4 and 11.5.
Units: points of the test.

    python examples/hmc.py          # prints mean, deviation, R-hat and sample size; writes
                                    # ./hmc_grad.py
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from tapeless import grad, jit, random, vmap

EFFECT = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERROR = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
NAMES = ("mu", "tau", *(f"school {c}" for c in "ABCDEFGH"))


def schools(position):
    """(mu, tau, effects) of a position: mu, log tau, and effects in units of tau around mu."""
    mu, tau = position[0], np.exp(position[1])
    return mu, tau, mu + tau * position[2:]


def log_density(position):
    """Logarithm of the posterior density at a position (10,), up to a constant."""
    mu, tau, effects = schools(position)
    likelihood = -0.5 * np.sum(((EFFECT - effects) / ERROR) ** 2)
    prior_of_tau = position[1] - np.log1p((tau / 5) ** 2)
    return likelihood + prior_of_tau - 0.5 * (mu / 5) ** 2 - 0.5 * np.sum(position[2:] ** 2)


def leapfrog(position, momentum, step, steps):
    """Follow the motion for a number of steps: a map that keeps volume and can be reversed."""
    momentum = momentum + 0.5 * step * grad(log_density)(position)
    for k in range(steps):
        position = position + step * momentum
        momentum = momentum + (1.0 if k < steps - 1 else 0.5) * step * grad(log_density)(position)
    return position, momentum


def energy(position, momentum):
    return 0.5 * np.sum(momentum**2) - log_density(position)


def transition(key, position, step, steps):
    """The next position of a chain, and the probability with which the proposal was accepted."""
    momentum_key, length_key, choice_key = random.split(key, 3)
    momentum = random.normal(momentum_key, position.shape)
    jitter = random.uniform(length_key, minval=0.6, maxval=1.4)  # no orbit is met exactly twice
    proposal, final = leapfrog(position, momentum, jitter * step, steps)
    change = energy(position, momentum) - energy(proposal, final)
    accepted = np.exp(min(change, 0.0))
    if random.uniform(choice_key) < accepted:
        position = proposal
    return position, accepted


@jit
def sample(key, position, step, steps, count):
    """A chain of so many positions (count, 10), and the mean probability of acceptance."""
    chain = np.zeros((count, len(position)))
    total = 0.0
    for k in range(count):
        position, accepted = transition(random.fold_in(key, k), position, step, steps)
        chain[k] = position
        total += accepted
    return chain, total / count


def r_hat(draws):
    """Spread of all halves of chains over that within them; draws (chains, count)."""
    halves = draws[:, : draws.shape[1] // 2 * 2].reshape(2 * len(draws), -1)
    within = np.mean(np.var(halves, axis=1, ddof=1))
    between = np.var(np.mean(halves, axis=1), ddof=1)
    count = halves.shape[1]
    return np.sqrt(((count - 1) / count * within + between) / within)


def effective_size(draws):
    """How many independent draws would tell the mean as well; draws (chains, count)."""
    centred = draws - np.mean(draws, axis=1, keepdims=True)
    count = draws.shape[1]
    spectrum = np.abs(np.fft.rfft(centred, 2 * count, axis=1)) ** 2
    covariance = np.mean(np.fft.irfft(spectrum, axis=1)[:, :count], axis=0) / count
    pairs = (covariance / covariance[0])[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
    until = np.argmax(pairs < 0) if np.any(pairs < 0) else len(pairs)
    return draws.size / (2 * np.sum(pairs[:until]) - 1)


def run(seed, chains, count, warm_up, step=0.25, steps=10):
    """Draws (chains, count, 10) of mu, tau and the effects, and mean probabilities (chains,)."""
    start_key, key = random.split(random.key(seed))
    starts = random.normal(start_key, (chains, 2 + len(EFFECT)))
    walk = jit(vmap(sample, in_axes=(0, 0, None, None, None)), static_argnums=4)
    positions, accepted = walk(random.split(key, chains), starts, step, steps, warm_up + count)
    mu, tau, effects = schools(np.moveaxis(positions[:, warm_up:], -1, 0)[:, None])
    return np.moveaxis(np.concatenate([mu[None], tau[None], effects])[:, 0], 0, -1), accepted


def main(argv=None):
    parser = argparse.ArgumentParser(description="Hamiltonian Monte Carlo for the eight schools.")
    parser.add_argument("--chains", type=int, default=4, help="(default: 4)")
    parser.add_argument("--count", type=int, default=4000, help="draws of each (default: 4000)")
    parser.add_argument("--warm-up", type=int, default=500, help="draws thrown away (default: 500)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where hmc_grad.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    draws, accepted = run(args.seed, args.chains, args.count, args.warm_up)
    print(f"accepted: {accepted.mean():.1%}")
    print("             mean  deviation  R-hat  effective size")
    for k, name in enumerate(NAMES):
        x = draws[:, :, k]
        print(f"{name:9} {x.mean():7.2f} {x.std():10.2f} {r_hat(x):6.3f} {effective_size(x):15.0f}")

    path = args.out / "hmc_grad.py"
    path.write_text(grad(log_density).source(np.zeros(2 + len(EFFECT))), encoding="utf-8")
    print(f"emitted gradient:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
