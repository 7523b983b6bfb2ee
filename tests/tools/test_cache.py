"""`tapeless cache`: what it shows and removes, and what it leaves alone."""

import os
import re
import time

import pytest

from tapeless.backends import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with two emitted modules, a kernel, a file that was begun, and files of others."""
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    cache.store("f", "x = 1\n")
    cache.store("g", "y = 2\n" * 1000)
    cache.write(cache.compiled_code_folder() / f"f_kernel_{'0a' * 12}.object", b"x" * 2_000_000)
    (cache.folder() / "tmpab12.tmp").write_bytes(b"x" * 400_000)
    for other in ("mine.py", "notes_abc.py", "compiled/data.object"):
        (cache.folder() / other).write_text("keep")
    return cache.folder()


def test_info(tapeless, folder):
    for path in folder.rglob("*.py"):
        os.utime(path, (0, time.mktime((2020, 5, 6, 7, 8, 0, 0, 0, -1))))
    result = tapeless("cache", "info")
    assert result.code == 0
    assert result.out.splitlines() == [
        str(folder),
        "  emitted modules        2 files       0.0 MB, last used 2020-05-06 07:08",
        re.search("  compiled kernels       1 files       2.0 MB, last used .*", result.out)[0],
        "  staged functions       0 files       0.0 MB",
        re.search("  unfinished files       1 files       0.4 MB, last used .*", result.out)[0],
        "  all                    4 files       2.4 MB of 256 MB that may be kept",
    ]


def test_clear(tapeless, folder):
    result = tapeless("cache", "clear")
    assert (result.code, result.out) == (0, "removed 4 files, 2.4 MB\n")
    left = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert left == ["compiled/data.object", "mine.py", "notes_abc.py"]
    assert tapeless("cache", "clear").out == "removed 0 files, 0.0 MB\n"


def test_a_cache_that_is_not_there(tapeless, tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("TAPELESS_CACHE_SIZE", "1.5")
    assert tapeless("cache", "info").out.splitlines()[1:] == [
        "  emitted modules        0 files       0.0 MB",
        "  compiled kernels       0 files       0.0 MB",
        "  staged functions       0 files       0.0 MB",
        "  unfinished files       0 files       0.0 MB",
        "  all                    0 files       0.0 MB of 1.5 MB that may be kept",
    ]
    assert tapeless("cache", "clear").code == 0
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_removed_is_named(tapeless, folder, monkeypatch):
    def refuse(self, missing_ok=False):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(cache.Path, "unlink", refuse)
    result = tapeless("cache", "clear")
    assert result.code == 1
    assert result.out.startswith("removed 0 files, 0.0 MB\n  kept ")
    assert result.out.count("Permission denied") == 4


@pytest.mark.parametrize("argv", [(), ("empty",)])
def test_other_requests_are_not_understood(tapeless, argv):
    assert tapeless("cache", *argv).code == 2
