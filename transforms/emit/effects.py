"""Writes effects as Python text: print, raise, calls and checks of the user's, with their messages.

print("loss", loss)  # line 12
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core.language import Effect
from tapeless.transforms.errors import InternalError, UnsupportedError
from tapeless.transforms.python_text.literals import literal
from tapeless.transforms.python_text.python_source import quote, template, to_source

if TYPE_CHECKING:
    from tapeless.transforms.emit.writer import Writer

#: Settings of `np.errstate` that ask for more than warnings.
LOUD = frozenset(["raise", "call", "log", "print"])


def write_effect(w: Writer, s: Effect) -> None:
    match s.kind:
        case "errstate":  # around the whole function, where the derivative warns too
            _refuse_contradictions(w.errstate, s)
            w.errstate |= s.params
        case "blank":
            if w.lines and w.lines[-1]:
                w.lines.append("")
        case "print":
            values = [to_source(part(w, p, s)) for p in s.params["parts"]]
            values += [
                f"{k}={quote(s.params[k])}"
                for k, default in (("sep", " "), ("end", "\n"))
                if s.params[k] != default
            ]
            w.put(f"print({', '.join(values)})", s.origin)
        case "call":
            w.imports.update(f"import {module}" for module in s.params["modules"])
            holes = {str(k): part(w, p, s) for k, p in enumerate(s.params["parts"])}
            w.put(to_source(template(s.params["form"], holes)), s.origin)
        case "raise":
            kind = s.params["type"]
            values = [to_source(part(w, p, s, kept=True)) for p in s.params["parts"]]
            if kind.__module__ != "builtins":
                w.imports.add(
                    f"from {kind.__module__} import {kind.__qualname__.partition('.')[0]}"
                )
            w.put(f"raise {kind.__qualname__}({', '.join(values)})", s.origin)
        case "check":
            first, second = (w.expr(x) for x in s.args)
            differ = ast.Compare(first, [ast.NotEq()], [second])
            w.put(f"if {to_source(differ)}:", s.origin)
            w.nest(lambda: w.put(f'raise {s.error}("{s.message}")'))
        case _:
            raise InternalError(f"unknown effect {s.kind}")


def _refuse_contradictions(before: dict[str, str], s: Effect) -> None:
    """Raises UnsupportedError where one `np.errstate` asks for errors that another one does not:
    both hold for the whole function."""
    for kind in ("divide", "over", "under", "invalid"):
        asked = [settings.get(kind, settings.get("all")) for settings in (before, s.params)]
        if None not in asked and asked[0] != asked[1] and LOUD & {*asked}:
            where = f" ({s.origin.note.strip('# ')})" if s.origin is not None else ""
            raise UnsupportedError(
                f"two settings of np.errstate for {kind}{where}",
                "np.errstate holds for a whole transformed function: give it one setting there",
            )


def part(w: Writer, p: Any, s: Effect, kept: bool = False) -> ast.expr:
    """A value of the user's. `kept` is whether it is seen as it is, and not by `str` or `format`:
    in a container, by `repr`, or as an argument of an error."""
    kind, value = p
    if kind == "atom":
        return w.host_copy(s.args[value]) if kept else w.expr(s.args[value])
    if kind == "value":
        return literal(value)
    if kind == "text":
        return _text(w, value, s)
    if kind == "made":
        form, parts = value
        holes = {str(k): part(w, v, s, kept) for k, v in enumerate(parts)}
        return template(form, holes)  # type: ignore[no-any-return]
    if kind == "dict":
        return ast.Dict(
            [literal(k) for k, _ in value],
            [part(w, v, s, kept=True) for _, v in value],
        )
    elements = [part(w, v, s, kept=True) for v in value]
    return ast.Tuple(elements, ast.Load()) if kind == "tuple" else ast.List(elements, ast.Load())


def _spec(w: Writer, spec: Any, s: Effect) -> ast.JoinedStr:
    """The part of a field behind the colon, which may have fields itw."""
    if isinstance(spec, str):
        return ast.JoinedStr([ast.Constant(spec)])
    fields: list[ast.expr] = [
        ast.Constant(v) if isinstance(v, str) else ast.FormattedValue(part(w, v[0], s), -1)
        for v in spec[1]
    ]
    return ast.JoinedStr(fields)


def _text(w: Writer, pieces: Any, s: Effect) -> ast.expr:
    """An f-string, or a call of format where a string inside forbids one before Python 3.12."""
    values: list[ast.expr] = []
    for piece in pieces:
        if isinstance(piece, str):
            values.append(ast.Constant(piece))
            continue
        inner, conversion, spec = piece
        shown = _spec(w, spec, s) if spec else None
        code = ord(conversion) if conversion else -1
        values.append(ast.FormattedValue(part(w, inner, s, conversion == "r"), code, shown))
    formatted = [v for v in values if isinstance(v, ast.FormattedValue)]
    if not any(c in to_source(v.value) for v in formatted for c in "'\"\\{}"):
        return ast.JoinedStr(values)
    text = "".join(map(_format_text, values))
    method = ast.Attribute(ast.Constant(text), "format", ast.Load())
    return ast.Call(method, [v.value for v in formatted], [])


def _format_text(value: ast.expr) -> str:
    """A piece of an f-string as str.format takes it."""
    if isinstance(value, ast.Constant):
        return str(value.value).replace("{", "{{").replace("}", "}}")
    assert isinstance(value, ast.FormattedValue)
    conversion = f"!{chr(value.conversion)}" if value.conversion > 0 else ""
    spec = value.format_spec
    shown = f":{spec.values[0].value}" if isinstance(spec, ast.JoinedStr) else ""  # type: ignore[attr-defined]
    return "{" + conversion + shown + "}"
