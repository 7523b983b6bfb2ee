"""The convolutional network reaches its accuracy, and is the same on one device and on several."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tapeless
from tapeless import optimizers, random

pytestmark = pytest.mark.filterwarnings("error")
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")


def test_most_unseen_digits_are_told_right(example, tmp_path, capsys):
    with tapeless.disable_jit():  # compiling takes longer than six epochs do
        assert example("convnet").main(["--epochs", "6", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    accuracy, images = re.search(r"test accuracy:\s+([\d.]+)% of (\d+) images", printed).groups()
    assert float(accuracy) > 95
    assert int(images) == 357


def by_hand(convnet):
    """The parameters after an epoch on one device, without pmap."""
    data_key, key = random.split(random.key(0))
    training, _ = convnet.load(data_key)
    key, weights_key = random.split(key)
    gradient = tapeless.grad(convnet.loss)
    initial_state, descend, get_params = optimizers.adam(0.003)
    state = initial_state(convnet.initial_params(weights_key, (-1, 8, 8, 1))[1])
    order = random.permutation(random.fold_in(key, 0), len(training[0]))
    for count in range(len(order) // 32):
        pick = order[32 * count : 32 * count + 32]
        slopes = gradient(get_params(state), training[0][pick], training[1][pick])
        state = descend(count, slopes, state)
    return tapeless.tree.leaves(get_params(state))


def parameters(folder):
    with np.load(folder / "convnet.npz") as file:
        return list(file.values())


def assert_the_same(found, want):
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def test_two_devices_find_the_same_parameters(example, tmp_path):
    convnet = example("convnet")
    with tapeless.disable_jit():
        convnet.main(["--epochs", "1", "--devices", "2", "--out", str(tmp_path)])
    assert_the_same(parameters(tmp_path), by_hand(convnet))


@pytest.mark.skipif(
    MPIEXEC is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpi4py and mpiexec: pip install mpi4py mpich",
)
def test_two_processes_find_the_same_parameters(example, tmp_path):
    convnet = example("convnet")
    arguments = ["--mpi", "--epochs", "1", "--out", str(tmp_path)]
    done = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, convnet.__file__, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
        env={**os.environ, "TAPELESS_DISABLE_JIT": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("test accuracy") == 1
    assert_the_same(parameters(tmp_path), by_hand(convnet))
