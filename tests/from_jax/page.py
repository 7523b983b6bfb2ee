"""docs/from-jax.md: what changes in a program of JAX, and which of its names do not exist, and why.

The reasons are what tapeless says itself where such a name is asked for.
"""

import importlib
import inspect
from collections import defaultdict
from pathlib import Path

import tapeless
from tapeless.configuration.config import SETTINGS
from tapeless.missing import PRIMITIVES, REASONS
from tapeless.transformations.ignored_parameters import UNNEEDED
from tests.from_jax.names import kept
from tests.from_jax.names import parameters_kept as kept_parameters

TEMPLATE = Path(__file__).with_name("template.md")


def module_of(jax_name):
    """The module of tapeless for one of JAX; None where there is none."""
    name = "tapeless" + jax_name.removeprefix("jax")
    try:
        return importlib.import_module(name)
    except ImportError:
        parent, _, last = name.rpartition(".")
        try:
            return getattr(importlib.import_module(parent), last, None)
        except ImportError:
            return None


def reason(module, name):
    """Why a module does not have a name, as it says itself; empty where it says nothing."""
    try:
        getattr(module, name)
    except AttributeError as e:
        text = getattr(e, "problem", str(e))
        hint = getattr(e, "hint", "")
        if text.startswith("module "):
            told = REASONS.get(module.__name__, {}).get(name, "")
            return told or (PRIMITIVES if name.endswith("_p") else "")
        text = text.partition(": ")[2]
        return f"{text}; {hint}" if hint else text
    return None


def missing():
    """{(module of JAX, reason): names}, and the modules that are missing."""
    found, absent = defaultdict(list), []
    for jax_name, names in kept().items():
        module = module_of(jax_name)
        if module is None:
            absent.append(jax_name)
            continue
        for name in names:
            why = reason(module, name)
            if why is not None:
                found[jax_name, why].append(name)
    return found, absent


def rows():
    found, _ = missing()
    primitives = defaultdict(int)
    for (module, why), names in sorted(found.items()):
        if names[0].endswith("_p") and "primitives" in why:
            primitives[module] += len(names)
            continue
        listed = ", ".join(f"`{module}.{n}`" if k == 0 else f"`{n}`" for k, n in enumerate(names))
        yield f"| {listed} | {why} |"
    for module, count in primitives.items():
        yield (
            f"| the {count} primitives `{module}.*_p` | operations are those of NumPy; "
            "give a function of your own a rule with `custom_jvp` |"
        )


def modules():
    """The modules of JAX that were looked at; distributions as one."""
    short = [name for name in kept() if not name.startswith("jax.scipy.stats.")]
    return ", ".join(f"`{name}`" for name in [*short, "jax.scipy.stats.*"])


def settings():
    yield "| setting | values | meaning |"
    yield "|---|---|---|"
    for name, s in SETTINGS.items():
        values = ", ".join(f"`{v!r}`" for v in s.accepted) or "a path"
        yield f"| `{name}` | {values} | {s.__doc__} |"


def without():
    """{parameter of JAX that is missing: the functions}."""
    found = defaultdict(list)
    for name, parameters in kept_parameters().items():
        ours = inspect.signature(getattr(tapeless, name)).parameters
        for k, p in enumerate(parameters):
            renamed = k == 0  # the first is passed by position
            if p not in ours and not renamed:
                found[p].append(name)
    return found


def parameters():
    yield "| parameter | of | values | why |"
    yield "|---|---|---|---|"
    for p, (accepted, why) in sorted(UNNEEDED.items()):
        functions = [name for name, found in kept_parameters().items() if p in found]
        listed = ", ".join(f"`{name}`" for name in functions)
        values = "any" if accepted is None else ", ".join(f"`{x!r}`" for x in accepted)
        yield f"| `{p}` | {listed} | {values} | {why} |"


def page():
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, made in (
        ("settings", "\n".join(settings())),
        ("modules", modules()),
        ("parameters", "\n".join(parameters())),
        ("missing", "\n".join(rows())),
    ):
        text = text.replace("{" + name + "}", made)
    return text
