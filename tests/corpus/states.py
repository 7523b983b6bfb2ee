"""Texts, members of enumerations and None as states that data decides, also those of loops."""

import enum

import numpy as np

from tests.corpus import normal, program


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


@program(normal(7))
def thermostat(temperatures):
    state, energy, switches = "off", 0.0, 0
    for t in temperatures:
        if state == "off" and t < 0:
            state = "on"
            switches += 1
        elif state == "on" and t > 1:
            state = "off"
        if state == "on":
            energy += t * t
    return energy + switches


@program(normal(7))
def starts_with_none(x):
    state, total = None, 0.0
    for v in x:
        if state is None:
            state = "start"
        elif state == "start" and v > 0:
            state = "run"
        elif state == "run" and v < -1:
            state = "stop"
        if state in ("run", "stop"):
            total += v * v
    return total * 2 if state == "stop" else total


@program(normal(1))
def modes_of_a_while_loop(x):
    x = abs(x[0]) + 0.5
    mode, n = "grow", 0
    while n < 20 and abs(x) < 50:
        if mode == "grow":
            x = x * 1.5 + 1
            if x > 10:
                mode = "shrink"
        elif mode == "shrink":
            x = x * 0.4
            if x < 2:
                mode = "rest"
        else:
            x = x + 0.1 * x
            if n % 4 == 0:
                mode = "grow"
        n += 1
    return x


@program(normal(8))
def members_of_an_enumeration(x):
    color, s = Color.RED, 0.0
    for v in x:
        match color:
            case Color.RED:
                s += v**2
                if v > 0:
                    color = Color.GREEN
            case Color.GREEN:
                s -= v
                color = Color.BLUE if v < 0 else Color.RED
            case Color.BLUE:
                s *= 0.5
                color = Color.RED
    return s + color.value * x[0]


class Machine:
    def __init__(self):
        self.state, self.count = "idle", 0

    def step(self, v):
        if self.state == "idle":
            if v > 0.5:
                self.state = "busy"
        elif self.state == "busy":
            self.count += 1
            if v < 0:
                self.state = "idle"
        return {"idle": 0.5, "busy": 1.0}[self.state] * v


@program(normal(7))
def attribute_of_an_object(x):
    machine, total = Machine(), 0.0
    for v in x:
        total += machine.step(v) ** 2
    return total + machine.count


@program(normal(7))
def entry_of_a_dict(x):
    d = {"mode": "a", "sum": 0.0}
    for v in x:
        if v > 0 and d["mode"] == "a":
            d["mode"] = "bb"
        elif v < 0 and d["mode"] == "bb":
            d["mode"] = "ccc"
        elif d["mode"] == "ccc":
            d["mode"] = "a"
        d["sum"] += v**2 * len(d["mode"])
    return d["sum"]


@program(normal(5))
def states_of_nested_loops(x):
    outer, s = "A", 0.0
    for _ in range(3):
        inner = "p"
        for v in x:
            if inner == "p" and v > 0.3:
                inner = "q"
            elif inner == "q" and v < 0:
                inner = "r"
                outer = "B" if outer == "A" else "A"
            s += v**2 if outer == "A" else -v
        if inner == "r":
            s *= 2
    return s


@program(normal(6))
def names_that_change_places(x):
    a, b = "left", "right"
    s = 0.0
    for v in x:
        if v > 0:
            a, b = b, a
        s += v * v if a == "left" else 2 * v
    return s if b == "right" else -s


@program(normal(6))
def states_in_a_list(x):
    states, s = ["up", "up"], 0.0
    for v in x:
        if v > 0:
            states[0] = "down"
        elif states[0] == "down":
            states[1] = "down"
        s += v**2 if states[0] == states[1] else 3 * v
    return s


@program(normal(6))
def kind_that_ends_a_loop(x):
    kind = "none"
    for v in x:
        if v > 1:
            kind = "big"
            break
        if v < -1:
            kind = "small"
            break
    return {"none": 0.0, "big": 1.0, "small": -1.0}[kind] * x[0] + x[1] ** 2


@program(normal(6))
def state_of_the_pass_before(x):
    before, s = None, 0.0
    for v in x:
        now = "up" if v > 0 else "down"
        if before is not None and before != now:
            s += v * v
        before = now
    return s


@program(normal(3))
def text_or_none(x):
    kind = None
    if x[0] > 0:
        kind = "positive"
    return x[1] if kind is None else x[1] * x[2]


@program(normal(3))
def cases_that_data_decides(x):
    color = Color.RED if x[0] > 0 else Color.GREEN
    match color:
        case Color.RED:
            return x[1] ** 2
        case Color.GREEN:
            return np.sin(x[2])


@program(normal(3))
def cases_of_numbers(x):
    match np.sign(x[0]):
        case 1 | 0:
            y = x[1] * x[2]
        case -1:
            y = x[1] ** 2
        case other:
            y = other
    return y


@program(normal(6))
def none_again(x):
    kind, s = "first", 0.5
    for v in x:
        if kind is not None:
            s = s + v * s
        if v > 0:
            kind = "other"
        elif s > 0.3:
            kind = None
    return s * x[0]
