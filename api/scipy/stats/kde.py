"""Estimates a density from samples: one normal distribution around each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from tapeless import random
from tapeless.nn.softmaxes import logsumexp
from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


class gaussian_kde:  # noqa: N801 (SciPy's name)
    """A kernel density estimate with normal kernels.

    dataset    samples: an array of shape (n,), or (d, n) of vectors
    bw_method  how wide the kernels are, as a part of the deviations of the samples: 'scott' (the
               default) is n**(-1 / (d + 4)), 'silverman' a little more; a number; or a function of
               the estimate that gives one
    weights    of the samples, positive, of shape (n,)

    Attributes: dataset, weights, neff (how many samples of equal weight would say as much),
    covariance and inv_cov of a kernel. Differentiable in dataset and weights.

    Raises ValueError for other shapes, and where the estimate could not be made: less than two
    samples. Source: D. W. Scott, "Multivariate density estimation" (1992).

    >>> import numpy as np
    >>> kde = gaussian_kde(np.array([0.0, 1.0, 3.0]))
    >>> kde(np.array([1.0])).round(4)
    array([0.2149])
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self.dataset = np.atleast_2d(dataset)
        self.d, self.n = self.dataset.shape
        if weights is None:
            weights = np.full(self.n, 1.0 / self.n)
        weights = np.asarray(weights)
        if weights.ndim != 1 or weights.shape[0] != self.n:
            raise ArgumentError(
                f"gaussian_kde: weights has shape {weights.shape}, and there are {self.n} samples"
            )
        self.weights = weights / np.sum(weights)
        self.neff = 1 / np.sum(np.square(self.weights))
        centred = self.dataset - np.sum(self.dataset * self.weights, axis=1, keepdims=True)
        spread = (centred * self.weights) @ centred.T / (1 - np.sum(np.square(self.weights)))
        self.factor = self._factor(bw_method)
        self.covariance = spread * self.factor**2
        self.inv_cov = np.linalg.inv(spread) / self.factor**2

    def _factor(self, bw_method: Any) -> Any:
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            return self.neff ** (-1.0 / (self.d + 4))
        if isinstance(bw_method, str) and bw_method == "silverman":
            return (self.neff * (self.d + 2) / 4.0) ** (-1.0 / (self.d + 4))
        if isinstance(bw_method, str):
            raise ArgumentError(
                f"gaussian_kde: bw_method must be 'scott', 'silverman', a number or a function, "
                f"not {bw_method!r}"
            )
        return bw_method(self) if callable(bw_method) else bw_method

    @follow_arguments
    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at points of shape (d, m), or (m,)."""
        points = self._points(x)
        off = points[:, :, None] - self.dataset[:, None, :]
        size = np.einsum("imn,ij,jmn->mn", off, self.inv_cov, off)
        norm = np.linalg.slogdet(2 * math.pi * self.covariance)[1] / 2
        return logsumexp(-size / 2 - norm, axis=1, b=self.weights)

    @follow_arguments
    def evaluate(self, points: Any) -> Any:
        """The density at points of shape (d, m), or (m,)."""
        return np.exp(self.logpdf(points))

    @follow_arguments
    def pdf(self, x: Any) -> Any:
        """The same as `evaluate`."""
        return self.evaluate(x)

    @follow_arguments
    def __call__(self, points: Any) -> Any:
        return self.evaluate(points)

    @follow_arguments
    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """The integral of the density times a normal density."""
        mean, cov = np.atleast_1d(mean), np.atleast_2d(cov)
        return self._overlap(mean[:, None], np.ones(1), self.covariance + cov)

    @follow_arguments
    def integrate_kde(self, other: Any) -> Any:
        """The integral of the density times that of another estimate."""
        return self._overlap(other.dataset, other.weights, self.covariance + other.covariance)

    def _overlap(self, centres: Any, weights: Any, cov: Any) -> Any:
        off = self.dataset[:, :, None] - centres[:, None, :]
        size = np.einsum("imn,ij,jmn->mn", off, np.linalg.inv(cov), off)
        kernels = np.exp(-size / 2) / np.sqrt(np.linalg.det(2 * math.pi * cov))
        return np.sum(kernels * self.weights[:, None] * weights)

    @follow_arguments
    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The probability of what is between two numbers, of an estimate of numbers."""
        if self.d != 1:
            raise ArgumentError(
                f"integrate_box_1d is for numbers, and the samples have {self.d} entries"
            )
        width = np.sqrt(self.covariance[0, 0])
        inside = ndtr((high - self.dataset[0]) / width) - ndtr((low - self.dataset[0]) / width)
        return np.sum(self.weights * inside)

    @follow_arguments
    def resample(self, key: Any, shape: Any = ()) -> Any:
        """Random samples: an array of shape (d, *shape)."""
        which, noise = random.split(key)
        at = random.choice(which, self.n, shape, p=self.weights)
        root = np.linalg.cholesky(self.covariance)
        off = random.normal(noise, (*shape, self.d)) @ root.T
        return self.dataset[:, at] + np.moveaxis(off, -1, 0)

    def _points(self, x: Any) -> Any:
        points = np.atleast_2d(x)
        if points.shape[0] != self.d and self.d != 1:
            raise ArgumentError(
                f"gaussian_kde: points of shape {points.shape}, and samples with {self.d} entries",
                "give the points as the columns of an array",
            )
        return points if points.shape[0] == self.d else np.reshape(points, (1, -1))
