"""What the documents show is what happens: every code block runs and prints what they say.

A ```python block is run, after those before it on its page, as a file, so that errors and sources
have line numbers; a ```text or ```python block that is introduced by a line ending in "prints:"
or "prints" is what the block before it printed.  In a ```console block a line after `$ ` is
typed in a folder that holds the files that the page shows ("With this file, `models.py`:"),
and the lines below are its output, where `...` stands for anything.  With --refresh-goldens
the outputs without `...` that follow a ```python block are written anew.
"""

import contextlib
import io
import linecache
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tapeless
from tapeless.tools.cli import main

pytestmark = pytest.mark.every_case

ROOT = Path(__file__).parents[1]
#: Pages without code to be run; tests of their own compare two of them with what they tell of.
TABLES = {f"docs/{name}.md" for name in ("c", "census", "from-jax", "numpy")}
FOLDERS = ("docs", "docs/start")
DOCUMENTS = {f"{folder}/{path.name}" for folder in FOLDERS for path in (ROOT / folder).glob("*.md")}
PAGES = ["README.md", *sorted(DOCUMENTS - TABLES)]
#: What pages are about, where CI does without it.
NEEDED = {"docs/pymc.md": "pymc", "docs/pytorch.md": "torch"}
LINKED = [
    *PAGES,
    *sorted(TABLES),
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "examples/README.md",
    "benchmarks/README.md",
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "text", "console", "sh"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, the last line of prose before it, and where it stands."""

    language: str
    text: str
    before: str
    start: int
    end: int

    @property
    def printed(self):
        return self.before.rstrip(":").endswith("prints") and self.language in ("python", "text")

    @property
    def file(self):
        named = re.search(r"this file, `(\w+\.py)`:$", self.before)
        return named[1] if named and self.language == "python" else None


def blocks(page):
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found, at = [], 0
    for m in FENCE.finditer(text):
        prose = [line for line in text[at : m.start()].splitlines() if line.strip()]
        found.append(Block(m[1], m[2], prose[-1] if prose else "", m.start(2), m.end(2)))
        at = m.end()
    return found


def run_python(source, namespace, file):
    """What the source prints, run as the file of that name would be."""
    linecache.cache[str(file)] = (len(source), None, source.splitlines(keepends=True), str(file))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), tapeless.strict(False):
        exec(compile(source, str(file), "exec"), namespace)
    return printed.getvalue()


def run_command(line):
    """What `tapeless ...` leaves on a terminal."""
    name, *argv = shlex.split(line)
    assert name == "tapeless"
    out = io.StringIO()
    redirected = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
    with redirected[0], redirected[1], tapeless.strict(False):
        code = main(argv)
    return out.getvalue() + (f"(exit code {code})\n" if code else "")


def fits(wanted, met):
    """Whether the text is the wanted one, where `...` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in wanted.strip().split("..."))
    return re.fullmatch(pattern, met.strip(), re.DOTALL) is not None


def write_anew(page, outputs):
    """Puts what was printed into the places of blocks, the last one first."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block, printed in reversed(outputs):
        text = f"{text[: block.start]}{printed.strip()}\n{text[block.end :]}"
    (ROOT / page).write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page, folder, request):
    if page in NEEDED:
        pytest.importorskip(NEEDED[page], reason="pip install 'tapeless[interplay]' brings it")
    refresh, outputs = request.config.getoption("--refresh-goldens"), []
    namespace, printed = {"__name__": "__main__"}, None
    for number, block in enumerate(blocks(page)):
        assert block.language in LANGUAGES, f"{page}: a block of unknown language"
        if block.printed and refresh and "..." not in block.text:
            outputs.append((block, printed))
        elif block.printed:
            assert fits(block.text, printed), f"{page} shows\n{block.text}\nbut it is\n{printed}"
        elif block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            named = re.search(r"`(\w+\.py)`", block.before)
            file = folder / (named[1] if named else f"{Path(page).stem}_{number}.py")
            printed = run_python(block.text, namespace, file)
        elif block.language == "console":
            for session in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                line, _, wanted = session.partition("\n")
                met = run_command(line)
                assert fits(wanted, met), f"{page}: {line} shows\n{wanted}\nbut it is\n{met}"
    if outputs:
        write_anew(page, outputs)


def example_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    inside = text[text.index("<!-- example:begin -->") : text.index("<!-- example:end -->")]
    first, second = FENCE.finditer(inside)
    return text, first[2], second[2]


def test_the_example_of_the_readme_is_what_is_emitted(request, folder):
    text, source, shown = example_of_the_readme()
    printed = run_python(source, {}, folder / "kepler.py").strip() + "\n"
    if request.config.getoption("--refresh-goldens"):
        (ROOT / "README.md").write_text(text.replace(shown, printed), encoding="utf-8")
        return
    assert printed == shown


def test_the_example_of_the_readme_is_right(folder):
    """By the implicit function theorem dx/de = sin x / (1 - e cos x)."""
    _, source, shown = example_of_the_readme()
    example, emitted = {}, {}
    run_python(source, example, folder / "kepler.py")
    exec(shown, emitted)
    for mean, e in ((0.7, 0.3), (2.0, 0.9), (3.0, 0.0)):
        x = example["anomaly"](mean, e)
        assert x - e * np.sin(x) == pytest.approx(mean, rel=1e-12)
        exact = np.sin(x) / (1 - e * np.cos(x))
        assert emitted["anomaly_grad"](mean, e) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_somewhere(page):
    path = ROOT / page
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{page} links to {target}"


def test_commands_of_the_readme():
    """Two set-up commands: the main job, and the tests, which CI takes from there."""
    commands = [b.text.strip() for b in blocks("README.md") if b.language == "sh"]
    jobs = [c for c in commands if "pip install" in c]
    assert len(jobs) == 2
    assert all("\n" not in job for job in jobs)
    (script,) = re.findall(r"examples/\w+\.py", jobs[0])
    assert (ROOT / script).exists()
    assert re.search(r"\.venv/bin/pytest[^&]*$", jobs[1])
