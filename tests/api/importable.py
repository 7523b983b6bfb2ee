"""Functions and classes that pickles find by name."""

import functools

import numpy as np

from tapeless import checkpoint, custom_jvp, custom_vjp, grad, value_and_grad


def square(x):
    return x**2


def scaled(x, factor=2.0):
    return factor * np.sin(x)


@grad
def square_slope(x):
    return x**2


@value_and_grad
def square_both(x):
    return x**2


@custom_jvp
def ruled_forward(x):
    return x**2


@ruled_forward.defjvp
def forward_rule(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return x**2, 3.0 * x * x_dot


@custom_vjp
def ruled_backward(x):
    return x**2


def backward_fwd(x):
    return x**2, x


def backward_bwd(x, bar):
    return (5.0 * x * bar,)


ruled_backward.defvjp(backward_fwd, backward_bwd)


@checkpoint
def recomputed(x):
    return np.sin(np.sin(x))


class Spring:
    """A class with transformed methods."""

    def __init__(self, stiffness):
        self.stiffness = stiffness

    @functools.partial(grad, argnums=1)
    def pull(self, x):
        return 0.5 * self.stiffness * x**2

    def energy(self, x):
        return 0.5 * self.stiffness * x**2

    def __call__(self, x):
        return self.stiffness * x**3

    @classmethod
    def cube(cls, x):
        return x**3

    @staticmethod
    def fourth(x):
        return x**4
