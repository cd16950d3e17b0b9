"""The page on methods says what the classes declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from hsiclasso.baselines import METHODS, traits_of

ROOT = Path(__file__).parents[1]


def rows():
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    table = text.split("<!-- methods: begin -->")[1].split("<!-- methods: end -->")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: row[1:] for row in cells}


@pytest.mark.parametrize("name", list(METHODS))
def test_the_table_holds_what_a_method_declares(name):
    traits = traits_of(name)
    row = rows()[traits.title]
    form = "-" if traits.form == "none" else traits.form
    structured = "yes" if traits.structured else "no"
    assert row[:6] == [
        traits.dependency, traits.optimization, form, traits.scalability, structured, traits.cost,
    ]  # fmt: skip


@pytest.mark.parametrize("name", list(METHODS))
def test_the_table_holds_measurements_of_every_method(name):
    for cell in rows()[traits_of(name).title][6:]:
        share, _, seconds = cell.partition(" (")
        assert 0 <= float(share) <= 1
        assert float(seconds.rstrip(")")) > 0
