import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void cross_entropy_value_and_grad_kernel(
    i64 rows, const double* __restrict__ z, const i64* __restrict__ labels, i64 n, i64 n_2,
    double* __restrict__ z_bar, i64* __restrict__ out, double* __restrict__ e_all,
    double* __restrict__ out_2_all, bool* __restrict__ out_3_all, double* __restrict__ e_bar_all,
    i64 z_1, i64 room, double* __restrict__ result_0, u64* error) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  extern __shared__ double2 shared_room[];
  char* staged = (char*)shared_room + threadIdx.y * room;  // of a team, if all fits there
  double* e = room ? (double*)staged : e_all + team * z_1;
  staged += (z_1 * sizeof(double) + 15) / 16 * 16;
  double* out_2 = room ? (double*)staged : out_2_all + team * z_1;
  staged += (z_1 * sizeof(double) + 15) / 16 * 16;
  bool* out_3 = room ? (bool*)staged : out_3_all + team * z_1;
  staged += (z_1 + 15) / 16 * 16;
  double* e_bar = room ? (double*)staged : e_bar_all + team * z_1;
  double t = 1.0 / (double)n;  // line 52
  double t_2 = -1.0 / (double)n;
  for (i64 i = team; i < rows; i += teams) {
    if (threadIdx.x == 0) out[i] = labels[i] < 0 ? labels[i] + n_2 : labels[i];
  }
  double total = 0.0;
  for (i64 i = team; i < rows; i += teams) {
    double largest = -INF64;  // line 50
    pack_loop<2>(threadIdx.x, blockDim.x, z_1, [&](i64 j, i64 place, const double* z_row) {
      double t_3 = z_row[place];
      largest = t_3 > largest || t_3 != t_3 ? t_3 : largest;
    }, reads(z + i * z_1));
    largest = team_max(largest);
    double total_2 = 0.0;  // line 52
    double total_3 = 0.0;  // line 50
    pack_loop<2>(threadIdx.x, blockDim.x, z_1,
        [&](i64 j, i64 place, const double* z_row, double* e_row, double* out_2_row,
        bool* out_3_row) {
      double e_2 = z_row[place] - largest;
      e_row[place] = e_2;
      double t_4 = exp(e_2);  // line 52
      out_2_row[place] = t_4;
      total_2 += t_4;
      total_3 += (double)(z_row[place] == largest);  // line 50
      out_3_row[place] = z_row[place] == largest;
    }, reads(z + i * z_1), stores(e), stores(out_2), stores(out_3));
    total_2 = team_sum(total_2);
    total_3 = team_sum(total_3);
    if (labels[i] < -z_1 || labels[i] >= z_1) {  // line 52
      fail_telling(error, i, 0, labels[i], z_1);  // IndexError
      continue;
    }
    team_sync();
    total += log(total_2) - e[from_end(labels[i], z_1)];
    double t_5 = t / total_2;
    double total_4 = 0.0;  // line 50
    pack_loop<2>(threadIdx.x, blockDim.x, z_1,
        [&](i64 j, i64 place, const double* out_2_row, double* e_bar_row) {
      double e_bar_2 = (j == out[i] ? t_2 : 0.0) + t_5 * out_2_row[place];  // line 52
      e_bar_row[place] = e_bar_2;
      total_4 += e_bar_2;  // line 50
    }, reads(out_2), stores(e_bar));
    total_4 = team_sum(total_4);
    double t_6 = total_4 / total_3;
    team_sync();
    pack_loop<2>(threadIdx.x, blockDim.x, z_1,
        [&](i64 j, i64 place, double* z_bar_row, const double* e_bar_row, const bool* out_3_row) {
      z_bar_row[place] = e_bar_row[place] - (out_3_row[place] ? t_6 : 0.0);
    }, stores(z_bar + i * z_1), reads(e_bar), reads(out_3));
    team_sync();
  }
  double part_0 = block_sum(threadIdx.x == 0 ? total : 0.0);
  if (threadIdx.x + threadIdx.y == 0) result_0[blockIdx.x] = part_0;
}

extern "C" __global__ void cross_entropy_value_and_grad_kernel_2(
    i64 n, const double* __restrict__ value_at, double* __restrict__ result_0) {
  if (threadIdx.x + threadIdx.y != 0) return;
  const double value = *value_at;
  result_0[0] = value / n;
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


def on_device(x, dtype):
    """A number that a kernel reads from memory: it is there, or is put there."""
    return x if isinstance(x, cp.ndarray) else cp.asarray(x, dtype)


cross_entropy_value_and_grad_kernel = Kernel(
    "cross_entropy_value_and_grad_kernel",
    lambda rows, z, labels, n, n_2, z_bar, out, e, out_2, out_3, e_bar, room, results, error: (
        rows, z, labels, cp.int64(n), cp.int64(n_2), z_bar, out, e, out_2, out_3, e_bar,
        z.shape[1], room, results[0], error,
    ),
    team=lambda z, labels, n, n_2, z_bar, out, e, out_2, out_3, e_bar: (z.shape[1],),
    results=(("float64", "sum"),),
    errors=(
        ("IndexError", (("%", "index %d is out of bounds for axis 1 with size %d", ..., ...),)),
    ),
)
cross_entropy_value_and_grad_kernel_2 = Kernel(
    "cross_entropy_value_and_grad_kernel_2",
    lambda n, value, results: (cp.int64(n), on_device(value, cp.float64), results[0]),
    results=(("float64", "first"),),
)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


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


def cross_entropy_value_and_grad(z, labels):
    """cross_entropy and d cross_entropy / d z.  From programs.py:49."""
    n = z.shape[0]  # line 51
    z_bar = empty(z.shape, cp.float64)
    out = empty(labels.shape, cp.int64)
    e = per_team((z.shape[1],), cp.float64)
    out_2 = per_team(e.shape, cp.float64)
    out_3 = per_team(e.shape, bool)
    e_bar = per_team(e.shape, cp.float64)
    value = cross_entropy_value_and_grad_kernel(  # line 52
        n, z, labels, n, z.shape[1], z_bar, out, own=(e, out_2, out_3, e_bar)
    )
    value = cross_entropy_value_and_grad_kernel_2(None, n, value)
    return value, z_bar
