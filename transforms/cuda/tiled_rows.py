"""Tiles rows that read an array along another axis than their threads lie, where each row has more
than a nest: sums of its own, several loops.

for (i64 i = team; i < rows; i += teams) {
  double total = 0.0;
  for (i64 j = threadIdx.x; j < n; j += blockDim.x) total += x[j * m + i];
  total = team_sum(total);
  if (threadIdx.x == 0) out[i] = total;
}
    becomes      eight rows of a block at a time, which load x in parts of 32 columns together

x_tile[threadIdx.x / 8 + 4 * threadIdx.y][threadIdx.x % 8] = x[j * m + i];
total += x_tile[threadIdx.x][threadIdx.y];

Teams behind the last row do what the last row does, and store nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.values import c_type
from tapeless.transforms.cuda.packed_loops import LOOP as SHARED_LOOP
from tapeless.transforms.cuda.tiled_loops import (
    JUMP,
    LINES,
    ROWS,
    SIDE,
    RowsOfNest,
    TiledLoop,
    TiledNest,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

GUARD = "if (threadIdx.x == 0) "
LEADS = re.compile(r"\b(atomic\w+|add_to\w*|fail\w*)\(")
SET = re.compile(r"^ *(\w+)(?:\[[^\[\]]*\])? (?:[-+*/%|&^]|<<|>>)?= ")
DECLARED = re.compile(r"^ *(?!else\b)(?:const )?(?:[a-z]\w* )+(\w+)(?: =|\[|;)")
MOST_BYTES = 16 << 10  # of a block, whose teams may have memory there, too


def tiled_rows(
    lines: Sequence[str],
    arrays: Mapping[str, Dtype],
    own: frozenset[str],
    size: Callable[[str], str],
    fresh: Callable[[str], str],
) -> TiledLoop | None:
    """The body of a kernel with rows in tiles; None if it has no use for them, or if teams of a
    block could not meet.

    own  arrays that each team has for itself
    """
    heads = [k for k, line in enumerate(lines) if " = team; " in line or "+ team; " in line]
    head = ROWS.match(lines[heads[0]]) if len(heads) == 1 else None
    if head is None:
        return None
    (start,) = heads
    end = next(k for k in range(start, len(lines)) if lines[k] == "  }")
    rows = _Rows(head[1], lines[start + 1 : end], arrays, own, size, fresh)
    if not rows.fits():
        return None
    i, first = head[1], rows.first
    is_row = rows.is_row
    tiled = [
        *rows.declarations(),
        f"  for (i64 {first} = blockIdx.x * {LINES}; {first} < rows; "
        f"{first} += gridDim.x * {LINES}) {{{head[2] or ''}",
        f"    bool {is_row} = {first} + threadIdx.y < rows;",
        f"    i64 {i} = {is_row} ? {first} + threadIdx.y : rows - 1;",
        *rows.body(),
        "  }",
    ]
    return TiledLoop([*lines[:start], *tiled, *lines[end + 1 :]], f"-(-rows // {LINES})")


class _Rows:
    """The lines of a row, in parts: loops that its threads share, and what is between them."""

    def __init__(
        self,
        counter: str,
        lines: Sequence[str],
        arrays: Mapping[str, Dtype],
        own: frozenset[str],
        size: Callable[[str], str],
        fresh: Callable[[str], str],
    ) -> None:
        self.counter, self.arrays, self.own = counter, arrays, own
        self.first, self.is_row = fresh(f"first_{counter}"), fresh("is_row")
        self.column, self.row = fresh("column"), fresh("row_of_tile")
        self.declared: set[str] = set()  # variables of a row
        self.parts: list[tuple[re.Match[str] | None, list[str]]] = []
        self.nests: list[TiledNest | None] = []
        k = 0
        while k < len(lines):
            m = SHARED_LOOP.match(lines[k])
            if m is None or m[1] != "    ":
                self.parts.append((None, [lines[k]]))
                self.nests.append(None)
                k += 1
                continue
            stop = next(n for n in range(k, len(lines)) if lines[n] == "    }")
            body = lines[k + 1 : stop]
            nest = TiledNest(RowsOfNest((counter,)), m[2], m[3], body, arrays, size, fresh)
            leaves = any(map(JUMP.search, nest.code))  # before others have their part of a tile
            has_tiles = nest.chooses_places(counter, 4 * MOST_BYTES) and not leaves
            self.parts.append((m, list(body)))
            self.nests.append(nest if has_tiles else None)
            k = stop + 1

    def fits(self) -> bool:
        """Whether some loop has a use for tiles, and all teams of a block come to each of them, and
        leave nothing but what is theirs outside of loops."""
        tiles = [x for nest in self.nests if nest is not None for x, _ in nest.tiles]
        size = sum(SIDE * (LINES + 1) * self.arrays[x].itemsize for x in tiles)
        if not 0 < size <= MOST_BYTES:
            return False
        between = [line for m, body in self.parts if m is None for line in body]
        between = [line.partition("//")[0].rstrip() for line in between]
        self.declared = {m[1] for line in between if (m := DECLARED.match(line))}
        set_in_rows = {m[1] for line in between if (m := SET.match(line.strip()))}
        of_row = {self.counter} | self.declared | set_in_rows
        pairs = zip(self.parts, self.nests, strict=True)
        if any(nest is not None and m and words(m[3]) & of_row for (m, _), nest in pairs):
            return False  # teams would not make as many parts
        depth, guarded = 0, 0  # braces around a line, and around what the first thread makes
        for line in between:
            code = line.strip().removeprefix(GUARD)
            if line.lstrip().startswith("}"):
                depth -= 1
                guarded = min(guarded, depth)
            first_alone = guarded or code != line.strip()
            if not first_alone and not self.is_alike(code, depth):
                return False
            if JUMP.search(code) or LEADS.search(code) or "threadIdx" in code:
                return False
            if line.endswith("{"):
                depth += 1
                guarded = depth if first_alone and not guarded else guarded
        return True

    def is_alike(self, code: str, depth: int) -> bool:
        """Whether all teams may make a statement, those behind the last row, too."""
        if ("team_" in code and depth) or code.startswith("#"):
            return False
        if code.startswith(("if (", "else", "for (", "while (")) and not code.endswith("{"):
            return False
        target = SET.match(code)
        is_own = target is None or target[1] in self.declared | self.own
        return is_own or (depth == 0 and code.endswith(";"))

    def of_rows_alone(self, line: str) -> str:
        """A line between loops, which teams behind the last row do not make if it leaves
        something."""
        code = line.partition("//")[0].strip()
        target = None if line.startswith("     ") else SET.match(code)
        if target and target[1] not in self.declared | self.own:
            return line.replace(code, f"if ({self.is_row}) {code}")
        return line.replace(GUARD, f"if ({self.is_row} && threadIdx.x == 0) ")

    def declarations(self) -> list[str]:
        return [
            f"  __shared__ {c_type(self.arrays[x])} {t}[{SIDE}][{LINES + 1}];  // {x}[{place}]"
            for nest in self.nests
            if nest is not None
            for (x, place), t in nest.tiles.items()
        ]

    def body(self) -> list[str]:
        lines: list[str] = []
        for (m, body), nest in zip(self.parts, self.nests, strict=True):
            if m is None:
                lines += map(self.of_rows_alone, body)
            elif nest is None:
                count = f"({self.is_row} ? {m[3]} : 0)"
                head = (
                    f"    for (i64 {m[2]} = threadIdx.x; {m[2]} < {count}; {m[2]} += blockDim.x) {{"
                )
                lines += [f"{head}{m[4] or ''}", *body, "    }"]
            else:
                lines += self.loop_of_tiles(m, body, nest)
        return lines

    def loop_of_tiles(self, m: re.Match[str], body: Sequence[str], nest: TiledNest) -> list[str]:
        """A loop over parts of 32 columns, which the teams of the block load and store together."""
        i, j, count = self.counter, m[2], m[3]
        first, column, row = f"{self.first}_{j}", self.column, self.row
        place_of = [
            "      {",
            f"        int {column} = threadIdx.x / {LINES} + {SIDE // LINES} * threadIdx.y;",
            f"        int {row} = threadIdx.x % {LINES};",
            f"        i64 {i} = {self.first} + {row}, {j} = {first} + {column};",
        ]
        test = f"        if ({i} < rows && {j} < {count}) "
        loads, stores = nest.moves(f"[{column}][{row}]", test)
        sync = "      __syncthreads();"
        return [
            f"    for (i64 {first} = 0; {first} < {count}; {first} += {SIDE}) {{{m[4] or ''}",
            *([*place_of, *loads, "      }", sync] if loads else []),
            "      {",
            f"        i64 {j} = {first} + threadIdx.x;",
            f"        if ({self.is_row} && {j} < {count}) {{",
            *[f"    {nest.relocate(line, 'threadIdx.y')}" for line in body],
            "        }",
            "      }",
            sync,
            *([*place_of, *stores, "      }", sync] if stores else []),
            "    }",
        ]
