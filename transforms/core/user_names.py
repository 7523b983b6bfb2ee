"""Tells which names of variables come from the user's source.

v_bar, x_saved, passes      are ours,      v and x are the user's
"""

import builtins
import re

#: What emitted code calls by a name of its own, which functions of the user do not get.
HELPERS = """
_gamma_fraction _gamma_series njit np scipy adjugate adjugate_in_place before betainc_by_shapes
checked_input checked_number checked_output checked_shape
cholesky_in_place compensated complex_cosh complex_differences complex_exp complex_power
complex_sinh complex_tanh
divided_differences
eig eliminate_in_place empty erf_inv erf_inv_single factorises four_rounds filled
gammainc_by_shape grown in_numbers_of
in_parallel inverse_error inverse_error_single inverse_gaps inverse_sums last_store matmul matrix
matrix_slope order_in_place place_after place_before plus plus_product product random_word
repeated row_order scratch search_after_in_place search_before_in_place sort_in_place
substitute_in_place substitute_untested_in_place summed threefry2x32 turned
turned_back unique_rows unit_of within
zeros_like
nan_where_unclear values_and_turns solve_entries
stack_places read module Kernel KernelError functools on_device raising cp cupyx numpy CODE host
zeros full copy_of solve_lower solve_upper linear_recurrence linear_recurrence_backwards
"""
CALLED = frozenset([*HELPERS.split(), *dir(builtins)])
OURS = re.compile(r"(done|stop|left)_\d+|.*_(bar|dot|saved)|")
WORDS = {"passes", "count", "ran", "carried", "saved"}  # of ours, though a user may have them
FLAGS = {"done": "returned", "stop": "stopped", "left": "skip"}
FLAG = re.compile(r"(done|stop|left)_\d+(_saved)?")


def of_user(name: str) -> bool:
    return not OURS.fullmatch(name)


def readable(name: str) -> str:
    """A name for emitted code: flags have the number of the jump that they replace."""
    flag_name = FLAG.fullmatch(name)
    return FLAGS[flag_name[1]] + (flag_name[2] or "") if flag_name else name


def short_name(path: str) -> str:
    """A variable name for what an expression reads: w0 for params["w"][0]."""
    return short_names(path)[0]


def short_names(path: str) -> list[str]:
    """Variable names for what an expression reads, the shortest first: w and layers0_w for
    self.layers[0].w."""
    path = re.sub(r".* of |\(.*", "", path)  # of "the defaults of f" the function
    words = re.findall(r"[A-Za-z_][A-Za-z_0-9]*|\d+", path)
    names: list[str] = []
    places: list[str] = []
    for word in reversed(words):
        if word.isdigit():
            places.insert(0, word)
            continue
        name = word + "_".join(places)
        names.append(f"{name}_{names[-1]}" if names else name)
        places = []
    return names or ["x" + "_".join(places)]
