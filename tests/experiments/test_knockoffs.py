"""The study of knockoffs and of p-values after selection: designs, measures, tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import knockoffs
from experiments.command import RESULTS
from experiments.contenders import Contender
from experiments.knockoffs import (
    FIRST_SEED,
    KNOCKOFF_DESIGNS,
    LEVELS,
    METHODS,
    OWN,
    TEST_DESIGNS,
    TESTS,
    Design,
    KnockoffStudy,
    PostSelectionStudy,
    main,
    selected,
    share,
)
from experiments.markdown import fill
from experiments.tidy import Task, TidyFile


@pytest.mark.parametrize("name", [*KNOCKOFF_DESIGNS, *TEST_DESIGNS])
def test_designs(name, rng):
    design = (KNOCKOFF_DESIGNS | TEST_DESIGNS)[name]
    X, y, causal = design.draw(60, 50, rng)
    assert X.shape == (60, 50)
    assert y.shape == (60,)
    assert np.unique(causal).size == causal.size <= 20
    assert np.isfinite(X).all()
    assert set(design.methods) <= set(METHODS) | set(TESTS)


def test_a_chain_has_the_correlations_it_says(rng):
    X = knockoffs.chain(20_000, 4, rng)
    lags = np.abs(np.subtract.outer(range(4), range(4)))
    np.testing.assert_allclose(np.corrcoef(X.T), 0.5**lags, atol=0.05)
    X, _, causal = knockoffs.draw_copies(5000, 60, rng)
    similar = np.abs(np.corrcoef(X.T)) > 0.95
    np.testing.assert_array_equal(similar[causal].sum(axis=1), 2)


def test_false_and_true_discoveries_are_counted(tmp_path):
    def oracle(X, y, seed):
        """Statistics that find ten columns, whichever they are."""
        return np.concatenate([np.ones(10), np.zeros(40)])[None]

    def draw(n, d, rng):
        return np.zeros((n, d)), np.zeros(n), np.array([0, 1, 2, 3, 4, 5, 40, 41])

    study = KnockoffStudy(
        "knockoffs", {"own": Design(draw, ((20, 50),), (OWN,))}, {OWN: Contender(oracle)}, 1
    )
    (task,) = (task for task, _ in study.candidates(None))
    rows = study.perform(task, tmp_path)
    assert rows[0].seed >= FIRST_SEED
    values = {row.metric: row.value for row in rows}
    for q in LEVELS:
        assert values[f"fdp {q}"] == 0.4
        assert values[f"power {q}"] == 0.75
    several = np.concatenate([np.ones((3, 10)), np.zeros((3, 40))], axis=1)
    assert selected(several, 0.2).size == 10
    assert selected(several[:, 1:], 0.1).size == 0


def test_own_statistics_are_those_of_the_estimator(rng):
    X, y, _ = knockoffs.draw_linear(60, 25, rng)
    assert METHODS[knockoffs.DRAWS].rank(X, y, 3).shape == (5, 25)
    usual, equal = (METHODS[name].rank(X, y, 3) for name in (OWN, knockoffs.EQUAL))
    assert usual.shape == (1, 25)
    assert not np.array_equal(usual, equal)


def test_p_values_of_nulls_are_counted(tmp_path):
    study = PostSelectionStudy("post-selection", TEST_DESIGNS, {}, 1)
    task = Task("post-selection", "two causal", TESTS[0], 500, 20, 0)
    values = {row.metric: row.value for row in study.perform(task, tmp_path)}
    assert values["p <= 0.01"] <= values["p <= 0.05"] <= values["p <= 0.5"] <= values["nulls"]
    assert values["covered"] <= values["nulls"]
    assert values["power"] in (0, 0.5, 1)
    tasks = [task for task, _ in study.candidates(None)]
    assert all(task.n > 500 for task in tasks if "block" in task.method)


def test_the_standard_error_of_a_share_is_that_of_draws():
    """Draws whose p-values agree count once."""
    once = share(pd.Series([1.0, 0] * 50), pd.Series([1.0] * 100))
    assert once == ".500 (.050)"
    assert share(pd.Series([4.0, 0] * 50), pd.Series([4.0] * 100)) == once
    assert share(pd.Series([0.0]), pd.Series([0.0])) == "---"


def test_the_page_gets_the_tables(tmp_path, monkeypatch):
    def coin(X, y, seed):
        return np.random.default_rng(seed).standard_normal((1, X.shape[1]))

    small = {"null": Design(knockoffs.draw_null, ((20, 10),), (OWN,))}
    tests = {"null": Design(knockoffs.draw_independent, ((200, 10),), TESTS[:1])}
    monkeypatch.setattr(knockoffs, "KNOCKOFF_DESIGNS", small)
    monkeypatch.setattr(knockoffs, "TEST_DESIGNS", tests)
    command = replace(main, studies={
        "knockoffs": KnockoffStudy("knockoffs", small, {OWN: Contender(coin)}, 2),
        "post-selection": PostSelectionStudy(
            "post-selection", tests, {TESTS[0]: Contender(coin)}, 2
        ),
    })  # fmt: skip
    page = tmp_path / "page.md"
    marks = [f"<!-- {name}: {end} -->\n" for name in ("knockoffs", "post-selection")
             for end in ("begin", "end")]  # fmt: skip
    page.write_text("before\n" + "".join(marks))
    arguments = ["--jobs", "1", "--out", str(tmp_path), "--page", str(page)]
    assert command(arguments) == 0
    text = page.read_text()
    assert "| null, 20 x 10 | HSIC Lasso |" in text
    assert "| null, 200 x 10 | hsic, incomplete |" in text
    assert command(arguments) == 0  # nothing is done again
    assert page.read_text() == text


def test_the_page_is_the_one_of_the_results(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(knockoffs.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    fill(copy, knockoffs.blocks_of(TidyFile(RESULTS / "knockoffs.csv.gz")))
    assert copy.read_text() == knockoffs.PAGE.read_text(), "run python -m experiments.knockoffs"
