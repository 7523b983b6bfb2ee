"""The cache folder: where it is, and what happens when it cannot be used."""

import os
import threading

import numpy as np
import pytest

from tapeless import grad
from tapeless.backends import cache

TEXT = "x = 1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_folder_is_the_given_one(folder):
    assert cache.folder() == folder


@pytest.mark.parametrize(
    ("platform", "variable", "wanted"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/tapeless"),
        ("linux", {}, "/home/u/.cache/tapeless"),
        ("darwin", {}, "/home/u/Library/Caches/tapeless"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/tapeless"),
        ("win32", {}, "/home/u/tapeless"),
    ],
)
def test_the_folder_of_each_platform(monkeypatch, platform, variable, wanted):
    for name in ("TAPELESS_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setattr(cache.sys, "platform", platform)
    assert cache.folder().as_posix() == wanted


def test_relative_folders_and_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TAPELESS_CACHE_DIR", "here")
    assert cache.folder() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TAPELESS_CACHE_DIR", "~/there")
    assert cache.folder() == tmp_path / "there"


def test_the_same_text_is_the_same_file(folder):
    first = cache.store("f", TEXT)
    assert first.parent == folder
    assert first.read_text() == TEXT
    stamp = first.stat().st_mtime_ns
    assert cache.store("f", TEXT) == first
    assert first.stat().st_mtime_ns == stamp
    assert cache.store("f", TEXT + "\n") != first
    assert cache.store("g", TEXT) != first
    assert not list(folder.glob("*.tmp"))


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"x = 2\n"])
def test_damaged_files_are_written_again(folder, damage):
    path = cache.store("f", TEXT)
    path.write_bytes(damage)
    assert cache.store("f", TEXT) == path
    assert path.read_text() == TEXT


@pytest.mark.parametrize("name", ["größe", "f" * 400, "a/b", "<lambda>"])
def test_names_that_are_no_file_names(folder, name):
    path = cache.store(name, TEXT)
    assert path.parent == folder
    assert path.name.isascii()
    assert len(path.name) < 100


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "file"))
    path = cache.store("f", TEXT)
    assert path.parent == cache.private_folder()
    assert path.read_text() == TEXT
    assert path.parent.stat().st_mode & 0o077 == 0
    assert grad(lambda x: x * 1.5)(2.0) == 1.5


def test_no_folder_at_all(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError

    monkeypatch.setattr(cache, "_stored", refuse)
    assert cache.store("f", TEXT) is None
    slope = grad(lambda x: np.log(x) * 0.75)
    assert slope(3.0) == 0.25
    with pytest.raises(FloatingPointError) as e, np.errstate(all="raise"):
        slope(np.float64(0.0))
    assert "while running the grad of function" in e.value.__notes__[0]


def test_what_was_begun_is_cleaned_up(folder, monkeypatch):
    def refuse(*args):
        raise OSError("disk full")

    monkeypatch.setattr(cache.os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        cache._stored(folder / "f.py", b"text")
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions are others on Windows")
def test_the_process_says_who_may_read_a_file(folder):
    before = os.umask(0o027)
    try:
        assert cache.store("f", TEXT).stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


def test_many_writers(folder):
    found = []
    barrier = threading.Barrier(8)

    def write():
        barrier.wait(timeout=10)
        found.append(cache.store("f", TEXT * 1000))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=20)
    assert len(set(found)) == 1
    assert found[0].read_text() == TEXT * 1000
    assert os.listdir(folder) == [found[0].name]
