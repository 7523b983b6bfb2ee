"""Emitted source as functions that tracebacks and debuggers can show."""

import linecache
import pdb
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad, hessian, jit
from tapeless.backends import array_form

TEXT = "def f(x):\n    y = x + 1  # line 7\n    z = 1 / y\n    return z\n"


def test_load():
    f = array_form.load("f", TEXT)
    assert f(1.0) == 0.5
    path = f.__code__.co_filename
    assert Path(path).read_text() == TEXT
    linecache.checkcache(path)
    assert linecache.getline(path, 3) == "    z = 1 / y\n"
    assert f.__globals__["__name__"] == "tapeless_emitted.f"


def test_pdb_steps_through_emitted_code():
    def model(x):
        y = np.sin(x)
        return y * x

    slope = grad(model)
    slope(1.0)
    out = StringIO()
    debugger = pdb.Pdb(
        stdin=StringIO("step\nstep\nlist\ncontinue\n"), stdout=out, nosigint=True, readrc=False
    )
    debugger.use_rawinput = False
    assert debugger.runcall(slope.last.run, 1.0) == pytest.approx(np.sin(1) + np.cos(1))
    shown = out.getvalue()
    assert "model_grad_" in shown
    assert "def model_grad(x):" in shown
    assert "np.cos(x)" in shown


def test_explain_names_the_line_of_the_last_comment():
    def model(x, k):
        y = x * 3
        return y[k] * 2

    slope = grad(model)
    slope(np.ones(2), 0)
    with pytest.raises(IndexError) as e:
        slope(np.ones(2), 5)
    assert f"line {model.__code__.co_firstlineno + 2}" in e.value.__notes__[0]
    array_form.explain(e.value, "grad of model", slope.last.simplified)
    assert len(e.value.__notes__) == 1


def test_errors_from_elsewhere_get_no_note():
    error = ValueError("mine")
    array_form.explain(error, "grad of f", grad(lambda x: x).pick((1.0,), {}).simplified)
    assert not hasattr(error, "__notes__")


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_explain_names_the_line_of_an_operation_inside_of_a_statement(form):
    """The statement that fails holds more than one line of the user."""

    def model(a, b):
        x = np.sin(b) * 2
        return np.sum(np.linalg.solve(a, x))

    curvature = form(hessian(model, argnums=1))
    with pytest.raises(np.linalg.LinAlgError) as e:
        curvature(np.zeros((2, 2)), np.ones(2))
    assert f"line {model.__code__.co_firstlineno + 2}\n" in e.value.__notes__[0]
