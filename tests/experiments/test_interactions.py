"""The study of interactions: designs, what is counted, and the tables of the page."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import interactions
from experiments.command import RESULTS
from experiments.interactions import (
    DESIGNS,
    PAGE,
    STUDIES,
    TEST_DESIGNS,
    Design,
    blocks_of,
    features_of,
    first_columns,
    main,
    relevant_columns,
)
from experiments.markdown import fill, marks
from experiments.runner import Request, tasks_of
from experiments.tidy import Task, TidyFile
from hsiclasso import HSICLasso


@pytest.mark.parametrize("designs", [DESIGNS, TEST_DESIGNS], ids=["terms", "tests"])
def test_only_the_terms_of_a_design_change_its_target(designs):
    for name, design in designs.items():
        n, d = design.sizes[0]
        rng = np.random.default_rng(0)
        X = design.table(rng.standard_normal((n, d)))
        causes = {column for term in design.terms for column in term}
        for column in [*causes, d - 1, 60]:
            other = X.copy()
            other[:, column] = rng.permutation(other[:, column])
            changed = bool((design.signal(other) != design.signal(X)).any())
            assert changed == (column in causes), (name, column)


def test_terms_follow_their_columns_when_these_are_shuffled():
    design = Design(lambda X: X[:, 0] * X[:, 2], ((0, 2),), 1, ((50, 8),), noise=0.0)
    X, y, ((first, second),) = design.draw(50, 8, 3)
    np.testing.assert_allclose(y, X[:, first] * X[:, second])
    assert first < second


def test_features_are_told_by_their_columns():
    X = np.random.default_rng(0).standard_normal((150, 12))
    fitted = HSICLasso(1, interactions="all").fit(X, X[:, 10] * X[:, 2])
    assert features_of(fitted) == [(2, 10)]
    assert first_columns([(2, 10), (3,), (2, 5)], 4).tolist() == [2, 10, 3, 5]
    assert first_columns([(2, 10), (3,)], 2).tolist() == [2, 10]


def test_columns_that_resemble_others():
    X = np.random.default_rng(0).standard_normal((500, 6))
    X[:, 4] = X[:, 1] + 0.5 * X[:, 4]
    assert relevant_columns(X).tolist() == [1, 4]


@pytest.mark.parametrize(
    ("study", "data", "method", "metrics"),
    [
        ("terms", "exclusive or", "normalised HSIC Lasso", {"right", "complete"}),
        ("terms", "lines", "HSIC Lasso", {"right", "complete"}),
        ("tests", "two products", "tests of pairs", {"fdp", "found", "pairs"}),
    ],
)
def test_a_task(study, data, method, metrics, tmp_path):
    rows = STUDIES[study].perform(Task(study, data, method, 200, 60, 0), tmp_path)
    assert {row.metric for row in rows} == metrics
    values = {row.metric: row.value for row in rows}
    assert values.get("right", 1) == 1
    assert values.get("pairs", 2) == 2


def test_every_study_has_tasks(tmp_path, capsys):
    request = Request(1, None, None, tmp_path)
    assert len(tasks_of(STUDIES["terms"], request)) == 4 * sum(
        len(d.sizes) for d in DESIGNS.values()
    )
    assert len(tasks_of(STUDIES["tests"], request)) == sum(
        len(d.sizes) for d in TEST_DESIGNS.values()
    )
    assert not tasks_of(STUDIES["madelon"], request)
    assert "madelon is left out" in capsys.readouterr().err


def test_the_page_gets_the_tables(tmp_path, monkeypatch):
    small = {"exclusive or": Design(DESIGNS["exclusive or"].signal, ((0, 1),), 1, ((200, 10),))}
    monkeypatch.setattr(interactions, "DESIGNS", small)
    page = tmp_path / "page.md"
    names = blocks_of(TidyFile(tmp_path / "none"))
    page.write_text("".join("\n".join(marks(name)) + "\n" for name in names))
    arguments = ["terms", "--runs", "2", "--jobs", "1", "--out", str(tmp_path), "--page", str(page)]
    assert main(arguments) == 0
    assert "| exclusive or, 200 x 10 | first | 1.00 (.00) |" in page.read_text()


def test_the_page_is_the_one_of_the_results(tmp_path):
    copy = tmp_path / PAGE.name
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    fill(copy, blocks_of(TidyFile(RESULTS / "interactions.csv.gz")))
    assert copy.read_text() == PAGE.read_text(), "run python -m experiments.interactions"
