import pickle
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import wrap_non_picklable_objects

from experiments import figure1
from experiments.contenders import CONTENDERS, REAL, Contender
from experiments.figure1 import (
    FVM_COUNTED,
    METHODS,
    PATHS,
    RECOVERY,
    SPARE,
    TIME_D,
    TIME_N,
    DrawStudy,
    recovery_table,
    shares,
)
from experiments.nocco_epsilon import CASES, NOCCO_EPSILON, epsilon_table
from experiments.runner import Failure, Request, perform, tasks_of
from experiments.tidy import TASK_SECONDS, Task, TidyFile
from hsiclasso import make_data1, make_data2
from hsiclasso.solvers import Breakpoint, Certificate, SolutionPath, Status
from tests.experiments.running import done

HERE = Path()
CAUSAL = np.array([0, 1, 2])


def request(runs=None, methods=None, data=None):
    return Request(runs, methods, data, HERE)


def path_of(*points):
    """A path with breakpoints given as {feature: weight}."""
    made = tuple(
        Breakpoint(1.0, np.array(list(p), dtype=int), np.array(list(p.values()), float), (), ())
        for p in points
    )
    empty = np.array([], dtype=int)
    return SolutionPath(made, Status.N_FEATURES, Certificate(0.0, 0.0, 0), 99, empty)


def values(rows):
    return {row.metric: row.value for row in rows if row.metric != TASK_SECONDS}


def small(name="small", methods=("HSIC Lasso", "mRMR"), **options):
    chosen = {method: METHODS[method] for method in methods}
    return DrawStudy(name, (("Data1", 40, 16), ("Data2", 30, 15)), chosen, PATHS, **options)


# what is recovered


@pytest.mark.parametrize(
    ("ranked", "share"), [([0, 1, 2], 1), ([2, 9, 0], 2 / 3), ([9, 8, 7, 0, 1, 2], 0), ([1], 1 / 3)]
)
def test_share_of_a_ranking_counts_the_best_only(ranked, share):
    assert shares(np.array(ranked), CAUSAL) == pytest.approx({"fraction": share})


def test_the_heaviest_of_the_last_solution_are_taken():
    path = path_of({0: 1.0, 1: 1.0, 2: 1.0}, {0: 0.1, 5: 3.0, 1: 1.0, 6: 2.0, 2: 0.2})
    assert shares(path, CAUSAL) == pytest.approx({"fraction": 1 / 3, "lowest": 1 / 3, "highest": 1})


def test_the_rule_admits_d_to_d_plus_10_positive_weights():
    noise = dict.fromkeys(range(10, 23), 5.0)
    two = {0: 2.0, 1: 1.0, 2: 0.0}  # too few, a zero is no weight: would be 1
    three = {0: 2.0, 1: 1.0, 9: 0.5}
    thirteen = dict.fromkeys(range(10, 20), 5.0) | {0: 1.0, 1: 1.0, 2: 1.0}
    fourteen = {0: 9.0, 1: 9.0, 2: 9.0} | dict.fromkeys(range(10, 21), 1.0)  # too many: would be 1
    assert len(noise) == SPARE + 3
    found = shares(path_of(two, three, thirteen, fourteen, noise), CAUSAL)
    assert found == pytest.approx({"fraction": 0, "lowest": 0, "highest": 2 / 3})


def test_a_path_that_ends_early_is_taken_as_it_is():
    found = shares(path_of({0: 2.0}, {0: 2.0, 1: 1.0}), CAUSAL)
    assert found == pytest.approx({"fraction": 2 / 3, "lowest": 2 / 3, "highest": 2 / 3})


@pytest.mark.parametrize("method", PATHS)
def test_paths_and_contenders_are_the_same_methods(method):
    X, y, causal = make_data2(100, 60, random_state=1)
    X[:, ::2] = np.exp(2 * X[:, ::2])  # so that normalising matters
    path = RECOVERY._fit(method, X, y, len(causal), 0)
    ranked = CONTENDERS[method].rank(X, y, len(causal) + SPARE, REAL, 0)
    last = path.breakpoints[-1]
    assert last.indices.size == len(causal) + SPARE
    np.testing.assert_array_equal(last.indices[np.argsort(-last.weights)], ranked)


@pytest.mark.parametrize("method", ["SpAM", "Lasso"])
def test_lassos_are_followed_to_ten_more(method):
    X, y, _ = make_data1(50, 30, random_state=0)
    longer = CONTENDERS[method].rank(X, y, 4 + SPARE, REAL, 0)
    assert longer.size > 4
    np.testing.assert_array_equal(METHODS[method].rank(X, y, 4, REAL, 0), longer[:4])


def test_all_others_are_asked_for_the_best():
    lassos = {"SpAM", "Lasso", "pyHSICLasso"}
    assert {name for name in CONTENDERS if METHODS[name] is CONTENDERS[name]} == {
        name for name in CONTENDERS if name not in lassos
    }
    for name in lassos:
        assert METHODS[name].runs == CONTENDERS[name].runs
        assert METHODS[name].package == CONTENDERS[name].package


# tasks


def test_the_papers_cases():
    sizes = {name: [n for data, n, _ in RECOVERY.cases if data == name] for name in figure1.DESIGNS}
    assert sizes == {"Data1": list(range(50, 401, 50)), "Data2": list(range(100, 601, 100))}
    assert {(data, d) for data, _, d in RECOVERY.cases} == {("Data1", 256), ("Data2", 1000)}
    assert [(n, d) for _, n, d in TIME_D.cases] == [(100, d) for d in range(100, 1001, 100)]
    assert {d for _, _, d in TIME_N.cases} == {1000}
    assert TIME_D.timed
    assert TIME_N.timed
    assert not RECOVERY.timed
    printed = {name for name, contender in CONTENDERS.items() if contender.printed}
    assert len(printed) == 8
    assert set(TIME_D.methods) == printed | {FVM_COUNTED}
    assert set(CONTENDERS) < set(METHODS)


def test_runs_by_default_and_as_asked():
    methods = {
        "often": Contender(CONTENDERS["MI"].rank),
        "seldom": Contender(CONTENDERS["MI"].rank, runs=2),
    }
    study = DrawStudy("s", (("Data1", 40, 12), ("Data2", 30, 8)), methods, runs=3)

    def count(runs, method):
        return sum(task.method == method for task in tasks_of(study, request(runs)))

    assert (count(None, "often"), count(None, "seldom")) == (6, 4)
    assert (count(5, "often"), count(5, "seldom")) == (10, 10)
    assert RECOVERY.runs == TIME_D.runs == TIME_N.runs == 30
    assert [task.run for task in tasks_of(study, request(2))] == [0] * 4 + [1] * 4


def test_what_is_not_installed_is_left_out_and_told(capsys):
    absent = Contender(CONTENDERS["MI"].rank, package="no_such_package")
    study = replace(small(), methods={"MI": METHODS["MI"], "absent": absent})
    assert {task.method for task in tasks_of(study, request())} == {"MI"}
    assert (
        "absent is left out on Data1 (40 x 16), Data2 (30 x 15): the package no_such_package"
        in capsys.readouterr().err
    )
    list(tasks_of(study, request(methods=("MI",))))
    assert capsys.readouterr().err == ""


# running


def test_a_run_is_complete_repeatable_and_resumed(tmp_path):
    study = small()
    file = TidyFile(tmp_path / "r.csv.gz")
    assert done(study, request(1), file, 1) == []
    assert len(file) == 4
    first = file.frame("small")
    again = TidyFile(tmp_path / "r.csv.gz")
    before = {tuple(row) for row in again.frame("small").itertuples(index=False)}
    assert done(study, request(2), again, 1) == []
    assert len(again) == 8
    after = again.frame("small")
    # the times of what was done already are as they were
    assert before <= {tuple(row) for row in after.itertuples(index=False)}
    fresh = TidyFile(tmp_path / "fresh.csv.gz")
    # as it reaches another process
    sent = pickle.dumps(wrap_non_picklable_objects(study, keep_wrapper=False))
    done(pickle.loads(sent), request(1), fresh, 1)
    keys = ["data", "method", "run", "metric"]
    columns = [*keys, "n", "d", "seed", "m", "value"]

    def without_times(frame):
        kept = frame[~frame["metric"].str.endswith("seconds")]
        return kept[columns].sort_values(keys).reset_index(drop=True)

    pd.testing.assert_frame_equal(without_times(first), without_times(fresh.frame("small")))


@pytest.mark.parametrize(("method", "path"), [("HSIC Lasso, ranks", True), ("FHSIC", False)])
def test_rows_of_a_task(method, path):
    task = Task("figure1", "Data2", method, 80, 20, 7)
    rows = perform(RECOVERY, task, HERE)
    X, y, causal = make_data2(80, 20, random_state=80_007)
    assert {row.task for row in rows} == {task}
    assert {row.seed for row in rows} == {80_007}
    assert {row.m for row in rows} == {3}
    found = values(rows)
    extra = {"lowest", "highest"} if path else set()
    assert set(found) == {"seconds", "fraction"} | extra
    best = METHODS[method].rank(X, y, 3, REAL, 80_007)
    assert found["fraction"] == pytest.approx(len(set(best) & set(causal)) / 3, abs=1e-5)
    if path:
        assert found["lowest"] <= found["fraction"] <= found["highest"]


def test_timed_studies_measure_time_only(tmp_path):
    file = TidyFile(tmp_path / "t.csv.gz")
    study = replace(TIME_N, cases=(("Data2", 50, 15),))
    assert done(study, request(1), file, 2) == []
    frame = file.frame("figure1d")
    assert set(frame["metric"]) == {"seconds", TASK_SECONDS}
    assert set(frame["method"]) == {"HSIC Lasso", figure1.LOOKUP}


def test_the_clock_starts_after_a_small_fit_once_in_a_process():
    calls = []

    def rank(X, y, m, kind, seed):
        calls.append(X.shape)
        time.sleep(0.3 if len(calls) == 1 else 0.0)
        return np.arange(m)

    study = DrawStudy("clock", (("Data1", 40, 12),), {"slow at first": Contender(rank)})
    figure1._warmed.discard(("clock", "slow at first"))
    for run in (0, 1):
        rows = perform(study, Task("clock", "Data1", "slow at first", 40, 12, run), HERE)
        assert values(rows)["seconds"] < 0.2
    assert calls == [(60, 20), (40, 12), (40, 12)]


def test_fvm_has_weights_on_the_table_that_warms_it(monkeypatch):
    fitted = []
    fit = figure1.FVM.fit
    monkeypatch.setattr(
        figure1.FVM, "fit", lambda self, X, y: fitted.append(fit(self, X, y)) or self
    )
    figure1._warmed.discard(("warm", "FVM"))
    DrawStudy("warm", (), METHODS)._warm("FVM")
    assert np.count_nonzero(fitted[0].coef_)


def test_an_unknown_design_fails_alone():
    outcome = perform(RECOVERY, Task("figure1", "Data3", "MI", 40, 12, 0), HERE)
    assert isinstance(outcome, Failure)


# tables


def rows(data, method, n, fractions):
    return [
        {"data": data, "method": method, "n": n, "run": run, "metric": metric, "value": value}
        for run, fraction in enumerate(fractions)
        for metric, value in (("fraction", fraction), ("lowest", 0.0), ("seconds", 9.0))
    ]


def test_the_table_has_means_in_the_order_of_the_methods():
    frame = pd.DataFrame(
        rows("Data1", "SpAM", 50, [0.5, 1.0])
        + rows("Data1", "HSIC Lasso", 100, [1.0])
        + rows("Data1", "HSIC Lasso", 50, [0.0, 0.5])
        + rows("Data1", "other", 50, [0.25])
        + rows("Data2", "MI", 50, [1.0])
    )
    table = recovery_table(frame, "Data1")
    assert list(table.index) == ["HSIC Lasso", "SpAM", "other"]
    assert list(table.columns) == [50, 100]
    assert table.loc["HSIC Lasso"].tolist() == [0.25, 1.0]
    assert table.loc["SpAM", 50] == 0.75
    assert np.isnan(table.loc["SpAM", 100])
    assert recovery_table(frame, "Data1", "lowest").loc["SpAM", 50] == 0.0


def test_the_table_of_epsilon():
    epsilons = list(NOCCO_EPSILON.methods)
    methods = [epsilons[0], "NOCCO Lasso", *epsilons[1:], "HSIC Lasso"]
    frame = pd.DataFrame(
        [
            row
            for place, method in enumerate(methods)
            for data, n, _ in CASES
            for row in rows(data, method, n, [place / 10])
        ]
    )
    table = epsilon_table(frame)
    assert list(table.columns) == methods
    assert list(table.index) == [f"{data}, n = {n}" for data, n, _ in CASES]
    assert table.iloc[2].tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_epsilon_is_another_in_every_method():
    X, y, _ = make_data2(100, 30, random_state=3)
    ranked = [c.rank(X, y, 13, REAL, 0).tolist() for c in NOCCO_EPSILON.methods.values()]
    assert ranked[0] != ranked[-1]
    assert all(case in RECOVERY.cases for case in CASES)
    assert not NOCCO_EPSILON.timed
