"""The study of stability selection: designs, what is counted, and the tables of the page."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.markdown import fill
from experiments.stability import (
    ALLOWED,
    DESIGNS,
    FIRST_SEED,
    RULES,
    SELECTED,
    STUDY,
    count,
    draw_chain,
    lines_of,
    main,
    stable_sets,
)
from experiments.tidy import Task, TidyFile
from hsiclasso import HSICLasso, StabilitySelection, make_copies
from hsiclasso.inference.bounds import false_selections


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_say_which_columns_are_causal(name):
    design = DESIGNS[name]
    X, y, origin = design.draw(60, 100, random_state=1)
    assert X.shape == (60, 100)
    assert y.shape == (60,)
    causal = np.unique(origin[origin >= 0])
    assert causal.size == (0 if name.startswith("null") else 3 if name == "Data2" else 4)
    assert (origin >= 0).sum() == (16 if name == "copies" else causal.size)


def test_neighbours_in_a_chain_are_correlated():
    X, _, _ = draw_chain(4000, 100, random_state=0)
    correlation = np.corrcoef(X.T)
    np.testing.assert_allclose(np.diag(correlation, 1), 0.7, atol=0.05)
    np.testing.assert_allclose(np.diag(correlation, 2), 0.49, atol=0.07)


def test_counting():
    origin = np.array([0, 0, 1, -1, -1, 2])
    assert count([[0], [1], [2, 3], [4]], origin) == (2, 1, 1)
    assert count([], origin) == (0, 0, 0)


def test_rules_differ_by_bound_and_by_clusters():
    X, y, origin = make_copies(150, 500, n_copies=2, random_state=0)
    selector = HSICLasso(SELECTED)
    result = StabilitySelection(selector, threshold=0.75, random_state=0).fit(X, y).result_
    by_rule = {rule: stable_sets(result, 500, rule) for rule in RULES}
    thresholds = {rule: threshold for rule, (_, threshold) in by_rule.items()}
    assert thresholds["r-concave"] < thresholds["unimodal"] < thresholds["none"]
    alone, threshold = by_rule["r-concave, no clusters"]
    assert all(len(columns) == 1 for columns in alone)
    assert false_selections(SELECTED, 500, threshold) <= ALLOWED
    assert count(by_rule["r-concave"][0], origin)[0] >= 3


def test_a_task_and_the_page(tmp_path):
    task = Task("stability", "null", "HSIC Lasso", 200, 500, 3)
    rows = STUDY.perform(task, tmp_path)
    assert {row.metric for row in rows} == {
        f"{metric}: {rule}"
        for metric in ("found", "copies", "false", "threshold")
        for rule in RULES
    }
    assert all(row.seed >= FIRST_SEED for row in rows)
    file = TidyFile(tmp_path / "stability.csv.gz")
    file.add(rows)
    file.save()
    lines = lines_of(file)
    assert any("null, n = 200" in line for line in lines)
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- stability: begin -->\n<!-- stability: end -->\nafter\n")
    fill(page, {"stability": "\n".join(lines)})
    code = main(
        ["--runs", "1", "--methods", "none of them", "--out", str(tmp_path), "--page", str(page)]
    )
    assert code == 0
    assert "null, n = 200" in page.read_text()
