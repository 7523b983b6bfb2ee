"""Modules for a GPU as they are emitted, small."""

from tapeless.transforms.cuda.launch_text import KERNEL

HEAD = '''import cupy as cp

CODE = r"""
extern "C" __global__ void f_kernel(...) {...}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))

'''


def module(kernel, driver):
    """A module with one kernel and the function `f`."""
    return f"{HEAD}\n{KERNEL.strip()}\n\n\nf_kernel = Kernel({kernel})\n\n\n{driver}"


TWICE = module(
    '"f_kernel", lambda rows, x, out: (rows, x, out)',
    """def f(x):
    out = cp.empty(x.shape, cp.float64)
    f_kernel(x.shape[0], x, out)
    return out
""",
)
CHECKED = module(
    '"f_kernel", lambda rows, x, out, error: (rows, x, out, error),\n'
    '    errors=(("IndexError", ("too far",)), ("LinAlgError", ("Singular matrix",)))',
    TWICE.rpartition("\n\n\n")[2],
)
SUM = module(
    '"f_kernel", lambda rows, x, results: (rows, x, results[0]), results=(("float64", "sum"),)',
    """def f(x):
    return f_kernel(x.shape[0], x)
""",
)
