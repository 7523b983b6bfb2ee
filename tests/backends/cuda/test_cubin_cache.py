"""Machine code for GPUs on disk: named by content, checked, never in the way."""

import multiprocessing
import os
import warnings
from pathlib import Path

import pytest

from tapeless.backends import cache, kept_files
from tapeless.backends.cuda import cubin_cache

CODE = bytes(range(256)) * 50


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TAPELESS_DISABLE_CACHE", raising=False)
    return tmp_path / "cache" / "compiled"


def found(*parts, code=CODE):
    return cubin_cache.load_or_compile("softmax", parts or ("text", "90", "13.0"), lambda: code)


def test_found_again(folder):
    assert found() == (CODE, False)
    assert found(code=b"not compiled") == (CODE, True)
    (file,) = folder.iterdir()
    assert file.name.startswith("softmax_")
    assert file in cache.contents()["compiled kernels"]


@pytest.mark.parametrize(
    "other", [("text ", "90", "13.0"), ("text", "100", "13.0"), ("text", "90", "13.1")]
)
def test_all_that_code_depends_on_is_in_the_name(other):
    found()
    assert found(*other, code=b"other") == (b"other", False)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-1],
        lambda whole: whole[:100] + b"\x00" + whole[101:],
        lambda whole: b"",
        lambda whole: b"tapeless object code\n" + whole.partition(b"\n")[2],
        lambda whole: whole + b"\x00",
    ],
)
def test_damaged_files_are_compiled_again(folder, damage):
    found()
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert found() == (CODE, False)
    assert found() == (CODE, True)


def test_no_cache(folder, monkeypatch):
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    assert found() == found() == (CODE, False)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_to(monkeypatch):
    def refuse(*args):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(kept_files.cache, "write", refuse)
    kept_files._warn.cache_clear()
    with pytest.warns(RuntimeWarning, match="not kept on disk .Read-only file system"):
        assert found() == (CODE, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found() == (CODE, False)
    kept_files._warn.cache_clear()


def _write(folder, k):
    os.environ["TAPELESS_CACHE_DIR"] = folder
    for n in range(40):
        code, _ = cubin_cache.load_or_compile("f", (f"text {n}",), lambda n=n: bytes([n]) * 10_000)
        assert code == bytes([n]) * 10_000


def test_processes_that_write_at_once(folder, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[3])  # where the processes find this module
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(str(folder.parent), k)) for k in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(list(folder.glob("*.cubin"))) == 40
    assert not list(folder.glob("*.tmp"))
