"""Runs an emulated kernel in a process of its own, under the address or the thread sanitizer.

Each allocation is copied to memory with nothing behind it, and copied back when the kernel is done.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TOLD = re.compile(r"WARNING|ERROR|SUMMARY|runtime error|\.cu:|failed")
OPTIONS = {
    "TSAN_OPTIONS": "exitcode=66:halt_on_error=0:report_thread_leaks=0:history_size=2",
    "ASAN_OPTIONS": "detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
#: Reads the configuration, the allocations and the arguments of a launch, runs it, writes back.
MAIN = r"""
int main(int argc, char **argv) {
  const char *name = argv[1], *failed = "there is no such kernel";
  FILE *f = fopen(argv[2], "r+b");
  emulator::Config c;
  long long count, n, head[2];
  void *memory[256], *values[256], *args[256];
  long long bytes[256];
  int sizes[256];
  long begin[256];
  if (!fread(&c, sizeof c, 1, f) || !fread(&count, 8, 1, f)) return 2;
  for (int i = 0; i < count; i++) {
    if (!fread(&bytes[i], 8, 1, f)) return 2;
    begin[i] = ftell(f);
    memory[i] = malloc(bytes[i]);
    if (bytes[i] && !fread(memory[i], bytes[i], 1, f)) return 2;
  }
  if (!fread(&n, 8, 1, f)) return 2;
  for (int i = 0; i < n; i++) {
    if (!fread(head, 16, 1, f)) return 2;
    if (head[0] >= 0) {
      values[i] = (char *)memory[head[0]] + head[1];
      args[i] = &values[i];
      sizes[i] = 8;
    } else {
      args[i] = malloc(head[1]);
      sizes[i] = head[1];
      if (!fread(args[i], head[1], 1, f)) return 2;
    }
  }
  CALLS
  if (failed[0]) {
    fprintf(stderr, "failed: %s\n", failed);
    return 3;
  }
  for (int i = 0; i < count; i++) {
    fseek(f, begin[i], SEEK_SET);
    fwrite(memory[i], 1, bytes[i], f);
  }
  fclose(f);
  return 0;
}
"""


def main(symbols: Iterable[str]) -> str:
    """The program that runs one launch."""
    calls = [f'if (!strcmp(name, "{s}")) failed = {s}(&c, args, sizes, n);' for s in symbols]
    return MAIN.replace("CALLS", "\n  ".join(calls))


def run(program: Path, symbol: str, config: Any, args: Sequence[Any]) -> str:
    """What the sanitizer says about a launch; nothing if all is well."""
    allocations = {}
    for x in args:
        if hasattr(x, "memory"):
            allocations[x.memory.ctypes.data] = x.memory
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "launch"
        path.write_bytes(_written(config, allocations, args))
        command = ["setarch", "-R", str(program), symbol, str(path)]
        environment = {**os.environ, **OPTIONS}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            return _told(done.stderr) or f"exit status {done.returncode}"
        _read_back(path.read_bytes(), config, allocations)
    return ""


def _written(config: Any, allocations: dict[int, np.ndarray], args: Sequence[Any]) -> bytes:
    parts = [bytes(config), _word(len(allocations))]
    for memory in allocations.values():
        parts += [_word(memory.nbytes), memory.tobytes()]
    parts.append(_word(len(args)))
    order = list(allocations)
    for x in args:
        if hasattr(x, "memory"):
            start = x.memory.ctypes.data
            parts.append(_word(order.index(start), x.address - start))
        else:
            value = np.array(x)
            parts += [_word(-1, value.nbytes), value.tobytes()]
    return b"".join(parts)


def _read_back(data: bytes, config: Any, allocations: dict[int, np.ndarray]) -> None:
    at = len(bytes(config)) + 8
    for memory in allocations.values():
        memory[...] = np.frombuffer(data, np.uint8, memory.size, at + 8)
        at += 8 + memory.nbytes


def _word(*numbers: int) -> bytes:
    return np.array(numbers, np.int64).tobytes()


def _told(report: str) -> str:
    """The lines of a report that say what and where."""
    lines = [line.strip() for line in report.splitlines() if TOLD.search(line)]
    return "\n".join(dict.fromkeys(lines))[:3000]
