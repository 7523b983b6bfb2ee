"""shim: the prototype printer behind the contract"""

import ast
import sys
from dataclasses import dataclass

import numpy as np

sys.path.insert(0, "/work/shared/gpu")
import emit_cuda


class NotPrintedError(Exception):
    pass


@dataclass(frozen=True)
class Parameter:
    name: str
    dtype: object
    ndim: int
    kind: str = "array"
    join: str = ""


@dataclass(frozen=True)
class CudaKernel:
    name: str
    text: str
    helpers: tuple
    arguments: tuple
    shares_rows: bool
    team_lengths: tuple
    errors: tuple
    results: tuple
    scratch: tuple
    notes: tuple = ()


class Fix(ast.NodeTransformer):
    def visit_Expr(self, s):
        match s.value:
            case ast.Call(func=ast.Name(id="add_at"), args=[place, v]):
                place.ctx = ast.Store()
                return ast.AugAssign(place, ast.Add(), v)
        return s


def print_kernel(node, parameters, results, functions, fastmath=True):
    node = Fix().visit(node)
    types = {
        p.name: (np.dtype(p.dtype), None if p.kind == "device_number" else p.ndim)
        for p in parameters
    }
    own = [p.name for p in parameters if p.kind == "own"]
    sums = {p.name: p.join for p in parameters if p.kind == "sum"}
    try:
        pr = emit_cuda.Printer(
            node, types, [d for d, _ in results], own, sums, [w for _, w in results]
        ).run()
    except (
        emit_cuda.UnknownError,
        KeyError,
        AttributeError,
        TypeError,
        ValueError,
        IndexError,
    ) as e:
        raise NotPrintedError(f"{type(e).__name__} {e}") from e
    args = []
    for p in pr.params:
        match p:
            case ("rows",):
                args.append("rows")
            case ("array" | "own" | "sums" | "scratch", n):
                args.append(n)
            case ("number", n):
                d, axes = types[n]
                args.append(
                    n if axes is None else f"cp.{d.name if d.kind != 'b' else 'bool_'}({n})"
                )
            case ("shape", n, k):
                args.append(f"{n}.shape[{k}]")
            case ("result", k, *_):
                args.append(f"results[{k}]")
            case ("error",):
                args.append("error")
    text = pr.text
    cut = text.index('extern "C"')
    helpers = text[len(emit_cuda.HEAD) : cut]
    hs = tuple(h for h in _split(helpers))
    return CudaKernel(
        pr.name,
        text[cut:],
        hs,
        tuple(args),
        ("rows",) in pr.params,
        tuple(pr.lengths) if pr.teams else (),
        tuple(pr.errors),
        tuple(results),
        tuple((n, d, s) for n, (d, s) in pr.scratch.items()),
    )


def _split(t):
    out = []
    for line in t.splitlines():
        if line.startswith("__device__"):
            out.append("")
        out[-1] += line + "\n"
    return out
