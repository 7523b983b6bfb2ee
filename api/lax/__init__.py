"""Provides the functions of jax.lax as plain NumPy code: control flow, convolutions, collectives.

Outside of transformed functions, arrays of `tapeless.numpy` give arrays of `tapeless.numpy`.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.lax instead of {__name__}")

from typing import Any

from tapeless.lax import (
    arrays,
    associative,
    bitwise,
    branches,
    collectives,
    creation,
    cumulative,
    dots,
    elementwise,
    fft,
    gathers,
    indexing_numbers,
    linalg,
    loops,
    missing,
    option_names,
    ragged,
    reductions,
    slicing,
    solving,
    sorting,
    special,
)
from tapeless.lax.sliding_windows import (
    convolution,
    convolution_patches,
    dimension_numbers,
    padding,
    pooling,
    shape_rules,
)
from tapeless.numpy.array_functions import Following, as_it_is, following
from tapeless.staging.device_placement import with_sharding_constraint
from tapeless.transformations.public_functions import stop_gradient

LAYOUT = "out_sharding sharding"  # keywords of JAX that say where results lie, and nothing here
_held: dict[str, Any] = {
    # control flow
    **following(branches, "cond platform_dependent switch"),
    **following(associative, "associative_scan"),
    **following(loops, "fori_loop map scan while_loop"),
    **as_it_is(solving, "custom_linear_solve custom_root"),
    "stop_gradient": stop_gradient,
    # collectives
    **as_it_is(collectives, "all_gather all_to_all axis_index axis_size pbroadcast pmax pmean"),
    **as_it_is(collectives, "pmin ppermute pshuffle psum psum_scatter pswapaxes"),
    # elementwise functions
    **following(elementwise, "abs acos acosh add asin asinh atan atan2 atanh bitwise_and"),
    **following(elementwise, "bitwise_not bitwise_or bitwise_xor cbrt ceil complex conj cos"),
    **following(
        elementwise, "cosh div eq exp exp2 expm1 floor ge gt imag integer_pow is_finite le"
    ),
    **following(elementwise, "log log1p logistic lt max min mul ne neg nextafter pow real"),
    **following(elementwise, "reciprocal rem rsqrt sign sin sinh sqrt square sub tan tanh"),
    **following(elementwise, "clamp round select select_n"),
    **following(bitwise, "clz mulhi population_count shift_left shift_right_arithmetic"),
    **following(bitwise, "shift_right_logical"),
    **following(special, "bessel_i0e bessel_i1e betainc digamma erf erf_inv erfc igamma"),
    **following(special, "igammac lgamma"),
    **following(special, "igamma_grad_a polygamma random_gamma_grad zeta"),
    # shapes
    **following(arrays, "broadcast broadcast_in_dim reshape", LAYOUT),
    **following(arrays, "broadcast_like broadcast_to_rank collapse concatenate expand_dims rev"),
    **following(arrays, "split squeeze stack tile transpose unstack"),
    **as_it_is(arrays, "broadcast_shapes"),
    **following(creation, "bitcast_convert_type convert_element_type iota optimization_barrier"),
    **following(creation, "reduce_precision shape_as_value"),
    **following(creation, "broadcasted_iota empty full full_like", LAYOUT),
    **as_it_is(creation, "dtype stage"),
    "with_sharding_constraint": with_sharding_constraint,
    **following(padding, "pad"),
    # parts of arrays
    **following(slicing, "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim"),
    **following(slicing, "dynamic_update_index_in_dim dynamic_update_slice"),
    **following(slicing, "dynamic_update_slice_in_dim index_in_dim index_take slice_in_dim"),
    "slice": Following(slicing.slice_, "slice", module=__name__),
    **following(gathers, "gather scatter scatter_add scatter_apply scatter_max scatter_min"),
    **following(gathers, "scatter_mul scatter_sub"),
    **as_it_is(indexing_numbers, "GatherDimensionNumbers GatherScatterMode Layout"),
    **as_it_is(indexing_numbers, "ScatterDimensionNumbers"),
    # reductions and sorting
    **following(reductions, "argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod"),
    **following(reductions, "reduce_xor"),
    **following(reductions, "reduce reduce_sum", LAYOUT),
    **following(cumulative, "cumlogsumexp cummax cummin cumprod cumsum"),
    **following(sorting, "approx_max_k approx_min_k sort sort_key_val top_k"),
    # products, convolutions and windows
    **following(dots, "batch_matmul"),
    **following(dots, "dot dot_general", LAYOUT),
    **following(ragged, "ragged_dot ragged_dot_general", LAYOUT),
    **following(convolution, "conv conv_transpose conv_with_general_padding"),
    **following(convolution, "conv_general_dilated", LAYOUT),
    **following(convolution_patches, "conv_general_dilated_local conv_general_dilated_patches"),
    **following(pooling, "reduce_window"),
    **following(fft, "fft"),
    **as_it_is(dimension_numbers, "ConvDimensionNumbers conv_dimension_numbers"),
    **as_it_is(shape_rules, "conv_general_permutations conv_general_shape_tuple"),
    **as_it_is(shape_rules, "conv_shape_tuple conv_transpose_shape_tuple padtype_to_pads"),
    **as_it_is(shape_rules, "reduce_window_shape_tuple"),
    # how to compute
    **as_it_is(option_names, "ConvGeneralDilatedDimensionNumbers DotDimensionNumbers FftType"),
    **as_it_is(option_names, "Precision PrecisionLike RaggedDotDimensionNumbers RandomAlgorithm"),
    **as_it_is(option_names, "RoundingMethod"),
    "linalg": linalg,
}
globals().update(_held)
__all__ = sorted(_held)


def __getattr__(name: str) -> Any:
    """Says why a name of jax.lax is not here."""
    return missing.refuse(name)
