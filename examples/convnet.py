"""Train a convolutional network on handwritten digits: on one core, on several, under mpiexec.

What: two convolutions, a pooling layer and a softmax tell the 1,797 digits of the UCI set apart. A
fifth of the images is held back; the accuracy on it is printed and is over 95 %.
Why: the main job of a program in JAX, with its imports changed: layers of stax, Adam of optimizers,
keys of random, one compiled step. The same step is spread over devices by pmap: each gets its part
of a batch, and `pmean` of the gradients is the only place where the parts meet.
Source of the data: see data/README.md (E. Alpaydin, C. Kaynak, DOI 10.24432/C50P49, CC BY 4.0).
Units: a pixel is the share of ink in its 4 x 4 block, 0 (none) to 1; the loss is in nats per image.

    python examples/convnet.py                           # writes ./convnet.npz, the parameters
    python examples/convnet.py --devices 2               # the same parameters, but for rounding
    mpiexec -n 2 python examples/convnet.py --mpi        # the same
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

import tapeless
from tapeless import checkpoint_io, jit, optimizers, pmap, random, stax, value_and_grad
from tapeless.lax import pmean
from tapeless.stax import Conv, Dense, Flatten, LogSoftmax, MaxPool, Relu

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
HELD_BACK = 357  # of 1,797 images

initial_params, log_probabilities = stax.serial(
    Conv(16, (3, 3), padding="SAME"),
    Relu,
    MaxPool((2, 2), strides=(2, 2)),
    Conv(32, (3, 3)),
    Relu,
    Flatten,
    Dense(10),
    LogSoftmax,
)
initial_state, descend, get_params = optimizers.adam(step_size=0.003)


def loss(params, images, labels):
    """Mean cross-entropy of images (n, 8, 8, 1) with labels (n, 10), one of ten is 1."""
    return -np.mean(np.sum(log_probabilities(params, images) * labels, axis=1))


@jit
def step(count, state, images, labels):
    """The next state of the optimiser and the loss, from one device's part of a batch."""
    value, slopes = value_and_grad(loss)(get_params(state), images, labels)
    value, slopes = pmean((value, slopes), "devices")
    return descend(count, slopes, state), value


def load(key):
    """Shuffled (images, labels) to train on, and the same to test on."""
    table = random.permutation(key, np.loadtxt(DATA, delimiter=","))
    images = table[:, :64].reshape(-1, 8, 8, 1) / 16
    labels = np.eye(10)[table[:, 64].astype(int)]
    return (images[HELD_BACK:], labels[HELD_BACK:]), (images[:HELD_BACK], labels[:HELD_BACK])


def batches(key, images, labels, parts, batch):
    """Batches in random order, each in equal parts: (parts, batch / parts, ...)."""
    order = random.permutation(key, len(images))
    for start in range(0, len(order) - batch + 1, batch):
        pick = order[start : start + batch].reshape(parts, -1)
        yield images[pick], labels[pick]


def train(key, images, labels, devices, epochs, batch=32):
    """The trained parameters, and the losses of all steps.

    devices  those of this process; all processes have as many, and pass the same data
    """
    parts = len(devices) * tapeless.process_count()
    first = len(devices) * tapeless.process_index()
    own = slice(first, first + len(devices))
    spread = pmap(step, "devices", in_axes=(None, None, 0, 0), out_axes=None, devices=devices)
    key, weights_key = random.split(key)
    state = initial_state(initial_params(weights_key, (-1, 8, 8, 1))[1])
    losses = []
    leads = tapeless.process_index() == 0
    for epoch in track(range(epochs), description="training", disable=not leads):
        for x, y in batches(random.fold_in(key, epoch), images, labels, parts, batch):
            state, value = spread(len(losses), state, x[own], y[own])
            losses.append(float(value))
    return get_params(state), np.array(losses)


def accuracy(params, images, labels):
    """Share of the images that are told right, 0 to 1."""
    told = np.argmax(log_probabilities(params, images), axis=1)
    return np.mean(told == np.argmax(labels, axis=1))


def main(argv=None):
    parser = argparse.ArgumentParser(description="Train a convolutional network on digits.")
    parser.add_argument("--epochs", type=int, default=20, help="passes over the data (default: 20)")
    parser.add_argument(
        "--devices", type=int, default=1, help="cores that share a batch, in a process (default: 1)"
    )
    parser.add_argument("--mpi", action="store_true", help="share it with mpiexec's processes too")
    parser.add_argument("--seed", type=int, default=0, help="of split, weights and batches")
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where convnet.npz goes"
    )
    args = parser.parse_args(argv)
    if args.mpi:
        tapeless.distributed.initialize(local_device_count=args.devices)

    data_key, training_key = random.split(random.key(args.seed))
    training, test = load(data_key)
    devices = tapeless.local_devices()[:1] * args.devices  # one named twice gets two parts
    params, losses = train(training_key, *training, devices, args.epochs)
    if tapeless.process_index() == 0:
        print(f"loss:              {losses[:45].mean():.4f} at first, {losses[-45:].mean():.4f}")
        print(f"training accuracy: {accuracy(params, *training):.2%} of {len(training[1])} images")
        print(f"test accuracy:     {accuracy(params, *test):.2%} of {len(test[1])} images")
        args.out.mkdir(parents=True, exist_ok=True)
        checkpoint_io.save(args.out / "convnet.npz", params)
        print(f"parameters:        {args.out / 'convnet.npz'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
