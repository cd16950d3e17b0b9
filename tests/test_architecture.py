"""Imports point one way: from the command line down to the data, never back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hsiclasso

ROOT = Path(hsiclasso.__file__).parent
#: What each part of the package may import of the package, beside errors and types.
ALLOWED = {
    "errors": set(),
    "_types": set(),
    "_compile": set(),
    "_checks": set(),
    "data": set(),
    "embedding": {"data"},
    "dependence": {"embedding", "data"},
    "solvers": set(),
    "selectors": {"dependence", "embedding", "data", "solvers"},
    "evaluation": {"data"},
    "baselines": {"selectors", "dependence", "embedding", "data", "solvers"},
    "plots": {"baselines", "selectors", "solvers", "data"},
    "cli": {"plots", "baselines", "selectors", "solvers", "dependence", "embedding", "data"},
    "__init__": {"selectors", "dependence", "embedding", "data"},
}


def part_of(file):
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
            if node.module == "hsiclasso":
                names = [f"hsiclasso.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("hsiclasso."):
                yield name.split(".")[1]


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda f: str(f.relative_to(ROOT)))
def test_imports_point_one_way(file):
    part = part_of(file)
    allowed = ALLOWED[part] | {part, "errors", "_types", "_compile", "_checks", "__version__"}
    assert set(imported_parts(file)) <= allowed


def test_no_relative_imports():
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), file


def test_tests_mirror_the_source():
    """Every folder of the package has a folder of tests."""
    tests = Path(__file__).parent
    for folder in ROOT.iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert any((tests / folder.name).glob("test_*.py")), folder.name
