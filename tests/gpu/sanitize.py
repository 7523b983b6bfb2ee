"""Runs the programs under the sanitizers: python -m tests.gpu.sanitize address|thread [NAME ...]

Each launch is a process of its own; grids are small under the thread sanitizer, which knows some
thousand threads. It takes minutes, and is run by hand.
"""

import argparse
import sys

from tapeless.backends.cuda import launch
from tests.gpu import cupy_stand_in
from tests.gpu.emulator import EmulationError, emulating
from tests.gpu.programs import PROGRAMS
from tests.gpu.test_programs import REFUSED, assert_near, on_gpu

BLOCKS = 6


def sanitized(name, sanitizer):
    """What is wrong with a program; "" if nothing is."""
    program = PROGRAMS[name]
    try:
        with emulating(sanitize=sanitizer):
            assert_near(program, on_gpu(program), program.expected())
    except (EmulationError, AssertionError) as e:
        return str(e)
    return ""


def main():
    """Prints a line for each program, and fails if one does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sanitizer", choices=["address", "thread"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    sys.modules.update(cupy_stand_in.modules())
    if options.sanitizer == "thread":
        launch.BLOCKS = launch.BLOCKS_OF_SINGLE = BLOCKS
        launch.BLOCKS_OF_RESULTS = launch.BLOCKS_OF_SUMS = BLOCKS
    failed = 0
    for name in options.names or [name for name in PROGRAMS if name not in REFUSED]:
        problem = sanitized(name, options.sanitizer)
        failed += bool(problem)
        sys.stdout.write(f"{'FAIL' if problem else 'ok  '} {name} {problem}\n")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    raise SystemExit(main() > 0)
