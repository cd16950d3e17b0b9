"""Methods on one footing: covariates removed, and scores of a downstream model in folds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from hsiclasso import Covariates, HSICLasso, InvalidInputError, as_source, make_data1
from hsiclasso.baselines import METHODS, compare
from hsiclasso.baselines.contest import residuals

METHODS_ = ["hsic_lasso", "mi_ranking", "lasso"]


@pytest.fixture(scope="module")
def data():
    return make_data1(90, 10, random_state=0)[:2]


@pytest.fixture(scope="module")
def batches():
    """A table in which most columns, and the target, depend on a batch."""
    rng = np.random.default_rng(0)
    batch = rng.integers(0, 3, 150).astype(float)
    X = rng.standard_normal((150, 6))
    X[:, 3:] += 2 * batch[:, None]
    y = X[:, 0] + 3 * batch
    return np.c_[X, batch], y


class TestFolds:
    @pytest.mark.parametrize("classes", [False, True])
    def test_scores_are_those_by_hand(self, data, classes):
        X, y = data
        y = np.where(np.abs(X[:, 2]) > 0.7, "far", "near") if classes else y
        found = compare(X, y, 3, methods=["hsic_lasso", "mi_ranking"], cv=3)
        cutter = StratifiedKFold(3) if classes else KFold(3)
        model = make_pipeline(StandardScaler(), SVC() if classes else SVR())
        for one in found.outcomes:
            scores, chosen = [], []
            for train, test in cutter.split(X, y):
                selector = METHODS[one.method](3).fit(X[train], y[train])
                columns = np.sort(selector.selected_)
                chosen.append(set(columns))
                model.fit(X[train][:, columns], y[train])
                scores.append(model.score(X[test][:, columns], y[test]))
            assert one.score == pytest.approx(np.mean(scores))
            assert one.score_error == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))
            shared = [len(a & b) / len(a | b) for a, b in combinations(chosen, 2)]
            assert one.stability == pytest.approx(np.mean(shared))
        plain = compare(X, y, 3, methods=["hsic_lasso", "mi_ranking"])
        assert [one.features for one in plain.outcomes] == [one.features for one in found.outcomes]
        assert all(one.score is one.stability is None for one in plain.outcomes)

    def test_an_estimator_of_ones_own(self, data):
        options = {"methods": METHODS_, "estimator": LinearRegression()}
        found = compare(*data, 3, cv=KFold(3), **options)
        usual = compare(*data, 3, cv=KFold(3), methods=METHODS_)
        for one, other in zip(found.outcomes, usual.outcomes, strict=True):
            assert (one.features, one.stability) == (other.features, other.stability)
            assert one.score != other.score
        with pytest.raises(InvalidInputError, match="estimator has no meaning without cv"):
            compare(*data, 3, **options)

    def test_columns_of_labels(self, data):
        X, _ = data
        kind = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
        frame = pd.DataFrame(X[:, 1:4], columns=list("xyz")).assign(kind=kind)
        y = np.where(kind == "b", 3.0, 0.0) + 0.1 * X[:, 1]
        found = compare(frame, y, 2, cv=3, methods=["hsic_lasso", "lasso"])
        own, lasso = found.outcomes
        assert "kind" in own.features
        assert own.score > 0.8
        assert "holds labels" in lasso.skipped

    def test_targets_without_a_usual_model(self, data):
        X, _ = data
        with pytest.raises(InvalidInputError, match="of another form: pass an estimator"):
            compare(X, X[:, :2], 2, methods=["hsic_lasso"], cv=3)


class TestCovariates:
    def test_own_methods_remove_them_and_others_get_residuals(self, batches):
        X, y = batches
        plain = compare(X, y, 1, methods=METHODS_)
        assert all(one.features == ("x6",) for one in plain.outcomes)
        found = compare(X, y, 1, methods=METHODS_, covariates=[6])
        assert [one.adjusted for one in found.outcomes] == ["itself", "residuals", "residuals"]
        assert all(one.features == ("x0",) for one in found.outcomes)
        assert all(one.indices == (0,) for one in found.outcomes)
        alone = HSICLasso(1, covariates=[6]).fit(X, y)
        assert found.outcomes[0].scores == (alone.coef_[0],)

    def test_columns_are_those_of_the_whole_table(self, batches):
        X, y = batches
        found = compare(X[:, ::-1], y, 1, methods=METHODS_, covariates=["x0"], cv=3)
        assert all(one.indices == (6,) and one.features == ("x6",) for one in found.outcomes)
        assert all(one.stability == 1 for one in found.outcomes)

    def test_residuals_are_orthogonal_to_functions_of_the_covariates(self, batches):
        X, y = batches
        table, rest, columns = residuals(as_source(X), y, [6], "auto")
        assert columns.tolist() == [0, 1, 2, 3, 4, 5]
        indicators = np.equal.outer(X[:, 6], [0, 1, 2])
        values = table.block(slice(0, 6))
        np.testing.assert_allclose(indicators.T @ values, 0, atol=0.5)
        np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(rest.mean(), 0, atol=1e-12)
        frame = pd.DataFrame(X).rename(columns=str)
        frame["6"] = frame["6"].map({0: "a", 1: "b", 2: "c"})
        table, rest, _ = residuals(as_source(frame), y, ["6"], "auto")
        np.testing.assert_allclose(indicators.T @ table.block(slice(0, 6)), 0, atol=1e-10)
        np.testing.assert_allclose(indicators.T @ rest, 0, atol=1e-10)

    def test_classes_stay_as_they_are_and_copies_of_covariates_vanish(self, batches):
        X, y = batches
        labels = np.where(y > y.mean(), "high", "low")
        X = np.c_[X, 5 * X[:, 6] + 1]
        table, rest, columns = residuals(as_source(X), labels, [6], "auto")
        assert rest is labels
        assert columns.tolist() == [0, 1, 2, 3, 4, 5, 7]
        assert np.ptp(table.block(np.array([6]))) < 0.2

    @pytest.mark.parametrize(
        ("covariates", "y", "message"),
        [
            (["kind"], "real", "column 'other' holds labels, from which no function"),
            (["x"], "counts", "y is a target of counts"),
            (Covariates(["x"], "subtract"), "real", "no kernel matrix from which"),
        ],
    )
    def test_what_has_no_residuals(self, rng, covariates, y, message):
        frame = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("xab"))
        if y == "real":
            frame = frame.assign(kind=rng.choice(["u", "v"], 40), other=rng.choice(["s", "t"], 40))
        target = np.round(np.exp(frame["a"])) if y == "counts" else frame["a"]
        with pytest.raises(InvalidInputError, match=message):
            residuals(as_source(frame), target.to_numpy(), covariates, y)

    def test_weights_are_refused(self, tmp_path):
        frame = pd.DataFrame({"a": range(9), "b": range(9), "y": range(9), "w": 1.0})
        frame.to_csv(tmp_path / "t.csv", index=False)
        from hsiclasso import read_table

        with pytest.raises(InvalidInputError, match="X has sample weights"):
            compare(read_table(tmp_path / "t.csv", "y", weights="w"))
