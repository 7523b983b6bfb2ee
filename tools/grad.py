"""Prints the source of a derivative."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import tapeless
from tapeless.tools.errors import writing
from tapeless.tools.overwriting import check_not_of_the_user
from tapeless.tools.show import show_source
from tapeless.tools.target import CommandDerivative, add_derivative, add_device, add_target
from tapeless.tools.user_output import printing_aside

EXAMPLES = """\
examples:
  tapeless grad models.py:logistic
  tapeless grad models.py:loss --wrt params,x --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" --value
  tapeless grad models.py:logistic --order 2 -o logistic_2.py
  tapeless grad models.py:loss --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" --jit
  tapeless grad models.py:logistic --jit --device gpu
  tapeless grad package.models:simulate --mode forward | less
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_derivative(parser)
    parser.add_argument(
        "--jit", action="store_true", help="the loop form that is compiled, not array form"
    )
    add_device(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="a module that stands alone is written there",
    )


def execute(options: Namespace) -> int:
    """Print the emitted module, or write it."""
    if options.output is not None:
        check_not_of_the_user(options.output)
    derivative = CommandDerivative.of_options(options)
    function = derivative.function
    if options.jit or options.device == "gpu":
        function = tapeless.jit(function, backend=options.device)
    with printing_aside():
        source = function.source(*derivative.args)
    if options.output is None:
        show_source(source)
        return 0
    with writing(options.output):
        function.save(options.output, *derivative.args)
    return 0
