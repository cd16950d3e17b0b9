"""``hsiclasso select --stability``: how often half-samples select each feature."""

from __future__ import annotations

import csv
import json

import pytest

pytest.importorskip("click")

from hsiclasso import StabilitySelection, with_frequencies
from hsiclasso.data.files import read_table
from hsiclasso.selectors.estimators import with_target_names
from tests.cli.helpers import drop, fail, select, selector, succeed

BASIC = ("-t", "risk", *drop("risk"), "-k", 3)


def test_frequencies_are_those_of_stability_selection(table):
    read = read_table(table, ["risk"], drop=drop("risk")[1::2])
    model = selector("-t", "risk", "-k", 3)
    stable = StabilitySelection(model, n_pairs=6, random_state=0).fit(read.source, read.y)
    found = with_target_names(model.fit(read.source, read.y).result_, read.target_names)
    expected = with_frequencies(found, stable.result_)
    document = select(table, *BASIC, "--stability", 12)
    assert document == json.loads(expected.to_json())
    assert max(feature["frequency"] for feature in document["features"]) > 0.5
    assert all(feature["frequency"] is None for feature in select(table, *BASIC)["features"])


def test_the_number_for_each_half_is_that_of_the_selection(table):
    document = select(table, "-t", "risk", *drop("risk"), "--alpha", "ratio:0.3", "--stability", 8)
    assert all(0 <= feature["frequency"] <= 1 for feature in document["features"])


def test_the_table_has_a_column_and_a_line(table, tmp_path):
    printed = succeed(
        "select", table, *BASIC, "--stability", 12, "--out", tmp_path / "a.csv"
    ).output
    assert "frequency" in printed
    assert "of 12 half-samples" in printed
    assert "false selections are expected" in " ".join(printed.split())
    assert "frequency" not in succeed("select", table, *BASIC).output
    with (tmp_path / "a.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert all(0 <= float(row["frequency"]) <= 1 for row in rows)


@pytest.mark.parametrize("number", [2, 7])
def test_half_samples_come_in_pairs(table, number):
    message = fail("select", table, *BASIC, "--stability", number)
    assert f"--stability {number} must be an even number" in message
