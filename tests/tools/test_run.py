"""`tapeless run`: the script's arguments, its exit code, and what is kept."""

import pytest

from tapeless.tools.run import description, keep

SCRIPT = """\
import os
import pathlib
import sys

print(*sys.argv[1:], file=open("seen.txt", "w"))
cache = pathlib.Path(os.environ["TAPELESS_CACHE_DIR"])
(cache / "deep").mkdir()
(cache / "deep" / "f_grad.py").write_text('def f_grad(x):\\n    "d f / d x."\\n')
(cache / "compiled.bin").write_bytes(b"0")
sys.exit("--fail" in sys.argv)
"""


@pytest.fixture
def script(models):
    path = models / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize(
    ("argv", "seen"),
    [
        (("script.py", "--emit", "out"), ""),
        (("script.py", "--lr", "0.1", "a", "--emit", "out", "-v", "b"), "--lr 0.1 a -v b"),
        (("script.py", "--emit=out", "--em", "x"), "--em x"),
        (("--emit", "out", "script.py", "--emit", "mine", "-h"), "--emit mine -h"),
    ],
)
def test_the_script_gets_its_arguments(tapeless, script, argv, seen):
    result = tapeless("run", *argv)
    assert result.code == 0, result.err
    assert (script.parent / "seen.txt").read_text().strip() == seen
    out = script.parent / "out"
    assert sorted(path.name for path in out.rglob("*.*")) == ["INDEX.md", "f_grad.py"]
    assert "- [deep/f_grad.py](deep/f_grad.py): d f / d x." in (out / "INDEX.md").read_text()


def test_a_failing_script_leaves_with_1_and_its_sources(tapeless, script):
    result = tapeless("run", "script.py", "--fail", "--emit", "out")
    assert result.code == 1
    assert (script.parent / "out" / "deep" / "f_grad.py").exists()


def test_index_of_nothing(tmp_path):
    (tmp_path / "cache").mkdir()
    assert keep(tmp_path / "cache", tmp_path / "out") == 0
    assert (tmp_path / "out" / "INDEX.md").read_text() == "# Emitted modules\n\n"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""Of the module.\n\nMore."""\n', "Of the module."),
        ('def f(x, y):\n    """Of f."""\n', "Of f. NumPy: `f(x, y)`."),
        (
            "from numba import njit\n"
            'def in_parallel():\n    """Of ours."""\ndef f(x):\n    """Of f."""\n',
            "Of f. Compiled loops: `f(x)`.",
        ),
        ('def m(x):\n    """First."""\ndef back(y):\n    """Second."""\n', "First. NumPy: `m(x)`."),
        ("x = 1\n", "no description"),
    ],
)
def test_about(tmp_path, source, line):
    (tmp_path / "m_123abc.py").write_text(source)
    assert description(tmp_path / "m_123abc.py") == line


def test_emitted_sources_are_kept(tapeless, models):
    """With the engine: a script that differentiates."""
    (models / "train.py").write_text(
        "import tapeless\nfrom models import logistic\n\nslope = tapeless.grad(logistic)\n"
        "print(slope(1.0), tapeless.jit(slope)(1.0))\n"
    )
    result = tapeless("run", "train.py", "--emit", "out")
    assert result.code == 0, result.err
    index = (models / "out" / "INDEX.md").read_text()
    assert "d logistic / d x.  From models.py:6. NumPy: `logistic_grad(x)`." in index
    assert "d logistic / d x.  From models.py:6. Compiled loops: `logistic_grad(x)`." in index
