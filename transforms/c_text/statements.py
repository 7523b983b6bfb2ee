"""Prints statements of loop form as C, as one thread makes them.

for j in range(n): t = t + x[j]      becomes      for (i64 j = 0; j < n; j++) t += x[j];
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tapeless.transforms.c_text.arithmetic import SIGNS
from tapeless.transforms.c_text.declarations import homes
from tapeless.transforms.c_text.expressions import ExpressionPrinter, KernelScope
from tapeless.transforms.c_text.functions import LONG
from tapeless.transforms.c_text.inference import infer, is_scratch, scratch_of
from tapeless.transforms.c_text.renaming import fresh_name, words
from tapeless.transforms.c_text.sincos_pairs import sincos_pairs
from tapeless.transforms.c_text.values import (
    ORDER,
    SHIFT,
    CArray,
    CValue,
    NotPrintedError,
    c_type,
    cast,
    constant,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import DOUBLE, INT, SINGLE, Dtype
from tapeless.transforms.python_text.tree_walk import names_in

Error = tuple[str, tuple[object, ...]]
NOTE = re.compile(r"#\s*(line .*)$")
NO_MEMORY: Error = (
    "MemoryError",
    ("lists that grow in a kernel need more memory than kernels may take on this GPU",),
)


class Statements(ExpressionPrinter):
    """Writes the body of a function. `notes` are comments by the line of the text that has them.

    for_nvrtc  whether loops may have a pragma, and sines and cosines are computed at once
    """

    for_nvrtc = True

    def __init__(self, node: ast.FunctionDef, scope: KernelScope, taken: set[str]) -> None:
        super().__init__(scope)
        self.node, self.taken = node, taken
        self.notes: dict[int, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.errors: list[Error] = []
        self.ends: list[str] = []  # labels at the ends of passes that errors leave, or ""
        self.nested = 0  # loops of C inside of the pass that errors leave
        self.together: dict[str, dict[str, str]] = {}  # sines and cosines that are computed
        self.computed: set[int] = set()  # statements that are made with others
        self.spelled: dict[str, str] = {}  # variables that are written by another name

    def begin(self) -> None:
        growing = growing_arrays(self.node)
        for s in ast.walk(self.node):
            if isinstance(s, ast.Assign) and is_scratch(s.value):
                (target,) = s.targets
                if not isinstance(target, ast.Name):
                    raise NotPrintedError(ast.unparse(s))
                lengths, dtype = scratch_of(self, s.value)
                if target.id in growing:
                    self.scope.arrays[target.id] = self.growing_memory(target.id, lengths, dtype)
                else:
                    self.scope.arrays[target.id] = self.memory(target.id, lengths, dtype)
        infer(self, self.node)
        self.homes = homes(self.node)
        self.taking_turns = taking_turns(self.node, self.scope.arrays)

    def memory(self, name: str, lengths: tuple[CValue, ...], dtype: Dtype) -> CArray:
        """An array that the function makes: a few numbers, in registers."""
        if any(not isinstance(n.known, int) for n in lengths):
            raise NotPrintedError(f"memory of unknown length for {name}")
        return CArray(name, name, dtype, lengths, "local")

    def growing_memory(self, name: str, lengths: tuple[CValue, ...], dtype: Dtype) -> CArray:
        """An array that gets longer: memory of the thread at first, then of the heap."""
        if len(lengths) != 1 or not isinstance(lengths[0].known, int):
            raise NotPrintedError(f"memory of unknown length for {name}")
        size = CValue(f"{name}.size", INT, natural=True)
        return CArray(name, name, dtype, (size,), "growing", first=max(lengths[0].known, 1))

    def grow(self, name: str, s: ast.stmt) -> None:
        """The array gets longer."""
        with self.braces(f"if (!{name}.grow())", s):
            self.fail(NO_MEMORY)

    # -- text

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        return fresh_name(stem, self.taken)

    def put(self, text: str, s: ast.stmt | None = None, remark: str = "") -> None:
        note = ": ".join(filter(None, (self.note(s), remark)))
        self.lines.append("  " * self.depth + text + (f"  // {note}" if note else ""))

    def note(self, s: ast.stmt | None) -> str:
        """The comment that names the user's line for a statement."""
        if s is None or not hasattr(s, "lineno"):
            return ""
        inner = getattr(s, "body", [])
        heads = [x.lineno - 1 for x in inner if hasattr(x, "lineno")][:1]
        last = min([s.end_lineno or s.lineno, *heads])
        return next((n for k in range(s.lineno, last + 1) if (n := self.notes.get(k))), "")

    @contextmanager
    def braces(self, head: str, s: ast.stmt | None = None) -> Iterator[None]:
        self.put(f"{head} {{", s)
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    # -- statements

    def suite(self, owner: ast.AST, name: str = "body") -> None:
        """The statements of a block, and the variables that are declared at its top."""
        block = (id(owner), name)
        for variable, home in self.homes.block.items():
            if home == block and variable not in self.homes.first:
                self.declare(variable)
        self.statements(getattr(owner, name))

    def declare(self, name: str) -> None:
        held = self.scope.arrays.get(name)
        if held is not None and held.where == "growing":
            self.put(f"Growing<{c_type(held.dtype)}, {held.first}> {name};")
        elif held is not None and held.where in ("local", "shared"):
            self.put("__shared__ " * (held.where == "shared") + self.memory_text(held, name))
        elif held is None and self.is_variable(name):
            self.put(f"{c_type(self.scope.numbers[name])} {name};")

    def memory_text(self, x: CArray, name: str) -> str:
        """Declares the memory of an array, and where it is, if that changes."""
        c, memory = c_type(x.dtype), name
        if name in self.taking_turns:
            memory = self.fresh(f"{name}_memory")
        text = f"{c} {memory}[{max(x.count, 1)}];"
        return text if memory == name else f"{text} {c}* {name} = {memory};"

    def is_variable(self, name: str) -> bool:
        """Whether a name is one that the body declares: no parameter, no target of a loop alone."""
        arguments = {a.arg for a in self.node.args.args}
        assigned = self.homes.loose if name in self.targets() else self.scope.numbers
        return name in self.scope.numbers and name in assigned and name not in arguments

    def targets(self) -> set[str]:
        return {
            s.target.id
            for s in ast.walk(self.node)
            if isinstance(s, ast.For) and isinstance(s.target, ast.Name)
        }

    def statements(self, body: Sequence[ast.stmt]) -> None:
        pairs = sincos_pairs(body) if self.for_nvrtc else {}
        for k, s in enumerate(body):
            for x in pairs.get(id(s), ()):
                self.sine_and_cosine(x, body[k:])
            if id(s) not in self.computed:
                self.statement(s, body[:k])
            self.forget_sines(s)

    def sine_and_cosine(self, e: ast.expr, body: Sequence[ast.stmt]) -> None:
        """Computes both of a number at once, for calls that follow in a block."""
        x = self.number(e)
        if x.dtype.kind not in "iuf":
            return
        single = x.dtype == SINGLE
        stem = x.text if x.text.isidentifier() else "t"
        variables = self.that_are(e, SINGLE if single else DOUBLE, body)
        names = [variables.get(f) or self.fresh(f"{f}_{stem}") for f in ("sin", "cos")]
        self.put(f"{'float' if single else 'double'} {', '.join(names)};")
        text = cast(x, SINGLE if single else DOUBLE).text
        self.put(f"sincos{'f' * single}({text}, &{names[0]}, &{names[1]});")
        self.together[ast.dump(e)] = dict(zip(("sin", "cos"), names, strict=True))

    def that_are(self, e: ast.expr, dtype: Dtype, body: Sequence[ast.stmt]) -> dict[str, str]:
        """The variables that begin as the sine or the cosine of a number: t = sin(x). They need no
        statements of their own."""
        variables: dict[str, str] = {}
        reads = names_in(e)
        for s in body:
            match s:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Call(ast.Name(id=f), [x])
                ) if (
                    f in ("sin", "cos")
                    and f not in variables
                    and ast.dump(x) == ast.dump(e)
                    and self.homes.first.get(name) is s
                    and sum(n.id == name for n in _stored_names(self.node)) == 1
                    and self.scope.numbers[name] == dtype
                ):
                    variables[f] = name
                    self.computed.add(id(s))
            if reads & {n.id for n in _stored_names(s)}:
                break
        return variables

    def forget_sines(self, s: ast.stmt) -> None:
        """After a statement that changes what they are of."""
        stored = {n.id for n in _stored_names(s)} if self.together else set()
        simple = isinstance(s, (ast.Assign, ast.AugAssign))
        for key in [*self.together]:
            if not simple or any(f"Name(id='{name}'" in key for name in stored):
                del self.together[key]

    def of_numbers(self, name: str, e: ast.Call) -> CValue:
        pair = self.together.get(ast.dump(e.args[0])) if self.together and e.args else None
        if pair and name in pair and not self.inferring:
            return replace(super().of_numbers(name, e), text=pair[name])
        return super().of_numbers(name, e)

    def statement(self, s: ast.stmt, before: Sequence[ast.stmt]) -> None:
        match s:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="grown"))
            ) if name in self.scope.arrays and self.scope.arrays[name].where == "growing":
                self.grow(name, s)
            case ast.Assign(targets=[target], value=e) if is_scratch(e):
                if isinstance(target, ast.Name) and self.homes.first.get(target.id) is s:
                    self.declare(target.id)
            case ast.Assign(targets=targets, value=e):
                for target in targets:
                    self.assign(target, e, s)
            case ast.AugAssign(target=target, op=op, value=e):
                self.assign(target, ast.BinOp(_load_of(target), op, e), s)
            case ast.Expr(value=ast.Call(func=ast.Name(id="add_at"), args=[target, e])):
                self.add_at(target, e, s)
            case ast.Expr(value=ast.Call() as e):
                self.effect(e, s)
            case ast.If():
                self.branch(s)
            case ast.For():
                self.loop(s, before)
            case ast.While():
                self.while_loop(s)
            case ast.Break() | ast.Continue():
                self.put("break;" if isinstance(s, ast.Break) else "continue;", s)
            case ast.Return(value=value):
                self.give_back(value, s)
            case ast.Raise():
                self.error(s)
            case _:
                raise NotPrintedError(ast.unparse(s).split("\n")[0])

    def assign(self, target: ast.expr, e: ast.expr, s: ast.stmt) -> None:
        match target:
            case ast.Name(id=name) if name in self.scope.arrays:
                raise NotPrintedError(f"another array as {name}")
            case ast.Name(id=name):
                self.set(name, e, s)
            case ast.Subscript():
                self.store(target, e, s)
            case ast.Tuple(elts=targets):
                self.unpack(targets, e, s)
            case _:
                raise NotPrintedError(ast.unparse(s))

    def set(self, name: str, e: ast.expr, s: ast.stmt) -> None:
        value = cast(self.number(e), self.scope.numbers[name])
        declared = f"{c_type(value.dtype)} " if self.homes.first.get(name) is s else ""
        self.put(f"{declared}{self.update(self.spelled.get(name, name), value, e)}", s)

    def update(self, place: str, value: CValue, e: ast.expr) -> str:
        """place = value; or place += more; where the value is that."""
        match e:
            case ast.Call(func=ast.Attribute(ast.Name("np")), args=[ast.BinOp() as inner]):
                e = inner
            case ast.Call(func=ast.Name(id="plus"), args=[left, right]):
                e = ast.BinOp(left, ast.Add(), right)
            case ast.Call(func=ast.Name(id="plus_product"), args=[left, a, b]):
                e = ast.BinOp(left, ast.Add(), ast.BinOp(a, ast.Mult(), b))
        if isinstance(e, ast.BinOp) and isinstance(e.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            sign, level = SIGNS[type(e.op)]
            old, more = self.number(e.left), self.number(e.right)
            start = f"{place} {sign} "
            if old.text == place and old.dtype == value.dtype and value.text.startswith(start):
                rest = cast(more, value.dtype) if more.known is not None else more
                if rest.known == 1 and value.dtype.kind in "iu" and sign in "+-":
                    return f"{place}{2 * sign};"
                if rest.operand(level - 1) == value.text.removeprefix(start):
                    return f"{place} {sign}= {rest.text};"
        return f"{place} = {value.text};"

    def store(self, target: ast.Subscript, e: ast.expr, s: ast.stmt) -> None:
        place = self.number(target)
        value = cast(self.number(e), place.dtype)
        self.put(self.update(place.text, value, e), s)

    def unpack(self, targets: list[ast.expr], e: ast.expr, s: ast.stmt) -> None:
        """Several targets get values as if at once."""
        if isinstance(e, ast.Attribute):  # a shape
            e = ast.Tuple([ast.Subscript(e, ast.Constant(k)) for k in range(len(targets))])
        if not isinstance(e, ast.Tuple):
            self.results_of(targets, e, s)
            return
        if any(isinstance(x, ast.Name) and x.id in self.scope.arrays for x in targets):
            self.exchange(targets, e.elts, s)
            return
        reads = [names_in(v) for v in e.elts]
        places = [x.id if isinstance(x, ast.Name) else "" for x in targets]
        later = [set().union(*reads[k + 1 :]) for k in range(len(targets))]
        if all(name and name not in rest for name, rest in zip(places, later, strict=True)):
            for target, value in zip(targets, e.elts, strict=True):
                self.assign(target, value, s)
            return
        held = [self.number(value) for value in e.elts]
        names = [self.fresh("held") for _ in held]
        for name, v in zip(names, held, strict=True):
            self.put(f"{c_type(v.dtype)} {name} = {v.text};", s)
        for target, name, v in zip(targets, names, held, strict=True):
            place = self.number(target)
            self.put(f"{place.text} = {cast(CValue(name, v.dtype), place.dtype).text};")

    def exchange(self, targets: list[ast.expr], values: list[ast.expr], s: ast.stmt) -> None:
        """Arrays take turns: a, b = b, a. What else there is gets its values before."""
        pairs = [*zip(targets, values, strict=True)]
        arrays = [
            (t.id, v.id)
            for t, v in pairs
            if isinstance(t, ast.Name) and isinstance(v, ast.Name) and t.id in self.scope.arrays
        ]
        rest = [
            (t, v) for t, v in pairs if not (isinstance(t, ast.Name) and t.id in self.scope.arrays)
        ]
        if {t for t, _ in arrays} != {v for _, v in arrays} or len(arrays) + len(rest) < len(pairs):
            raise NotPrintedError(f"other arrays as {ast.unparse(s)}")
        if any(self.scope.arrays[t].where == "growing" for t, _ in arrays):
            raise NotPrintedError(f"lists that take turns, {ast.unparse(s)},")
        kinds = {
            (x.where, x.dtype, len(x.lengths)) for t, _ in arrays for x in [self.scope.arrays[t]]
        }
        if len(kinds) > 1:
            raise NotPrintedError(f"arrays of several kinds that take turns, {ast.unparse(s)},")
        if rest:
            self.unpack([t for t, _ in rest], ast.Tuple([v for _, v in rest]), s)
        if not all(t == v for t, v in arrays):
            self.rotate(arrays, s)

    def rotate(self, arrays: Sequence[tuple[str, str]], s: ast.stmt) -> None:
        """a, b, c = b, c, a: one pointer is kept, the others move."""
        sources = {t: v for t, v in arrays if t != v}
        while sources:
            first = next(iter(sources))
            held = self.fresh("held")
            self.put(f"{c_type(self.scope.arrays[first].dtype)}* {held} = {first};", s)
            target = first
            while (source := sources.pop(target)) != first:
                self.put(f"{target} = {source};")
                target = source
            self.put(f"{target} = {held};")

    def results_of(self, targets: list[ast.expr], e: ast.expr, s: ast.stmt) -> None:
        raise NotPrintedError(ast.unparse(e))

    def add_at(self, target: ast.expr, e: ast.expr, s: ast.stmt) -> None:
        """Adds to an element that other threads may add to."""
        self.assign(target, ast.BinOp(_load_of(target), ast.Add(), e), s)

    def effect(self, e: ast.Call, s: ast.stmt) -> None:
        raise NotPrintedError(ast.unparse(e))

    def give_back(self, e: ast.expr | None, s: ast.stmt) -> None:
        raise NotPrintedError("a return before the end")

    def branch(self, s: ast.If) -> None:
        test = self.test(s.test)
        if test.known is False and not s.orelse:
            return
        self.put(f"if ({test.text}) {{", s)
        self.depth += 1
        self.suite(s)
        self.depth -= 1
        if s.orelse:
            self.put("} else {")
            self.depth += 1
            self.suite(s, "orelse")
            self.depth -= 1
        self.put("}")

    # -- loops

    def loop(self, s: ast.For, before: Sequence[ast.stmt]) -> None:
        self.plain_loop(s)

    def plain_loop(self, s: ast.For) -> None:
        """A loop that one thread makes."""
        if s.orelse or not isinstance(s.target, ast.Name):
            raise NotPrintedError("a loop over more than numbers")
        if self.for_nvrtc and any(
            isinstance(e, ast.Call) and _name(e) in LONG for e in ast.walk(s)
        ):
            self.put("#pragma unroll 1")
        name = s.target.id
        loose = name in self.homes.loose
        counter = self.fresh(f"{name}_next") if loose else name
        if isinstance(s.iter, ast.Tuple):
            head, inner = self.over_items(s.iter, counter)
        else:
            head, inner = self.head(s, counter), counter
        with self.braces(head, s):
            if inner != name:
                self.put(f"{'' if loose else 'i64 '}{name} = {inner};")
            self.passes(s)

    def passes(self, s: ast.For | ast.While) -> None:
        self.nested += 1
        self.suite(s)
        self.nested -= 1

    def head(self, s: ast.For, name: str) -> str:
        match s.iter:
            case ast.Call(func=ast.Name(id="range" | "each" | "turns" | "apart"), args=args):
                values = [self.number(a) for a in args]
            case _:
                raise NotPrintedError(f"a loop over {ast.unparse(s.iter)}")
        if any(v.dtype.kind not in "iu" for v in values):
            raise NotPrintedError("a range of what are no integers")
        start, stop = (constant(0), values[0]) if len(values) == 1 else values[:2]
        stop = self.before_loop(stop, s)
        step = values[2] if len(values) > 2 else constant(1)
        if not isinstance(step.known, int) or step.known == 0:
            return self.head_by(name, start, stop, self.before_loop(step, s))
        by = {1: f"{name}++", -1: f"{name}--"}.get(step.known, f"{name} += {step.text}")
        test = f"{'<' if step.known > 0 else '>'} {stop.operand(SHIFT)}"
        if step.known < 0 and stop.known == -1:
            test = ">= 0"
        return f"for (i64 {name} = {start.text}; {name} {test}; {by})"

    def head_by(self, name: str, start: CValue, stop: CValue, step: CValue) -> str:
        """A loop whose step is not known."""
        with self.braces(f"if ({step.operand(SHIFT)} == 0)"):
            self.fail(("ValueError", ("range() arg 3 must not be zero",)))
        end = stop.operand(SHIFT)
        test = f"{step.operand(ORDER)} > 0 ? {name} < {end} : {name} > {end}"
        return f"for (i64 {name} = {start.text}; {test}; {name} += {step.text})"

    def before_loop(self, bound: CValue, s: ast.For) -> CValue:
        """A bound that the passes may change is computed before them."""
        if bound.known is not None or not words(bound.text) & {n.id for n in _stored_names(s)}:
            return bound
        name = self.fresh("stop")
        self.put(f"const i64 {name} = {bound.text};")
        return CValue(name, bound.dtype, natural=bound.natural)

    def over_items(self, e: ast.Tuple, name: str) -> tuple[str, str]:
        """A loop over numbers that are written in the text, and the current one."""
        items, table = [self.number(x) for x in e.elts], self.fresh(f"{name}_of")
        counter = self.fresh(f"{name}_at")
        if any(x.known is None or x.dtype.kind not in "iu" for x in items):
            raise NotPrintedError("a loop over more than integers")
        self.put(f"const i64 {table}[] = {{{', '.join(x.text for x in items)}}};")
        head = f"for (int {counter} = 0; {counter} < {len(items)}; {counter}++)"
        return head, f"{table}[{counter}]"

    def while_loop(self, s: ast.While) -> None:
        if s.orelse:
            raise NotPrintedError("else of a loop")
        with self.braces(f"while ({self.test(s.test).text})", s):
            self.passes(s)

    # -- errors

    def error(self, s: ast.Raise) -> None:
        match s.exc:
            case ast.Call(func=func, args=args, keywords=[]):
                told, numbers = error_arguments(args, self.can_show(args))
                values = [*map(self.number, numbers)]
                if values:
                    self.fail_telling((ast.unparse(func), told), values, s)
                else:
                    self.fail((ast.unparse(func), told), s)
            case _:
                raise NotPrintedError(ast.unparse(s).split("\n")[0])

    def can_show(self, args: Sequence[ast.expr]) -> bool:
        """Whether an error can show numbers in texts among its arguments."""
        return False

    def code(self, error: Error) -> int:
        if error not in self.errors:
            self.errors.append(error)
        return self.errors.index(error)

    def fail(self, error: Error, s: ast.stmt | None = None) -> None:
        raise NotImplementedError

    def fail_telling(self, error: Error, values: Sequence[CValue], s: ast.stmt) -> None:
        """Leaves with an error that tells values, which stand for `...` among its arguments."""
        raise NotImplementedError

    def fail_by(self, errors: Sequence[Error], number: str) -> None:
        """Leaves with one of these errors of a function that was called, by its number from 1."""
        raise NotImplementedError


def out_of_bounds(axis: int) -> Error:
    """What the error of an index says where it is a number only, which tells no values."""
    return "IndexError", (f"index ... is out of bounds for axis {axis} with size ...",)


def growing_arrays(node: ast.FunctionDef) -> set[str]:
    """The arrays of a kernel that get longer, or that it returns."""
    names = set()
    for s in ast.walk(node):
        match s:
            case ast.Call(func=ast.Name(id="grown" | "filled"), args=[ast.Name(id=name), *_]):
                names.add(name)
    return names


def taking_turns(node: ast.AST, arrays: Collection[str]) -> dict[str, str]:
    """The arrays that variables exchange, each with one that stands for all of them."""
    stands_for: dict[str, str] = {}
    for s in ast.walk(node):
        match s:
            case ast.Assign(targets=[ast.Tuple(elts=targets)]):
                names = [t.id for t in targets if isinstance(t, ast.Name) and t.id in arrays]
                same = {stands_for.get(name, name) for name in names}
                for name in [*names, *(n for n in stands_for if stands_for[n] in same)]:
                    stands_for[name] = min(same)
    return stands_for


def _load_of(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value=owner, slice=index):
            return ast.Subscript(owner, index, ast.Load())
    raise NotPrintedError(ast.unparse(target))


def _name(e: ast.Call) -> str:
    return e.func.id if isinstance(e.func, ast.Name) else getattr(e.func, "attr", "")


def _stored_names(s: ast.AST) -> Iterator[ast.Name]:
    """The variables and arrays that change in a statement."""
    for e in ast.walk(s):
        if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store):
            yield e
        if isinstance(e, ast.Subscript) and isinstance(e.ctx, ast.Store):
            yield from (n for n in ast.walk(e.value) if isinstance(n, ast.Name))


def notes_of(source: str) -> dict[int, str]:
    """Comments that name the user's lines, by the line of the text that has them."""
    lines = enumerate(source.splitlines(), 1)
    return {k: m[1] for k, line in lines if (m := NOTE.search(line))}


def _is_plain(part: ast.expr) -> bool:
    """Whether a part of a text is shown as it is."""
    if isinstance(part, ast.FormattedValue):
        return part.conversion < 0 and part.format_spec is None
    return True


def error_arguments(
    args: Sequence[ast.expr], shows: bool = False
) -> tuple[tuple[object, ...], list[ast.expr]]:
    """The arguments of an error with `...` for what is computed, and this. Numbers that a text
    shows are left out of it, unless it `shows` them: ("%", "index %d", ...) stands for such a
    text."""
    told, computed = list[object](), list[ast.expr]()
    for a in args:
        match a:
            case ast.Constant(value=value):
                told.append(value)
            case ast.Tuple(elts=parts):
                inner, more = error_arguments(parts, shows)
                told.append(inner)
                computed += more
            case ast.JoinedStr(values=parts) if shows and all(map(_is_plain, parts)):
                numbers = [x.value for x in parts if isinstance(x, ast.FormattedValue)]
                text = "".join(
                    str(x.value).replace("%", "%%") if isinstance(x, ast.Constant) else "%d"
                    for x in parts
                )
                told.append(("%", text, *[...] * len(numbers)))
                computed += numbers
            case ast.JoinedStr(values=parts):
                shown = (str(x.value) if isinstance(x, ast.Constant) else "..." for x in parts)
                told.append("".join(shown))
            case _:
                told.append(...)
                computed.append(a)
    return tuple(told), computed
