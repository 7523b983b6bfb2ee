"""PyTorch by NumPy's names, as far as the workloads use them."""

import torch


class LikeNumpy:
    """What workloads call of NumPy, of tensors."""

    newaxis = None
    sin, cos, exp, log, tanh, sum, mean, where = (
        *(torch.sin, torch.cos, torch.exp, torch.log, torch.tanh),
        *(torch.sum, torch.mean, torch.where),
    )

    @staticmethod
    def max(x, axis=None, keepdims=False):
        return torch.amax(x, axis, keepdims)

    @staticmethod
    def zeros(shape, dtype):
        return torch.zeros(shape, dtype=dtype)

    @staticmethod
    def dot(x, y):
        return x @ y

    @staticmethod
    def concatenate(parts):
        return torch.cat(parts)
