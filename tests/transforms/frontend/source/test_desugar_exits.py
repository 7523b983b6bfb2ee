"""Functions without `return`, `break` and `continue` do what they did with them."""

import ast
import copy
import itertools
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeless.transforms.frontend.source.desugar_exits import desugar, exits
from tapeless.transforms.frontend.source.tree_building import RESULT

JUMPS = (ast.Return, ast.Break, ast.Continue)


class Ended(ast.NodeTransformer):
    """A loop that ends when its flag is true, in Python."""

    def visit_loop(self, node):
        self.generic_visit(node)
        flag = getattr(node, "type_comment", None)
        if flag:
            node.body.append(ast.If(ast.Name(flag, ast.Load()), [ast.Break()], []))
            node.type_comment = None
        return node

    visit_For = visit_While = visit_loop  # noqa: N815, names of the library


def functions(text):
    """The function of a text, as it is and desugared; and its desugared body."""
    (tree,) = ast.parse(textwrap.dedent(text)).body
    made = copy.deepcopy(tree)
    made.body = desugar(copy.deepcopy(tree.body))
    body = copy.deepcopy(made.body)
    made = Ended().visit(made)
    made.body.append(ast.Return(ast.Name(RESULT, ast.Load())))
    found = []
    for node in (tree, made):
        values = {}
        module = ast.fix_missing_locations(ast.Module([node], []))
        exec(compile(module, "<made>", "exec"), values)
        found.append(values[tree.name])
    return *found, body


def outcome(function, *args):
    log = []
    try:
        return function(log, *args), log
    except ZeroDivisionError:
        return "raised", log


def agree(text, inputs):
    plain, lowered, body = functions(text)
    assert not any(exits(s, JUMPS) for s in body)
    for args in inputs:
        assert outcome(lowered, *args) == outcome(plain, *args), args


PROGRAMS = {
    "early return": """
        def f(log, a, b):
            if a:
                return 1
            log.append("after")
            if b:
                return 2
        """,
    "return in both": """
        def f(log, a, b):
            if a:
                return 1
            else:
                if b:
                    return 2
                log.append("b")
            return 3
        """,
    "falling through the middle": """
        def f(log, a, b):
            if a:
                if b:
                    return "both"
                log.append("a only")
            else:
                log.append("not a")
            log.append("end")
            return log[-1]
        """,
    "break and else": """
        def f(log, a, b):
            for k in range(3):
                if k == a:
                    break
                log.append(k)
            else:
                log.append("else")
            return k
        """,
    "continue": """
        def f(log, a, b):
            for k in range(3):
                if k == a:
                    continue
                log.append(k)
                if k == b:
                    continue
                log.append(-k)
        """,
    "return in a loop": """
        def f(log, a, b):
            for k in range(3):
                if k == a:
                    return k
                log.append(k)
            else:
                log.append("else")
            return "end"
        """,
    "return in a nest": """
        def f(log, a, b):
            for i in range(3):
                for j in range(3):
                    if i == a and j == b:
                        return i, j
                    if j > a:
                        break
                    log.append((i, j))
                else:
                    log.append("inner else")
                    continue
                if i > b:
                    break
                log.append("after")
            else:
                log.append("outer else")
        """,
    "while": """
        def f(log, a, b):
            k = 0
            while k < 3:
                k += 1
                if k == a:
                    continue
                if k == b:
                    break
                log.append(k)
            else:
                return "else", k
            return k
        """,
    "while true": """
        def f(log, a, b):
            k = 0
            while True:
                k += 1
                if k > a:
                    return k
                if k == b:
                    log.append(k)
        """,
    "while true with break": """
        def f(log, a, b):
            k = 0
            while True:
                k += 1
                if k > a:
                    break
                if k == b:
                    return "b"
            return k
        """,
    "break in the else of a loop": """
        def f(log, a, b):
            for i in range(3):
                for j in range(2):
                    if j == a:
                        break
                else:
                    if i == b:
                        break
                    log.append(i)
            return i
        """,
    "try": """
        def f(log, a, b):
            for k in range(3):
                try:
                    if k == a:
                        return k
                    if k == b:
                        continue
                    1 // (k - 1)
                except ZeroDivisionError:
                    log.append("zero")
                    if a == 2:
                        break
                else:
                    log.append("fine")
                finally:
                    log.append("finally")
                log.append(k)
            return "end"
        """,
    "match": """
        def f(log, a, b):
            match a:
                case 0:
                    return "zero"
                case 1 if b:
                    log.append("one")
                case _:
                    log.append("other")
                    if b == 2:
                        return 5
            log.append("after")
        """,
    "nested function": """
        def f(log, a, b):
            def g(x):
                for k in range(3):
                    if k == x:
                        return k
            if a:
                return g(b)
            log.append(g(1))
        """,
    "dead code": """
        def f(log, a, b):
            return a
            log.append(b)
        """,
    "nothing": """
        def f(log, a, b):
            pass
        """,
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_on_all_inputs(text):
    agree(text, itertools.product(range(4), repeat=2))


def test_a_with_block():
    agree(
        """
        def f(log, a, b):
            from contextlib import nullcontext
            for k in range(3):
                with nullcontext(k) as n:
                    if n == a:
                        break
                    if n == b:
                        return "b"
                    log.append(n)
                log.append("after")
            return "end"
        """,
        itertools.product(range(4), repeat=2),
    )


# -- random programs

CONDITIONS = st.sampled_from(
    ["a", "b", "not a", "a and not b", "len(log) % 2", "len(log) % 3 == a"]
)
LEAVES = st.sampled_from(["log.append({n})", "return {n}", "return", "pass"])
IN_LOOP = st.sampled_from(["break", "continue", "log.append({n})", "return {n}"])


def indented(body):
    return textwrap.indent(body, "    ")


@st.composite
def bodies(draw, depth=3, loop=False):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["leaf", "if", "for", "while", "try"] if depth else ["leaf"]))
        if kind == "leaf":
            text = draw(IN_LOOP if loop else LEAVES)
            lines.append(text.format(n=draw(st.integers(0, 9))))
            continue
        inside = indented(draw(bodies(depth - 1, loop or kind in ("for", "while"))))
        other = draw(st.none() | bodies(depth - 1, loop))
        if kind == "if":
            lines.append(f"if {draw(CONDITIONS)}:\n{inside}")
        elif kind == "for":
            lines.append(f"for k{depth} in range({draw(st.integers(0, 3))}):\n{inside}")
        elif kind == "while":
            lines.append(
                f"w{depth} = len(log)\nwhile len(log) < w{depth} + 4:\n    log.append(0)\n{inside}"
            )
        else:
            lines.append(f"try:\n{inside}\nexcept ZeroDivisionError:\n    log.append(7)")
        if other is not None:
            lines[-1] += f"\nelse:\n{indented(other)}"
    return "\n".join(lines)


@settings(max_examples=60)
@given(bodies())
def test_random_programs(body):
    agree(f"def f(log, a, b):\n{indented(body)}", itertools.product((False, True), repeat=2))


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("return 1", True),
        ("if a:\n    break", True),
        ("for k in a:\n    break", False),
        ("for k in a:\n    return", True),
        ("for k in a:\n    pass\nelse:\n    break", True),
        ("while a:\n    continue", False),
        ("def g():\n    return 1", False),
        ("class C:\n    def m(self):\n        return 1", False),
        ("f = lambda: 1", False),
        ("try:\n    pass\nfinally:\n    continue", True),
    ],
)
def test_what_control_can_leave(text, leaves):
    (node,) = ast.parse(text).body
    assert exits(node) is leaves


def test_positions_are_the_users():
    text = textwrap.dedent(PROGRAMS["return in a nest"]).strip()
    (tree,) = ast.parse(text).body
    last = len(text.splitlines())
    for s in desugar(tree.body):
        for n in ast.walk(s):
            if isinstance(n, ast.stmt):
                assert 1 < n.lineno <= last
