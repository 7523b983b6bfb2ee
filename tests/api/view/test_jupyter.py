"""A notebook in Jupyter's own kernel: cells that are run again, modules that are reloaded, HTML."""

import ast

import pytest

pytest.importorskip("ipykernel", reason="pip install tapeless[test] has Jupyter's kernel")
nbclient = pytest.importorskip("nbclient", reason="pip install tapeless[test] has nbclient")
nbformat = pytest.importorskip("nbformat", reason="pip install tapeless[test] has nbformat")

#: Each cell and what its last line gives, as a function of x = 0.5 where that is a number.
CELLS = {
    "begin": "import numpy as np\nimport tapeless\n%load_ext autoreload\n%autoreload 2",
    "helper": "import math\n\ndef helper(x):\n    return np.sin(x) * math.pi",
    "cost": "def cost(x):\n    y = helper(x)\n    return y**2\n\nslope = tapeless.grad(cost)",
    "before": "slope",
    "value": "float(slope(0.5) / np.pi**2)",
    "after": "slope",
    "helper again": "def helper(x):\n    return np.cos(x) * np.pi",
    "value of another helper": "float(slope(0.5) / np.pi**2)",
    "cost again": "def cost(x):\n    y = helper(x)\n    return y**3\n\nslope = tapeless.grad(cost)",
    "value of another cost": "float(slope(0.5) / np.pi**3)",
    "timed": "%%time\ndef timed(x):\n    return x**2",
    "after it": "try:\n    tapeless.grad(timed)(0.5)\nexcept TypeError as e:\n    print(e)",
    "module": "from reloaded import Model, f\nof_module = tapeless.jit(tapeless.grad(f))\n"
    "of_module(0.5)",
    "method": "of_method = tapeless.grad(Model().cost)\nfloat(of_method(0.5))",
    "decorated": (
        "from decorated import Layer, both, checkpointed, compiled, made, ruled\n"
        "of_compiled = tapeless.grad(compiled)\n"
        "of_ruled = tapeless.grad(ruled)\n"
        "of_all = tapeless.jit(lambda x: compiled(x) + checkpointed(x))\n"
        "layer = Layer()\n"
        "def values(x):\n"
        "    functions = compiled, both, ruled, checkpointed, made, layer.f\n"
        "    return [float(f(x)) for f in (*functions, of_compiled, of_ruled, of_all)]\n"
        "values(0.5)"
    ),
    "edited": (
        "import os, pathlib\n"
        "for name in 'reloaded.py', 'decorated.py':\n"
        "    file = pathlib.Path(name)\n"
        "    _ = file.write_text(file.read_text().replace('np.sin', 'np.exp'))\n"
        "    os.utime(file, (2e9, 2e9))"
    ),
    "decorated and edited": "values(0.5)",
    "edited again": (
        "text = file.read_text().replace('np.exp', 'np.cosh')\n"
        "_ = file.write_text(text.replace('@jit', '@jit(fastmath=True)'))\n"
        "os.utime(file, (2.1e9, 2.1e9))"
    ),
    "decorated and edited twice": "values(0.5)",
    "module that changed": "of_module",
    "value of the module": "float(of_module(0.5))",
    "value of the method": "float(of_method(0.5))",
    "plot": "axes = slope.plot(0, 1)",
}

DECORATED = '''\
"""Functions that are decorated where they are defined, and imported by name."""

import numpy as np
from tapeless import checkpoint, custom_jvp, grad, jit


@jit
def compiled(x):
    return np.sin(x)


@jit
@grad
def both(x):
    return np.sin(x)


@custom_jvp
def ruled(x):
    return np.sin(x)


@ruled.defjvp
def rule(primals, tangents):
    return ruled(*primals), 2 * np.sin(primals[0]) * tangents[0]


@checkpoint
def checkpointed(x):
    return np.sin(x)


made = jit(lambda x: np.sin(x))


class Layer:
    @jit
    def f(self, x):
        return np.sin(x)
'''

MODULE = '''\
"""A module that is edited while it is in use."""

import numpy as np


def helper(x):  # of f
    return np.sin(
        3 * x,
    )


def f(x):
    """A text."""
    return helper(x)


class Model:
    def cost(self, x):
        return [np.sin(k * x) for k in (2, 3)][1]
'''


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell of the notebook shows."""
    folder = tmp_path_factory.mktemp("jupyter")
    (folder / "reloaded.py").write_text(MODULE, encoding="utf-8")
    (folder / "decorated.py").write_text(DECORATED, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, str(folder / name))
        patch.delenv("MPLBACKEND", raising=False)
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()]
        )
        resources = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def shown(outputs, name, kind="text/plain"):
    return outputs[name][-1]["data"][kind]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("value", "np.sin(2 * x)"),
        ("value of another helper", "-np.sin(2 * x)"),
        ("value of another cost", "-3 * np.cos(x) ** 2 * np.sin(x)"),
        ("method", "3 * np.cos(3 * x)"),
        ("value of the module", "3 * np.exp(3 * x)"),
        ("value of the method", "3 * np.exp(3 * x)"),
    ],
)
def test_derivatives_are_those_of_the_code_that_is_there(outputs, cell, value):
    numpy = pytest.importorskip("numpy")
    exact = eval(value, {"np": numpy, "x": 0.5})
    assert ast.literal_eval(shown(outputs, cell)) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("cell", "function", "derivative"),
    [
        ("decorated", "np.sin(x)", "np.cos(x)"),
        ("decorated and edited", "np.exp(x)", "np.exp(x)"),
        ("decorated and edited twice", "np.cosh(x)", "np.sinh(x)"),
    ],
)
def test_decorated_functions_that_were_imported_by_name_are_new(
    outputs, cell, function, derivative
):
    numpy = pytest.importorskip("numpy")
    f, slope = (eval(text, {"np": numpy, "x": 0.5}) for text in (function, derivative))
    expected = [f, slope, f, f, f, f, slope, 2 * f, 2 * f]
    assert ast.literal_eval(shown(outputs, cell)) == pytest.approx(expected, rel=1e-12)


def test_a_cell_that_is_timed_leaves_no_source(outputs):
    # what a cell prints may come in several pieces, or with those of the cell before
    text = "".join(output.get("text", "") for output in outputs["after it"])
    assert "a notebook cell without %%time" in text


def test_a_function_is_shown_before_and_after_its_first_call(outputs):
    before, after = (shown(outputs, name, "text/html") for name in ("before", "after"))
    assert "<details>" in before
    assert "Cell In[3], line 1" in before
    assert "Emitted code" not in before
    assert "Emitted code" in after
    assert "Your source, Cell In[2]" in after  # the helper


def test_what_was_emitted_for_code_that_changed_is_not_shown(outputs):
    html = shown(outputs, "module that changed", "text/html")
    assert "Your source, reloaded.py" in html
    assert "Emitted code" not in html


def test_a_plot_is_an_image(outputs):
    assert shown(outputs, "plot", "image/png")
