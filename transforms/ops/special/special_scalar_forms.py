"""Defines scalar forms of special functions that are made of exponentials and logarithms.

expit(x)      becomes, in a kernel,      1.0 / (1.0 + exp(-x))

Values are SciPy's up to rounding, those at the ends of the domains included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Let
from tapeless.transforms.core.scalar_form import ModuleNeeds, Operands, ScalarForm, literal
from tapeless.transforms.ops.primitives.scalar_forms import FLOATS
from tapeless.transforms.python_text.python_source import template


def of_elements(text: str, *functions: str) -> ScalarForm:
    """A formula of functions of `math`; {zero}, {one}, {two}, {half}, {inf} are constants of the
    dtype of the result."""
    constants = {"zero": 0.0, "one": 1.0, "two": 2.0, "half": 0.5, "inf": np.inf}
    named = {name: (f"{{{k}}}", value) for k, (name, value) in enumerate(constants.items(), 10)}
    for name, (hole, _) in named.items():
        text = text.replace(f"{{{name}}}", hole)

    def scalar_text(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
        out = s.outs[0].type.dtype
        module.imports.update(("math", name) for name in functions)
        used = {hole.strip("{}"): v for hole, v in named.values() if hole in text}
        values = {key: literal(value, out) for key, value in used.items()}
        return template(text, {**operands.convert_all(out), **values})

    imports = tuple(("math", name) for name in functions)
    return ScalarForm(scalar_text, results=FLOATS, imports=imports, repeats=True)


EXPIT = of_elements("{one} / ({one} + exp(-{0}))", "exp")
LOG_EXPIT = of_elements("{0} - log1p(exp({0})) if {0} < 0 else -log1p(exp(-{0}))", "exp", "log1p")
LOGIT = of_elements(
    "log1p({two} * {0} - {one}) - log1p({one} - {two} * {0}) if abs({0} - {half}) < 0.175"
    " else log({0} / ({one} - {0}))",
    "log",
    "log1p",
)
XLOGY = of_elements("{zero} if {0} == 0 and {1} == {1} else {0} * log({1})", "log")
XLOG1PY = of_elements("{zero} if {0} == 0 and {1} == {1} else {0} * log1p({1})", "log1p")
ENTR = of_elements(
    "-{0} * log({0}) if {0} > 0 else {zero} if {0} == 0 else {0} if {0} != {0} else -{inf}", "log"
)
REL_ENTR = of_elements(
    "{0} * log1p(({0} - {1}) / {1}) if {0} > 0 and {half} * {1} < {0} and {0} < {two} * {1}"
    " else {0} * log({0} / {1}) if {0} > 0 and {0} / {1} > 0 and {0} / {1} < {inf}"
    " else {0} * (log({0}) - log({1})) if {0} > 0 and {1} > 0"
    " else {zero} if {0} == 0 and {1} >= 0"
    " else {0} + {1} if {0} != {0} or {1} != {1} else {inf}",
    "log",
    "log1p",
)
KL_DIV = of_elements(
    "{0} * log({0} / {1}) - {0} + {1} if {0} > 0 and {1} > 0 else {1} if {0} == 0 and {1} >= 0"
    " else {0} + {1} if {0} != {0} or {1} != {1} else {inf}",
    "log",
)
