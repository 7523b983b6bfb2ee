"""One process fails in one of three ways; the others wait for it."""

import os
import sys

import numpy as np

import tapeless
from tapeless import pmap
from tapeless.lax import psum

tapeless.distributed.initialize()
last = tapeless.process_index() == tapeless.process_count() - 1


def total(x, limit):
    if np.sum(x) > limit:
        raise ValueError("beyond the limit")
    return psum(x, "i")


x = np.arange(4.0) + 10 * last
if last and sys.argv[1] == "dies":
    os._exit(3)
try:
    pmap(total, axis_name="i", in_axes=(0, None), devices=tapeless.local_devices()[:1] * 2)(x, 10.0)
except ValueError:
    if sys.argv[1] == "raises":
        raise
sys.stdout.write("went on\n")
