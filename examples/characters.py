"""Teach a recurrent network the Zen of Python, character by character, and let it write.

What: a long short-term memory reads the text that `import this` prints and predicts each next
character; then it is given a few and goes on by itself. Prints the cross-entropy before and after,
and what it writes.
Why: a recurrent network is a plain `for` loop over time whose body is a few lines of NumPy. In the
derivative it is still one loop, run backwards; `lax.scan` works as well, and is not needed.
Source of the text: Tim Peters, PEP 20, public domain; shipped with Python as the module `this`.
Source of the network: S. Hochreiter, J. Schmidhuber, Neural Computation 9 (1997) 1735, with forget
gates (F. A. Gers et al., Neural Computation 12 (2000) 2451).
Units: nats per character.

    python examples/characters.py       # writes ./characters_grad.py, the emitted gradient
"""

import argparse
import codecs
import contextlib
import importlib
import io
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from tapeless import nn, optimizers, random, value_and_grad

initial_state, descend, get_params = optimizers.adam(step_size=0.01)


def zen():
    """The text, which the module keeps in a cipher of Caesar's."""
    with contextlib.redirect_stdout(io.StringIO()):
        this = importlib.import_module("this")
    return codecs.decode(this.s, "rot13")


def initial_params(key, letters, size):
    """Weights of the four gates from letters and state, and from the state to letters."""
    gates_key, scores_key = random.split(key)
    bias = np.zeros((4, size))
    bias[1] = 1.0  # it remembers, until it learns to forget
    return {
        "gates": random.normal(gates_key, (letters + size, 4 * size)) / np.sqrt(size),
        "bias": bias.ravel(),
        "scores": random.normal(scores_key, (size, letters)) / np.sqrt(size),
    }


def advance(params, memory, output, letter):
    """Memory and output (n, size) after letters (n, letters), one of which is 1."""
    sums = np.concatenate([letter, output], axis=1) @ params["gates"] + params["bias"]
    write, keep, show, new = np.split(sums, 4, axis=1)
    memory = nn.sigmoid(keep) * memory + nn.sigmoid(write) * np.tanh(new)
    return memory, nn.sigmoid(show) * np.tanh(memory)


def loss(params, texts):
    """Mean cross-entropy of each letter from those before it; texts (time, n, letters)."""
    memory = output = np.zeros((texts.shape[1], params["scores"].shape[0]))
    total = 0.0
    for t in range(len(texts) - 1):
        memory, output = advance(params, memory, output, texts[t])
        log_p = nn.log_softmax(output @ params["scores"], axis=1)
        total -= np.sum(log_p * texts[t + 1])
    return total / (texts.shape[1] * (len(texts) - 1))


def windows(key, codes, count, length):
    """Pieces (length, count, letters) of the text that begin anywhere in it."""
    starts = random.randint(key, (count,), 0, len(codes) - length + 1)
    pieces = codes[starts + np.arange(length)[:, None]]
    return nn.one_hot(pieces, codes.max() + 1)


def train(key, codes, steps, size, count=16, length=60):
    """The trained parameters, the gradient that was used and the loss at each step."""
    gradient = value_and_grad(loss)
    weights_key, key = random.split(key)
    state = initial_state(initial_params(weights_key, codes.max() + 1, size))
    losses = []
    for k in track(range(steps), description="reading"):
        texts = windows(random.fold_in(key, k), codes, count, length)
        value, slopes = gradient(get_params(state), texts)
        state = descend(k, optimizers.clip_grads(slopes, 1.0), state)
        losses.append(value)
    return get_params(state), gradient, np.array(losses)


def write(params, key, alphabet, begin, length, temperature=0.3):
    """A text that begins in a given way; the lower the temperature, the less is left to chance."""
    memory = output = np.zeros((1, params["scores"].shape[0]))
    text = begin
    for k in range(length):
        for letter in text if k == 0 else text[-1]:
            one = nn.one_hot(np.array([alphabet.index(letter)]), len(alphabet))
            memory, output = advance(params, memory, output, one)
        scores = (output @ params["scores"])[0] / temperature
        text += alphabet[int(random.categorical(random.fold_in(key, k), scores))]
    return text


def main(argv=None):
    parser = argparse.ArgumentParser(description="A network that writes like the Zen of Python.")
    parser.add_argument("--steps", type=int, default=400, help="of training (default: 400)")
    parser.add_argument("--size", type=int, default=64, help="of the memory (default: 64)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where characters_grad.py goes"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    text = zen()
    alphabet = "".join(sorted(set(text)))
    codes = np.array([alphabet.index(letter) for letter in text])
    key, writing_key = random.split(random.key(args.seed))
    params, gradient, losses = train(key, codes, args.steps, args.size)
    print(f"cross-entropy:  {losses[0]:.2f} at first, {losses[-10:].mean():.2f} nats a character")
    print(write(params, writing_key, alphabet, "Beautiful is ", 240))

    path = args.out / "characters_grad.py"
    path.write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
