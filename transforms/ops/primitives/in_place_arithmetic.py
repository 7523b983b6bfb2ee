"""Defines arithmetic that overwrites its first operand: what becomes of `x = x + y` where x is
ours.
"""

from __future__ import annotations

from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub, truediv


def _overwriting(sign: str) -> Op:
    return Op(f"overwrite {sign}", lambda a, b: a.type, f"{{0}} {sign} {{1}}", inplace=True)


OVERWRITING = {
    add: _overwriting("+="),
    sub: _overwriting("-="),
    mul: _overwriting("*="),
    truediv: _overwriting("/="),
}
COMMUTATIVE = (add, mul)
