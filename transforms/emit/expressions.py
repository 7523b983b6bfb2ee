"""Writes values as Python expressions: names, operations and sizes."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, If, Let, Literal, Type, Var
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.emit.control_flow import negate
from tapeless.transforms.emit.expression_folding import TextLayout
from tapeless.transforms.emit.number_origins import typed_variables
from tapeless.transforms.emit.numpy_scalars import (
    deciding,
    forced_constants,
    is_numpy,
    typed_constant,
)
from tapeless.transforms.emit.size_expressions import Home, Sizes
from tapeless.transforms.ops.numpy.indexing import Slot
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    logical_and,
    logical_not,
    logical_or,
)
from tapeless.transforms.ops.primitives.joining import array, concatenate
from tapeless.transforms.ops.primitives.new_arrays import empty, full, ones, zeros
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.ops.primitives.shapes import cast, dtype_name, reshape
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update
from tapeless.transforms.ops.primitives.stacks import unstack
from tapeless.transforms.python_text.python_source import number, template

OF_BOOLS = {
    logical_not: "not {0}",
    logical_and: "{0} and {1}",
    logical_or: "{0} or {1}",
}
SIZED = (zeros, ones, empty, full, draw)  # take a number for the shape (n,)
ASSOCIATIVE = (add, mul)
AUGMENTABLE = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def usual_source(s: Let) -> Any:
    """The text of an operation, or that and a helper function that it calls."""
    return s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source


class Spelling:
    """The expressions of one function: `layout` says which values have names, and which do not."""

    def __init__(self, block: Block, layout: TextLayout, sizes: Sizes, plain_bools: bool) -> None:
        self.layout, self.sizes, self.forced = layout, sizes, forced_constants(block)
        self.typed = typed_variables(block)
        self.plain_bools = plain_bools  # `not a` for np.logical_not(a)
        self.helpers: dict[str, None] = {}
        self.imports: set[str] = set()

    def name(self, v: Var) -> str:
        return self.layout.names[v]

    def expr(self, a: Atom) -> ast.expr:
        if isinstance(a, Literal):
            return number(a.value)
        expression: Any = self.layout.folded.get(a)
        if isinstance(expression, If):
            return self.conditional(expression)
        if expression is not None:
            value: ast.expr = self.operation(expression)
            return value
        return ast.Name(self.name(a), ast.Load())

    def value_of(self, v: Var, a: Atom) -> ast.expr:
        """What a branch or a loop gives to a variable."""
        return typed_constant(a) if v in self.typed and is_numpy(a) else self.expr(a)

    def operation(self, s: Let) -> Any:
        if s.op is unstack and (elements := self.elements_of(s)) is not None:
            return ast.List([*map(self.expr, elements)], ast.Load())
        text, whole = self.text_of(s), self.sizes.whole.get(s)
        if whole is not None and "size" in s.params and "{size" in text:
            return template("{0}.size", {"0": self.expr(whole)})
        holes: dict[str, ast.expr] = {str(k): self.expr(a) for k, a in enumerate(s.args)}
        if s.op.elementwise:
            strong = {*deciding(s.args), *(k for k in range(len(s.args)) if (s, k) in self.forced)}
            holes |= {str(k): typed_constant(s.args[k]) for k in strong}
        for key, value in s.params.items():
            if f"{{{key}" in text:
                holes |= self.holes_of(s, key, value)
        expression = template(text, holes)
        if s.op is add_at:
            return _as_subtraction(expression, s)
        if s.op is update:
            return _as_augmented(expression, s)
        if s.op is total_of and isinstance(expression, ast.Call):
            return self.sum_of_mask(expression, s)
        if s.op is concatenate and s.outs[0].type.ndim == 1:
            return self.joining_call(expression, s)
        return self.without_parentheses(s, expression) if s.op in ASSOCIATIVE else expression

    def sum_of_mask(self, expression: ast.Call, s: Let) -> ast.Call:
        """np.sum(mask, dtype=np.float64) for np.sum(mask.astype(np.float64))."""
        (a,) = s.args
        inner = self.layout.folded.get(a) if isinstance(a, Var) else None
        if not isinstance(inner, Let) or inner.op is not cast or a.type.dtype.kind != "f":
            return expression
        (mask,) = inner.args
        if mask.type.dtype.kind != "b" or not mask.type.shape:
            return expression
        dtype = ast.keyword("dtype", template(dtype_name(a.type.dtype), {}))
        return ast.Call(expression.func, [self.expr(mask)], [*expression.keywords, dtype])

    def joining_call(self, expression: Any, s: Let) -> Any:
        """np.append(x, 2 * a) for np.concatenate([x, np.reshape(2 * a, (1,))]), and [2 * a] for
        other parts of one number."""
        numbers = [*map(self.single_number, s.args)]
        match numbers:
            case [None, a] if a is not None:
                holes = {"0": self.expr(s.args[0]), "1": self.expr(a)}
                return template("np.append({0}, {1})", holes)
        parts = [
            _as_list(self.expr(part)) if a is None else ast.List([self.expr(a)], ast.Load())
            for part, a in zip(s.args, numbers, strict=True)
        ]
        return template("np.concatenate({0})", {"0": ast.List(parts, ast.Load())})

    def single_number(self, part: Atom) -> Atom | None:
        """The number that a part of an array is, where nothing else reads the part."""
        inner = self.layout.folded.get(part) if isinstance(part, Var) else None
        if not isinstance(inner, Let) or inner.op is not reshape or inner.args[0].type.shape:
            return None
        return inner.args[0]

    def elements_of(self, s: Let) -> tuple[Atom, ...] | None:
        """The numbers that a list is made of by way of an array, if they are what it holds."""
        (source,) = s.args
        inner = self.layout.folded.get(source) if isinstance(source, Var) else None
        if not isinstance(inner, Let) or inner.op is not array or source.type.ndim != 1:
            return None
        item = s.outs[0].type.item
        same = all(a.type == item and (item.weak or isinstance(a, Var)) for a in inner.args)
        return inner.args if same else None

    def text_of(self, s: Let) -> str:
        """The operation's text with holes for arguments and params; notes what it needs."""
        text: Any = self.source(s)
        if self.plain_bools and _is_test(s):
            text = OF_BOOLS.get(s.op, text)
        if isinstance(text, tuple):
            text, helper = text
            self.helpers[textwrap.dedent(helper).strip()] = None
            self.note_imports(helper)
        self.note_imports(text)
        return text  # type: ignore[no-any-return]

    def source(self, s: Let) -> Any:
        """How an operation is spelled: its text, or that and a helper function that it calls."""
        return usual_source(s)

    def note_imports(self, text: str) -> None:
        """Notes the modules of SciPy that a text needs."""
        if "scipy" in text:
            submodules = re.findall(r"scipy\.(?:special|linalg|fft|sparse\.linalg)", text)
            self.imports |= {f"import {m}" for m in submodules}

    def holes_of(self, s: Let, key: str, value: Any) -> dict[str, ast.expr]:
        """What a param is filled in as, where it is a size, or a tuple of sizes."""
        if key == "shape" and s in self.sizes.whole:
            return {key: template("{0}.shape", {"0": self.expr(self.sizes.whole[s])})}
        if isinstance(value, tuple):
            if any(isinstance(e, (Slot, slice, type(None))) for e in value):
                return {}
            entries = {f"{key}_{k}": self.entry(e, s) for k, e in enumerate(value)}
            return {key: self.shape(value, s), **entries}
        is_size = isinstance(value, (int, dims.Dim)) and not isinstance(value, bool)
        return {key: self.size(value, s)} if is_size else {}

    def entry(self, value: Any, s: Let) -> ast.expr:
        return self.size(value, s) if isinstance(value, (int, dims.Dim)) else number(value)

    def without_parentheses(self, s: Let, expression: Any) -> Any:
        """a - b for a + -b, and 2 * x * y for 2 * (x * y), where that is no more work. Other sums
        and products stay as they are: parentheses keep what is lost by rounding, or too large."""
        a, b = s.args
        if s.op is add:
            positive = _positive(expression.right, b, s)
            return expression if not positive else ast.BinOp(expression.left, ast.Sub(), positive)
        inner = self.layout.folded.get(b) if isinstance(b, Var) else None
        if not isinstance(inner, Let) or inner.op is not s.op or b.type.dtype.kind != "f":
            return expression
        if not isinstance(a, Literal) or a.type.shape or isinstance(inner.args[0], Literal):
            return expression  # two constants may be out of range
        if not self.as_precise(s, a, b):
            return expression  # (a * b) would be rounded, or wrap around, as another dtype does
        right = expression.right
        if not isinstance(right, ast.BinOp) or not isinstance(right.op, type(expression.op)):
            return expression
        return ast.BinOp(
            _left_associated(expression.left, right.left, expression.op), expression.op, right.right
        )

    def as_precise(self, s: Let, a: Atom, b: Atom) -> bool:
        """Whether what is computed first has the dtype of the result also without parentheses
        around `b`, which go wherever `b` begins with an operation of the same kind."""
        dtype = s.outs[0].type.dtype
        while isinstance(b, Var) and isinstance(let := self.layout.folded.get(b), Let):
            if let.op is not s.op:
                break
            if b.type.dtype != dtype:
                return False
            b = let.args[0]
        first = [x.type.dtype for x in (a, b) if not x.type.weak]
        return dtype in first if first else True

    def shape(self, shape: tuple[Any, ...], s: Let) -> ast.expr:
        if s.op in SIZED and len(shape) == 1:
            return self.size(shape[0], s)
        return ast.Tuple([self.entry(e, s) for e in shape], ast.Load())

    def size(self, size: Size, s: Let) -> ast.expr:
        if isinstance(size, int):
            return number(size)
        if (home := self.sizes.home.get(s, {}).get(size)) is not None:
            return self.size_at_home(home, s)
        total: ast.expr | None = None
        for factors, c in sorted(size.terms, key=lambda t: (not t[0], t[1] < 0)):
            parts = [self.factor(f, s) for f in factors]
            if abs(c) != 1 or not parts:
                parts.insert(0, number(abs(c)))
            term = functools.reduce(lambda a, b: ast.BinOp(a, ast.Mult(), b), parts)
            if total is None:
                total = ast.UnaryOp(ast.USub(), term) if c < 0 else term
            else:
                total = ast.BinOp(total, ast.Sub() if c < 0 else ast.Add(), term)
        assert total is not None
        if not dims.at_least(size, 0) and any(self.may_be_anything(x, s) for x in sizes_in(size)):
            return template("max({0}, 0)", {"0": total})  # type: ignore[no-any-return]
        return total

    def may_be_anything(self, symbol: dims.Symbol, s: Let) -> bool:
        """Whether an integer stands for a length of what may have no value: nobody looks at arrays
        that are then made with it."""
        home = self.sizes.home[s].get(dims.single(symbol))
        n = symbol.var if home is None else home.var
        return n is not None and n.partial and not n.type.shape

    def factor(self, f: Any, s: Let) -> ast.expr:
        if isinstance(f, dims.Symbol):
            home = self.sizes.home[s].get(dims.single(f))
            return self.expr(f.var) if home is None else self.size_at_home(home, s)
        holes = {"0": self.size(f.left, s), "1": self.size(f.right, s)}
        called = f.kind in dims.CALLED
        return template(f"{f.kind}({{0}}, {{1}})" if called else f"{{0}} {f.kind} {{1}}", holes)  # type: ignore[no-any-return]

    def size_at_home(self, home: Home, s: Let) -> ast.expr:
        """A size that is an axis of a variable, or an integer variable. One that a program keeps,
        or makes memory of, may be that of a variable without a value: then nobody looks at it."""
        expression = self.expr(home.var)
        if home.axis is not None:
            text = "len({0})" if home.var.type.ndim == 1 else f"{{0}}.shape[{home.axis}]"
            if s.op in (size_value, empty) and self.sizes.may_lack(home.var):
                text = f"(0 if {{0}} is None else {text})"
            expression = template(text, {"0": expression})
        if not home.more:
            return expression
        sign = ast.Sub() if home.more < 0 else ast.Add()
        return ast.BinOp(expression, sign, number(abs(home.more)))

    def conditional(self, s: If) -> ast.expr:
        test, then, orelse = self.expr(s.test), s.then.results[0], s.orelse.results[0]
        if s.outs[0].type.dtype.kind == "b":
            if isinstance(orelse, Literal) and not orelse.value:
                return ast.BoolOp(ast.And(), [test, self.expr(then)])
            if isinstance(then, Literal) and then.value:
                return ast.BoolOp(ast.Or(), [test, self.expr(orelse)])
            if isinstance(then, Literal) and not then.value:
                return ast.BoolOp(ast.And(), [negate(test), self.expr(orelse)])
            if isinstance(orelse, Literal) and orelse.value:
                return ast.BoolOp(ast.Or(), [negate(test), self.expr(then)])
        return ast.IfExp(test, *(self.value_of(s.outs[0], a) for a in (then, orelse)))


def _left_associated(a: ast.expr, b: ast.expr, op: ast.operator) -> ast.expr:
    """a op b without parentheses around b."""
    if isinstance(b, ast.BinOp) and isinstance(b.op, type(op)):
        return ast.BinOp(_left_associated(a, b.left, op), op, b.right)
    return ast.BinOp(a, op, b)


def _is_test(s: Let) -> bool:
    """Whether Python's `not`, `and` and `or` mean what NumPy's functions do: of arrays they do not,
    and of two numbers `and` gives one of them."""
    types = [a.type for a in s.args if isinstance(a.type, Type)]
    of_bools = s.op is logical_not or all(t.dtype.kind == "b" for t in types)
    return of_bools and not any(t.shape for t in types)


def _positive(tree: ast.expr, a: Atom, s: Let) -> ast.expr | None:
    """v for the tree -v of `a`, where x + -v is x - v; else None. The opposite of a narrow integer
    is taken modulo its size, and a constant that it does not hold is an error."""
    dtype = s.outs[0].type.dtype
    same = a.type.dtype == dtype
    if a.type.dtype.kind in "fc" or (same and dtype == INT.dtype):
        return _without_minus(tree)
    turned = isinstance(tree, ast.UnaryOp) and not isinstance(tree.operand, ast.Constant)
    return _without_minus(tree) if same and turned else None


def _as_subtraction(expression: Any, s: Let) -> Any:
    """x[i] -= v for x[i] += -v."""
    value = expression.value if isinstance(expression, ast.AugAssign) else expression.args[2]
    positive = _positive(value, s.args[1], s)
    if positive is None:
        return expression
    if isinstance(expression, ast.AugAssign):
        return ast.AugAssign(expression.target, ast.Sub(), positive)
    holes = {"0": expression.args[0], "1": expression.args[1], "2": positive}
    return template("np.subtract.at({0}, {1}, {2})", holes)


def _as_list(part: ast.expr) -> ast.expr:
    """[2 * a] for np.array([2 * a])."""
    match part:
        case ast.Call(func=ast.Attribute(attr="array"), args=[ast.List() as entries], keywords=[]):
            return entries
    return part


def _as_augmented(expression: Any, s: Let) -> Any:
    """x[i] *= v for x[i] = x[i] * v, and for x[i] = v * x[i]."""
    array_type, value_type = s.args[0].type, s.args[1].type
    if array_type.dtype != value_type.dtype or array_type.dtype.kind == "b":
        return expression  # the operation would have another dtype, or none
    match expression:
        case ast.Assign(
            targets=[ast.Subscript() as target], value=ast.BinOp(left=left, op=op, right=right)
        ):
            if isinstance(op, ast.Mult) and ast.unparse(right) == ast.unparse(target):
                left, right = right, left
            if isinstance(op, AUGMENTABLE) and ast.unparse(left) == ast.unparse(target):
                return ast.AugAssign(target, op, right)
    return expression


def _without_minus(tree: ast.expr) -> ast.expr | None:
    """The tree without the minus that it starts with; None where it starts with none."""
    match tree:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operand
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            inner = _without_minus(left)
            return None if inner is None else ast.BinOp(inner, op, right)
        case _:
            return None
