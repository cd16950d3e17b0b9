"""Quadratic programming feature selection."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    InvalidInputError,
    make_data1,
    make_data2,
)
from hsiclasso.baselines import QPFS, quadratic
from hsiclasso.baselines.binned import BinnedInformation
from hsiclasso.baselines.dependency import MeasureOptions
from tests import oracles
from tests.baselines import oracle_binned
from tests.baselines import oracle_quadratic as oracle


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        QPFS(), QPFS(gamma="auto", bins="quantile", n_bins=3), QPFS(1, gamma=1.0),
        QPFS(gamma=0.0, bins="levels"), QPFS(n_landmarks=1), QPFS(measure="correlation"),
        QPFS(measure="hsic"), QPFS(measure="parzen", n_jobs=1),
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


def indefinite_table():
    """Few samples and many columns, between which mutual information is indefinite."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 60))
    y = X[:, 0] + X[:, 1] ** 2
    D, d = oracle.dependences(X, y)
    assert np.linalg.eigvalsh(D)[0] < -0.05
    return X, y, D, d


class TestProgram:
    @pytest.mark.parametrize("gamma", [0.0, 0.3, 0.5, 0.9])
    @pytest.mark.parametrize("measure", ["mi", "correlation", "hsic", "nhsic", "nocco"])
    def test_clarabel(self, measure, gamma):
        """The paper's program, from dependences in plain NumPy."""
        X, y = table()
        D, d = oracle.dependences(X, y, measure)
        size = D.max()  # clarabel's tolerances are absolute
        peer = oracle.simplex_by_clarabel((1 - gamma) * oracle.shifted(D) / size, gamma * d / size)
        selector = fit(QPFS(4, gamma=gamma, measure=measure), X, y)
        # kernel measures are computed to 1e-6
        tolerance = 1e-6 if measure in ("mi", "correlation") else 1e-4
        np.testing.assert_allclose(selector.coef_, peer, atol=tolerance)
        np.testing.assert_allclose(selector.relevance_, d, rtol=1e-5, atol=1e-5 * d.max())
        assert selector.certificate_.kkt_residual < 1e-12
        assert selector.gamma_ == gamma

    @pytest.mark.parametrize("gamma", [0.0, 0.3, 0.5, 0.9])
    @pytest.mark.parametrize("measure", ["mi", "correlation", "hsic"])
    def test_no_weights_have_a_smaller_objective(self, measure, gamma, rng):
        X, y = table(1)
        D, d = oracle.dependences(X, y, measure)
        selector = fit(QPFS(4, gamma=gamma, measure=measure), X, y)
        theta, Q = selector.coef_, D + selector.shift_ * np.eye(12)
        least = oracles.qpfs_objective(Q, d, theta, gamma)
        for share in (1e-3, 1e-2, 0.1, 1.0):
            for _ in range(20):
                other = (1 - share) * theta + share * rng.dirichlet(np.full(12, 0.3))
                slack = 1e-6 * share * D.max()
                assert oracles.qpfs_objective(Q, d, other, gamma) >= least - slack

    @given(st.integers(0, 999), st.floats(0, 1), st.sampled_from([{}, {"bins": "quantile"}]))
    def test_conditions_on_any_table(self, seed, gamma, cut):
        X, y = table(seed, n=30, d=8)
        D, d = oracle.dependences(X, y, **cut)
        selector = fit(QPFS(2, gamma=gamma, **cut), X, y)
        Q = (1 - gamma) * (D + selector.shift_ * np.eye(8))
        assert oracle.simplex_violation(Q, gamma * d, selector.coef_) < 1e-9
        assert selector.coef_.sum() == pytest.approx(1)
        assert (selector.coef_ >= 0).all()

    def test_all_supports_enumerated(self):
        for seed in range(5):
            X, y = table(seed, d=6)
            X, D_and_d = X[:, :5], oracle.dependences(X[:, :5], y)
            D, d = D_and_d
            best = oracle.simplex_by_enumeration(0.5 * oracle.shifted(D), 0.5 * d)
            np.testing.assert_allclose(fit(QPFS(3), X, y).coef_, best, atol=1e-6)

    def test_classes(self, rng):
        X, y = table()
        classes = np.digitize(y, [-1, 1.5])
        d = oracle_binned.relevance(X, classes)
        D = oracle_binned.redundancy(X)
        peer = oracle.simplex_by_clarabel(0.5 * oracle.shifted(D), 0.5 * d)
        np.testing.assert_allclose(fit(QPFS(4), X, classes).coef_, peer, atol=1e-6)

    def test_ranked_by_weight_then_relevance(self):
        X, y = table(3)
        selector = fit(QPFS(6, gamma=0.8), X, y)
        theta, d = selector.coef_, selector.relevance_
        positive = np.flatnonzero(theta)
        assert 0 < positive.size < 12
        order = np.argsort(selector.ranking_)
        assert order[: positive.size].tolist() == sorted(positive, key=lambda k: -theta[k])
        rest = order[positive.size :]
        assert (np.diff(d[rest]) <= 0).all()
        np.testing.assert_array_equal(selector.scores_, theta)
        assert selector.selected_.tolist() == order[:6].tolist()

    def test_finds_the_causal_features(self):
        X, y, causal = make_data1(500, 100, random_state=1)
        assert set(QPFS(4, bins="quantile").fit(X, y).selected_) == set(causal)
        X, y, causal = make_data2(500, 50, random_state=1)
        found = QPFS(3, measure="hsic", y_transform="rank").fit(X, y).selected_
        assert len(set(found) & set(causal)) >= 2


class TestGamma:
    def test_auto(self):
        X, y = table()
        D, d = oracle.dependences(X, y)
        selector = fit(QPFS(4, gamma="auto"), X, y)
        assert selector.gamma_ == pytest.approx(oracle.balance(D, d), rel=1e-12)
        same = fit(QPFS(4, gamma=selector.gamma_), X, y)
        np.testing.assert_array_equal(selector.coef_, same.coef_)

    def test_relevance_alone(self):
        X, y = table()
        with pytest.warns(FewerFeaturesWarning, match="QPFS chose 1 features where 4"):
            selector = QPFS(4, gamma=1.0).fit(X, y)
        best = np.argmax(selector.relevance_)
        assert np.flatnonzero(selector.coef_).tolist() == [best]
        assert selector.coef_[best] == 1
        assert selector.selected_.tolist() == np.argsort(-selector.relevance_)[:4].tolist()
        origins = [feature.origin for feature in selector.result_.features]
        assert origins == ["method", "filled", "filled", "filled"]

    def test_redundancy_alone_does_not_look_at_the_target(self, rng):
        X, y = table()
        first, second = (QPFS(4, gamma=0.0).fit(X, t) for t in (y, rng.permutation(y)))
        np.testing.assert_array_equal(first.coef_, second.coef_)

    def test_more_of_it_gives_more_relevance(self):
        X, y = table(2)
        found = [fit(QPFS(2, gamma=g), X, y) for g in (0.0, 0.3, 0.6, 0.9, 1.0)]
        relevance = [selector.coef_ @ selector.relevance_ for selector in found]
        assert (np.diff(relevance) > -1e-12).all()
        assert relevance[-1] > relevance[0] + 0.1


class TestShift:
    def test_lowest_eigenvalue(self):
        X, y, D, d = indefinite_table()
        selector = QPFS(5).fit(X, y)
        lowest = np.linalg.eigvalsh(D)[0]
        assert selector.min_eigenvalue_ == pytest.approx(lowest, rel=1e-10)
        assert selector.shift_ == pytest.approx(-lowest, rel=1e-6)
        assert selector.shift_ > -lowest
        assert f"{selector.shift_:.3g} added to the diagonal" in selector.result_.message
        peer = oracle.simplex_by_clarabel(0.5 * oracle.shifted(D), 0.5 * d)
        np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)

    def test_none_where_it_is_not_needed(self):
        X, y = table()
        selector = QPFS(4, measure="hsic").fit(X, y)
        assert selector.min_eigenvalue_ > 0
        assert selector.shift_ == 0
        assert "diagonal" not in selector.result_.message

    def test_given(self):
        X, y, D, d = indefinite_table()
        selector = QPFS(5, shift=2.0).fit(X, y)
        assert selector.shift_ == 2.0
        peer = oracle.simplex_by_clarabel(0.5 * (D + 2 * np.eye(60)), 0.5 * d)
        np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)
        assert np.abs(selector.coef_ - QPFS(5).fit(X, y).coef_).max() > 1e-3

    def test_too_small(self):
        X, y, _, _ = indefinite_table()
        with pytest.raises(InvalidInputError, match=r"shift=0\.01, but .*eigenvalue -0\..*'auto'"):
            QPFS(5, shift=0.01).fit(X, y)

    def test_large_matrices_take_another_way(self, monkeypatch):
        X, y, _, _ = indefinite_table()
        base = QPFS(5).fit(X, y)
        monkeypatch.setattr(quadratic, "_DIRECT", 45)
        other = QPFS(5).fit(X, y)
        assert other.min_eigenvalue_ == pytest.approx(base.min_eigenvalue_, rel=1e-9)
        np.testing.assert_allclose(other.coef_, base.coef_, atol=1e-7)


class TestLandmarks:
    @pytest.mark.parametrize("measure", ["hsic", "nhsic"])
    def test_all_of_them_give_the_exact_answer(self, measure):
        X, y = table()
        exact = QPFS(4, measure=measure).fit(X, y)
        approximate = QPFS(4, measure=measure, n_landmarks=12, random_state=0).fit(X, y)
        np.testing.assert_allclose(approximate.coef_, exact.coef_, atol=1e-7)
        assert approximate.shift_ == 0

    def test_as_many_as_the_rank(self, monkeypatch, rng):
        """A matrix of rank 6 is known from 6 of its columns."""
        X, y = table()
        F = rng.random((12, 6))
        replace_redundancy(monkeypatch, F @ F.T)
        exact = fit(QPFS(4, shift=0.0), X, y)
        few = fit(QPFS(4, n_landmarks=6, random_state=0), X, y)
        np.testing.assert_allclose(few.coef_, exact.coef_, atol=1e-7)

    @pytest.mark.parametrize("shift", ["auto", 0.05])
    @pytest.mark.parametrize("gamma", ["auto", 0.5])
    def test_clarabel(self, gamma, shift):
        """Landmarks whose own matrix is indefinite; negative eigenvalues are left out."""
        X, y, D, d = indefinite_table()
        options = {"n_landmarks": 50, "gamma": gamma, "shift": shift}
        selector = fit(QPFS(5, random_state=3, **options), X, y)
        landmarks = np.sort(np.random.default_rng(3).permutation(60)[:50])
        among = D[np.ix_(landmarks, landmarks)]
        assert selector.min_eigenvalue_ == pytest.approx(np.linalg.eigvalsh(among)[0], rel=1e-9)
        assert selector.min_eigenvalue_ < 0
        g = 0.5
        if gamma == "auto":
            g = D[:, landmarks].mean() / (D[:, landmarks].mean() + d.mean())
        assert selector.gamma_ == pytest.approx(g, rel=1e-12)
        Q = (1 - g) * (oracle.nystrom(D, landmarks) + selector.shift_ * np.eye(60))
        assert oracle.simplex_violation(Q, g * d, selector.coef_) < 1e-9
        peer = oracle.simplex_by_clarabel(Q + 1e-10 * np.eye(60), g * d)
        np.testing.assert_allclose(selector.coef_, peer, atol=1e-5)

    def test_only_their_columns_are_computed(self, monkeypatch):
        X, y = table(d=40)
        asked, block = [], BinnedInformation.block

        def watched(self, rows, cols):
            asked.append(set(cols.tolist()))
            return block(self, rows, cols)

        monkeypatch.setattr(BinnedInformation, "block", watched)
        fit(QPFS(4, n_landmarks=5, random_state=0), X, y)
        assert len(set.union(*asked)) == 5

    def test_random_state(self):
        X, y = table(d=40)
        given_ = lambda state: fit(QPFS(4, n_landmarks=8, random_state=state), X, y).coef_  # noqa: E731
        np.testing.assert_array_equal(given_(0), given_(0))
        np.testing.assert_array_equal(given_(0), given_(np.random.default_rng(0)))
        np.testing.assert_array_equal(
            given_(np.random.RandomState(0)), given_(np.random.RandomState(0))
        )
        assert any(not np.array_equal(given_(0), given_(seed)) for seed in range(1, 5))
        assert given_(None).sum() == pytest.approx(1)

    def test_too_many(self):
        X, y = table()
        with pytest.raises(InvalidInputError, match="n_landmarks=13 is greater than n_features=12"):
            QPFS(4, n_landmarks=13).fit(X, y)

    def test_columns_that_do_not_vary_are_no_landmarks(self):
        X, y = table()
        X[:, 3:11] = 1.0
        with pytest.warns(ConstantFeatureWarning):
            selector = fit(QPFS(2, n_landmarks=12, random_state=0), X, y)
        assert not selector.coef_[3:11].any()
        assert selector.coef_.sum() == pytest.approx(1)


def replace_redundancy(monkeypatch, matrix):
    """Let mutual information between features be what a matrix says."""
    monkeypatch.setattr(BinnedInformation, "block", lambda self, r, c: matrix[np.ix_(r, c)])


class TestColumns:
    def test_constant_ones_get_no_weight(self):
        """They would be redundant with nothing."""
        X, y = table()
        without = fit(QPFS(4), X, y)
        with pytest.warns(ConstantFeatureWarning):
            selector = fit(QPFS(4), np.insert(X, 2, 7.0, axis=1), y)
        assert selector.coef_[2] == 0
        np.testing.assert_allclose(np.delete(selector.coef_, 2), without.coef_, atol=1e-9)
        assert selector.ranking_[2] == 13

    def test_a_column_of_a_single_state_gets_no_weight(self):
        """All of its values lie within a deviation of their mean."""
        X, y = table(n=80)
        X[:, 2] = np.tile([-1, 1], 40) * (1 + 1e-4 * np.arange(80) / 80)
        assert np.unique(oracle_binned.states(X[:, 2])).size == 1
        for options in ({}, {"n_landmarks": 12}):
            selector = fit(QPFS(4, **options), X, y)
            assert selector.coef_[2] == 0
            assert selector.relevance_[2] < 1e-12
            assert np.flatnonzero(selector.coef_).size > 1

    def test_nothing_varies(self):
        X, y = np.ones((20, 4)), np.arange(20.0)
        for options in ({}, {"gamma": "auto"}, {"n_landmarks": 2}):
            with pytest.warns(ConstantFeatureWarning):
                selector = QPFS(2, **options).fit(X, y)
            assert selector.selected_.size == 0
            assert not selector.coef_.any()
            assert np.isnan(selector.min_eigenvalue_)

    def test_copies_share_the_weight(self):
        X, y = table()
        base = fit(QPFS(4, shift=1.0), X, y)
        best = base.selected_[0]
        both = fit(QPFS(4, shift=1.0), np.column_stack([X, X[:, best]]), y)
        assert both.coef_[best] == pytest.approx(both.coef_[12], rel=1e-9)

    def test_permuted(self, rng):
        X, y = table()
        for measure in ("mi", "correlation"):
            base = fit(QPFS(4, measure=measure), X, y)
            order, rows = rng.permutation(12), rng.permutation(80)
            moved = fit(QPFS(4, measure=measure), X[rows][:, order], y[rows])
            np.testing.assert_allclose(moved.coef_, base.coef_[order], atol=1e-7)

    def test_shifted_and_scaled(self, rng):
        X, y = table()
        base = fit(QPFS(4), X, y).coef_
        moved = fit(QPFS(4), X * rng.uniform(0.5, 9, 12) + 3, 5 * y - 1).coef_
        np.testing.assert_allclose(moved, base, atol=1e-9)

    def test_labels(self):
        X, y = table()
        frame = pd.DataFrame(X).add_prefix("x")
        frame["kind"] = np.where(y > np.median(y), "high", "low")
        selector = fit(QPFS(3), frame, y > np.median(y))
        assert selector.result_.names[0] == "kind"

    @pytest.mark.parametrize(
        "options",
        [
            {"gamma": 0.2}, {"gamma": "auto"}, {"measure": "correlation"}, {"measure": "parzen"},
            {"bins": "quantile"}, {"threshold": 0.5}, {"shift": 1.5}, {"n_landmarks": 3},
            {"y_transform": "rank"}, {"task": "counts"},
        ],
        ids=str,
    )  # fmt: skip
    def test_every_option_changes_the_answer(self, options):
        X, y = table(13)
        y = np.round(np.exp(y))
        base, other = (fit(QPFS(5, random_state=0, **kind), X, y) for kind in ({}, options))
        assert np.abs(base.coef_ - other.coef_).max() > 1e-3


class TestTargets:
    def test_affinities(self):
        X, y = table()
        L = oracles.gaussian_gram(y)
        base = QPFS(4, measure="hsic").fit(X, y)
        matrix = QPFS(4, measure="hsic", y_kernel="precomputed").fit(X, L)
        np.testing.assert_allclose(matrix.coef_, base.coef_, atol=1e-4)
        assert matrix.result_.task == "structured"

    def test_survival(self, rng):
        X, y = table()
        times = np.exp(y)
        censored = np.array(
            list(zip(rng.random(80) < 0.8, times, strict=True)), dtype=[("e", bool), ("t", float)]
        )
        selector = QPFS(4, measure="hsic").fit(X, censored)
        assert selector.result_.task == "survival"
        assert selector.coef_.sum() == pytest.approx(1)

    def test_states_cannot_be_made_of_affinities(self):
        X, y = table()
        with pytest.raises(InvalidInputError, match="y_kernel='precomputed' has no meaning"):
            QPFS(4, y_kernel="precomputed").fit(X, oracles.gaussian_gram(y))


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"gamma": 1.5}, r"gamma=1\.5, but the weight of relevance must lie between 0"),
            ({"gamma": -0.1}, r"gamma=-0\.1"),
            ({"gamma": "best"}, "gamma='best', but it must be a number or 'auto'"),
            ({"gamma": np.nan}, "gamma=nan"),
            ({"shift": -1.0}, r"shift=-1\.0, but what is added to the diagonal must be >= 0"),
            ({"shift": "none"}, "shift='none', but it must be a number or 'auto'"),
            ({"n_landmarks": 0}, "n_landmarks=0 must be a whole number >= 1"),
            ({"n_landmarks": 2.5}, r"n_landmarks=2\.5 must be a whole number"),
            ({"random_state": "seed"}, "random_state='seed' is no source of randomness"),
            ({"measure": "entropy"}, "measure='entropy' is unknown"),
            ({"measure": "f"}, "measure='f' .* take measure='correlation'"),
            ({"measure": "hsic", "bins": "quantile"}, "bins='quantile' has no meaning"),
            ({"x_width": 2.0}, r"x_width=2\.0 has no meaning with measure='mi'"),
            ({"n_features_to_select": 0}, "n_features_to_select=0"),
            ({"n_features_to_select": 13}, "n_features_to_select=13 is greater"),
        ],
        ids=str,
    )
    def test_parameters(self, options, words):
        X, y = table()
        with pytest.raises(InvalidInputError, match=words):
            QPFS(**options).fit(X, y)

    def test_too_many_features(self, monkeypatch):
        monkeypatch.setattr(quadratic, "_MAX_FEATURES", 11)
        monkeypatch.setattr(MeasureOptions, "relate", None)  # it is not reached
        X, y = table()
        words = "X has 12 columns that vary, .* at most 11 are taken. Pass n_landmarks"
        with pytest.raises(InvalidInputError, match=words):
            QPFS(4).fit(X, y)

    def test_landmarks_take_any_number_of_features(self, monkeypatch):
        monkeypatch.setattr(quadratic, "_MAX_FEATURES", 11)
        X, y = table()
        assert fit(QPFS(4, n_landmarks=6, random_state=0), X, y).selected_.size == 4


class TestInterface:
    def test_names(self):
        X, y = table()
        frame = pd.DataFrame(X, columns=[f"gene{k}" for k in range(12)])
        selector = fit(QPFS(3).set_output(transform="pandas"), frame, y)
        assert selector.result_.names == tuple(f"gene{k}" for k in selector.selected_)
        chosen = selector.transform(frame)
        assert list(chosen.columns) == [f"gene{k}" for k in sorted(selector.selected_)]
        assert selector.result_.method == "QPFS"
        assert [f.score for f in selector.result_.features] == pytest.approx(
            selector.scores_[selector.selected_].tolist()
        )

    def test_clone_and_pickle(self):
        X, y = table()
        selector = fit(QPFS(3, gamma="auto", random_state=1), X, y)
        assert clone(selector).get_params() == selector.get_params()
        again = pickle.loads(pickle.dumps(selector))
        np.testing.assert_array_equal(again.coef_, selector.coef_)

    def test_progress(self):
        stages = []
        X, y = table()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            QPFS(3).fit_reporting(X, y, lambda *now: stages.append(now))
        assert {("redundancy", 12, 12), ("shift", 1, 1)} <= set(stages)
        assert stages[-1][0] == "weights"

    def test_threads(self):
        X, y = table()
        one, two = (fit(QPFS(4, n_jobs=k), X, y).coef_ for k in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_real_data(load_real):
    """Every fifteenth pixel of warpAR10P, against clarabel."""
    stored = load_real("warpAR10P")
    X, y = stored["X"][:, ::15].astype(float), stored["y"]
    D, d = oracle_binned.redundancy(X[:, :80]), oracle_binned.relevance(X[:, :80], y)
    selector = fit(QPFS(20), X[:, :80], y)
    peer = oracle.simplex_by_clarabel(0.5 * oracle.shifted(D), 0.5 * d)
    np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)
    assert selector.certificate_.kkt_residual < 1e-13
