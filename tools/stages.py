"""Prints every stage on the way from a function to the source of its derivative."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tapeless.tools.target import CommandDerivative, add_derivative, add_target
from tapeless.tools.user_output import printing_aside

EXAMPLES = """\
examples:
  tapeless stages models.py:logistic
  tapeless stages models.py:loss --args "f8[100,3], f8" --mode forward
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_derivative(parser)


def execute(options: Namespace) -> int:
    """Print each stage under its name."""
    derivative = CommandDerivative.of_options(options)
    with printing_aside():
        stages = [*derivative.function.stages(*derivative.args)]
    for name, stage in stages:
        print(f"── {name} ".ljust(80, "─"), str(stage).rstrip(), sep="\n", end="\n\n")
    return 0
