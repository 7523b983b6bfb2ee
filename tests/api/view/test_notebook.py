"""The HTML of transformed functions: what it shows, and that it stands for itself anywhere."""

import linecache
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

import tapeless
from tapeless.view import notebook


def helper(x):
    return np.sin(x)


def wave(x):
    """A wave & <b>more</b>: 1 < 2."""
    y = helper(x)
    z = y**2
    return np.sum(z)


class Model:
    @tapeless.jit
    def scaled(self, x):
        return 2.0 * x


class Html(HTMLParser):
    """The elements of an output: ids, links, and the text of each line."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.outside, self.tags = [], [], [], []
        self.text, self.places, self.line, self.open = {}, {}, None, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.open.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        for name in ("href", "src"):
            if name in values:
                (self.targets if values[name][:1] == "#" else self.outside).append(values[name])
        if "data-places" in values:
            self.line = re.sub("^tapeless-[0-9a-f]+-", "", values["id"])
            self.text[self.line], self.places[self.line] = "", set(values["data-places"].split())

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "code" in self.open:
            self.text[self.line] += data

    def listing(self, name):
        lines = (text for line, text in self.text.items() if line.startswith(f"{name}-L"))
        return "\n".join(lines)

    def linked(self, start, pane):
        """The lines of a listing that belong to the user's line that begins with a text."""
        of_user = (k for k in self.text if k.startswith("source"))
        line = next(k for k in of_user if self.text[k].strip().startswith(start))
        mine = (k for k in self.text if k.startswith(pane))
        return [self.text[k].strip() for k in mine if self.places[k] & self.places[line]]


def html(function):
    return Html(function._repr_html_())


def test_before_a_call_only_the_users_source_is_shown():
    slope = tapeless.grad(wave)
    text = slope._repr_html_()
    page = Html(text)
    assert page.listing("source").startswith('def wave(x):\n    """A wave & <b>more</b>: 1 < 2."""')
    assert page.listing("emitted") == ""
    assert notebook.BEFORE in text
    assert slope.last is None


def test_it_is_one_line_until_it_is_opened():
    text = tapeless.grad(wave)._repr_html_()
    assert re.search(
        r"<details>\n<summary>d wave / d x, test_notebook.py, line \d+</summary>", text
    )


def test_after_a_call_the_emitted_code_is_linked_with_the_users():
    slope = tapeless.grad(wave)
    slope(np.ones(3))
    page = html(slope)
    assert page.listing("emitted").strip() == slope.source().strip()
    assert "return np.sin(x)" in page.listing("source")  # of the helper
    assert any("np.cos" in line for line in page.linked("return np.sin(x)", "emitted"))
    assert page.linked('"""A wave', "emitted") == []


def test_the_newest_signature_is_shown():
    slope = tapeless.grad(wave)
    slope(np.ones(3))
    slope(1.0)
    assert html(slope).listing("emitted").strip() == slope.source(1.0).strip()


def test_compiled_functions_show_their_loops():
    compiled = tapeless.jit(tapeless.grad(wave))
    compiled(np.ones(3))
    page = html(compiled)
    assert "wave_grad_kernel" in page.listing("emitted")
    assert page.linked("y = helper(x)", "emitted") == []
    assert page.linked("return np.sin(x)", "emitted")


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (tapeless.grad(wave), (np.ones(3),)),
        (tapeless.jit(wave), (np.ones(3),)),
        (tapeless.vmap(tapeless.grad(wave)), (np.ones((2, 3)),)),
        (tapeless.value_and_grad(wave), (np.ones(3),)),
        (tapeless.hessian(wave), (np.ones(3),)),
        (Model().scaled, (1.0,)),
        (tapeless.jit(lambda x: [x, {"<b>": x}]), (1.0,)),
        (tapeless.jit(np.sin), (1.0,)),
    ],
)
def test_the_html_is_whole_and_stands_alone(function, args):
    function(*args)
    page = html(function)
    assert page.open == []
    assert page.outside == []
    assert {"script", "link", "img", "b"}.isdisjoint(page.tags)
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    assert {target[1:] for target in page.targets} <= set(page.ids)


def test_outputs_of_one_notebook_do_not_clash():
    slope = tapeless.grad(wave)
    slope(1.0)
    first, second = html(slope), html(slope)
    assert not set(first.ids) & set(second.ids)
    style = re.search("<style>(.*?)</style>", slope._repr_html_(), re.DOTALL)[1]
    rules = re.sub(r"@media[^{]*\{(.*\})\s*\}", r"\1", style, flags=re.DOTALL)
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", rules)
    assert selectors
    assert all(".tapeless-view" in part for text in selectors for part in re.split(r",\n", text))


def test_both_colour_schemes_have_all_colours():
    style = notebook._style([])
    names = set(re.findall(r"var\(--([\w-]+)\)", style)) - {"depth"}
    assert names <= set(re.findall(r"--([\w-]+): light-dark\(#\w{6}, #\w{6}\);", style))


def test_a_source_that_changed_is_not_shown():
    file = "/tmp/ipykernel_1/changing.py"
    text = "def f(x):\n    return x**2\n"
    values = {}

    def write(text):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)

    write(text)
    exec(compile(text, file, "exec"), values)
    slope = tapeless.grad(values["f"])
    slope(1.0)
    write(text.replace("2", "3"))
    page = html(slope)
    assert page.listing("source") == ""
    assert "is not the code that runs" in slope._repr_html_()


def test_code_of_other_functions_is_not_shown_after_a_change(monkeypatch):
    slope = tapeless.grad(wave)
    slope(1.0)
    monkeypatch.setattr(helper, "__code__", (lambda x: np.cos(x)).__code__)
    assert html(slope).listing("emitted") == ""


def test_long_listings_are_cut(monkeypatch):
    monkeypatch.setattr(notebook, "MOST", 3)
    page = html(tapeless.grad(wave))
    assert page.listing("source").count("\n") == 2
    assert "2 more lines are not shown." in tapeless.grad(wave)._repr_html_()
