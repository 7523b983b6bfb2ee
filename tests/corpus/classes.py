"""Objects: __call__, properties, inheritance, static and class methods, state."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from tests.corpus import normal, program, uniform


class Dense:
    def __init__(self, weights, bias, activation=np.tanh):
        self.weights = weights
        self.bias = bias
        self.activation = activation

    def __call__(self, x):
        return self.activation(x @ self.weights + self.bias)


FIXED = Dense(normal(3, 2, seed=5), normal(2, seed=6))


@program(normal(3))
def captured_object(x):
    return FIXED(x) * FIXED.bias


@program(normal(3, 2), normal(2, seed=1), normal(3, seed=2), wrt=(0, 1, 2))
def object_made_inside(w, b, x):
    layer = Dense(w, b)
    hidden = layer(x)
    layer.activation = np.sin
    return hidden + layer(x)


@program(normal(2, 2), normal(2, seed=1), wrt=(0, 1))
def list_of_callable_objects(w, x):
    layers = [Dense(w, 0.1), Dense(w.T, 0.2, np.cos), Dense(w @ w, x, lambda t: t)]
    for layer in layers:
        x = layer(x)
    return x


class Temperature:
    def __init__(self, kelvin):
        self._kelvin = kelvin

    @property
    def celsius(self):
        return self._kelvin - 273.15

    @celsius.setter
    def celsius(self, value):
        self._kelvin = value + 273.15

    @classmethod
    def from_fahrenheit(cls, value):
        return cls((value - 32) / 1.8 + 273.15)

    @staticmethod
    def pressure(celsius):
        return 6.1 * np.exp(17.3 * celsius / (237.7 + celsius))


@program(68.0)
def properties_and_methods(fahrenheit):
    t = Temperature.from_fahrenheit(fahrenheit)
    before = t.celsius
    t.celsius = 0.5 * t.celsius
    t.celsius += 1.0
    return Temperature.pressure(before) + t.pressure(t.celsius)


class Kernel(ABC):
    variance: ClassVar[float] = 1.0

    def __init__(self, scale):
        self.scale = scale

    @abstractmethod
    def shape(self, r): ...

    def matrix(self, x):
        return self.variance * self.shape((x[:, None] - x[None, :]) / self.scale)


class Gaussian(Kernel):
    def shape(self, r):
        return np.exp(-0.5 * r**2)


class Scaled(Gaussian):
    variance = 2.0

    def __init__(self, scale, power):
        super().__init__(scale)
        self.power = power

    def shape(self, r):
        return super().shape(r) ** self.power


@program(0.8, 1.5, normal(3), wrt=(0, 1, 2))
def inheritance(scale, power, x):
    kernels = [Gaussian(scale), Scaled(scale, power)]
    total = 0.0
    for kernel in kernels:
        total += np.sum(kernel.matrix(x)[0])
        if isinstance(kernel, Scaled):
            total += kernel.power
    return total


class RunningMean:
    def __init__(self):
        self.count = 0
        self.mean = 0.0
        self.history = []

    def update(self, value):
        self.count += 1
        self.mean += (value - self.mean) / self.count
        self.history.append(self.mean)
        return self


@program(normal(4))
def object_with_state(x):
    running = RunningMean()
    for value in x:
        running.update(value**2)
    return running.mean * running.history[1] + running.count


class Network:
    def __init__(self, *sizes):
        self.weights = [normal(m, n, seed=m) for m, n in zip(sizes, sizes[1:])]
        self.training = False

    def forward(self, x):
        for w in self.weights[:-1]:
            x = np.tanh(x @ w)
            if self.training:
                x = x * 0.5
        return x @ self.weights[-1]


NETWORK = Network(3, 4, 2)


@program(normal(3))
def method_of_captured_object(x):
    return NETWORK.forward(x)


@program(normal(3), uniform(2))
def bound_method_as_value(x, w):
    forward = NETWORK.forward
    return sum(np.sum(w * forward(k * x)) for k in (1.0, 2.0))


class Spectrum:
    def __init__(self, amplitudes):
        self.amplitudes = amplitudes

    @cached_property
    def power(self):
        return np.sum(self.amplitudes**2)

    def __getattr__(self, name):
        if name.startswith("a") and name[1:].isdigit():
            return self.amplitudes[int(name[1:])]
        raise AttributeError(name)


@program(normal(3))
def computed_attributes(x):
    spectrum = Spectrum(x)
    first = spectrum.power
    return (
        first * spectrum.power + spectrum.a1 * getattr(spectrum, "a2", 0.0) + hasattr(spectrum, "b")
    )
