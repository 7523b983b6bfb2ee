"""Products of the BLAS: where they are found, and object code that names them."""

import subprocess
import sys

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.numba import matrix_products
from tapeless.backends.cpu.runtime import blas, products

RUN = """
import numpy as np
from tapeless import jit
f = jit(lambda a, b: np.tanh(a @ b))
a, b = np.ones((20, 30)), np.full((30, 40), 0.01)
assert np.allclose(f(a, b), np.tanh(a @ b), rtol=1e-12)
print(f.compilations[0].cached)
"""


def check():
    f = jit(lambda a, b: np.tanh(a @ b) + 1)
    for n in (2, 30):
        a, b = np.arange(n * n).reshape(n, n) / n**3, np.eye(n)[::-1] * 2.0
        np.testing.assert_allclose(f(a, b), np.tanh(a @ b) + 1, rtol=1e-12)


def test_another_process_finds_the_products(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    program = tmp_path / "program.py"
    program.write_text(RUN)
    found = [
        subprocess.run([sys.executable, program], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [each.stdout.strip() for each in found] == ["False", "True"]


def forget():
    blas.library_of_products.cache_clear()
    blas.threads.cache_clear()
    products.width.cache_clear()


@pytest.fixture
def fresh(monkeypatch):
    """Kernels are compiled anew, and functions in them, too."""
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    forget()
    yield monkeypatch
    forget()


def test_products_of_scipy(fresh):
    pytest.importorskip("scipy", reason="its products are what is tested")
    fresh.setattr(blas, "_numpys", lambda: None)
    assert products.width() == 32
    check()


def test_without_any(fresh):
    fresh.setattr(blas, "_candidates", lambda: iter(()))
    assert products.width() is None
    check()


def test_names():
    assert blas.needs_blas(["malloc", blas.symbol("d", 64)])
    assert not blas.needs_blas(["malloc", "cblas_dgemm", "tapeless_dgemm"])
    assert matrix_products.product.__name__ == "product"


LAYOUTS = {
    "rows": lambda a: a,
    "turned": lambda a: np.asfortranarray(a),
    "parts": lambda a: np.repeat(a, 2, axis=0)[::2],
    "copied": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(999, 32, 31), (30, 3001, 29), (65, 70, 64), (70, 4097, 1)])
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_products_made_in_blocks(first, second, shape, dtype, rng):
    """With one small matrix, so that the threads of the BLAS do not wait for one another."""
    m, k, n = shape

    @jit
    def f(a, b):
        return np.abs(a @ b) + 1

    a = LAYOUTS[first](rng.normal(size=(m, k)).astype(dtype))
    b = LAYOUTS[second](rng.normal(size=(k, n)).astype(dtype))
    want = np.abs(a.astype("f8") @ b.astype("f8")) + 1
    scale = np.sqrt(k) * (1e-5 if dtype == "f4" else 1e-13)
    np.testing.assert_allclose(f(a, b), want, rtol=0, atol=scale)
