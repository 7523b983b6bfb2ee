"""NVIDIA's compiler takes the text of all programs, and nothing spills out of the registers."""

import pytest

from tests.gpu import nvrtc
from tests.gpu.emulator import Code
from tests.gpu.programs import PROGRAMS
from tests.gpu.test_programs import REFUSED, code_of, source_of

REGISTERS = 128
NVRTC, MISSING = nvrtc.compiler()
ARCHITECTURES = [80, 90, 100, 120]

pytestmark = pytest.mark.skipif(
    NVRTC is None,
    reason=f"NVRTC cannot be loaded, so no text is compiled for GPUs: {MISSING}; "
    "pip install -e '.[gputest]'",
)
#: All programs for the GPU of servers; what uses most of the language for the others, too.
CASES = [(name, 90) for name in PROGRAMS if name not in REFUSED]
CASES += [
    (name, arch)
    for name in ("softmax", "cross-entropy-gradient", "kepler-gradient", "n-body", "s2-float32")
    for arch in ARCHITECTURES
    if arch != 90
]


@pytest.mark.parametrize(("name", "arch"), CASES)
def test_programs_compile_and_do_not_spill(name, arch):
    if arch not in NVRTC.getSupportedArchs():
        pytest.skip(f"this NVRTC does not know sm_{arch}")
    code = code_of(source_of(PROGRAMS[name]))
    kernels = nvrtc.needs(NVRTC, code, arch) if code else []
    assert len(kernels) == len(Code(code).names)
    for kernel in kernels:
        assert kernel.registers > 0
        assert kernel.registers <= REGISTERS, kernel
        assert kernel.spilled == 0, kernel


def test_text_that_is_no_cuda_c_is_refused():
    with pytest.raises(AssertionError, match=r"kernels\.cu\(1\): error"):
        nvrtc.needs(NVRTC, 'extern "C" __global__ void f() { nothing; }', 90)
