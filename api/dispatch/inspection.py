"""Shows what was emitted for a function: its source, its stages, its times, its costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless import tree
from tapeless.dispatch.gpu_arguments import refuse_profile
from tapeless.dispatch.lookup import Lookup
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.specialisation_maker import short
from tapeless.lazy_import import lazy_module
from tapeless.staging.emitted_names import (
    leaf_paths,
    place,
    unwrap,
)
from tapeless.transforms.core.language import Program
from tapeless.transforms.dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from tapeless.explain import explain
    from tapeless.explain.report import Explanation
    from tapeless.staging import standalone_modules as standalone
    from tapeless.transforms.core import printer
    from tapeless.transforms.emit import module
    from tapeless.transforms.frontend.source import rewrite
else:
    explain = lazy_module("tapeless.explain.explain")
    module = lazy_module("tapeless.transforms.emit.module")
    printer = lazy_module("tapeless.transforms.core.printer")
    rewrite = lazy_module("tapeless.transforms.frontend.source.rewrite")
    standalone = lazy_module("tapeless.staging.standalone_modules")


@dataclass
class Stages:
    """Each stage of a compilation; prints itself, and iterates as (name, value) pairs."""

    parts: list[tuple[str, Any]]

    def __iter__(self) -> Any:
        return iter(self.parts)

    def __getitem__(self, name: str) -> Any:
        return dict(self.parts)[name]

    def __str__(self) -> str:
        return "\n\n".join(f"-- {name} --\n{value}" for name, value in self.parts)

    __repr__ = __str__


def stages_of(name: str, specialisation: Specialisation, fun: Any) -> Stages:
    """Each stage on the way to an emitted function; of the user's function `fun` also how it was
    rewritten, of those that it calls not."""
    inner = unwrap(fun)
    notes = "\n".join(specialisation.staged.notes) or "every loop that depends on values is rolled"
    return Stages(
        [
            *(
                [("rewritten", rewrite.rewritten_text(inner))]
                if rewrite.is_rewritten(inner)
                else []
            ),
            ("core", printer.show(Program(name, specialisation.staged.block))),
            ("simplified", module.show_with_functions(name, specialisation.simplified)),
            ("notes", notes),
            ("source", specialisation.text),
        ]
    )


class Inspection(Lookup):
    """What one may ask of a transformed function."""

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The emitted module for these arguments, which may be `ShapeDtypeStruct`s; without any,
        that of the last call.

        Small arrays and numbers that the function reads from outside are data in it; larger ones
        are parameters, which its docstring names (`save` writes them beside the module).
        """
        return self.where(args, kwargs).module(args, kwargs).with_small()  # type: ignore[no-any-return]

    def save(self, file: Any, /, *args: Any, **kwargs: Any) -> Path:
        """Writes the emitted module for these arguments, or of the last call, to a file that needs
        no other code but NumPy (and Numba under `jit`, and SciPy where the function uses it).

        file  the path of a Python file. Arrays that the function reads from outside are data in
              the module, or, where they are large, in an `.npz` beside it; they have the values
              that they have now

        Returns the path. Raises ValueError for a name that ends in .npz, and OSError where nothing
        can be written.

        >>> import numpy as np, tempfile, tapeless
        >>> w = np.array([1.0, 2.0])
        >>> slope = tapeless.grad(lambda x: np.sum(w * x**2))
        >>> file = slope.save(tempfile.mkdtemp() + "/slope.py", np.ones(2))
        >>> print(file.read_text().split("# line")[0].rstrip().splitlines()[-1])
            return w * (2 * x)
        """
        path = standalone.checked_file(file)
        self.where(args, kwargs).module(args, kwargs).save(path)
        return path

    def file(self, /, *args: Any, **kwargs: Any) -> str:
        """The path of the emitted module for these arguments, or of the last call, as it runs: a
        debugger shows it, and takes breakpoints there.

        >>> import pathlib, tapeless
        >>> slope = tapeless.grad(lambda x: x**2)
        >>> slope(3.0)
        6.0
        >>> "return 2 * x" in pathlib.Path(slope.file()).read_text()
        True
        """
        here = self.where(args, kwargs)
        return standalone.file_of(here.emitted_name, here.pick(args, kwargs).text)

    def module(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> standalone.StandaloneModule:
        """The emitted module and what its function reads from outside."""
        return standalone.StandaloneModule(self.pick(args, kwargs), self.emitted_name)

    def stages(self, /, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments, or of the last call."""
        here = self.where(args, kwargs)
        return stages_of(here.emitted_name, here.pick(args, kwargs), here.fun)

    def profile(self, /, *args: Any, **kwargs: Any) -> Any:
        """The time by line of the emitted module, beside the user's lines; prints as a table.

        The function is called with these arguments for a fraction of a second. Arrays that it
        overwrites are copies. Returns a `tapeless.profiler.LineProfile`. Raises UnsupportedError
        for arguments on a GPU, whose kernels have no lines of Python.
        """
        refuse_profile(self.describe(), args, kwargs)
        from tapeless.profiler.line_profile import line_profile  # noqa: PLC0415 (takes time to import)

        return line_profile(self.describe(), self.for_arguments(args, kwargs), args, kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """What the function does for these arguments, line by line of the user's code; prints as a
        report.

        args, kwargs  as in a call; nothing is run, but that a program which is traced on values
                      computes those that decide its way. Arrays may be `ShapeDtypeStruct`s

        Returns a `tapeless.explain.report.Explanation`: for each line the kernel or the library
        call that runs it, or that Python does, with operations and bytes; the loops that Python
        runs, why, and the way out; what the code was made for, what is saved for the backward pass,
        the memory at once, the seconds that each kernel took to compile. Numbers of operations,
        bytes and memory are estimates.

        Raises what staging raises.

        >>> import tapeless
        >>> def total(x, n):
        ...     for _ in range(n):
        ...         x = x + x
        ...     return x
        >>> tapeless.jit(total).explain(1.0, 10).work.operations
        10.0
        """
        here = self.where(args, kwargs)
        return here.explain_specialisation(here.for_arguments(args, kwargs), args, kwargs)  # type: ignore[no-any-return]

    def explain_specialisation(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Explanation:
        """The report for a specialisation that serves these arguments."""
        name, loops = self.describe_call(args, kwargs), specialisation.staged.slow
        return explain.explanation(name, specialisation, tree.leaves((args, kwargs)), None, loops)

    def describe_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What was transformed and how, where it is, and the shapes of the arguments."""
        at = place(self.fun)
        where = f", {short(at[0])}:{at[1]}" if at else ""
        names = leaf_paths(args, kwargs, self.arguments(args, kwargs))
        leaves = zip(names, tree.leaves((args, kwargs)), strict=True)
        shown = (f"{name}: {x.dtype}{list(x.shape)}" for name, x in leaves if hasattr(x, "shape"))
        return f"{self.describe()}{where}; {', '.join(shown)}"
