"""The kernel log-rank target against its dense formula and what it is known to equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.dependence.survival import log_rank_rows
from hsiclasso.errors import InvalidInputError
from tests import oracles


@st.composite
def censored(draw):
    """Features of times, times with many ties or none, and events of which there is one."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rank = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    time = rng.integers(0, 6, n) / 4 if draw(st.booleans()) else rng.exponential(size=n)
    event = rng.random(n) < draw(st.sampled_from([0.2, 0.7, 1.0]))
    event[rng.integers(n)] = True
    return rng.standard_normal((rank, n)), time, event, rng


@given(censored())
def test_the_matrix_is_the_dense_formula(data):
    features, time, event, _ = data
    rows = log_rank_rows(features, time, event)
    expected = oracles.log_rank_matrix(features.T @ features, time, event)
    np.testing.assert_allclose(rows.T @ rows, expected, atol=1e-12)


@given(censored())
def test_the_statistic_is_the_sum_over_events(data):
    features, time, event, rng = data
    phi = rng.standard_normal((3, len(time)))
    v = np.zeros((len(features), 3))
    for i in np.flatnonzero(event):
        v += np.outer(features[:, i], phi[:, i] - phi[:, time >= time[i]].mean(axis=1))
    rows = log_rank_rows(features, time, event)
    np.testing.assert_allclose(rows @ phi.T, v, atol=1e-12)


@given(censored())
def test_weights_are_the_dense_formula(data):
    features, time, event, rng = data
    weights = rng.uniform(0.1, 5.0, len(time))
    rows = log_rank_rows(features, time, event, weights)
    expected = oracles.log_rank_matrix(features.T @ features, time, event, weights)
    np.testing.assert_allclose(rows.T @ rows, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(rows @ np.sqrt(weights), 0, atol=1e-11)


@given(censored())
def test_whole_weights_repeat_the_samples(data):
    features, time, event, rng = data
    n = len(time)
    weights = rng.integers(0, 4, n)
    weights[np.argmax(event)] += 1
    phi = rng.standard_normal((3, n))
    K = phi.T @ phi
    rows = log_rank_rows(features, time, event, weights)
    root = np.sqrt(weights)
    statistic = np.sum((rows.T @ rows) * (root[:, None] * K * root))
    again = np.repeat(np.arange(n), weights)
    repeated = log_rank_rows(features[:, again], time[again], event[again])
    expected = np.sum((repeated.T @ repeated) * K[np.ix_(again, again)])
    np.testing.assert_allclose(statistic, expected, rtol=1e-10, atol=1e-10)
    # the total coefficient of a sample is that of its copies together
    totals = np.zeros((len(features), n))
    np.add.at(totals.T, again, repeated.T)
    np.testing.assert_allclose(rows * root, totals, atol=1e-12)


@given(censored())
def test_constant_features_give_martingale_residuals(data):
    _, time, event, _ = data
    rows = log_rank_rows(np.ones((1, len(time))), time, event)
    np.testing.assert_allclose(rows[0], oracles.martingale_residuals(time, event), atol=1e-12)


@given(censored())
def test_the_rows_are_centred(data):
    features, time, event, _ = data
    np.testing.assert_allclose(log_rank_rows(features, time, event).sum(axis=1), 0, atol=1e-12)


@given(censored())
def test_the_order_of_the_samples_does_not_matter(data):
    features, time, event, rng = data
    turn = rng.permutation(len(time))
    rows = log_rank_rows(features, time, event)
    turned = log_rank_rows(features[:, turn], time[turn], event[turn])
    np.testing.assert_allclose(turned, rows[:, turn], atol=1e-12)


def test_tied_times_are_at_risk_together():
    rows = log_rank_rows(np.ones((1, 4)), [1, 1, 1, 2], [1, 1, 0, 1])
    np.testing.assert_allclose(rows, [[1 - 2 / 4, 1 - 2 / 4, -2 / 4, 1 - (2 / 4 + 1)]])


def test_two_groups_give_the_log_rank_test():
    """With one indicator as kernel and constant features: (observed - expected)^2."""
    time, event = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 1, 0, 1, 0, 1])
    group = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    rows = log_rank_rows(np.ones((1, 6)), time, event)
    expected = 3 / 6 + 2 / 5 + 1 / 3 + 0 / 1
    assert (rows @ group)[0] == pytest.approx(2 - expected)


def test_many_samples_stay_centred(rng):
    n = 100_000
    rows = log_rank_rows(rng.standard_normal((3, n)), rng.exponential(size=n), rng.random(n) < 0.3)
    assert np.abs(rows.sum(axis=1)).max() < 1e-9


def test_arguments_are_left_alone(rng):
    features, time, event = rng.standard_normal((2, 9)), rng.random(9), np.ones(9)
    kept = features.copy(), time.copy(), event.copy()
    log_rank_rows(features, time, event, weights=np.ones(9))
    for now, before in zip((features, time, event), kept, strict=True):
        np.testing.assert_array_equal(now, before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": [1.0, 2.0]}, r"time has shape \(2,\).*shape \(3,\)"),
        ({"time": [1.0, np.nan, 2.0]}, r"time\[1\]=nan.*finite"),
        ({"event": [1, 2, 1]}, r"event\[1\]=2.*event == 2"),
        ({"event": [0, 0, 0]}, "event is 0 for every sample.*censored"),
        ({"weights": [1.0, -2.0, 1.0]}, r"weights\[1\]=-2.0.*negative"),
        ({"weights": [1.0, np.inf, 1.0]}, r"weights\[1\]=inf.*finite"),
    ],
)
def test_what_is_wrong_is_said(changes, message):
    data = {"time": [1.0, 2.0, 3.0], "event": [1, 0, 1]} | changes
    with pytest.raises(InvalidInputError, match=message):
        log_rank_rows(np.ones((1, 3)), **data)
