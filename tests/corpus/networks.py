"""Layers of neural networks written out in NumPy."""

import numpy as np

from tests.corpus import normal, program, uniform


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


@program([(normal(3, 4), normal(4)), (normal(4, 2, seed=1), normal(2))], normal(5, 3), wrt=(0, 1))
def perceptron(layers, x):
    *hidden, (w_out, b_out) = layers
    for w, b in hidden:
        x = np.tanh(x @ w + b)
    return x @ w_out + b_out


@program({"w": normal(5, 12), "b": normal(12, seed=1)}, normal(4, 2, seed=2), wrt=(0, 1))
def lstm(parameters, inputs):
    h, c = np.zeros(3), np.zeros(3)
    for x in inputs:
        gates = np.concatenate([x, h]) @ parameters["w"] + parameters["b"]
        i, f, o, g = gates[:3], gates[3:6], gates[6:9], gates[9:]
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h


@program(normal(3, 2, 2), normal(4, 2, seed=1), wrt=(0, 1))
def gated_recurrence(w, inputs):
    h = np.zeros(2)
    outputs = []
    for x in inputs:
        z = sigmoid(w[0] @ x + h)
        candidate = np.tanh(w[1] @ x + w[2] @ (z * h))
        h = (1 - z) * h + z * candidate
        outputs.append(h)
    return np.array(outputs)


@program(
    normal(4, 3), normal(3, 3, seed=1), normal(3, 3, seed=2), normal(3, 2, seed=3), wrt=(0, 1, 2, 3)
)
def causal_attention(x, wq, wk, wv):
    scores = (x @ wq) @ (x @ wk).T / np.sqrt(x.shape[1])
    scores = np.where(np.tril(np.ones((4, 4), dtype=bool)), scores, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ (x @ wv)


@program(normal(3, 4), normal(4, 4, seed=1), wrt=(0, 1))
def multi_head_attention(x, w):
    heads = (x @ w).reshape(3, 2, 2).transpose(1, 0, 2)
    scores = np.einsum("hid,hjd->hij", heads, heads)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return (weights @ heads).transpose(1, 0, 2).reshape(3, 4)


@program(normal(3, 4), normal(4, seed=1), normal(4, seed=2), wrt=(0, 1, 2))
def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + 1e-5) + bias


@program(normal(4, 5), normal(2, 3, seed=1), wrt=(0, 1))
def convolution_by_loops(image, kernel):
    height, width = image.shape[0] - kernel.shape[0] + 1, image.shape[1] - kernel.shape[1] + 1
    result = np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            result[i, j] = np.sum(image[i : i + 2, j : j + 3] * kernel)
    return np.maximum(result, 0.1 * result)


@program(normal(4, 5), normal(2, 2, seed=1), wrt=(0, 1))
def convolution_by_shifted_slices(image, kernel):
    result = 0.0
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            result = result + kernel[i, j] * image[i : i + 3, j : j + 4]
    return result**2


@program(normal(6), normal(3, seed=1), wrt=(0, 1))
def convolution_with_scatter(x, kernel):
    result = np.zeros(8)
    for i in range(6):
        result[i : i + 3] += x[i] * kernel
    return result


@program(normal(4, 4))
def max_pooling(image):
    return image.reshape(2, 2, 2, 2).max(axis=(1, 3)) ** 2


@program(normal(4, 3), np.array([2, 0, 2]), normal(3, 2, seed=1), wrt=(0, 2))
def embedding(table, tokens, w):
    vectors = table[tokens]
    return np.tanh(vectors.mean(axis=0) @ w)


@program(
    normal(3, 3), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), normal(3, 2, seed=1), wrt=(0, 2)
)
def graph_convolution(nodes, adjacency, w):
    linked = adjacency + np.eye(3)
    degree = linked.sum(axis=1)
    return np.tanh(linked @ nodes @ w / degree[:, None])


@program(normal(2, 3), normal(4, 3, seed=1), np.array([1, 0, 1, 1]), True, wrt=(0, 1))
@program(normal(2, 3), normal(4, 3, seed=1), np.array([1, 0, 1, 1]), False, wrt=(0, 1))
def dropout_while_training(w, x, keep, training):
    h = x @ w.T
    if training:
        h = h * keep[:, None] / 0.75
    return np.log1p(np.exp(h))


@program(normal(3, 2), normal(3, 2, seed=1), wrt=(0, 1))
def contrastive_loss(a, b):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    similarity = a @ b.T / 0.5
    log_weights = similarity - np.log(np.sum(np.exp(similarity), axis=1, keepdims=True))
    return -np.mean(np.diag(log_weights))


@program(uniform(3), normal(3, 3), wrt=(0, 1))
def residual_blocks(x, w):
    for depth in range(3):
        h = np.maximum(w @ x, 0.0) if depth % 2 else np.sin(w @ x)
        x = x + h / (depth + 1)
    return x


@program(normal(3), normal(3, 3, seed=1), 4, wrt=(0, 1))
def hopfield_iterations(x, w, n):
    symmetric = (w + w.T) / 2 - np.diag(np.diag(w))
    for _ in range(n):
        for i in range(len(x)):
            x[i] = np.tanh(symmetric[i] @ x)
    return x
