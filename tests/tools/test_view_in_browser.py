"""The page of `tapeless view` in a browser: light, pins, keys, sizes, and what readers get of it.

The browser is Debian's `chromium`, or `google-chrome`, driven by Playwright. Where it is missing
these tests are skipped; `.ci/run` installs it, or says that it cannot.
"""

import json
import math
import random
import shutil
import sys

import numpy as np
import pytest

from tapeless.explain.formulas import OPERATORS, of_ufunc
from tapeless.explain.report import in_bytes, short_number
from tapeless.tools.cli import main

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: nothing is tested")

PROGRAM = """\
import numpy as np


def walk(x, w, n=20):
    for _ in range(n):
        x = np.tanh(w @ x)
        x = x / np.sqrt(np.sum(x**2))
    return np.sum(np.cumsum(x))


def shifted(x, y):
    half = x[: x.shape[0] // 2]
    return np.sum(x[1:] * y) + np.sum(half**2)


def bits(x, n=6):
    total = 0.0
    for _ in range(np.gcd(n, 4) + (n ^ 1)):
        total += np.sum(np.sin(x))
    return total


def nextafter_passes(x, n=6):
    total = 0.0
    for _ in range(np.bitwise_count(np.int64(n)) + 1):
        total += np.sum(np.sin(x))
    return total
"""
HERE, THERE = "f8[100], f8[100,100], i8=20", "f8[700], f8[700,700], i8=31"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The address of the page of a function, written once."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "walks.py").write_text(PROGRAM)
    addresses = {}

    def write(function, *options):
        if (function, options) not in addresses:
            page = folder / f"page{len(addresses)}.html"
            assert main(["view", f"{folder}/walks.py:{function}", *options, "-o", str(page)]) == 0
            addresses[function, options] = page.as_uri()
        return addresses[function, options]

    yield write
    sys.modules.pop("walks", None)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # as root, Chromium runs without its sandbox only; it opens nothing but our own pages
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, written):
    """Opens pages in tabs that must neither report an error nor ask for anything else."""
    contexts, problems = [], []

    def open_page(function, *options, anchor="", **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        address = written(function, *options)
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on(
            "request",
            lambda asked: (
                problems.append(asked.url) if asked.url.split("#")[0] != address else None
            ),
        )
        tab.goto(address + anchor)
        if anchor:
            tab.locator(".pinned").wait_for()
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def walk(opened):
    return opened("walk", "--transform", "jit(grad)", "--args", HERE)


def line_of(tab, pane, start):
    """The anchor of the first line of a listing that begins with this text."""
    return tab.evaluate(
        "([pane, start]) => [...document.querySelectorAll(`#${pane} .line`)].find("
        "(line) => line.querySelector('code').textContent.trim().startsWith(start)).id",
        [pane, start],
    )


def marked(tab, pane, kind="lit"):
    """The texts of the lines of a listing that are marked."""
    lines = tab.locator(f"#{pane} .line.{kind} code").all_text_contents()
    return [line.strip() for line in lines]


def texts(tab, selector):
    return tab.locator(selector).all_text_contents()


def numbers_of(tab):
    """All that the page says about sizes and costs."""
    chips = "li.cost:not([hidden]), li.saved"
    return texts(tab, ".totals dd"), texts(tab, ".arguments"), texts(tab, chips)


def set_sizes(tab, *numbers):
    for field, number in zip(tab.get_by_role("spinbutton").all(), numbers, strict=True):
        field.fill(str(number))


# -- lines


def test_pointing_at_a_line_lights_what_belongs_to_it(walk):
    walk.hover(f"#{line_of(walk, 'source', 'x = np.tanh')} code")
    assert marked(walk, "source") == ["x = np.tanh(w @ x)"]
    assert "x = np.tanh(w @ x)  # line 6" in marked(walk, "array")
    assert any("tanh(" in text for text in marked(walk, "loop"))
    assert any("tanh(" in text for text in marked(walk, "cuda"))
    walk.hover("h1")
    assert marked(walk, "loop") == []


@pytest.mark.parametrize("pane", ["array", "loop", "cuda"])
def test_and_back(walk, pane):
    line = walk.locator(f'#{pane} .line:not([data-places=""])').filter(has_text="sqrt(").first
    line.locator("code").hover()
    assert marked(walk, "source") == ["x = x / np.sqrt(np.sum(x**2))"]


def test_a_click_pins_a_line_and_names_it_in_the_address(walk):
    line = line_of(walk, "source", "x = x /")
    walk.click(f"#{line} code")
    walk.locator("#source .pinned").wait_for()
    assert walk.url.endswith(f"#{line}")
    walk.hover("h1")
    assert marked(walk, "source", "pinned") == ["x = x / np.sqrt(np.sum(x**2))"]
    assert marked(walk, "array")
    assert walk.locator(f"#{line} [aria-current=true]").count() == 1
    assert "in Array form" in walk.locator("#status").text_content()
    walk.keyboard.press("Escape")
    assert marked(walk, "source", "pinned") == marked(walk, "array") == []
    assert "#" not in walk.url


def test_what_is_pinned_stays_lit_when_the_page_scrolls_under_the_pointer(opened):
    """A small window: the browser scrolls to the line of the address, and others come to lie under
    a pointer that rests. One that moves, or turns the wheel, lights what is below it."""
    window = {"width": 900, "height": 300}
    tab = opened("walk", "--transform", "jit(grad)", "--args", HERE, viewport=window)
    line = line_of(tab, "source", "x = np.tanh")
    tab.locator(f"#{line} code").click()
    tab.locator(".pinned").wait_for()
    lit = marked(tab, "array")
    assert any("np.tanh" in text for text in lit)
    tab.evaluate("window.scrollBy(0, 400)")
    tab.wait_for_timeout(300)
    assert marked(tab, "array") == lit
    other = line_of(tab, "array", "import numpy")
    tab.locator(f"#{other} code").hover()
    assert marked(tab, "array") == ["import numpy as np"]
    tab.mouse.move(2, 2)
    assert marked(tab, "array") == lit


def test_a_link_leads_to_a_line(opened):
    tab = opened("walk", "--transform", "jit(grad)", "--args", HERE, anchor="#source-L6")
    assert marked(tab, "source", "pinned") == ["x = np.tanh(w @ x)"]
    assert tab.evaluate("document.activeElement.getAttribute('href')") == "#source-L6"
    for pane in ("array", "loop", "cuda"):
        lit = tab.locator(f"#{pane} .line.lit").filter(has_text="tanh(").first
        assert lit.evaluate(
            "(line) => { const list = line.parentElement.getBoundingClientRect();"
            "const box = line.getBoundingClientRect();"
            "return list.top <= box.top && box.top < list.bottom; }"
        )


def test_keys_go_along_lines_and_across_listings(walk):
    focused = "document.activeElement.getAttribute('href')"
    walk.locator("#source .number").first.focus()
    for _ in range(2):
        walk.keyboard.press("ArrowDown")
    assert walk.evaluate(focused) == "#source-L6"
    assert "x = np.tanh(w @ x)  # line 6" in marked(walk, "array")
    walk.keyboard.press("ArrowRight")
    assert walk.evaluate(focused) == f"#{line_of(walk, 'array', 'x = np.tanh(w @ x)')}"
    walk.keyboard.press("ArrowRight")
    assert walk.evaluate(focused).startswith("#loop-L")
    walk.keyboard.press("Enter")
    walk.locator("#loop .pinned").wait_for()
    assert walk.evaluate("location.hash").startswith("#loop-L")
    walk.keyboard.press("Escape")
    walk.keyboard.press("Tab")
    assert walk.evaluate(focused).startswith("#cuda-L")


# -- sizes


def test_numbers_at_other_sizes_are_those_of_a_call_of_them(opened, walk):
    other = opened("walk", "--transform", "jit(grad)", "--args", THERE)
    before = numbers_of(walk)
    assert before != numbers_of(other)
    set_sizes(walk, 700, 31)
    assert numbers_of(walk) == numbers_of(other)
    assert "float64[700, 700]" in walk.locator(".arguments").text_content()
    assert "saves x_saved: float64[31, 700], 174 kB" in texts(walk, "li.saved")
    walk.get_by_role("button", name="Sizes of the call").click()
    assert numbers_of(walk) == before
    assert walk.locator("#size-0").input_value() == "100"


@pytest.mark.parametrize(
    ("function", "transform", "here", "there", "sizes"),
    [
        ("shifted", "grad", "f8[10], f8[9]", "f8[1001], f8[1000]", (1001,)),
        ("shifted", "jit", "f8[10], f8[9]", "f8[1001], f8[1000]", (1001,)),
        ("shifted", "vmap(grad)", "f8[3,10], f8[3,9]", "f8[7,101], f8[7,100]", (7, 101)),
        ("shifted", "jit(vmap(grad))", "f8[3,10], f8[3,9]", "f8[7,101], f8[7,100]", (7, 101)),
        ("walk", "jit", HERE, "f8[100], f8[100,100], i8=0", (100, 0)),
        ("bits", "jit", "f8[10], i8=6", "f8[30], i8=12", (30, 12)),
    ],
)
def test_of_all_transformations(opened, function, transform, here, there, sizes):
    tab = opened(function, "--transform", transform, "--args", here)
    other = opened(function, "--transform", transform, "--args", there)
    set_sizes(tab, *sizes)
    assert numbers_of(tab) == numbers_of(other)


def test_sliders_are_moved_by_keys_and_tell_their_size(walk):
    slider = walk.get_by_role("slider", name="x.shape[0], w.shape[0], w.shape[1]")
    assert slider.get_attribute("aria-valuetext") == "100"
    slider.focus()
    walk.keyboard.press("ArrowRight")
    larger = int(slider.get_attribute("aria-valuetext"))
    assert 100 < larger < 115
    assert walk.locator("#size-0").input_value() == str(larger)
    assert f"float64[{larger}]" in walk.locator(".arguments").text_content()
    assert "operations" in walk.locator("#status").text_content()
    walk.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "2"
    walk.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "1000000"


def test_what_no_longer_holds_is_said(opened, walk):
    told = walk.locator("#requirements")
    assert told.text_content() == ""
    set_sizes(walk, 9000, 20)
    assert "as this does not hold: 8192 >= x.shape[0]" in told.text_content()
    set_sizes(walk, 8000, 20)
    assert told.text_content() == ""
    set_sizes(walk, 1, 20)  # code for one element is another one: the field refuses it
    assert walk.locator("#size-0:invalid").count() == 1
    assert "float64[8000]" in walk.locator(".arguments").text_content()


def test_numbers_that_are_not_known_at_other_sizes_are_not_shown(opened):
    tab = opened("nextafter_passes", "--transform", "jit", "--args", "f8[10], i8=6")
    assert "?" not in texts(tab, ".totals dd")
    for field in tab.get_by_role("spinbutton").all():
        field.fill("12")
    assert texts(tab, ".totals dd")[0] == "?"


def test_operators_are_those_of_python(walk):
    generator = random.Random(1)
    names = walk.evaluate("Object.keys(operators)")
    assert set(OPERATORS) < set(names)
    wanted, asked = [], []
    for name in names:
        for _ in range(60):
            three = name in ("passes", "middle")
            count = 3 if three else 1 if name in ("log2",) else None
            if count is None:
                ufunc = getattr(np, name, None)
                count = ufunc.nin if isinstance(ufunc, np.ufunc) and name not in OPERATORS else 2
            numbers = [generator.randint(-9, 9) for _ in range(count)]
            if "shift" in name or name == "log2" or (name == "power"):
                numbers = [abs(x) + 1 for x in numbers]
            asked.append((name, numbers))
            wanted.append(
                OPERATORS[name](*numbers)
                if name in OPERATORS
                else of_ufunc(getattr(np, name), numbers)
            )
    got = walk.evaluate("(asked) => asked.map(([name, x]) => operators[name](...x))", asked)
    for call, number, result in zip(asked, got, wanted, strict=True):
        same = number == result or (result and math.isclose(number, result, rel_tol=1e-14))
        assert same, (call, number, result)


def test_texts_of_numbers_are_those_of_python(walk):
    generator = random.Random(2)
    numbers = [0, 0.5, 999.5, 1000, 1125, 999_499, 999_500, 1.25e15, 3e17]
    numbers += [generator.randint(0, 10 ** generator.randint(1, 15)) for _ in range(500)]
    got = walk.evaluate("(numbers) => numbers.map((x) => [counted(x), inBytes(x)])", numbers)
    assert got == [[short_number(x), in_bytes(x)] for x in numbers]


# -- times


def test_times_stand_beside_lines(opened):
    tab = opened("walk", "--transform", "jit(grad)", "--args", HERE, "--profile")
    assert tab.locator("#array .took").count() > 10
    kernels = tab.locator("#loop .line:has(.took) code").all_text_contents()
    assert any(text.strip().startswith("walk_grad_kernel(") for text in kernels)
    chips = texts(tab, "#source-L6 .took")
    assert chips[-1].endswith("together with lines 5, 7, 8")
    assert "time.perf_counter" in tab.locator("details").all_text_contents()[-1]
    before = texts(tab, ".took")
    set_sizes(tab, 200, 3)
    assert texts(tab, ".took") == before
    plain = opened("walk", "--transform", "grad", "--args", HERE, "--profile")
    assert texts(plain, "#source-L6 .took")[0].endswith("us")


# -- readers


LEGIBLE = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (c) => c.slice(0, 3).map((x) => x / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, k) => sum + x * [0.2126, 0.7152, 0.0722][k], 0);
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest(".spoken")) continue;
    let around = element;
    while (around && (rgb(getComputedStyle(around).backgroundColor)[3] ?? 1) === 0) {
      around = around.parentElement;
    }
    const [a, b] = [
      light(rgb(getComputedStyle(element).color)),
      light(rgb(getComputedStyle(around ?? document.body).backgroundColor)),
    ].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push([element.outerHTML.slice(0, 90), contrast]);
  }
  return faint;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(opened, scheme):
    """Text of this size is legible from a contrast of 4.5 on (WCAG 2.2, 1.4.3)."""
    options = ("--transform", "jit(grad)", "--args", HERE, "--profile")
    tab = opened("walk", *options, color_scheme=scheme, anchor="#source-L6")
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    levels = [int(x) for x in ground.removeprefix("rgb(").removesuffix(")").split(",")]
    assert (sum(levels) > 600) == (scheme == "light")
    assert tab.evaluate(LEGIBLE) == []
    set_sizes(tab, 9000, 3)
    assert tab.locator("#requirements").text_content()
    assert tab.evaluate(LEGIBLE) == []


def test_at_400_per_cent_nothing_is_cut_off(opened):
    """A window of 1280 pixels at 400 % is one of 320 (WCAG 2.2, 1.4.10)."""
    options = ("--transform", "jit(grad)", "--args", HERE, "--profile")
    tab = opened("walk", *options, viewport={"width": 320, "height": 256})
    wide = tab.evaluate(
        "[...document.querySelectorAll('body, main *, header *, .sizes *')].filter((x) =>"
        "!x.closest('.flame') && x.scrollWidth > x.clientWidth + 1 && x.clientWidth > 0)"
        ".map((x) => x.outerHTML.slice(0, 100))"
    )
    assert wide == []
    assert tab.evaluate("document.documentElement.scrollWidth") == 320


def test_screen_readers_get_names(walk):
    assert walk.get_by_role("heading", level=1).text_content().startswith("jit of d walk / d x")
    regions = {"Sizes", "Your source, walks.py", "Array form", "Loop form", "CUDA C"}
    for name in regions:
        assert walk.get_by_role("region", name=name, exact=True).count() == 1
    for kind in ("slider", "spinbutton"):
        names = [x.get_attribute("aria-label") for x in walk.get_by_role(kind).all()]
        assert len(names) == 2
    assert walk.get_by_role("spinbutton", name="n", exact=True).input_value() == "20"
    assert walk.get_by_role("list", name="about line 6").count() == 1
    assert walk.get_by_role("link", name="line 6", exact=True).count() >= 1


def test_without_scripts_the_page_is_read_all_the_same(opened):
    tab = opened("walk", "--transform", "jit(grad)", "--args", HERE, java_script_enabled=False)
    assert not tab.locator(".sizes").is_visible()
    assert tab.locator("#source-L6 li.cost").first.is_visible()
    assert json.loads(tab.locator("#formulas").text_content())["sizes"][0]["value"] == 100
