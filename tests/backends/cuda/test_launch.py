"""Grids follow from sizes alone, and are those of the text of modules."""

import itertools
import types

import numpy as np
import pytest

from tapeless.backends.cuda import placement
from tapeless.backends.cuda.launch import LaunchedKernel
from tapeless.transforms.cuda.launch_text import KERNEL
from tapeless.transforms.errors import ArgumentTypeError
from tests.backends.cuda.fake_driver import asarray

ROWS = (0, 1, 2, 31, 255, 256, 257, 5000, 10**6, 10**9)
LENGTHS = (0, 1, 2, 3, 16, 17, 32, 64, 100, 256, 1000, 4096, 20_000, 10**6)
MODULE = types.SimpleNamespace(program=types.SimpleNamespace(launches=0))


def text_kernel(cp):
    """The class that modules bring along."""
    values = {"cp": cp, "module": None}
    exec(KERNEL, values)
    return values["Kernel"]


def arguments(rows, x, e):
    return rows, x, e


def tiles(rows, x, e):
    return -(-rows // 32) * -(-x.shape[1] // 32)


@pytest.mark.parametrize("kind", ["plain", "results", "joins", "small", "tiles"])
@pytest.mark.parametrize("width", [1, 4])
def test_grids_are_those_of_the_text(driver, kind, width):
    cp = driver.module()
    options = {"results": {"results": (("float64", "sum"),)}, "joins": {"joins": ("sum",)}}
    options["small"] = {"small_teams": width == 1}
    options["tiles"] = {"tiles": tiles, "joins": ("sum",)}
    more = options.get(kind, {})
    for rows, n in itertools.product(ROWS, LENGTHS):
        for team in (None, lambda x, e: (x.shape[1],)):
            x = types.SimpleNamespace(shape=(rows, n))
            e = types.SimpleNamespace(shape=(n,), dtype=np.dtype("f8"))
            ours = LaunchedKernel(MODULE, "k", arguments, team=team, width=width, **more)
            theirs = text_kernel(cp)("k", arguments, team=team, width=width, **more)
            lengths = team(x, e) if team else ()
            count = tiles(rows, x, e) if kind == "tiles" else None
            ((blocks,), (threads, teams)) = ours.grid(rows, lengths, 8 * n, count)
            assert (blocks, teams, threads) == theirs.grid(rows, {"x": x, "e": e}, [e])
            assert threads & (threads - 1) == 0
            assert threads * teams <= 1024
            assert teams == 1 or threads <= 32  # larger teams meet at barriers of their block
            assert blocks >= 1


def test_a_kernel_without_rows_is_one_block(driver):
    kernel = LaunchedKernel(
        types.SimpleNamespace(get_function=lambda name: launch, program=MODULE.program),
        *("k", lambda x: (x,)),
    )
    seen = []

    def launch(grid, block, args, shared_mem=0):
        seen.append((grid, block, args))

    x = asarray([1.0])
    assert kernel(None, x) is None
    assert seen == [((1,), (256, 1), (x,))]


def test_small_teams_keep_a_device_busy(driver):
    kernel = LaunchedKernel(MODULE, "k", arguments, team=lambda x, e: (1000,), small_teams=True)
    threads = {rows: kernel.grid(rows, (1000,), 0)[1][0] for rows in (1, 1000, 2**14, 2**17, 10**6)}
    assert threads == {1: 64, 1000: 64, 2**14: 8, 2**17: 1, 10**6: 1}


def test_memory_of_teams(driver):
    """What teams have for themselves bounds the number of blocks, not the device's memory."""
    kernel = LaunchedKernel(MODULE, "k", arguments)
    ((blocks,), (_, teams)) = kernel.grid(10**6, (), 2**20)
    assert blocks * teams * 2**20 <= 2**31


def test_grids_are_remembered(driver):
    counted = []

    def team(x):
        counted.append(x.shape)
        return (x.shape[1],)

    module = types.SimpleNamespace(**vars(MODULE), get_function=lambda name: lambda *_, **__: None)
    kernel = LaunchedKernel(module, "k", lambda rows, x: (rows, x), team=team)
    x = asarray(np.ones((4, 3)))
    for _ in range(3):
        kernel(4, x)
    assert len(kernel.plans) == 1
    kernel(4, asarray(np.ones((4, 300))))
    assert len(kernel.plans) == 2


@pytest.mark.parametrize("x", [np.array(["a"]), np.ones(3, np.longdouble), np.array([{}])])
def test_arrays_of_what_a_gpu_does_not_have_are_refused(x, driver):
    with pytest.raises(ArgumentTypeError, match="cannot be put on a GPU"):
        placement.on_device(x)
