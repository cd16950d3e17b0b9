"""Embedding Lasso beside other methods: designs, sets, and the tables of the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments import embedding
from experiments.command import RESULTS
from experiments.contenders import CLASSES, REAL, Contender
from experiments.embedding import (
    FIRST_SEED,
    OWN,
    STUDIES,
    DrawStudy,
    RealSet,
    RealStudy,
    draw_copies,
    main,
)
from experiments.markdown import fill
from experiments.runner import Request
from experiments.tidy import Task, TidyFile


def first(X, y, m, kind, seed):
    return np.arange(m)


def test_copies_are_near_their_originals():
    X, y, causal = draw_copies(200, 50, random_state=3)
    assert X.shape == (200, 50)
    assert causal.size == 4
    similar = np.abs(np.corrcoef(X.T)) > 0.8
    assert (similar[causal].sum(axis=1) == 3).all()  # itself and two copies
    model = np.column_stack(
        [np.ones(200), np.sin(2 * X[:, causal]), X[:, causal] ** 2, X[:, causal]]
    )
    fitted = model @ np.linalg.lstsq(model, y, rcond=None)[0]
    assert np.var(y - fitted) < 0.5 * np.var(y)


def test_studies_have_the_sets_and_methods_that_are_compared():
    assert len(STUDIES["regression"].sets) >= 7
    assert len(STUDIES["classes"].sets) >= 15
    for study in STUDIES.values():
        assert OWN in study.methods
        assert "HSIC Lasso" in study.methods
    assert {"Lasso", "mRMR", "random forest"} <= set(STUDIES["regression"].methods)
    assert {entry.kind for entry in STUDIES["regression"].real.values()} == {REAL}
    assert {entry.kind for entry in STUDIES["classes"].real.values()} == {CLASSES}


def test_a_draw_counts_causal_features_among_the_first(tmp_path):
    study = DrawStudy("recovery", embedding.RECOVERY_DESIGNS, {OWN: Contender(first)}, 2)
    (row,) = study.perform(Task("recovery", "Data2", OWN, 50, 1000, 1), tmp_path)
    assert row.seed >= FIRST_SEED
    assert row.metric == "fraction"
    assert row.value in (0, 0.33333, 0.66667, 1)


@pytest.mark.parametrize("kind", [REAL, CLASSES])
def test_a_split_is_judged_at_every_size(tmp_path, kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 52))
    y = X[:, 0] + 0.1 * rng.standard_normal(60) if kind == REAL else (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(embedding, "SIZES", (2, 5))
    study = RealStudy("regression", {"own": RealSet(60, 52, kind, lambda *_: (X, y))},
                      {OWN: Contender(first)}, 1)  # fmt: skip
    rows = study.perform(Task("regression", "own", OWN, 60, 52, 0), tmp_path)
    metric = "r2" if kind == REAL else "accuracy"
    scores = {row.m: row.value for row in rows if row.metric == metric}
    assert set(scores) == {2, 5}
    assert scores[2] > 0.6


def test_sets_that_are_not_there_are_left_out(tmp_path, capsys):
    found = list(STUDIES["classes"].candidates(Request(1, None, None, tmp_path)))
    assert not found
    assert "colon is left out" in capsys.readouterr().err


def test_the_page_gets_the_tables(tmp_path):
    small = {"Data1": embedding.Drawn(embedding.make_data1, ((40, 30),))}
    methods = {OWN: Contender(first), "HSIC Lasso": Contender(first)}
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    real = {"own": RealSet(40, 60, REAL, lambda *_: (X, X[:, 0]))}
    command = replace(main, studies={
        "recovery": DrawStudy("recovery", small, methods, 2),
        "regression": RealStudy("regression", real, methods, 1),
    })  # fmt: skip
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- embedding: begin -->\n<!-- embedding: end -->\nafter\n")
    arguments = ["--jobs", "1", "--out", str(tmp_path), "--page", str(page)]
    assert command(arguments) == 0
    text = page.read_text()
    assert "| Data1 | 40 x 30 | draws |" in text
    assert "Mean rank over 1 sets" in text
    assert text.startswith("before")
    assert command(arguments) == 0  # nothing is done again
    assert page.read_text() == text


def test_the_page_is_the_one_of_the_results(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(embedding.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    lines = embedding.lines_of(TidyFile(RESULTS / "embedding.csv.gz"))
    fill(copy, {"embedding": "\n".join(lines)})
    assert copy.read_text() == embedding.PAGE.read_text(), "run python -m experiments.embedding"
