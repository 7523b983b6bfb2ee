"""Train on handwritten digits without giving away any one of them: differentially private descent.

What: a small network learns the digits of the UCI set by DP-SGD: the gradient of each example is
cut to a length, and noise is added to their sum. Prints the accuracy on images held back, and the
privacy that was paid: no event is exp(epsilon) times as likely (plus delta) for one image more.
Why: what is needed are the gradients of all examples, each for itself: `vmap(grad(loss))` gives
them as one array program.
Source of the method: M. Abadi et al., Deep Learning with Differential Privacy, CCS 2016,
algorithm 1. Source of the account: I. Mironov, K. Talwar, L. Zhang, Renyi differential privacy of
the sampled Gaussian mechanism, arXiv:1908.10530, section 3.3 (integer orders).
Source of the data: see data/README.md (E. Alpaydin, C. Kaynak, DOI 10.24432/C50P49, CC BY 4.0).
Units: a pixel is the share of ink in its block, 0 to 1; epsilon is in nats.

    python examples/private.py      # trains; writes ./private_grads.py, the emitted gradients
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from tapeless import grad, optimizers, random, tree, vmap

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
HELD_BACK = 359


def log_probabilities(params, image):
    """Log probability of each of the ten digits: an image (64,) to (10,)."""
    hidden = np.tanh(image @ params["w1"] + params["b1"])
    scores = hidden @ params["w2"] + params["b2"]
    return scores - np.log(np.sum(np.exp(scores)))


def loss(params, image, label):
    """Cross-entropy of one image, in nats."""
    return -log_probabilities(params, image)[label]


example_gradients = vmap(grad(loss), in_axes=(None, 0, 0))


def private_gradient(key, params, images, labels, longest, noise, expected):
    """The sum of the gradients, none longer than `longest`, with noise, over the expected count."""
    slopes = example_gradients(params, images, labels)
    squares = [np.sum(g**2, axis=tuple(range(1, g.ndim))) for g in tree.leaves(slopes)]
    scale = np.minimum(1, longest / np.sqrt(np.sum(squares, axis=0)))
    keys = dict(zip(slopes, random.split(key, len(slopes)), strict=True))
    return {
        name: (
            np.einsum("n,n...->...", scale, g)
            + noise * longest * random.normal(keys[name], g.shape[1:])
        )
        / expected
        for name, g in slopes.items()
    }


def initial_params(key, hidden=32):
    key_1, key_2 = random.split(key)
    return {
        "w1": random.normal(key_1, (64, hidden)) / 8,
        "b1": np.zeros(hidden),
        "w2": random.normal(key_2, (hidden, 10)) / np.sqrt(hidden),
        "b2": np.zeros(10),
    }


def load(key):
    """Shuffled (images, labels) to train on, and the same to test on."""
    table = random.permutation(key, np.loadtxt(DATA, delimiter=","))
    images, labels = table[:, :64] / 16, table[:, 64].astype(int)
    return (images[HELD_BACK:], labels[HELD_BACK:]), (images[:HELD_BACK], labels[:HELD_BACK])


def train(key, images, labels, steps, share, longest, noise, rate=0.5):
    """The trained parameters. Each example is in a step's batch with the probability `share`."""
    weights_key, key = random.split(key)
    initial_state, descend, get_params = optimizers.momentum(rate, mass=0.8)
    state = initial_state(initial_params(weights_key))
    for count in track(range(steps), description="training"):
        batch_key, noise_key = random.split(random.fold_in(key, count))
        pick = np.flatnonzero(random.bernoulli(batch_key, share, (len(images),)))
        params = get_params(state)
        expected = share * len(images)
        slope = private_gradient(
            noise_key, params, images[pick], labels[pick], longest, noise, expected
        )
        state = descend(count, slope, state)
    return get_params(state)


def epsilon(steps, share, noise, delta):
    """What is paid: the least bound over integer orders of the Renyi divergence."""
    return min(
        steps * renyi(order, share, noise) + math.log(1 / delta) / (order - 1)
        for order in range(2, 129)
    )


def renyi(order, share, noise):
    """Renyi divergence of one step with Poisson sampling, for an integer order."""
    terms = [
        math.log(math.comb(order, k))
        + (order - k) * math.log1p(-share)
        + k * math.log(share)
        + k * (k - 1) / (2 * noise**2)
        for k in range(order + 1)
    ]
    return float(np.logaddexp.reduce(terms)) / (order - 1)


def accuracy(params, images, labels):
    """Share of the images that are told right, 0 to 1."""
    told = np.argmax(vmap(log_probabilities, in_axes=(None, 0))(params, images), axis=1)
    return np.mean(told == labels)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Learn digits with differential privacy.")
    parser.add_argument("--steps", type=int, default=400, help="(default: 400)")
    parser.add_argument("--noise", type=float, default=2.0, help="in clipped lengths (default: 2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where private_grads.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    data_key, key = random.split(random.key(args.seed))
    training, test = load(data_key)
    share, delta = 0.1, 1e-4
    params = train(key, *training, args.steps, share, longest=1.0, noise=args.noise)
    paid = epsilon(args.steps, share, args.noise, delta)
    print(f"training accuracy: {accuracy(params, *training):.2%} of {len(training[1])} images")
    print(f"test accuracy:     {accuracy(params, *test):.2%} of {len(test[1])} images")
    print(f"privacy:           epsilon = {paid:.2f} for delta = {delta}")

    path = args.out / "private_grads.py"
    path.write_text(example_gradients.source(), encoding="utf-8")
    print(f"emitted gradients: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
