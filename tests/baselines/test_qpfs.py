"""Quadratic programming feature selection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    InvalidInputError,
    make_data2,
)
from hsiclasso.baselines import QPFS, quadratic
from hsiclasso.baselines.binned import BinnedInformation
from tests import oracles
from tests.baselines import oracle_binned
from tests.baselines import oracle_quadratic as oracle
from tests.baselines.conftest import make_table, quiet_fit


class TestProgram:
    @pytest.mark.parametrize(
        ("measure", "gamma"),
        [
            ("mi", 0.0),
            ("mi", 0.5),
            ("correlation", 0.9),
            ("hsic", 0.3),
            ("nhsic", 0.5),
            ("nocco", 0.3),
        ],
    )
    def test_clarabel(self, measure, gamma):
        """The paper's program, from dependences in plain NumPy."""
        X, y = make_table()
        D, d = oracle.dependences(X, y, measure)
        size = D.max()  # clarabel's tolerances are absolute
        peer = oracle.simplex_by_clarabel((1 - gamma) * oracle.shifted(D) / size, gamma * d / size)
        selector = quiet_fit(QPFS(4, gamma=gamma, measure=measure), X, y)
        # kernel measures are computed to 1e-6
        tolerance = 1e-6 if measure in ("mi", "correlation") else 1e-4
        np.testing.assert_allclose(selector.coef_, peer, atol=tolerance)
        np.testing.assert_allclose(selector.relevance_, d, rtol=1e-5, atol=1e-5 * d.max())
        assert selector.certificate_.kkt_residual < 1e-12
        assert selector.gamma_ == gamma

    @pytest.mark.parametrize(
        ("measure", "gamma"), [("mi", 0.5), ("correlation", 0.0), ("hsic", 0.3)]
    )
    def test_no_weights_have_a_smaller_objective(self, measure, gamma, rng):
        X, y = make_table(1)
        D, d = oracle.dependences(X, y, measure)
        selector = quiet_fit(QPFS(4, gamma=gamma, measure=measure), X, y)
        theta, Q = selector.coef_, D + selector.shift_ * np.eye(12)
        least = oracles.qpfs_objective(Q, d, theta, gamma)
        for share in (1e-3, 1e-2, 0.1, 1.0):
            for _ in range(20):
                other = (1 - share) * theta + share * rng.dirichlet(np.full(12, 0.3))
                slack = 1e-6 * share * D.max()
                assert oracles.qpfs_objective(Q, d, other, gamma) >= least - slack

    @given(st.integers(0, 999), st.floats(0, 1), st.sampled_from([{}, {"bins": "quantile"}]))
    def test_conditions_on_any_table(self, seed, gamma, cut):
        X, y = make_table(seed, n=30, d=6)
        D, d = oracle.dependences(X, y, **cut)
        selector = quiet_fit(QPFS(2, gamma=gamma, **cut), X, y)
        Q = (1 - gamma) * (D + selector.shift_ * np.eye(6))
        assert oracle.simplex_violation(Q, gamma * d, selector.coef_) < 1e-9
        assert selector.coef_.sum() == pytest.approx(1)
        assert (selector.coef_ >= 0).all()

    def test_all_supports_enumerated(self):
        for seed in range(5):
            X, y = make_table(seed, d=6)
            X, D_and_d = X[:, :5], oracle.dependences(X[:, :5], y)
            D, d = D_and_d
            best = oracle.simplex_by_enumeration(0.5 * oracle.shifted(D), 0.5 * d)
            np.testing.assert_allclose(quiet_fit(QPFS(3), X, y).coef_, best, atol=1e-6)

    def test_finds_the_causal_features(self):
        X, y, causal = make_data2(500, 50, random_state=1)
        found = QPFS(3, measure="hsic", target=Auto(transform="rank")).fit(X, y).selected_
        assert len(set(found) & set(causal)) >= 2


class TestGamma:
    def test_auto(self):
        X, y = make_table()
        D, d = oracle.dependences(X, y)
        selector = quiet_fit(QPFS(4, gamma="auto"), X, y)
        assert selector.gamma_ == pytest.approx(oracle.balance(D, d), rel=1e-12)
        same = quiet_fit(QPFS(4, gamma=selector.gamma_), X, y)
        np.testing.assert_array_equal(selector.coef_, same.coef_)

    def test_relevance_alone(self):
        X, y = make_table()
        with pytest.warns(FewerFeaturesWarning, match="QPFS chose 1 features where 4"):
            selector = QPFS(4, gamma=1.0).fit(X, y)
        best = np.argmax(selector.relevance_)
        assert np.flatnonzero(selector.coef_).tolist() == [best]
        assert selector.coef_[best] == 1
        assert selector.selected_.tolist() == np.argsort(-selector.relevance_)[:4].tolist()
        origins = [feature.origin for feature in selector.result_.features]
        assert origins == ["method", "filled", "filled", "filled"]

    def test_redundancy_alone_does_not_look_at_the_target(self, rng):
        X, y = make_table()
        first, second = (QPFS(4, gamma=0.0).fit(X, t) for t in (y, rng.permutation(y)))
        np.testing.assert_array_equal(first.coef_, second.coef_)

    def test_more_of_it_gives_more_relevance(self):
        X, y = make_table(2)
        found = [quiet_fit(QPFS(2, gamma=g), X, y) for g in (0.0, 0.3, 0.6, 0.9, 1.0)]
        relevance = [selector.coef_ @ selector.relevance_ for selector in found]
        assert (np.diff(relevance) > -1e-12).all()
        assert relevance[-1] > relevance[0] + 0.1


class TestLandmarks:
    @pytest.mark.parametrize("measure", ["hsic", "nhsic"])
    def test_all_of_them_give_the_exact_answer(self, measure):
        X, y = make_table()
        exact = QPFS(4, measure=measure).fit(X, y)
        approximate = QPFS(4, measure=measure, n_landmarks=12, random_state=0).fit(X, y)
        np.testing.assert_allclose(approximate.coef_, exact.coef_, atol=1e-7)
        assert approximate.shift_ == 0

    def test_as_many_as_the_rank(self, monkeypatch, rng):
        """A matrix of rank 6 is known from 6 of its columns."""
        X, y = make_table()
        F = rng.random((12, 6))
        replace_redundancy(monkeypatch, F @ F.T)
        exact = quiet_fit(QPFS(4, shift=0.0), X, y)
        few = quiet_fit(QPFS(4, n_landmarks=6, random_state=0), X, y)
        np.testing.assert_allclose(few.coef_, exact.coef_, atol=1e-7)

    @pytest.mark.parametrize(("gamma", "shift"), [("auto", "auto"), (0.5, 0.05)])
    def test_clarabel(self, gamma, shift, indefinite):
        """Landmarks whose own matrix is indefinite; negative eigenvalues are left out."""
        X, y, D, d = indefinite
        options = {"n_landmarks": 50, "gamma": gamma, "shift": shift}
        selector = quiet_fit(QPFS(5, random_state=3, **options), X, y)
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
        X, y = make_table(d=40)
        asked, block = [], BinnedInformation.block

        def watched(self, rows, cols):
            asked.append(set(cols.tolist()))
            return block(self, rows, cols)

        monkeypatch.setattr(BinnedInformation, "block", watched)
        quiet_fit(QPFS(4, n_landmarks=5, random_state=0), X, y)
        assert len(set.union(*asked)) == 5

    def test_random_state(self):
        X, y = make_table(d=40)
        given_ = lambda state: quiet_fit(QPFS(4, n_landmarks=8, random_state=state), X, y).coef_  # noqa: E731
        np.testing.assert_array_equal(given_(0), given_(0))
        np.testing.assert_array_equal(given_(0), given_(np.random.default_rng(0)))
        np.testing.assert_array_equal(
            given_(np.random.RandomState(0)), given_(np.random.RandomState(0))
        )
        assert any(not np.array_equal(given_(0), given_(seed)) for seed in range(1, 5))
        assert given_(None).sum() == pytest.approx(1)

    def test_too_many(self):
        X, y = make_table()
        with pytest.raises(InvalidInputError, match="n_landmarks=13 is greater than n_features=12"):
            QPFS(4, n_landmarks=13).fit(X, y)

    def test_columns_that_do_not_vary_are_no_landmarks(self):
        X, y = make_table()
        X[:, 3:11] = 1.0
        with pytest.warns(ConstantFeatureWarning):
            selector = quiet_fit(QPFS(2, n_landmarks=12, random_state=0), X, y)
        assert not selector.coef_[3:11].any()
        assert selector.coef_.sum() == pytest.approx(1)


def replace_redundancy(monkeypatch, matrix):
    """Let mutual information between features be what a matrix says."""
    monkeypatch.setattr(BinnedInformation, "block", lambda self, r, c: matrix[np.ix_(r, c)])


class TestColumns:
    def test_a_column_of_a_single_state_gets_no_weight(self):
        """All of its values lie within a deviation of their mean."""
        X, y = make_table(n=80)
        X[:, 2] = np.tile([-1, 1], 40) * (1 + 1e-4 * np.arange(80) / 80)
        assert np.unique(oracle_binned.states(X[:, 2])).size == 1
        for options in ({}, {"n_landmarks": 12}):
            selector = quiet_fit(QPFS(4, **options), X, y)
            assert selector.coef_[2] == 0
            assert selector.relevance_[2] < 1e-12
            assert np.flatnonzero(selector.coef_).size > 1

    def test_copies_share_the_weight(self):
        X, y = make_table()
        base = quiet_fit(QPFS(4, shift=1.0), X, y)
        best = base.selected_[0]
        both = quiet_fit(QPFS(4, shift=1.0), np.column_stack([X, X[:, best]]), y)
        assert both.coef_[best] == pytest.approx(both.coef_[12], rel=1e-9)


class TestErrors:
    def test_landmarks_take_any_number_of_features(self, monkeypatch):
        monkeypatch.setattr(quadratic, "_MAX_FEATURES", 11)
        X, y = make_table()
        assert quiet_fit(QPFS(4, n_landmarks=6, random_state=0), X, y).selected_.size == 4


def test_real_data(load_real):
    """Every fifteenth pixel of warpAR10P, against clarabel."""
    stored = load_real("warpAR10P")
    X, y = stored["X"][:, ::15].astype(float), stored["y"]
    D, d = oracle_binned.redundancy(X[:, :80]), oracle_binned.relevance(X[:, :80], y)
    selector = quiet_fit(QPFS(20), X[:, :80], y)
    peer = oracle.simplex_by_clarabel(0.5 * oracle.shifted(D), 0.5 * d)
    np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)
    assert selector.certificate_.kkt_residual < 1e-13
