"""The public names, their signatures as JAX has them, and what importing them costs."""

import inspect
import subprocess
import sys

import pytest

import tapeless

SIGNATURES = {
    "grad": "fun argnums has_aux holomorphic allow_int reduce_axes argnames",
    "value_and_grad": "fun argnums has_aux holomorphic allow_int reduce_axes argnames",
    "jvp": "fun primals tangents has_aux",
    "vjp": "fun primals has_aux reduce_axes",
    "linearize": "fun primals has_aux",
    "stop_gradient": "x",
    "checkpoint": "fun prevent_cse policy static_argnums static_argnames concrete",
    "remat": "fun prevent_cse policy static_argnums static_argnames concrete",
    "custom_jvp": "fun nondiff_argnums nondiff_argnames",
    "custom_vjp": "fun nondiff_argnums nondiff_argnames",
    "check_grads": "f args order modes atol rtol eps",
    "ravel_pytree": "pytree",
    "jvp_fn": "fun argnums",
    "tree.map": "f tree rest is_leaf",
    "tree.flatten": "tree is_leaf",
    "tree.unflatten": "treedef leaves",
    "tree.leaves": "tree is_leaf",
    "tree.structure": "tree is_leaf",
    "tree.reduce": "function tree initializer is_leaf",
    "tree.transpose": "outer_treedef inner_treedef pytree_to_transpose",
    "tree.register_pytree_node": "nodetype flatten_func unflatten_func",
    "tree.register_dataclass": "nodetype data_fields meta_fields",
}


@pytest.mark.parametrize(("name", "parameters"), SIGNATURES.items())
def test_signatures(name, parameters):
    found = tapeless
    for part in name.split("."):
        found = getattr(found, part)
    assert list(inspect.signature(found).parameters) == parameters.split()


@pytest.mark.parametrize("name", tapeless.__all__)
def test_public_names_are_documented(name):
    assert inspect.getdoc(getattr(tapeless, name))


@pytest.mark.parametrize(
    "name",
    [n for n in tapeless.__all__ if inspect.isfunction(getattr(tapeless, n))],
)
def test_public_functions_have_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(tapeless, name))


def test_optional_and_heavy_packages_are_imported_on_first_use():
    script = "import sys, tapeless; print(*(m.partition('.')[0] for m in sys.modules))"
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert not {"rich", "scipy", "numba", "cupy", "mpi4py"} & set(made.stdout.decode().split())


def test_scipy_is_optional(tmp_path):
    """The command line, compiled code and C without it."""
    (tmp_path / "steps.py").write_text(STEPS)
    without_scipy = "import sys; sys.modules['scipy'] = None\n"
    for command in ("grad", "jit", "export --c -o out"):
        arguments = [*command.split(), "steps.py:total", "--args", "f8[3]"]
        script = f"{without_scipy}sys.argv[1:] = {arguments}\n{RUN_CLI}"
        ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
        assert ended.returncode == 0, ended.stderr.decode()
    script = f"{without_scipy}from steps import total\nimport tapeless, numpy as np\n"
    script += "print(tapeless.jit(tapeless.grad(total))(np.ones(3)))"
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert ended.stdout.decode() == "[8. 8. 8.]\n", ended.stderr.decode()


STEPS = """
import numpy as np

def total(x):
    for _ in range(2):
        x = x * 2.0
    return np.sum(x * x) * 0.25 + np.sum(x) - np.sum(x)
"""
RUN_CLI = "from tapeless.tools.cli import script; sys.exit(script())"


def test_importing_does_no_work(tmp_path):
    script = "import tapeless; tapeless.grad(lambda x: x)"
    folder = tmp_path / "cache"
    env = {"TAPELESS_CACHE_DIR": str(folder), "PATH": ""}
    subprocess.run([sys.executable, "-c", script], check=True, env=env)
    assert not folder.exists()
