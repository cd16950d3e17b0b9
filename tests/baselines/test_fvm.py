"""The feature vector machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from hsiclasso import (
    FewerFeaturesWarning,
)
from hsiclasso.baselines import FVM, fvm
from hsiclasso.baselines.binned import BinnedInformation
from hsiclasso.solvers import Status, solve_path
from tests import oracles
from tests.baselines import oracle_binned
from tests.baselines import oracle_quadratic as oracle
from tests.baselines.conftest import make_table, quiet_fit
from tests.baselines.oracle_lasso import lower_bound


def replace_redundancy(monkeypatch, matrix):
    """Let mutual information between features be what a matrix says."""
    monkeypatch.setattr(BinnedInformation, "block", lambda self, r, c: matrix[np.ix_(r, c)])


class TestMachine:
    @pytest.mark.parametrize(
        ("measure", "share"), [("mi", 0.9), ("mi", 0.1), ("correlation", 0.01), ("hsic", 0.5)]
    )
    def test_clarabel_on_the_original_program(self, measure, share):
        """min a'Da / 2 with |Da - d| <= alpha / 2, from dependences in plain NumPy."""
        X, y = make_table()
        D, d = oracle.dependences(X, y, measure)
        alpha = share * 2 * d.max()
        selector = quiet_fit(FVM(4, alpha=alpha, measure=measure), X, y)
        Q = D + selector.shift_ * np.eye(12)
        size = D.max()  # clarabel's tolerances are absolute
        peer = oracle.machine_by_clarabel(Q / size, d / size, alpha / size)
        tolerance = 1e-6 if measure != "hsic" else 1e-4 * np.abs(peer).max()
        np.testing.assert_allclose(selector.coef_, peer, atol=tolerance)
        assert oracles.fvm_violation(Q, d, selector.coef_, alpha) <= 1e-4 * alpha
        assert selector.alpha_ == pytest.approx(alpha)
        assert selector.certificate_.kkt_residual < 1e-12

    @pytest.mark.parametrize(("measure", "m"), [("mi", 1), ("mi", 9), ("correlation", 4)])
    def test_no_feasible_weights_have_a_smaller_objective(self, measure, m, rng):
        X, y = make_table(4)
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

    @pytest.mark.parametrize("m", [1, 9])
    def test_the_feature_wise_lasso(self, m):
        """With inner products of matrices the lasso in their space, at half the penalty."""
        X, y = make_table(4)
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
            X, y = make_table(seed, d=6)
            X = X[:, :5]
            F = rng.random((5, 5))
            D = F @ F.T + 0.02 * np.eye(5)
            replace_redundancy(monkeypatch, D)
            selector = quiet_fit(FVM(2, alpha=0.05, shift=0.0), X, y)
            best = oracle.lasso_by_enumeration(D, selector.relevance_, 0.05)
            np.testing.assert_allclose(selector.coef_, best, atol=1e-9)
            np.testing.assert_array_equal(selector.scores_, np.abs(selector.coef_))
            negative += np.count_nonzero(selector.coef_ < 0)
        assert negative > 3

    @given(st.integers(0, 999), st.floats(0.01, 1.2), st.sampled_from([{}, {"bins": "quantile"}]))
    def test_conditions_on_any_table(self, seed, share, cut):
        X, y = make_table(seed, n=30, d=6)
        D, d = oracle.dependences(X, y, **cut)
        alpha = share * 2 * d.max()
        selector = quiet_fit(FVM(2, alpha=alpha, **cut), X, y)
        a = selector.coef_
        c = d - (D + selector.shift_ * np.eye(6)) @ a
        on = a != 0
        np.testing.assert_allclose(c[on], 0.5 * alpha * np.sign(a[on]), atol=1e-9)
        assert (np.abs(c) <= 0.5 * alpha + 1e-9).all()


class TestAlpha:
    @pytest.mark.parametrize("m", [1, 2, 5, 9])
    def test_falls_until_there_are_enough(self, m):
        X, y = make_table()
        selector = FVM(m).fit(X, y)
        assert np.count_nonzero(selector.coef_) == m
        assert set(selector.selected_) == set(np.flatnonzero(selector.coef_))
        same = FVM(m, alpha=selector.alpha_).fit(X, y)
        np.testing.assert_allclose(same.coef_, selector.coef_, atol=1e-9)
        above = quiet_fit(FVM(m, alpha=1.2 * selector.alpha_), X, y)
        assert np.count_nonzero(above.coef_) <= m

    def test_all_features(self):
        X, y = make_table()
        selector = quiet_fit(FVM(12), X, y)
        assert selector.selected_.size == 12
        assert selector.certificate_.kkt_residual < 1e-9

    def test_the_largest_useful_one(self):
        X, y = make_table()
        top = 2 * FVM(1).fit(X, y).relevance_.max()
        assert not quiet_fit(FVM(3, alpha=top), X, y).coef_.any()
        assert np.count_nonzero(quiet_fit(FVM(3, alpha=0.999 * top), X, y).coef_) == 1

    def test_one_as_in_the_paper(self):
        """No mutual information exceeds half a nat: all weights are zero."""
        X, y = make_table()
        words = r"FVM chose 0 features where 3.*At alpha=1 all weights are zero, .* by relevance"
        with pytest.warns(FewerFeaturesWarning, match=words):
            selector = FVM(3, alpha=1.0).fit(X, y)
        assert not selector.coef_.any()
        assert selector.alpha_ == 1.0
        assert selector.selected_.tolist() == np.argsort(-selector.relevance_)[:3].tolist()
        assert {feature.origin for feature in selector.result_.features} == {"filled"}

    def test_message(self):
        X, y = make_table()
        selector = FVM(3).fit(X, y)
        assert f"3 weights are not zero at alpha={selector.alpha_:.4g}" in selector.result_.message

    def test_nothing_relevant(self, monkeypatch):
        X, y = make_table()
        original = BinnedInformation._count
        monkeypatch.setattr(BinnedInformation, "_count", lambda *args: 0 * original(*args))
        selector = quiet_fit(FVM(3), X, y)
        assert not selector.coef_.any()
        assert selector.alpha_ == 0
        assert selector.selected_.size == 3

    def test_a_stalled_path_is_a_warning(self, monkeypatch):
        X, y = make_table()

        def stalled(*args, **options):
            return replace(solve_path(*args, **options), status=Status.STALLED)

        monkeypatch.setattr(fvm, "solve_path", stalled)
        with pytest.warns(ConvergenceWarning, match="FVM: the path stopped early") as caught:
            FVM(3).fit(X, y)
        assert caught[0].filename == __file__


def test_real_data(load_real):
    """Some pixels of warpAR10P, against clarabel on the original program."""
    stored = load_real("warpAR10P")
    X, y = stored["X"][:, ::30].astype(float), stored["y"]
    selector = FVM(20, shift=0.5).fit(X, y)  # some pixels have equal states
    D = oracle_binned.redundancy(X) + selector.shift_ * np.eye(80)
    peer = oracle.machine_by_clarabel(D, oracle_binned.relevance(X, y), selector.alpha_)
    np.testing.assert_allclose(selector.coef_, peer, atol=1e-6)
    assert np.count_nonzero(selector.coef_) == 20
