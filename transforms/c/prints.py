r"""Writes what a program prints as calls of printf.

print(f"step {k}: {x:.3f}", y)      becomes      printf("step %lld: %.3f %s\n", (long long)k,
                                                     plain_nan(x), shown_f64(y, (char[32]){0}));

The text is the one of Python, also where C has no format for it: the shortest one of a float, True
and False, nan without a sign. What has another one in C, or none, is refusal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tapeless.transforms.c_text.dialect import suffix
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.values import UNARY, CValue, NotPrintedError
from tapeless.transforms.core.language import Atom, Effect
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.obstacles import shown_effect
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import DOUBLE, SINGLE

WIDTH = r"(?P<sign>[+ ]?)(?P<zero>0?)(?P<width>\d*)(?P<digits>(?:\.\d+)?)"
#: A format of Python that printf has, too: of numbers, without fill characters.
SPEC = re.compile(rf"(?P<align>[<>]?){WIDTH}(?P<kind>[deEfFgGs%]?)")
#: A field of `"..." % values`.
FIELD = re.compile(rf"%(?P<align>-?){WIDTH}(?P<kind>[diseEfFgGr%])")
CHOICE, REST = "{0} if {1} else {2}", "{0} % {1}"
ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}


@dataclass(frozen=True)
class PrintedText:
    """A text as a format of printf, and what it is filled with."""

    form: str = ""
    args: tuple[str, ...] = ()

    @classmethod
    def join_texts(cls, texts: Iterable[PrintedText]) -> PrintedText:
        texts = [*texts]
        args = tuple(a for t in texts for a in t.args)
        return cls("".join(t.form for t in texts), args)

    @property
    def call(self) -> str:
        return f"printf({', '.join([c_string(self.form), *self.args])});"


class PrintedEffect:
    """Writes one effect. `number` says what C calls a value."""

    def __init__(self, s: Effect, number: Callable[[Atom], CValue]) -> None:
        self.s, self.number = s, number

    def lines(self) -> list[str]:
        """The calls. Raises NotPrintedError for what has no such text in C."""
        params = self.s.params
        if self.s.kind == "print":
            return self.print_calls(params["parts"], of_text(params["sep"]), of_text(params["end"]))
        parts = params["parts"]
        match ast.parse(params["form"], mode="eval").body:
            case ast.Call(ast.Name("print"), args, keywords):
                options = {str(k.arg): self.part(k.value, parts) for k in keywords}
            case ast.Call(function, args, []) if ast.unparse(function) == f"{STDOUT}.write":
                options = {"end": ("value", "")}
            case _:
                raise NotPrintedError(shown_effect(self.s))
        sep = self.text(options.pop("sep", ("value", " ")))
        end = self.text(options.pop("end", ("value", "\n")))
        flush = options.pop("flush", ("value", False))
        if options.pop("file", STDOUT) != STDOUT or options or flush[0] != "value":
            raise self.refusal()
        printed = self.print_calls([self.part(a, parts) for a in args], sep, end)
        return [*printed, *(["fflush(stdout);"] if flush[1] else [])]

    def part(self, e: ast.expr, parts: Sequence[Any]) -> Any:
        """What stands in the place of an argument."""
        match e:
            case ast.Set([ast.Constant(int() as k)]):  # a hole: {0}
                return parts[k]
            case ast.Constant(value):
                return ("value", value)
        return ast.unparse(e)

    def print_calls(self, parts: Sequence[Any], sep: PrintedText, end: PrintedText) -> list[str]:
        texts = [t for p in parts for t in (sep, self.text(p))][1:]
        text = PrintedText.join_texts([*texts, end])
        return [text.call] if text.form else []

    def refusal(self) -> NotPrintedError:
        return NotPrintedError(f"{shown_effect(self.s)} of what has another text in C, or none,")

    # -- texts

    def text(self, p: Any, is_repr: bool = False) -> PrintedText:
        """A part as `str` or `repr` shows it."""
        match p:
            case ("value", value):
                return of_text(repr(value) if is_repr else str(value))
            case ("atom", k):
                return self.number_text(k, "r" if is_repr else "s")
            case ("text", pieces) if not is_repr:
                return PrintedText.join_texts(map(self.piece, pieces))
            case ("made", (form, parts)) if not is_repr:
                return self.percent(*parts) if form == REST else self.choice(p, "")
            case ("tuple" | "list" as kind, values):
                shown = [t for v in values for t in (of_text(", "), self.text(v, True))][1:]
                first, last = ("(", ",)" if len(values) == 1 else ")") if kind == "tuple" else "[]"
                return PrintedText.join_texts([of_text(first), *shown, of_text(last)])
        raise self.refusal()

    def piece(self, piece: Any) -> PrintedText:
        """A piece of an f-string: a text, or a value with a conversion and a format."""
        if isinstance(piece, str):
            return of_text(piece)
        p, conversion, spec = piece
        if not isinstance(spec, str) or conversion not in ("", "s", "r"):
            raise self.refusal()
        if p[0] != "atom":
            return self.text(p, conversion == "r") if not spec else self.choice(p, spec)
        if not spec:
            return self.number_text(p[1], conversion or "s")
        field = SPEC.fullmatch(spec)
        if field is None or conversion == "s" or (conversion and field["kind"]):
            raise self.refusal()
        return self.field(p[1], field, conversion or field["kind"])

    def choice(self, p: Any, spec: str) -> PrintedText:
        """One of several known texts."""

        def expression(p: Any) -> str:
            match p:
                case ("value", str() as value):
                    return c_string(format(value, spec))
                case ("made", (form, (yes, ("atom", k), no))) if form == CHOICE:
                    test = self.number(self.s.args[k]).operand(UNARY)
                    return f"({test} ? {expression(yes)} : {expression(no)})"
            raise self.refusal()

        return PrintedText("%s", (expression(p),))

    def percent(self, form: Any, values: Any) -> PrintedText:
        """ "..." % values."""
        if form[0] != "value" or values[0] not in ("tuple", "atom"):
            raise self.refusal()
        parts, texts, last = [*(values[1] if values[0] == "tuple" else [values])], [], 0
        for field in FIELD.finditer(form[1]):
            texts.append(of_text(form[1][last : field.start()]))
            last = field.end()
            if field["kind"] == "%":
                texts.append(of_text("%"))
                continue
            p, is_plain = parts.pop(0), len(field[0]) == 2
            if field["kind"] in "sr" and is_plain:
                texts.append(self.text(p, field["kind"] == "r"))
            elif p[0] == "atom":
                texts.append(self.field(p[1], field, field["kind"].replace("i", "d")))
            else:
                raise self.refusal()
        rest = form[1][last:]
        if parts or "%" in "".join([rest, *FIELD.split(form[1])[:1]]):
            raise self.refusal()
        return PrintedText.join_texts([*texts, of_text(rest)])

    # -- numbers

    def field(self, k: int, field: re.Match[str], kind: str) -> PrintedText:
        """A number by a format."""
        dtype = self.dtype(k)
        minus = "-" * (field["align"] in ("<", "-"))
        flags = f"{minus}{field['sign']}{field['zero']}{field['width']}"
        if kind in ("", "s", "r") and not field["digits"] and not field["sign"] + field["zero"]:
            if kind == "" and dtype.kind not in "iu" and dtype != DOUBLE:
                raise self.refusal()
            return self.number_text(k, kind or "s", minus + field["width"])
        value = self.number(self.s.args[k])
        if kind == "d" and dtype.kind in "iu" and not field["digits"]:
            return self.integer(value, flags)
        if not kind or kind not in "eEfFgG%" or dtype.kind not in "iuf" or field["zero"]:
            raise self.refusal()
        text = f"(double){value.operand(UNARY)}" if dtype != DOUBLE else value.text
        if kind == "%":
            text = f"{value.operand(UNARY)} * 100.0"
            return PrintedText(f"%{flags}{field['digits']}f%%", (f"plain_nan({text})",))
        return PrintedText(f"%{flags}{field['digits']}{kind}", (f"plain_nan({text})",))

    def number_text(self, k: int, conversion: str, width: str = "") -> PrintedText:
        """A number as `str` or `repr` shows it."""
        dtype, value = self.dtype(k), self.number(self.s.args[k])
        if conversion == "r" and not self.s.args[k].type.weak:  # np.float64(...)
            raise self.refusal()
        if dtype.kind in "iu":
            return self.integer(value, width)
        if dtype.kind == "b":
            return PrintedText(f"%{width}s", (f'{value.operand(UNARY)} ? "True" : "False"',))
        if dtype not in (SINGLE, DOUBLE):
            raise self.refusal()
        call = f"shown_{suffix(dtype)}({value.text}, (char[32]){{0}})"
        return PrintedText(f"%{width}s", (call,))

    def integer(self, value: CValue, flags: str) -> PrintedText:
        unsigned = value.dtype.kind == "u"
        kind, c = ("llu", "unsigned long long") if unsigned else ("lld", "long long")
        return PrintedText(f"%{flags}{kind}", (f"({c}){value.operand(UNARY)}",))

    def dtype(self, k: int) -> Any:
        if self.s.args[k].type.shape:
            raise NotPrintedError(f"{shown_effect(self.s)} of an array")
        return self.s.args[k].type.dtype


STDOUT = "sys.stdout"


def prints(source: str) -> bool:
    """Whether a program in C prints."""
    return "printf" in words(source)


def of_text(text: str) -> PrintedText:
    """A text without fields."""
    return PrintedText(text.replace("%", "%%"))


def c_string(text: str) -> str:
    """A text as a string of C. Two question marks would begin a trigraph."""
    escaped = "".join(ESCAPES.get(c, c if c.isprintable() else _octal(c)) for c in text)
    return '"' + escaped.replace("??", r"?\?") + '"'


def _octal(c: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in c.encode())
