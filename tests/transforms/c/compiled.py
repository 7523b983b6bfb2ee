"""Compiles emitted C as strictly as compilers do, and runs it where it may touch nothing else."""

import copy
import shutil
import subprocess

import numpy as np
import pytest

from tapeless.transformations.compilation.jit_to_c import JitToC

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fwrapv"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def needs_compiler():
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not there: emitted C is not compiled")


def checked(function, args, folder, expected=None):
    """The C of a function. Its test program has run under sanitizers, and found the numbers that
    are `expected`: by default those that the function itself gives."""
    needs_compiler()
    after = copy.deepcopy(args)
    results = function(*after)
    c = JitToC(function)
    files = c.files(copy.deepcopy(args), {}, results if expected is None else expected, after)
    for name, text in files.items():
        (folder / name).write_text(text)
    sources = [name for name in files if name.endswith(".c")]
    command = ["gcc", *STRICT, *SANITIZERS, *sources, "-o", "test", "-lm"]
    for run in (command, ["./test"]):
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr + files[sources[0]]
    assert done.stdout.endswith(": right\n")
    return c.module_for(copy.deepcopy(args), {})


def library(function, args, folder):
    """The function of the wrapper in Python, whose library is compiled."""
    needs_compiler()
    after = copy.deepcopy(args)
    expected = function(*after)
    files = JitToC(function).files(args, {}, expected, after)
    for name, text in files.items():
        (folder / name).write_text(text)
    (name,) = (n.removesuffix(".h") for n in files if n.endswith(".h"))
    flags = [*STRICT, "-shared", "-fPIC"]
    subprocess.run(
        ["gcc", *flags, f"{name}.c", "-o", f"lib{name}.so", "-lm"], cwd=folder, check=True
    )
    scope = {"__file__": str(folder / f"{name}.py"), "__name__": name}
    exec(compile((folder / f"{name}.py").read_text(), f"{name}.py", "exec"), scope)
    return scope[name]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)
