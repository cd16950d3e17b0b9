from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import blocks
from experiments.blocks import (
    AUTHORS,
    BLOCKS,
    DESIGNS,
    METHODS,
    Design,
    RecoveryStudy,
    blocks_table,
    draw_discrete,
    draw_random_terms,
    fraction,
    too_large,
)
from experiments.contenders import CLASSES, REAL, Contender
from experiments.runner import Request, tasks_of
from experiments.tidy import COLUMNS, TASK_SECONDS, Row, Task, TidyFile, flat
from tests.experiments.running import done

FOLDER = Path("nowhere")
N_CAUSAL = dict(zip(DESIGNS, (4, 3, 5, 20, 20), strict=True))


def _request(runs=None, methods=None, data=None) -> Request:
    return Request(runs, methods, data, FOLDER)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_draw_has_the_shape_asked_for_and_follows_its_seed(name):
    design = DESIGNS[name]
    X, y, causal = design.draw(60, 90, random_state=3)
    again = design.draw(60, 90, random_state=3)
    other = design.draw(60, 90, random_state=4)
    assert X.shape == (60, 90)
    assert y.shape == (60,)
    assert len(set(causal.tolist())) == len(causal) == N_CAUSAL[name]
    for first, second in zip((X, y, causal), again, strict=True):
        assert np.array_equal(first, second)
    assert not np.array_equal(X, other[0])


@pytest.mark.parametrize("name", DESIGNS)
def test_causal_columns_lie_anywhere(name):
    design = DESIGNS[name]
    places = np.concatenate([design.draw(20, 400, random_state=seed)[2] for seed in range(40)])
    assert places.min() < 40
    assert places.max() > 360
    assert 170 < places.mean() < 230


def test_the_published_designs_have_their_formulas_but_for_noise():
    X, y, (a, b, c, e) = DESIGNS["additive"].draw(4000, 10, random_state=0)
    noise = y - (-2 * np.sin(2 * X[:, a]) + X[:, b] ** 2 + X[:, c] + np.exp(-X[:, e]))
    assert abs(noise.mean()) < 0.06
    assert abs(noise.std() - 1) < 0.04
    X, y, (a, b, c) = DESIGNS["non-additive"].draw(4000, 10, random_state=0)
    noise = y - (X[:, a] * np.exp(2 * X[:, b]) + X[:, c] ** 2)
    assert abs(noise.mean()) < 0.06
    assert abs(noise.std() - 1) < 0.04


def _explained(X, y, causal) -> np.ndarray:
    """Return which term each causal column goes in by, found by least squares on all of them."""
    terms = [f(X[:, c].astype(float)) for c in causal for f in (np.square, np.sin, np.cos)]
    coefficients = np.linalg.lstsq(np.array(terms).T, y, rcond=None)[0]
    return coefficients.reshape(len(causal), 3)


def test_random_terms_are_squares_sines_and_cosines_without_noise():
    X, y, causal = draw_random_terms(500, 60, n_causal=20, random_state=1)
    found = _explained(X, y, causal)
    assert np.allclose(found, np.round(found), atol=1e-8)  # no noise, no other weight than 1
    assert (np.round(found).sum(axis=1) == 1).all()  # one term of each column
    assert (np.round(found).sum(axis=0) >= 2).all()  # all three kinds
    which = np.round(found).argmax(axis=1)
    for i in (0, 7, 499):
        parts = [(x**2, np.sin(x), np.cos(x))[k] for k, x in zip(which, X[i, causal], strict=True)]
        assert y[i] == pytest.approx(sum(parts))


def test_random_terms_are_drawn_anew_with_every_seed():
    draws = [draw_random_terms(300, 30, n_causal=6, random_state=seed) for seed in range(5)]
    kinds = {tuple(np.round(_explained(*drawn)).argmax(axis=1)) for drawn in draws}
    assert len(kinds) > 1


def test_cases_are_the_top_tenth_of_a_linear_score():
    n = 2000
    X, y, causal = draw_discrete(n, 30, n_causal=8, random_state=2)
    assert set(np.unique(X)) == {0, 1}
    assert X.dtype == np.int8
    assert (y == 1).sum() == (y == 0).sum() == n // 2
    # one of 3**8 scores parts cases and controls exactly; take the signs and sizes from the data
    effects = np.array([1.0, np.sin(1), np.cos(1) - 1])
    lift = X[y == 1][:, causal].mean(axis=0) - X[y == 0][:, causal].mean(axis=0)
    assert (np.abs(lift) > 0.05).all()
    grid = np.array(np.meshgrid(*[effects] * 8)).reshape(8, -1)
    score = X[:, causal].astype(float) @ grid
    gaps = score[y == 1].min(axis=0) - score[y == 0].max(axis=0)
    assert gaps.max() > 0
    others = np.setdiff1d(np.arange(30), causal)
    noise = X[y == 1][:, others].mean(axis=0) - X[y == 0][:, others].mean(axis=0)
    assert np.abs(noise).max() < 0.1


def test_cases_are_a_tenth_of_the_people(monkeypatch):
    """Ties are cases too, so that a score with few values has more than a tenth."""
    monkeypatch.setattr(blocks, "TERMS", (np.square,))
    X, y, causal = draw_discrete(1000, 20, n_causal=10, random_state=0)
    ones = X[:, causal].sum(axis=1)
    assert ones[y == 1].min() == 7
    assert ones[y == 0].max() == 6


def test_cases_and_controls_are_mixed():
    _, y, _ = draw_discrete(200, 20, n_causal=5, random_state=0)
    assert 0.3 < y[:100].mean() < 0.7


def test_an_odd_number_of_samples_is_kept():
    X, y, _ = draw_discrete(41, 12, n_causal=3, random_state=0)
    assert len(X) == len(y) == 41
    assert y.sum() == 20


@pytest.mark.parametrize(
    ("ranked", "share"),
    [([1, 2, 3, 4, 9], 0.75), ([9, 4, 1, 3], 1.0), ([2, 5, 6, 7, 9], 0.0), ([9], 0.25), ([], 0.0)],
)
def test_only_the_first_c_of_a_ranking_count(ranked, share):
    assert fraction(np.array(ranked, dtype=int), np.array([3, 9, 1, 4])) == share


def test_tasks_are_the_authors_cells_ten_times(capsys):
    tasks = tasks_of(BLOCKS, _request(methods=("HSIC Lasso", "HSIC Lasso, ranks")))
    assert len(tasks) == 10 * (13 + 12)  # ranks are for numbers
    assert {(t.data, t.n, t.d) for t in tasks} == set(AUTHORS)
    assert [t.run for t in tasks] == sorted(t.run for t in tasks)
    assert "HSIC Lasso, ranks is left out on discrete, C=20 (1000 x 10000): it does not serve" in (
        capsys.readouterr().err
    )


def test_tasks_are_those_asked_for():
    tasks = tasks_of(BLOCKS, _request(2, ("Lasso",), ("random terms, C=5",)))
    assert [(t.method, t.data, t.n, t.d, t.run) for t in tasks] == [
        ("Lasso", "random terms, C=5", 1000, 2500, run) for run in (0, 1)
    ]


def test_a_contender_with_few_runs_has_few_unless_asked():
    designs = {"small": Design(partial(draw_random_terms, n_causal=2), ((30, 20),))}
    study = RecoveryStudy("s", designs, {"slow": Contender(_in_order, runs=1)}, runs=4)
    assert len(tasks_of(study, _request())) == 1
    assert len(tasks_of(study, _request(6))) == 6


@pytest.mark.parametrize(
    ("method", "n", "d", "fits"),
    [
        ("pyHSICLasso, B=20", 1000, 2500, True),
        ("pyHSICLasso, B=20", 1000, 10000, False),
        ("pyHSICLasso, B=10", 1000, 1000, True),
        ("pyHSICLasso, B=10", 10000, 5000, False),
        ("HSIC Lasso", 10000, 10000, True),
    ],
)
def test_blocks_are_left_out_where_they_do_not_fit(method, n, d, fits):
    assert (too_large(method, n, d) is None) == fits


def test_what_is_left_out_is_told_with_its_reason(capsys, monkeypatch):
    monkeypatch.setattr(Contender, "missing", lambda self, kind: None)
    tasks = tasks_of(BLOCKS, _request(1, ("pyHSICLasso, B=20",)))
    assert {(t.n, t.d) for t in tasks} == {(100, 1000), (100, 10000), (1000, 1000), (1000, 2500)}
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3
    assert told[0] == (
        "blocks: pyHSICLasso, B=20 is left out on additive (1000 x 10000), "
        "non-additive (1000 x 10000), discrete, C=20 (1000 x 10000): "
        "its matrix of n B M x d numbers takes 4.8 GB, and it about twice as much."
    )


def test_a_package_that_is_absent_is_told_of(capsys):
    study = RecoveryStudy("s", DESIGNS, {"peer": Contender(_in_order, package="no_such_package")})
    assert tasks_of(study, _request(data=("additive",))) == []
    assert "the package no_such_package is not installed" in capsys.readouterr().err


def _in_order(X, y, m, kind, seed):
    return np.arange(m)


SMALL = {
    "sum": Design(partial(draw_random_terms, n_causal=2), ((150, 20),)),
    "coins": Design(partial(draw_discrete, n_causal=3), ((200, 20),), CLASSES),
}


def test_a_study_from_end_to_end(tmp_path):
    methods = {name: METHODS[name] for name in ("HSIC Lasso", "Lasso")}
    study = RecoveryStudy("small", SMALL, {**methods, "in order": Contender(_in_order)})
    file = TidyFile(tmp_path / "paper.csv.gz")
    assert done(study, _request(2), file, 1) == []
    frame = file.frame("small")
    assert len(file) == 2 * (3 + 3)
    assert set(frame["metric"]) == {"fraction", "seconds", TASK_SECONDS}
    found = frame[frame["metric"] == "fraction"].groupby(["data", "method"])["value"].mean()
    assert found["sum", "HSIC Lasso"] == found["coins", "Lasso"] == 1
    assert found["sum", "in order"] < 1
    assert frame[frame["metric"] == "fraction"].groupby("data")["m"].first().to_dict() == {
        "coins": 3,
        "sum": 2,
    }
    assert set(frame["seed"]) == {170000, 170001, 220000, 220001}


def test_the_rows_of_a_task_can_be_had_again():
    study = RecoveryStudy("s", SMALL, {"in order": Contender(_in_order)})
    task = tasks_of(study, _request(2, data=("sum",)))[1]
    row = study.perform(task, FOLDER)[0]
    causal = draw_random_terms(150, 20, n_causal=2, random_state=row.seed)[2]
    assert row.value == np.isin(causal, [0, 1]).mean()


def test_two_states_are_parted_at_the_mean():
    """A column that matters by its square alone is not seen: the authors' mRMR."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = X[:, 3] + 3 * X[:, 1] ** 2
    assert METHODS["mRMR, 2 states"].rank(X, y, 1, REAL, 0).tolist() == [3]
    assert METHODS["mRMR, 5 quantiles"].rank(X, y, 1, REAL, 0).tolist() == [1]


def test_the_authors_numbers_are_of_cells_and_methods_here():
    cells = {(name, n, d) for name, design in DESIGNS.items() for n, d in design.sizes}
    assert set(AUTHORS) == cells
    names = {method for theirs in AUTHORS.values() for method in theirs}
    assert names - set(METHODS) == {"pyHSICLasso, B=50"}
    assert all(v is None or 0 <= v <= 1 for theirs in AUTHORS.values() for v in theirs.values())


def _rows(data, n, d, method, values) -> list[Row]:
    tasks = [Task("blocks", data, method, n, d, run) for run in range(len(values))]
    rows = [Row(task, 0, 4, "fraction", value) for task, value in zip(tasks, values, strict=True)]
    return [*rows, Row(tasks[0], 0, 50, "seconds", 99.0)]


def test_the_table_has_ours_and_theirs_side_by_side():
    rows = _rows("additive", 100, 1000, "nHSIC Lasso", [0.5, 1.0, 0.75])
    rows += _rows("additive", 100, 1000, "NOCCO Lasso, ranks", [1.0, 0.5])
    lines = blocks_table(pd.DataFrame(flat(rows), columns=COLUMNS))
    assert lines[0] == (
        "| additive | n=100, d=1000 | n=100, d=10000 | n=1000, d=1000 | n=1000, d=10000 |"
    )
    assert lines[1] == "|---|---|---|---|---|"
    assert "| nHSIC Lasso | 0.75 (0.68) | (0.47) | (1.00) | (no memory) |" in lines
    assert "| NOCCO Lasso, ranks | 0.75 | - | - | - |" in lines
    assert "| pyHSICLasso, B=50 | (0.62) | (0.47) | (1.00) | (1.00) |" in lines
    assert not any(line.startswith("| HSIC Lasso |") for line in lines)
    assert [line for line in lines if line.startswith("| discrete")] == [
        "| discrete, C=20 | n=1000, d=10000 |"
    ]


def test_the_peer_is_called_as_its_authors_call_it():
    pytest.importorskip("pyHSICLasso", reason="the peer is not installed")
    X, y, causal = SMALL["sum"].draw(200, 20, random_state=0)
    ranked = METHODS["pyHSICLasso, B=20"].rank(X, y, 5, REAL, 0)
    assert set(ranked[:2]) == set(causal)
