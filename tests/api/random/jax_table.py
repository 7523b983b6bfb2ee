"""JAX's numbers for the calls of `cases`, kept as a table: `python -m tests.api.random.jax_table`.

Writing the table needs jax; reading it does not.
"""

import json
from pathlib import Path

import numpy as np

from tests.api.random.cases import CALLS, SEEDS

PATH = Path(__file__).with_name("jax_numbers.json")


def evaluate(call, seed, random):
    """A call with jax.random or with ours."""
    return np.asarray(eval(call, {"random": random, "np": np, "key": random.PRNGKey(seed)}))


def jax_random():
    """jax.random with 64-bit numbers; None without jax."""
    try:
        import jax  # noqa: PLC0415 (not needed by the tests)
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    return jax.random


def written(made):
    """dtype, shape and numbers, for JSON."""
    kind = made.dtype.kind
    flat = made.reshape(-1)
    flat = flat.view(flat.real.dtype) if kind == "c" else flat
    numbers = [x.item() if flat.dtype.kind != "f" else repr(x.item()) for x in flat]
    return [made.dtype.str, list(made.shape), numbers]


def read(entry):
    """An array from its JSON."""
    dtype, shape, numbers = np.dtype(entry[0]), entry[1], entry[2]
    if dtype.kind in "fc":
        part = np.zeros(0, dtype).real.dtype
        return np.array([float(x) for x in numbers], part).view(dtype).reshape(shape)
    return np.array(numbers, dtype).reshape(shape)


def table():
    """Call and seed to JAX's array."""
    kept = json.loads(PATH.read_text(encoding="utf-8"))
    return {(call, int(seed)): read(e) for seed, es in kept.items() for call, e in es.items()}


def main():
    random = jax_random()
    made = {s: {c: written(evaluate(c, s, random)) for c in CALLS} for s in SEEDS}
    entries = [
        f'"{s}": {{\n'
        + ",\n".join(f"{json.dumps(c)}: {json.dumps(e)}" for c, e in calls.items())
        + "\n}"
        for s, calls in made.items()
    ]
    PATH.write_text("{" + ",\n".join(entries) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
