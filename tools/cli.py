"""Runs the `tapeless` command: one file a subcommand, errors on stderr, exit codes 0, 1 and 2."""

from __future__ import annotations

import os
import sys
import traceback
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

import tapeless
from tapeless import backends, tools, transforms
from tapeless.tools import cache, check, doctor, explain, export, grad, jit, run, stages, view
from tapeless.tools.errors import UsageError
from tapeless.tools.signature import TELL

FOLDERS = (tapeless, tools, transforms, backends)
HIDDEN = ("<frozen importlib", *(str(Path(str(each.__file__)).parent) + os.sep for each in FOLDERS))
COMMANDS = (grad, jit, stages, explain, view, export, check, run, cache, doctor)
CODES = """\
exit codes:
  0  done
  1  refused, wrong or failed: the reason is on standard error
  2  the request was not understood
"""

#: What code raises that gets a number in place of an array.
OF_OTHER_TYPES = (AttributeError, IndexError, TypeError, ValueError)


def script() -> int:
    """The command as it is installed. What it prints is source: files and pipes get UTF-8, also
    where the locale has another encoding, as on Windows."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"  # None: as it is
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    return main()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = Namespace()
    try:
        options = _parser().parse_args(argv)
        return _flush(options.execute(options))
    except tapeless.TapelessError as error:
        print(f"tapeless: {error}", file=sys.stderr)
        if isinstance(error, UsageError):
            return 2
        _say_what_was_assumed(options)
        return 1
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # whatever the code of the user raises
        shown = _of_the_user(error)
        if shown is None:
            raise
        print(
            f"tapeless: {vars(options).get('target', 'the command')} failed\n{shown}",
            file=sys.stderr,
        )
        if isinstance(error, OF_OTHER_TYPES):
            _say_what_was_assumed(options)
        return 1


def _say_what_was_assumed(options: Namespace) -> None:
    """Arguments of which nothing is known are numbers: that may be why the function failed."""
    if names := vars(options).get("assumed"):
        print(f"  {', '.join(names)}: taken for float scalars; {TELL}", file=sys.stderr)


def _of_the_user(error: Exception) -> str | None:
    """The user's part of the traceback; None if there is none, for then the mistake is ours."""
    summary = traceback.TracebackException.from_exception(error)
    own = [frame for frame in summary.stack if not frame.filename.startswith(HIDDEN)]
    if not own and not isinstance(error, SyntaxError):
        return None
    summary.stack = traceback.StackSummary.from_list(own)
    return "".join(summary.format(chain=False)).rstrip()


def _flush(code: int) -> int:
    sys.stdout.flush()
    return code


class _Parser(ArgumentParser):
    """Mistakes in options are reported like all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.prog} --help shows what is accepted")


def _parser() -> ArgumentParser:
    parser = _Parser(
        "tapeless",
        description="JAX's transformations for plain NumPy code, as readable source.",
        epilog=CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tapeless {tapeless.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        about = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(
            module.__name__.rpartition(".")[2],
            help=about,
            description=about,
            epilog=module.EXAMPLES,
            formatter_class=RawDescriptionHelpFormatter,
        )
        module.describe(command)
        command.set_defaults(execute=module.execute)
    return parser
