"""Finding the function that a command names."""

import pytest

from tapeless.tools.errors import UsageError
from tapeless.tools.load import load_function


@pytest.mark.parametrize("place", ["models.py", "./models.py", "models"])
def test_files_and_modules(models, place):
    function = load_function(f"{place}:decay")
    assert function(1.0, 1) == 0.9
    assert function.__code__.co_filename == str(models / "models.py")


def test_a_file_in_a_folder_imports_its_neighbours(models):
    (models / "sub").mkdir()
    (models / "sub" / "user.py").write_text("import helper\n\ndef f(x):\n    return helper.g(x)\n")
    (models / "sub" / "helper.py").write_text("def g(x):\n    return x + 1\n")
    assert load_function("sub/user.py:f")(1) == 2


def test_a_file_in_a_package_may_import_its_neighbours(models, monkeypatch):
    deep = models / "a_package" / "deep"
    deep.mkdir(parents=True)
    for folder in (models / "a_package", deep):
        (folder / "__init__.py").write_text("")
    (deep / "user.py").write_text("from . import near\nfrom ..far import h\n\nf = near.g\n")
    (deep / "near.py").write_text("def g(x):\n    return x + 1\n")
    (models / "a_package" / "far.py").write_text("def h(x):\n    return x\n")
    assert load_function("a_package/deep/user.py:f")(1) == 2
    monkeypatch.chdir(deep)
    assert load_function("user.py:h")(1) == 1


def test_two_packages_of_one_name_are_not_mixed_up(models):
    for root in ("one", "two"):
        folder = models / root / "same_name"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "user.py").write_text("def f(x):\n    return x\n")
    assert load_function("one/same_name/user.py:f")(1) == 1
    with pytest.raises(UsageError, match="is called like another"):
        load_function("two/same_name/user.py:f")


def test_methods(models):
    assert load_function("models.py:Model.square")(3) == 9


def test_a_file_named_like_a_module_hides_nothing(models):
    (models / "random.py").write_text("def f(x):\n    return x\n")
    assert load_function("random.py:f")(1) == 1
    import random  # noqa: PLC0415  # the one of the standard library, as before

    assert random.random() < 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "models.py",
            "'models.py' does not name a function\n  name one of its functions: models.py:F",
        ),
        (
            "models.py:",
            "'models.py:' does not name a function\n  name one of its functions: models.py",
        ),
        ("models.py:Model", "'Model' in models.py is a class\n  Model has square, cube"),
        ("models.py:Model.squar", "models.py has no 'Model.squar'\n  Model has square, cube"),
        (
            "models.py:loss.inner",
            "models.py has no 'loss.inner'\n  functions that a function defines",
        ),
        ("notes.ipynb", "notes.ipynb is a notebook, which is not imported\n  write it as a script"),
        (
            "notes.ipynb:f",
            "notes.ipynb is a notebook, which is not imported\n  write it as a script",
        ),
        ("notes.txt:f", "notes.txt is no file of Python: its name does not end in .py"),
        ("./folder:f", "./folder is a folder"),
        (":f", "':f' does not name a function"),
        ("gone.py:f", "there is no file gone.py"),
        ("gone.deeper:f", "there is no module 'gone.deeper'"),
        ("models.py:gone", "models.py has no 'gone'\n  it has logistic, decay, loss"),
        ("models.py:CONSTANT", "'CONSTANT' in models.py is not a function"),
    ],
)
def test_refusals(models, spec, message):
    (models / "folder").mkdir()
    for name in ("notes.ipynb", "notes.txt"):
        (models / name).write_text("{}")
    with pytest.raises(UsageError) as caught:
        load_function(spec)
    assert str(caught.value).startswith(message)


def test_a_module_that_lacks_another_says_so(models):
    (models / "broken.py").write_text("import surely_not_installed\n")
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        load_function("broken:f")
