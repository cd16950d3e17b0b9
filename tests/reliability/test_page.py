"""The page on reliability says what the records say."""

from __future__ import annotations

import pytest

pytest.importorskip("resource")

from reliability import mutants, page, records


def test_the_page_is_that_of_the_records():
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_every_record_has_a_section():
    kept = {file.stem for file in records.RESULTS.glob("*.json")}
    assert {"fuzz", "faults", "cpus", "load", "mutants"} <= kept <= set(page._SECTIONS)
    for name in kept:
        assert records.load(name)["on"]["numpy"]


def test_a_record_decides_what_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    answers = {"csv": {"read": 3, "refused": 4, "foreign": 2}}
    record = {"seed": 1, "minutes": 0.1, "answers": answers, "slowest_seconds": 0.5}
    records.save("fuzz", {**record, "defects": {"csv: KeyError at text.py:3": 2}})
    text = page.page()
    assert "| csv | 9 | 3 | 4 | 2 |" in text
    assert "KeyError at text.py:3: 2" in text
    assert "## Load" not in text


def test_every_mutant_that_survived_is_killed_since_or_explained():
    record = records.load("mutants")
    survivors = [
        name
        for one in record["samples"]
        for found in one["stations"].values()
        for name in found["survivors"]
    ]
    known = [*record["killed_since"], *record["explained"]]
    assert sorted(survivors) == sorted(known)
    for test in record["killed_since"].values():
        assert (records.ROOT / test).exists()


def test_samples_of_mutants_are_added_up(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    for seed, killed in ((0, 9), (3, 4), (3, 5)):
        found = {"mutants": 10, "killed_by": {"file": killed}, "survivors": [f"m{seed}"]}
        mutants.record({"seed": seed, "minutes": 1, "stations": {"solvers": found}})
    records.save("mutants", records.load("mutants") | {"killed_since": {"m0": "x"}})
    text = page.page()
    assert "with the seeds 0 and 3," in text
    assert "| solvers | 20 | 14 (70%) | 1 | 0 | 5 | 75% |" in text
