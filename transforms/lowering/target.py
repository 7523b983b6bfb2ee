"""Describes the machine that a program is lowered for.

for t in range(n): x = f(x)      on a CPU a loop over vectors, on a GPU a loop in each thread
"""

from __future__ import annotations

from tapeless.transforms.dataclass import dataclass


@dataclass(frozen=True)
class Target:
    """What loop form is made for.

    rank            axes from which on a user's loop runs row by row: with 2 an axis is left for
                    vectors, with 1 each thread has a row of its own
    lanes           whether elements of a batch are taken in step, several at a time
    separate        whether each nest of independent rows is a kernel; loops whose passes depend on
                    each other are the driver's
    memory          additions that take as long as to get a number from memory
    returns_numbers whether the driver gets the numbers that kernels return; else these stay in the
                    memory of the device, as arrays without axes
    one_block       additions of a pass below which a loop whose passes depend on each other is made
                    by a single block of threads
    library         whose functions on whole arrays the driver can call; "" if there is none
    makes_arrays    whether kernels make small arrays whose lengths are not constant
    sums_in_blocks  whether sums are added up in blocks, which bounds how long they may be
    tells_errors    whether errors can tell of values that a kernel has
    most_loops      how many loops a kernel has before the rest goes to another one: compilers take
                    as long as the square of a function's length; 0 if kernels are never cut
    small_matrix    numbers of a matrix up to which loops multiply stacks by it in place, where a
                    library would get copies of their rows
    draws           whether kernels draw random numbers from NumPy's generators
    products_of_passes  whether products of vectors leave loops, for one product of all passes
    linear_recurrences  whether loops that carry a few numbers linearly are cut into blocks
                    of passes whose coefficients compilers compute several at once
    any_order       whether sums that the user wrote in loops may be added up in another order, too
    names           names that the calls of kernels have for themselves
    """

    name: str
    rank: int
    lanes: bool
    separate: bool
    memory: int
    returns_numbers: bool
    one_block: int = 0
    library: str = "NumPy"
    makes_arrays: bool = True
    sums_in_blocks: bool = True
    tells_errors: bool = True
    most_loops: int = 0
    small_matrix: int = 1 << 10
    products_of_passes: bool = False
    draws: bool = False
    linear_recurrences: bool = False
    any_order: bool = False
    names: frozenset[str] = frozenset()


CPU = Target(
    "cpu",
    rank=2,
    lanes=True,
    separate=False,
    memory=4,
    returns_numbers=True,
    most_loops=24,
    products_of_passes=True,
    draws=True,
)
#: One thread, which compilers of C know nothing more of.
C = Target(
    "c",
    rank=2,
    lanes=False,
    separate=False,
    memory=4,
    returns_numbers=True,
    library="",
    makes_arrays=False,
    sums_in_blocks=False,
    tells_errors=False,
    linear_recurrences=True,
)
GPU = Target(
    "gpu",
    rank=1,
    lanes=False,
    separate=True,
    memory=40,
    returns_numbers=False,
    one_block=200_000,
    small_matrix=0,
    library="CuPy",
    makes_arrays=False,
    sums_in_blocks=False,
    tells_errors=False,
    names=frozenset(["cp", "on_device"]),
)
