"""Makes the derivative that a command line asks for: a function, example arguments and options."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tapeless
from tapeless.tools import internals
from tapeless.tools.errors import UsageError
from tapeless.tools.load import load_function
from tapeless.tools.signature import example_arguments, positions, taken_for_numbers


def _first_argument(args: tuple[Any, ...]) -> tuple[int, ...]:
    if not args:
        raise UsageError(
            "the function has no arguments to differentiate by",
            "--args describes them, as in f8[3]",
        )
    return (0,)


@dataclass(frozen=True)
class CommandTarget:
    """A function, arguments to stage it with, and the positions that it is differentiated by."""

    function: internals.Function
    args: tuple[Any, ...]
    wrt: tuple[int, ...]

    @classmethod
    def of_options(
        cls, options: Namespace, default: Callable[..., tuple[int, ...]] = _first_argument
    ) -> CommandTarget:
        """What the options name; `default` picks positions among the arguments without --wrt."""
        function = load_function(options.target)
        args = example_arguments(function, options.args)
        options.assumed = [] if options.args else taken_for_numbers(function)
        wrt = default(args) if options.wrt is None else positions(function, options.wrt)
        if max(wrt) >= len(args):
            raise UsageError(
                f"--args describes {len(args)} arguments, too few for --wrt {options.wrt}",
                "describe every argument up to the last that is differentiated by",
            )
        return cls(function, args, wrt)

    @property
    def argnums(self) -> int | tuple[int, ...]:
        """As `grad` takes it: one position, or several for a tuple of gradients."""
        return self.wrt[0] if len(self.wrt) == 1 else self.wrt


@dataclass(frozen=True)
class CommandDerivative:
    """A transformed callable and the arguments that it is staged with."""

    function: Any
    args: tuple[Any, ...]

    @classmethod
    def of_options(cls, options: Namespace) -> CommandDerivative:
        target = CommandTarget.of_options(options)
        if options.mode == "forward":
            return cls._forward(target, options.order)
        return cls._reverse(target, options.order, options.value)

    @classmethod
    def _reverse(cls, target: CommandTarget, order: int, value: bool) -> CommandDerivative:
        function: Any = target.function
        for _ in range(order - 1):
            function = tapeless.grad(function, argnums=target.argnums)
        last = tapeless.value_and_grad if value else tapeless.grad
        return cls(last(function, argnums=target.argnums), target.args)

    @classmethod
    def _forward(cls, target: CommandTarget, order: int) -> CommandDerivative:
        function: Any = target.function
        args, tangents = target.args, tuple(target.args[i] for i in target.wrt)
        for _ in range(order):
            function, args = internals.forward(function, target.wrt), args + tangents
        return cls(function, args)


def add_target(parser: ArgumentParser, default: str = "the first") -> None:
    """The function and what it is called with."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION", help="or module:function")
    parser.add_argument(
        "--wrt",
        metavar="NAMES",
        help=f"parameters to differentiate by, separated by commas (default: {default})",
    )
    parser.add_argument(
        "--args",
        metavar="TYPES",
        help='dtypes and shapes, "f8[100,3], f8, i8=5" (default: from annotations, else f8)',
    )


def add_device(parser: ArgumentParser) -> None:
    """Adds the option that says what runs the program; none has to be there to print its source."""
    parser.add_argument(
        "--device",
        choices=("cpu", "gpu"),
        type=lambda name: "gpu" if name == "cuda" else name,
        default="cpu",
        help="what the program is compiled for: CUDA C is printed on machines without a GPU, too",
    )


def add_derivative(parser: ArgumentParser) -> None:
    """Which derivative of it."""
    parser.add_argument("--mode", choices=("reverse", "forward"), default="reverse")
    add_order(parser)
    parser.add_argument(
        "--value",
        action="store_true",
        help="also return what was differentiated; forward mode always does",
    )


def add_order(parser: ArgumentParser) -> None:
    """How often."""
    parser.add_argument(
        "--order", type=_order, default=1, metavar="N", help="differentiate N times (default: 1)"
    )


def _order(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)
