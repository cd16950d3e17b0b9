"""The pages: their code prints what they show, numbers are those measured, the site builds."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import types
import zlib
from pathlib import Path

import pytest

pytest.importorskip("click")
from docs import measured
from docs.run import PAGES, Page, check_options, differences

ROOT = Path(__file__).parents[1]
#: Modules whose public names are in the reference.
MODULES = (
    "hsiclasso", "hsiclasso.baselines", "hsiclasso.compat", "hsiclasso.data", "hsiclasso.errors",
    "hsiclasso.evaluation", "hsiclasso.inference", "hsiclasso.kernels", "hsiclasso.plots",
    "hsiclasso.report", "hsiclasso.selectors", "hsiclasso.solvers", "hsiclasso.targets",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_backend(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_shows_what_its_code_does(path, tmp_path):
    """If it fails after a change that is wanted: ``python -m docs.run PAGE``, and read the page."""
    page = Page(path)
    if page.absent:
        pytest.skip(f"{', '.join(page.absent)} absent: set HSICLASSO_DATA to the folder")
    made = page.run(tmp_path)
    assert differences(page.text, made) == []
    for name, committed in page.pictures.items():
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
        assert committed.is_file(), f"python -m docs.run {path} makes it"


def test_a_page_on_real_data_says_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setenv("HSICLASSO_DATA", str(tmp_path))
    page = Page("docs/walkthroughs.md")
    assert page.absent == list(page.data) != []
    for name in page.absent:
        (tmp_path / "part").mkdir(exist_ok=True)
        (tmp_path / "part" / name).touch()
    assert page.absent == []
    assert Page("docs/start.md").data == {}


def test_every_picture_is_shown():
    shown = {place.resolve() for path in PAGES for place in Page(path).pictures.values()}
    assert shown == set((ROOT / "docs" / "images").iterdir())


def test_options_that_do_not_exist_are_noticed():
    check_options(["select", "a.csv", "--target", "y", "-k", "3"])
    with pytest.raises(Exception, match="--no-such"):
        check_options(["select", "a.csv", "--no-such"])


def test_printed_numbers_may_differ_by_rounding_only():
    assert differences("a 1.000  x\n", "a 1.001 x\n") == []
    assert differences("a 1.00 x\n", "a 1.10 x\n") == ["'a 1.00 x' is now 'a 1.10 x'"]
    assert differences("a 1 x\n", "b 1 x\n") == ["'a 1 x' is now 'b 1 x'"]
    assert differences("a\n", "a\nb\n")[-1] == "+b"


def test_measured_numbers_are_those_of_the_pages_of_results():
    """If this fails after new measurements: ``python -m docs.measured``."""
    page = measured.PAGE.read_text(encoding="utf-8")
    assert measured.filled(page) == page
    assert page.count("|") > 100


def test_the_site_builds_without_warnings_and_is_complete(tmp_path):
    """In a process of its own. One test, so that several workers do not build it several times."""
    pytest.importorskip("furo")
    words = ["-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs"]
    words += ["-D", "toc_object_entries=0", "-d"]  # no methods in the margin: a fifth of the time
    done = subprocess.run(
        [sys.executable, *words, str(tmp_path / "doctrees"), ".", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONWARNINGS": "default"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert (site / "index.html").is_file()
    assert names_without_reference(site / "objects.inv") == []
    pages = {file: file.read_text(encoding="utf-8") for file in site.rglob("*.html")}
    options = pages[site / "docs" / "commands.html"]
    assert 'id="cmdoption-hsiclasso-select-t"' in options

    # a page loads nothing from elsewhere
    remote = r'<(?:script|img|link)[^>]*(?:src|href)="(?:https?:)?//'
    assert [file for file, text in pages.items() if re.search(remote, text)] == []

    # a command that the converter does not know stays in a formula as it is
    formulas = [found for text in pages.values() for found in formulas_of(text)]
    assert len(formulas) > 300
    assert [text for text in formulas if "\\" in text] == []


def names_without_reference(inventory):
    """Return the public names that no page of `docs/api` documents, under any of their modules."""
    packed = inventory.read_bytes().split(b"\n", 4)[-1]  # below four lines of comments
    entries = [line.split() for line in zlib.decompress(packed).decode().splitlines()]
    documented = {name for name, kind, *_ in entries if kind.startswith("py:")}
    objects = {id(value) for name in documented for value in object_of(name)}
    public = [
        (f"{module}.{name}", value)
        for module in MODULES
        for name, value in public_of(importlib.import_module(module))
        if not isinstance(value, types.GenericAlias)  # Sphinx cannot read tuple[...]
    ]
    assert len(public) > 150
    return [name for name, value in public if name not in documented and id(value) not in objects]


def public_of(module):
    """Return the names of `__all__` and what they stand for."""
    return [(name, getattr(module, name)) for name in module.__all__ if name != "__version__"]


def object_of(name):
    """Return what a dotted name stands for, if it is one of a module's."""
    module, _, last = name.rpartition(".")
    return [getattr(importlib.import_module(module), last)] if module in MODULES else []


def formulas_of(text):
    """Return the formulas of a page, without their tags."""
    found = re.findall("<math.*?</math>", text, flags=re.DOTALL)
    return [re.sub("<[^>]*>", " ", formula) for formula in found]
