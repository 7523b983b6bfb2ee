"""Prints the loop form of a function: what is compiled, and what calls it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import tapeless
from tapeless.tools.show import show_source
from tapeless.tools.target import CommandTarget, add_device, add_target
from tapeless.tools.user_output import printing_aside

EXAMPLES = """\
examples:
  tapeless jit models.py:logistic
  tapeless jit models.py:loss --args "{w: f8[3,2], b: f8[2]}, f8[100,3]"
  tapeless jit models.py:logistic --device gpu
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_device(parser)


def execute(options: Namespace) -> int:
    """Print the emitted module."""
    target = CommandTarget.of_options(options, lambda args: (0,) if args else (-1,))
    compiled = tapeless.jit(target.function, backend=options.device)
    with printing_aside():
        source = compiled.lower(*target.args).source()
    show_source(source)
    return 0
