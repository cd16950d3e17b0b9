from pathlib import Path

import numpy as np
import pytest

from experiments import splits
from experiments.catalogue import Dataset
from experiments.contenders import CLASSES, REAL, Contender
from experiments.datasets import MissingDataError
from experiments.redundancy import redundancies
from experiments.runner import Request, tasks_of
from experiments.splits import SIZES, SplitStudy, judge, split
from experiments.tidy import TidyFile
from hsiclasso.evaluation import redundancy_rate
from tests.experiments.running import done

FOLDER = Path("nowhere")


class Known:
    """An entry of a catalogue."""

    n, d = 60, 80

    def __init__(self, kind):
        self.kind = kind


def _data(kind: str) -> Dataset:
    """The first three columns tell the target, the others nothing."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2, 3], 20)
    X = rng.normal(size=(60, 80))
    X[:, :3] += 4 * np.eye(3)[y - 1]
    return Dataset(X, y if kind == CLASSES else X[:, 0] + X[:, 1])


@pytest.fixture(autouse=True)
def catalogue(monkeypatch):
    monkeypatch.setattr(splits, "CATALOGUE", {k: Known(k) for k in (CLASSES, REAL, "absent")})

    def load(name, folder):
        if name == "absent":
            raise MissingDataError("It is to be had from nobody.")
        return _data(name)

    monkeypatch.setattr(splits, "load", load)
    splits._stored.cache_clear()
    splits._tell_once.cache_clear()


def _in_order(X, y, m, kind, seed):
    return np.arange(m)


def _backwards(X, y, m, kind, seed):
    return np.arange(X.shape[1])[::-1][:m]


METHODS = {
    "first": Contender(_in_order),
    "last": Contender(_backwards),
    "numbers only": Contender(_in_order, kinds=(REAL,)),
    "slow": Contender(_in_order, runs=1),
}


def test_a_split_has_every_sample_once_and_depends_on_the_seed():
    train, test = split(131, 5)
    assert sorted([*train, *test]) == list(range(131))
    assert (len(train), len(test)) == (105, 26)
    assert not np.array_equal(train, split(131, 6)[0])
    assert np.array_equal(train, split(131, 5)[0])


def test_methods_are_fitted_to_the_training_part_alone(monkeypatch):
    seen = []
    monkeypatch.setattr(splits, "judge", lambda *_: {"accuracy": 0.5})

    def spy(X, y, m, kind, seed):
        seen.append((X, y, m, kind, seed))
        return np.arange(m)

    study = SplitStudy("s", (CLASSES,), {"spy": Contender(spy)})
    task = next(iter(tasks_of(study, Request(8, None, None, FOLDER))))
    rows = study.perform(task, FOLDER)
    data, (train, _) = _data(CLASSES), split(60, 0)
    X, y, m, kind, seed = seen[0]
    assert np.array_equal(X, data.X[train])
    assert np.array_equal(y, data.y[train])
    assert (m, kind, seed, task.n, rows[0].seed) == (50, CLASSES, 0, 48, 0)


def test_good_features_score_better_and_all_sizes_are_there(tmp_path):
    file = TidyFile(tmp_path / "x.gz")
    study = SplitStudy("s", (CLASSES,), {name: METHODS[name] for name in ("first", "last")}, runs=2)
    assert done(study, Request(None, None, None, FOLDER), file, 1) == []
    frame = file.frame("s").query("metric == 'accuracy'")
    assert sorted(set(frame["m"])) == list(SIZES)
    means = frame.query("m == 10").groupby("method")["value"].mean()
    assert means["first"] > 0.9
    assert means["last"] < 0.7


def test_what_is_judged_is_the_top_of_the_ranking(monkeypatch):
    widths = []

    def record(X_train, y_train, X_test, y_test, seed, kind):
        assert (len(X_train), len(X_test)) == (48, 12)
        widths.append(X_train.shape[1])
        return {"accuracy": 0.5}

    monkeypatch.setattr(splits, "judge", record)
    study = SplitStudy("s", (CLASSES,), METHODS, readings=True)
    (task,) = tasks_of(study, Request(1, ("last",), None, FOLDER))
    rows = study.perform(task, FOLDER)
    assert widths == list(SIZES)
    train, test = split(60, 0)
    X = _data(CLASSES).X
    found = {(row.m, row.metric): row.value for row in rows}
    assert found[10, "red"] == pytest.approx(redundancy_rate(X[train][:, -10:]), abs=1e-5)
    for m in SIZES:
        for name, value in redundancies(X[:, -m:], train, test).items():
            assert found[m, f"red: {name}"] == pytest.approx(value, abs=1e-5)
    assert found[50, "selected"] == 50
    plain = SplitStudy("s", (CLASSES,), METHODS).perform(task, FOLDER)
    assert not any(row.metric.startswith("red:") for row in plain)


def test_what_cannot_run_is_told_of(capsys):
    study = SplitStudy("s", (CLASSES, "absent"), METHODS, runs=3,
                       left_out={("last", CLASSES): "it is too slow"})  # fmt: skip
    tasks = list(tasks_of(study, Request(None, None, None, FOLDER)))
    said = capsys.readouterr().err
    assert "absent is left out. It is to be had from nobody." in said
    list(SplitStudy("another", ("absent",), METHODS).candidates(Request(None, None, None, FOLDER)))
    assert capsys.readouterr().err == ""
    assert f"last is left out on {CLASSES} (48 x 80): it is too slow." in said
    assert "numbers only" in said
    assert [(task.method, task.run) for task in tasks] == [
        ("first", 0), ("slow", 0), ("first", 1), ("first", 2)
    ]  # fmt: skip


def test_runs_that_are_asked_for_hold_for_slow_methods_too():
    study = SplitStudy("s", (CLASSES,), METHODS)
    tasks = tasks_of(study, Request(4, ("slow",), None, FOLDER))
    assert [task.run for task in tasks] == [0, 1, 2, 3]


def test_numbers_are_judged_by_error_and_correlation():
    data = _data(REAL)
    scores = judge(data.X[:48, :3], data.y[:48], data.X[48:, :3], data.y[48:], 0, REAL)
    assert set(scores) == {"mse", "correlation"}
    assert scores["correlation"] > 0.9
    assert scores["mse"] < 0.3 * data.y[48:].var()


def test_a_constant_prediction_correlates_with_nothing(monkeypatch):
    class Constant:
        def __init__(self, **_): ...

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), 2.0)

    monkeypatch.setattr(splits, "KernelRidgeRegressionCV", Constant)
    scores = judge(np.ones((4, 1)), np.ones(4), np.ones((3, 1)), np.array([1.0, 2.0, 3.0]), 0, REAL)
    assert scores == {"mse": pytest.approx(2 / 3), "correlation": 0.0}


def test_readings_of_redundancy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6)) * np.arange(1, 7)
    train, test = np.arange(12), np.arange(12, 20)
    found = redundancies(X, train, test)
    pairs = np.triu_indices(8, 1)
    expected = np.abs(np.corrcoef(X[test] / X[train].std(axis=0)))[pairs].mean()
    assert found["scaled samples, test"] == pytest.approx(expected)
    assert found["samples, test"] == pytest.approx(np.abs(np.corrcoef(X[test]))[pairs].mean())
    assert len(set(found.values())) == 5


def test_features_centred_across_are_compared_by_their_cosine():
    """The formula by hand, for a features x samples matrix whose columns are centred."""
    rng = np.random.default_rng(1)
    X = rng.normal(loc=[0.0, 5.0, 1.0, -2.0], size=(9, 4))
    test = np.arange(4, 9)
    found = redundancies(X, np.arange(4), test)
    for name, divisor in (
        ("features centred across, test", 1.0),
        ("features standardised across, test", X[test].T.std(axis=0)),
    ):
        Z = (X[test].T - X[test].T.mean(axis=0)) / divisor
        inner = Z @ Z.T
        cosines = np.abs(inner) / np.sqrt(np.outer(np.diag(inner), np.diag(inner)))
        assert found[name] == pytest.approx(cosines[np.triu_indices(4, 1)].mean())


def test_samples_that_are_constant_do_not_break_the_readings():
    X = np.vstack([np.ones((3, 4)), np.arange(20.0).reshape(5, 4) ** 2])
    assert all(0 <= value <= 1 for value in redundancies(X, np.arange(3), np.arange(8)).values())
