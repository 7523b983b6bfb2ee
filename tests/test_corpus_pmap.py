"""Programs of the corpus on several shards give what they give on one."""

import copy

import numpy as np
import pytest

import tapeless
from tapeless import pmap, vmap
from tests.corpus import programs

SCALES = (1, 1.01, 0.99, 1, 1.02)


def batched(x):
    x = np.asarray(x)
    return np.stack([x * s for s in SCALES]).astype(x.dtype)


@pytest.mark.parametrize("program", programs()[::12], ids=lambda each: each.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shards_give_what_the_whole_gives(program):
    args, axes = list(program.arguments()), [None] * len(program.args)
    for k in program.wrt:
        args[k], axes[k] = tapeless.tree.map(batched, args[k]), 0
    try:
        want = vmap(program.function, in_axes=tuple(axes))(*copy.deepcopy(args))
    except NotImplementedError as e:
        pytest.skip(f"vmap refuses it: {e}".splitlines()[0])
    devices = tapeless.devices()[:1] * 2
    got = pmap(program.function, "i", in_axes=tuple(axes), devices=devices)(*args)
    assert tapeless.tree.structure(got) == tapeless.tree.structure(want)
    for ours, theirs in zip(tapeless.tree.leaves(got), tapeless.tree.leaves(want), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
