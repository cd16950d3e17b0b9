"""The page on reliability says what the records say."""

from __future__ import annotations

from reliability import page, records


def test_the_page_is_that_of_the_records():
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_every_record_has_a_section():
    kept = {file.stem for file in records.RESULTS.glob("*.json")}
    assert {"fuzz", "faults", "cpus", "load"} <= kept <= set(page._SECTIONS)
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
