"""What a program was made for is looked at again: the environment, files, defaults."""

import configparser
import contextlib
import datetime
import gzip
import json
import logging
import os
import pickle
import sqlite3
import subprocess
import sys
import uuid

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import TapelessError
from tapeless.transforms.frontend.objects import files_read

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


def by_zip(x, at):
    with gzip.open(at / "w.gz", "rt") as file:
        return x * float(file.read())


def by_database(x, at):
    connection = sqlite3.connect(at / "w.db")
    value = connection.execute("select value from numbers").fetchone()[0]
    connection.close()
    return x * value


def by_configuration(x, at):
    settings = configparser.ConfigParser()
    settings.read(at / "w.ini")
    return x * float(settings["all"]["value"])


def by_memory_map(x, at):
    return x * np.memmap(at / "w.bin", dtype=float, mode="r")[0]


def by_names_in_a_folder(x, at):
    return x * sum(1 for _ in at.glob("*"))


def by_size(x, at):
    return x * os.stat(at / "w.txt").st_size


FILES = [by_load, by_loadtxt, by_read, by_lines, by_path, by_json, by_pickle, by_existence]
OTHERS = [by_zip, by_database, by_configuration, by_memory_map, by_names_in_a_folder, by_size]


def put(at, value):
    np.save(at / "w.npy", np.full(2, value))
    np.savetxt(at / "w.csv", np.full((2, 3), value), delimiter=",")
    (at / "w.txt").write_text(str(value))
    (at / "w.json").write_text(json.dumps({"k": value}))
    (at / "w.pkl").write_bytes(pickle.dumps(np.full(3, value)))
    (at / str(value)).touch()
    with gzip.open(at / "w.gz", "wt") as file:
        file.write(str(value))
    with contextlib.closing(sqlite3.connect(at / "w.db")) as connection:
        connection.execute("create table if not exists numbers (value)")
        connection.execute("delete from numbers")
        connection.execute("insert into numbers values (?)", (value,))
        connection.commit()
    (at / "w.ini").write_text(f"[all]\nvalue = {value}\n")
    np.array([value]).tofile(at / "w.bin")


@pytest.mark.filterwarnings("ignore:.*unclosed file", "ignore:Exception ignored in")  # by_read
@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.grad, tapeless.vmap])
@pytest.mark.parametrize("function", [*FILES, *OTHERS, by_listing])
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


def test_what_a_module_reads_when_it_is_imported_is_not_read_again(tmp_path, monkeypatch):
    (tmp_path / "scale.txt").write_text("3")
    source = f"from pathlib import Path\nFOLDER = Path({str(tmp_path)!r})\n"
    source += "NAMES = [*FOLDER.iterdir()]\nSCALE = float((FOLDER / 'scale.txt').read_text())\n"
    (tmp_path / "tapeless_late_module.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    read = []
    monkeypatch.setattr(files_read, "_holds", lambda path: read.append(str(path)))

    def f(x):
        import tapeless_late_module  # noqa: PLC0415  # that is the point

        return tapeless_late_module.SCALE * x

    run = tapeless.jit(f)
    assert [run(2.0), run(3.0)] == [6.0, 9.0]
    assert not any(path.startswith(str(tmp_path)) for path in read)


def by_arguments(x):
    return x * len(sys.argv)


def by_settings(x):
    return x * (2.0 if np.geterr()["divide"] == "ignore" else 3.0)


def by_level(x):
    return x * (2.0 if logging.getLogger("tapeless.tests").isEnabledFor(logging.DEBUG) else 3.0)


def by_an_entry(x):
    return x * (2.0 if "TAPELESS_TESTS" in os.environ else 3.0)


@pytest.mark.parametrize("f", [by_arguments, by_settings, by_level, by_an_entry])
def test_the_state_of_the_process_is_read_at_each_call(f, monkeypatch):
    run = tapeless.jit(f)
    assert run(1.5) == f(1.5)
    monkeypatch.setattr(sys, "argv", [*sys.argv, "more"])
    monkeypatch.setenv("TAPELESS_TESTS", "1")
    monkeypatch.setattr(logging.getLogger("tapeless.tests"), "level", logging.DEBUG)
    monkeypatch.setattr(logging.getLogger("tapeless.tests"), "_cache", {})
    with np.errstate(divide="ignore"):
        assert run(1.5) == f(1.5)
        assert run(1.5) != 1.5 * 3.0


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
