"""Transformed functions are pickled, copied, and sent to other processes."""

import copy
import functools
import io
import marshal
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

import tapeless as tp


def wave(x, k=1.1):
    return np.sum(np.sin(k * x))


@tp.jit
def square(x):
    return x * x


class Model:
    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return np.sum(self.k * x**2)

    @tp.jit
    def compiled(self, x):
        return np.sum(self.k * x**2)


X = np.linspace(0.0, 1.0, 6)
ROWS = X[:, None]
MADE = {
    "jit": (tp.jit(wave), X),
    "jit, static": (tp.jit(wave, static_argnames="k"), X),
    "decorated": (square, X),
    "method": (tp.grad(Model(2.0).loss), X),
    "compiled method": (Model(2.0).compiled, X),
    "partial": (tp.jit(functools.partial(wave, k=2.0)), X),
    "grad": (tp.grad(wave), X),
    "value_and_grad": (tp.value_and_grad(wave), X),
    "jit of grad": (tp.jit(tp.grad(wave)), X),
    "grad of jit": (tp.grad(tp.jit(wave)), X),
    "vmap": (tp.vmap(wave), ROWS),
    "jit of vmap of grad": (tp.jit(tp.vmap(tp.grad(wave))), ROWS),
    "pmap": (tp.pmap(wave), ROWS),
    "jacfwd": (tp.jacfwd(wave), X),
    "jacrev": (tp.jacrev(wave), X),
    "hessian": (tp.hessian(wave), X),
    "checkpoint": (tp.checkpoint(wave), X),
    "vectorize": (tp.numpy.vectorize(wave, signature="(n)->()"), ROWS),
    "pull-back": (tp.vjp(wave, X)[1], 1.0),
    "linear part": (tp.linearize(wave, X)[1], X),
}
WAYS = {
    **{
        f"protocol {k}": lambda f, k=k: pickle.loads(pickle.dumps(f, k))
        for k in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MADE)
def test_a_copy_gives_the_same(name, way):
    f, at = MADE[name]
    fresh = WAYS[way](f)
    want = f(at)
    for again in (fresh, WAYS[way](f), WAYS[way](fresh)):  # before and after a call
        tp.tree.map(np.testing.assert_array_equal, again(at), want)


def elsewhere(folder, text, *args):
    run = subprocess.run(
        [sys.executable, "-c", text, *args], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return float(run.stdout)


LOADED = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    print(np.sum(pickle.load(file)(np.full(3, 2.0))))
"""


def test_another_process_loads_what_a_module_has(tmp_path, monkeypatch):
    text = """
        import numpy as np
        import tapeless as tp

        def cube(x):
            return np.sum(x**3)

        slope = tp.jit(tp.grad(cube))

        @tp.jit
        def decorated(x):
            return x**3
    """
    (tmp_path / "of_a_user_to_pickle.py").write_text(
        "\n".join(line[8:] for line in text.splitlines())
    )
    monkeypatch.syspath_prepend(tmp_path)
    import of_a_user_to_pickle as module  # noqa: PLC0415 (it is written above)

    for f, want in ((module.slope, 36.0), (module.decorated, 24.0)):
        (tmp_path / "f.pkl").write_bytes(pickle.dumps(f))
        assert elsewhere(tmp_path, LOADED, "f.pkl") == want


def _made(code, name):
    made = types.FunctionType(marshal.loads(code), {"np": np}, name)
    made.__module__ = "__main__"
    return made


class Copying(pickle.Pickler):
    """Copies functions of `__main__`, without naming their file, as cloudpickle does."""

    def reducer_override(self, obj):
        if isinstance(obj, types.FunctionType) and obj.__module__ == "__main__":
            code = obj.__code__.replace(co_filename="<dynamic-code>")
            return _made, (marshal.dumps(code), obj.__name__)
        return NotImplemented


def test_what_a_script_has_is_copied_with_its_text(tmp_path):
    """By a pickler that says it is cloudpickle's."""
    (tmp_path / "script.py").write_text("import numpy as np\n\ndef f(x):\n    return x * x * x\n")
    main = types.ModuleType("__main__")
    exec(compile((tmp_path / "script.py").read_text(), tmp_path / "script.py", "exec"), vars(main))
    slope = tp.jit(main.f)
    namespace = {"__name__": "cloudpickle.cloudpickle"}
    exec("def dump(pickler, obj): pickler.dump(obj)", namespace)
    file = io.BytesIO()
    namespace["dump"](Copying(file), slope)
    (tmp_path / "script.py").unlink()
    again = pickle.loads(file.getvalue())
    assert again.fun.__code__.co_filename == "<dynamic-code>"
    np.testing.assert_array_equal(again(np.full(2, 2.0)), 8.0)


def test_cloudpickle(tmp_path):
    pytest.importorskip("cloudpickle")
    (tmp_path / "script.py").write_text(
        "import cloudpickle, sys\n"
        "import tapeless as tp\n"
        "@tp.jit\n"
        "def f(x):\n"
        "    return x * x * x\n"
        "open('f.pkl', 'wb').write(cloudpickle.dumps(f))\n"
    )
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True)
    assert elsewhere(tmp_path, LOADED, "f.pkl") == 24.0
