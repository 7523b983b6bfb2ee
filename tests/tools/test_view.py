"""`tapeless view`: one page, listings whose lines are linked, user source as text."""

import http.client
import re
import threading
from collections import Counter
from html.parser import HTMLParser

import pytest

from tapeless.tools.page.serve import PageServer

PROGRAM = '''\
import numpy as np


def wave(x: "f8[5]"):
    """A wave & <b>more</b>: 1 < 2."""
    y = np.sin(x)
    z = y**2
    return np.sum(z)


def helped(x: "f8[5]"):
    return wave(2.0 * x)
'''
EMPTY = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """The elements of a page, and the lines of its listings."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.tags, self.outside = [], [], [], []
        self.places, self.text = {}, {}
        self.open, self.line, self.labels = [], None, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        if tag not in EMPTY:
            self.open.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        if values.get("href", "").startswith("#"):
            self.targets.append(values["href"][1:])
        self.outside += [values[k] for k in ("src", "href") if values.get(k, "#")[:1] != "#"]
        self.labels += [values["aria-labelledby"]] if "aria-labelledby" in values else []
        if "data-places" in values:
            self.line = values["id"]
            self.places[self.line] = set(values["data-places"].split())
        if tag == "code":
            self.text[self.line] = ""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "code" in self.open:
            self.text[self.line] += data

    def line_of(self, pane, start):
        """The anchor of the line of a listing that begins with this text."""
        return next(
            a
            for a, text in self.text.items()
            if a.startswith(f"{pane}-L") and text.strip().startswith(start)
        )

    def linked(self, anchor, pane):
        """The texts of the lines of a listing that belong to a line."""
        return [
            self.text[a].strip()
            for a, places in self.places.items()
            if a.startswith(f"{pane}-L") and places & self.places[anchor]
        ]


@pytest.fixture
def view(tapeless, models):
    """The page of a function of the program."""
    (models / "waves.py").write_text(PROGRAM)

    def show(function, *options):
        result = tapeless("view", f"waves.py:{function}", *options)
        assert (result.code, result.err) == (0, "")
        return Page(result.out)

    return show


def test_the_page_is_whole(view):
    page = view("wave", "--transform", "jit(grad)")
    assert page.open == []
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    assert set(page.targets) <= set(page.ids)
    assert set(page.labels) <= set(page.ids)
    assert page.outside == []
    assert {"header", "main", "footer", "h1", "h2", "ol"} <= set(page.tags)


def test_user_source_is_text(view):
    page = view("wave", "--transform", "grad")
    assert page.text["source-L5"] == '    """A wave & <b>more</b>: 1 < 2."""'
    assert "b" not in page.tags


def test_lines_belong_to_those_of_the_derivative(view):
    page = view("wave", "--transform", "jit(grad)")
    line = page.line_of("source", "y = np.sin(x)")
    assert line == "source-L6"
    assert page.linked(line, "array")[1:] == ["y = np.sin(x)  # line 6", "return 2 * y * np.cos(x)"]
    loops = page.linked(line, "loop")
    assert any("cos(x[i])" in text for text in loops)
    assert any(text.startswith("in_parallel(wave_grad_kernel, ") for text in loops)
    assert any("cos(x[" in text for text in page.linked(line, "cuda"))
    back = page.linked(page.line_of("loop", "x_bar[i] ="), "source")
    assert "y = np.sin(x)" in back
    assert page.linked(page.line_of("array", "import"), "source") == []


def test_functions_that_are_called_are_shown(view):
    page = view("helped", "--transform", "jit(grad)")
    assert page.text["source-L12"] == "    return wave(2.0 * x)"
    assert "y = sin(x_2)  # line 6" in page.linked("source-L6", "loop")
    assert any("cos(x_2)" in text for text in page.linked("source-L12", "loop"))


def test_a_function_alone_has_array_form(view):
    page = view("wave")
    assert "y = np.sin(x)  # line 6" in page.linked("source-L6", "array")
    linked = ["def wave(x):", "z = y ** 2  # line 7"]
    assert page.linked("source-L7", "array") == linked
    assert any("sin(x[i])" in text for text in page.linked("source-L6", "loop"))


def test_a_function_without_arguments(tapeless, models):
    (models / "constants.py").write_text(
        "import numpy as np\n\n\ndef f():\n    return np.ones(3)\n"
    )
    page = Page(tapeless("view", "constants.py:f").out)
    assert page.text["source-L5"] == "    return np.ones(3)"
    assert page.line_of("array", "return np.ones") in page.places


def test_what_runs_a_line_and_what_it_saves_stand_beside_it(tapeless, models):
    (models / "waves.py").write_text(PROGRAM)
    text = tapeless("view", "waves.py:wave", "--transform", "grad").out
    line = re.search(r'<li id="source-L6".*', text)[0]
    assert '<li class="library">NumPy</li>' in line
    assert "saves y: float64[5], 40 B" in re.sub("<.*?>", "", line)
    compiled = tapeless("view", "waves.py:wave", "--transform", "jit(grad)").out
    line = re.search(r'<li id="source-L6".*', compiled)[0]
    assert '<li class="kernel">wave_grad_kernel</li>' in line


def test_why_there_is_no_cuda_c(tapeless, models):
    page = tapeless("view", "models.py:prints", "--args", "f8[3]")
    assert page.code == 0
    assert "There is none: no kernel is needed." in page.out


def test_same_line_in_two_files(tapeless, models):
    (models / "other.py").write_text(
        "import numpy as np\n\n\ndef g(x):\n    y = np.exp(x)\n    return y * np.cos(y)\n"
    )
    (models / "first.py").write_text(
        "import numpy as np\nimport other\n\ndef f(x: 'f8[3]'):\n    return np.sum(other.g(x))\n"
    )
    page = tapeless("view", "first.py:f", "--transform", "grad").out
    assert "Line 5 is in several of your files" in page
    parsed = Page(page)
    assert "Your source, other.py" in page
    for anchor in ("source-L5", "source-2-L5"):
        assert any("y = np.exp(x)" in text for text in parsed.linked(anchor, "array"))


def test_the_page_is_written(tapeless, models):
    result = tapeless("view", "models.py:norm", "-o", "page.html")
    assert (result.code, result.out) == (0, "")
    assert (models / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    missing = tapeless("view", "models.py:norm", "-o", "none/page.html")
    assert missing.code == 2
    assert "cannot be written: No such file or directory" in missing.err


def test_the_page_is_served(tapeless, monkeypatch):
    answers = []

    def asked(server):
        thread = threading.Thread(target=PageServer.serve_forever, args=(server,))
        thread.start()
        for path in ("", "other"):
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
            connection.request("GET", f"/{path}")
            answer = connection.getresponse()
            answers.append((answer.status, answer.read().decode()))
            connection.close()
        server.shutdown()
        thread.join()
        raise KeyboardInterrupt

    class Asked(PageServer):
        serve_forever = asked

    monkeypatch.setattr("tapeless.tools.view.PageServer", Asked)
    result = tapeless("view", "models.py:norm", "--serve")
    assert result.code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", result.out)
    (status, text), (other, _) = answers
    assert (status, other) == (200, 404)
    assert text == tapeless("view", "models.py:norm").out


def test_a_page_is_written_or_served(tapeless):
    result = tapeless("view", "models.py:norm", "--serve", "-o", "page.html")
    assert result.code == 2
    assert "not allowed with" in result.err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["missing.py:f"], "missing.py"),
        (["models.py:nothing"], "models.py has no 'nothing'"),
        (["models.py:norm", "--transform", "jit(grades)"], "'grades' is none of jit, grad"),
        (["models.py:norm", "--transform", "jit(grad"], "do not match, as in jit(grad)"),
        (["models.py:norm", "--transform", "jit)grad("], "do not match, as in jit(grad)"),
    ],
)
def test_mistakes(tapeless, argv, message):
    result = tapeless("view", *argv)
    assert result.code == 2
    assert message in result.err


def test_a_program_that_is_refused_is_refused(tapeless):
    result = tapeless("view", "models.py:words", "--transform", "grad")
    assert result.code == 1
    assert result.out == ""


def test_a_flame_graph_leads_to_the_lines(view):
    page = view("helped", "--transform", "grad", "--profile")
    assert "flame" in page.ids
    boxes = [target for target in page.targets if target.startswith(("source-L", "array-L"))]
    assert set(boxes) <= set(page.ids)
    assert page.line_of("array", "return") in boxes
    assert not page.outside


def test_nothing_is_called_without_being_asked(view):
    assert "flame" not in view("helped").ids


def timed_driver_lines(text):
    """The lines of loop form that have a time."""
    lines = text.splitlines()
    return [line for line in lines if 'id="loop-L' in line and 'class="took"' in line]


def test_times_stand_beside_lines(tapeless, models):
    (models / "waves.py").write_text(PROGRAM)
    options = ("--transform", "jit(grad)", "--profile")
    text = tapeless("view", "waves.py:wave", *options).out
    assert "How times were measured" in text
    assert any("wave_grad_kernel" in line for line in timed_driver_lines(text))
    line = re.search(r'<li id="source-L6".*', text)[0]
    assert re.search(r'<li class="took">[\d.]+ [mun]?s</li>', line)
    assert 'class="took"' not in tapeless("view", "waves.py:wave", *options[:2]).out


def test_lines_that_read_from_outside_are_timed(tapeless, models):
    (models / "outer.py").write_text(
        "import numpy as np\n\nDATA = np.ones(40)\n\n\ndef f(x: 'f8[5]'):\n"
        "    return np.sum(np.sin(DATA[:, None] * x))\n"
    )
    text = tapeless("view", "outer.py:f", "--transform", "jit(grad)", "--profile").out
    assert any("f_grad_kernel" in line for line in timed_driver_lines(text))
    assert re.search(r'id="array-L.*class="took"', text)
    assert re.search(r'<a href="#array-L\d+" title', text)


def test_one_kernel_alone_is_timed(tapeless):
    text = tapeless("view", "models.py:logistic", "--transform", "jit(grad)", "--profile").out
    assert any("logistic_grad_kernel" in line for line in timed_driver_lines(text))


def test_what_jit_leaves_nothing_of_costs_nothing(tapeless, models):
    (models / "dead.py").write_text(
        "import numpy as np\n\n\ndef f(x: 'f8[5]'):\n    y = np.sin(x)\n"
        "    z = np.cos(y)\n    return np.sum(y)\n"
    )
    text = tapeless("view", "dead.py:f", "--transform", "jit").out
    assert '<ul class="notes"' in re.search(r'<li id="source-L5".*', text)[0]
    assert '<ul class="notes"' not in re.search(r'<li id="source-L6".*', text)[0]
