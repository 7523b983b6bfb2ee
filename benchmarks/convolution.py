"""What convolutions cost, beside products of matrices of the same size, and JAX and PyTorch where
they are installed.

python benchmarks/convolution.py [float64]

Milliseconds of processor time on one core, the best of several runs that take turns, forwards and
for both derivatives; in brackets as a multiple of the products of matrices alone. `jit` is
compiled, `plain` is not.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np

import tapeless
from tapeless import lax

RUNS = 5
WORDS = ("NHWC", "HWIO", "NHWC")
# batch, height and width, features in, window, features out, stride
LAYERS = {
    "LeNet 1": (64, 28, 1, 5, 6, 1),
    "LeNet 2": (64, 14, 6, 5, 16, 1),
    "ResNet 56x56": (8, 56, 64, 3, 64, 1),
    "ResNet 28x28": (8, 28, 128, 3, 128, 1),
    "ResNet 14x14": (8, 14, 256, 3, 256, 1),
    "ResNet 7x7": (8, 7, 512, 3, 512, 1),
    "ResNet 1x1": (8, 56, 64, 1, 256, 1),
    "ResNet, stride 2": (8, 56, 128, 3, 128, 2),
}


def peer():
    """jax with 64-bit numbers; None without it."""
    try:
        import jax  # noqa: PLC0415  # an optional peer
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    return jax


def of_torch(x, kernel, bar, stride):
    """PyTorch, forwards and with both derivatives, in its own order of axes; None without it."""
    try:
        import torch  # noqa: PLC0415  # an optional peer
    except ImportError:
        return None
    torch.set_num_threads(1)
    images, bars = (torch.as_tensor(a.transpose(0, 3, 1, 2).copy()) for a in (x, bar))
    kernels = torch.as_tensor(kernel.transpose(3, 2, 0, 1).copy())

    def run(images, kernels):
        padding = (kernels.shape[-1] - 1) // 2
        return torch.nn.functional.conv2d(images, kernels, stride=stride, padding=padding)

    def forwards():
        with torch.no_grad():
            return run(images, kernels)

    def derivatives():
        given = [a.detach().requires_grad_() for a in (images, kernels)]
        run(*given).backward(bars)
        return [a.grad for a in given]

    return forwards, derivatives


def convolution(lax, stride):
    def run(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (stride, stride), "SAME", dimension_numbers=WORDS
        )

    return run


def contestants(layer, dtype):
    """Name to (forwards, derivatives), each without arguments."""
    n, size, features, window, out, stride = layer
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, size, size, features)).astype(dtype)
    kernel = rng.standard_normal((window, window, features, out)).astype(dtype)
    ours = convolution(lax, stride)
    bar = rng.standard_normal(ours(x, kernel).shape).astype(dtype)
    rows = rng.standard_normal((bar.size // out, window * window * features)).astype(dtype)
    columns, flat = kernel.reshape(-1, out), bar.reshape(-1, out)
    slopes = tapeless.grad(lambda x, kernel: np.sum(ours(x, kernel) * bar), argnums=(0, 1))
    compiled, compiled_slopes = tapeless.jit(ours), tapeless.jit(slopes)
    made = {
        "products": (
            lambda: rows @ columns,
            lambda: (rows @ columns, rows.T @ flat, flat @ columns.T),
        ),
        "plain": (lambda: ours(x, kernel), lambda: slopes(x, kernel)),
        "jit": (lambda: compiled(x, kernel), lambda: compiled_slopes(x, kernel)),
    }
    jax = peer()
    if jax is not None:
        theirs = convolution(jax.lax, stride)
        there = jax.jit(theirs)
        back = jax.jit(lambda x, kernel, bar: jax.vjp(theirs, x, kernel)[1](bar))
        made["jax"] = (
            lambda: there(x, kernel).block_until_ready(),
            lambda: jax.block_until_ready(back(x, kernel, bar)),
        )
    torch = of_torch(x, kernel, bar, stride)
    return made if torch is None else {**made, "torch": torch}


def times(functions):
    """Name to milliseconds."""
    best = dict.fromkeys(functions, float("inf"))
    for f in functions.values():
        f()
    for _ in range(RUNS):
        for name, f in functions.items():
            start = time.process_time()
            f()
            best[name] = min(best[name], (time.process_time() - start) * 1e3)
    return best


def main():
    dtype = np.dtype(sys.argv[1] if len(sys.argv) > 1 else "float32")
    for name, layer in LAYERS.items():
        found = contestants(layer, dtype)
        for k, what in enumerate(("forwards", "derivatives")):
            taken = times({contestant: pair[k] for contestant, pair in found.items()})
            ratios = ", ".join(
                f"{contestant} {t:.2f} ms ({t / taken['products']:.1f})"
                for contestant, t in taken.items()
            )
            print(f"{name}, {what}: {ratios}", flush=True)


if __name__ == "__main__":
    main()
