"""What the tests of the passes share: staged runs, emitted programs, and counts of their parts."""

import inspect

import numpy as np

from tapeless.staging.user_calls import call_user
from tapeless.transforms.core.language import Let, blocks
from tapeless.transforms.emit.writer import emit_function
from tapeless.transforms.frontend.staging.stage import stage


def staged(function, *args):
    """The staged run of a function of plain arguments."""
    names = list(inspect.signature(function).parameters)[: len(args)]
    return stage(lambda params: call_user(function, *params), list(args), names)


def block_of(function, *args):
    return staged(function, *args).block


def compiled(block, name="made"):
    """The emitted function of a block, which takes its parameters and returns all its results."""
    arguments = [f"argument_{k}" for k in range(len(block.params))]
    text, helpers, imports = emit_function(
        name,
        block,
        ", ".join(arguments),
        list(zip(block.params, arguments, strict=True)),
        lambda values: "(" + "".join(v + ", " for v in values) + ")",
        "",
        set(arguments),
    )
    values = {}
    exec("\n\n".join(["import numpy as np", *imports, *helpers, text]), values)
    return values[name]


def every(block, kind=object):
    """All statements of one kind, outer before inner."""
    for s in block.body:
        if isinstance(s, kind):
            yield s
        for inner in blocks(s):
            yield from every(inner, kind)


def lets(block, name):
    """The statements that apply the operation called `name`."""
    return [s for s in every(block, Let) if s.op.name == name]


def size(block):
    """The number of statements."""
    return sum(1 for _ in every(block))


def close_to(a, b, tolerance=1e-9):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def slope(function, x, step=1e-6):
    """The derivative of a function of one number or array by central differences."""
    x = np.asarray(x, float)
    found = np.empty(x.shape)
    for k in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][k] += step
        moved[1][k] -= step
        low, high = (function(m if x.shape else float(m)) for m in moved[::-1])
        found[k] = (high - low) / (2 * step)
    return found
