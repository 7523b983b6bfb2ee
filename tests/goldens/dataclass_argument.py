import numpy as np


def dataclass_argument_grad(p):
    """d dataclass_argument / d p.  From test_goldens.py:154."""
    length, angle = p.length, p.angle
    return -9.81 * np.cos(angle), 9.81 * length * np.sin(angle)
