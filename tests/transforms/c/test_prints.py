"""What programs print, in C: the text of Python, character by character."""

# ruff: noqa: T201
import contextlib
import io
import os
import subprocess
import sys

import numpy as np
import pytest

import tapeless
from tapeless import grad
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.c.compiled import SANITIZERS, STRICT, library, needs_compiler, normal

LINE = "a rather long text, with commas; (brackets), 100 % of it // and no comment: "


def formats(x, n):
    k = n * 3
    print(f"{x:.3f}|{x:8.2e}|{x:<9.1f}|{x:+.2g}|{x:>12}|{x!r}|{k:05d}|{k:<6}|{k}|{x:.1%}")
    print("%g of %s: %5.2f%% %d" % (x, "all", 100 * x, k), "%-8s|" % x, x > 0.5, end=";\n")  # noqa: UP031
    print(x, -x, k, x < 0, sep=" / ")
    print([x, 2.0, k], (x,), 'quoted " and \\ and\ttab ??= é', LINE, x, LINE, x)
    return x * k


def loops(x):
    """Names in texts are no variables; texts that a test chooses are texts."""
    total, unread = 0.0, 3.0
    for i, v in enumerate(x):
        total += v * v
        side = "left" if v < 0 else "right"
        print(
            f"unread {i}: {side:>8}", side.upper(), f"total = {total:.2f}", end=";" if i else "\n"
        )
        sys.stdout.write(f"v {v:.4f}\n")
    print("done", total > unread, file=sys.stdout, flush=True)
    print()
    return total


def recursion(x):
    if x < 1:
        print("bottom", x)
        return x * x
    value = recursion(x * 0.4) * x
    print("back", x, value)
    return value


def single(x):
    print(x, x * x, f"{x:.3f}")
    return x


PROGRAMS_THAT_PRINT = {
    "formats": (formats, (0.7, 4)),
    "negative": (formats, (-123456.789, -4)),
    "infinite": (formats, (np.inf, 4)),
    "nan": (formats, (np.nan, 4)),
    "loops": (loops, (normal(4),)),
    "gradient": (grad(loops), (normal(4),)),
    "recursion": (recursion, (7.3,)),
    "gradient of recursion": (grad(recursion), (7.3,)),
    "float32": (single, (np.float32(0.1),)),
    "batch": (tapeless.vmap(recursion), (np.array([7.3, 0.4]),)),
}


@pytest.mark.parametrize("name", PROGRAMS_THAT_PRINT)
def test_the_text_of_python(name, tmp_path):
    """It is what the test program prints before it says that the numbers are right."""
    needs_compiler()
    function, args = PROGRAMS_THAT_PRINT[name]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        results = function(*args)
    files = JitToC(function).files(args, {}, results, args)
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    command = ["gcc", *STRICT, *SANITIZERS, *[n for n in files if n.endswith(".c")], "-o", "test"]
    done = subprocess.run([*command, "-lm"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./test"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    text, _, last = done.stdout.rpartition("\n")[0].rpartition("\n")
    assert last.endswith(": right")
    assert text + "\n" == printed.getvalue()


def numbers(dtype):
    """Floats of all sizes, where texts become longer or have another form, and powers of two, above
    which the next texts are nearer than below."""
    rng, info = np.random.default_rng(0), np.finfo(dtype)
    kind = np.uint32 if dtype == np.float32 else np.uint64
    random = rng.integers(0, np.iinfo(kind).max, 20_000, kind, endpoint=True).view(dtype)
    powers = np.ldexp(dtype(1), np.arange(info.minexp - info.nmant, info.maxexp)).astype(dtype)
    tens = 10.0 ** np.arange(-6, 20)
    near = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 1 / 3, info.max, info.tiny, *tens]
    near = np.array(near, dtype)
    next_ones = [np.nextafter(near, dtype(side)) for side in (-np.inf, np.inf)]
    return np.concatenate(
        [near, *next_ones, powers, np.round(normal(999) * 99, 2).astype(dtype), random]
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_texts_of_floats(dtype, tmp_path, capfd):
    """The shortest text that is the number, as NumPy and Python find it."""

    def shown(x):
        for v in x:
            print(v)
        return x[0]

    with np.errstate(all="ignore"):
        x = numbers(dtype)
        call = library(shown, (x[:99],), tmp_path)
        capfd.readouterr()
        call(x)
    assert capfd.readouterr().out.splitlines() == [str(v) for v in x]


def test_a_list_that_needs_more_room_prints_once(tmp_path, capfd):
    def halvings(x):
        values = []
        while x > 0:
            values.append(x)
            x = x - 1
        print("passes", len(values))
        return np.array(values)

    call = library(halvings, (9.5,), tmp_path)
    capfd.readouterr()
    assert len(call(5000.5)) == 5001
    assert capfd.readouterr().out == "passes 5001\n"


def test_the_wrapper_prints_in_order(tmp_path):
    """What C has printed comes between what Python prints before and after it."""
    library(recursion, (7.3,), tmp_path)
    code = "import recursion; print('before'); recursion.recursion(0.5); print('after')"
    command = [sys.executable, "-c", code]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout == "before\nbottom 0.5\nafter\n"


@pytest.mark.parametrize(
    "program",
    [
        lambda x: print(np.array([x, 1.0])),
        lambda x: print(f"{x:^9}"),
        lambda x: print(f"{x:*>9.2f}"),
        lambda x: print(f"{x:.3}"),
        lambda x: print(f"{x:09.2f}"),
        lambda x: print(f"{x:,.2f}"),
        lambda x: print(f"{x:.3f}".replace("0", "o")),
        lambda x: print([np.sin(x)]),
        lambda x: print(x * 1j),
        lambda x: print(x, file=sys.stderr),
        lambda x: print("%x" % int(x)),  # noqa: UP031
    ],
)
def test_other_texts_are_refused(program):
    def function(x):
        program(x)
        return x * x

    with pytest.raises(UnsupportedError, match=r"print\(\) of .*has no form in C"):
        JitToC(function).module_for((1.5,), {})
