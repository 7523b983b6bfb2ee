"""Type checkers see the parameters of functions under transformations: their words are pinned.

mypy is asked where the package is installed as a wheel, as in CI: it does not look through editable
installations. basedpyright, which is pyright with Node.js in a wheel, is of the extra `interplay`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tapeless

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
PROGRAM = FOLDER / "signatures.py"
EDITABLE = Path(tapeless.__file__).is_relative_to(ROOT)
MODULES = re.compile(r"\b(?:numpy|tapeless)\.(?:\w+\.)*(?=\w)")
ARRAY = re.compile(r"ndarray\[(?:tuple\[Any, \.\.\.\]|_AnyShape), dtype\[float64\]\]")


def told(remarks):
    """Remarks (line, text) as lines of text, each after the code that it is about."""
    code = PROGRAM.read_text(encoding="utf-8").splitlines()
    return "".join(
        f"{code[line - 1].strip()}\n    {ARRAY.sub('Floats', MODULES.sub('', text))}\n"
        for line, text in remarks
    )


def pinned(request, name, text):
    file = FOLDER / f"{name}.txt"
    if request.config.getoption("--refresh-goldens"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.skipif(EDITABLE, reason="mypy does not look through editable installations")
def test_mypy(request):
    out = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(PROGRAM)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = re.findall(r"signatures\.py:(\d+): (?:note: Revealed type is|error:) (.*)$", out, re.M)
    pinned(request, "mypy", told((int(line), text) for line, text in found))


def test_pyright(request, tmp_path):
    pytest.importorskip("basedpyright", reason="pip install 'tapeless[interplay]' brings it")
    package = tmp_path / "tapeless"
    package.mkdir()
    for source in (*(ROOT / "api").iterdir(), *(ROOT / n for n in ("transforms", "backends"))):
        (package / source.name).symlink_to(source)
    config = {
        "include": [str(PROGRAM)],
        "extraPaths": [str(tmp_path)],
        "typeCheckingMode": "strict",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = ["basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    out = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    ).stdout
    remarks = [
        (d["range"]["start"]["line"] + 1, d["message"].partition("\n")[0])
        for d in json.loads(out)["generalDiagnostics"]
        if d["severity"] == "information" or d["rule"] in ("reportArgumentType", "reportCallIssue")
    ]
    pinned(request, "pyright", told(remarks))
