"""Functions under transformations, for type checkers: what they say of each is pinned."""

import functools
from typing import Any, reveal_type

import numpy as np
from numpy.typing import NDArray

import tapeless
from tapeless import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    pmap,
    value_and_grad,
    vmap,
)

Floats = NDArray[np.float64]


def energy(x: Floats, scale: float = 1.0) -> float:
    return float(np.sum(scale * x**2))


@jit
def compiled(x: Floats, *, power: int = 2) -> Floats:
    return x**power


@jit(static_argnums=1, fastmath=True)
def with_options(x: Floats, n: int) -> Floats:
    return n * x


@functools.partial(jit, static_argnames="n")
def by_partial(x: Floats, n: int) -> Floats:
    return n * x


@grad
def slope(x: float) -> float:
    return x**2


@custom_jvp
def ruled(x: float) -> float:
    return x


@custom_vjp
def clipped(x: float) -> float:
    return x


class Model:
    @jit
    def step(self, x: Floats) -> Floats:
        return x

    @checkpoint
    def layer(self, x: Floats) -> Floats:
        return x


@checkpoint
def layer(x: Floats, w: Floats) -> Floats:
    return x @ w


reveal_type(grad(energy))
reveal_type(value_and_grad(energy))
reveal_type(value_and_grad(energy)(np.ones(2), scale=2.0))
reveal_type(jacfwd(compiled))
reveal_type(jacrev(compiled))
reveal_type(hessian(energy))
reveal_type(vmap(compiled))
reveal_type(pmap(compiled))
reveal_type(jit(vmap(grad(energy))))
reveal_type(compiled)
reveal_type(compiled(np.ones(2)))
reveal_type(compiled.source())
reveal_type(with_options)
reveal_type(by_partial)
reveal_type(slope)
reveal_type(ruled)
reveal_type(clipped(1.0))
reveal_type(Model().step)
reveal_type(Model().step(np.ones(2)))
reveal_type(layer)
reveal_type(Model().layer(np.ones(2)))
reveal_type(tapeless.remat(layer))


def mistakes(text: Any) -> None:
    grad(energy)("text")
    compiled(np.ones(2), power="two")
    jit(energy, static_argnum=1)
    slope(1.0, 2.0)
