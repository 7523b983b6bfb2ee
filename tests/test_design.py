"""What docs/design.md and CONTRIBUTING say of the code is so."""

import dataclasses
import re
from pathlib import Path

import pytest

from tapeless.transforms.core.operation import Op

pytestmark = pytest.mark.every_case

ROOT = Path(__file__).parents[1]
DESIGN = (ROOT / "docs/design.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TREE = dict(re.findall(r"^\| `([\w/]+)` \| [^|]+ \| ([\w ]+) \|$", DESIGN, re.MULTILINE))
FIELDS = [field.name for field in dataclasses.fields(Op)]


@pytest.mark.parametrize("folder", TREE)
def test_the_tree_lists_the_files_of_a_folder(folder):
    files = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__", "__main__"}
    assert TREE[folder].split() == sorted(files)


def test_the_tree_lists_all_folders_of_transforms_and_backends():
    packages = {
        path.parent.relative_to(ROOT).as_posix()
        for top in ("transforms", "backends")
        for path in (ROOT / top).rglob("__init__.py")
        if any(p.stem != "__init__" for p in path.parent.glob("*.py"))
    }
    assert packages <= set(TREE)


def test_files_that_the_documents_name_exist():
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")}
    for text in (DESIGN, CONTRIBUTING):
        for name in re.findall(r"`((?:\w+/)*\w+\.py)`", text):
            assert any(f"/{file}".endswith(f"/{name}") for file in files), name


@pytest.mark.parametrize("field", FIELDS)
def test_fields_of_operations_are_described(field):
    assert re.search(rf"^    {field} +", Op.__doc__, re.MULTILINE)


FUSED = ("scalar", "costly", "finite", "speculative", "simplify", "batch", "word")


@pytest.mark.parametrize("field", FUSED)
def test_what_a_fused_operation_needs_is_told(field):
    assert field in FIELDS
    assert f"| `{field}` |" in CONTRIBUTING
