"""The five models, how a selection is judged, and the tables of the page."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import kfoci_models
from experiments.command import RESULTS
from experiments.kfoci_models import METHODS, MODELS, PAGE, STUDY, draw, judged, lines_of
from experiments.tidy import Task, TidyFile


@pytest.mark.parametrize("model", MODELS)
def test_only_three_features_matter(model):
    rng = np.random.default_rng(0)
    X, e, u = rng.standard_normal((50, 6)), rng.standard_normal(50), rng.uniform(size=50)
    y = MODELS[model](X, e, u)
    for column in range(6):
        other = X.copy()
        other[:, column] = rng.standard_normal(50)
        assert (MODELS[model](other, e, u) != y).any() == (column < 3)


def test_draws_are_seeded():
    for one, other in zip(draw("GAM", 10, 3), draw("GAM", 10, 3), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("selected", "expected"),
    [([2, 0, 1], (1, 1, 1, 3)), ([2, 5, 0, 1], (0, 1, 0, 4)), ([1, 0, 2, 9], (0, 1, 1, 4)),
     ([0, 1], (0, 0, 0, 2)), ([], (0, 0, 0, 0))],
)  # fmt: skip
def test_judging(selected, expected):
    assert tuple(value for _, value in judged(np.array(selected, dtype=int))) == expected


@pytest.mark.parametrize("method", ["KFOCI", "FOCI", "HSIC Lasso, BIC"])
def test_a_task(method, tmp_path):
    rows = STUDY.perform(Task(STUDY.name, "LM", method, 200, 10, 0), tmp_path)
    assert {row.metric for row in rows} == {"exact", "all", "first", "size"}
    assert rows[0].seed == kfoci_models.FIRST_SEED


def test_the_page_is_the_one_of_the_results():
    frame = TidyFile(RESULTS / "kfoci_models.csv.gz").frame(STUDY.name)
    assert set(frame["method"]) == set(METHODS)
    assert "\n".join(lines_of(frame)).strip() in PAGE.read_text(encoding="utf-8")
