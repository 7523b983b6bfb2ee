"""Names say what they name: locals, classes, and operations, which passes compare as they are."""

import ast
import builtins
import collections
import functools
import keyword
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.every_case

ROOT = Path(__file__).parents[1]
FOLDERS = ("api", "transforms", "backends", "tools")
PATHS = {
    path.relative_to(ROOT).as_posix(): path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}
#: Words that say that something was computed, and not what it is.
SAY_NOTHING = frozenset({"made", "found", "one", "known", "left", "given"})
#: How many locals and parameters have such names.
MOST = {"api": 1, "backends": 0, "tools": 0, "transforms": 1}
#: Names of one word that say only that something was done, or where it is: `known`, `apart`, `of`.
PARTICLES = frozenset(
    re.findall(
        r"\w+",
        """
        above after again ahead alike alone along always anew another anywhere apart around aside at
        away back because before behind below beneath beside between beyond both but by chosen
        direct down drawn during each either else elsewhere enough ever every everything everywhere
        far few first flat for found given grown held here how idle inside into just kept known laid
        last later least left lent less like made many met more most much near neither never none
        nothing now of off on once one only other others otherwise out outside over per quite rather
        said same sent several shown since so some something soon spoilt spread still such taken
        than then there through throughout thrown thus to together told twice under unless unmet
        unset until up upon via when while whole whose why with within without worth written
        """,
    )
)
#: Verbs and nouns with the ending of a participle.
NO_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "seed", "shed", "speed"})
#: How many functions, methods and classes have such names, or those of participles: `joined`.
LONE = {"api": 14, "backends": 2, "tools": 0, "transforms": 15}
#: How often files compare the name of an operation with text. Kernels are called by their names.
COMPARISONS = {
    "transforms/c/driver.py": 1,
    "transforms/cuda/module.py": 2,
    "transforms/lowering/kernels/bounds_checks.py": 12,
    "transforms/lowering/kernels/element_access.py": 4,
    "transforms/lowering/kernels/hoisted_checks.py": 1,
    "transforms/lowering/kernels/lane_arrays.py": 2,
    "transforms/lowering/kernels/lanes.py": 2,
    "transforms/lowering/kernels/nests.py": 11,
    "transforms/lowering/kernels/reductions.py": 3,
    "transforms/lowering/kernels/row_range.py": 1,
    "transforms/lowering/kernels/size_expressions.py": 5,
    "transforms/lowering/kernels/stacks.py": 5,
    "transforms/lowering/partition.py": 2,
    "transforms/lowering/remove_copies.py": 1,
}
#: How many names of classes stand for classes in several modules.
CLASSES = 6

#: What modules do: the first words of their docstrings. A new verb is added, a noun is not.
VERBS = frozenset(
    re.findall(
        r"\w+",
        """
        adds advances aligns allocates analyses answers applies assigns assumes attributes batches
        binds bounds branches breaks brings builds caches calls captures carries casts checks
        chooses clamps collects colours combines compares compiles completes composes computes
        connects contracts converts convolves copies counts creates cuts decides decomposes defines
        derives describes differentiates dispatches distributes draws drops emits encodes enters
        estimates evaluates exchanges expresses extends extracts factorises filters finds fits
        flattens folds fuses gathers gives hands hoists holds implements imports infers inlines
        inserts integrates interleaves interpolates joins keeps knows launches leaves lets links
        lists loads looks loops lowers makes maps marks measures merges minimises models moves
        multiplies names notes numbers opens optimises orders outlines packs pads parses partitions
        passes pickles picks pools postpones prints privatises profiles propagates provides pushes
        puts raises reads recognises records reduces refuses registers reinterprets rematerialises
        remembers removes renames replaces reports represents resamples reshapes resizes resolves
        reuses rewrites rolls runs samples saves says scales selects serves shares shows simplifies
        sinks slices slides solves sorts spells splits stages stands starts steps stores stretches
        substitutes suggests sums swaps synchronises tabulates takes tells tests tiles times traces
        tracks transforms transposes turns undoes unpacks unrolls updates vectorises vectorizes
        verifies visits warns watches wraps writes
        """,
    )
)


@functools.cache
def _tree(path):
    return ast.parse(PATHS[path].read_text(encoding="utf-8"))


def _locals(tree):
    """The names that functions bind: `left` beside `right` says where something is."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bound = set(_bound_in(node))
            yield from bound - ({"left"} if "right" in bound else set())


def _bound_in(function):
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        pending.extend(ast.iter_child_nodes(node))


def _folder(path):
    return max((f for f in MOST if path.startswith(f"{f}/")), key=len)


@functools.cache
def _counts():
    counts = dict.fromkeys(MOST, 0)
    for path in PATHS:
        counts[_folder(path)] += sum(name in SAY_NOTHING for name in _locals(_tree(path)))
    return counts


@pytest.mark.parametrize("folder", MOST)
def test_locals_say_what_they_are(folder):
    assert _counts()[folder] <= MOST[folder]


def _is_lone_participle(name):
    word = name.strip("_")
    if name.startswith("__") or "_" in word:
        return False
    if name == f"{word}_" and (keyword.iskeyword(word) or hasattr(builtins, word)):
        return False  # `for_` is about the statement, `sorted_` about the function of Python
    ends = word.endswith("ed") and word not in NO_PARTICIPLES and len(word) > 4
    return word in PARTICLES or (ends and word == word.lower())


@functools.cache
def _lone_names():
    lone = collections.defaultdict(list)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for path in PATHS:
        folder = max((f for f in LONE if path.startswith(f"{f}/")), key=len)
        for node in ast.walk(_tree(path)):
            if isinstance(node, kinds) and _is_lone_participle(node.name):
                lone[folder].append(f"{path}:{node.lineno} {node.name}")
    return lone


@pytest.mark.parametrize("folder", LONE)
def test_definitions_say_what_they_do_or_return(folder):
    names = _lone_names()[folder]
    assert len(names) <= LONE[folder], names


def _names_of_operations(tree):
    """The comparisons, look-ups and matches of the name of an operation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            asked = [node.slice]
        elif isinstance(node, ast.Match):
            asked = [node.subject]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.args[:1] if node.func.attr == "get" else []
        else:
            continue
        yield from (node for each in asked if _is_name_of_operation(each))


def _is_name_of_operation(node):
    if not isinstance(node, ast.Attribute) or node.attr != "name":
        return False
    return getattr(node.value, "attr", getattr(node.value, "id", "")) == "op"


def test_passes_compare_operations_and_not_their_names():
    counts = {path: len([*_names_of_operations(_tree(path))]) for path in PATHS}
    more = {path: n for path, n in counts.items() if n > COMPARISONS.get(path, 0)}
    assert not more, "compare the operation itself, or give Op a field for what is asked"


def test_names_of_classes_have_one_meaning():
    modules = collections.defaultdict(list)
    for path in PATHS:
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(path)
    several = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert len(several) <= CLASSES, several


@pytest.mark.parametrize("path", PATHS)
def test_modules_say_what_they_do(path):
    verb, following = ast.get_docstring(_tree(path)).split()[:2]
    assert verb.strip(",").lower() in VERBS, "a docstring begins with a verb: `Finds loops ...`"
    assert following != "of" or verb in {"Says", "Tells"}, "`Names of ...`: a noun, not a verb"
