"""The layout holds: imports point downwards, none in circles, and packages keep their place."""

import ast
import collections
import configparser
import functools
import importlib
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tapeless

pytestmark = pytest.mark.every_case

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "tapeless": "api",
    "tapeless.transforms": "transforms",
    "tapeless.backends": "backends",
    "tapeless.tools": "tools",
}
# Bottom first, a folder a layer. A module belongs to the longest prefix that fits; it imports that
# layer or lower ones.
LAYERS = [
    "tapeless.transforms.dataclass",
    "tapeless.transforms.errors",
    "tapeless.transforms.python_text",
    "tapeless.transforms.core",
    "tapeless.transforms.prelude.containers",
    "tapeless.transforms.prelude.numpy",
    "tapeless.transforms.prelude.ndimage",
    "tapeless.transforms.prelude.sparse",
    "tapeless.transforms.ops.primitives",
    "tapeless.transforms.ops.numpy",
    "tapeless.transforms.ops.special",
    "tapeless.transforms.ops.linalg",
    "tapeless.transforms.ops.fourier",
    "tapeless.transforms.ops.numerics",
    "tapeless.transforms.ops",
    "tapeless.transforms.analysis",
    "tapeless.transforms.optimize.algebra",
    "tapeless.transforms.optimize",
    "tapeless.transforms.checks",
    "tapeless.transforms.memory",
    "tapeless.transforms.autodiff.residuals",
    "tapeless.transforms.autodiff",
    "tapeless.transforms.random_keys",
    "tapeless.transforms.frontend.source",
    "tapeless.transforms.frontend.trace",
    "tapeless.transforms.frontend.arrays",
    "tapeless.transforms.frontend.values",
    "tapeless.transforms.frontend.heap",
    "tapeless.transforms.frontend.effects",
    "tapeless.transforms.frontend.objects",
    "tapeless.transforms.frontend.control_flow",
    "tapeless.transforms.frontend.builtins",
    "tapeless.transforms.frontend.hooks",
    "tapeless.transforms.frontend.staging",
    "tapeless.transforms.emit",
    "tapeless.transforms.lowering.target",
    "tapeless.transforms.lowering.sizes",
    "tapeless.transforms.lowering.rewrite",
    "tapeless.transforms.lowering.products",
    "tapeless.transforms.lowering.distribution",
    "tapeless.transforms.lowering.scalars",
    "tapeless.transforms.lowering.schedule",
    "tapeless.transforms.lowering.lists",
    "tapeless.transforms.lowering.kernels",
    "tapeless.transforms.lowering.optimize",
    "tapeless.transforms.pipelines",
    "tapeless.transforms.emit.writer",
    "tapeless.transforms.emit.module",
    "tapeless.transforms.evaluation",
    "tapeless.transforms.vmap",
    "tapeless.transforms.spmd",
    "tapeless.transforms.lowering",
    "tapeless.transforms.c_text",
    "tapeless.transforms.cuda",
    "tapeless.transforms.c",
    "tapeless.transforms.frontend",
    "tapeless.transforms",
    "tapeless.backends",
    "tapeless.backends.cpu",
    "tapeless.backends.cuda",
    "tapeless.backends.spmd",
    "tapeless",
    "tapeless.tools",
]


def _modules():
    """Module name to the file that holds it."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            found[name] = path
    return found


MODULES = _modules()


@functools.cache
def _tree(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def _running(tree):
    """Every node but those that only type checkers see."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            pending.extend(node.orelse)
            continue
        yield node
        pending.extend(ast.iter_child_nodes(node))


def _imported(nodes):
    """Names of the modules that the nodes import; `from package import module` names the module."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in full)


def _at_import(tree):
    """The statements that run when the module is imported."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        yield node
        pending.extend(ast.iter_child_nodes(node))


def _layer(name):
    fits = [
        (len(prefix), height)
        for height, prefix in enumerate(LAYERS)
        if f"{name}.".startswith(f"{prefix}.")
    ]
    return max(fits)[1]


def _top(name):
    return name.partition(".")[0]


@functools.cache
def _ours(name):
    """The modules of ours that a module imports."""
    imported = _imported(_running(_tree(name)))
    return {other for other in imported if _top(other) == "tapeless"} - {name}


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downwards(name):
    upwards = sorted(other for other in _ours(name) if _layer(other) > _layer(name))
    assert not upwards, f"{name} imports from a layer above its own"


@pytest.mark.parametrize("name", MODULES)
def test_types_and_strings_point_downwards_too(name):
    """Modules of one folder may know each other's types; the public package lists its names."""
    seen = set(_imported(ast.walk(_tree(name)))) | _named_in_strings(name)
    above = {other for other in seen & set(MODULES) if _layer(other) > _layer(name)}
    folder = MODULES[name].parent
    assert not [other for other in above if MODULES[other].parent != folder]


def _named_in_strings(name):
    """The modules of ours that are written as text, to be imported on first use."""
    texts = (n.value for n in ast.walk(_tree(name)) if isinstance(n, ast.Constant))
    return {text for text in texts if isinstance(text, str)} & (set(MODULES) - {"tapeless"})


def test_the_lazy_names_of_the_package_are_there():
    for name, module in tapeless.NAMES.items():
        assert name in vars(importlib.import_module(f"tapeless.{module}"))


@pytest.mark.parametrize("name", MODULES)
def test_imports_name_modules_that_exist(name):
    assert _ours(name) <= set(MODULES)


def test_imports_have_no_cycles():
    TopologicalSorter({name: _ours(name) for name in MODULES}).prepare()


@pytest.mark.parametrize("name", [name for name in MODULES if MODULES[name].stem == "__init__"])
def test_packages_refuse_a_second_name(name):
    body = _tree(name).body
    guard = body[1] if ast.get_docstring(_tree(name)) else body[0]
    prefix = "tapeless" if name == "tapeless" else "tapeless."
    assert isinstance(guard, ast.If), f"{name} lacks the guard"
    assert "__name__" in ast.unparse(guard.test)
    assert repr(prefix)[:-1] in ast.unparse(guard.test)
    assert isinstance(guard.body[0], ast.Raise)


@pytest.mark.parametrize("package", ["gast", "astor"])
def test_ast_libraries_reach_one_file_each(package):
    users = [n for n in MODULES if package in map(_top, _imported(ast.walk(_tree(n))))]
    assert len(users) == 1, f"{package} is imported by {users}"


# Packages whose modules import an optional one, and are imported on first use themselves.
GATES = {"numba": "tapeless.backends.cpu.numba"}


@pytest.mark.parametrize("name", MODULES)
def test_optional_packages_are_imported_on_first_use(name):
    eager = set(_imported(_at_import(_tree(name))))
    behind = {package for package, gate in GATES.items() if name.startswith(f"{gate}.")}
    assert not set(map(_top, eager)) & ({"numba", "cupy", "mpi4py", "matplotlib"} - behind)
    gates = {gate for package, gate in GATES.items() if package not in behind}
    assert not [other for other in eager if other.startswith(tuple(gates or ["-"]))]


#: How many modules a folder holds: more of them cannot be taken in at a glance.
MOST_MODULES = 32


def test_folders_can_be_taken_in_at_a_glance():
    held = collections.Counter(path.parent for path in MODULES.values() if path.stem != "__init__")
    assert not {str(folder): n for folder, n in held.items() if n > MOST_MODULES}


TOP = {
    *(".ci", ".github", ".gitignore", "pyproject.toml", "setup.cfg", "MANIFEST.in"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"),
    *("api", "transforms", "backends", "tools"),
    *("tests", "docs", "examples", "benchmarks", "findings"),
}


def test_the_top_level_holds_nothing_else():
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        pytest.skip(f"the tests run outside of a checkout: {e}")
    names = {path.split("/")[0] for path in listed.stdout.decode().splitlines()}
    assert names == TOP


def test_setup_lists_every_package():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = setup["options"]["packages"].split()
    folders = setup["options"]["package_dir"].strip().splitlines()
    assert sorted(listed) == sorted(n for n in MODULES if MODULES[n].stem == "__init__")
    assert dict(line.split(" = ") for line in folders) == FOLDERS
