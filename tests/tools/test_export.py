"""`tapeless export`: files that need tapeless no more."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad
from tapeless.tools import internals
from tapeless.tools.cli import main

PROGRAM = """\
import numpy as np

scale = np.linspace(1.0, 2.0, 100)


def wave(x: "f8[100]", rate: float):
    return np.sum(scale * np.sin(rate * x) ** 2)
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "waves.py"
    file.write_text(PROGRAM)
    scope = {}
    exec(compile(PROGRAM, str(file), "exec"), scope)
    return file, scope["wave"]


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_module_of_python(program, tmp_path, capsys):
    file, _ = program
    folder = tmp_path / "made"
    assert (
        main(["export", f"{file}:wave", "--transform", "grad", "--python", "-o", str(folder)]) == 0
    )
    assert capsys.readouterr().out.split() == [
        str(folder / "wave_grad.py"),
        str(folder / "wave_grad.npz"),
    ]
    text = "import sys; sys.modules['tapeless'] = None; import numpy as np, wave_grad; "
    text += "print(wave_grad.wave_grad(np.zeros(100), 0.5).sum())"
    assert float(run(sys.executable, "-c", text, cwd=folder)) == 0.0


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not there: nothing is built")
def test_c_that_cmake_builds_and_python_calls(program, tmp_path, capsys):
    file, wave = program
    folder = tmp_path / "csrc"
    command = ["export", f"{file}:wave", "--transform", "jit(grad)", "--wrt", "x,rate", "--c"]
    assert main([*command, "-o", str(folder)]) == 0
    names = ["wave_grad.h", "wave_grad.c", "test_wave_grad.c", "CMakeLists.txt", "wave_grad.py"]
    assert capsys.readouterr().out.split() == [str(folder / name) for name in names]
    run("cmake", "-S", ".", "-B", ".", cwd=folder)
    run("cmake", "--build", ".", cwd=folder)
    assert "100% tests passed" in run("ctest", cwd=folder)
    x = np.linspace(0, 3, 100)
    text = "import numpy as np, wave_grad; "
    text += "a, b = wave_grad.wave_grad(np.linspace(0, 3, 100), 0.7); print(*a, b)"
    numbers = [float(word) for word in run(sys.executable, "-c", text, cwd=folder).split()]
    by_x, by_rate = grad(wave, argnums=(0, 1))(x, 0.7)
    assert np.allclose(numbers, [*by_x, by_rate], rtol=1e-12)


def test_a_package_that_setuptools_builds(program, tmp_path):
    _, wave = program
    x = np.linspace(0, 3, 100)
    for name, text in internals.c_package(grad(wave, argnums=(0, 1)), (x, 0.7)).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path)
    text = "import numpy as np, wave_grad; "
    text += "a, b = wave_grad.wave_grad(np.linspace(0, 3, 100), 0.7); print(*a, b)"
    numbers = [float(word) for word in run(sys.executable, "-c", text, cwd=tmp_path).split()]
    by_x, by_rate = grad(wave, argnums=(0, 1))(x, 0.7)
    assert np.allclose(numbers, [*by_x, by_rate], rtol=1e-12)


def test_a_wheel(program, tmp_path, capsys):
    """It needs setuptools, which pip fetches: where it cannot, this is skipped."""
    file, _ = program
    code = main(["export", f"{file}:wave", "--transform", "grad", "--wheel", "-o", str(tmp_path)])
    told = capsys.readouterr()
    if code and "pip says" in told.err:
        pytest.skip(f"pip cannot build wheels here: {told.err}")
    assert code == 0
    assert re.search(r"wave_grad-1\.0-py3-none-\w+\.whl", told.out)  # for any Python
    with zipfile.ZipFile(told.out.strip()) as wheel:
        names = {name for name in wheel.namelist() if name.startswith("wave_grad/")}
    files = ("__init__.py", "libwave_grad.so", "wave_grad.c", "wave_grad.h")
    assert names == {f"wave_grad/{name}" for name in files}


def test_maths_that_is_written_out(program, tmp_path):
    file, _ = program
    command = ["export", f"{file}:wave", "--c", "-o", str(tmp_path)]
    assert main(command) == 0
    assert "sin(" in (tmp_path / "wave.c").read_text()
    assert main([*command, "--maths", "inline"]) == 0
    assert "static inline double sin_f64(double x)" in (tmp_path / "wave.c").read_text()
    assert main([*command, "--maths", "fast"]) == 0
    assert "static inline double sin_f64(double x)" in (tmp_path / "wave.c").read_text()


def test_sums_in_the_order_that_waits_least(tmp_path):
    file = tmp_path / "swing.py"
    file.write_text(
        "import numpy as np\n\n\ndef swing(x: 'f8', n: 'i8=5'):\n    for _ in range(n):\n"
        "        x = 0.5 * (x + 2.0 * (np.sin(x) - x))\n    return x\n"
    )
    command = ["export", f"{file}:swing", "--c", "-o", str(tmp_path / "c"), "--maths"]
    assert main([*command, "inline"]) == 0
    assert "x = 0.5 * (x + 2.0 * (sin_f64(x) - x))" in (tmp_path / "c" / "swing.c").read_text()
    assert main([*command, "fast"]) == 0
    assert "0.5 * (x - 2.0 * x) + sin_f64(x)" in (tmp_path / "c" / "swing.c").read_text()


@pytest.mark.parametrize("name", ["hessian", "jacfwd", "jacrev"])
def test_matrices_of_derivatives(name, tmp_path, capsys):
    file = tmp_path / "pairs.py"
    body = "np.sum(x**3)" if name == "hessian" else "x**2 + x[::-1]"
    file.write_text(f"import numpy as np\n\n\ndef pairs(x: 'f8[3]'):\n    return {body}\n")
    folder = tmp_path / "c"
    command = ["export", f"{file}:pairs", "--transform", name, "-o", str(folder)]
    assert main([*command, "--c"]) == 0
    assert main([*command, "--python"]) == 0
    module = Path(capsys.readouterr().out.split()[-1]).stem
    text = f"import numpy as np, {module} as m; print(m.{module}(np.arange(3.0)).tolist())"
    ones = np.eye(3)[::-1]
    expected = np.diag(6 * np.arange(3.0)) if name == "hessian" else np.diag([0.0, 2, 4]) + ones
    assert np.array_equal(eval(run(sys.executable, "-c", text, cwd=folder)), expected)
    (test,) = folder.glob("test_*.c")
    sources = [test.name, test.name.removeprefix("test_")]
    run("gcc", "-std=c99", "-fwrapv", *sources, "-o", "checked", "-lm", cwd=folder)
    assert run("./checked", cwd=folder).endswith(": right\n")


def test_options_of_c(program, capsys):
    file, _ = program
    assert main(["export", f"{file}:wave", "--python", "--blas"]) == 2
    assert "--blas is about C" in capsys.readouterr().err
    for maths in ("inline", "fast"):
        assert main(["export", f"{file}:wave", "--wheel", "--maths", maths]) == 2
        assert "--maths is about C" in capsys.readouterr().err


def test_what_has_no_form_in_c_is_told(tmp_path, capsys):
    file = tmp_path / "values.py"
    file.write_text(
        "import numpy as np\n\n\ndef values(x: 'f8[9,9]'):\n    return np.linalg.eigvals(x)\n"
    )
    assert main(["export", f"{file}:values", "--transform", "jit", "--c", "-o", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    lines = [
        "tapeless: np.linalg.eigvals has no form in C",
        f'  File "{file}", line 5',
        "    return np.linalg.eigvals(x)",
        "  call the function from Python, or write the part that C does not have by itself",
    ]
    assert error.splitlines() == lines


READER = """\
print("imported")


def reader(x: float):
    print("x is", x)
    with open("missing.txt") as file:
        return x * float(file.read())


def printed(x: float):
    print("x is", x)
    return x * x
"""


@pytest.mark.parametrize("kind", ["--c", "--python", "--wheel"])
def test_files_that_the_function_does_not_find_are_not_those_of_the_command(kind, tmp_path, capsys):
    (tmp_path / "reader.py").write_text(READER)
    assert main(["export", f"{tmp_path}/reader.py:reader", kind, "-o", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'" in error
    assert "-o names" not in error


def test_a_folder_that_is_a_file(program, capsys):
    file, _ = program
    assert main(["export", f"{file}:wave", "--python", "-o", str(file)]) == 2
    error = capsys.readouterr().err
    assert "waves.py cannot be written: File exists" in error
    assert "-o names a folder" in error


@pytest.mark.parametrize(
    "command", [["grad"], ["jit"], ["stages"], ["explain"], ["view"], ["view", "--profile"]]
)
def test_what_programs_print_is_no_output_of_the_command(command, tmp_path, capsys):
    """`tapeless view FILE:FUNCTION > page.html` is a page."""
    (tmp_path / "printing.py").write_text(READER)
    assert main([command[0], f"{tmp_path}/printing.py:printed", *command[1:]]) == 0
    out, error = capsys.readouterr()
    assert "imported\n" in error
    assert not any(line.startswith(("imported", "x is")) for line in out.splitlines())


def test_the_kind_has_to_be_said(program, capsys):
    file, _ = program
    assert main(["export", f"{file}:wave"]) == 2
    assert "--python" in capsys.readouterr().err


CONTROLLER = """\
from dataclasses import dataclass

import numpy as np


@dataclass
class Controller:
    gain: float
    limits: "f8[2]"
    total: float = 0.0

    def step(self, error: float):
        self.total = self.total + error
        return np.clip(self.gain * error + self.total, -self.limits[0], self.limits[1])


@dataclass
class Plant:
    controller: Controller
    rate: float = 0.5

    def run(self, errors: "f8[20]"):
        cost = 0.0
        for k in range(len(errors)):
            cost = cost + self.rate * self.controller.step(errors[k]) ** 2
        return cost


def both(controller: Controller, error: float):
    return controller.step(error) + controller.step(2 * error)
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not there: nothing is compiled")
@pytest.mark.parametrize(
    ("name", "transform", "argument"),
    [
        ("Controller.step", "", "self.total"),
        ("Plant.run", "", "self.controller.total"),
        ("Plant.run", "grad", "errors"),
        ("both", "", "controller.total"),
    ],
)
def test_methods_of_dataclasses(name, transform, argument, tmp_path, capsys):
    """The object is the first argument in C, as the document promises; what it holds are numbers
    and arrays like others."""
    (tmp_path / "control.py").write_text(CONTROLLER)
    command = ["export", f"{tmp_path}/control.py:{name}", "--c", "-o", str(tmp_path / "made")]
    assert main([*command, *(["--transform", transform] if transform else [])]) == 0
    files = capsys.readouterr().out.split()
    (header,) = (f for f in files if f.endswith(".h"))
    assert argument in Path(header).read_text()
    compiler = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fwrapv"]
    sources = [f for f in files if f.endswith(".c")]
    run(*compiler, *sources, "-o", "test", "-lm", cwd=tmp_path)
    assert run("./test", cwd=tmp_path).endswith(": right\n")


@pytest.mark.parametrize(
    ("options", "file"),
    [
        (["export", "--c"], "wave.py"),
        (["export", "--c"], "CMakeLists.txt"),
        (["export", "--c"], "wave.h"),
        (["export", "--c"], "test_wave.c"),
        (["export", "--python"], "wave.py"),
        (["grad", "-o", "wave.py"], "wave.py"),
        (["view", "-o", "wave.py"], "wave.py"),
    ],
)
def test_files_of_the_user_are_not_overwritten(tmp_path, monkeypatch, capsys, options, file):
    monkeypatch.chdir(tmp_path)
    source = "import numpy as np\n\n\ndef wave(x):\n    return np.sin(x)\n"
    Path("wave.py" if file == "wave.py" else "waves.py").write_text(source)
    of_user = source if file == "wave.py" else "project(wave C)\n"
    Path(file).write_text(of_user)
    function = "wave.py:wave" if file == "wave.py" else "waves.py:wave"
    assert main([options[0], function, *options[1:]]) == 2
    assert f"{file} is there, and tapeless has not written it" in capsys.readouterr().err
    assert Path(file).read_text() == of_user


def test_files_that_were_written_are_written_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("waves.py").write_text("import numpy as np\n\n\ndef wave(x):\n    return np.sin(x)\n")
    for options in (["--c"], ["--python", "--transform", "grad"], ["--python", "-o", "a"]):
        for args in ("f8", "f8[3]") if "grad" not in options else ("f8", "f4"):
            assert main(["export", "waves.py:wave", "--args", args, *options]) == 0
    assert "f8" not in Path("wave.h").read_text()
    for _ in range(2):
        assert main(["view", "waves.py:wave", "-o", "page.html"]) == 0
        assert main(["grad", "waves.py:wave", "-o", "slope.py"]) == 0


def test_a_file_in_the_place_of_a_folder(program, capsys):
    file, _ = program
    assert main(["export", f"{file}:wave", "--python", "-o", "wave_grad.py"]) == 2
    assert "-o names a folder, and wave_grad.py looks like a file" in capsys.readouterr().err
