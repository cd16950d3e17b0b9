"""Kernel target alignment, centred and not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from hsiclasso import (
    Auto,
    FewerFeaturesWarning,
    HSICLasso,
    InvalidInputError,
    Objects,
    make_data1,
    make_data2,
)
from hsiclasso.baselines import CKTA, KTA
from hsiclasso.kernels import Delta, Gaussian, Laplace, Linear, Polynomial
from hsiclasso.solvers import Status, solve_path
from tests import oracles
from tests.baselines import oracle_measures as oracle
from tests.baselines.conftest import quiet_fit
from tests.columns import KINDS, make

BOTH = [CKTA, KTA]
#: Columns as they come, and centred.
AS_IT_IS = {KTA: lambda K: K, CKTA: oracles.centre}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 8))
    X[:, 6] = X[:, 0] + 0.3 * rng.standard_normal(40)
    return X, X[:, 0] ** 2 + np.sin(2 * X[:, 1]) + X[:, 2] + 0.3 * rng.standard_normal(40)


def assert_aligned(selector, grams, target, *, tol=1e-6):
    """Weights and alignments are those of the matrices, centred if the method says so."""
    prepare = AS_IT_IS[type(selector)]
    K, L = [prepare(gram) for gram in grams], prepare(target)
    single = [oracles.alignment(k, L) for k in K]
    np.testing.assert_allclose(selector.alignment_, single, rtol=0, atol=tol)
    if selector.method == "align":
        expected = np.array(single)
    else:
        expected = oracle.aligned_weights(K, L)
        assert selector.certificate_.kkt_residual < 1e-8
        assert selector.certificate_.duality_gap < 1e-8
    np.testing.assert_allclose(selector.coef_, expected, rtol=0, atol=50 * tol * expected.max())
    np.testing.assert_allclose(
        selector.scores_, selector.coef_ / np.linalg.norm(selector.coef_), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("method", "classes"), [("alignf", False), ("alignf", True), ("align", True)]
)
@pytest.mark.parametrize("estimator", BOTH)
def test_against_dense_matrices(estimator, method, classes, table):
    X, y = table
    target = np.digitize(y, [0.0, 1.5]) if classes else y
    gram = oracles.delta_gram(target) if classes else oracles.gaussian_gram(y)
    selector = quiet_fit(estimator(8, method=method, gram_error=1e-10), X, target)
    assert_aligned(selector, [oracles.gaussian_gram(x) for x in X.T], gram)
    assert (selector.certificate_ is None) == (method == "align")


@given(
    kinds=st.tuples(*[st.sampled_from(sorted(KINDS))] * 3),
    target=st.sampled_from(["normal", "uniform", "genotype", "tied"]),
    n=st.integers(8, 40),
    seed=st.integers(0, 999),
)
def test_alignments_of_columns_of_every_kind(kinds, target, n, seed):
    columns = [make(kind, n, seed + i) for i, kind in enumerate(kinds)]
    y = make(target, n, seed + 9)
    grams = [oracles.kernel_gram(x, Gaussian()) for x in columns]
    for estimator in BOTH:
        selector = estimator(3, method="align", target="real", gram_error=1e-10)
        quiet_fit(selector, np.column_stack(columns), y)
        assert_aligned(selector, grams, oracles.kernel_gram(y, Gaussian()))


@pytest.mark.parametrize(("make", "error"), [(make_data1, 1e-6), (make_data2, 1e-10)])
def test_centred_alignment_is_hsic_lasso_without_penalty(make, error):
    X, y, _ = make(80, 60, random_state=1)
    raw = Auto(transform=None)
    lasso = HSICLasso(alpha=0.0, gram_error=error, target=raw, max_redundancy=1.0).fit(X, y)
    selector = quiet_fit(CKTA(20, gram_error=error), X, y)
    assert (selector.coef_ == lasso.coef_).all()
    assert selector.certificate_ == lasso.result_.certificate
    on_path = lasso.selected_.size
    assert selector.selected_[:20].tolist()[:on_path] == lasso.selected_[:20].tolist()


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.5), Gaussian("median"), Gaussian((0.5, 2.0)), Laplace(0.7), Laplace("median"),
        Polynomial(3), Linear(), Delta(), Delta(by_count=False),
    ],
    ids=repr,
)  # fmt: skip
def test_kernels_of_features(kernel, table):
    """Row means of every kernel; centred matrices are tested with the package's own selectors."""
    X, y = table
    estimator = KTA
    X = np.round(X) if isinstance(kernel, Delta) else X
    selector = quiet_fit(estimator(8, kernel=kernel, gram_error=1e-10), X, y)
    grams = [oracles.kernel_gram(x, kernel) for x in X.T]
    assert_aligned(selector, grams, oracles.gaussian_gram(y))


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.5), Gaussian("median"), Gaussian((0.5, 2.0)), Laplace(2.0), Polynomial(2)],
    ids=repr,
)
def test_kernels_of_the_target(kernel, table):
    X, y = table
    estimator = KTA
    selector = quiet_fit(estimator(8, target=Auto(kernel), gram_error=1e-10), X, y)
    grams = [oracles.gaussian_gram(x) for x in X.T]
    assert_aligned(selector, grams, oracles.kernel_gram(y, kernel))


@pytest.mark.parametrize("estimator", BOTH)
def test_several_outputs(estimator, table):
    X, y = table
    Y = np.column_stack([y, X[:, 3] + X[:, 4] ** 2])
    grams = [oracles.gaussian_gram(x) for x in X.T]
    joint = quiet_fit(estimator(8, gram_error=1e-10), X, Y)
    assert_aligned(joint, grams, oracles.kernel_gram(Y.T, Gaussian()))
    averaged = quiet_fit(estimator(8, target=Auto(outputs="average"), gram_error=1e-10), X, Y)
    assert_aligned(averaged, grams, np.mean([oracles.gaussian_gram(z) for z in Y.T], axis=0))
    labels = (np.column_stack([Y, X[:, 5]]) > 0.3).astype(int)
    by_label = quiet_fit(estimator(8, gram_error=1e-10), X, labels)
    assert by_label.result_.target == "labels"
    assert_aligned(by_label, grams, np.mean([oracles.delta_gram(z) for z in labels.T], axis=0))


@pytest.mark.parametrize("estimator", BOTH)
def test_structured_targets(estimator, table):
    X, y = table
    grams = [oracles.gaussian_gram(x) for x in X.T]
    affinity = np.exp(-np.abs(y[:, None] - y))
    for L in (affinity, sparse.csr_array(affinity)):
        selector = quiet_fit(estimator(8, target="affinity", gram_error=1e-10), X, L)
        assert selector.result_.target == "affinity"
        assert_aligned(selector, grams, affinity)

    def compare(a, b):
        return np.exp(-abs(a - b))

    assert_aligned(
        quiet_fit(estimator(8, target=Objects(compare), gram_error=1e-10), X, y), grams, affinity
    )

    links = (affinity > 0.6).astype(float)
    eigenvalues, vectors = np.linalg.eigh(oracles.normalised_laplacian(links))
    gram = (vectors * np.exp(-eigenvalues)) @ vectors.T
    for graph in (links, sparse.csr_array(links)):
        selector = quiet_fit(estimator(8, target="graph", gram_error=1e-10), X, graph)
        assert_aligned(selector, grams, gram)


@pytest.mark.parametrize("method", ["alignf", "align"])
def test_censored_times_are_served_centred_only(method, table):
    X, y = table
    time, event = np.exp(y), X[:, 3] < 1
    selector = quiet_fit(
        CKTA(8, method=method, target="survival", gram_error=1e-10), X, (time, event)
    )
    L = oracles.log_rank_matrix(oracles.gaussian_gram(time), time, event)
    assert_aligned(selector, [oracles.gaussian_gram(x) for x in X.T], L)
    with pytest.raises(InvalidInputError, match="'survival', but KTA serves only"):
        KTA(method=method, target="survival").fit(X, (time, event))


@pytest.mark.parametrize("estimator", BOTH)
def test_labels_and_constants(estimator, table):
    X, y = table
    words = np.where(y > 0.5, "b", np.where(y < -0.5, "c", "a"))
    frame = pd.DataFrame({"x": X[:, 0], "word": words, "flat": np.ones(40), "flag": X[:, 1] > 0})
    with pytest.warns(UserWarning, match="1 of 4 columns do not vary"):
        selector = estimator(2, gram_error=1e-10).fit(frame, y)
    plain = Delta(by_count=False)
    grams = [
        oracles.gaussian_gram(X[:, 0]),
        oracles.kernel_gram(np.unique(words, return_inverse=True)[1], plain),
        oracles.kernel_gram(X[:, 1] > 0, plain),
    ]
    varying = [0, 1, 3]
    prepare = AS_IT_IS[estimator]
    expected = oracle.aligned_weights(
        [prepare(K) for K in grams], prepare(oracles.gaussian_gram(y))
    )
    np.testing.assert_allclose(selector.coef_[varying], expected, atol=1e-5)
    assert selector.coef_[2] == selector.alignment_[2] == 0
    names = ("x", "word", "flat", "flag")
    assert selector.result_.names == tuple(names[k] for k in np.argsort(-selector.coef_)[:2])
    assert list(selector.get_feature_names_out()) == list(frame.columns[selector.get_support()])


@pytest.mark.parametrize("method", ["alignf", "align"])
@pytest.mark.parametrize("estimator", BOTH)
def test_invariances(estimator, method, table, rng):
    X, y = table
    selector = quiet_fit(estimator(8, method=method, gram_error=1e-10), X, y)
    order, samples = rng.permutation(8), rng.permutation(40)
    moved = quiet_fit(
        estimator(8, method=method, gram_error=1e-10), X[samples][:, order], y[samples]
    )
    np.testing.assert_allclose(moved.coef_, selector.coef_[order], rtol=0, atol=1e-6)
    scaled = quiet_fit(
        estimator(8, method=method, gram_error=1e-10), 9 - X * np.arange(1, 9), 3 - 2 * y
    )
    np.testing.assert_allclose(scaled.coef_, selector.coef_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("estimator", BOTH)
def test_copies_share_one_weight(estimator, table):
    """Least squares needs one of two equal matrices; alignment alone cannot tell them apart."""
    X, y = table
    alone, twice = (
        quiet_fit(estimator(8), X, y),
        quiet_fit(estimator(8), np.column_stack([X, X[:, 0]]), y),
    )
    assert twice.coef_[0] + twice.coef_[8] == pytest.approx(alone.coef_[0], rel=1e-6)
    assert min(twice.coef_[0], twice.coef_[8]) == 0
    singly = quiet_fit(estimator(2, method="align"), X[:, [0, 7, 0]], y)
    assert singly.coef_[0] == pytest.approx(singly.coef_[2], rel=1e-12)


@pytest.mark.parametrize("estimator", BOTH)
def test_fewer_positive_weights_than_asked_for(estimator, table):
    X, y = table
    with pytest.warns(FewerFeaturesWarning, match="more are taken by their score alone. Least sq"):
        selector = estimator(8).fit(X, y)
    positive = np.count_nonzero(selector.coef_)
    assert 0 < positive < 8
    origins = [feature.origin for feature in selector.result_.features]
    assert origins == ["method"] * positive + ["filled"] * (8 - positive)
    filled = selector.selected_[positive:]
    assert (np.diff(selector.alignment_[filled]) <= 0).all()
    assert f"Least squares gives {positive} of 8 kernels a positive" in selector.result_.message


@pytest.mark.parametrize("method", ["alignf", "align"])
@pytest.mark.parametrize("estimator", BOTH)
def test_more_positive_weights_than_asked_for(estimator, method, table):
    X, y = table
    few, all_ = (
        quiet_fit(estimator(2, method=method), X, y),
        quiet_fit(estimator(8, method=method), X, y),
    )
    assert (few.coef_ == all_.coef_).all()
    assert few.selected_.tolist() == np.argsort(-few.coef_)[:2].tolist()
    assert few.selected_.tolist() == all_.selected_[:2].tolist()
    assert (few.ranking_ == all_.ranking_).all()


def test_centring_tells_columns_apart_that_alignment_alone_does_not(table):
    """Gram matrices have their mean in common, whatever the column (Cortes et al., 2012)."""
    X, y = table
    plain, centred = (quiet_fit(e(8, method="align"), X, y).alignment_ for e in BOTH[::-1])
    assert plain.min() > 0.7
    assert centred.min() < 0.3


@pytest.mark.parametrize("estimator", BOTH)
def test_no_weights_have_a_smaller_objective(estimator, table, rng):
    X, y = table
    weights = quiet_fit(estimator(8, gram_error=1e-10), X, y).coef_
    prepare = AS_IT_IS[estimator]
    problem = [prepare(oracles.gaussian_gram(x)) for x in X.T], prepare(oracles.gaussian_gram(y))
    least = oracles.alignment_objective(*problem, oracle.aligned_weights(*problem))
    found = oracles.alignment_objective(*problem, weights)
    assert found == pytest.approx(least, rel=1e-9)
    assert least < 0
    for scale in (1e-3, 1e-1, 1.0):
        other = np.maximum(weights + scale * rng.standard_normal(8), 0)
        assert oracles.alignment_objective(*problem, other) > found


@pytest.mark.parametrize("estimator", BOTH)
def test_no_weights_improve_the_alignment(estimator, table, rng):
    X, y = table
    selector = quiet_fit(estimator(8, gram_error=1e-10), X, y)
    prepare = AS_IT_IS[estimator]
    K = np.array([prepare(oracles.gaussian_gram(x)) for x in X.T])
    L = prepare(oracles.gaussian_gram(y))
    best = oracles.alignment(np.tensordot(selector.coef_, K, 1), L)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            other = np.maximum(selector.coef_ + scale * rng.standard_normal(8), 0)
            if other.any():
                assert oracles.alignment(np.tensordot(other, K, 1), L) <= best + 1e-9


def test_a_path_that_stalls_is_warned_of(table, monkeypatch):
    def stalled(*args, **options):
        return replace(solve_path(*args, **options), status=Status.STALLED)

    monkeypatch.setattr("hsiclasso.baselines.alignment.solve_path", stalled)
    with pytest.warns(ConvergenceWarning, match="duality gap of .* rounding errors prevent"):
        CKTA(1).fit(*table)


def test_a_function_is_called_once_for_every_pair(table, monkeypatch):
    monkeypatch.setattr("hsiclasso.targets.objects._CHECKED", 0)  # pairs in both orders
    X, y = table
    calls = []

    def compare(a, b):
        calls.append((a, b))
        return np.exp(-abs(a - b))

    quiet_fit(KTA(2, target=Objects(compare)), X, y)
    assert len(calls) == len(set(calls)) == 40 * 41 // 2


def test_more_columns_than_entries_of_a_matrix():
    """The matrices depend linearly on each other, and least squares fits well nonetheless."""
    X, y, _ = make_data1(8, 60, random_state=0)
    for estimator in BOTH:
        selector = quiet_fit(estimator(10), X, y)
        assert selector.certificate_.kkt_residual < 1e-6
        assert selector.certificate_.duality_gap < 1e-6


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "alignx"}, "method='alignx' is unknown: choose 'alignf'"),
        ({"kernel": "rbf"}, "kernel='rbf' is unknown"),
        ({"kernel": Gaussian(-2.0)}, "width=-2.0, but a gaussian kernel needs"),
        ({"target": Auto("rbf")}, "kernel of the target='rbf' is unknown"),
        ({"target": "clustering"}, "target='clustering' is unknown"),
        ({"gram_error": 1.0}, "gram_error=1.0"),
    ],
)
def test_errors_come_before_any_work(estimator, options, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator(**options).fit(None, None)
