"""Core programs written as text: what is printed is read, and says the same again."""

import textwrap

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import Effect, For, If, Let, While
from tapeless.transforms.core.printer import show_block
from tapeless.transforms.ops.primitives.stacks import pop, pop_of_list
from tapeless.transforms.ops.program_text import operations, parse
from tests.transforms.staging import every


def damped(k, x, steps):
    for _ in range(steps):
        x = x - k * np.sin(x)
    return x


def halved(x):
    passes = 0
    while x > 1.0:
        x = x / 2 if passes > 3 else x / 3
        passes += 1
    return x


def rows(x, w):
    total = np.zeros(w.shape[0])
    for k in range(x.shape[0]):
        total[1:] += x[k] * np.exp(w[:-1])
    return np.sum(total @ w) + np.max(x[::2])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (damped, (0.1, 1.0, 5)),
        (halved, (30.0,)),
        (rows, (np.ones(4), np.ones(3))),
        (tapeless.grad(damped), (0.1, 1.0, 5)),
        (tapeless.grad(halved), (30.0,)),
        (tapeless.grad(rows), (np.ones(4), np.ones(3))),
        (tapeless.vmap(halved), (np.ones(4),)),
    ],
)
def test_what_is_printed_is_read(function, args):
    function = function if isinstance(function, tapeless.stages.Wrapped) else tapeless.jit(function)
    function(*args)
    text = function.stages()["core"].partition("\n")
    written = "(" + text[0].partition("(")[2] + "\n" + text[2]
    block = parse(written)
    verify(block)
    lines = [line.partition("  # ")[0] for line in written.rstrip().splitlines()]
    assert show_block(block).splitlines() == lines


BRANCHES = """
(t: b1, x: f8[n]):
    k = size_value(size=n)
    blank()
    y, z = if t:
        a = index(x, 0, key=(Slot(0),))
        yield a, undefined
    else:
        s_2, i_2 = while with s: f8 = 0.0, i: pyi8 = 0:
            going = less(i, k)
            test going
            b = index(x, i, key=(Slot(0),))
            s_3 = add(s, b)
            j = add(i, 1)
            yield s_3, j
        yield s_2, i_2
    return y
"""


def test_all_kinds_of_statements_are_read_and_typed():
    block = parse(BRANCHES)
    verify(block)
    kinds = [type(s) for s in every(block)]
    assert {Let, If, While, Effect} <= set(kinds)
    (branch,) = every(block, If)
    assert [str(v.type) for v in branch.outs] == ["f8", "pyi8"]
    assert str(branch.then.results[1].type) == "pyi8"


def test_loops_run_backwards():
    (loop,) = every(parse("(n: pyi8):\n    for i in reversed(range(0, n, 1)) with:\n" + END), For)
    assert loop.reverse
    assert not loop.carries


END = "        yield\n    return n\n"


def test_lengths_are_those_of_integers_of_the_name():
    block = parse("(n: pyi8, x: f8[n, 2*n - 1], y: f8[m]):\n    return x\n")
    n, x, y = block.params
    assert x.type.shape == (n.size, 2 * n.size - 1)
    assert y.type.shape[0].symbols != n.size.symbols


def test_operations_of_one_name_are_told_apart():
    assert operations()["pop"] is pop
    assert operations()["pop_of_list"] is pop_of_list


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("y = sine(x)", KeyError),
        ("y = sin(z)", NameError),
        ("y, z = sin(x)", ValueError),
    ],
)
def test_mistakes_are_refused(line, error):
    text = textwrap.dedent(f"""
        (x: f8[n]):
            {line}
            return y
        """)
    with pytest.raises(error):
        parse(text)
