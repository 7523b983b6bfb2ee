"""Kernels whose rows are single elements: each thread takes 16 bytes of every array at once.

for (i64 i = team; i < rows; i += teams) out[i] = 2 * x[i];
    becomes      __device__ void f_point(i64 i, const float* x, float* out) { out[i] = 2 * x[i]; }
                 which is called for four elements in registers, and for the last ones in memory
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tapeless.transforms.cuda.helpers import words
from tapeless.transforms.cuda.stored_first import is_stored_first
from tapeless.transforms.cuda.values import c_type
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

BYTES = 16  # the widest load
LOOP = re.compile(r"^  for \(i64 (\w+) = team; \1 < rows; \1 \+= teams\) \{$")
ROWS = re.compile(r"^ *for \(i64 \w+ = team;")
LOCAL = re.compile(r"^  [\w ]+ (\w+)\[\d+\];")
DECLARED = re.compile(r"^  (?:const )?([\w ]+?) (\w+)(?: = .*)?;")
PACK = """\
template <typename T, int n> struct alignas(n * sizeof(T)) pack {  // elements that move at once
  T at[n];
};"""


@dataclass(frozen=True)
class Points:
    """A kernel over elements: what it does for one of them as a function, and the lines that call
    that; `width` elements at once."""

    function: str
    lines: list[str]
    width: int


def as_points(
    name: str, lines: Sequence[str], arrays: Mapping[str, Dtype], numbers: Mapping[str, Dtype]
) -> Points | None:
    """The body of a kernel in points; None if rows are more than an element of each array.

    name     of the kernel
    lines    of its body, which has one loop over rows
    arrays   those it gets, by the names that the body has for them
    numbers  the other parameters
    """
    heads = [k for k, line in enumerate(lines) if ROWS.match(line)]
    if len(heads) != 1 or not LOOP.match(lines[heads[0]]):
        return None  # of several loops, a thread has the same rows in each
    (start,) = heads
    end = next(k for k in range(start, len(lines)) if lines[k] == "  }")
    body, index = lines[start + 1 : end], LOOP.match(lines[start])[1]  # type: ignore[index]
    used = [x for x in arrays if x in words("\n".join(body))]
    width = BYTES // max((arrays[x].itemsize for x in used), default=BYTES)
    if width < 2 or not used or not _is_point(body, index, used):
        return None
    local = [
        line
        for line in lines[:start]
        if (m := LOCAL.match(line)) and m[1] in words("\n".join(body))
    ]
    body = [*(f"  {line}" for line in local), *body]
    declared = {m[2]: m[1] for line in lines[:start] if (m := DECLARED.match(line))}
    declared |= {x: c_type(dtype) for x, dtype in numbers.items()}
    return _Writer(name, body, index, {x: arrays[x] for x in used}, declared, width).points(
        [line for line in lines[:start] if line not in local], lines[end + 1 :]
    )


def _is_point(body: Sequence[str], index: str, arrays: Sequence[str]) -> bool:
    """Whether statements touch of each array only the element of their own index."""
    for before, line in zip(["", *body], body, strict=False):
        code = line.partition("//")[0].replace(f"fail(error, {index}, ", "")
        if "continue;" in code and "fail(error, " not in before:
            return False  # of a loop inside of the row
        if re.match(r"\s*(while|goto|do)\b", code) or "[[" in code:
            return False
        for x in arrays:
            code = code.replace(f"{x}[{index}]", "")
        if words(code) & {index, *arrays}:
            return False
    return True


class _Writer:
    """`declared` are the types of what the body may read from around."""

    def __init__(
        self,
        name: str,
        body: Sequence[str],
        index: str,
        arrays: Mapping[str, Dtype],
        declared: Mapping[str, str],
        width: int,
    ) -> None:
        self.body, self.index, self.arrays, self.width = body, index, arrays, width
        self.name = f"{name.removesuffix('_kernel')}_point"
        text = "\n".join(line.partition("//")[0] for line in body)
        self.fails = "fail(error, " in text
        self.stored = [
            x for x in arrays if re.search(rf"\b{x}\[\w+\] (?:[-+*/|&^]|<<|>>)?= ", text)
        ]
        self.loaded = [x for x in arrays if x not in self.stored or not is_stored_first(x, body)]
        used = words(text)
        self.outer = {x: c for x, c in declared.items() if x in used and x not in arrays}
        self.changed = [
            x for x in self.outer if re.search(rf"(?<![\w.]){x} (?:[-+*/|&^]|<<|>>)?= ", text)
        ]

    def points(self, before: Sequence[str], after: Sequence[str]) -> Points:
        taken = words("\n".join([*before, *self.body, *after])) | {*self.arrays}
        names = {x: f"{x}_pack" for x in self.arrays}
        self.packs = {x: name if name not in taken else f"{name}_" for x, name in names.items()}
        lines = [*before, *self.calls(), *after]
        return Points(self.function(), lines, self.width)

    def function(self) -> str:
        """What is done for an element."""
        given = [f"i64 {self.index}"]
        for x, dtype in self.arrays.items():
            given.append(f"{'' if x in self.stored else 'const '}{c_type(dtype)}* {x}")
        given += [f"{c}{'&' * (x in self.changed)} {x}" for x, c in self.outer.items()]
        given += ["u64* error", "i64 row"] if self.fails else []
        body = [
            line[2:]
            .replace(f"fail(error, {self.index}, ", "fail(error, row, ")
            .replace("continue;", "return;")
            for line in self.body
        ]
        head = f"__device__ __forceinline__ void {self.name}({', '.join(given)}) {{"
        return "\n".join([head, *body, "}"])

    def calls(self) -> list[str]:
        i, n = self.index, self.width
        more = [*self.outer, *(["error", f"{i} + lane"] if self.fails else [])]
        packed = ", ".join(["lane", *(f"{self.packs[x]}.at" for x in self.arrays), *more])
        last = [*self.outer, *(["error", i] if self.fails else [])]
        single = ", ".join([i, *self.arrays, *last])
        places = " | ".join(f"(u64){x}" for x in self.arrays)
        return [
            f"  i64 packed = ({places}) % {BYTES} == 0 ? rows / {n} * {n} : 0;",
            f"  for (i64 {i} = {n} * team; {i} < packed; {i} += {n} * teams) {{",
            *(f"    {self.pack(x)} {self.packs[x]}{self.load(x)};" for x in self.arrays),
            "    #pragma unroll",
            f"    for (int lane = 0; lane < {n}; lane++) {self.name}({packed});",
            *(f"    *({self.pack(x)}*)({x} + {i}) = {self.packs[x]};" for x in self.stored),
            "  }",
            f"  for (i64 {i} = packed + team; {i} < rows; {i} += teams) {self.name}({single});",
        ]

    def pack(self, x: str) -> str:
        return f"pack<{c_type(self.arrays[x])}, {self.width}>"

    def load(self, x: str) -> str:
        if x not in self.loaded:
            return ""
        return f" = *(const {self.pack(x)}*)({x} + {self.index})"
