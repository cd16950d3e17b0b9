"""Designs with known causes, how discoveries are counted, and the page of the study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import error_control
from experiments.command import RESULTS
from experiments.designs import DESIGNS, counted
from experiments.error_control import (
    METHODS,
    OWN,
    PAGE,
    SINGLE,
    STUDY,
    blocks_of,
    lines_of,
)
from experiments.error_rivals import RIVALS, Rival
from experiments.runner import Request, tasks_of
from experiments.tidy import COLUMNS, Task, TidyFile


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_say_which_features_carry_a_cause(name):
    draw = DESIGNS[name](60, 100, np.random.default_rng(0))
    assert draw.X.shape == (60, 100)
    assert draw.y.shape == (60,)
    assert draw.origin.shape == (100,)
    assert ("null" in name) == bool((draw.origin < 0).all())
    again = DESIGNS[name](60, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(draw.X, again.X)


def test_copies_and_false_clusters_are_counted():
    origin = np.array([0, 0, 1, -1, -1])
    found = counted(origin, [[0], [1], [2, 3], [4]])
    assert (found.distinct, found.copies, found.false) == (2, 1, 1)
    assert found.fdp == 0.5
    assert counted(origin, []).fdp == 0.0


def test_a_task_counts_what_is_found(tmp_path):
    rows = STUDY.perform(Task(STUDY.name, "Data1", "HSIC Lasso", 200, 500, 0), tmp_path)
    values = {row.metric: row.value for row in rows}
    assert set(values) == {"distinct", "copies", "false", "fdp"}
    assert values["distinct"] >= 2
    assert rows[0].seed >= error_control.FIRST_SEED


def test_the_page_is_the_one_of_the_results():
    page = PAGE.read_text(encoding="utf-8")
    for block in blocks_of(TidyFile(RESULTS / "error_control.csv.gz")).values():
        assert block.strip() in page


def test_only_some_sizes_and_designs():
    request = Request(2, None, None, RESULTS, ((200, 500),))
    tasks = tasks_of(STUDY, request)
    assert {(task.n, task.d) for task in tasks} == {(200, 500)}
    assert {task.data for task in tasks} == set(DESIGNS)
    others = {task.data for task in tasks if task.method in RIVALS}
    assert others <= {"null", "copies", "AR(.7) chain"}
    large = tasks_of(STUDY, replace(request, sizes=((200, 5000),)))
    assert {task.method for task in large} == {*OWN, SINGLE}


def test_a_rival_without_its_package_is_left_out(monkeypatch, capsys):
    monkeypatch.setitem(METHODS, "Boruta", replace(METHODS["Boruta"], find=Rival(None, "absent")))
    tasks = tasks_of(STUDY, Request(1, ("Boruta",), None, RESULTS))
    assert not tasks
    assert "the package absent is not installed" in capsys.readouterr().err


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_select_columns(name):
    pytest.importorskip(RIVALS[name].package)
    draw = DESIGNS["null"](60, 20, np.random.default_rng(0))
    found = RIVALS[name](draw)
    assert all(0 <= column < 20 for (column,) in found)


def test_a_broken_bound_is_named():
    rows = [
        (STUDY.name, "copies", "HSIC Lasso", 500, 500, run, 0, 0, metric, value)
        for run, wrong in enumerate((0.3, 0.4, 0.5))
        for metric, value in (("fdp", wrong), ("distinct", 4), ("copies", 1), ("false", 0))
    ]
    lines = lines_of(pd.DataFrame(rows, columns=list(COLUMNS)))
    assert lines[-2].endswith("standard errors: HSIC Lasso on copies, 500 x 500.")
    assert lines[-1].endswith("nothing else: HSIC Lasso 0 of 3.")
