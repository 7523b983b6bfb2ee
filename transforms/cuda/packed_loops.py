"""Packs loops that the threads of a team share: each thread reads 16 bytes of a row at once.

for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
  out[i * n + j] = x[i * n + j] / total;
}
    becomes      a pass as a function of where its elements are: for four of them in registers, and
                 for the last ones of a row in memory

pack_loop<4>(threadIdx.x, blockDim.x, n, [&](i64 j, i64 place, float* out_row, const float* x_row) {
  out_row[place] = x_row[place] / total;
}, stores(out + i * n), reads(x + i * n));

Rows that begin elsewhere than at a multiple of 16 bytes are taken element by element.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.values import c_type
from tapeless.transforms.cuda.stored_first import is_stored_first
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

BYTES = 16  # the widest load
LOOP = re.compile(
    r"^( *)for \(i64 (\w+) = threadIdx\.x; \2 < (.+); \2 \+= blockDim\.x\) \{(  //.*)?$"
)
PLACE = re.compile(r"\b(\w+)\[([^\[\]]*)\]")
#: A loop over elements of rows, n of each at once; `first` and `step` are a thread's.
PACK_LOOP = """\
template <typename T, int n> struct alignas(n * sizeof(T)) pack {  // elements that move at once
  T at[n];
};

template <typename T, bool is_loaded, bool is_stored> struct pack_row {  // what a loop moves along
  T* row;
  template <int n> struct packed {
    pack<T, n> held;
    T* place;
    __device__ __forceinline__ void store() {
      if (is_stored) *(pack<T, n>*)place = held;
    }
  };
  template <int n> __device__ __forceinline__ packed<n> at(i64 i) {
    packed<n> found;
    found.place = row + i;
    if (is_loaded) found.held = *(const pack<T, n>*)(row + i);
    return found;
  }
};

template <typename T> __device__ pack_row<T, true, false> reads(const T* row) {
  return {(T*)row};
}

template <typename T> __device__ pack_row<T, false, true> stores(T* row) { return {row}; }

template <typename T> __device__ pack_row<T, true, true> updates(T* row) { return {row}; }

template <int n, typename F, typename... P>
__device__ __forceinline__ void pack_pass(i64 i, F& pass, P&&... packs) {
  #pragma unroll
  for (int lane = 0; lane < n; lane++) pass(i + lane, lane, packs.held.at...);
  (packs.store(), ...);
}

template <int n, typename F, typename... R>  // n elements of each row at once, the last ones singly
__device__ __forceinline__ void pack_loop(i64 first, i64 step, i64 count, F pass, R... rows) {
  bool aligned = (... && ((u64)rows.row % (n * sizeof(*rows.row)) == 0));
  i64 packed = aligned ? count / n * n : 0;
  for (i64 i = n * first; i < packed; i += n * step)
    pack_pass<n>(i, pass, rows.template at<n>(i)...);
  for (i64 i = packed + first; i < count; i += step) pass(i, i, rows.row...);
}"""
LEAVES = re.compile(r"^\s*(goto|break|while|do|for)\b|\bteam_\w+\(|__sync|&\w+\[")


def packed_loops(lines: Sequence[str], arrays: Mapping[str, Dtype]) -> tuple[list[str], bool]:
    """The lines of a kernel with such loops, and whether there are any.

    arrays  those in memory that the kernel gets, or has for each row
    """
    result: list[str] = []
    taken = words("\n".join(lines))
    has_packed, k = False, 0
    while k < len(lines):
        head = LOOP.match(lines[k])
        if head is None:
            result.append(lines[k])
            k += 1
            continue
        end = next(j for j in range(k, len(lines)) if lines[j] == f"{head[1]}}}")
        loop = _Loop(head, lines[k + 1 : end], arrays, taken)
        result += loop.lines() if loop.fits() else lines[k : end + 1]
        has_packed |= loop.fits()
        k = end + 1
    return result, has_packed


class _Loop:
    """One loop. `rows` are the places that it moves through: array, where the row begins."""

    def __init__(
        self,
        head: re.Match[str],
        body: Sequence[str],
        arrays: Mapping[str, Dtype],
        taken: set[str],
    ) -> None:
        self.indent, self.index, self.count = head[1], head[2], head[3]
        self.note = head[4] or ""
        self.body, self.arrays, self.taken = list(body), arrays, {*taken}
        self.code = [line.partition("//")[0] for line in body]
        self.rows: dict[tuple[str, str], str] = {}
        for line in self.code:
            for m in PLACE.finditer(line):
                start = self.row(m)
                if start is not None and (m[1], start) not in self.rows:
                    self.rows[m[1], start] = self.fresh(f"{m[1]}_row")
        size = max((arrays[x].itemsize for x, _ in self.rows), default=BYTES)
        self.width = BYTES // size
        moved = [self.relocate(line) for line in self.code]
        self.stored = [r for r in self.rows.values() if is_stored(r, moved)]

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def row(self, m: re.Match[str]) -> str | None:
        """Where a row begins, of an element that a pass moves through it with; None for others."""
        if m[1] not in self.arrays:
            return None
        if m[2] == self.index:
            return ""
        start, plus, last = m[2].rpartition(" + ")
        return start if plus and last == self.index and self.index not in words(start) else None

    def fits(self) -> bool:
        """Whether each pass is apart from what follows it, and elements of a row move at once."""
        leaves = any(LEAVES.search(line) for line in self.code)
        stored = {x for (x, _), r in self.rows.items() if r in self.stored}
        several = any(sum(x == y for y, _ in self.rows) > 1 for x in stored)
        places = [m for line in self.code for m in PLACE.finditer(line)]
        others = [m for m in places if m[1] in self.arrays and self.row(m) is None]
        scattered = any(self.index in words(m[2]) or m[1] in stored for m in others)
        return bool(self.rows) and self.width > 1 and not (leaves or several or scattered)

    def relocate(self, line: str) -> str:
        """A line of the body with its elements where they are at the moment."""

        def at_place(m: re.Match[str]) -> str:
            start = self.row(m)
            return m[0] if start is None else f"{self.rows[m[1], start]}[place]"

        return PLACE.sub(at_place, line).replace("continue;", "return;")

    def lines(self) -> list[str]:
        rows = {
            row: (f"{x}{f' + {start}' if start else ''}", self.arrays[x])
            for (x, start), row in self.rows.items()
        }
        leading = f"threadIdx.x, blockDim.x, {self.count}, [&](i64 {self.index}, i64 place, "
        body = [self.relocate(line) for line in self.body]
        return call_lines(self.indent, self.width, leading, self.note, body, rows)


def call_lines(
    indent: str,
    width: int,
    leading: str,
    note: str,
    body: Sequence[str],
    rows: Mapping[str, tuple[str, Dtype]],
) -> list[str]:
    """A loop as a call of `pack_loop`.

    given  what comes first among the arguments, and among the parameters of a pass
    body   of a pass, in which elements of rows are at `place`
    rows   by name: where it begins, dtype of its elements
    """
    stored = [row for row in rows if is_stored(row, body)]
    parameters = [
        f"{'' if row in stored else 'const '}{c_type(dtype)}* {row}"
        for row, (_, dtype) in rows.items()
    ]
    moves = [
        f"{'reads' if row not in stored else 'stores' if is_stored_first(row, body) else 'updates'}"
        f"({start})"
        for row, (start, _) in rows.items()
    ]
    return [
        f"{indent}pack_loop<{width}>({leading}{', '.join(parameters)}) {{{note}",
        *body,
        f"{indent}}}, {', '.join(moves)});",
    ]


def is_stored(row: str, lines: Sequence[str]) -> bool:
    """Whether statements store to an element of a row."""
    code = "\n".join(line.partition("//")[0] for line in lines)
    return (
        re.search(rf"\b{row}\[place\] (?:[-+*/|&^]|<<|>>)?= |\b{row}\[place\](?:\+\+|--)", code)
        is not None
    )
