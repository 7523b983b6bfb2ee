"""Kernels in loop form as CUDA C: what they look like, and that NVRTC takes them."""

import ast
import textwrap

import numpy as np
import pytest

from tapeless.transforms.cuda.kernel import NotPrintedError, Parameter, print_kernel
from tapeless.transforms.cuda.launch_text import join_text
from tapeless.transforms.lowering.rewrite.array_routines import TEXTS, place_helpers
from tapeless.transforms.ops.primitives import complex_functions, module_functions

HEAD = "typedef long long i64;\n"


def array(name, dtype="f8", ndim=1, kind="array", join=""):
    return Parameter(name, np.dtype(dtype), ndim, kind, join)


def number(name, dtype="i8", kind="number"):
    return Parameter(name, np.dtype(dtype), 0, kind)


def printed(text, *parameters, results=(), functions=()):
    source = textwrap.dedent(text)
    (node,) = ast.parse(source).body
    others = {
        f.name: f
        for other in functions
        for f in ast.parse(other).body
        if isinstance(f, ast.FunctionDef)
    }
    made = [(np.dtype(d), word) for d, word in results]
    return print_kernel(node, parameters, made, others, source=source)


def compiled(*kernels):
    """The machine code of kernels for one architecture, by NVRTC."""
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="NVRTC is not there")
    helpers = dict.fromkeys(h for k in kernels for h in k.helpers)
    code = HEAD + "\n".join([*helpers, *(k.text for k in kernels)])
    program = nvrtc.createProgram(code, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, ("--std=c++17", "-arch=sm_90"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program) + code)
    return nvrtc.getCUBIN(program)


def same(text, expected):
    text, expected = ("\n".join(map(str.strip, x.strip().splitlines())) for x in (text, expected))
    assert expected in text, text


SOFTMAX = """
def softmax_kernel(first, last, x, out, e):
    for i in range(first, last):
        largest = -np.inf  # line 3
        for j in each(x.shape[1]):
            t = x[i, j]
            largest = t if t > largest or t != t else largest
        total = 0.0
        for j in each(x.shape[1]):
            e_2 = exp(x[i, j] - largest)  # line 4
            e[j] = e_2
            total = plus(total, e_2)
        for j in each(x.shape[1]):
            out[i, j] = e[j] / total  # line 5
"""


def test_rows_are_shared_by_teams_of_threads():
    kernel = printed(SOFTMAX, array("x", ndim=2), array("out", ndim=2), array("e", kind="own"))
    same(
        kernel.text,
        """
  for (i64 i = team; i < rows; i += teams) {
    double largest = -INF64;  // line 3""",
    )
    same(kernel.text, "largest = team_max(largest);\ndouble total = 0.0;")
    same(kernel.text, "double e_2 = exp(x_row[place] - largest);  // line 4")
    same(kernel.text, "total = team_sum(total);\nteam_sync();")
    assert "const double* __restrict__ x" in kernel.text
    assert kernel.shares_rows
    assert kernel.team_lengths == ("x.shape[1]",)
    assert kernel.arguments == (
        *("rows", "x", "out", "e", "x.shape[1]", "out.shape[1]", "e.shape[0]", "room"),
    )
    compiled(kernel)


def test_a_thread_a_row_has_own_memory_side_by_side():
    kernel = printed(
        """
        def f_kernel(first, last, x, n, out, saved):
            for i in range(first, last):
                t = x[i]
                for k in range(n):
                    saved[k] = t
                    t = t * t - 1
                for k in range(n - 1, -1, -1):
                    t = t * saved[k]
                out[i] = t
        """,
        *(array("x"), number("n"), array("out"), array("saved", kind="own")),
    )
    assert "double* saved = saved_all + team;" in kernel.text
    assert "saved[k * teams] = t;" in kernel.text
    assert "for (i64 k = n - 1; k >= 0; k--)" in kernel.text
    assert kernel.team_lengths == ()
    compiled(kernel)


def test_threads_wait_before_they_read_what_others_have_stored():
    kernel = printed(
        """
        def f_kernel(first, last, x, k, out, e):
            for i in range(first, last):
                for j in each(x.shape[1]):
                    e[j] = x[i, j]
                out[i] = e[k[i]]
        """,
        *(array("x", ndim=2), array("k", "i8"), array("out"), array("e", kind="own")),
    )
    same(
        kernel.text,
        """
    team_sync();
    if (threadIdx.x == 0) out[i] = e[from_end(k[i], e_0)];
    team_sync();
  }""",
    )
    compiled(kernel)


def test_threads_wait_before_they_store_what_others_may_still_read():
    kernel = printed(
        """
        def f_kernel(n, x, out):
            for k in range(n):
                t = out[k]
                out[k] = t + 1
                for j in each(x.shape[0]):
                    out[j] = out[j] * t
        """,
        *(number("n"), array("x"), array("out")),
    )
    same(
        kernel.text,
        """
for (i64 k = 0; k < n; k++) {
  double t = out[k];
  team_sync();
  if (threadIdx.x == 0) out[k] = t + 1.0;
  team_sync();
""",
    )
    assert kernel.text.rstrip().endswith("team_sync();\n  }\n}")
    compiled(kernel)


def test_sums_of_shared_loops_in_rows_stay_with_each_thread_until_the_end():
    kernel = printed(
        """
        def f_kernel(first, last, x):
            total = 0.0
            for i in range(first, last):
                for j in each(x.shape[1]):
                    total = plus(total, x[i, j])
            return total
        """,
        array("x", "f4", 2),
        results=[("f8", "sum")],
    )
    same(
        kernel.text,
        """
  double part_0 = block_sum(total);
  if (threadIdx.x + threadIdx.y == 0) result_0[blockIdx.x] = part_0;""",
    )
    assert "team_sum" not in kernel.text
    compiled(kernel)


def test_totals_that_begin_with_something_else_are_put_together_with_it():
    kernel = printed(
        """
        def f_kernel(first, last, x, t, out):
            for i in range(first, last):
                best = t[i]
                total = t[i]
                count = 0
                for j in each(x.shape[1]):
                    best = x[i, j] if x[i, j] > best else best
                    total = total * x[i, j]
                    count = count + (x[i, j] > 0)
                out[i] = best + total + count
        """,
        *(array("x", "f4", 2), array("t", "f4"), array("out", "f4")),
    )
    same(kernel.text, "total = total * team_prod(total_mine);")
    same(kernel.text, "count = team_sum(count);")
    same(kernel.text, "best = best > best_mine || best != best ? best : best_mine;")
    compiled(kernel)


def test_what_passes_of_shared_loops_hand_on_is_refused():
    text = """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                t = 0.0
                for j in each(x.shape[1]):
                    t = 0.5 * t + x[i, j]
                    out[i, j] = t
        """
    with pytest.raises(NotPrintedError, match="the variable t, which a parallel loop hands on"):
        printed(text, array("x", ndim=2), array("out", ndim=2))


def test_values_that_leave_a_shared_loop_are_refused():
    text = """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                for j in each(x.shape[1]):
                    t = x[i, j]
                out[i] = t
        """
    with pytest.raises(NotPrintedError, match="the variable t"):
        printed(text, array("x", ndim=2), array("out"))


def test_errors_end_rows():
    kernel = printed(
        """
        def f_kernel(first, last, x, k, out):
            for i in range(first, last):
                if not -x.shape[0] <= k[i] < x.shape[0]:
                    raise IndexError("index is out of bounds for axis 0")
                for j in range(3):
                    if x[j] < 0:
                        raise ValueError("negative", 3)
                out[i] = x[k[i]]
        """,
        *(array("x"), array("k", "i8"), array("out")),
    )
    assert kernel.errors == (
        ("IndexError", ("index is out of bounds for axis 0",)),
        ("ValueError", ("negative", 3)),
    )
    same(kernel.text, "fail(error, i, 0);  // IndexError\n        continue;")
    same(kernel.text, "fail(error, i, 1);  // ValueError\n          goto next;")
    assert kernel.arguments[-1] == "error"
    compiled(kernel)


def test_atomic_additions():
    kernel = printed(
        """
        def f_kernel(first, last, x, k, h, counts):
            for i in range(first, last):
                add_at(h[k[i]], -x[i])
                add_at(counts[k[i]], 1)
        """,
        *(array("x", "f4"), array("k", "i8"), array("h", "f4"), array("counts", "i8")),
    )
    same(kernel.text, "atomicAdd(&h[from_end(k[i], h_0)], -x[i]);")
    same(kernel.text, "add_to(&counts[from_end(k[i], counts_0)], 1);")
    compiled(kernel)


def test_names_that_mean_something_in_cuda_are_changed():
    kernel = printed(
        """
        def f_kernel(first, last, new, rows, out, double):
            for threadIdx in range(first, last):
                int_ = new[threadIdx] * double
                float = int_ + rows
                out[threadIdx] = float
        """,
        *(array("new"), number("rows"), array("out"), number("double", "f8", "device_number")),
    )
    far = "on_device(double, cp.float64)"
    assert kernel.arguments == ("rows", "new", "cp.int64(rows)", "out", far)
    compiled(kernel)


def test_lengths_have_names_that_variables_do_not_have():
    kernel = printed(
        """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                x_1 = 2.0 * x[i, 0]
                out[i] = x_1 * x.shape[1]
        """,
        *(array("x", ndim=2), array("out")),
    )
    same(kernel.text, "double x_1 = 2.0 * x[i * x_1_2];")
    compiled(kernel)


def test_arrays_take_turns():
    kernel = printed(
        """
        def f_kernel(n, u, v):
            for k in range(n):
                for i in each(u.shape[0] - 1):
                    v[i] = u[i + 1]
                u, v = v, u
        """,
        *(number("n"), array("u"), array("v")),
    )
    same(kernel.text, "double* held = u;\nu = v;\nv = held;")
    assert kernel.text.count("team_sync();") == 1
    compiled(kernel)


def test_loops_of_python():
    kernel = printed(
        """
        def f_kernel(first, last, x, step, out):
            for i in range(first, last):
                t = 0
                n = 5
                for k in range(n):
                    n = n - 1
                    t = t + k
                for gap in (7, 3, 1):
                    t = t + gap
                for k in range(10, 0, step):
                    t = t + k
                j = 0
                while True:
                    j += 1
                    if j == 3:
                        continue
                    if j > x[i]:
                        break
                for j in range(4):
                    t += j
                a, b = t, j
                a, b = b, a
                x_2 = scratch((2,), np.float32)
                x_2[0], x_2[1] = a, b
                out[i] = t + j + x_2[0]
        """,
        *(array("x"), number("step"), array("out")),
    )
    same(kernel.text, "const i64 stop = n;")
    same(kernel.text, "float x_2[2];")
    assert kernel.errors == (("ValueError", ("range() arg 3 must not be zero",)),)
    compiled(kernel)


def test_complex_kernels():
    kernel = printed(
        """
        def f_kernel(first, last, z, w, out):
            total = np.complex128(0)
            for i in range(first, last):
                t = z[i] * w[i] if w[i] != 0 else complex(1.0, 0.0)
                out[i] = np.complex64(np.exp(t) / w[i] + 2 * t.conjugate())
                total = total + t
            return total
        """,
        *(array("z", "c16"), array("w", "c16"), array("out", "c8")),
        results=[("c16", "sum")],
    )
    compiled(kernel)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_routines_are_device_functions(name):
    arguments = {"order": "(k, y)", "search": "(k, y, y)"}.get(name.partition("_")[0], "(y)")
    axes = 1 if arguments[1:-1] != "y" or "sort" in name else 2
    kernel = printed(
        f"""
        def f_kernel(first, last, x, k, y):
            for i in range(first, last):
                {name}{arguments}
                x[i] = 1
        """,
        *(array("x"), array("k", "i8", kind="own"), array("y", ndim=axes, kind="own")),
        functions=TEXTS[name],
    )
    compiled(kernel)


def test_searches():
    for after in (False, True):
        name, texts = place_helpers(after)
        kernel = printed(
            f"""
            def f_kernel(first, last, x, v, out):
                for i in range(first, last):
                    out[i] = {name}(x, v[i])
            """,
            *(array("x"), array("v"), array("out", "i8")),
            functions=texts,
        )
        assert f"out[i] = {name}(x, x_0, v[i]);" in kernel.text
        compiled(kernel)


def test_functions_of_the_module():
    kernel = printed(
        """
        def f_kernel(first, last, k, u, x):
            for i in range(first, last):
                u[i] = random_word(np.uint32(1), np.uint32(k), np.uint64(i))
                x[i] = inverse_error(x[i]) + inverse_error_single(np.float32(x[i]))
        """,
        *(number("k"), array("u", "u8"), array("x")),
        functions=[
            *(module_functions.ROUNDS, module_functions.RANDOM_WORD),
            *(module_functions.INVERSE_ERROR, module_functions.INVERSE_ERROR_SINGLE),
        ],
    )
    compiled(kernel)


def test_functions_of_complex_numbers():
    texts = [complex_functions.TURNS, complex_functions.SINH, complex_functions.COSH]
    texts += [complex_functions.TANH, complex_functions.EXP]
    kernel = printed(
        """
        def f_kernel(first, last, z):
            for i in range(first, last):
                z[i] = turned(complex_sinh(turned_back(z[i]))) + complex_cosh(z[i])
                z[i] = complex_tanh(z[i]) + complex_exp(z[i])
        """,
        array("z", "c16"),
        functions=texts,
    )
    compiled(kernel)


@pytest.mark.parametrize("word", ["sum", "prod", "max", "min"])
def test_parts_of_blocks_are_joined_in_order(word):
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="NVRTC is not there")
    for dtype in ("f4", "f8", "i8", "i4", "u1"):
        program = nvrtc.createProgram(HEAD + join_text(np.dtype(dtype), word), "j.cu", (), ())
        nvrtc.compileProgram(program, ("--std=c++17", "-arch=sm_90"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("out[i] = unknown(x[i])", "unknown"),
        ("out[i] = np.median(x)", "median"),
        ("x = grown(x)", "another array"),
        ("out[i] = y[i]", "the variable y"),
        ("print(x[i])", "print"),
        ("out[i] = x[i] ** i", ""),
    ],
)
def test_what_is_not_known_is_refused(line, message):
    text = f"def f_kernel(first, last, x, out):\n    for i in range(first, last):\n        {line}\n"
    if message:
        with pytest.raises(NotPrintedError, match=message):
            printed(text, array("x"), array("out"))
    else:
        compiled(printed(text, array("x"), array("out")))


def test_elements_that_a_branch_leaves_alone_are_loaded_first():
    kernel = printed(
        """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                if x[i] > 0:
                    out[i] = x[i]
        """,
        *(array("x"), array("out")),
    )
    assert "updates(out)" in kernel.text
    rows = printed(
        """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                for j in each(x.shape[1]):
                    if x[i, j] > 0:
                        out[i, j] = x[i, j]
        """,
        *(array("x", ndim=2), array("out", ndim=2)),
    )
    assert "updates(out + i * out_1)" in rows.text
    compiled(kernel)
    compiled(rows)


def test_small_arrays_that_several_threads_see_are_shared_by_the_block():
    kernel = printed(
        """
        def f_kernel(n, x, out):
            t = scratch((6,), np.float64)
            for i in each(x.shape[0]):
                t[i] = x[i]
            for k in range(n):
                for i in each(k):
                    out[i] = t[i + 1]
                    t[i] = 0.0
        """,
        *(number("n"), array("x"), array("out")),
    )
    assert "__shared__ double t[6];" in kernel.text
    assert kernel.text.count("team_sync();") == 2
    compiled(kernel)


def test_small_arrays_of_each_pass_are_in_registers():
    kernel = printed(
        """
        def f_kernel(first, last, x, out):
            t = scratch((2,), np.float64)
            for i in range(first, last):
                for j in each(x.shape[1]):
                    for k in each(2):
                        t[k] = x[i, j] + k
                    out[i, j] = t[0] * t[1]
                for j in each(x.shape[1]):
                    t[1] = out[i, j]
                    out[i, j] = 2 * t[1]
        """,
        *(array("x", ndim=2), array("out", ndim=2)),
    )
    assert "  double t[2];" in kernel.text
    assert "__shared__ double t" not in kernel.text
    compiled(kernel)


def test_a_thread_has_a_row_where_a_team_would_have_to_share_a_small_array():
    kernel = printed(
        """
        def f_kernel(first, last, x, out):
            t = scratch((6,), np.float64)
            for i in range(first, last):
                for j in each(x.shape[1]):
                    t[j] = x[i, j]
                out[i] = t[0]
        """,
        *(array("x", ndim=2), array("out")),
    )
    same(kernel.text, "double t[6];\nfor (i64 i = team; i < rows; i += teams) {")
    same(kernel.text, "for (i64 j = 0; j < x_1; j++) {\nt[j] = x[i * x_1 + j];\n}\nout[i] = t[0];")
    compiled(kernel)


def test_sines_and_cosines_of_one_number_are_computed_together():
    kernel = printed(
        """
        def f_kernel(first, last, x, y, out):
            for i in range(first, last):
                t = x[i]
                u = sin(t) + y[i] * cos(t)
                t = t - u
                out[i] = cos(t) * 2
                y[i] = sin(2 * t) - cos(2 * t) + sin(t)
        """,
        *(array("x", "f4"), array("y"), array("out")),
    )
    text = kernel.text + "".join(kernel.helpers)
    same(text, "sincos(t, &sin_t, &cos_t);\ndouble u = sin_t + y[place] * cos_t;")
    assert text.count("sincos(") == 3
    compiled(kernel)


def test_bounds_of_rows_are_for_loops_over_rows():
    text = """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                out[i] = x[i] + first
        """
    with pytest.raises(NotPrintedError, match="the bounds of rows"):
        printed(text, array("x"), array("out"))


def test_routines_in_teams_are_called_by_the_first_thread():
    kernel = printed(
        """
        def f_kernel(first, last, x, out, e):
            for i in range(first, last):
                for j in each(x.shape[1]):
                    e[j] = x[i, j]
                sort_in_place(e)
                k = place_before(e, 0.0)
                out[i] = e[k]
        """,
        *(array("x", ndim=2), array("out"), array("e", kind="own")),
        functions=[*TEXTS["sort_in_place"], *place_helpers(False)[1]],
    )
    same(
        kernel.text,
        """
        team_sync();
        if (threadIdx.x == 0) sort_in_place(e, e_0);
        team_sync();
        i64 k = place_before(e, e_0, 0.0);
        if (threadIdx.x == 0) out[i] = e[from_end(k, e_0)];
        team_sync();""",
    )
    compiled(kernel)


def test_rows_may_be_counted_from_elsewhere():
    kernel = printed(
        """
        def f_kernel(first, last, x):
            total = 0.0
            for i in range(2 + first, 2 + last):
                total = plus(total, x[i])
            return total
        """,
        array("x"),
        results=[("f8", "sum")],
    )
    assert "for (i64 i = 2 + team; i < 2 + rows; i += teams) {" in kernel.text
    compiled(kernel)


def test_variables_that_are_a_sine_and_a_cosine_get_them_at_once():
    text = """
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                v = x[i]
                s = sin(v)
                c = cos(v)
                CHANGE
                out[i] = s + c * sin(v)
        """
    kernel = printed(text.replace("CHANGE", "d = v + 1"), array("x"), array("out"))
    same(kernel.text, "double s, c;\nsincos(v, &s, &c);\ndouble d = v + 1.0;")
    same(kernel.text, "out[place] = s + c * s;")
    kernel = printed(text.replace("CHANGE", "s = s + 1"), array("x"), array("out"))
    same(kernel.text, "double sin_v, c;\nsincos(v, &sin_v, &c);\ndouble s = sin_v;\ns += 1.0;")
    same(kernel.text, "out[place] = s + c * sin_v;")


@pytest.mark.parametrize("change", ["out[i] += 1", "out[i] -= 1", "out[i] += x[i]", "out[i] = 1"])
def test_elements_that_change_are_stored(change):
    text = (
        f"def f_kernel(first, last, x, out):\n    for i in range(first, last):\n        {change}\n"
    )
    kernel = printed(text, array("x", "i8"), array("out", "i8"))
    does = "stores" if change == "out[i] = 1" else "updates"
    assert f"{does}(out)" in kernel.text
    rows = text.replace(change, f"for j in each(x.shape[1]):\n            {change}")
    rows = rows.replace("[i]", "[i, j]")
    kernel = printed(rows, array("x", "i8", ndim=2), array("out", "i8", ndim=2))
    assert f"{does}(out + i * out_1)" in kernel.text
