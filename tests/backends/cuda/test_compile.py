"""CUDA C is compiled with IEEE arithmetic, for the device that there is."""

import sys

import pytest

from tapeless.backends.cuda import compile as compiler
from tapeless.transforms.errors import InternalError, NoGpuError


def test_options(driver):
    assert compiler.cubin("f", "text", 90) == b"machine code of text"
    ((text, options),) = driver.compiled
    assert text == "text"
    assert options[-1] == "-arch=sm_90"
    assert {"-ftz=false", "-prec-div=true", "-prec-sqrt=true"} <= set(options)
    assert not any("fast" in option for option in options)


def test_options_of_one_module(driver):
    compiler.cubin("f", "text", 90, ("--std=c++17", "-fmad=false"))
    ((_, options),) = driver.compiled
    assert "-fmad=false" in options
    assert "-fmad=true" not in options
    assert len({option.partition("=")[0] for option in options}) == len(options)


def test_errors_of_the_compiler(driver):
    driver.fails_to_compile = "f.cu(1): error: expected a ;\n" + "more\n" * 30
    with pytest.raises(InternalError, match="the CUDA C of f does not compile") as caught:
        compiler.cubin("f", "text", 90)
    assert "expected a ;" in str(caught.value)
    assert str(caught.value).count("more") < 30


@pytest.mark.parametrize(
    ("capability", "archs", "wanted"),
    [("90", (80, 90), 90), ("89", (80, 86, 90), 86), ("121", (100, 120), 120), ("75", (75,), 75)],
)
def test_the_architecture(driver, monkeypatch, capability, archs, wanted):
    driver.archs = archs
    device = sys.modules["cupy"].cuda.Device
    made = device.__init__

    def init(self, *args):
        made(self, *args)
        self.compute_capability = capability

    monkeypatch.setattr(device, "__init__", init)
    assert compiler.architecture() == wanted


def test_a_device_that_the_compiler_does_not_know(driver):
    driver.archs = (100, 120)
    with pytest.raises(NoGpuError, match="capabilities 100 to 120, and the device has 90"):
        compiler.architecture()


@pytest.mark.parametrize("fused", [False, True])
def test_products_and_sums_are_rounded_one_by_one_if_asked_for(fused):
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="NVRTC is not there")
    text = 'extern "C" __global__ void f(double* x, double* y) { *x = *x * *y + 3.0; }'
    program = nvrtc.createProgram(text, "f.cu", (), ())
    options = compiler.options_with(() if fused else ("-fmad=false",))
    nvrtc.compileProgram(program, (*options, "-arch=compute_90"))
    ptx = nvrtc.getPTX(program)
    ptx = ptx.decode() if isinstance(ptx, bytes) else ptx
    assert ("fma.rn.f64" in ptx) == fused
    assert ("mul.rn.f64" in ptx) != fused


def test_denormals_stay():
    """The real compiler, where it is: with what RawModule adds, `x * y` would be mul.ftz.f32."""
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="NVRTC is not there")
    text = 'extern "C" __global__ void f(float* x, float* y) { *x = *x * *y / 3.0f; }'
    program = nvrtc.createProgram(text, "f.cu", (), ())
    nvrtc.compileProgram(program, (*compiler.OPTIONS, "-arch=compute_90"))
    ptx = nvrtc.getPTX(program)
    ptx = ptx.decode() if isinstance(ptx, bytes) else ptx
    assert "mul.f32" in ptx
    assert "div.rn.f32" in ptx
    assert ".ftz" not in ptx
