"""Compiles the statements of a kernel to a function of LLVM's for given types of arguments.

It returns 0, or the number of the error that it raises. What the text returns is stored where its
last argument says, or the numbers that the error tells of.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.calls import release
from tapeless.backends.cpu.llvm.control_flow import ControlFlowBuilder, Hints
from tapeless.backends.cpu.llvm.expressions import indices
from tapeless.backends.cpu.llvm.held_elements import key_of, own_arrays
from tapeless.backends.cpu.llvm.ir import values as kinds
from tapeless.backends.cpu.llvm.ir.ir_helpers import variable
from tapeless.backends.cpu.llvm.ir.values import (
    POINTER,
    STATUS,
    WORD,
    ArrayValue,
    LlvmUnsupportedError,
    Number,
    cast,
    joined_dtype,
)
from tapeless.backends.cpu.llvm.math.sincos_pairs import paired_calls
from tapeless.transforms.python_text.tree_walk import walk

if TYPE_CHECKING:
    from tapeless.backends.cpu.llvm.module import CompiledFunction, LlvmModuleWriter

SHORT = 16  # passes: so few are not worth vectors
RESULT = 8  # bytes for each number that is returned


class FunctionBuilder(ControlFlowBuilder):
    """Writes one function."""

    single = True  # whether it returns a number, not a tuple
    fails = False  # whether it may raise an error
    told = 0  # words of the numbers that its errors tell of
    line = 0  # of the statement that is written, in the text of the kernels

    def __init__(
        self, unit: LlvmModuleWriter, node: ast.FunctionDef, function: Any, hints: Hints
    ) -> None:
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        super().__init__(builder, unit.globals, unit.options(node.name))
        self.unit, self.node, self.function, self.hints = unit, node, function, hints
        self.features = self.arithmetic.features = unit.features
        self.arithmetic.fail = self.fail
        self.exit = function.append_basic_block("exit")
        self.loops = []
        self.returned: list[tuple[Any, tuple[Number, ...] | None]] = []
        self.status = variable(builder, STATUS)

    def write(self, arguments: Iterable[Any]) -> tuple[Any, ...] | None:
        """The dtypes of the numbers that it returns; None if it returns none."""
        self.moving = _moving(self.node)
        self.paired = paired_calls(self.node)
        self.own = own_arrays(self.node)
        for name, value in zip((a.arg for a in self.node.args.args), arguments, strict=True):
            self.assign(name, value)
        self.statements(self.node.body)
        if self.open():
            self.returned.append((self.builder.block, None))
        results = self.results()
        self.builder.position_at_end(self.exit)
        if self.chain is not None:
            self.release(results)
        self.builder.ret(self.builder.load(self.status))
        return results

    def release(self, results: tuple[Any, ...] | None) -> None:
        """Gives arrays back; those that are returned are left to the caller, if all went well."""
        builder, first = self.builder, self.builder.load(self.chain)
        if not returns_rows(results):
            builder.call(release(builder.module), [first])
            return
        failed = builder.icmp_signed("!=", builder.load(self.status), STATUS(0))
        with builder.if_else(failed, likely=False) as (raised, returned):
            with raised:
                builder.call(release(builder.module), [first])
            with returned:
                self.put_result(slots(results)[-1], first)

    def results(self) -> tuple[Any, ...] | None:
        """Stores what is returned, where it is, in dtypes that are the same everywhere."""
        returned_values = [values for _, values in self.returned if values is not None]
        if returned_values and len(returned_values) < len(self.returned):
            raise LlvmUnsupportedError("a function that returns None or a number")
        if len({len(values) for values in returned_values}) > 1:
            raise LlvmUnsupportedError("tuples of several lengths")
        result_kinds = [_kind_of(x) for x in returned_values[0]] if returned_values else []
        for others in returned_values[1:]:
            result_kinds = [_common_kind(d, x) for d, x in zip(result_kinds, others, strict=True)]
        for block, values in self.returned:
            self.builder.position_at_end(block)
            for k, kind, x in zip(slots(result_kinds), result_kinds, values or (), strict=False):
                if isinstance(x, ArrayValue):
                    self.put_result(k, x.data)
                    self.put_result(k + 1, x.shape[0].value)
                else:
                    self.put_result(k, cast(self.builder, x, kind).value)
            self.builder.branch(self.exit)
        return tuple(result_kinds) if returned_values else None

    def put_result(self, k: int, value: Any) -> None:
        place = self.builder.gep(self.function.args[-1], [WORD(RESULT * k)], inbounds=True)
        self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()))

    def open(self) -> bool:
        """Whether the current place can be reached."""
        return not self.builder.block.is_terminated and self.builder.block not in (
            block for block, _ in self.returned
        )

    # -- statements

    def statements(self, body: list[ast.stmt]) -> None:
        for s in body:
            if not self.open():
                return
            around, self.line = self.line, getattr(s, "lineno", self.line)
            self.statement(s)
            self.line = around

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Assign(targets=targets, value=e):
                value = self.value(e)
                for target in targets:
                    self.store(target, value)
            case ast.AugAssign(target=target, op=op, value=e):
                read: Any = self.value(_load_of(target))
                value = self.arithmetic.binary(op, *kinds.numbers(read, self.value(e)))
                self.store(target, value)
            case ast.For():
                self.loop(s)
            case ast.While():
                self.while_loop(s)
            case ast.If():
                self.branch(s)
            case ast.Return(value=e):
                self.give_back(e)
            case ast.Raise():
                self.error(s)
            case ast.Break() | ast.Continue():
                self.jump(isinstance(s, ast.Break))
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as e):
                self.value(e)
            case _:
                raise LlvmUnsupportedError(type(s).__name__)

    def store(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.assign(name, value)
            case ast.Tuple(elts=parts):
                if not isinstance(value, tuple) or len(value) != len(parts):
                    raise LlvmUnsupportedError("what cannot be unpacked")
                for part, x in zip(parts, value, strict=True):
                    self.store(part, x)
            case ast.Subscript() if self.held and key_of(target) in self.held:
                self.held[key_of(target)].store(self.builder, kinds.numbers(value)[0])
            case ast.Subscript(value=e, slice=index):
                owner = self.value(e)
                if not isinstance(owner, ArrayValue):
                    raise LlvmUnsupportedError("a store")
                at = indices(self.value(index))
                kinds.store(self.builder, owner, at, kinds.numbers(value)[0])
            case _:
                raise LlvmUnsupportedError(type(target).__name__)

    def give_back(self, e: ast.expr | None) -> None:
        value = None if e is None or _is_none(e) else self.value(e)
        if value is not None:
            value = value if isinstance(value, tuple) else (value,)
            kinds.numbers(*(x for x in value if not isinstance(x, ArrayValue)))
        self.single = not isinstance(e, ast.Tuple)
        self.returned.append((self.builder.block, value))

    def error(self, s: ast.Raise) -> None:
        match s.exc:
            case ast.Call(func=func, args=args, keywords=[]) if s.cause is None:
                words = itertools.count()
                self.fail(self.static(func), tuple(self.told_by(a, words) for a in args))
            case _:
                raise LlvmUnsupportedError("an error that is not known before")

    def told_by(self, e: ast.expr, words: Iterator[int]) -> Any:
        """An argument of an error, as it is, or where its number is stored."""
        match e:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=items):
                return [self.told_by(x, words) for x in items]
            case ast.JoinedStr(values=parts):
                return {"text": [self.told_by(x, words) for x in parts]}
            case ast.FormattedValue(value=value):
                return self.told_by(value, words)
        number, k = kinds.numbers(self.value(e))[0], next(words)
        self.put_result(k, number.value)
        for _ in range(RESULT, number.dtype.itemsize, RESULT):
            next(words)
        self.told = max(self.told, k + -(-number.dtype.itemsize // RESULT))
        return {"word": k, "dtype": number.dtype.str}

    def fail(self, error: type, args: tuple[Any, ...]) -> None:
        self.leave(STATUS(self.unit.error(error, args, self.line)))

    def pass_on(self, status: Any, callee: CompiledFunction, place: Any) -> None:
        """Leaves with the error of a function that was called."""
        for k in range(callee.told):
            self.put_result(k, read_word(self.builder, place, k, WORD))
        self.told = max(self.told, callee.told)
        self.leave(status)

    def leave(self, status: Any) -> None:
        self.fails = True
        for element in self.held.values():
            element.put_back(self.builder)
        self.builder.store(status, self.status)
        self.builder.branch(self.exit)

    # -- other functions

    def helper(self, name: str) -> Callable[..., Any] | None:
        method = self.unit.helper(name)
        if method is not None:
            return getattr(self, method)  # type: ignore[no-any-return]
        return (lambda *args: self.call_function(name, args)) if name in self.unit.sources else None

    def call_function(self, name: str, args: tuple[Any, ...]) -> Any:
        """A call of another function of the module."""
        callee = self.unit.function(name, args)
        results = callee.results or ()
        if returns_rows(results):
            raise LlvmUnsupportedError("a function that returns an array")
        places = slots(results)
        room = ir.ArrayType(WORD, max(1, places[-1], callee.told))
        place = self.builder.bitcast(variable(self.builder, room), POINTER)
        attributes = ("alwaysinline",) if self.pays(name) else ()
        status = self.builder.call(
            callee.function, [*pass_arguments(args), place], attrs=attributes
        )
        if callee.fails:
            failed = self.builder.icmp_signed("!=", status, STATUS(0))
            with self.builder.if_then(failed, likely=False):
                self.pass_on(status, callee, place)
        values = tuple(
            Number(d, read_result(self.builder, place, k, d))
            for k, d in zip(places, results, strict=False)
        )
        return values[0] if callee.single and values else values or None

    def pays(self, name: str) -> bool:
        """Whether a function that asks for it is inlined: in loops, which may then use vectors.
        Elsewhere it would only take longer to compile."""
        asked = [self.unit.options(f).get("forceinline") for f in (name, self.node.name)]
        often = len(self.loops) > 1 or (self.loops and not _is_short(self.loops[0].node))
        return bool(asked[0] and (asked[1] or often))

    def first_link(self) -> Any:
        if self.chain is None:
            self.chain = variable(self.builder, POINTER)
        return self.chain


def _kind_of(x: Number | ArrayValue) -> Any:
    """The kind of a result."""
    if isinstance(x, Number):
        return x.dtype
    if len(x.shape) != 1 or x.layout != "C":
        raise LlvmUnsupportedError("an array of several axes that is returned")
    return kinds.RowKind(x.dtype)


def _common_kind(kind: Any, x: Number | ArrayValue) -> Any:
    """The kind of a result that is this or that."""
    other = _kind_of(x)
    if isinstance(kind, kinds.RowKind) or isinstance(other, kinds.RowKind):
        if kind != other:
            raise LlvmUnsupportedError("a result that is an array or a number")
        return kind
    return joined_dtype(kind, other)


def returns_rows(results: Iterable[Any] | None) -> bool:
    return any(isinstance(kind, kinds.RowKind) for kind in results or ())


def slots(results: Iterable[Any] | None) -> list[int]:
    """Where each result is stored, in words; last where there is place for something else."""
    places = [0]
    for kind in results or ():
        two = isinstance(kind, kinds.RowKind) or kind.itemsize > RESULT
        places.append(places[-1] + (2 if two else 1))
    return places


def pass_arguments(args: Iterable[Any]) -> list[Any]:
    """Arguments as functions of LLVM's take them."""
    values: list[Any] = []
    for x in args:
        if isinstance(x, kinds.Stream):
            values.append(x.address)
        else:
            values += (
                kinds.flatten_array(x) if isinstance(x, ArrayValue) else [kinds.numbers(x)[0].value]
            )
    return values


def read_result(builder: Any, place: Any, k: int, dtype: Any) -> Any:
    return read_word(builder, place, k, kinds.register(dtype))


def read_word(builder: Any, place: Any, k: int, kind: Any) -> Any:
    at = builder.gep(place, [WORD(RESULT * k)], inbounds=True)
    return builder.load(builder.bitcast(at, kind.as_pointer()))


def _load_of(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value=owner, slice=index):
            return ast.Subscript(owner, index, ast.Load())
    raise LlvmUnsupportedError("an assignment")


def _is_short(loop: ast.stmt) -> bool:
    match loop:
        case ast.For(iter=ast.Call(args=[ast.Constant(value=int(n))])):
            return n <= SHORT
    return False


def _is_none(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value is None


def _moving(node: ast.AST) -> set[str]:
    """The variables that get longer arrays, a = grown(a), or each other's: a, b = b, a."""
    moving: set[str] = set()
    for s in walk(node):
        match s:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="grown"), args=[ast.Name(id=other)]),
            ) if name == other:
                moving.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple()):
                moving |= {e.id for e in names if isinstance(e, ast.Name)}
    return moving
