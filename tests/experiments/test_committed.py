"""What stands in the repository: the page says what the results say."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from experiments.__main__ import OUT, PAGE, TARGETS
from experiments.page import write_page
from experiments.tidy import TidyFile


@pytest.fixture(scope="module")
def file():
    return TidyFile(OUT / "paper.csv.gz")


def test_the_page_is_the_one_of_the_results(file, tmp_path):
    copy = tmp_path / PAGE.name
    shutil.copy(PAGE, copy)
    write_page(file, copy)
    assert copy.read_text() == PAGE.read_text(), "run python -m experiments page"


def test_links_of_the_page_lead_somewhere():
    links = re.findall(r"\]\(((?!http)[^)#]+)\)", PAGE.read_text())
    assert len(links) > 8
    assert not [link for link in links if not (PAGE.parent / link).exists()]


def test_results_are_of_studies_that_exist_and_plausible(file):
    studies = {study.name: study for pairs in TARGETS.values() for study, _ in pairs}
    for name in {group[0] for group in file.task_seconds()}:
        frame = file.frame(name)
        assert set(frame["method"]) <= set(studies[name].methods)
        assert set(frame["data"]) <= set(studies[name].sets)
        assert np.isfinite(frame["value"]).all()
        share = frame["metric"].isin(["accuracy", "fraction", "lowest", "highest", "red"])
        assert frame.loc[share, "value"].between(0, 1).all()


@pytest.mark.parametrize("method", ["HSIC Lasso", "NOCCO Lasso"])
def test_every_split_of_table_3_is_there_for_the_papers_methods(file, method):
    frame = file.frame("tables")
    rows = frame[(frame["method"] == method) & (frame["metric"] == "accuracy")]
    assert (rows.groupby(["data", "m"])["run"].nunique() == 100).all()
