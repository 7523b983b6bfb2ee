"""Shows or empties the folder with emitted modules and compiled code."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tapeless.backends import cache

EXAMPLES = """\
examples:
  tapeless cache info
  tapeless cache clear
"""


def describe(parser: ArgumentParser) -> None:
    """What to do with the folder."""
    parser.add_argument("action", choices=["info", "clear"], help="show it, or empty it")


def execute(options: Namespace) -> int:
    """Print what is there, or remove it; files of others in the folder are left alone."""
    contents = cache.contents()
    if options.action == "clear":
        return _clear([path for paths in contents.values() for path in paths])
    print(cache.folder())
    for kind, paths in contents.items():
        print(_row(kind, paths, _age(paths)))
    everything = [path for paths in contents.values() for path in paths]
    print(_row("all", everything, f" of {cache.limit() / 1e6:g} MB that may be kept"))
    return 0


def _row(kind: str, paths: list[Path], more: str) -> str:
    return f"  {kind:<18}{len(paths):>6} files {cache.size(paths) / 1e6:>9.1f} MB{more}"


def _age(paths: list[Path]) -> str:
    """When a file was used last."""
    used = [path.stat().st_mtime for path in paths if path.exists()]
    if not used:
        return ""
    return f", last used {time.strftime('%Y-%m-%d %H:%M', time.localtime(max(used)))}"


def _clear(paths: list[Path]) -> int:
    before = cache.size(paths)
    in_use = []
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            in_use.append(f"{path}: {error.strerror}")
    print(f"removed {len(paths) - len(in_use)} files, {(before - cache.size(paths)) / 1e6:.1f} MB")
    for line in in_use:
        print(f"  kept {line}")
    return int(bool(in_use))
