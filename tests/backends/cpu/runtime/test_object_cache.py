"""Object code on disk: found again, checked, limited in size, never in the way."""

import os
import warnings

import numpy as np
import pytest

from tapeless.backends import kept_files
from tapeless.backends.cpu import compilations, load
from tapeless.backends.cpu.runtime import object_cache
from tests.backends.cpu.text import HEAD, apart

X = np.linspace(0.0, 1.0, 11)
TEXT = apart("exp(v) + 1")
WANTED = np.exp(X) + 1


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


def cached(text=TEXT, arg=X, **options):
    """Whether a module that is loaded anew finds its code on disk; it must be right in any case."""
    f = load("f", text, **options)
    np.testing.assert_allclose(f(arg), np.exp(arg) + 1, rtol=1e-6)
    return [c.cached for c in compilations(f)]


def test_found_again(folder):
    assert cached() == [False]
    assert cached() == [True]
    assert len(list(folder.iterdir())) == 1


def test_comments_and_the_rest_of_the_module_do_not_matter():
    assert cached() == [False]
    moved = TEXT.replace("v = x[i]", "v = x[i]  # line 7").replace("def f(x):\n", "def f(x):\n\n")
    assert cached(moved) == [True]


def test_what_matters(monkeypatch):
    assert cached() == [False]
    assert cached(TEXT.replace("+ 1", "+ 1.0")) == [False]
    assert cached(arg=X.astype("f4")) == [False]
    assert cached(arg=X[::2]) == [False]
    assert cached(fastmath=True) == [False]
    assert cached(boundscheck=True) == [False]
    constant = TEXT.replace("+ 1", "+ ONE") + "\nONE = 1\n"
    assert cached(constant) == [False]
    assert cached(constant) == [True]
    assert cached(constant.replace("ONE = 1", "ONE = 1.0")) == [False]
    for setting in ("numpy1.0+libmvec2.0", "numpy1.0"):
        monkeypatch.setattr(object_cache.simd_libraries, "tag", lambda setting=setting: setting)
        assert cached() == [False]


def test_types_of_numbers_are_told_apart():
    text = HEAD + "@njit\ndef f(v):\n    return v\n"
    for value in (True, 1.0, 1, 1j, np.float32(1), np.int32(1), np.uint64(1), np.complex64(1)):
        f = load("f", text)
        assert f(value) == value
        assert [c.cached for c in compilations(f)] == [False]


@pytest.mark.parametrize("name", ["numba", "llvmlite", "numpy", "cpu", "setting"])
def test_versions_and_the_cpu_matter(name, monkeypatch):
    assert cached() == [False]
    object_cache._machine.cache_clear()
    if name == "cpu":
        monkeypatch.setattr(object_cache.llvm, "get_host_cpu_name", lambda: "another")
    elif name == "setting":
        monkeypatch.setenv("NUMBA_OPT", "2")
    elif name == "numba":
        monkeypatch.setattr(object_cache, "numba_version", lambda: "9.9")
    else:
        module = {"llvmlite": object_cache.llvmlite, "numpy": object_cache.np}[name]
        monkeypatch.setattr(module, "__version__", "9.9")
    assert cached() == [False]
    object_cache._machine.cache_clear()


def test_the_version_of_numba():
    numba = pytest.importorskip("numba")
    assert numba.__version__ in object_cache.numba_version()


def damage_nothing(content):
    return content


DAMAGES = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "a bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "the head": lambda content: content.replace(b"tapeless_", b"tapelast_", 1),
    "foreign": lambda content: b"\x7fELF" + content,
    "text": lambda content: b"not code\n" * 10,
    "longer": lambda content: content + b"\0" * 7,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_compiled_again(damage, folder):
    assert cached() == [False]
    (path,) = folder.iterdir()
    good = path.read_bytes()
    path.write_bytes(DAMAGES[damage](good))
    assert cached() == [False]
    assert cached() == [True]


def test_code_that_needs_what_the_process_has_not(folder):
    """Object code that calls an unknown function would end the process."""
    assert cached() == [False]
    (path,) = folder.iterdir()
    made = object_cache.read(path)
    object_cache.save(path, object_cache.ObjectCode(made.code, made.symbol, ("no_such_function",)))
    assert cached() == [False]
    assert cached() == [True]


def test_a_file_that_was_left_half_written(folder):
    folder.mkdir(parents=True)
    (folder / "tmpabc.tmp").write_bytes(b"half")
    assert cached() == [False]
    assert cached() == [True]


def test_a_folder_that_cannot_be_written_to_is_said_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "file"))
    kept_files._warn.cache_clear()
    with pytest.warns(RuntimeWarning, match="compiled code is not kept on disk"):
        assert cached() == [False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cached() == [False]
    kept_files._warn.cache_clear()


def test_a_full_disk(monkeypatch):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    kept_files._warn.cache_clear()
    monkeypatch.setattr(kept_files.cache, "write", refuse)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert cached() == [False]
    assert cached(TEXT + "\n") == [False]
    kept_files._warn.cache_clear()


def test_a_folder_of_somebody_else_is_read(monkeypatch):
    def refuse(*args):
        raise PermissionError(1, "Operation not permitted")

    assert cached() == [False]
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(kept_files.cache, "write", refuse)
    assert cached() == [True]


def test_it_can_be_left_out(folder, monkeypatch):
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    assert cached() == [False]
    assert cached() == [False]
    assert not folder.exists()
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "0")
    assert [cached(), cached()] == [[False], [True]]


def test_the_limit_holds_while_code_is_made(folder, monkeypatch):
    def files():
        return [path for path in folder.parent.rglob("*") if path.is_file()]

    cached()
    limit = 1.8 * sum(path.stat().st_size for path in files())
    monkeypatch.setenv("TAPELESS_CACHE_SIZE", str(limit / 1e6))
    for k in range(4):
        assert cached(TEXT.replace("+ 1", f"+ (1 + {k} - {k})")) == [False]
        left = files()
        assert sum(path.stat().st_size for path in left) <= limit
        assert {path.suffix for path in left} == {".object", ".py"}
