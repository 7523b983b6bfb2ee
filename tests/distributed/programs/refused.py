"""An axis of several processes inside another transformation is refused."""

import sys

import numpy as np

import tapeless
from tapeless import grad, pmap
from tapeless.lax import psum

tapeless.distributed.initialize()
normalize = pmap(lambda x: x / psum(x, "i"), axis_name="i")
try:
    grad(lambda x: np.sum(normalize(x)))(np.ones(2))
except NotImplementedError as e:
    assert "put pmap outside: pmap(grad(f))" in str(e)  # noqa: PT017 (no test function)
    sys.stdout.write(
        " ".join(
            map(
                str,
                (
                    "fine",
                    tapeless.process_index(),
                ),
            )
        )
        + "\n"
    )
tapeless.distributed.shutdown()
np.testing.assert_allclose(normalize(np.ones(2)), 0.5)
