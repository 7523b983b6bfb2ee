"""Where there is no GPU, an error says why, and what to install or do."""

import importlib
import subprocess
import sys

import pytest

import tapeless
from tapeless.backends.cuda import availability
from tapeless.transforms.errors import NoGpuError


def refused(match):
    availability.why_not.cache_clear()
    with pytest.raises(NoGpuError, match=match) as caught:
        availability.cupy()
    availability.why_not.cache_clear()
    return str(caught.value)


def fails(error):
    def call(*args):
        raise error

    return call


def test_there_is_one(driver):
    assert availability.why_not() is None
    assert availability.cupy() is sys.modules["cupy"]


def test_no_cupy(driver, monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy")
    monkeypatch.setattr(importlib, "import_module", fails(ModuleNotFoundError("no", name="cupy")))
    text = refused("there is no GPU to run on: CuPy is not installed")
    assert "pip install 'tapeless[cuda13]'" in text


def test_a_broken_cupy(driver, monkeypatch):
    monkeypatch.setattr(importlib, "import_module", fails(ImportError("libcuda.so.1: missing\n?")))
    text = refused("CuPy cannot be imported: libcuda.so.1: missing")
    assert len(text.splitlines()) == 2


def test_a_part_of_cupy_is_missing(driver, monkeypatch):
    gone = ModuleNotFoundError("no", name="fastrlock")
    monkeypatch.setattr(importlib, "import_module", fails(gone))
    refused("CuPy needs fastrlock, which is not installed")


@pytest.mark.parametrize(
    ("driver_version", "match"),
    [
        (0, "this machine has no driver of NVIDIA\n  install the driver"),
        (12040, "the driver is for CUDA 12.4, CuPy for CUDA 13.0\n.*'tapeless.cuda12.'"),
        (13010, "CUDA says out of luck\n  `nvidia-smi` lists the GPUs; CUDA_VISIBLE_DEVICES"),
    ],
)
def test_the_driver(driver, driver_version, match):
    runtime = sys.modules["cupy"].cuda.runtime
    runtime.getDeviceCount = fails(RuntimeError("out of luck"))
    runtime.driverGetVersion = lambda: driver_version
    refused(match)


def test_no_device(driver):
    driver.devices = 0
    refused("CUDA sees no device")


def test_no_compiler(driver):
    sys.modules["cupy"].cuda.nvrtc.getVersion = fails(RuntimeError("libnvrtc.so.13 not found"))
    refused("NVRTC, which compiles kernels, cannot be loaded: libnvrtc.so.13 not found")


def test_it_is_a_value_error_and_a_runtime_error(driver):
    driver.devices = 0
    for kind in (ValueError, RuntimeError, tapeless.errors.TapelessError):
        availability.why_not.cache_clear()
        with pytest.raises(kind, match="no GPU"):
            tapeless.devices("gpu")


def test_importing_tapeless_does_not_import_cupy(tmp_path):
    code = "import sys, tapeless, tapeless.backends.cuda; assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
