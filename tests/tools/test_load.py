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
        ("models.py", "'models.py' does not name a function"),
        (":f", "':f' does not name a function"),
        ("gone.py:f", "there is no file gone.py"),
        ("gone.deeper:f", "there is no module 'gone.deeper'"),
        ("models.py:gone", "models.py has no 'gone'\n  it has logistic, decay, loss"),
        ("models.py:CONSTANT", "'CONSTANT' in models.py is not a function"),
    ],
)
@pytest.mark.usefixtures("models")
def test_refusals(spec, message):
    with pytest.raises(UsageError) as caught:
        load_function(spec)
    assert str(caught.value).startswith(message)


def test_a_module_that_lacks_another_says_so(models):
    (models / "broken.py").write_text("import surely_not_installed\n")
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        load_function("broken:f")
