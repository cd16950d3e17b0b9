"""The page about several methods."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.baselines import Comparison
from hsiclasso.baselines.comparison import Outcome
from hsiclasso.errors import InvalidInputError
from hsiclasso.report import Asked, make_comparison, write_comparison
from tests.report.helpers import Page

BAD = "<script>alert(1)</script>"
FOUND = Comparison(
    (
        Outcome("a", "First", ("lab2", BAD), (2, 7), (0.5, 0.1), 0.25, 0.125),
        Outcome("b", "Second", ("lab3", "lab2"), (3, 2), (0.5, 0.1), 1.5),
        Outcome("c", "Third", skipped=f"y is text: {BAD}"),
    ),
    90,
    9,
    2,
)


def test_has_votes_ranks_and_reasons():
    page = Page(make_comparison(FOUND, asked=Asked("t.csv", ("risk",), "hsiclasso compare", 0)))
    assert page.column("feature") == ["lab2", "lab3", BAD]
    assert page.column("votes") == [2, 1, 1]
    assert page.column("First") == [1, None, 2]
    assert page.column("Second") == [2, 1, None]
    assert "Third left out: y is text" in page.sections["methods"]
    assert "Most votes, 2 of 2: lab2." in page.sections["found"]
    assert "First and Second (0.33)" in page.sections["agreement"]
    assert "hsiclasso compare" in page.sections["asked"]
    assert page.text.count("<script") == 2


def test_of_one_method_there_is_no_agreement():
    page = Page(make_comparison(Comparison(FOUND.outcomes[:1], 90, 9, 2)))
    assert "agreement" not in page.sections
    nothing = Comparison((Outcome("a", "First"),), 90, 9, 2)
    assert "Together they select 0." in Page(make_comparison(nothing)).sections["found"]


def test_many_features_with_most_votes_are_counted():
    names = tuple(f"x{j}" for j in range(8))
    found = Comparison((Outcome("a", "A", names, tuple(range(8)), (1.0,) * 8),), 90, 9, 8)
    page = Page(make_comparison(found))
    assert "x4 and 3 more." in page.sections["found"]
    assert len(page.rows) == np.size(names)


def test_only_pages_are_written(tmp_path):
    write_comparison(FOUND, tmp_path / "methods.html")
    with pytest.raises(InvalidInputError, match=r"use \.html"):
        write_comparison(FOUND, tmp_path / "methods.csv")
