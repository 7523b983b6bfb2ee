"""A program that is done when a test says so: its work is large, and it waits for an event."""

import threading

import numpy as np

import tapeless
import tapeless.numpy as jnp
from tapeless import ShapeDtypeStruct, jit, pure_callback

N = 256  # rows of matrices whose product is large work
LIMIT = 10.0  # seconds after which a test that hangs fails
SQUARE = ShapeDtypeStruct((N, N), float)


class Gate:
    """`program` gives x @ x + 1 when the gate is open."""

    def __init__(self):
        self.event = threading.Event()
        self.threads = []
        self.event.set()
        self.program = jit(lambda x: pure_callback(self.pass_on, SQUARE, x) @ x + 1.0)
        self.program(matrix()).block_until_ready()
        self.threads.clear()

    def pass_on(self, x):
        self.threads.append(threading.current_thread().name)
        assert self.event.wait(LIMIT)
        return x

    def close(self):
        self.event.clear()

    def open(self):
        self.event.set()

    def open_soon(self):
        """Another thread opens the gate, whether or not this one waits by then."""
        threading.Timer(0.02, self.open).start()


def matrix(seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal((N, N)) / N)


def want(x):
    x = np.asarray(x)
    return x @ x + 1.0


def is_pending(x):
    return type(x) is tapeless.staging.pending_arrays.PendingArray
