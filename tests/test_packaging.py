"""What is installed is what the checkout holds: every module, the type marker, one version."""

import configparser
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tapeless

ROOT = Path(__file__).parents[1]
INSTALLED = Path(tapeless.__file__).parent
FOLDERS = {"api": "", "transforms": "transforms", "backends": "backends", "tools": "tools"}


def _files(folder):
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}


@pytest.mark.skipif(INSTALLED == ROOT / "api", reason="an editable install is the checkout")
def test_wheel_holds_the_checkout():
    checkout = {
        (Path(target) / name).as_posix(): path
        for folder, target in FOLDERS.items()
        for name, path in _files(ROOT / folder).items()
    }
    installed = _files(INSTALLED)
    assert sorted(installed) == sorted(checkout)
    stale = [n for n in checkout if checkout[n].read_bytes() != installed[n].read_bytes()]
    assert not stale, "installed before these files were changed: install again"


def test_all_packages_are_named():
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    folders = [
        (Path("tapeless", target) / path.relative_to(ROOT / folder)).parent
        for folder, target in FOLDERS.items()
        for path in (ROOT / folder).rglob("__init__.py")
    ]
    named = settings["options"]["packages"].split()
    assert sorted(named) == sorted(".".join(folder.parts) for folder in folders)


def test_all_data_is_named():
    """What is no Python is in the wheel only if it is named."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    named = {
        (package, name)
        for package, names in settings["options.package_data"].items()
        for name in names.split()
    }
    kept = {
        (
            ".".join(Path("tapeless", target, path.relative_to(ROOT / folder)).parent.parts),
            path.name,
        )
        for folder, target in FOLDERS.items()
        for path in (ROOT / folder).rglob("*.*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert kept == named


def test_types_are_marked():
    assert (INSTALLED / "py.typed").exists()


def test_one_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert tapeless.__version__ == newest[1] == importlib.metadata.version("tapeless")


def test_only_the_installed_name_imports():
    """From the checkout's own root the folder `transforms` is refused."""
    command = [sys.executable, "-c", "import transforms"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "ImportError: import tapeless.transforms instead of transforms" in run.stderr


def test_import_is_light():
    """Compilers and accelerators wait until they are used."""
    code = "import sys, tapeless; print(*{'numba', 'cupy', 'mpi4py', 'scipy'} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


WITHOUT_SCIPY = """
import sys


class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *where):
        return None if name.partition(".")[0] == "scipy" else self.finder.find_spec(name, *where)


sys.meta_path[:] = map(Without, sys.meta_path)
import numpy as np
from tapeless import grad, jit, vmap


def f(x):
    s = 0.0
    for k in range(3):
        s += np.sum(np.sin(x[k]) * np.median(x)) / (1 + s * s)
    return s / np.linalg.det(np.eye(2) + s)


x = np.ones((3, 4))
for g in (f, grad(f), jit(f), jit(grad(f)), jit(vmap(grad(f)))):
    g(x if "vmap" not in repr(g) else np.stack([x, x]))
print("scipy" in sys.modules)
"""


def test_programs_without_functions_of_scipy_do_not_need_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(WITHOUT_SCIPY)
    command = [sys.executable, str(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["False"], run.stderr
