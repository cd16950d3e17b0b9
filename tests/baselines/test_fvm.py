"""The feature vector machine."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    InvalidInputError,
    make_data1,
)
from hsiclasso.baselines import FVM, QPFS, fvm, quadratic
from hsiclasso.baselines.binned import BinnedInformation
from hsiclasso.baselines.dependency import MeasureOptions
from hsiclasso.solvers import Status, solve_path
from tests import oracles
from tests.baselines import oracle_binned
from tests.baselines import oracle_quadratic as oracle
from tests.baselines.oracle_lasso import lower_bound


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        FVM(), FVM(2, alpha=0.1), FVM(alpha=1.0, bins="quantile"), FVM(1, measure="correlation"),
        FVM(measure="hsic"), FVM(measure="parzen", n_jobs=1),
    ]
)  # fmt: skip
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(seed=0, n=80, d=12):
    """Columns of which some repeat what others say."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    X[:, 5] = X[:, 3] ** 2 + 0.3 * X[:, 5]
    y = 2 * X[:, 0] + np.sin(3 * X[:, 3]) + X[:, 4] ** 2 + 0.3 * rng.standard_normal(n)
    return X, y


def fit(estimator, X, y):
    """Fit without the warning that weights are few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return estimator.fit(X, y)


def replace_redundancy(monkeypatch, matrix):
    """Let mutual information between features be what a matrix says."""
    monkeypatch.setattr(BinnedInformation, "block", lambda self, r, c: matrix[np.ix_(r, c)])


class TestMachine:
    @pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.01])
    @pytest.mark.parametrize("measure", ["mi", "correlation", "hsic"])
    def test_clarabel_on_the_original_program(self, measure, share):
        """min a'Da / 2 with |Da - d| <= alpha / 2, from dependences in plain NumPy."""
        X, y = table()
        D, d = oracle.dependences(X, y, measure)
        alpha = share * 2 * d.max()
        selector = fit(FVM(4, alpha=alpha, measure=measure), X, y)
        Q = D + selector.shift_ * np.eye(12)
        size = D.max()  # clarabel's tolerances are absolute
        peer = oracle.machine_by_clarabel(Q / size, d / size, alpha / size)
        tolerance = 1e-6 if measure != "hsic" else 1e-4 * np.abs(peer).max()
        np.testing.assert_allclose(selector.coef_, peer, atol=tolerance)
        assert oracles.fvm_violation(Q, d, selector.coef_, alpha) <= 1e-4 * alpha
        assert selector.alpha_ == pytest.approx(alpha)
        assert selector.certificate_.kkt_residual < 1e-12

    @pytest.mark.parametrize("m", [1, 4, 9])
    @pytest.mark.parametrize("measure", ["mi", "correlation"])
    def test_no_feasible_weights_have_a_smaller_objective(self, measure, m, rng):
        X, y = table(4)
        D, d = oracle.dependences(X, y, measure)
        selector = FVM(m, measure=measure).fit(X, y)
        Q, a, alpha = D + selector.shift_ * np.eye(12), selector.coef_, selector.alpha_
        assert abs(oracles.fvm_violation(Q, d, a, alpha)) <= 1e-9 * alpha
        least, closer = oracles.fvm_objective(Q, a), 0
        inside = np.linalg.solve(Q, d)  # it violates nothing
        for _ in range(200):
            other = a + rng.uniform(0, 0.1) * (inside - a) + 0.01 * alpha * rng.standard_normal(12)
            if oracles.fvm_violation(Q, d, other, alpha) <= 0:
                assert oracles.fvm_objective(Q, other) > least
                closer += 1
        assert closer > 10

    @pytest.mark.parametrize("m", [1, 4, 9])
    def test_the_feature_wise_lasso(self, m):
        """With inner products of matrices the lasso in their space, at half the penalty."""
        X, y = table(4)
        A = np.array([oracles.measure_matrix(oracles.gaussian_gram(x), "hsic") for x in X.T])
        T = oracles.measure_matrix(oracles.gaussian_gram(y), "hsic")
        selector = FVM(m, measure="hsic").fit(X, y)
        value = oracles.objective(A, T, selector.coef_, selector.alpha_ / 2)
        design = A.reshape(12, -1).T
        least = lower_bound(design, T.ravel(), selector.coef_, selector.alpha_ / 2)
        assert abs(value - least) < 1e-6 * least

    def test_signs_enumerated(self, monkeypatch, rng):
        """Weights of either sign, which redundant columns of unequal relevance have."""
        negative = 0
        for seed in range(8):
            X, y = table(seed, d=6)
            X = X[:, :5]
            F = rng.random((5, 5))
            D = F @ F.T + 0.02 * np.eye(5)
            replace_redundancy(monkeypatch, D)
            selector = fit(FVM(2, alpha=0.05, shift=0.0), X, y)
            best = oracle.lasso_by_enumeration(D, selector.relevance_, 0.05)
            np.testing.assert_allclose(selector.coef_, best, atol=1e-9)
            np.testing.assert_array_equal(selector.scores_, np.abs(selector.coef_))
            negative += np.count_nonzero(selector.coef_ < 0)
        assert negative > 3

    @given(st.integers(0, 999), st.floats(0.01, 1.2), st.sampled_from([{}, {"bins": "quantile"}]))
    def test_conditions_on_any_table(self, seed, share, cut):
        X, y = table(seed, n=30, d=8)
        D, d = oracle.dependences(X, y, **cut)
        alpha = share * 2 * d.max()
        selector = fit(FVM(2, alpha=alpha, **cut), X, y)
        a = selector.coef_
        c = d - (D + selector.shift_ * np.eye(8)) @ a
        on = a != 0
        np.testing.assert_allclose(c[on], 0.5 * alpha * np.sign(a[on]), atol=1e-9)
        assert (np.abs(c) <= 0.5 * alpha + 1e-9).all()

    def test_ranked_by_size_then_relevance(self):
        X, y = table(3)
        selector = fit(FVM(10, alpha=0.1), X, y)
        scores, d = selector.scores_, selector.relevance_
        found = np.flatnonzero(scores)
        assert 0 < found.size < 10
        order = np.argsort(selector.ranking_)
        assert order[: found.size].tolist() == sorted(found, key=lambda k: -scores[k])
        assert (np.diff(d[order[found.size :]]) <= 0).all()
        assert selector.selected_.tolist() == order[:10].tolist()

    def test_finds_the_causal_features(self):
        X, y, causal = make_data1(500, 100, random_state=1)
        assert set(FVM(4, bins="quantile").fit(X, y).selected_) == set(causal)


class TestAlpha:
    @pytest.mark.parametrize("m", [1, 2, 5, 9])
    def test_falls_until_there_are_enough(self, m):
        X, y = table()
        selector = FVM(m).fit(X, y)
        assert np.count_nonzero(selector.coef_) == m
        assert set(selector.selected_) == set(np.flatnonzero(selector.coef_))
        same = FVM(m, alpha=selector.alpha_).fit(X, y)
        np.testing.assert_allclose(same.coef_, selector.coef_, atol=1e-9)
        above = fit(FVM(m, alpha=1.2 * selector.alpha_), X, y)
        assert np.count_nonzero(above.coef_) <= m

    def test_all_features(self):
        X, y = table()
        selector = fit(FVM(12), X, y)
        assert selector.selected_.size == 12
        assert selector.certificate_.kkt_residual < 1e-9

    def test_the_largest_useful_one(self):
        X, y = table()
        top = 2 * FVM(1).fit(X, y).relevance_.max()
        assert not fit(FVM(3, alpha=top), X, y).coef_.any()
        assert np.count_nonzero(fit(FVM(3, alpha=0.999 * top), X, y).coef_) == 1

    def test_one_as_in_the_paper(self):
        """No mutual information exceeds half a nat: all weights are zero."""
        X, y = table()
        words = r"FVM chose 0 features where 3.*At alpha=1 all weights are zero, .* by relevance"
        with pytest.warns(FewerFeaturesWarning, match=words):
            selector = FVM(3, alpha=1.0).fit(X, y)
        assert not selector.coef_.any()
        assert selector.alpha_ == 1.0
        assert selector.selected_.tolist() == np.argsort(-selector.relevance_)[:3].tolist()
        assert {feature.origin for feature in selector.result_.features} == {"filled"}

    def test_message(self):
        X, y = table()
        selector = FVM(3).fit(X, y)
        assert f"3 weights are not zero at alpha={selector.alpha_:.4g}" in selector.result_.message

    def test_nothing_relevant(self, monkeypatch):
        X, y = table()
        original = BinnedInformation._count
        monkeypatch.setattr(BinnedInformation, "_count", lambda *args: 0 * original(*args))
        selector = fit(FVM(3), X, y)
        assert not selector.coef_.any()
        assert selector.alpha_ == 0
        assert selector.selected_.size == 3

    def test_a_stalled_path_is_a_warning(self, monkeypatch):
        X, y = table()

        def stalled(*args, **options):
            return replace(solve_path(*args, **options), status=Status.STALLED)

        monkeypatch.setattr(fvm, "solve_path", stalled)
        with pytest.warns(ConvergenceWarning, match="FVM: the path stopped early") as caught:
            FVM(3).fit(X, y)
        assert caught[0].filename == __file__


class TestShift:
    def test_lowest_eigenvalue(self):
        rng = np.random.default_rng(5)
        X = rng.standard_normal((12, 60))
        y = X[:, 0] + X[:, 1] ** 2
        D, d = oracle.dependences(X, y)
        lowest = np.linalg.eigvalsh(D)[0]
        assert lowest < -0.05
        selector = FVM(5).fit(X, y)
        assert selector.min_eigenvalue_ == pytest.approx(lowest, rel=1e-10)
        assert selector.shift_ == pytest.approx(-lowest, rel=1e-6)
        assert f"{selector.shift_:.3g} added to the diagonal" in selector.result_.message
        peer = oracle.machine_by_clarabel(D + selector.shift_ * np.eye(60), d, selector.alpha_)
        np.testing.assert_allclose(selector.coef_, peer, atol=1e-5)
        with pytest.raises(InvalidInputError, match=r"shift=0\.01, but .* positive definite"):
            FVM(5, shift=0.01).fit(X, y)

    def test_none_where_it_is_not_needed(self):
        X, y = table()
        selector = FVM(4, measure="hsic").fit(X, y)
        assert selector.min_eigenvalue_ > 0
        assert selector.shift_ == 0

    def test_it_must_be_strictly_convex(self):
        """A column twice: the matrix is singular, which QPFS accepts and FVM does not."""
        X, y = table()
        twice = np.column_stack([X, X[:, 0]])
        fit(QPFS(4, shift=0.0, measure="hsic"), twice, y)
        with pytest.raises(InvalidInputError, match=r"shift=0\.0, but .*positive definite"):
            FVM(4, shift=0.0, measure="hsic").fit(twice, y)
        assert FVM(4, measure="hsic").fit(twice, y).shift_ > 0


class TestColumns:
    def test_constant_ones_get_no_weight(self):
        X, y = table()
        without = FVM(4).fit(X, y)
        with pytest.warns(ConstantFeatureWarning):
            selector = FVM(4).fit(np.insert(X, 2, 7.0, axis=1), y)
        np.testing.assert_allclose(np.delete(selector.coef_, 2), without.coef_, atol=1e-9)
        assert selector.coef_[2] == 0
        assert selector.ranking_[2] == 13

    def test_nothing_varies(self):
        with pytest.warns(ConstantFeatureWarning):
            selector = FVM(2).fit(np.ones((20, 4)), np.arange(20.0))
        assert selector.selected_.size == 0
        assert np.isnan(selector.min_eigenvalue_)

    def test_permuted(self, rng):
        X, y = table()
        for measure in ("mi", "correlation"):
            base = FVM(4, measure=measure).fit(X, y)
            order, rows = rng.permutation(12), rng.permutation(80)
            moved = FVM(4, measure=measure).fit(X[rows][:, order], y[rows])
            np.testing.assert_allclose(moved.coef_, base.coef_[order], atol=1e-7)

    def test_shifted_and_scaled(self, rng):
        X, y = table()
        moved = FVM(4).fit(X * rng.uniform(0.5, 9, 12) + 3, 5 * y - 1).coef_
        np.testing.assert_allclose(moved, FVM(4).fit(X, y).coef_, atol=1e-9)

    def test_labels(self):
        X, y = table()
        frame = pd.DataFrame(X).add_prefix("x")
        frame["kind"] = np.where(y > np.median(y), "high", "low")
        assert fit(FVM(3), frame, y > np.median(y)).result_.names[0] == "kind"

    @pytest.mark.parametrize(
        "options",
        [
            {"alpha": 0.1}, {"measure": "correlation"}, {"measure": "parzen"},
            {"bins": "quantile"}, {"threshold": 0.5}, {"shift": 1.5}, {"y_transform": "rank"},
            {"task": "counts"},
        ],
        ids=str,
    )  # fmt: skip
    def test_every_option_changes_the_answer(self, options):
        X, y = table(13)
        y = np.round(np.exp(y))
        base, other = (fit(FVM(5, **kind), X, y) for kind in ({}, options))
        assert np.abs(base.coef_ - other.coef_).max() > 1e-3


class TestTargets:
    def test_classes(self):
        X, y = table()
        classes = np.digitize(y, [-1, 1.5])
        selector = FVM(4).fit(X, classes)
        d = oracle_binned.relevance(X, classes)
        D = oracle_binned.redundancy(X) + selector.shift_ * np.eye(12)
        peer = oracle.machine_by_clarabel(D, d, selector.alpha_)
        np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)

    def test_affinities(self):
        X, y = table()
        base = FVM(4, measure="hsic").fit(X, y)
        matrix = FVM(4, measure="hsic", y_kernel="precomputed").fit(X, oracles.gaussian_gram(y))
        np.testing.assert_allclose(matrix.coef_, base.coef_, atol=1e-3 * base.scores_.max())
        assert matrix.result_.task == "structured"

    def test_survival(self, rng):
        X, y = table()
        censored = np.array(
            list(zip(rng.random(80) < 0.8, np.exp(y), strict=True)),
            dtype=[("e", bool), ("t", float)],
        )
        selector = FVM(4, measure="hsic").fit(X, censored)
        assert selector.result_.task == "survival"
        assert np.count_nonzero(selector.coef_) == 4


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"alpha": 0.0}, r"alpha=0\.0, but the penalty must be > 0, or None"),
            ({"alpha": -1}, "alpha=-1, but the penalty"),
            ({"alpha": np.nan}, "alpha=nan, but it must be a number or None"),
            ({"alpha": "auto"}, "alpha='auto', but it must be a number or None"),
            ({"shift": -1.0}, r"shift=-1\.0, but what is added to the diagonal must be >= 0"),
            ({"shift": None}, "shift=None, but it must be a number or 'auto'"),
            ({"measure": "f"}, "measure='f' .* take measure='correlation'"),
            ({"measure": "entropy"}, "measure='entropy' is unknown"),
            ({"measure": "hsic", "n_bins": 4}, "n_bins=4 has no meaning"),
            ({"n_features_to_select": 13}, "n_features_to_select=13 is greater"),
        ],
        ids=str,
    )
    def test_parameters(self, options, words):
        X, y = table()
        with pytest.raises(InvalidInputError, match=words):
            FVM(**options).fit(X, y)

    def test_too_many_features(self, monkeypatch):
        monkeypatch.setattr(quadratic, "_MAX_FEATURES", 11)
        monkeypatch.setattr(MeasureOptions, "relate", None)  # it is not reached
        X, y = table()
        words = "X has 12 columns that vary, but FVM .* at most 11 are taken. Use QPFS with n_land"
        with pytest.raises(InvalidInputError, match=words):
            FVM(4).fit(X, y)

    def test_constant_columns_do_not_count(self, monkeypatch):
        monkeypatch.setattr(quadratic, "_MAX_FEATURES", 11)
        X, y = table()
        X[:, 11] = 1
        with pytest.warns(ConstantFeatureWarning):
            FVM(4).fit(X, y)


class TestInterface:
    def test_names(self):
        X, y = table()
        frame = pd.DataFrame(X, columns=[f"gene{k}" for k in range(12)])
        selector = FVM(3).set_output(transform="pandas").fit(frame, y)
        assert selector.result_.names == tuple(f"gene{k}" for k in selector.selected_)
        chosen = selector.transform(frame)
        assert list(chosen.columns) == [f"gene{k}" for k in sorted(selector.selected_)]
        assert selector.result_.method == "FVM"

    def test_clone_and_pickle(self):
        X, y = table()
        selector = FVM(3, bins="quantile").fit(X, y)
        assert clone(selector).get_params() == selector.get_params()
        again = pickle.loads(pickle.dumps(selector))
        np.testing.assert_array_equal(again.coef_, selector.coef_)

    def test_progress(self):
        stages = []
        X, y = table()
        FVM(3).fit_reporting(X, y, lambda *now: stages.append(now))
        assert {("redundancy", 12, 12), ("shift", 1, 1)} <= set(stages)
        assert stages[-1] == ("weights", 3, 12)

    def test_threads(self):
        X, y = table()
        one, two = (FVM(4, n_jobs=k).fit(X, y).coef_ for k in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_real_data(load_real):
    """Some pixels of warpAR10P, against clarabel on the original program."""
    stored = load_real("warpAR10P")
    X, y = stored["X"][:, ::30].astype(float), stored["y"]
    selector = FVM(20, shift=0.5).fit(X, y)  # some pixels have equal states
    D = oracle_binned.redundancy(X) + selector.shift_ * np.eye(80)
    peer = oracle.machine_by_clarabel(D, oracle_binned.relevance(X, y), selector.alpha_)
    np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)
    assert np.count_nonzero(selector.coef_) == 20
