import cupy as cp


CODE = r"""
typedef long long i64;

typedef unsigned long long u64;

#define INF64 __longlong_as_double(0x7ff0000000000000LL)

__device__ void fail(u64* error, i64 row, int code) {  // the first row's error stays
  atomicMin(error, (u64)row * 256 + code);
}

extern "C" __global__ void horizon_vmap_kernel(
    i64 rows, const double* __restrict__ start, const double* __restrict__ nearby, double apart,
    double latest, double* __restrict__ out, i64* __restrict__ out_2, u64* error) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  double out_3[6];
  double out_4[6];
  double state[6];
  double out_5[6];
  double out_6[6];
  double new_[6];
  double out_7[6];
  for (i64 i = team; i < rows; i += teams) {  // line 50
    double return_value_2;
    bool ran_2;
    i64 steps_4;
    for (i64 i_2 = 0; i_2 < 3; i_2++) {
      out_3[i_2 * 2] = start[i * 3 + i_2];
      out_3[i_2 * 2 + 1] = nearby[i * 3 + i_2];
    }
    for (i64 i_2 = 0; i_2 < 2; i_2++) {
      double t = out_3[i_2] * (28.0 - out_3[4 + i_2]) - out_3[2 + i_2];  // line 31
      double t_2 = out_3[i_2] * out_3[2 + i_2] - 2.6666666666666665 * out_3[4 + i_2];
      out_4[i_2] = 10.0 * (out_3[2 + i_2] - out_3[i_2]);
      out_4[2 + i_2] = t;
      out_4[4 + i_2] = t_2;
    }
    double total = 0.0;  // line 53
    for (i64 i_2 = 0; i_2 < 3; i_2++) {
      double t_3 = out_3[i_2 * 2] - nearby[i * 3 + i_2];
      total += t_3 * t_3;
    }
    double distance = sqrt(total);
    i64 steps = 0;
    double distance_2 = distance;
    bool ran = false;
    double return_value = 0.0;
    i64 steps_2 = 0;
    bool done_1 = false;
    double time = 0.0;
    double step = 0.001;
    while (!done_1 && time < latest) {  // line 54
      bool left_2_2;
      double t_4 = 0.5 * step;  // line 36
      double t_5 = 0.75 * step;  // line 37
      for (i64 i_2 = 0; i_2 < 3; i_2++) {
        for (i64 j = 0; j < 2; j++) {
          state[i_2 * 2 + j] = out_3[i_2 * 2 + j] + t_4 * out_4[i_2 * 2 + j];  // line 36
        }
      }
      for (i64 i_2 = 0; i_2 < 2; i_2++) {
        double t_6 = state[i_2] * (28.0 - state[4 + i_2]) - state[2 + i_2];  // line 31
        double t_7 = state[i_2] * state[2 + i_2] - 2.6666666666666665 * state[4 + i_2];
        out_5[i_2] = 10.0 * (state[2 + i_2] - state[i_2]);
        out_5[2 + i_2] = t_6;
        out_5[4 + i_2] = t_7;
      }
      for (i64 i_2 = 0; i_2 < 3; i_2++) {
        for (i64 j = 0; j < 2; j++) {
          state[i_2 * 2 + j] = out_3[i_2 * 2 + j] + t_5 * out_5[i_2 * 2 + j];  // line 37
        }
      }
      for (i64 i_2 = 0; i_2 < 2; i_2++) {
        double t_8 = state[i_2] * (28.0 - state[4 + i_2]) - state[2 + i_2];  // line 31
        double t_9 = state[i_2] * state[2 + i_2] - 2.6666666666666665 * state[4 + i_2];
        out_6[i_2] = 10.0 * (state[2 + i_2] - state[i_2]);
        out_6[2 + i_2] = t_8;
        out_6[4 + i_2] = t_9;
      }
      for (i64 i_2 = 0; i_2 < 3; i_2++) {
        for (i64 j = 0; j < 2; j++) {  // line 38
          double t_10 = step * (2.0 * out_4[i_2 * 2 + j] + 3.0 * out_5[i_2 * 2 + j] +
              4.0 * out_6[i_2 * 2 + j]);
          new_[i_2 * 2 + j] = out_3[i_2 * 2 + j] + t_10 / 9.0;
        }
      }
      i64 steps_3 = steps + 1;  // line 56
      for (i64 i_2 = 0; i_2 < 2; i_2++) {
        double t_11 = new_[i_2] * (28.0 - new_[4 + i_2]) - new_[2 + i_2];  // line 31
        double t_12 = new_[i_2] * new_[2 + i_2] - 2.6666666666666665 * new_[4 + i_2];
        out_7[i_2] = 10.0 * (new_[2 + i_2] - new_[i_2]);
        out_7[2 + i_2] = t_11;
        out_7[4 + i_2] = t_12;
      }
      double error_2 = -INF64;  // line 41
      for (i64 i_2 = 0; i_2 < 3; i_2++) {
        for (i64 j = 0; j < 2; j++) {
          double t_13 = 6.0 * out_5[i_2 * 2 + j] - 5.0 * out_4[i_2 * 2 + j] +  // line 40
              8.0 * out_6[i_2 * 2 + j] - 9.0 * out_7[i_2 * 2 + j];
          double difference = step * t_13 / 72.0;
          double error_3 = fabs(difference) / (1e-05 * (1.0 + fabs(new_[i_2 * 2 + j])));  // line 41
          error_2 = error_3 > error_2 || error_3 != error_3 ? error_3 : error_2;
        }
      }
      if (error_2 <= 1.0) {  // line 57
        double total_2 = 0.0;  // line 58
        for (i64 i_2 = 0; i_2 < 3; i_2++) {
          double t_14 = new_[i_2 * 2] - new_[i_2 * 2 + 1];
          total_2 += t_14 * t_14;
        }
        double distance_3 = sqrt(total_2);
        bool t_15 = distance_3 >= apart;  // line 59
        bool left_2 = t_15;  // line 62
        if (t_15) {  // line 59
          double part = log(apart / distance_2) / log(distance_3 / distance_2);  // line 60
          return_value = time + part * step;
        } else {
          time += step;  // line 62
          for (i64 i_2 = 0; i_2 < 3; i_2++) {
            for (i64 j = 0; j < 2; j++) {
              out_3[i_2 * 2 + j] = new_[i_2 * 2 + j];
              out_4[i_2 * 2 + j] = out_7[i_2 * 2 + j];
            }
          }
          return_value = 0.0;
        }
        distance_2 = distance_3;
        left_2_2 = left_2;
      } else {
        return_value = 0.0;
        left_2_2 = false;
      }
      if (!left_2_2) {  // line 57
        double t_16 = error_2 + 1e-10;  // line 63
        double t_17 = 0.9 * pow(t_16, -0.3333333333333333);
        double t_18 = t_17 > 0.3 ? t_17 : 0.3;
        double t_19 = t_18 < 2.0 ? t_18 : 2.0;
        step *= t_19;
      }
      steps = steps_3;
      ran = true;
      steps_2 = steps_3;
      done_1 = left_2_2;
    }
    if (done_1) {  // line 54
      return_value_2 = return_value;
      ran_2 = ran;
      steps_4 = steps_2;
    } else {
      return_value_2 = latest;
      ran_2 = true;
      steps_4 = steps;
    }
    if (!ran_2) {
      fail(error, i, 0);  // UnboundLocalError
      continue;
    }
    out[i] = return_value_2;  // line 50
    out_2[i] = steps_4;
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


class Kernel:
    """A kernel of the module; a call launches it.

    Each row has a team of threads: one of them, or as many as its longest loop can use. Grids
    depend on sizes alone, whatever the device, and so do the bits of sums.
    """

    def __init__(
        self,
        name,
        arguments,
        *,
        team=None,
        across=False,  # neighbouring rows read neighbouring elements
        width=1,  # rows that a thread takes at once
        results=(),
        errors=(),
        scratch=(),
        joins=(),
    ):
        self.name, self.arguments, self.team, self.results = name, arguments, team, results
        self.across, self.width = across, width
        self.errors, self.scratch, self.joins = errors, scratch, joins
        names = arguments.__code__.co_varnames[: arguments.__code__.co_argcount]
        self.has_room = "room" in names
        self.names = [name for name in names if name not in ("rows", "results", "error", "room")]

    def __call__(self, rows, *args, own=(), sums=()):
        if rows == 0 and not sums and not self.results:
            return None
        given = dict(zip(self.names, (*map(self.contiguous, args), *own, *sums)))
        blocks, teams, threads = self.grid(rows, given, (*own, *sums))
        scratch = {name: cp.empty(shape(**given), dtype) for name, dtype, shape in self.scratch}
        copies = [cp.empty((blocks * teams, *x.shape), x.dtype) for x in (*own, *sums)]
        outs = [
            cp.zeros(2, cp.int64) if word == "array" else cp.empty((), dtype)
            for dtype, word in self.results
        ]
        parts = [
            out if word in ("first", "array") or blocks == 1 else cp.empty(blocks, out.dtype)
            for out, (_, word) in zip(outs, self.results)
        ]
        for name, copy in zip(self.names[len(args) :], copies):
            given[name] = copy[0]  # where all copies begin, with the shape of one
        given |= scratch
        if rows is not None:
            given["rows"] = rows
        if self.has_room:
            given["room"] = 0  # bytes that teams share with their block; here they have memory
        if self.results:
            given["results"] = parts
        if self.errors:
            given["error"] = cp.array([2**64 - 1, 0, 0, 0], cp.uint64)
        module.get_function(self.name)((blocks,), (threads, teams), self.arguments(**given))
        for part, out, (_, word) in zip(parts, outs, self.results):
            if part is not out:
                self.join(part, out, word)
        for part, out, word in zip(copies[len(own) :], sums, self.joins):
            self.join(part, out, word)
        if self.errors:
            self.check(*map(int, given["error"].get()))
        for k, (dtype, word) in enumerate(self.results):
            outs[k] = self.take(outs[k], dtype) if word == "array" else outs[k]
        return outs[0] if len(outs) == 1 else tuple(outs) if outs else None

    def grid(self, rows, given, copied):
        """Blocks, teams of a block, and threads of a team."""
        if rows is None:
            return 1, 1, 256
        longest = max((1, *self.team(**given))) if self.team else 1
        each = 8 if longest <= 128 else 16 if longest <= 2048 else 32  # elements for a thread
        least = max(min(longest, 4), -(-longest // each))
        threads = min(1 << max(0, least - 1).bit_length(), 32 if self.across else 1024)
        teams = 256 // threads if threads <= 32 else 1  # larger teams meet at barriers of the block
        most = 512 if self.joins else 2048 if self.results else 2**24
        if self.width == 1 and not self.team:
            most = min(most, 4096)
        room = 2**31 // max(1, teams * sum(map(self.bytes_of, copied)))
        return max(1, min(-(-rows // (teams * self.width)), most, room)), teams, threads

    def check(self, noted, *told):
        """Raises the error of the first row that failed: the row, times 256, and its number. Where
        its arguments have `...`, it tells an integer."""
        if noted != 2**64 - 1:
            import builtins, numpy.linalg

            kind, args = self.errors[noted % 256]
            integers = iter([n - 2**64 * (n >= 2**63) for n in told])

            def filled(a):
                if isinstance(a, tuple):
                    return tuple(map(filled, a))
                return next(integers) if a is ... else a

            raise (getattr(builtins, kind, None) or getattr(numpy.linalg, kind))(*filled(args))

    @staticmethod
    def take(kept, dtype):
        """The array that a kernel left in memory of its own, which is given back."""
        out = cp.empty(int(kept[1]), dtype)
        module.get_function(f"take_{dtype}")((1,), (256,), (kept, out, len(out)))
        return out

    @staticmethod
    def contiguous(x):
        """The argument as kernels take it: arrays have their rows one behind the other."""
        return cp.ascontiguousarray(x) if isinstance(x, cp.ndarray) and x.ndim else x

    @staticmethod
    def bytes_of(x):
        """The memory of an array that is not made yet."""
        size = cp.dtype(x.dtype).itemsize
        for n in x.shape:
            size *= n
        return size

    @staticmethod
    def join(parts, out, word):
        """out[j] = parts[0, j] + parts[1, j] + ..., always in the same order."""
        # complex numbers are added up as two
        flat = out.dtype.type(0).real.dtype if word == "sum" else out.dtype
        size = out.size * (out.dtype.itemsize // flat.itemsize)
        across = min(1 << max(0, size - 1).bit_length(), 32)
        function = module.get_function(f"join_{word}_{flat}")
        if size:
            function((-(-size // across),), (across, 256 // across), (parts, out, len(parts), size))


horizon_vmap_kernel = Kernel(
    "horizon_vmap_kernel",
    lambda rows, start, nearby, apart, latest, out, out_2, error: (
        rows,
        start,
        nearby,
        cp.float64(apart),
        cp.float64(latest),
        out,
        out_2,
        error,
    ),
    errors=(
        (
            "UnboundLocalError",
            (
                "cannot access local variable '.return_value' where it is not associated with a value",
            ),
        ),
    ),
)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def horizon_vmap(start, nearby, apart, latest):
    """horizon for a batch.  From lorenz.py:44.
    Only for start.shape[1] = 3, nearby.shape[1] = 3.
    """
    if nearby.shape[0] != start.shape[0]:  # line 50
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty((start.shape[0],), cp.float64)
    out_2 = empty(out.shape, cp.int64)
    horizon_vmap_kernel(start.shape[0], start, nearby, apart, latest, out, out_2)
    return out, out_2
