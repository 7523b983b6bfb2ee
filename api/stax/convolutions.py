"""Makes layers that convolve, and transposed ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless import lax, random
from tapeless.lax.sliding_windows.windows import checked_numbers
from tapeless.nn.initializers import glorot_normal, normal
from tapeless.stax.layers import Layer
from tapeless.stax.seeded import seedable
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def GeneralConv(  # noqa: N802
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Any,
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,  # noqa: N803
    b_init: Any = None,
) -> Layer:
    """A convolution, to whose result a bias is added.

    dimension_numbers  what the axes are: of the inputs ('NHWC': batch, height, width, channels),
                       of the kernel ('HWIO', with inputs and outputs) and of the result
    out_chan      how many channels the result has
    filter_shape  the lengths of the kernel in space
    strides       how far it moves, 1 by default
    padding       'VALID', 'SAME', 'SAME_LOWER' or a pair for each axis in space
    W_init, b_init  initializers; `glorot_normal` and `normal(1e-6)` by default

    Parameters are (W, b). Raises ValueError or TypeError for what does not fit. `Conv` is this with
    ('NHWC', 'HWIO', 'NHWC').

    >>> from tapeless import random
    >>> shape, (w, b) = Conv(8, (3, 3), padding="SAME")[0](random.key(0), (-1, 28, 28, 1))
    >>> shape, w.shape, b.shape
    ((-1, 28, 28, 8), (3, 3, 1, 8), (1, 1, 1, 8))
    """
    strides = checked_numbers("conv", "strides", strides or None, len(filter_shape))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        convolved = lax.conv_general_dilated(
            inputs, w, strides, padding, dimension_numbers=dimension_numbers
        )
        return convolved + b

    def shape_of(inputs: Any, kernel: Any) -> Any:
        return lax.conv_general_shape_tuple(inputs, kernel, strides, padding, dimension_numbers)

    return _init(shape_of, dimension_numbers, out_chan, filter_shape, W_init, b_init), apply_fun


def GeneralConvTranspose(  # noqa: N802
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Any,
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,  # noqa: N803
    b_init: Any = None,
) -> Layer:
    """A transposed convolution, to whose result a bias is added: it makes an array `strides` times
    as large. Arguments are those of `GeneralConv`, but for 'SAME_LOWER'.

    `ConvTranspose` is this with ('NHWC', 'HWIO', 'NHWC'), `Conv1DTranspose` with
    ('NHC', 'HIO', 'NHC').

    >>> from tapeless import random
    >>> layer = ConvTranspose(8, (3, 3), strides=(2, 2), padding="SAME")
    >>> layer[0](random.key(0), (-1, 14, 14, 1))[0]
    (-1, 28, 28, 8)
    """
    strides = checked_numbers("conv", "strides", strides or None, len(filter_shape))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        convolved = lax.conv_transpose(
            inputs, w, strides, padding, dimension_numbers=dimension_numbers
        )
        return convolved + b

    def shape_of(inputs: Any, kernel: Any) -> Any:
        return lax.conv_transpose_shape_tuple(inputs, kernel, strides, padding, dimension_numbers)

    return _init(shape_of, dimension_numbers, out_chan, filter_shape, W_init, b_init), apply_fun


def _init(
    shape_of: Callable[[Any, Any], Any],
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Any,
    w_init: Any,
    b_init: Any,
) -> Callable[..., Any]:
    """init_fun, of a function that gives the shape of the result."""
    rank = len(filter_shape) + 2
    lax.conv_dimension_numbers((1,) * rank, (1,) * rank, dimension_numbers)
    inputs, kernel, outputs = dimension_numbers
    w_init = w_init or glorot_normal(kernel.index("I"), kernel.index("O"))
    b_init = b_init or normal(1e-6)

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        if len(input_shape) != rank:
            raise ArgumentError(
                f"stax: inputs of a convolution with the axes {inputs} do not have the shape "
                f"{tuple(input_shape)}"
            )
        lengths = iter(filter_shape)
        lengths_by_letter = {"O": out_chan, "I": input_shape[inputs.index("C")]}
        of_kernel = tuple(
            [lengths_by_letter[c] if c in lengths_by_letter else next(lengths) for c in kernel]
        )
        k1, k2 = random.split(rng)
        w = w_init(k1, of_kernel)
        b = b_init(k2, tuple([out_chan if c == "C" else 1 for c in outputs]))
        return shape_of(tuple(input_shape), of_kernel), (w, b)

    return init_fun


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
