"""Train a small neural network on handwritten digits, with the gradient of plain NumPy code.

What: a perceptron with one hidden layer of 64 tanh units and a softmax output tells the 1,797
digits of the UCI set apart.  A fifth of the images is held back and never trained on; the accuracy
on it is printed and is over 95 %.
Why: the everyday job of a gradient: parameters in a dictionary, a loss over a minibatch, an
optimiser written by hand (Adam: D. P. Kingma, J. Ba, ICLR 2015, arXiv:1412.6980, algorithm 1).
Source of the data: see data/README.md (E. Alpaydin, C. Kaynak, DOI 10.24432/C50P49, CC BY 4.0).
Units: a pixel is the share of ink in its 4 x 4 block, 0 (none) to 1 (all 16 dots set); the loss is
in nats per image.

    python examples/digits.py       # trains; writes ./digits_grad.py, the emitted gradient
    python examples/digits.py --epochs 10 --out /tmp
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

import tapeless

DATA = Path(__file__).parent / "data" / "digits.csv.gz"


def log_probabilities(params, images):
    """Log probability of each of the ten digits: images (n, 64) to (n, 10)."""
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    scores = hidden @ params["w2"] + params["b2"]
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def loss(params, images, labels, decay):
    """Mean cross-entropy of a batch in nats, plus weight decay."""
    log_p = log_probabilities(params, images)
    fit = -np.mean(log_p[np.arange(len(labels)), labels])
    return fit + decay * (np.sum(params["w1"] ** 2) + np.sum(params["w2"] ** 2))


def accuracy(params, images, labels):
    """Share of the images that are told right, 0 to 1."""
    return np.mean(np.argmax(log_probabilities(params, images), axis=1) == labels)


def load(rng, held_back=0.2):
    """Shuffled (images, labels) to train on, and the same to test on."""
    table = np.loadtxt(DATA, delimiter=",")
    table = table[rng.permutation(len(table))]
    images, labels = table[:, :64] / 16, table[:, 64].astype(int)
    cut = round(len(table) * (1 - held_back))
    return (images[:cut], labels[:cut]), (images[cut:], labels[cut:])


def initial_params(rng, hidden=64):
    """Random weights scaled by the number of inputs (LeCun et al., Efficient BackProp, 1998)."""
    return {
        "w1": rng.normal(size=(64, hidden)) / np.sqrt(64),
        "b1": np.zeros(hidden),
        "w2": rng.normal(size=(hidden, 10)) / np.sqrt(hidden),
        "b2": np.zeros(10),
    }


def adam_step(params, grads, mean, square, step, rate=0.003):
    """One step of Adam (Kingma and Ba, algorithm 1), in place; steps count from 1."""
    for name, grad in grads.items():
        mean[name] += 0.1 * (grad - mean[name])
        square[name] += 0.001 * (grad**2 - square[name])
        mean_hat = mean[name] / (1 - 0.9**step)
        square_hat = square[name] / (1 - 0.999**step)
        params[name] -= rate * mean_hat / (np.sqrt(square_hat) + 1e-8)


def train(gradient, images, labels, rng, epochs, batch=32, decay=1e-4):
    """The trained parameters; gradient(params, images, labels, decay) is (loss, slopes)."""
    params = initial_params(rng)
    mean = {name: np.zeros_like(value) for name, value in params.items()}
    square = {name: np.zeros_like(value) for name, value in params.items()}
    step = 0
    for _ in track(range(epochs), description="training"):
        order = rng.permutation(len(images))
        for start in range(0, len(images), batch):
            pick = order[start : start + batch]
            _, grads = gradient(params, images[pick], labels[pick], decay)
            step += 1
            adam_step(params, grads, mean, square, step)
    return params


def main(argv=None):
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the data (default: 30)")
    parser.add_argument(
        "--seed", type=int, default=0, help="of split, weights and batches (default: 0)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where digits_grad.py goes (default: here)",
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(args.seed)
    training, test = load(rng)
    gradient = tapeless.value_and_grad(loss)
    params = train(gradient, *training, rng, args.epochs)
    print(f"training accuracy: {accuracy(params, *training):.2%} of {len(training[1])} images")
    print(f"test accuracy:     {accuracy(params, *test):.2%} of {len(test[1])} images")

    path = args.out / "digits_grad.py"
    path.write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
