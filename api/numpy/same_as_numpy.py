"""Names what of jax.numpy NumPy has under the same name and meaning."""

from __future__ import annotations

#: Functions whose results become arrays with `.at`.
FUNCTIONS = """
abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis
apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
argpartition around array array_equal array_equiv array_split asarray asin asinh atan atan2 atanh
atleast_1d atleast_2d atleast_3d average bartlett bitwise_and bitwise_count bitwise_invert
bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block
broadcast_arrays broadcast_to cbrt ceil choose clip column_stack concat concatenate conj conjugate
copy copysign corrcoef cos cosh count_nonzero cov cross cumprod cumsum cumulative_prod
cumulative_sum deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff
digitize divide divmod dsplit ediff1d empty empty_like equal exp exp2 expand_dims expm1 eye fabs
flip fliplr flipud float_power floor floor_divide fmax fmin fmod frexp from_dlpack frombuffer
fromfile fromfunction fromiter fromstring full full_like gcd geomspace gradient greater
greater_equal hamming hanning heaviside histogram2d histogram_bin_edges histogramdd
hsplit hypot i0 identity imag insert interp invert isclose iscomplex isfinite isin
isinf isnan isneginf isposinf isreal ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort
linspace load log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or
logical_xor logspace matrix_transpose max maximum mean median meshgrid min minimum mod modf
moveaxis multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian
nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar negative nextafter not_equal ones
ones_like outer packbits pad partition percentile permute_dims piecewise poly polyadd polyder
polyfit polyint polysub polyval positive pow power ptp quantile rad2deg radians ravel real
reciprocal remainder reshape resize right_shift rint roll rollaxis rot90 round searchsorted select
sign signbit sin sinc sinh sort_complex spacing split sqrt square squeeze stack std subtract
swapaxes tan tanh tile trace transpose trapezoid tri tril tril_indices tril_indices_from trim_zeros
triu triu_indices triu_indices_from true_divide trunc unpackbits unravel_index unstack unwrap
vander var vsplit zeros zeros_like
"""

#: What is held as it is: types, constants, and functions that make no arrays.
OBJECTS = """
array_repr array_str bool bool_ broadcast_shapes c_ can_cast cdouble character complex128 complex64
complexfloating csingle double dtype e einsum_path euler_gamma finfo flexible float16 float32
float64 floating generic get_printoptions iinfo index_exp inexact inf int16 int32 int64 int8 int_
integer iscomplexobj isdtype isrealobj issubdtype iterable mgrid nan ndim newaxis number object_
ogrid pi printoptions promote_types r_ result_type s_ save savez set_printoptions shape
signedinteger single size uint uint16 uint32 uint64 uint8 unsignedinteger
"""
