"""Train a variational autoencoder on handwritten digits, and draw digits that nobody wrote.

What: an encoder gives each image a normal distribution over 8 hidden numbers, a decoder gives the
pixels back from a draw of it; the evidence lower bound is raised by Adam. Prints the bound on
images that were held back, before and after, and writes a picture of samples.
Why: noise inside of a derivative: a draw is `mean + deviation * noise`, with keys of
`tapeless.random`, in a step that is differentiated and compiled whole.
Source of the method: D. P. Kingma, M. Welling, Auto-Encoding Variational Bayes, ICLR 2014.
Source of the data: see data/README.md (E. Alpaydin, C. Kaynak, DOI 10.24432/C50P49, CC BY 4.0).
Units: a pixel is the share of ink in its 4 x 4 block, of 16 dots; the bound is in nats per image,
less a constant that does not depend on the model.

    python examples/vae.py          # trains; writes ./vae.png
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from tapeless import jit, nn, optimizers, random, stax, value_and_grad
from tapeless.stax import Dense, FanOut, Identity, Softplus, Tanh

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
DOTS = 16  # in a pixel, each set or not: its count is binomial
HIDDEN = 8
HELD_BACK = 297  # of 1,797 images

init_encoder, encode = stax.serial(
    Dense(128),
    Tanh,
    FanOut(2),
    stax.parallel(
        stax.serial(Dense(HIDDEN), Identity),  # mean
        stax.serial(Dense(HIDDEN), Softplus),  # deviation
    ),
)
init_decoder, decode = stax.serial(Dense(128), Tanh, Dense(64))
initial_state, descend, get_params = optimizers.adam(step_size=0.002)


def initial_params(key):
    encoder_key, decoder_key = random.split(key)
    _, encoder = init_encoder(encoder_key, (-1, 64))
    _, decoder = init_decoder(decoder_key, (-1, HIDDEN))
    return encoder, decoder


def log_likelihood(images, logits):
    """Of each image (n, 64), where each of 16 dots of a pixel is set with probability sigmoid."""
    log_p = images * nn.log_sigmoid(logits) + (1 - images) * nn.log_sigmoid(-logits)
    return DOTS * np.sum(log_p, axis=-1)


def divergence(mean, deviation):
    """Kullback-Leibler divergence of normal distributions (n, HIDDEN) from the standard one."""
    return 0.5 * np.sum(mean**2 + deviation**2 - 1 - 2 * np.log(deviation), axis=-1)


def lower_bound(params, key, images):
    """Mean of the evidence lower bound, estimated with one draw for each image."""
    encoder, decoder = params
    mean, deviation = encode(encoder, images)
    draw = mean + deviation * random.normal(key, mean.shape)
    gain = log_likelihood(images, decode(decoder, draw))
    return np.mean(gain - divergence(mean, deviation))


@jit
def step(count, state, key, images):
    """The next state of the optimiser, and the bound before it."""
    bound, slopes = value_and_grad(loss)(get_params(state), key, images)
    return descend(count, slopes, state), -bound


def loss(params, key, images):
    return -lower_bound(params, key, images)


def load(key):
    """Shuffled images to train on, and those to test on."""
    table = random.permutation(key, np.loadtxt(DATA, delimiter=","))
    images = table[:, :64] / DOTS
    return images[HELD_BACK:], images[:HELD_BACK]


def train(key, images, epochs, batch=100):
    """The trained parameters."""
    key, weights_key = random.split(key)
    state = initial_state(initial_params(weights_key))
    count = 0
    for _ in track(range(epochs), description="training"):
        key, order_key = random.split(key)
        order = random.permutation(order_key, len(images))
        for start in range(0, len(order), batch):
            noise_key = random.fold_in(key, count)
            state, _ = step(count, state, noise_key, images[order[start : start + batch]])
            count += 1
    return get_params(state)


def samples(params, key, count):
    """Images (count, 8, 8) that the decoder makes of standard normal numbers."""
    logits = decode(params[1], random.normal(key, (count, HIDDEN)))
    return nn.sigmoid(logits).reshape(count, 8, 8)


def draw(path, images, columns=16):
    """The images as one picture, side by side; False if matplotlib is missing."""
    try:
        from matplotlib.image import imsave  # noqa: PLC0415 - optional: only for the picture
    except ImportError:
        return False
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)), constant_values=0.5)
    rows = padded.reshape(-1, columns, 10, 10).swapaxes(1, 2).reshape(-1, 10 * columns)
    imsave(path, np.kron(rows, np.ones((4, 4))), cmap="gray_r", vmin=0, vmax=1)
    return True


def main(argv=None):
    parser = argparse.ArgumentParser(description="Train a variational autoencoder on digits.")
    parser.add_argument("--epochs", type=int, default=100, help="(default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="for vae.png")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    data_key, weights_key, noise_key, sample_key = random.split(random.key(args.seed), 4)
    training, test = load(data_key)
    params = train(weights_key, training, args.epochs)
    flat = np.full(64, np.log(training.mean() / (1 - training.mean())))
    print(f"a gray image:  {np.mean(log_likelihood(test, flat)):.1f} nats an image")
    print(f"the bound:     {lower_bound(params, noise_key, test):.1f} nats an image")

    picture = args.out / "vae.png"
    if draw(picture, samples(params, sample_key, 128)):
        print(f"picture:       {picture}")
    else:
        print("no picture: matplotlib is missing (pip install matplotlib)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
