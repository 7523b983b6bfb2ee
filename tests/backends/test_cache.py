"""The cache folder: where it is, and what happens when it cannot be used."""

import os
import subprocess
import sys
import threading
import time

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
    number = first.stat().st_ino
    assert cache.store("f", TEXT) == first
    assert first.stat().st_ino == number
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

    monkeypatch.setattr(cache, "_write_if_changed", refuse)
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
        cache._write_if_changed(folder / "f.py", b"text")
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


def test_a_folder_that_is_emptied_meanwhile(folder, monkeypatch):
    emptied, replace = [], os.replace

    def late(temporary, path):
        if not emptied:
            emptied.append(temporary)
            temporary.unlink()
        replace(temporary, path)

    monkeypatch.setattr(cache.os, "replace", late)
    assert cache.store("f", TEXT).parent == folder
    assert emptied


# -- its size


def used(path, ago, size=100):
    """A file that was used some seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - ago,) * 2)
    return path


def left(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def full(folder):
    """Files of each kind and of others, the one that was used last first."""
    names = ("k", "f", "g", "h")
    kinds = ("compiled/{}_{}.object", "{}_{}.py", "compiled/{}_{}.staged", "{}_{}.py")
    digests = ("0a" * 12, "0a" * 6, "0a" * 12, "0a" * 6)
    made = [
        used(folder / kind.format(name, digest), 10 * k + 10)
        for k, (name, kind, digest) in enumerate(zip(names, kinds, digests, strict=True))
    ]
    return [*made, used(folder / "mine.py", 1e6), used(folder / "compiled" / "data.object", 1e6)]


@pytest.mark.parametrize("kept", range(5))
def test_what_was_not_used_for_longest_is_removed(folder, full, kept):
    cache.trim(100 * kept + 50)
    assert left(folder) == {*full[:kept], *full[4:]}


def test_what_is_read_and_what_is_stored_again_is_used(folder, full):
    cache.read(full[3])
    stored = cache.store("s", TEXT)
    os.utime(stored, (1, 1))
    assert cache.store("s", TEXT) == stored
    cache.trim(100 + len(TEXT))
    assert left(folder) == {full[3], stored, *full[4:]}


def test_what_was_begun_counts_and_stays_for_an_hour(folder, full):
    fresh = used(folder / "compiled" / "tmp0b.tmp", 5)
    slow, dead = used(folder / "tmp0c.tmp", 3500), used(folder / "tmp0d.tmp", 3700)
    cache.trim(250)
    assert left(folder) == {fresh, slow, full[0], *full[4:]}
    assert not dead.exists()


def test_emitted_modules_are_limited(folder, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_SIZE", "0.01")
    for k in range(50):
        newest = cache.store("f", f"x = {k:04}\n" * 100)
        assert newest in left(folder)
        assert sum(path.stat().st_size for path in left(folder)) <= 10_000
    assert len(left(folder)) > 5


def test_the_folder_is_not_listed_for_each_file(folder, monkeypatch):
    looked = []
    monkeypatch.setattr(cache, "trim", looked.append)
    for k in range(50):
        cache.store("f", f"x = {k}\n")
    assert looked == [248e6]


def test_files_of_somebody_else_are_passed_over(folder, full, monkeypatch):
    unlink = cache.Path.unlink

    def refuse(self, missing_ok=False):
        if self in (full[1], full[2]):
            raise PermissionError(13, "Permission denied")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(cache.Path, "unlink", refuse)
    cache.trim(150)
    assert left(folder) == {*full[:3], *full[4:]}


def test_many_processes_keep_the_limit(folder):
    """Each may write a share of the limit before it looks again."""
    code = (
        "from tapeless.backends import cache\n"
        "import os\n"
        "for k in range(60):\n"
        "    cache.store('f', f'x = {os.getpid()}, {k:04}\\n' * 100)\n"
    )
    environment = {**os.environ, "TAPELESS_CACHE_SIZE": "0.02"}
    begun = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=-1) for _ in range(3)
    ]
    assert [(p.communicate(timeout=60)[1], p.returncode) for p in begun] == [(b"", 0)] * 3
    assert 10_000 < sum(path.stat().st_size for path in left(folder)) < 20_000 + 3 * 2_500
    assert {path.suffix for path in left(folder)} == {".py"}


@pytest.mark.parametrize(
    ("given", "wanted"), [("", 256e6), ("10", 10e6), ("1.5", 1.5e6), ("much", 256e6)]
)
def test_limits(given, wanted, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_SIZE", given)
    assert cache.limit() == wanted
