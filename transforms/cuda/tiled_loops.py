"""Tiles loops that read or store an array along another axis than neighbouring threads follow.

for (i64 i = team; i < rows; i += teams) {
  for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
    out[i * n + j] = x[j * m + i];
  }
}
    becomes      passes of 32 rows and 32 columns at a time: a block loads x as it lies in memory,
                 and each pass finds its element in the memory that the block shares

x_tile[k][threadIdx.x] = x[j * m + i];      threads beside each other differ in i
out[i * n + j] = x_tile[threadIdx.x][k];    threads beside each other differ in j

What is stored that way goes through such a tile, too. Elements that passes may skip are not tiled:
they may not be there. What only passes skip that fail is loaded if it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.values import c_type
from tapeless.transforms.cuda.packed_loops import LOOP as SHARED_LOOP
from tapeless.transforms.cuda.packed_loops import PLACE
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

SIDE = 32  # of a tile, and the threads of a warp
LINES = 8  # that a block moves at once: it has as many teams of a warp each
MOST_BYTES = 40 << 10  # of a block, which has other things to share, too
MOST_BESIDE_SUMS = 24 << 10
ROWS = re.compile(r"^  for \(i64 (\w+) = team; \1 < rows; \1 \+= teams\) \{(  //.*)?$")
ENDS = re.compile(r"[;{}]$")
JUMP = re.compile(r"\b(goto|break|return|continue)\b")
CHOICE = re.compile(r"\?|&&|\|\|")
LEAVES = re.compile(r"\bgoto\b|\bteam_\w+\(|__sync|^\s*next\w*:;")


@dataclass(frozen=True)
class RowsOfNest:
    """Counters of nested loops whose passes are rows, the outer one first.

    lengths  of the inner loops, in C
    starts   what is added to each counter, as "1 + "
    python   the same lengths as the launch knows them
    """

    counters: tuple[str, ...]
    lengths: tuple[str, ...] = ()
    starts: tuple[str, ...] = ("",)
    python: tuple[str, ...] = ()


@dataclass(frozen=True)
class TiledLoop:
    """The lines of a kernel with a loop over tiles, and how many there are, in Python."""

    lines: list[str]
    count: str


def tiled_loop(
    lines: Sequence[str],
    arrays: Mapping[str, Dtype],
    rows: Mapping[str, RowsOfNest],
    length: Callable[[str], str | None],
    size: Callable[[str], str],
    fresh: Callable[[str], str],
    adds_up: bool,
) -> TiledLoop | None:
    """The body of a kernel in tiles; None if it is more than a nest, or has no use for them.

    lines   of the body, which has one loop over rows
    arrays  in the memory of the device, that the kernel gets
    rows    of nests, by the variable that counts them all
    length  of a loop that threads share, by its counter, as the launch knows it
    size    how many elements an array has, in C
    adds_up whether teams have arrays of their own, which are added up: each thread of a team has
            its elements of them, in tiles as in rows
    """
    heads = [k for k, line in enumerate(lines) if " = team; " in line or "+ team; " in line]
    head = ROWS.match(lines[heads[0]]) if len(heads) == 1 else None
    if head is None:
        return None
    (start,) = heads
    end = next(k for k in range(start, len(lines)) if lines[k] == "  }")
    counters = rows.get(head[1], RowsOfNest((head[1],)))
    inside = lines[start + 1 + len(counters.lengths and counters.counters) : end]
    if adds_up:
        inside = [line for line in inside if line.strip() != "team_sync();"]
    shared = SHARED_LOOP.match(inside[0]) if inside else None
    if shared is None or inside.index(f"{shared[1]}}}") != len(inside) - 1:
        return None
    nest = TiledNest(counters, *(shared[2], shared[3], inside[1:-1], arrays, size, fresh))
    count = length(shared[2])
    most = MOST_BESIDE_SUMS if adds_up else MOST_BYTES
    if count is None or not nest.chooses_places(head[1], most):
        return None
    note = next((n for n in (shared[4], head[2]) if n), "")
    tiled = nest.lines(note, adds_up)
    return TiledLoop([*lines[:start], *tiled, *lines[end + 1 :]], nest.python_count(count))


class TiledNest:
    """A nest of loops. `across` is the counter of rows that neighbouring elements differ in."""

    def __init__(
        self,
        rows: RowsOfNest,
        counter: str,
        count: str,
        body: Sequence[str],
        arrays: Mapping[str, Dtype],
        size: Callable[[str], str],
        fresh: Callable[[str], str],
    ) -> None:
        self.rows, self.counter, self.count = rows, counter, count
        self.size, self.fresh = size, fresh
        self.body, self.arrays = [line[2:] for line in body], arrays
        self.code = [line.partition("//")[0].rstrip() for line in body]
        self.across = ""
        self.tiles: dict[tuple[str, str], str] = {}  # by array and place
        self.uncertain: set[tuple[str, str]] = set()  # which passes that fail may not touch

    def chooses_places(self, all_rows: str, most: int) -> bool:
        """Whether there is a counter along which elements lie, and that of the threads is not, and
        tiles of them fit into a number of bytes. `all_rows` counts the rows of the nest."""
        text = "\n".join(self.code)
        inner_counters = {*self.rows.counters, self.counter}
        if any(map(LEAVES.search, self.code)) or (
            all_rows in words(text) and all_rows not in inner_counters
        ):
            return False
        certain, unless_failed = _certain_places(self.code)
        stored = {x for x in self.arrays if any(is_stored_at(x, line) for line in self.code)}
        self.uncertain = {p for p in unless_failed if p[0] not in stored} - {*certain}
        touched = [p for p in (*certain, *self.uncertain) if p[0] in self.arrays]
        for counter in self.rows.counters:
            places = [p for p in sorted(touched) if self.lies_along(p[1], counter)]
            places = [p for p in dict.fromkeys(places) if self.is_apart(p, text)]
            if len(places) > len(self.tiles):
                self.across = counter
                self.tiles = {p: self.fresh(f"{p[0]}_tile") for p in places}
        size = sum(SIDE * (SIDE + 1) * self.arrays[x].itemsize for x, _ in self.tiles)
        return bool(self.tiles) and size <= most

    def lies_along(self, place: str, counter: str) -> bool:
        """Whether elements of passes that differ in a counter by one are neighbours, and those that
        differ in the counter of the threads are not."""
        first, plus, last = place.rpartition(" + ")
        names = words(first)
        if not plus or last != counter or counter in names or self.counter not in names:
            return False
        return not any(is_set(name, line) for name in names for line in self.code)

    def is_apart(self, place: tuple[str, str], text: str) -> bool:
        """Whether an array that is stored to is touched at this place alone."""
        x, _ = place
        others = {m[2] for m in PLACE.finditer(text) if m[1] == x} - {place[1]}
        rest = re.sub(rf"(?<!&)\b{x}\[[^\[\]]*\]", "", text)
        stored = any(is_stored_at(x, line) for line in self.code)
        return x not in words(rest) and not (stored and others)

    def lines(self, note: str, waits: bool) -> list[str]:
        """The loop over tiles; `waits` says whether threads wait for what was stored before."""
        r, s = self.across, self.counter
        first_r, first_s, tile, k = map(self.fresh, (f"first_{r}", f"first_{s}", "tile", "line"))
        wide, high = self.fresh("tiles_along"), self.fresh("tiles_across")
        rows_count = self.rows_count()
        tiles = f"{high} * {wide}"
        batch = [c for c in self.rows.counters if c != r]
        if batch:
            tiles = f"rows / {_factor(rows_count)} * {tiles}"
        part = f"{tile} / {wide}{f' % {high}' if batch else ''}"
        inner = f"{first_r} + {{}}" if self.start_of(r) else r
        indices = (
            f"i64 {r} = {self.start_of(r)}{first_r} + {{}}, {s} = {first_s} + {{}};",
            f"if ({inner} < {_factor(rows_count)} && {s} < {self.count}) ",
        )

        def of_lines(at_row: str, at_column: str, body: Sequence[str]) -> list[str]:
            head, test = indices[0].format(at_row, at_column), indices[1].format(at_row)
            if len(body) == 1 and not JUMP.search(body[0]):
                inner = [f"      {test}{body[0].strip()}"]
            else:
                inner = [f"      {test}{{", *body, "      }"]
            loop = f"    for (int {k} = threadIdx.y; {k} < {SIDE}; {k} += {LINES}) {{"
            return ["#pragma unroll", loop, f"      {head}", *inner, "    }"]

        loads, stores = self.moves(f"[{k}][threadIdx.x]")
        body = [self.relocate(line, k) for line in self.body]
        return [
            *self.declarations(),
            f"  i64 {wide} = ({self.count} + {SIDE - 1}) / {SIDE}, "
            f"{high} = ({rows_count} + {SIDE - 1}) / {SIDE};",
            f"  for (i64 {tile} = blockIdx.x; {tile} < {tiles}; {tile} += gridDim.x) {{{note}",
            f"    i64 {first_r} = {part} * {SIDE}, {first_s} = {tile} % {wide} * {SIDE};",
            *self.batch_counters(batch, f"{tile} / ({wide} * {high})"),
            *(of_lines("threadIdx.x", k, _indent_lines(loads)) if loads else []),
            *(["    __syncthreads();"] if loads or waits else []),
            *of_lines(k, "threadIdx.x", _indent_lines(body)),
            "    __syncthreads();",
            *(of_lines("threadIdx.x", k, _indent_lines(stores)) if stores else []),
            *(["    __syncthreads();"] if stores else []),
            "  }",
        ]

    def moves(self, at: str, test: str = "") -> tuple[list[str], list[str]]:
        """What loads an element of each tile, and what stores it; `at` is its place in the tile."""
        loads = [
            f"{test}{self.guard(x, place)}{t}{at} = {x}[{place}];"
            for (x, place), t in self.tiles.items()
            if not self.is_stored_first(x, place)
        ]
        stores = [
            f"{test}{x}[{place}] = {t}{at};"
            for (x, place), t in self.tiles.items()
            if any(is_stored_at(x, line) for line in self.code)
        ]
        return loads, stores

    def guard(self, x: str, place: str) -> str:
        """What is asked before an element is loaded that may not be there."""
        return f"if ({place} < {self.size(x)}) " if (x, place) in self.uncertain else ""

    def declarations(self) -> list[str]:
        return [
            f"  __shared__ {c_type(self.arrays[x])} {t}[{SIDE}][{SIDE + 1}];  // {x}[{place}]"
            for (x, place), t in self.tiles.items()
        ]

    def relocate(self, line: str, k: str) -> str:
        """A line of a pass with its elements in tiles."""

        def in_tile(m: re.Match[str]) -> str:
            tile = self.tiles.get((m[1], m[2]))
            return m[0] if tile is None else f"{tile}[threadIdx.x][{k}]"

        return PLACE.sub(in_tile, line)

    def is_stored_first(self, x: str, place: str) -> bool:
        """Whether each pass that is made stores an element before it may be read."""
        statements = list(_statements(self.code))
        for depth, text in statements:
            if f"{x}[{place}]" in text:
                plain = text.startswith(f"{x}[{place}] = ")
                return plain and depth == 0 and text.count(f"{x}[{place}]") == 1
        return False

    def start_of(self, counter: str) -> str:
        return self.rows.starts[self.rows.counters.index(counter)]

    def rows_count(self) -> str:
        """How many passes the loop makes that neighbouring elements differ in."""
        k, lengths = self.rows.counters.index(self.across), self.rows.lengths
        if k:
            return lengths[k - 1]
        return f"rows / {_product(lengths)}" if lengths else "rows"

    def batch_counters(self, batch: Sequence[str], rest: str) -> Iterator[str]:
        """The other counters of rows, of the number of a tile without those of the two axes."""
        counters = self.rows.counters
        for n, counter in enumerate(batch):
            below = [self.rows.lengths[counters.index(c) - 1] for c in batch[n + 1 :]]
            text = f"({rest}) / {_product(below)}" if below else f"({rest})" if n else rest
            if n:
                text += f" % {_factor(self.rows.lengths[counters.index(counter) - 1])}"
            yield f"    i64 {counter} = {self.start_of(counter)}{text};"

    def python_count(self, count: str) -> str:
        """How many tiles there are, as the launch knows it."""
        k, python = self.rows.counters.index(self.across), self.rows.python
        below = " * ".join(f"({n})" for n in python)
        across = f"({python[k - 1]})" if k else f"rows // max(1, {below})" if below else "rows"
        tiles = f"-(-{across} // {SIDE}) * -(-{count} // {SIDE})"
        return f"rows // max(1, {across}) * {tiles}" if python else tiles


def is_set(name: str, line: str) -> bool:
    """Whether a line gives a variable its value."""
    return re.search(rf"\b{name}(?: (?:[-+*/%|&^]|<<|>>)?= |\+\+|--)", line) is not None


def is_stored_at(x: str, line: str) -> bool:
    """Whether a line stores to an element of an array."""
    return re.search(rf"\b{x}\[[^\[\]]*\](?: (?:[-+*/|&^]|<<|>>)?= |\+\+|--)", line) is not None


def _statements(code: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Statements with the number of braces around them; the first line of a block is one."""
    depth, text = 0, ""
    for line in code:
        text = f"{text} {line.strip()}".strip()
        if not ENDS.search(text):
            continue
        depth -= text.startswith("}")
        yield depth, text
        depth += text.endswith("{")
        text = ""


def _certain_places(
    code: Sequence[str],
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The elements that each pass touches, whatever its values are, and those that it touches
    unless it fails before: array, place."""
    certain: list[tuple[str, str]] = []
    unless_failed: list[tuple[str, str]] = []
    places, before = certain, ""
    for depth, text in _statements(code):
        if JUMP.search(text):
            if not before.startswith("fail"):
                break
            places = unless_failed
        before = text
        is_guard = text.startswith("if ") and not text.endswith("{")  # of what may not be reached
        if depth or is_guard or re.match(r"\}|for\b|while\b|do\b", text):
            continue
        always = CHOICE.split(text)[0]
        places += [(m[1], m[2]) for m in PLACE.finditer(always) if f"&{m[0]}" not in text]
    return certain, unless_failed


def _indent_lines(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" if line.startswith(" ") else f"        {line}" for line in lines]


def _product(lengths: Sequence[str]) -> str:
    return _factor(lengths[0]) if len(lengths) == 1 else f"({' * '.join(map(_factor, lengths))})"


def _factor(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"
