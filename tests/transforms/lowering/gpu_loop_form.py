"""Loop form for a GPU as plain Python: the meaning of its text, one row and one pass at a time.

in each(n)      is      in range(n)      add_at(x[i], v)      is      x[i] += v
"""

import ast
import copy

import numpy as np

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.lowering import lower as lowering
from tapeless.transforms.lowering.target import GPU


class LoopForm(Jit):
    """A function as loop form for a GPU, which Python runs."""

    def shelf(self, args, kwargs):
        return None

    def compile_lowered(self, args, kwargs):
        plain = lowering.lower
        lowering.lower = lambda *given, **options: plain(*given, **{**options, "target": GPU})
        try:
            return super().compile_lowered(args, kwargs)
        finally:
            lowering.lower = plain

    def load(self, text, outline=None):
        return as_python(self.emitted_name, text)


class Additions(ast.NodeTransformer):
    """add_at(x[i], v) becomes x[i] += v."""

    def visit_Expr(self, s):
        match s.value:
            case ast.Call(func=ast.Name(id="add_at"), args=[place, value]):
                target = copy.copy(place)
                target.ctx = ast.Store()
                return ast.AugAssign(target, ast.Add(), value)
        return s


def as_python(name, text):
    """The function of a module of loop form for a GPU; its kernels run a row after the other."""
    tree = Additions().visit(ast.parse(text))
    tree.body = [s for s in tree.body if ast.unparse(s) != "from numba import njit"]
    kernels = {
        s.name: s for s in tree.body if isinstance(s, ast.FunctionDef) and "_kernel" in s.name
    }
    values = {
        "njit": lambda function=None, **_: function or (lambda f: f),
        "each": range,
        "turns": range,
        "apart": range,
    }
    exec(compile(ast.fix_missing_locations(tree), name, "exec"), values)
    for kernel, node in kernels.items():
        values[kernel] = launched(values[kernel], node)
    return values[name]


def launched(kernel, node):
    """A kernel as the driver of a GPU program calls it: all rows, with memory for each of them."""
    names = [a.arg for a in node.args.args]
    flat = {n for n in names if is_flat(node, n)}

    def call(rows, *args, own=(), sums=()):
        made = [np.empty(each.shape, each.dtype) for each in own]
        given = [*(() if rows is None else (0, rows)), *args, *made, *sums]
        pairs = zip(names, given, strict=True)
        given = [x.reshape(-1) if n in flat and np.ndim(x) > 1 else x for n, x in pairs]
        with np.errstate(all="ignore"):
            result = kernel(*given)
        if result is None:
            return None
        return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)

    return call


def is_flat(node, name):
    """Whether a kernel takes the elements of an array one after the other, whatever its axes."""
    uses = [e for e in ast.walk(node) if isinstance(e, ast.Name) and e.id == name]
    at = [
        e for e in ast.walk(node) if isinstance(e, ast.Subscript) and isinstance(e.value, ast.Name)
    ]
    mine = [e for e in at if e.value.id == name]
    single = all(isinstance(e.slice, (ast.Name, ast.Constant)) for e in mine)
    return bool(mine) and len(mine) == len(uses) and single


def gradient(program):
    """The gradient of a program of the corpus."""
    return tapeless.grad(program.projected(), argnums=program.wrt)
