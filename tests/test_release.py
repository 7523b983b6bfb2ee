"""Recipe, workflows and scripts of a release agree with setup.cfg; the changelog can be made."""

import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tapeless

ROOT = Path(__file__).parents[1]
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
FRAGMENTS = sorted((ROOT / "docs/changes").glob("*.md"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
KINDS = ["added", "changed", "deprecated", "removed", "fixed"]


def _yaml(path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install '.[docs]'")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _without_spaces(requirement):
    return requirement.partition(";")[0].replace(" ", "")


def test_the_recipe_of_conda_asks_for_the_same():
    recipe = _yaml(ROOT / ".ci/conda/recipe.yaml")
    asked = {_without_spaces(r) for r in recipe["requirements"]["run"]}
    wanted = SETUP["options"]["install_requires"].strip().splitlines()
    python = f"python{SETUP['options']['python_requires']}"
    assert asked == {python, *map(_without_spaces, wanted)}
    (script,) = SETUP["options.entry_points"]["console_scripts"].strip().splitlines()
    assert recipe["build"]["python"]["entry_points"] == [script]
    assert recipe["context"]["version"] == tapeless.__version__
    assert recipe["about"]["license"] == SETUP["metadata"]["license_expression"]
    assert recipe["about"]["summary"] == SETUP["metadata"]["description"]


def _versions_of_python():
    classifiers = SETUP["metadata"]["classifiers"]
    return re.findall(r"Programming Language :: Python :: (3\.\d+)", classifiers)


def test_continuous_integration_runs_on_all_that_is_promised():
    jobs = _yaml(ROOT / ".github/workflows/ci.yml")["jobs"]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == _versions_of_python()
    systems = " ".join(jobs["others"]["strategy"]["matrix"]["system"])
    assert all(name in systems for name in ("macos", "windows", "arm"))
    steps = _yaml(ROOT / ".github/workflows/release.yml")["jobs"]["build"]["steps"]
    (python,) = (s["with"]["python-version"] for s in steps if "python" in s.get("uses", ""))
    assert python.split() == _versions_of_python()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_name_files_that_exist(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"(?<![\w/])(?:\.ci|docs|tests)/[\w./]+", text):
        assert (ROOT / name).exists(), name


@pytest.mark.skipif(sys.platform == "win32", reason="files of Windows are not executable")
@pytest.mark.parametrize("name", ["run", "release"])
def test_scripts_are_read_by_bash(name):
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / name)], check=True)
    assert (ROOT / ".ci" / name).stat().st_mode & 0o100


def test_a_release_tries_each_extra():
    text = (ROOT / ".ci/release").read_text(encoding="utf-8")
    (tried,) = re.findall(r'EXTRAS-"([\w ]+)"', text)
    assert {*tried.split()} - {"none"} == {*SETUP["options.extras_require"]}


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.stem)
def test_fragments_of_the_changelog(path):
    assert re.fullmatch(rf"\+[\w-]+\.({'|'.join(KINDS)})\.md", path.name)
    text = path.read_text(encoding="utf-8").strip()
    assert text.endswith((".", ").")), "sentences, as in CHANGELOG.md"
    assert "\n" not in text


def test_the_changelog_can_be_put_together():
    pytest.importorskip("towncrier", reason="towncrier is not installed: pip install '.[release]'")
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(r"^## 9\.9\.9 \(\d{4}-\d\d-\d\d\)$", done.stdout, re.MULTILINE)
    for path in FRAGMENTS:
        assert f"- {path.read_text(encoding='utf-8').strip()}\n" in done.stdout
