"""Times and events: the kernel log-rank target against its dense formula, and its forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Delta, Gaussian, Laplace, Linear, Samples, as_measure
from hsiclasso.targets import Censored, Survival
from hsiclasso.targets.survival import log_rank_rows
from tests import oracles
from tests.targets import compare
from tests.targets.compare import SPACES, check, every_measure, every_space
from tests.targets.tables import EVENT, TIME, N, structured

few = settings(max_examples=20)


@st.composite
def censored(draw):
    """Features of times, times with many ties or none, and at least one event."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rank = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    time = rng.integers(0, 6, n) / 4 if draw(st.booleans()) else rng.exponential(size=n)
    event = rng.random(n) < draw(st.sampled_from([0.2, 0.7, 1.0]))
    event[rng.integers(n)] = True
    return rng.standard_normal((rank, n)), time, event, rng


@few
@given(censored())
def test_the_matrix_is_the_dense_formula(data):
    features, time, event, _ = data
    rows = log_rank_rows(features, time, event)
    expected = oracles.log_rank_matrix(features.T @ features, time, event)
    np.testing.assert_allclose(rows.T @ rows, expected, atol=1e-12)


@few
@given(censored())
def test_the_statistic_is_the_sum_over_events(data):
    features, time, event, rng = data
    phi = rng.standard_normal((3, len(time)))
    v = np.zeros((len(features), 3))
    for i in np.flatnonzero(event):
        v += np.outer(features[:, i], phi[:, i] - phi[:, time >= time[i]].mean(axis=1))
    rows = log_rank_rows(features, time, event)
    np.testing.assert_allclose(rows @ phi.T, v, atol=1e-12)


@few
@given(censored())
def test_weights_are_the_dense_formula(data):
    features, time, event, rng = data
    weights = rng.uniform(0.1, 5.0, len(time))
    rows = log_rank_rows(features, time, event, weights)
    expected = oracles.log_rank_matrix(features.T @ features, time, event, weights)
    np.testing.assert_allclose(rows.T @ rows, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(rows @ np.sqrt(weights), 0, atol=1e-11)


@few
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


@few
@given(censored())
def test_constant_features_give_martingale_residuals(data):
    _, time, event, _ = data
    rows = log_rank_rows(np.ones((1, len(time))), time, event)
    np.testing.assert_allclose(rows[0], oracles.martingale_residuals(time, event), atol=1e-12)


@few
@given(censored())
def test_the_rows_are_centred(data):
    features, time, event, _ = data
    np.testing.assert_allclose(log_rank_rows(features, time, event).sum(axis=1), 0, atol=1e-12)


@few
@given(censored())
def test_the_order_of_the_samples_does_not_matter(data):
    features, time, event, rng = data
    turn = rng.permutation(len(time))
    rows = log_rank_rows(features, time, event)
    turned = log_rank_rows(features[:, turn], time[turn], event[turn])
    np.testing.assert_allclose(turned, rows[:, turn], atol=1e-12)


def test_tied_times_are_at_risk_together():
    rows = log_rank_rows(np.ones((1, 4)), np.array([1, 1, 1, 2]), np.array([1, 1, 0, 1]))
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


# ------------------------------------------------------------------------- the target's matrix


@every_space
@every_measure
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian("median"), Laplace(), Delta(), Linear()], ids=str
)
def test_the_matrix_of_a_measure(kernel, measure, space, rng):
    samples, n = SPACES[space](rng), compare.N
    time, event = np.round(rng.exponential(size=n), 1), rng.random(n) < 0.6
    w = samples.shares[0]
    M = oracles.log_rank_matrix(oracles.kernel_gram(time, kernel, w), time, event, w)
    # M holds the roots of weights already: what the oracle puts there is taken out before
    check(Censored(time, event, kernel), M / np.sqrt(np.outer(w, w)), measure, samples)


@pytest.mark.parametrize("kernel", [Delta(), Laplace()], ids=str)
def test_kernels_of_full_rank_are_refused_for_many_times(kernel):
    time = np.arange(4001.0)
    data = Censored(time, np.ones(4001), kernel)
    with pytest.raises(InvalidInputError, match=r"y has 4001 distinct values.*Gaussian kernel"):
        data.matrix(as_measure("hsic"), Samples(4001), error=1e-6, n_features=1)


# -------------------------------------------------------------------------- forms and parameters

FORMS = {
    "structured": structured(),
    "event first": structured(swap=True),
    "other names": structured(("months", "died")),
    "other names, event first": structured(("months", "died"), swap=True),
    "two columns": np.c_[TIME, EVENT],
    "tuple": (TIME, EVENT),
    "tuple of series": (pd.Series(TIME), pd.Series(EVENT)),
    "tuple of lists": (TIME.tolist(), EVENT.astype(int).tolist()),
    "frame": pd.DataFrame({"time": TIME, "event": EVENT}),
    "frame, event first": pd.DataFrame({"Event": EVENT.astype(int), "Time": TIME}),
    "frame by dtype": pd.DataFrame({"died": EVENT, "months": TIME}),
    "polars": pl.DataFrame({"event": EVENT, "time": TIME}),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    prepared = Survival().prepare(FORMS[form], N)
    np.testing.assert_array_equal(prepared.data.time, TIME)
    np.testing.assert_array_equal(prepared.data.event, EVENT)
    assert prepared.data.kernel == Gaussian()
    assert prepared.target == Survival()


def test_times_in_ranks_and_other_kernels():
    data = Survival(kernel="laplace", transform="rank").prepare((TIME, EVENT), N).data
    np.testing.assert_array_equal(data.time, rankdata(TIME))
    assert data.kernel == Laplace()


BAD = {
    "three fields": (
        np.zeros(48, dtype=[("a", float), ("b", float), ("c", bool)]),
        r"y has the fields a, b, c, but survival needs two: a time and an event",
    ),
    "one column": (np.arange(48), r"y has shape \(48,\).*two columns, time and event"),
    "text": (
        [["a", "b"]] * 48,
        "not numbers: pass the time from the start to the event",
    ),
    "negative": ([[-1, 1], [2, 0]] * 24, "y has the time -1.0, but times .* finite numbers >= 0"),
    "infinite": ([[np.inf, 1], [2, 0]] * 24, "y has the time inf"),
    "events of two": ([[1, 2], [2, 0]] * 24, "y has the event 2.0, but .*pass time first"),
    "no event": ([[1, 0], [2, 0]] * 24, "y has no event: all times are censored"),
    "one time": ([[1, 1], [1, 0]] * 24, r"y has only one time \(1.0\): times must differ"),
    "too short": ([[1, 1], [2, 0]] * 20, "y has 40 values and X has 48 samples"),
    "events too short": (([1.0] * 48, [1] * 47), "y has 47 values and X has 48 samples"),
}


@pytest.mark.parametrize("form", BAD)
def test_bad_times_and_events(form):
    y, message = BAD[form]
    with pytest.raises(InvalidInputError, match=message):
        Survival().prepare(y, N)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Survival(kernel="rbf"), "kernel of the target='rbf' is unknown"),
        (Survival(transform="log"), "transform='log' is unknown: choose None, 'rank' or 'normal'"),
        (Survival(missing="keep"), "missing='keep' is unknown"),
    ],
)
def test_bad_parameters(target, message):
    with pytest.raises(InvalidInputError, match=message):
        target.prepare((TIME, EVENT), N)
