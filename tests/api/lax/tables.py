"""Calls of lax functions, with what they give by NumPy or by hand."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(7)
X = RNG.normal(size=(3, 4))
Y = RNG.normal(size=(3, 4))
P = np.abs(X) + 0.3  # positive
U = X / 4  # within (-1, 1)
V = RNG.normal(size=5)
I = RNG.integers(-9, 9, (3, 4))  # noqa: E741 (integers)
J = RNG.integers(1, 9, (3, 4))
B = X > 0
C = X + 1j * Y


@dataclass
class Case:
    """`call(lax, *operands)`, and what it should give: `want(*operands)`.

    smooth  how many of the operands have a derivative
    jax     whether jax.lax gives the same
    staged  whether it can be staged
    """

    call: Any
    operands: tuple[Any, ...]
    want: Any
    smooth: int = 0
    jax: bool = True
    staged: bool = True
    rtol: float = 1e-12


def named(name, *operands, want, smooth=0, **options):
    return Case(lambda lax, *xs: getattr(lax, name)(*xs), operands, want, smooth, **options)


def params(cases):
    return [pytest.param(case, id=name) for name, case in cases.items()]


def jax_lax():
    """jax.lax with 64-bit numbers."""
    jax = pytest.importorskip("jax", reason="compares with jax.lax")
    jax.config.update("jax_enable_x64", True)
    return jax.lax


def by_jax(calls):
    """What jax.lax gives for each `(call, operands)`; compiled together, which is quicker."""
    lax = jax_lax()
    run = pytest.importorskip("jax").jit(
        lambda operands: {name: call(lax, *operands[name]) for name, (call, _) in calls.items()}
    )
    quick = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    given = {name: operands for name, (_, operands) in calls.items()}
    return run.lower(given).compile(compiler_options=quick)(given)


def leaves(value):
    return [np.asarray(x) for x in (value if isinstance(value, (tuple, list)) else (value,))]


def agree(got, want, rtol=1e-12, exact=True):
    """The same values and shapes, and, if `exact`, dtypes."""
    a, b = leaves(got), leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert x.shape == y.shape
        assert not exact or x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


def check_slopes(f, operands, smooth):
    """jvp and grad against central differences, along one direction."""
    import tapeless  # noqa: PLC0415 (tables are read without it)

    rng = np.random.default_rng(0)
    xs, rest = operands[:smooth], operands[smooth:]

    def g(*xs):
        made = f(*xs, *rest)
        total = 0.0
        for k, y in enumerate(made if isinstance(made, (tuple, list)) else (made,)):
            if y.dtype.kind == "f":
                total = total + np.sum(y * np.cos(np.arange(y.size) + k).reshape(y.shape))
        return total

    ds = tuple(rng.normal(size=np.shape(x)) for x in xs)
    h = 1e-6
    want = (
        g(*(x + h * d for x, d in zip(xs, ds, strict=True)))
        - g(*(x - h * d for x, d in zip(xs, ds, strict=True)))
    ) / (2 * h)
    _, forwards = tapeless.jvp(g, xs, ds)
    bars = tapeless.grad(g, argnums=tuple(range(smooth)))(*xs)
    backwards = sum(np.sum(b * d) for b, d in zip(bars, ds, strict=True))
    np.testing.assert_allclose(forwards, want, rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(backwards, want, rtol=2e-6, atol=1e-7)
