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
    "edited": (
        "import os, pathlib\n"
        "file = pathlib.Path('reloaded.py')\n"
        "_ = file.write_text(file.read_text().replace('np.sin', 'np.exp'))\n"
        "os.utime(file, (2e9, 2e9))"
    ),
    "module that changed": "of_module",
    "value of the module": "float(of_module(0.5))",
    "value of the method": "float(of_method(0.5))",
    "plot": "axes = slope.plot(0, 1)",
}

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


def test_a_cell_that_is_timed_leaves_no_source(outputs):
    assert "a notebook cell without %%time" in outputs["after it"][-1]["text"]


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
