"""Likelihoods, filters and mixtures."""

import numpy as np
from scipy.special import gammaln, logsumexp

from tests.corpus import definite, normal, program, uniform


@program(0.4, 0.8, normal(5), wrt=(0, 1, 2))
def gaussian_likelihood(mean, log_width, data):
    width = np.exp(log_width)
    return np.sum(-0.5 * ((data - mean) / width) ** 2 - np.log(width) - 0.5 * np.log(2 * np.pi))


@program(normal(3), 0.2, normal(4, 3, seed=1), np.array([1, 0, 1, 1]), wrt=(0, 1))
def logistic_regression(w, b, x, labels):
    logits = x @ w + b
    return np.mean(np.log1p(np.exp(-(2 * labels - 1) * logits))) + 0.1 * np.sum(w**2)


@program(normal(3, 2), normal(4, 3, seed=1), np.array([0, 1, 1, 0]), wrt=(0, 1))
def cross_entropy(w, x, labels):
    logits = x @ w
    log_probabilities = logits - logsumexp(logits, axis=1, keepdims=True)
    return -np.mean(log_probabilities[np.arange(4), labels])


@program(normal(2, 2), normal(2, seed=1), normal(2, seed=2), normal(4, 2, seed=3), wrt=(0, 1, 2))
def gaussian_mixture(means, log_scales, logits, data):
    weights = logits - logsumexp(logits)
    scaled = (data[:, None, :] - means) * np.exp(-log_scales)[:, None]
    log_density = -0.5 * np.sum(scaled**2, axis=-1) - 2 * log_scales + weights
    return logsumexp(log_density, axis=1).sum()


@program(0.3, 0.6, normal(5), wrt=(0, 1, 2))
def kalman_filter_of_scalars(log_drift, log_noise, observations):
    mean, variance, total = 0.0, 1.0, 0.0
    for y in observations:
        variance += np.exp(log_drift)
        spread = variance + np.exp(log_noise)
        gain = variance / spread
        total += -0.5 * (np.log(spread) + (y - mean) ** 2 / spread)
        mean += gain * (y - mean)
        variance *= 1 - gain
    return total


@program(normal(2, 2), definite(2), normal(3, 1, seed=2), wrt=(0, 1, 2))
def kalman_filter_of_matrices(transition, noise, observations):
    observe = np.array([[1.0, 0.5]])
    mean, covariance = np.zeros(2), np.eye(2)
    for y in observations:
        mean = transition @ mean
        covariance = transition @ covariance @ transition.T + noise
        spread = observe @ covariance @ observe.T + 0.5
        gain = covariance @ observe.T @ np.linalg.inv(spread)
        mean = mean + gain @ (y - observe @ mean)
        covariance = (np.eye(2) - gain @ observe) @ covariance
    return mean, covariance


@program(
    normal(3), normal(3, 3, seed=1), normal(3, 2, seed=2), np.array([0, 1, 1, 0]), wrt=(0, 1, 2)
)
def hidden_markov_forward(start, transition, emission, symbols):
    transition = transition - logsumexp(transition, axis=1, keepdims=True)
    emission = emission - logsumexp(emission, axis=1, keepdims=True)
    alpha = start + emission[:, symbols[0]]
    for symbol in symbols[1:]:
        alpha = logsumexp(alpha[:, None] + transition, axis=0) + emission[:, symbol]
    return logsumexp(alpha)


@program(uniform(2), uniform(2, 2, seed=1), [0, 1, 1], wrt=(0, 1))
def hidden_markov_scaled_by_loops(start, transition, symbols):
    alpha, total = start / np.sum(start), 0.0
    for symbol in symbols:
        new = np.zeros(2)
        for i in range(2):
            for j in range(2):
                new[j] += alpha[i] * transition[i, j] * (0.8 if symbol == j else 0.2)
        scale = new.sum()
        total += np.log(scale)
        alpha = new / scale
    return total


@program(0.3, -0.5, -1.0, normal(4), normal(4, seed=1), wrt=(0, 1, 2, 4))
def gaussian_process_likelihood(log_scale, log_variance, log_noise, x, y):
    squared = (x[:, None] - x[None, :]) ** 2
    kernel = np.exp(log_variance - 0.5 * squared * np.exp(-2 * log_scale))
    kernel = kernel + np.exp(log_noise) * np.eye(4)
    factor = np.linalg.cholesky(kernel)
    alpha = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    return -0.5 * y @ alpha - np.sum(np.log(np.diag(factor))) - 2 * np.log(2 * np.pi)


@program(uniform(3), np.array([2, 0, 3]))
def poisson_likelihood(rates, counts):
    return np.sum(counts * np.log(rates) - rates - gammaln(counts + 1.0))


@program(2.3, 1.4, uniform(4, low=0.2, high=0.8), wrt=(0, 1, 2))
def beta_likelihood(a, b, x):
    normalisation = gammaln(a) + gammaln(b) - gammaln(a + b)
    return np.sum((a - 1) * np.log(x) + (b - 1) * np.log(1 - x)) - len(x) * normalisation


@program({"mean": normal(2), "log_width": normal(2, seed=1)}, normal(3, 2, seed=2))
def variational_bound(q, noise):
    width = np.exp(q["log_width"])
    samples = q["mean"] + width * noise
    expected = -0.5 * np.mean(np.sum(samples**2 + np.sin(3 * samples), axis=1))
    return expected + np.sum(q["log_width"])


@program(0.5, 0.3, normal(5), wrt=(0, 1, 2))
def garch(persistence, shock, returns):
    variance, total = 0.2, 0.0
    for r in returns:
        total -= 0.5 * (np.log(variance) + r * r / variance)
        variance = 0.1 + persistence * variance + shock * r**2
    return total


@program(normal(3, 2), normal(5, 2, seed=1), wrt=(0, 1))
def k_means_step(centres, points):
    sums, counts = np.zeros_like(centres), np.zeros(3)
    for point in points:
        nearest = np.argmin(np.sum((centres - point) ** 2, axis=1))
        sums[nearest] += point
        counts[nearest] += 1
    new = centres.copy()
    for k in range(3):
        if counts[k] > 0:
            new[k] = 0.5 * centres[k] + 0.5 * sums[k] / counts[k]
    return new


@program(normal(2, 2), normal(4, 2, seed=1), 2, wrt=(0, 1))
def expectation_maximisation(means, data, n):
    for _ in range(n):
        distances = np.sum((data[:, None] - means[None]) ** 2, axis=2)
        weights = np.exp(-0.5 * distances)
        weights /= weights.sum(axis=1, keepdims=True)
        means = weights.T @ data / weights.sum(axis=0)[:, None]
    return means
