"""Print the source of a derivative."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import tapeless
from tapeless.tools.errors import UsageError
from tapeless.tools.show import show_source
from tapeless.tools.target import Derivative, add_derivative, add_target

EXAMPLES = """\
examples:
  tapeless grad models.py:logistic
  tapeless grad models.py:loss --wrt params,x --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" --value
  tapeless grad models.py:logistic --order 2 -o logistic_2.py
  tapeless grad models.py:loss --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" --jit
  tapeless grad package.models:simulate --mode forward | less
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_derivative(parser)
    parser.add_argument(
        "--jit", action="store_true", help="the loop form that is compiled, not array form"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write there instead of printing"
    )


def execute(options: Namespace) -> int:
    """Print the emitted module, or write it."""
    derivative = Derivative.of(options)
    function = tapeless.jit(derivative.function) if options.jit else derivative.function
    source = function.source(*derivative.args)
    if options.output is None:
        show_source(source)
    else:
        _write(options.output, source)
    return 0


def _write(path: Path, source: str) -> None:
    try:
        path.write_text(source, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", "-o names a file in a folder that exists"
        ) from None
