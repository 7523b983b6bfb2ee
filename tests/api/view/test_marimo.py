"""An application of marimo, run as a script and exported as a page by marimo itself."""

import importlib.util
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("marimo", reason="pip install tapeless[test] has marimo")

APP = '''\
import marimo

app = marimo.App()

with app.setup:
    import numpy as np
    import tapeless


@app.function
def alone(x):
    return np.sin(x)


@app.cell
def _():
    _scale = 3.0

    def _private(x):
        return alone(x) * _scale

    def cost(x):
        """A & <b>cost</b>."""
        return _private(x) ** 2

    slope = tapeless.grad(cost)
    value = slope(0.5)
    slope
    return cost, slope, value


@app.cell
def _(cost):
    compiled = float(tapeless.jit(tapeless.grad(lambda x: cost(x) * x))(0.5))
    return (compiled,)


@app.cell
def _(slope):
    axes = slope.plot(0, 1, points=3)
    axes
    return


if __name__ == "__main__":
    app.run()
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("marimo") / "notebook_of_marimo.py"
    path.write_text(APP, encoding="utf-8")
    return path


def test_derivatives_of_functions_of_cells(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, values = module.app.run()
    sine, cosine = np.sin(0.5), np.cos(0.5)
    assert values["value"] == pytest.approx(18 * sine * cosine, rel=1e-12)
    exact = 9 * sine * cosine + 9 * sine**2
    assert values["compiled"] == pytest.approx(exact, rel=1e-12)
    html = next(x for x in outputs if hasattr(x, "source"))._repr_html_()
    assert "_private" in html
    assert "Emitted code" in html


def test_the_page_that_marimo_writes(file):
    page = file.with_suffix(".html")
    command = [sys.executable, "-m", "marimo", "export", "html", str(file), "-o", str(page)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    text = page.read_text(encoding="utf-8")
    assert re.search(r"d cost / d x, cell \w+, line 6", text)
    assert r"A \u0026amp; \u0026lt;b\u0026gt;cost\u0026lt;/b\u0026gt;" in text
    assert "image/png" in text
