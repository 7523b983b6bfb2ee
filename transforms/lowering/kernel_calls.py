"""Writes the statements of the driver that call a kernel."""

from __future__ import annotations

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Statement,
    Type,
    Var,
    statements,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.lowering.device_memory import (
    memory,
    read,
    team_memory,
)
from tapeless.transforms.lowering.device_numbers import DeviceNumbers
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.kernels.row_range import device_call
from tapeless.transforms.lowering.schedule.analysis import Analysis
from tapeless.transforms.lowering.target import Target
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from tapeless.transforms.ops.primitives.shapes import cast

LOGICAL = frozenset([logical_and, logical_or, logical_not, logical_xor])


class KernelCalls:
    """Calls of kernels: memory that they need, arguments, and results as the driver takes them.

    passed  variables that kernels get
    shown   results of the program, which the caller sees
    """

    def __init__(
        self,
        block: Block,
        analysis: Analysis,
        target: Target,
        numbers: DeviceNumbers,
        shown: set[Var],
    ) -> None:
        self.analysis, self.target, self.numbers, self.shown = analysis, target, numbers, shown
        self.passed: set[Var] = set()
        self.counted = {a for s in statements(block) for a in _counted_truths(s)}

    def call(self, kernel: Kernel) -> list[Statement]:
        """The call of a kernel, after what it needs, and before what its results become."""
        launch, of_device = kernel.launch, not self.target.returns_numbers
        before = self.scratch_memory(kernel)
        args: list[Atom] = []
        first = ([launch.rows] if of_device else [launch.rows, launch.work]) if launch else []
        for a in first + kernel.arguments:
            if isinstance(a, Var):
                args.append(a)
                self.passed.add(a)
                continue
            n = Var(size_value.infer(size=a), str(a))
            before.append(Let((n,), size_value, (), {"size": a}))
            args.append(n)
        text = f"{kernel.name}({', '.join(f'{{{k}}}' for k in range(len(args)))})"
        if of_device:
            text = device_call(kernel.name, len(args), launch)
        elif launch is not None:
            text = launch.text(kernel.name, len(args))
        if not kernel.results:
            return [*before, Effect("kernel", tuple(args), {"text": text})]
        result_of = self.result_of_device if of_device else self.result_of_host
        outs, conversions = zip(*map(result_of, kernel.results), strict=True)
        pure = not (kernel.scratch or kernel.same or kernel.draws)
        op = Op(kernel.name, None, text, pure=pure)  # type: ignore[arg-type]
        return [*before, Let(outs, op, tuple(args)), *(s for after in conversions for s in after)]

    def scratch_memory(self, kernel: Kernel) -> list[Statement]:
        """The arrays that a kernel computes in; some have a row for each team of threads."""
        launch, of_device = kernel.launch, not self.target.returns_numbers
        own = launch.own if launch is not None and of_device else ()
        arrays: list[Statement] = []
        for v, t in kernel.scratch:
            op = team_memory if v in own else memory
            shape = tuple(map(self.analysis.memory_length, t.shape))
            arrays.append(Let((v,), op, (), {"shape": shape, "dtype": t.dtype}))
        return arrays

    def result_of_device(self, v: Var) -> tuple[Var, list[Let]]:
        """A result in the memory of the device, which is read where the driver needs the number."""
        numbers = self.numbers
        needed = v in numbers.lengths or (v in numbers.host and v in numbers.read_by_host)
        numbers.host.discard(v)
        v.name = v.name or "value"
        if not needed:
            return v, []
        numbers.host.add(v)
        w = Var(Type(v.type.dtype, ()), v.name)
        return w, [Let((v,), read, (w,), {})]

    def result_of_host(self, v: Var) -> tuple[Var, list[Let]]:
        """A result as Python gets it: a number of its own, which becomes one of NumPy's."""
        flag = v.type.dtype.kind == "b" and v not in self.shown | self.counted
        if v.type.weak or v.type.shape or flag:
            v.name = v.name or "value"
            return v, []
        w = Var(Type(v.type.dtype, (), True), v.name or "value")
        return w, [Let((v,), cast, (w,), {"dtype": v.type.dtype})]


def _counted_truths(s: Statement) -> list[Var]:
    """Truth values that a statement may take for numbers: two of Python's add up to an integer."""
    if not isinstance(s, Let) or s.op in LOGICAL:
        return []
    atoms = (a for a in s.args if isinstance(a, Var) and isinstance(a.type, Type))
    return [a for a in atoms if a.type.dtype.kind == "b" and not a.type.shape]
