"""What a program was made for is looked at again: the environment, files, defaults."""

import datetime
import json
import os
import pickle
import subprocess
import uuid

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import TapelessError

NAME = "TAPELESS_TEST_FACTOR"


def by_get(x):
    return x * float(os.environ.get(NAME, "2"))


def by_getenv(x):
    return x * float(os.getenv(NAME, default="2"))


def by_item(x):
    return x * float(os.environ[NAME])


@pytest.mark.parametrize("function", [by_get, by_getenv])
def test_the_environment_is_read_at_each_call(function, monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    slope = tapeless.grad(function)
    assert slope(1.5) == 2.0
    monkeypatch.setenv(NAME, "5")
    assert slope(1.5) == 5.0
    monkeypatch.setenv(NAME, "7")
    assert slope(1.5) == 7.0


def test_an_item_of_the_environment_is_read_at_each_call(monkeypatch):
    monkeypatch.setenv(NAME, "3")
    slope = tapeless.grad(by_item)
    assert slope(1.5) == 3.0
    monkeypatch.setenv(NAME, "4")
    assert slope(1.5) == 4.0


def test_defaults_that_were_replaced_count():
    def scaled(x, by=2.0):
        return by * x

    slope = tapeless.grad(lambda x: scaled(x) ** 2)
    assert slope(1.0) == 8.0
    scaled.__defaults__ = (5.0,)
    assert slope(1.0) == 50.0


def test_a_view_without_a_dtype_is_the_array():
    def f(x):
        y = x.view()
        y[0] = 5.0
        return x.sum()

    np.testing.assert_array_equal(tapeless.grad(f)(np.ones(3)), [0.0, 1.0, 1.0])


def test_a_view_as_another_dtype_has_its_numbers():
    assert tapeless.jit(lambda x: x.view(complex).real.sum())(np.arange(4.0)) == 2


# -- files


def by_load(x, at):
    return np.sum(x * np.load(at / "w.npy"))


def by_loadtxt(x, at):
    return np.sum(x * np.loadtxt(at / "w.csv", delimiter=","))


def by_read(x, at):
    return x * float(open(at / "w.txt").read())


def by_lines(x, at):
    total = 0.0
    with open(at / "w.txt") as lines:
        for line in lines:
            total = total + x * float(line)
    return total


def by_path(x, at):
    return x * float((at / "w.txt").read_text())


def by_json(x, at):
    with (at / "w.json").open() as file:
        return x * json.load(file)["k"]


def by_pickle(x, at):
    with open(at / "w.pkl", "rb") as file:
        return np.sum(x * pickle.load(file))


def by_existence(x, at):
    return x * (3.0 if (at / "3.0").exists() else 2.0)


def by_listing(x, at):
    return x * len(os.listdir(at))


FILES = [by_load, by_loadtxt, by_read, by_lines, by_path, by_json, by_pickle, by_existence]


def put(at, value):
    np.save(at / "w.npy", np.full(2, value))
    np.savetxt(at / "w.csv", np.full((2, 3), value), delimiter=",")
    (at / "w.txt").write_text(str(value))
    (at / "w.json").write_text(json.dumps({"k": value}))
    (at / "w.pkl").write_bytes(pickle.dumps(np.full(3, value)))
    (at / str(value)).touch()


@pytest.mark.filterwarnings("ignore:.*unclosed file", "ignore:Exception ignored in")  # by_read
@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.grad, tapeless.vmap])
@pytest.mark.parametrize("function", [*FILES, by_listing])
def test_files_are_read_at_each_call(function, transform, tmp_path):
    def f(x):
        return function(x, tmp_path)

    run = transform(f)
    x = 1.5 if transform is not tapeless.vmap else np.array([1.5, 2.5])
    for value in (2.0, 3.0, 4.0):
        put(tmp_path, value)
        want = {
            tapeless.jit: lambda: f(1.5),
            tapeless.grad: lambda: f(1.0),
            tapeless.vmap: lambda: [f(1.5), f(2.5)],
        }
        for _ in range(2):
            np.testing.assert_allclose(run(x), want[transform]())


def test_arrays_that_files_give_are_inputs(tmp_path):
    put(tmp_path, 2.0)
    run = tapeless.grad(lambda x: by_load(x, tmp_path))
    run(1.0)
    put(tmp_path, 5.0)
    assert run(1.0) == 10.0
    assert len(next(iter(run.cache.values()))) == 1


ACTING = {
    "np.save": lambda at: np.save(at / "a", np.ones(2)),
    "open": lambda at: open(at / "a", "w"),  # noqa: SIM115 (as users write it)
    "Path.open": lambda at: (at / "a").open("a"),
    "write_text": lambda at: (at / "a").write_text("a"),
    "mkdir": lambda at: os.mkdir(at / "a"),
    "subprocess.run": lambda at: subprocess.run(["touch", at / "a"], check=True),
    "datetime.now": lambda at: datetime.datetime.now(),
    "uuid4": lambda at: uuid.uuid4(),
    "urandom": lambda at: os.urandom(2),
}


@pytest.mark.parametrize("act", ACTING)
def test_what_acts_on_the_machine_or_never_gives_the_same_is_refused(act, tmp_path):
    def f(x):
        ACTING[act](tmp_path)
        return x

    with pytest.raises(TapelessError, match=r"while staging|frozen by staging") as caught:
        tapeless.jit(f)(1.0)
    assert "ACTING[act](tmp_path)" in str(caught.value) or "lambda at" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
