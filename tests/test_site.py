"""The site is built of the documents without a warning, and has a page for each public module."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tapeless

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs/site"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    pytest.importorskip("material", reason="MkDocs is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    options = ["--strict", "-f", str(SITE / "mkdocs.yml"), "-d", str(folder)]
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *options],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    log = run.stdout + run.stderr
    assert run.returncode == 0, log
    assert not re.findall("^.*warning.*$", log, re.MULTILINE | re.IGNORECASE), (
        log
    )  # --quiet hides them
    return folder


@pytest.mark.parametrize("page", ["", "start/numpy", "gallery", "about", "benchmarks", "CHANGELOG"])
def test_pages(site, page):
    assert (site / page / "index.html").is_file()


@pytest.mark.parametrize("name", sorted(tapeless.MODULES))
def test_every_public_module_has_a_page(site, name):
    text = (site / "api" / f"tapeless.{name}" / "index.html").read_text(encoding="utf-8")
    assert f">tapeless.{name}<" in text


def test_transformations_have_their_docstrings(site):
    text = (site / "api/tapeless/index.html").read_text(encoding="utf-8")
    for name in ("grad", "vmap", "jit", "vjp", "jvp", "linearize", "pmap"):
        assert f'<h2 id="{name}">' in text
    assert "The gradient of a function that returns one number." in text


def test_search_finds_functions(site):
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    titles = {entry["title"] for entry in index["docs"]}
    assert {"grad", "vmap", "cond", "From NumPy", "Gallery"} <= titles


def test_nothing_is_loaded_from_elsewhere(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="http' not in text
    assert "fonts.googleapis" not in text


def _module(name):
    spec = importlib.util.spec_from_file_location(name, SITE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCSTRING = """Sums *args, a[i](x).

x, y   numbers; of `a_b`
       two of them
flag   whether

    text as it is

>>> 1 + 1
2
"""
MARKDOWN = r"""Sums \*args, a\[i\](x).

- `x`, `y`: numbers; of `a_b`
    two of them
- `flag`: whether

```text
text as it is
```

```pycon
>>> 1 + 1
2
```"""


def test_docstrings_become_markdown():
    assert _module("docstrings").to_markdown(DOCSTRING) == MARKDOWN


def test_signatures_are_shown_as_they_are_written():
    shown = _module("signatures").shown

    def short(x, /, y: int = 1, *, mode: Any = "VALID", default=object()): ...  # noqa: B008

    assert shown("short", short) == "short(x, /, y: int = 1, *, mode='VALID', default=...)"
    assert shown("grad", tapeless.grad).splitlines()[1:3] == [
        "    fun: Callable[P, Any],",
        "    argnums: int | Sequence[int] = 0,",
    ]
    assert "    *," in shown("grad", tapeless.grad).splitlines()
    assert shown("nothing", object()) == ""
