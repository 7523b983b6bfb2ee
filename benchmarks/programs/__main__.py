"""Runs public NumPy programs under every transformation, each in a process of its own.

python -m benchmarks.programs CHECKOUTS [--only TEXT] [--timeout SECONDS] [--table FILE] [--jobs N]

CHECKOUTS is a folder of clones, `owner/name` or `owner+name`; a program whose repository is not
there is left out. What is run, and with which arguments, is in `catalogue.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.own_process import output_of  # after the path is set
from benchmarks.programs import catalogue, report  # the same
from benchmarks.programs.program import Program  # the same


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs")
    parser.add_argument("checkouts", type=Path, help="a folder of clones")
    parser.add_argument("--only", default="", help="programs whose name has this text")
    parser.add_argument("--timeout", type=float, default=240, help="seconds for a program")
    parser.add_argument("--table", type=Path, help="a Markdown file to write")
    parser.add_argument("--jobs", type=int, default=1, help="programs at once")
    return parser.parse_args()


def outcomes(program: Program, checkouts: Path, timeout: float) -> list[dict[str, Any]]:
    """What each transformation made of a program."""
    index = catalogue.PROGRAMS.index(program)
    output, end = output_of(["benchmarks.programs.measure", str(checkouts), str(index)], timeout)
    output = output.replace(f"{checkouts}/", "")  # results name no folder of this machine
    lines: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines()]
    if lines and lines[0]["outcome"] == "not run":
        return lines
    missing = report.TRANSFORMATIONS[len(lines) :]
    return lines + [
        {"transformation": t, "outcome": "error", "why": end or "ended"} for t in missing
    ]


def main() -> None:
    options = arguments()
    checkouts = options.checkouts.resolve()
    chosen = [p for p in catalogue.PROGRAMS if options.only in p.name]

    def run(program: Program) -> report.Row:
        row = report.Row(program, outcomes(program, checkouts, options.timeout))
        print(row.text(), flush=True)
        return row

    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(run, chosen))
    print(report.totals(rows))
    if options.table:
        options.table.write_text(report.page(rows))


if __name__ == "__main__":
    main()
