"""shim"""
import sys, contextlib
import numpy as np
THREADS, MOST_BLOCKS = 256, 1024
def cupy():
    import cupy
    return cupy
def is_array(x): return isinstance(x, cupy().ndarray)
def on_device(x): return cupy().asarray(x) if isinstance(x, np.ndarray) else x
def device_of(leaves, device): return contextlib.nullcontext()
ERRORS = []
JOIN = {"sum": ("a + b", "0"), "prod": ("a * b", "1"), "any": ("a | b", "false"), "all": ("a & b", "true"),
        "max": ("a > b || a != a ? a : b", None), "min": ("a < b || a != a ? a : b", None)}
JOINER = """typedef long long i64;
extern "C" __global__ void join({c}* part, {c}* out, i64 parts, i64 n) {{
  __shared__ {c} held[8][32];
  i64 j = blockIdx.x * 32LL + threadIdx.x;
  {c} a = {first};
  if (j < n) for (i64 k = threadIdx.y; k < parts; k += 8) {{ {c} b = part[k * n + j]; a = {op}; }}
  held[threadIdx.y][threadIdx.x] = a;
  __syncthreads();
  if (threadIdx.y == 0 && j < n) {{
    for (int k = 1; k < 8; k++) {{ {c} b = held[k][threadIdx.x]; a = {op}; }}
    out[j] = a;
  }}
}}
"""
joiners = {}
def join(part, out, word):
    import emit_cuda
    key = part.dtype.str[1:], word
    if key not in joiners:
        first = emit_cuda.Printer.first(emit_cuda.Printer.__new__(emit_cuda.Printer), word, part.dtype)
        joiners[key] = cupy().RawModule(code=JOINER.format(c=emit_cuda.C[key[0]], op=JOIN[word][0], first=first), backend="nvrtc").get_function("join")
    joiners[key]((-(-max(1, out.size) // 32),), (32, 8), (part, out, part.shape[0], out.size))
class Kernel:
    def __init__(self, name, arguments, *, team=None, results=(), errors=(), scratch=(), joins=()):
        self.name, self.arguments, self.team, self.results = name, arguments, team, results
        self.errors, self.scratch, self.joins = errors, scratch, joins
        code = arguments.__code__
        self.names = list(code.co_varnames[:code.co_argcount])
        self.function = None
        self.has_rows = "rows" in self.names
        self.params = [n for n in self.names if n not in ("rows", "results", "error")]
    def __call__(self, rows, *args, own=(), sums=()):
        cp = cupy()
        if self.function is None: self.function = self.module.get_function(self.name)
        first = len(args)
        given = dict(zip(self.params, (*args, *own, *sums)))
        for n, x in given.items():
            if isinstance(x, cp.ndarray): given[n] = cp.ascontiguousarray(x) if x.ndim else x
        if rows is not None and rows <= 0 and not self.results and not sums: return None
        team, per_block, blocks = self.shape(rows, given, bool(sums))
        total = blocks * per_block * (1 if self.team else team)
        k = len(args); keep = []
        for n, o in zip(self.params[k:], own):
            keep.append(cp.empty((total, *o.shape), o.dtype)); given[n] = keep[-1][0]
        parts = []
        k += len(own)
        for n, out, word in zip(self.params[k:], sums, self.joins):
            keep.append(cp.empty((blocks * per_block, *out.shape), out.dtype)); given[n] = keep[-1][0]; parts.append((keep[-1], out, word))
        extra = {}
        if self.has_rows: extra["rows"] = rows
        results = []
        if self.results:
            buf = []
            for d, word in self.results:
                out = cp.empty((), d); results.append(out)
                if word == "first": buf.append(out)
                else:
                    p = cp.empty((blocks,), d); parts.append((p, out, word)); buf.append(p)
            extra["results"] = buf
        if self.errors:
            extra["error"] = cp.asarray(np.array([2**64 - 1], np.uint64)); ERRORS.append((extra["error"], self.errors))
        passed = self.arguments(**given, **extra)
        self.function((blocks,), (team, per_block), tuple(passed))
        for p in parts: join(*p)
        return results[0] if len(results) == 1 else tuple(results) if results else None
    def shape(self, rows, given, sums):
        if not self.has_rows: return THREADS, 1, 1
        team = 1
        if self.team:
            n = max(1, max(int(x) for x in self.team(**given)))
            team = min(1 << (n - 1).bit_length() if n > 1 else 1, THREADS)
        per_block = max(1, THREADS // team) if team <= 32 else 1
        if not self.team: team, per_block = 1, THREADS
        blocks = max(1, -(-rows // per_block))
        return team, per_block, min(blocks, 64 if sums else MOST_BLOCKS)
def load(name, text, **o):
    values = {"__name__": name}
    def ready():
        if name in values: return values[name]
        tree = compile(text, f"<emitted {name}>", "exec")
        exec(tree, values)
        module = values["module"]
        for k, v in list(values.items()):
            if type(v).__name__ == "Kernel":
                new = Kernel(v.name, v.arguments, team=v.team, results=v.results, errors=v.errors, scratch=v.scratch, joins=v.joins)
                new.module = module; values[k] = new
        return values[name]
    def run(*args):
        made = ready()(*map(on_device, args))
        check()
        return made
    return run
def check():
    import builtins
    errors, ERRORS[:] = list(ERRORS), []
    for buffer, table in errors:
        code = int(buffer.get()[0])
        if code != 2**64 - 1:
            kind, args = table[code % 256]
            raise (getattr(builtins, kind, None) or getattr(np.linalg, kind.split(".")[-1]))(*args)

def copy_back(x, out):
    """Copies an array of the device to one of NumPy that was given."""
    out[...] = x.get()


def overlap(a, b):
    """Whether two arrays of the device may share memory, by where they begin and end."""
    first, second = sorted((x.data.ptr, x.data.ptr + x.nbytes) for x in (a, b))
    return second[0] < first[1]
