"""Several processes: a quick start, one cache, other CPUs, forks, and one that is killed."""

import json
import os
import platform
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from tapeless.backends.cpu.runtime import simd_libraries
from tests.backends.cpu.text import apart, module

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses signals and fork")

SCRIPT = """
import json, sys, time
import numpy as np
import tapeless
from tapeless.backends.cpu import load, compilations
TEXT = {text!r}
start = time.process_time()
f = load("f", TEXT)
x = np.linspace(0, 3, 1000)
result = f(x)
seconds = time.process_time() - start
{more}
print(json.dumps(dict(
    seconds=seconds, numba="numba" in sys.modules, cached=[c.cached for c in compilations(f)],
    sum=float(np.sum(result)))))
"""
WANTED = 6366.03134004276  # the sum of exp over the 1000 points, by NumPy


def command(text, more=""):
    return [sys.executable, "-c", SCRIPT.format(text=text, more=more)]


TABLE = module(
    """
    @njit
    def each(x, k):
        return exp(x[k])


    @njit(nogil=True)
    def f_kernel(first, last, x, x_t, out):
        for i in range(first, last):
            for j in range(x.shape[1]):
                if x_t[i, j] > 5.0:
                    raise ValueError("large")
                out[i, j] = each(x[i], j)


    def f(x):
        out = empty((4, 250), x.dtype)
        in_parallel(f_kernel, 4, 250, x.reshape(4, 250), x.reshape(250, 4).T, out)
        return out
    """
)


def run(tmp_path, text, more="", **environment):
    """What a process reports."""
    made = subprocess.run(
        command(text, more),
        env={**os.environ, "TAPELESS_CACHE_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""
    return json.loads(made.stdout)


def raising(args):
    """A module whose kernel raises ValueError if its array begins with 5."""
    test = f"if x[0] == 5.0:\n    raise ValueError({args})"
    return apart("exp(v)\n" + textwrap.indent(test, " " * 16))


def test_a_second_process_starts_quickly_and_without_numba(tmp_path):
    text = TABLE
    first = run(tmp_path, text)
    assert (first["cached"], first["numba"]) == ([False], False)
    assert first["sum"] == pytest.approx(WANTED, rel=1e-12)
    second = min((run(tmp_path, text) for _ in range(3)), key=lambda r: r["seconds"])
    assert (second["cached"], second["numba"]) == ([True], False)
    assert second["sum"] == first["sum"]
    assert second["seconds"] < 0.25


def test_errors_from_cached_code_need_no_numba(tmp_path):
    text = apart(
        'exp(v)\n                if x[0] == 5.0:\n                    raise ValueError("five")'
    )
    more = """
try:
    f(np.full(3, 5.0))
except ValueError as e:
    assert str(e) == "five"
else:
    raise SystemExit("no error")
"""
    assert run(tmp_path, text, more)["cached"] == [False]
    assert run(tmp_path, text, more)["numba"] is False


def test_errors_with_computed_arguments_from_cached_code(tmp_path):
    text = raising('"not", x.shape[0]')
    more = """
try:
    f(np.full(3, 5.0))
except ValueError as e:
    assert e.args == ("not", 3)
else:
    raise SystemExit("no error")
"""
    assert run(tmp_path, text, more)["cached"] == [False]
    assert run(tmp_path, text, more)["cached"] == [True]


def test_code_that_needs_the_run_time_of_numba(tmp_path):
    text = module(
        """
        @njit
        def f_kernel(x, out):
            row = np.empty(x.shape[0])
            for i in range(x.shape[0]):
                row[i] = exp(x[i])
            for i in range(x.shape[0]):
                out[i] = row[i]


        def f(x):
            out = empty(x.shape, x.dtype)
            f_kernel(x, out)
            return out
        """
    )
    for cached in (False, True):
        found = run(tmp_path, text)
        assert found["cached"] == [cached]
        assert found["sum"] == pytest.approx(WANTED, rel=1e-12)


def test_many_processes_fill_one_cache(tmp_path):
    environment = {**os.environ, "TAPELESS_CACHE_DIR": str(tmp_path)}
    begun = [
        subprocess.Popen(command(apart("exp(v)")), env=environment, stdout=-1, stderr=-1, text=True)
        for _ in range(4)
    ]
    found = [p.communicate(timeout=100) for p in begun]
    assert [p.returncode for p in begun] == [0] * 4, found
    assert {json.loads(out)["sum"] for out, _ in found} == {json.loads(found[0][0])["sum"]}
    assert len(list((tmp_path / "compiled").iterdir())) == 1
    assert run(tmp_path, apart("exp(v)"))["cached"] == [True]


def test_a_killed_process_leaves_nothing_in_the_way(tmp_path):
    more = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    slow = "from tapeless.backends import cache; cache.os.replace = lambda *a: " + more.replace(
        "import os, signal; os.kill", "__import__('os').kill"
    ).replace("os.getpid()", "__import__('os').getpid()").replace("signal.SIGKILL", "9")
    code = SCRIPT.format(text=apart("exp(v)"), more="").replace("start =", f"{slow}\nstart =", 1)
    environment = {**os.environ, "TAPELESS_CACHE_DIR": str(tmp_path)}
    made = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert made.returncode == -signal.SIGKILL
    assert run(tmp_path, apart("exp(v)"))["cached"] == [False]
    assert run(tmp_path, apart("exp(v)"))["cached"] == [True]


VECTORS = {"generic": b"_ZGVbN2v_exp2", "haswell": b"_ZGVdN4v_exp2"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names CPUs of x86")
@pytest.mark.parametrize("cpu", ["generic", "haswell"])
def test_another_cpu(tmp_path, cpu):
    """The code for a lesser CPU is kept apart, right, and has the SIMD versions of that CPU."""
    text = apart("exp2(v)")
    run(tmp_path, text)
    found = run(tmp_path, text, NUMBA_CPU_NAME=cpu)
    assert found["cached"] == [False]
    assert found["sum"] == pytest.approx(np.exp2(np.linspace(0, 3, 1000)).sum(), rel=1e-12)
    assert run(tmp_path, text, NUMBA_CPU_NAME=cpu)["cached"] == [True]
    newest = max((tmp_path / "compiled").iterdir(), key=lambda p: p.stat().st_mtime_ns)
    content = newest.read_bytes().split(b"\n", 3)[3]
    if "libmvec" in simd_libraries.tag():
        assert VECTORS[cpu] in content
    assert b"_ZGVe" not in content
    assert (b"_ZGVd" in content) <= (cpu == "haswell")


WIDE = """
from math import exp2
import numpy as np
import tapeless
from tapeless.backends.cpu.numba.compile import compile_kernel
from tapeless.backends.cpu.numba.math_functions import seeing, vectorised_function
from tapeless.backends.cpu.runtime.signature import signature

def f(x, out):
    for i in range(x.shape[0]):
        out[i] = exp2(x[i])

f = seeing(f, {"exp2": vectorised_function(exp2), "__name__": "wide"})
x = np.ones(3)
print(compile_kernel(f, signature((x, x)), {}, "tapeless_wide").code.count(b"__svml_exp28"))
"""


@pytest.mark.skipif("numpy" not in simd_libraries.tag(), reason="this NumPy has no SVML")
def test_code_for_avx512_calls_the_functions_of_numpy():
    """Compiled, not run: it need not be the CPU of this machine."""
    features = ",".join(f"+avx{x}" for x in ("2", "512f", "512dq", "512bw", "512vl"))
    environment = {**os.environ, "NUMBA_CPU_NAME": "znver4", "NUMBA_CPU_FEATURES": features}
    made = subprocess.run(
        [sys.executable, "-c", WIDE], env=environment, capture_output=True, text=True, check=True
    )
    assert int(made.stdout) >= 1


@pytest.mark.parametrize("choice", ["auto", "libmvec", "none"])
def test_choices_of_simd_libraries(tmp_path, choice):
    found = run(tmp_path, apart("exp(v)"), TAPELESS_VECMATH=choice)
    assert found["sum"] == pytest.approx(WANTED, rel=1e-12)
    (path,) = (tmp_path / "compiled").iterdir()
    content = path.read_bytes()
    assert choice != "none" or b"_ZGV" not in content
    assert choice == "auto" or b"__svml" not in content


def test_a_choice_that_does_not_exist(tmp_path):
    environment = {**os.environ, "TAPELESS_CACHE_DIR": str(tmp_path), "TAPELESS_VECMATH": "much"}
    made = subprocess.run(
        command(apart("exp(v)")), env=environment, capture_output=True, text=True, check=False
    )
    assert made.returncode == 1
    assert "TAPELESS_VECMATH is 'much'" in made.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_computes_on(tmp_path):
    """Also with threads at work in the parent, and buffers in the pool."""
    more = """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)
big = np.linspace(0, 3, 2_000_000)
before = f(big)
pid = os.fork()
if pid == 0:
    try:
        same = (f(big) == before).all() and (f(big.astype("f4")) > 0).all()
    finally:
        os._exit(0 if same else 1)
_, status = os.waitpid(pid, 0)
assert status == 0, status
assert (f(big) == before).all()
"""
    found = run(tmp_path, apart("exp(v)"), more, TAPELESS_NUM_THREADS="2")
    assert found["sum"] == pytest.approx(WANTED, rel=1e-12)


def test_an_interrupt_ends_a_wait(tmp_path):
    """Control-C in the middle of parallel work raises KeyboardInterrupt soon after."""
    code = """
import numpy as np, signal, sys, time
from tapeless.backends.cpu.runtime import threads
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored around the tests
def slow(first, last):
    time.sleep(0.02)
print("go", flush=True)
try:
    threads.in_parallel(slow, 100, threads.PART)
except KeyboardInterrupt:
    print("ended", flush=True)
"""
    begun = subprocess.Popen([sys.executable, "-c", code], stdout=-1, text=True)
    assert begun.stdout.readline() == "go\n"
    time.sleep(0.2)
    begun.send_signal(signal.SIGINT)
    out, _ = begun.communicate(timeout=20)
    assert out == "ended\n"


def test_scipys_lapack_stays_as_it_is(tmp_path):
    """SciPy, imported after NumPy's SIMD functions were found, called the LAPACK of NumPy for some
    of its own, which failed."""
    text = """
        import numpy as np
        import tapeless

        x = np.linspace(0, 1, 1000)
        made = tapeless.jit(lambda x: np.sum(np.sin(x) * np.exp(x)))(x)
        np.testing.assert_allclose(made, np.sum(np.sin(x) * np.exp(x)))

        import scipy.linalg

        a = np.arange(12.0).reshape(3, 4)
        u, s, v = scipy.linalg.svd(a)
        np.testing.assert_allclose(u @ np.diag(s) @ v[:3], a, atol=1e-12)
        np.testing.assert_allclose(scipy.linalg.eigvals(np.eye(3) * 2), 2)
        np.testing.assert_allclose(scipy.linalg.solve(np.eye(3) * 2, np.ones(3)), 0.5)
    """
    environment = {**os.environ, "TAPELESS_CACHE_DIR": str(tmp_path)}
    place = tmp_path / "program.py"
    place.write_text(textwrap.dedent(text))
    for _ in range(2):  # the second time, code comes from the cache
        subprocess.run([sys.executable, str(place)], env=environment, check=True)
