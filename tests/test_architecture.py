"""Imports point one way: from the command line down to the data, never back."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import hsiclasso
from hsiclasso import HSICLasso, make_data1
from hsiclasso.dependence import _grid_loops

ROOT = Path(hsiclasso.__file__).parent
TESTS = Path(__file__).parent
#: What serves every part: options of objects, checks, errors, types, threads, compilation.
COMMON = {"_options", "_checks", "_blas", "_compile", "_display", "_memory", "_types", "errors",
          "__version__"}  # fmt: skip
#: What each station may import, beside itself and what serves all.
ALLOWED = {
    "data": set(),
    "kernels": set(),
    "targets": {"data", "kernels"},
    "dependence": {"data", "kernels", "targets"},
    "solvers": set(),
    "selectors": {"data", "kernels", "targets", "dependence", "solvers"},
    "evaluation": {"data"},
    "baselines": {"data", "kernels", "targets", "dependence", "solvers", "selectors"},
    "inference": {"data", "kernels", "targets", "dependence", "solvers", "selectors", "baselines"},
    "plots": {"data", "targets", "dependence", "solvers", "selectors", "baselines", "inference"},
    "report": {"data", "targets", "selectors", "baselines", "plots"},
    "cli": {"data", "kernels", "targets", "dependence", "solvers", "selectors", "baselines",
            "inference", "plots", "report", *hsiclasso.__all__},
    "compat": {"data", "kernels", "targets", "dependence", "solvers", "selectors", "baselines",
               "plots"},
    "__init__": {"data", "kernels", "targets", "selectors", "inference"},
    **{part: set() for part in COMMON},
}  # fmt: skip


def source_files():
    return sorted(ROOT.rglob("*.py"))


@cache
def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def part_of(file):
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(file):
    """Yield what a file imports, in full: also within functions and for types only."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_point_one_way():
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in source_files()
        for name in imports(file)
        if name.startswith("hsiclasso.")
        and name.split(".")[1] not in ALLOWED[part_of(file)] | COMMON | {part_of(file)}
    ]
    assert not wrong, "\n".join(wrong)


def test_every_part_has_its_place():
    assert {part_of(file) for file in source_files()} | {"__version__"} == set(ALLOWED)


def test_the_compiler_is_loaded_when_it_is_needed():
    """Numba takes half a second: compiled files are imported within the functions that run them."""
    at_top = {
        file: {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}
        | {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
        for file in source_files()
        for tree in [tree_of(file)]
    }
    compiled = {
        file
        for file, names in at_top.items()
        if "hsiclasso._compile" in names or any(name.split(".")[0] == "numba" for name in names)
    }
    assert all(file.stem.startswith("_") for file in compiled)
    modules = {
        ".".join(("hsiclasso", *f.relative_to(ROOT).with_suffix("").parts)) for f in compiled
    }
    wrong = {file for file, names in at_top.items() if names & modules} - compiled
    assert not wrong


def test_functions_take_few_parameters():
    """A constructor may take more: its parameters are keywords, which users choose from."""
    many = [
        f"{file.relative_to(ROOT)}: {node.name}"
        for file in source_files()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
        and len(node.args.args) + len(node.args.kwonlyargs) > 10
    ]  # fmt: skip
    assert not many, "\n".join(many)


def test_few_calls_from_fit_to_the_hot_loop(monkeypatch):
    """A reader who follows one column meets select, relate, scan, the runner and the pass."""
    met = []
    loop = _grid_loops.sum_on_grid

    def traced(*args):
        frame, names = sys._getframe(1), []
        while frame.f_code.co_name != "fit":
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        met.append(names)
        return loop(*args)

    monkeypatch.setattr(_grid_loops, "sum_on_grid", traced)
    X, y, _ = make_data1(300, 300, random_state=0)
    HSICLasso(2, n_jobs=1).fit(X, y)
    # one more for the call of the loop itself
    assert met
    assert max(map(len, met)) + 1 <= 6, met[0]


def test_tests_mirror_the_source():
    """Every station has a folder of tests, and every folder of tests a station."""
    stations = {file.parent.name for file in ROOT.glob("*/__init__.py")}
    tested = {file.parent.name for file in TESTS.glob("*/test_*.py")}
    assert stations <= tested
    assert tested - stations <= {"experiments", "benchmarks", "reliability"}
