"""Text that shows values known only when the program runs, and streams that it goes to."""

import logging
import sys
import warnings

import numpy as np

from tests.corpus import normal, program

LOG = logging.getLogger("tests.corpus.texts")


@program(0.7)
def methods_of_shown_text(x):
    text = f"{x:.3f}"
    print(text.upper().ljust(10) + "|", text.replace("0", "o"), text[:2], text[::-1], text * 2)
    print("a".ljust(3), "@ is".replace("@", text), repr(x), str(x).zfill(6), format(x, "8.2e"))
    return x**2


@program(0.7, 3)
def percent_signs(x, n):
    print("%g of %s: %5.2f%% %r" % (x, "all", 100 * x, [n]), "%(a)s" % {"a": x}, "%d" % n)
    line = "x = %.4f"
    line %= x
    print(line)
    return x**2


@program(normal(4))
def joined_texts(x):
    print(", ".join(f"{v:.2f}" for v in x), "-".join(["a", f"{x[0]:.1f}"]), " ".join("abc"))
    rows = []
    for k in range(len(x)):
        rows.append(f"{k}: {x[k] ** 2:.3f}")
    print("\n".join(rows[:2]))
    return np.sum(x**2)


@program(0.7, 6, 2)
def fields_in_fields(x, width, digits):
    print(f"{x:{width}.{digits}f}|", "{:{}.{}f}|{}".format(x, width, digits, "end"))
    print("{0[1]:.1f} {1.real:.2f} {name!r:>9}".format([1.0, x], x, name=x))  # noqa: UP032
    return x**3


@program(-0.7)
@program(0.7)
def text_by_data(x):
    side = "left" if x < 0 else "right"
    print(f"{side:>8}", side.upper())
    if side == "left":
        return np.exp(x)
    return x**2


@program(0.4)
@program(1.4)
@program(2.4)
def regime_by_name(x):
    if x < 1:
        regime = "laminar"
    elif x < 2:
        regime = "mixed"
    else:
        regime = "turbulent"
    print(regime)
    if regime in ("mixed", "turbulent"):
        x = x**2
    return x * 3 if regime != "turbulent" else x * np.sin(x)


@program({"w0": 0.5, "w1": -0.4, "w2": 1.1}, 0.3, 3, wrt=(0, 1))
def parameters_by_formatted_name(params, x, depth):
    for k in range(depth):
        x = np.tanh(params[f"w{k}"] * x) + params["w%d" % k]  # noqa: UP031
    return x


@program(normal(3))
def streams(x):
    total = 0.0
    for k, v in enumerate(x):
        total += v**2
        print(f"{total:.2f}", end="" if k else ";")
    sys.stdout.write(f"total {total:.3f}\n")
    print("done", total > 0, file=sys.stdout, flush=True)
    if total < 0:
        warnings.warn(f"negative: {total:g}", RuntimeWarning, stacklevel=2)
    LOG.debug("total %g", total)
    return total
