"""Defines elementwise operations whose values change in steps: comparisons, logic, bits and
rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.scalar_form import ScalarForm
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.primitives import scalar_forms
from tapeless.transforms.ops.primitives.constant_folding import fold
from tapeless.transforms.ops.primitives.make_elementwise import elementwise
from tapeless.transforms.ops.primitives.scalar_forms import of_numpy
from tapeless.transforms.ops.primitives.shapes import Atoms, Params


def _comparison(
    ufunc: np.ufunc, infix: str, compare: Callable[..., Any], of_complex: Any = None
) -> Op:
    return elementwise(
        ufunc,
        None,
        None,
        infix=infix,
        simplify=lambda args, params: fold(compare, args),
        scalar=scalar_forms.comparison(infix, of_complex),
        speculative=True,
    )


less = _comparison(np.less, "<", lambda x, y: x < y)
less_equal = _comparison(np.less_equal, "<=", lambda x, y: x <= y)
greater = _comparison(np.greater, ">", lambda x, y: x > y)
greater_equal = _comparison(np.greater_equal, ">=", lambda x, y: x >= y)
equal = _comparison(np.equal, "==", lambda x, y: x == y, "same")
not_equal = _comparison(np.not_equal, "!=", lambda x, y: x != y, "same")
logical_not = elementwise(
    np.logical_not, None, scalar=ScalarForm("not {0}", "truth"), speculative=True
)
logical_and = elementwise(
    np.logical_and, None, None, scalar=ScalarForm("{0} & {1}", "truth"), speculative=True
)
logical_or = elementwise(
    np.logical_or, None, None, scalar=ScalarForm("{0} | {1}", "truth"), speculative=True
)
logical_xor = elementwise(
    np.logical_xor, None, None, scalar=ScalarForm("{0} ^ {1}", "truth"), speculative=True
)
bitwise_and = elementwise(
    np.bitwise_and, None, None, infix="&", scalar=scalar_forms.infix("&"), speculative=True
)
bitwise_or = elementwise(
    np.bitwise_or, None, None, infix="|", scalar=scalar_forms.infix("|"), speculative=True
)
bitwise_xor = elementwise(
    np.bitwise_xor, None, None, infix="^", scalar=scalar_forms.infix("^"), speculative=True
)
left_shift = elementwise(np.left_shift, None, None, infix="<<", scalar=scalar_forms.shift("<<"))
right_shift = elementwise(np.right_shift, None, None, infix=">>", scalar=scalar_forms.shift(">>"))
invert = elementwise(
    np.invert, None, source="~{0}", operator=True, scalar=scalar_forms.COMPLEMENT, speculative=True
)
isnan = elementwise(
    np.isnan, None, scalar=scalar_forms.floats_test("isnan", False), speculative=True
)
isinf = elementwise(
    np.isinf, None, scalar=scalar_forms.floats_test("isinf", False), speculative=True
)
isfinite = elementwise(
    np.isfinite,
    None,
    scalar=scalar_forms.floats_test("isfinite", True, repeats=True),
    speculative=True,
)
signbit = elementwise(np.signbit, None, speculative=True)
floor = elementwise(np.floor, None, scalar=of_numpy("floor"), finite="always", speculative=True)
ceil = elementwise(np.ceil, None, scalar=of_numpy("ceil"), finite="always", speculative=True)
trunc: Op = elementwise(np.trunc, None, scalar=of_numpy("trunc"), finite="always", speculative=True)
rint = elementwise(np.rint, None, scalar=of_numpy("rint"), finite="always", speculative=True)
sign = elementwise(np.sign, None, scalar=of_numpy("sign"), finite="always", speculative=True)


def _sign_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    if primals[0].type.dtype.kind == "c" and tangents[0] is not None:
        raise NotDifferentiableError(
            "np.sign of complex numbers has no derivative here", "write z / np.abs(z)"
        )
    return (None,)


sign.jvp = _sign_jvp
spacing = elementwise(np.spacing, None, finite="always")
bitwise_count = elementwise(np.bitwise_count, None)
gcd = elementwise(np.gcd, None, None)
lcm = elementwise(np.lcm, None, None)
