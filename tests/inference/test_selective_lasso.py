"""Which values of a statistic select the same features: the polyhedral lemma, and beyond it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, kstest

from hsiclasso.inference.selective_lasso import Line, selected_by_lasso
from hsiclasso.inference.truncated import confidence_interval, survival
from tests.oracles import lasso_selects


def problem(p, seed):
    """Redundancies, HSIC and its covariance."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2 * p, p)), rng.standard_normal((2 * p, p))
    return np.abs(A.T @ A) / p + 2 * np.eye(p), rng.standard_normal(p) + 0.3, B.T @ B / p


def statistic(M, covariance, active, k, partial):
    """The direction eta of a statistic, and c."""
    eta = np.zeros(len(M))
    if partial:
        chosen = np.flatnonzero(active)
        eta[chosen] = np.linalg.inv(M[np.ix_(chosen, chosen)])[list(chosen).index(k)]
    else:
        eta[k] = 1.0
    return eta, covariance @ eta / (eta @ covariance @ eta)


@given(p=st.integers(1, 6), seed=st.integers(0, 10**6), alpha=st.floats(0, 1.5))
def test_selected_features_are_those_of_the_lasso(p, seed, alpha):
    M, H, _ = problem(p, seed)
    np.testing.assert_array_equal(selected_by_lasso(M, H, alpha), lasso_selects(M, H, alpha))


@pytest.mark.parametrize("partial", [True, False])
@given(p=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_intervals_are_where_the_same_is_selected(p, seed, partial):
    M, H, covariance = problem(p, seed)
    active = lasso_selects(M, H, 0.2)
    for k in np.flatnonzero(active):
        eta, c = statistic(M, covariance, active, k, partial)
        t = eta @ H
        line = Line(M, H - c * t, c, 0.2)
        union = line.same_model(active) if partial else line.with_feature(k, active)
        assert ((union[:, 0] <= t) & (t <= union[:, 1])).any()
        assert (np.diff(union.ravel()) >= 0).all()
        for other in t + np.linspace(-6, 6, 25) * np.sqrt(eta @ covariance @ eta):
            if np.abs(union - other).min() < 1e-6:
                continue
            found = lasso_selects(M, H + c * (other - t), 0.2)
            same = (found == active).all() if partial else found[k]
            assert same == ((union[:, 0] < other) & (other < union[:, 1])).any()


def test_a_feature_may_be_selected_on_several_intervals():
    """Where others take its place in between; this is rare."""
    rng = np.random.default_rng(669)
    A = rng.standard_normal((4, 3))
    M, H = np.abs(A.T @ A) + 0.05 * np.eye(3), rng.standard_normal(3) + 0.5
    c = rng.standard_normal(3)
    c = c / c[0]
    union = Line(M, H - c * H[0], c, 0.2).with_feature(0, lasso_selects(M, H, 0.2))
    assert len(union) == 2
    for t in np.linspace(0, 2, 101):
        inside = ((union[:, 0] < t) & (t < union[:, 1])).any()
        assert inside == lasso_selects(M, H + c * (t - H[0]), 0.2)[0]


@pytest.mark.parametrize(("partial", "k"), [(True, 1), (False, 3)])
def test_p_values_are_uniform_given_the_selection(partial, k):
    """At the true mean, the survival of a normal statistic is uniform, and intervals cover."""
    M, _, covariance = problem(5, 1)
    mean = np.array([0.8, 0.5, 0.0, 0.0, -0.2])
    rng = np.random.default_rng(0)
    values, covered = [], []
    for H in rng.multivariate_normal(mean, 0.3 * covariance, size=2000):
        active = selected_by_lasso(M, H, 0.2)
        if not active[k]:
            continue
        eta, c = statistic(M, covariance, active, k, partial)
        t, sd = eta @ H, np.sqrt(0.3 * eta @ covariance @ eta)
        line = Line(M, H - c * t, c, 0.2)
        union = line.same_model(active) if partial else line.with_feature(k, active)
        values.append(survival(t, eta @ mean, sd, union))
        if len(covered) < 200:
            low, high = confidence_interval(t, sd, union, 0.8)
            covered.append(low <= eta @ mean <= high)
    assert len(values) > 300
    assert kstest(values, "uniform").pvalue > 1e-3
    assert binom.ppf(0.001, 200, 0.8) <= sum(covered) <= binom.ppf(0.999, 200, 0.8)


def test_without_regard_to_the_selection_p_values_are_too_small():
    """The same test as above, with a statistic that forgets the truncation, fails."""
    M, _, covariance = problem(5, 1)
    rng = np.random.default_rng(0)
    everything = np.array([[-np.inf, np.inf]])
    values = []
    for H in rng.multivariate_normal(np.zeros(5), 0.3 * covariance, size=500):
        active = selected_by_lasso(M, H, 0.2)
        if active[3]:
            values.append(survival(H[3], 0.0, np.sqrt(0.3 * covariance[3, 3]), everything))
    assert kstest(values, "uniform").pvalue < 1e-6
