"""Defines what drivers make and read around kernels: arrays, memory of threads, numbers of the
device.

out = empty(x.shape, np.float64); e = per_team((n,), np.float64); steps = count.item()
"""

from __future__ import annotations

from tapeless.transforms.core.language import Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.shapes import dtype_name

EMPTY = '''
def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)
'''
#: An array for a kernel; the backend puts memory there that was used before.
memory = Op(
    "memory",
    lambda *, shape, dtype: Type(dtype, shape),
    lambda args, params: (f"empty({{shape}}, {dtype_name(params['dtype'])})", EMPTY),
    pure=False,
)
TEAM_MEMORY = '''
class per_team:
    """An array of which each team of threads needs one of its own: launches make them."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def __len__(self):
        return self.shape[0]

    @property
    def size(self):
        size = 1
        for length in self.shape:
            size *= length
        return size
'''
#: Memory of which each team of threads that shares a row has its own.
team_memory = Op(
    "team_memory",
    memory.infer,
    lambda args, params: (f"per_team({{shape}}, {dtype_name(params['dtype'])})", TEAM_MEMORY),
    pure=False,
)
READ = '''
def read(number):
    """A number of the host; it waits for one that lies in the memory of the device."""
    return number.item() if hasattr(number, "item") else number
'''
#: A number of the host: it waits for one of the device, and for what kernels have noted until then.
read = Op("read", lambda a: Type(a.type.dtype, (), True), lambda args, params: ("read({0})", READ))
PLACES = '''
def stack_places(counts):
    """Where the stack of each row begins, and how many items there are: those of 32 rows lie side
    by side, item by item, with room for the longest. It waits for the counts."""
    groups = -(-len(counts) // 32)
    longest = np.zeros(32 * groups, np.int64)
    longest[: len(counts)] = counts
    longest = longest.reshape(groups, 32).max(axis=1) if groups else longest
    ends = np.cumsum(32 * longest)
    places = np.repeat(ends - 32 * longest, 32) + np.tile(np.arange(32), groups)
    return places[: len(counts)], int(ends[-1]) if groups else 0
'''
#: Where the items of stacks lie that rows have counted.
stack_places = Op(
    "stack_places",
    lambda counts: (counts.type, Type(counts.type.dtype, (), True)),
    lambda args, params: ("stack_places({0})", PLACES),
    pure=False,
)
