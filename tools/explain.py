"""Prints, line by line, what runs a function: kernels, libraries or Python, and what it costs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tapeless.tools.target import CommandTarget, add_target
from tapeless.tools.transform import add_transform, transform
from tapeless.tools.user_output import printing_aside

EXAMPLES = """\
examples:
  tapeless explain models.py:logistic
  tapeless explain models.py:loss --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" --transform jit,grad
  tapeless explain models.py:simulate --transform value_and_grad
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_transform(parser)


def execute(options: Namespace) -> int:
    """Print the report."""
    target = CommandTarget.of_options(options, lambda args: (0,) if args else (-1,))
    with printing_aside():
        report = transform(target, options.transform).explain(*target.args)
    print(report)
    return 0
