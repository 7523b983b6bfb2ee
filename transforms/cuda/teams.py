"""Writes kernels whose rows are shared: by threads, or by teams of threads.

for i in range(first, last):                for (i64 i = team; i < rows; i += teams) {
    total = 0.0                               double total = 0.0;
    for j in each(x.shape[1]):    becomes     for (i64 j = threadIdx.x; j < x_1; j += blockDim.x)
        total = plus(total, x[i, j])            total += x[i * x_1 + j];
    out[i] = total                            total = team_sum(total);
                                              if (threadIdx.x == 0) out[i] = total;
                                            }

What is outside of `each` is done by all threads of a team alike; the first one stores.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tapeless.transforms.c_text.called_functions import FunctionPrinter, call, call_statement
from tapeless.transforms.c_text.expressions import KernelScope
from tapeless.transforms.c_text.inference import is_filled
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.statements import (
    NO_MEMORY,
    Error,
    error_arguments,
    growing_arrays,
)
from tapeless.transforms.c_text.values import (
    OPERAND,
    PRODUCT,
    SHIFT,
    SUM,
    CArray,
    CValue,
    NotPrintedError,
    c_type,
    cast,
)
from tapeless.transforms.cuda.barriers import (
    ALL,
    FIRST,
    READ,
    SHARED,
    accesses,
    stored_arrays,
    with_counters,
)
from tapeless.transforms.cuda.helpers import block_text, neutral
from tapeless.transforms.cuda.liveness import live_before
from tapeless.transforms.cuda.reductions import reductions
from tapeless.transforms.cuda.rows_of_nests import (
    loops_along_memory,
    loops_as_rows,
    loops_of_a_block,
)
from tapeless.transforms.cuda.team_sums import TeamSums
from tapeless.transforms.cuda.tiled_loops import RowsOfNest
from tapeless.transforms.cuda.user_loops import moves_along_rows, reads_other_arrays
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

FEW = 64  # passes of `each` that one thread makes
GUARD = "if (threadIdx.x == 0) "
TOLD = 2  # integers that an error may tell, also in tuples: KeyError((i, j))
ARRAY = "array"  # a result that is one, of a length that the kernel finds out
Result = tuple[Dtype, str]


class TeamKernelWriter(TeamSums):
    """`bounds` are the names of the first and the last row, if rows are shared; `of_user`
    are the loops of the user's program, by their ids, that threads share."""

    def __init__(
        self,
        node: ast.FunctionDef,
        scope: KernelScope,
        taken: set[str],
        functions: FunctionPrinter,
        results: Sequence[Result],
        bounds: Sequence[str],
        of_user: set[int],
    ) -> None:
        super().__init__(node, scope, taken)
        self.functions, self.results, self.bounds = functions, results, bounds
        self.call_other = lambda name, args: call(self.functions, name, args)
        self.row: str = "0"
        self.rows: set[str] = set()  # what loops over rows count
        self.side: str | None = None  # passes of loops that are rows, too, of each row; in Python
        self.lengths: list[str] = []  # of loops that threads share, in Python
        self.length_of: dict[str, str] = {}  # the same by their counters
        self.nests: dict[str, RowsOfNest] = {}  # of loops that are rows, by what counts them all
        self.scratch: list[tuple[str, Dtype, str]] = []
        self.notes_for_user: list[str] = []
        self.has_rows = bool(bounds)
        self.made_by_each = set[int]()  # loops that each thread of a team makes for itself
        self.of_user = of_user
        self.along_memory = loops_along_memory(node, FEW) if bounds else set[int]()
        #: whether a thread might as well run the loops that are shared
        self.has_small_teams = not any(map(self.is_each, ast.walk(node))) or (
            bool(bounds) and reads_other_arrays(node, self.is_each)
        )
        self.has_small_teams &= not moves_along_rows(node, self.of_user)
        growing = growing_arrays(node)
        self.has_teams = not growing and any(map(self.is_shared, ast.walk(node)))
        #: whether one thread makes all
        self.alone = not self.has_rows and not self.has_teams

    def write(self) -> None:
        self.check_bounds()
        self.begin()
        self.place_arrays()
        live_before(self.node.body, set(), self.ends_of_loops)
        arrays = {name for name, x in self.scope.arrays.items() if x.where != "local"}
        stored = stored_arrays(self.node, arrays) if self.has_teams else set()
        same = self.taking_turns
        stored |= {name for name in same if {n for n in same if same[n] == same[name]} & stored}
        # Loops differ in how many elements move at once: no element is one thread's in all of them.
        self.tracked = stored
        self.private = self.private_totals() if self.has_teams else set()
        if self.alone:
            self.put("if (threadIdx.x + threadIdx.y != 0) return;")
        self.suite(self.node)

    def check_bounds(self) -> None:
        """The bounds of rows are read by loops over rows alone."""
        reads = [n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id in self.bounds]
        loops = [s for s in ast.walk(self.node) if isinstance(s, ast.For) and self.is_over_rows(s)]
        if len(reads) != 2 * len(loops):
            raise NotPrintedError("the bounds of rows")

    def is_other(self, name: str) -> bool:
        return name in self.functions.nodes

    def memory(self, name: str, lengths: tuple[CValue, ...], dtype: Dtype) -> CArray:
        if all(isinstance(n.known, int) for n in lengths):
            return super().memory(name, lengths, dtype)
        if self.has_rows:
            raise NotPrintedError(f"memory of unknown length for {name}")
        return CArray(name, name, dtype, lengths)

    # -- threads that share loops

    def is_shared(self, s: ast.AST) -> bool:
        """Whether threads share the passes of a loop."""
        if id(s) in self.made_by_each:
            return False
        return id(s) in self.of_user or self.is_each(s)

    def is_each(self, s: ast.AST) -> bool:
        """Whether the passes of a loop are apart, and many."""
        match s:
            case ast.For(iter=ast.Call(func=ast.Name(id="each"), args=[n])):
                few = isinstance(n, ast.Constant) and int(n.value) <= FEW  # type: ignore[arg-type]
                return not few or id(s) in self.along_memory
        return False

    def loop(self, s: ast.For, before: Sequence[ast.stmt]) -> None:
        if self.is_over_rows(s):
            self.rows_loop(s)
        elif self.has_teams and not self.shared_by and self.is_shared(s):
            self.shared_loop(s, before)
        else:
            self.serial(s, lambda: self.plain_loop(s))

    def is_over_rows(self, s: ast.For) -> bool:
        return self.rows_from(s) is not None

    def rows_from(self, s: ast.For) -> ast.expr | None:
        """Where a loop over rows begins to count; None for other loops."""
        match s.iter:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=a), ast.Name(id=b)]):
                return ast.Constant(0) if self.bounds and [a, b] == [*self.bounds] else None
            case ast.Call(
                func=ast.Name(id="range"),
                args=[
                    ast.BinOp(left=start, op=ast.Add(), right=ast.Name(id=a)),
                    ast.BinOp(left=same, op=ast.Add(), right=ast.Name(id=b)),
                ],
            ) if self.bounds and [a, b] == [*self.bounds]:
                return start if ast.dump(start) == ast.dump(same) else None
        return None

    def rows_loop(self, s: ast.For) -> None:
        if not isinstance(s.target, ast.Name) or s.target.id in self.homes.loose:
            raise NotPrintedError("rows that are read after their loop")
        i = self.row = s.target.id
        self.rows.add(i)
        first = self.first_of(self.rows_from(s) or ast.Constant(0))
        parameters = {a.arg for a in self.node.args.args} - {*self.bounds}
        inner = loops_as_rows(s, self.is_shared, parameters) if self.has_teams else []
        if inner and self.side is None:
            self.rows_of_nest(s, inner, first)
        else:
            with self.braces(f"for (i64 {i} = {first}team; {i} < {first}rows; {i} += teams)", s):
                self.pass_of(s, (i,))
        self.row = "0"

    def first_of(self, start: ast.expr) -> str:
        """What is added to a counter from zero."""
        number = self.number(start)
        return "" if number.known == 0 else f"{number.operand(SUM)} + "

    def rows_of_nest(self, s: ast.For, inner: list[ast.For], first: str) -> None:
        """The loop over rows, where the passes of loops right inside of it are rows, too."""
        counters = [ast.unparse(loop.target) for loop in (s, *inner)]
        bounds = [loop.iter.args for loop in inner if isinstance(loop.iter, ast.Call)]
        lengths = [self.number(_length(each)) for each in bounds]
        firsts = [first, *(self.first_of(each[0]) if each[1:] else "" for each in bounds)]
        self.side = " * ".join(map(_count_text, bounds))
        self.row = rest = self.fresh("_".join(counters))
        texts = (tuple(n.text for n in lengths), tuple(firsts), tuple(map(_count_text, bounds)))
        self.nests[rest] = RowsOfNest(tuple(counters), *texts)
        with self.braces(f"for (i64 {rest} = team; {rest} < rows; {rest} += teams)", s):
            self.declare_counters(rest, counters, firsts, lengths)
            self.pass_of(inner[-1], tuple(counters))

    def declare_counters(
        self, rest: str, counters: list[str], firsts: list[str], lengths: list[CValue]
    ) -> None:
        """The counters of a nest from one that counts all of its passes; `lengths` are those of
        the inner loops."""
        below = [n.operand(PRODUCT - 1) for n in lengths]
        for k, (counter, start) in enumerate(zip(counters, firsts, strict=True)):
            divisor = below[k] if len(below) == k + 1 else f"({' * '.join(below[k:])})"
            part = f"{rest} / {divisor}" if below[k:] else rest
            part += f" % {below[k - 1]}" if k else ""
            self.put(f"i64 {counter} = {start}{part};")

    def pass_of(self, s: ast.For, apart: tuple[str, ...] = ()) -> None:
        """The suite of a loop whose passes errors end."""
        mark, nested, self.nested = len(self.lines), self.nested, 0
        self.ends.append("")
        before = len(self.log)
        self.suite(s)
        if apart:
            self.wait_at_end(self.log[before:], apart)
        label, self.nested = self.ends.pop(), nested
        if label:
            inner = [f"  {line}" for line in self.lines[mark:]]
            indent = "  " * self.depth
            self.lines[mark:] = [f"{indent}{{", *inner, f"{indent}}}", f"{indent}{label}:;"]

    def shared_loop(self, s: ast.For, before: Sequence[ast.stmt]) -> None:
        """A loop whose passes the threads of a team share; what it adds up is put together."""
        if not isinstance(s.target, ast.Name) or s.target.id in self.homes.loose:
            raise NotPrintedError("a loop of several threads that ends in a number")
        assert isinstance(s.iter, ast.Call)
        totals = self.totals(s)
        self.wait_for(s.iter, ALL)
        inside = [a for t in s.body for a in self.accesses(t)]
        self.wait(inside, SHARED)
        partial = {name: word for name, word in totals.items() if name not in self.private}
        for name, word in partial.items():
            self.start_total(name, word, before)
        self.lengths.append(ast.unparse(_length(s.iter.args)))
        if isinstance(s.target, ast.Name):
            self.length_of[s.target.id] = self.lengths[-1]
        row, inner = self.row, [] if self.has_rows else loops_of_a_block(s, self.is_shared)
        loops = [s, *inner]
        counters = [ast.unparse(loop.target) for loop in loops]
        j = self.shared_by = self.fresh("_".join(counters)) if inner else counters[0]
        self.row = row if self.has_rows else j
        bounds = [loop.iter.args for loop in loops if isinstance(loop.iter, ast.Call)]
        firsts = [self.first_of(each[0]) if each[1:] else "" for each in bounds]
        lengths = [self.number(_length(each)) for each in bounds]
        stop = " * ".join([lengths[0].operand(PRODUCT), *map(_as_factor, lengths[1:])])
        if not inner:
            stop = self.number(s.iter.args[-1]).operand(SHIFT)
        start = "" if inner else firsts[0]
        with self.braces(f"for (i64 {j} = {start}threadIdx.x; {j} < {stop}; {j} += blockDim.x)", s):
            if inner:
                self.declare_counters(j, counters, firsts, lengths[1:])
            self.pass_of(loops[-1])
        self.shared_by, self.row = "", row
        for name, word in partial.items():
            self.put_together(name, word)

    def private_totals(self) -> set[str]:
        """Results that only shared loops add to: each thread keeps its part until the end."""
        last = self.node.body[-1]
        if not isinstance(last, ast.Return) or not self.has_rows:
            return set()
        names = [e.id for e in _values(last) if isinstance(e, ast.Name)]
        totals = set()
        loops = [s for s in ast.walk(self.node) if isinstance(s, ast.For) and self.is_shared(s)]
        for name, (_, word) in zip(names, self.results, strict=False):
            if len(names) != len(self.results) or names.count(name) > 1:
                break
            steps = [s for s in loops if reductions(s).get(name) == word]
            inside = [n for s in steps for n in ast.walk(s) if isinstance(n, ast.Name)]
            count = sum(n.id == name for n in inside)
            everywhere = [
                n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == name
            ]
            begins = self.homes.first.get(name)
            first = neutral(word, self.scope.numbers[name]) if word != "first" else ""
            if (
                len(everywhere) == count + 2
                and isinstance(begins, ast.Assign)
                and cast(self.number(begins.value), self.scope.numbers[name]).text == first
            ):
                totals.add(name)
        return totals

    def place_arrays(self) -> None:
        """Puts arrays that several threads have to see where they all are: in the memory of a
        block, which is one team where there are no rows. Where there are, each thread of a team
        fills such an array, which is short, for itself."""
        while self.has_teams and (several := self.seen_by_several()):
            if not self.has_rows:
                for name in several:
                    self.scope.arrays[name] = replace(self.scope.arrays[name], where="shared")
                return
            for access, loop in with_counters(self.node.body, several, self.is_shared, None):
                if loop is not None and access.mode != READ:
                    self.made_by_each.add(id(loop))
            self.has_teams = any(map(self.is_shared, ast.walk(self.node)))

    def seen_by_several(self) -> set[str]:
        """Arrays of a thread that a shared loop stores to, and of which something else reads what
        may be another thread's: what is outside of such loops, or another one by its counter."""
        local = {name for name, x in self.scope.arrays.items() if x.where == "local"}
        stored, outside, loops = set(), set(), dict[str, dict[int, bool]]()
        for access, loop in with_counters(self.node.body, local, self.is_shared, None):
            if loop is None or access.array in reductions(loop, local):
                outside.add(access.array)
                continue
            if access.mode != READ:
                stored.add(access.array)
            inner = {
                n.target.id
                for n in ast.walk(loop)
                if isinstance(n, ast.For) and n is not loop and isinstance(n.target, ast.Name)
            }
            names = set[str]().union(*map(words, access.places or ("?",)))
            steady = access.places is not None and names <= inner
            steady_loops = loops.setdefault(access.array, {})
            steady_loops[id(loop)] = steady_loops.get(id(loop), True) and steady
        several = {
            n
            for n, steady_loops in loops.items()
            if len(steady_loops) > 1 and not all(steady_loops.values())
        }
        return stored & (outside | several)

    # -- statements of all threads alike

    def statement(self, s: ast.stmt, before: Sequence[ast.stmt]) -> None:
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as e) if is_filled(e):
                self.leave_array(name, e, s)
                return
        if self.is_uniform() and isinstance(s, (ast.If, ast.Raise, ast.Return)):
            self.wait_for(s.test if isinstance(s, ast.If) else s, ALL)
        elif self.is_uniform() and isinstance(s, (ast.Break, ast.Continue)):
            self.jump(s)
        elif self.is_uniform() and isinstance(s, (ast.Assign, ast.AugAssign, ast.Expr)):
            stores = self.is_guarded(s)
            self.wait_for(s, FIRST if stores else ALL)
        super().statement(s, before)

    def is_guarded(self, s: ast.stmt) -> bool:
        """Whether only the first thread of a team makes a statement: it stores."""
        return bool({a.array for a in accesses(s, self.arrays_outside()) if a.mode != "read"})

    def arrays_outside(self) -> set[str]:
        return {name for name, x in self.scope.arrays.items() if x.where != "local"}

    def guard(self, name: str) -> str:
        return GUARD if self.is_uniform() and name in self.arrays_outside() else ""

    def store(self, target: ast.Subscript, e: ast.expr, s: ast.stmt) -> None:
        place = self.number(target)
        value = cast(self.number(e), place.dtype)
        self.check_row(target)
        self.put(self.guard(_owner(target)) + self.update(place.text, value, e), s)

    def check_row(self, target: ast.Subscript) -> None:
        """Outside of rows teams may store only to what is their own."""
        if self.has_rows and self.row == "0":
            x = self.scope.arrays[_owner(target)]
            if x.where == "global" and x.name not in self.own:
                raise NotPrintedError(f"a store to {x.name} outside of rows")

    own: frozenset[str] = frozenset()  # arrays that belong to one team

    def add_at(self, target: ast.expr, e: ast.expr, s: ast.stmt) -> None:
        assert isinstance(target, ast.Subscript)
        owner = self.scope.arrays[_owner(target)]
        if (
            owner.where in ("local", "interleaved")
            or owner.name in self.own
            or not (self.has_rows or self.shared_by)
        ):
            super().add_at(target, e, s)
            return
        place = self.number(target)
        value, guard = cast(self.number(e), place.dtype), self.guard(owner.name)
        adder = {"int64": "add_to", "complex64": "add_to_complex", "complex128": "add_to_complex"}
        if place.dtype.name not in (*adder, "int32", "uint32", "uint64", "float32", "float64"):
            raise NotPrintedError(f"additions of several threads to {place.dtype.name}")
        name = adder.get(place.dtype.name, "atomicAdd")
        self.put(f"{guard}{name}(&{place.text}, {value.text});", s)

    def effect(self, e: ast.Call, s: ast.stmt) -> None:
        stores = self.is_uniform() and self.is_guarded(s)
        call_statement(self, self.functions, e, [], s, GUARD if stores else "")

    def results_of(self, targets: list[ast.expr], e: ast.expr, s: ast.stmt) -> None:
        call_statement(self, self.functions, e, targets, s)

    # -- errors and results

    def fail(self, error: Error, s: ast.stmt | None = None) -> None:
        self.leave(str(self.code(error)), error[0], s)

    def can_show(self, args: Sequence[ast.expr]) -> bool:
        try:
            values = [*map(self.number, error_arguments(args, shows=True)[1])]
        except NotPrintedError:  # a text shows something else
            return False
        return len(values) <= TOLD and all(v.dtype.kind == "i" for v in values)

    def fail_telling(self, error: Error, values: Sequence[CValue], s: ast.stmt) -> None:
        if len(values) > TOLD or any(v.dtype.kind != "i" for v in values):
            raise NotPrintedError("an error whose text depends on values")
        told = ", ".join([*(v.text for v in values), "0"][:TOLD])
        self.leave(str(self.code(error)), error[0], s, f", {told}")

    def fail_by(self, errors: Sequence[Error], number: str) -> None:
        codes = [self.code(error) for error in errors]
        if codes != [*range(codes[0], codes[0] + len(codes))]:
            raise NotPrintedError("errors of several functions")
        shift = codes[0] - 1
        code = f"{number} {'-' if shift < 0 else '+'} {abs(shift)}" if shift else number
        self.leave(code, " or ".join(dict.fromkeys(kind for kind, _ in errors)))

    def leave(self, code: str, kind: str, s: ast.stmt | None = None, told: str = "") -> None:
        name = "fail_telling" if told else "fail"
        self.put(f"{name}(error, {self.row}, {code}{told});", s, kind)
        if not self.ends:
            self.put("return;")
        elif not self.nested:
            self.put("continue;")
        else:
            self.ends[-1] = self.ends[-1] or self.fresh("next")
            self.put(f"goto {self.ends[-1]};")

    def give_back(self, e: ast.expr | None, s: ast.stmt) -> None:
        if s is not self.node.body[-1] or self.ends or not isinstance(s, ast.Return):
            raise NotPrintedError("a return before the end")
        values = _values(s)
        if len(values) != len(self.results):
            raise NotPrintedError("other results than are asked for")
        for k, (value, (dtype, word)) in enumerate(zip(values, self.results, strict=True)):
            if word == ARRAY:  # it is there since the list was filled
                continue
            self.result(k, value, cast(self.number(value), dtype), word, s)

    def leave_array(self, name: str, e: ast.Call, s: ast.stmt) -> None:
        """The first elements of a list, as an array that is returned."""
        last = self.node.body[-1]
        named = [n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == name]
        values = _values(last) if isinstance(last, ast.Return) else []
        places = [k for k, v in enumerate(values) if isinstance(v, ast.Name) and v.id == name]
        if (
            self.has_rows
            or len(places) != 1
            or len(named) != 2
            or self.results[places[0]][1] != ARRAY
        ):
            raise NotPrintedError(f"the array {name}, which rows make,")
        stack, count = e.args
        if not isinstance(stack, ast.Name):
            raise NotPrintedError(ast.unparse(e))
        with self.braces(
            f"if (!{stack.id}.leave(result_{places[0]}, {self.number(count).text}))", s
        ):
            self.fail(NO_MEMORY)

    def result(self, k: int, e: ast.expr, value: CValue, word: str, s: ast.stmt) -> None:
        """A number that is returned: of each block its part, or that of the first thread."""
        if word == "first":
            block = "blockIdx.x + " * self.has_rows
            first = "" if self.alone else f"if ({block}threadIdx.x + threadIdx.y == 0) "
            self.put(f"{first}result_{k}[0] = {value.text};", s)
            return
        if not self.has_rows:
            raise NotPrintedError("a sum over rows without rows")
        mine, first = value.text, neutral(word, value.dtype)
        if self.has_teams and not (isinstance(e, ast.Name) and e.id in self.private):
            if value.dtype.kind == "c":
                first = f"{c_type(value.dtype)}({first})"
            mine = f"threadIdx.x == 0 ? {value.operand(SHIFT)} : {first}"
        part = self.fresh(f"part_{k}")
        if value.dtype.kind == "c":
            self.put(f"{c_type(value.dtype)} {part} = {mine};")
            mine = part = CValue(part, value.dtype, OPERAND).text
            total = self.reduce_text("block", block_text, word, value.dtype, mine)
            self.put(f"{part} = {total};")
        else:
            total = self.reduce_text("block", block_text, word, value.dtype, mine)
            self.put(f"{c_type(value.dtype)} {part} = {total};")
        self.put(f"if (threadIdx.x + threadIdx.y == 0) result_{k}[blockIdx.x] = {part};", s)


def _length(bounds: Sequence[ast.expr]) -> ast.expr:
    """How many passes a loop from one number to another makes, or one from zero."""
    match bounds:
        case [ast.Constant(value=int(a)), ast.BinOp(n, ast.Sub(), ast.Constant(value=int(b)))]:
            return ast.BinOp(n, ast.Sub(), ast.Constant(a + b))
        case [first, last]:
            return ast.BinOp(last, ast.Sub(), first)
    return bounds[0]


def _as_factor(length: CValue) -> str:
    """How many passes an inner loop makes, as a factor: none if its length is less than zero."""
    return length.operand(PRODUCT - 1) if length.natural else f"max({length.text}, (i64)0)"


def _count_text(bounds: Sequence[ast.expr]) -> str:
    """The same as text of Python, where it may be less than zero as zero."""
    length = _length(bounds)
    text = ast.unparse(length)
    return text if isinstance(length, ast.Subscript | ast.Constant) else f"max(0, {text})"


def _values(s: ast.Return) -> list[ast.expr]:
    if s.value is None:
        return []
    return list(s.value.elts) if isinstance(s.value, ast.Tuple) else [s.value]


def _owner(e: ast.expr) -> str:
    while isinstance(e, ast.Subscript):
        e = e.value
    if not isinstance(e, ast.Name):
        raise NotPrintedError(ast.unparse(e))
    return e.id
