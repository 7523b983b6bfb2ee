"""Object code becomes functions, near its constants and far from them."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.llvm import compile as direct
from tapeless.backends.cpu.runtime import linking


@pytest.fixture(params=[True, False], ids=["near", "anywhere"])
def near(request, monkeypatch):
    """Whether code is next to its constants."""
    if request.param and not linking.NEAR:
        pytest.skip("code is near its constants on Linux with x86 only")
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    for module in (linking, direct):
        monkeypatch.setattr(module, "NEAR", request.param)
    direct._machine.cache_clear()
    yield request.param
    direct._machine.cache_clear()


def test_constants_and_functions_of_the_process(near, rng):
    f = jit(lambda a, b: np.sum(np.sin(a @ b) * np.exp(-np.abs(a @ b)) + np.log1p(b * b)))
    a, b = rng.normal(size=(2, 30, 30))
    want = np.sum(np.sin(a @ b) * np.exp(-np.abs(a @ b)) + np.log1p(b * b))
    np.testing.assert_allclose(f(a, b), want, rtol=1e-12)


def longest_chain(n):
    best, steps = 0, 0
    for start in range(1, n):
        number, length = start, 0
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            length += 1
        if length > steps:
            best, steps = start, length
    return best, steps


def test_code_of_several_sections(near):
    assert jit(longest_chain)(300) == longest_chain(300) == (231, 127)


def test_errors(near):
    def f(x, n):
        s = 0.0
        for k in range(n):
            s += x[k]
        return s

    compiled = jit(f)
    assert compiled(np.ones(3), 3) == 3
    with pytest.raises(IndexError):
        compiled(np.ones(3), 4)


def test_names_that_code_does_not_have(near):
    code = direct._machine().emit_object(
        direct.llvm.parse_assembly("define i64 @here() { ret i64 7 }")
    )
    place = linking.link(code, ())
    assert place("here")
    assert not place("elsewhere")
