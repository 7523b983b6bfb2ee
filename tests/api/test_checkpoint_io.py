"""Values in files, whole or not at all."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tapeless.checkpoint_io import load, save

VALUE = {"w": [np.arange(6.0).reshape(2, 3), np.float32(2)], "step": 7, "z": (1j, True)}


def test_values_come_back(tmp_path):
    path = tmp_path / "state.npz"
    save(path, VALUE)
    like = {"w": [np.zeros(0), np.float32(0)], "step": 0, "z": (0j, False)}
    found = load(path, like)
    assert_array_equal(found["w"][0], VALUE["w"][0])
    assert found["w"][1] == np.float32(2)
    assert type(found["w"][1]) is np.float32
    assert found["step"] == 7
    assert type(found["step"]) is int
    assert found["z"] == (1j, True)
    assert_array_equal(np.load(path)["value['w'][0]"], VALUE["w"][0])


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    save(path, {"x": 1.0})

    def fails(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(OSError, match="disk full"):
        save(path, {"x": 2.0})
    assert load(path, {"x": 0.0}) == {"x": 1.0}
    assert [p.name for p in tmp_path.iterdir()] == ["state.npz"]


def test_another_structure(tmp_path):
    path = tmp_path / "state.npz"
    save(path, {"x": 1.0})
    with pytest.raises(ValueError, match=r"holds value\['x'\], and value\['y'\] is asked for"):
        load(path, {"y": 0.0})
    with pytest.raises(TypeError, match="'text' is not a number or an array"):
        save(path, ["text"])
    with pytest.raises(OSError, match="none"):
        load(tmp_path / "none.npz", 1.0)
