"""Loops over long chains of words are told how many to take at a time; others are left alone."""

import re

import numpy as np
import pytest

from tapeless import jit, random, vmap
from tapeless.backends.cpu import load
from tapeless.backends.cpu.numba import compile as compiler
from tests.backends.cpu.text import module


def mixed(turns, last="v", inner=1):
    """A kernel that rotates a word again and again, in the inner of two loops."""
    rounds = "\n".join(
        f"{' ' * 20}v = np.uint32(np.uint32(np.uint32(v << np.uint32(13))"
        " | np.uint32(v >> np.uint32(19))) ^ x[j])"
        for _ in range(turns)
    )
    return module(
        f"""
        @njit(nogil=True)
        def mixed(x, out):
            for i in range(out.shape[0]):
                out[i, 0] = i
                for j in range(x.shape[0]):
                    v = x[j]
{rounds}
                    out[i, j] = {last}
        """
    )


def expected(x, turns):
    v = x.copy()
    for _ in range(turns):
        v = ((v << np.uint32(13)) | (v >> np.uint32(19))) ^ x
    return v


@pytest.fixture
def assembly(monkeypatch):
    """The texts that are given to LLVM."""
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    seen = []
    parse = compiler.llvm.parse_assembly
    monkeypatch.setattr(
        compiler.llvm, "parse_assembly", lambda text: seen.append(text) or parse(text)
    )
    return seen


def branches_back(text):
    """The loops that are told how many words to take at a time."""
    numbers = re.findall(r"^!(\d+) = distinct .*interleave\.count", text, re.MULTILINE)
    return [
        b for n in numbers for b in re.findall(rf"^  br .*!llvm\.loop !{n}$", text, re.MULTILINE)
    ]


CALLED = """
@njit(forceinline=True)
def turned(v, y):
    return np.uint32(np.uint32(np.uint32(v << np.uint32(13)) | np.uint32(v >> np.uint32(19))) ^ y)


@njit(forceinline=True)
def five(v, y):
    return turned(turned(turned(turned(turned(v, y), y), y), y), y)


@njit(nogil=True)
def mixed(x, out):
    for i in range(2):
        out[1, i] = five(x[i], x[i])
    for j in range(x.shape[0]):
        out[0, j] = five(five(five(five(x[j], x[j]), x[j]), x[j]), x[j])
"""


def test_functions_are_inlined_in_loops_that_are_not_short(assembly):
    x = np.arange(1, 40, dtype=np.uint32)
    out = np.zeros((2, len(x)))
    load("mixed", module(CALLED))(x, out)
    np.testing.assert_array_equal(out[0], expected(x, 20))
    np.testing.assert_array_equal(out[1, :2], expected(x, 5)[:2])
    told = [t for t in assembly if "llvm.loop.interleave.count" in t]
    assert len(told) == 1
    assert len(branches_back(told[0])) == 1
    group = re.search(r"^attributes #(\d+) = { alwaysinline }$", told[0], re.MULTILINE)[1]
    calls = re.findall(r"call i32 @five\(.*\)( #\d+)?$", told[0], re.MULTILINE)
    assert sorted(calls) == ["", *[f" #{group}"] * 4]


@pytest.mark.parametrize(
    ("turns", "last", "width"), [(20, "v", 16), (20, "exp(-np.float64(v))", None), (3, "v", None)]
)
def test_only_long_chains_are_told(turns, last, width, assembly):
    x = np.arange(1, 40, dtype=np.uint32)
    out = np.zeros((2, len(x)))
    load("mixed", mixed(turns, last))(x, out)
    wanted = expected(x, turns)
    wanted = wanted if last == "v" else np.exp(-wanted.astype(float))
    np.testing.assert_allclose(out, [wanted, wanted], rtol=1e-14)
    told = [t for t in assembly if "llvm.loop.interleave.count" in t]
    assert len(told) == (turns == 20)
    for text in told:
        assert len(branches_back(text)) == 1
        assert re.findall(r'vectorize\.width", i32 (\d+)', text) == [str(width)] * bool(width)


@pytest.mark.filterwarnings("ignore::tapeless.random.KeyReuseWarning")
def test_compilers_have_nothing_to_say(capfd):
    keys = random.split(random.PRNGKey(0), 4)
    for draw in (
        lambda k: random.randint(k, (2,), 0, 9),
        lambda k: random.choice(k, 5, (2,)),
        lambda k: random.bits(k, (3,)),
    ):
        np.testing.assert_array_equal(jit(vmap(draw))(keys), [draw(k) for k in keys])
    assert capfd.readouterr().err == ""
