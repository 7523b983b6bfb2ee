"""What differs on macOS, Windows and ARM is tried on Linux, too, by its switches.

Without fork, with the other linker, without SIMD libraries, by start method spawn, where the names
of files have no case, where files that are open cannot be replaced, and with lines that end in
CR LF. Code is also emitted for the processors and systems themselves, and not run.
"""

import importlib.util
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit
from tapeless.backends import cache
from tapeless.backends.cpu.llvm import compile as direct
from tapeless.backends.cpu.runtime import linking

#: Comes first in a process: it seems to be another machine then, of another system.
ELSEWHERE = """
import os, platform
import concurrent.futures, multiprocessing, subprocess  # which look for fork when they begin
platform.machine = lambda: {machine!r}
for name in ("fork", "register_at_fork", "sched_getaffinity", "sysconf"):
    if hasattr(os, name):
        delattr(os, name)
"""
PROGRAMS = '''
import numpy as np
from tapeless import grad, jit, pmap, vmap
from tapeless.backends.cpu.runtime import linking, simd_libraries


def wave(x):
    return np.sum(np.sin(x) * np.exp(-x) + np.cos(x) ** 3 / (1 + x * x))


def slope_of_wave(x):
    """By hand."""
    c, s, q = np.cos(x), np.sin(x), 1 + x * x
    return np.exp(-x) * (c - s) - 3 * c * c * s / q - 2 * x * c**3 / q**2


def walk(x, steps):
    total = 0.0
    for _ in range(steps):
        x = 0.5 * x * x if x > 1 else x + 0.3
        total += x
    return total


def products(a):
    return np.sum(a @ np.sin(a)) + np.linalg.det(a[:3, :3])


def picked(x):
    return np.sort(x[x > 0.5])[::-1]


def too_far(x, n):
    total = 0.0
    for k in range(n):
        total += x[k]
    return total


assert not linking.NEAR
assert simd_libraries.tag() == "none"
x = np.linspace(0.1, 2.0, 200_000)
a = np.random.default_rng(0).normal(size=(40, 40))
close = np.testing.assert_allclose
close(jit(wave)(x), wave(x), rtol=1e-12)
close(jit(grad(wave))(x), slope_of_wave(x), rtol=1e-9, atol=1e-12)
close(jit(grad(wave))(x.astype("f4")), slope_of_wave(x), rtol=1e-3, atol=1e-5)
close(jit(vmap(walk, in_axes=(0, None)))(x[:50], 9), [walk(v, 9) for v in x[:50]])
close(jit(products)(a), products(a))
close(jit(picked)(x), picked(x))
close(pmap(lambda v: 2 * np.sin(v))(x[:2]), 2 * np.sin(x[:2]))
try:
    jit(too_far)(x[:3], 4)
except IndexError:
    print("right")
'''


def run(script, **environment):
    """What a script prints."""
    command = [sys.executable, str(script)]
    environment = {**os.environ, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("machine", ["AMD64", "arm64"])
def test_the_other_linker_without_fork_and_simd_libraries(tmp_path, machine):
    script = tmp_path / "elsewhere.py"
    script.write_text(ELSEWHERE.format(machine=machine) + PROGRAMS, encoding="utf-8")
    done = run(
        script,
        TAPELESS_CACHE_DIR=str(tmp_path / "cache"),
        TAPELESS_NUM_THREADS="2",
        TAPELESS_VECMATH="none",
    )
    assert done.stdout == "right\n"


SPAWNED = """
import multiprocessing
import numpy as np
from tapeless import grad, jit, vmap


def weighted(x):
    total = 0.0
    for k in range(len(x)):
        total += np.sin(x[k]) * k
    return total


slope = jit(grad(weighted))


@jit
def square(x):
    return np.sum(x * x)


if __name__ == "__main__":
    lines = [np.arange(3.0), np.arange(4.0)]
    wanted = [np.cos(x) * np.arange(len(x)) for x in lines]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for function in (slope, jit(grad(weighted))):
            for met, want in zip(pool.map(function, lines), wanted, strict=True):
                np.testing.assert_allclose(met, want)
        np.testing.assert_allclose(pool.map(square, lines), [5.0, 14.0])
        (rows,) = pool.map(vmap(grad(weighted)), [np.stack([lines[0]] * 2)])
        np.testing.assert_allclose(rows, [wanted[0]] * 2)
    print("right")
"""


def test_processes_that_are_spawned(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(SPAWNED, encoding="utf-8")
    assert run(script, TAPELESS_CACHE_DIR=str(tmp_path / "cache")).stdout == "right\n"


# -- files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


W, w = np.arange(100.0), 2 * np.arange(100.0)


def Step(x):  # noqa: N802  (the case is what is tested)
    return np.sum(W * x) + np.sum(w * x * x)


def step(x):
    return np.sum(w * x) + np.sum(W * x * x)


def test_names_that_differ_in_case_have_files_of_their_own(folder):
    small, large = np.sum(W), np.sum(w)
    for transform in (grad, lambda f: jit(grad(f))):
        assert transform(Step)(1.0) == small + 2 * large
        assert transform(step)(1.0) == large + 2 * small
    names = [path.name for path in folder.rglob("*.*")]
    assert len(names) == len({name.lower() for name in names}) >= 4


@pytest.mark.filterwarnings("ignore:compiled code is not kept on disk:RuntimeWarning")
@pytest.mark.parametrize("transform", [grad, lambda f: jit(grad(f))], ids=["grad", "jit"])
def test_files_that_cannot_be_replaced(folder, monkeypatch, transform):
    """As on Windows while another process reads them: nothing is lost but the file."""
    replace = os.replace

    def refused(source, target):
        if target.exists():
            raise PermissionError(13, "The process cannot access the file", str(target))
        replace(source, target)

    monkeypatch.setattr(cache.os, "replace", refused)
    assert transform(step)(1.0) == np.sum(w) + 2 * np.sum(W)
    for path in [p for p in folder.rglob("*.*") if p.is_file()]:
        path.write_bytes(b"damaged")
    tapeless.clear_caches()
    assert transform(step)(1.0) == np.sum(w) + 2 * np.sum(W)
    assert not list(folder.rglob("*.tmp"))


SOURCE = '''
import numpy as np


def f(x):
    """Two
    lines."""
    total = 0.0
    for k in range(3):
        total += np.sin(x) \\
            * k
    return total
'''


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CR LF"])
def test_ends_of_lines(tmp_path, start, end):
    path = tmp_path / "lines.py"
    path.write_bytes(start + SOURCE.replace("\n", end).encode())
    spec = importlib.util.spec_from_file_location("lines", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    slope = grad(module.f)
    assert slope(1.0) == pytest.approx(3 * np.cos(1.0))
    assert slope.source() == textwrap.dedent(
        '''\
        import numpy as np


        def f_grad(x):
            """d f / d x.  From lines.py:5."""
            sin_x_bar = 0.0  # line 9
            for k in reversed(range(3)):
                sin_x_bar += 1.0 * k  # line 10
            return sin_x_bar * np.cos(x)
        '''
    )


# -- code for other systems

#: What each has in its C library. `sincos` is glibc's.
C99 = """
    atan2 cbrt cos cosh exp exp2 expm1 fmod hypot log log10 log1p log2 pow sin sinh tan tanh
    free malloc memcpy memset
"""
SYSTEMS = {
    "Windows": ("x86_64-pc-windows-msvc", "-elf", "x86-64-v3", "AMD64"),
    "macOS": ("arm64-apple-macosx14.0", "", "apple-m1", "arm64"),
    "Linux on ARM": ("aarch64-unknown-linux-gnu", "", "generic", "aarch64"),
}


class EmittedError(Exception):
    """Ends a call when its code is there: it is for another machine."""


@pytest.fixture(params=SYSTEMS)
def emitted(request, monkeypatch):
    """The object code that calls emit for another system, collected in a list."""
    triple, objects, processor, machine = SYSTEMS[request.param]
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    monkeypatch.setenv("TAPELESS_VECMATH", "none")
    direct.llvm.initialize_all_targets()
    direct.llvm.initialize_all_asmprinters()
    monkeypatch.setattr(direct.platform, "machine", lambda: machine)
    target = direct.llvm.Target.from_triple(triple + objects).create_target_machine(
        cpu=processor, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )
    monkeypatch.setattr(direct.llvm, "get_process_triple", lambda: triple)
    monkeypatch.setattr(direct, "_machine", lambda: target)
    monkeypatch.setattr(direct, "_processor", lambda: (processor, ""))
    codes, compiled = [], direct.compile_kernel

    def compile_kernel(*args, **options):
        codes.append(compiled(*args, **options))
        raise EmittedError

    for name, module in list(sys.modules.items()):
        if name.startswith("tapeless.") and vars(module).get("compile_kernel") is compiled:
            monkeypatch.setattr(module, "compile_kernel", compile_kernel)
    return codes


def settled(x, steps):
    for _ in range(steps):
        x = 0.5 * x * x if x > 1 else x + 0.3
    return x


def entropy(logits):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(shifted), axis=1)))


def functions(x):
    return np.sum(np.sinh(x) * np.hypot(x, 2) + np.arctan2(x, 3) ** 2.5 + np.cbrt(np.log1p(x)))


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (jit(grad(settled)), (0.7, 20)),
        (jit(grad(entropy)), (np.ones((3, 4)),)),
        (jit(grad(functions)), (np.ones(9),)),
        (jit(grad(functions)), (np.ones(9, np.float32),)),
        (jit(lambda x: np.sort(x[x > 0])), (np.ones(9),)),
    ],
    ids=["scalars", "rows", "functions", "float32", "lengths"],
)
def test_code_for_other_systems(emitted, function, args):
    """It is emitted, and calls nothing but what the system has."""
    function.clear_cache()
    with pytest.raises(EmittedError):
        function(*args)
    functions_of_c = {name + suffix for name in C99.split() for suffix in ("", "f")}
    known = {*linking.API.split(), *functions_of_c}
    assert emitted
    for code in emitted:
        assert code.code[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")
        assert {n for n in code.externals if not n.startswith("tapeless_")} <= known


def test_newer_pythons_have_the_same_code():
    """Python 3.14 has taken out classes of `ast` that astor names: there it is not used, and code
    has other brackets around `not`, nothing else."""
    program = textwrap.dedent("""
        import ast, sys
        hidden = sys.argv[1] == "hidden"
        for name in ("Num", "Str", "Bytes", "NameConstant", "Ellipsis") if hidden else ():
            ast.__dict__.pop(name, None)
            getattr(ast, name, None) and delattr(ast, name)
        if hidden:
            sys.modules["astor"] = None
        import numpy as np
        import tapeless
        from tests.corpus import programs
        for p in programs()[::25]:
            f = tapeless.grad(p.projected(), argnums=p.wrt)
            print(p.name, ast.unparse(ast.parse(f.source(*p.arguments()))), sep="\\n")
    """)
    texts = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, kind],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kind in ("shown", "hidden")
    ]
    assert texts[0].count("def ") > 40
    assert texts[0] == texts[1]
