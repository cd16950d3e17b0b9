"""What must not matter: order, storage, cutting into blocks, threads, repeated samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.data.files import read_table
from hsiclasso.dependence import atoms, columns, products, relevance
from hsiclasso.kernels import Delta, Gaussian, Laplace, Polynomial, Samples
from tests.dependence.cases import (
    KERNELS,
    MEASURES,
    STORAGES,
    find,
    make_features,
    make_samples,
    real_numbers,
    redundancy,
    whole_numbers,
)

N, D = 40, 9
#: A setting of the pass: how the table is stored, one or two kernels, and so on.
drawn = given(
    storage=st.sampled_from(sorted(STORAGES)),
    kernels=st.tuples(
        st.sampled_from(KERNELS), st.sampled_from([k for k in KERNELS if k.joins_columns])
    ),
    measure=st.sampled_from(MEASURES), weights=st.sampled_from(["none", "real"]),
    covariates=st.booleans(), seed=st.integers(0, 10_000),
)  # fmt: skip


def build(storage, kernels, weights, covariates, seed, joint=False):
    rng = np.random.default_rng(seed)
    table, samples = STORAGES[storage](rng, N, D), make_samples(rng, N, weights, covariates)
    features = make_features(table, kernels, samples, joint=joint, gram_error=1e-10)
    return features, rng.standard_normal(N), rng


def results(features, y, measure, **options):
    problem = find(features, y, measure, **options)
    return problem.linear, redundancy(problem)


def assert_close(one, other, error=2e-9):
    """Equal relative to the norms of the matrices."""
    (b, G), (b_again, G_again) = one, other
    size = np.sqrt(np.outer(np.diag(G), np.diag(G)))
    assert (np.abs(G - G_again) <= error * size + 1e-12).all()
    np.testing.assert_allclose(b, b_again, rtol=0, atol=error * np.abs(b).max())


def subset(storage, table, rows, cols):
    """Rows and columns of a table, in another order, stored the same way."""
    if storage == "categories":
        return table.iloc[rows, cols]
    return table[rows][:, cols] if sparse.issparse(table) else table[np.ix_(rows, cols)]


@drawn
def test_order_of_samples_and_features(storage, kernels, measure, weights, covariates, seed):
    rng = np.random.default_rng(seed)
    table, samples = STORAGES[storage](rng, N, D), make_samples(rng, N, weights, covariates)
    y, rows, cols = rng.standard_normal(N), rng.permutation(N), rng.permutation(D)
    features = make_features(table, kernels[0], samples, gram_error=1e-10)
    moved = Samples(
        N,
        None if samples.weights is None else samples.weights[rows],
        None if samples.covariates is None else samples.covariates[:, rows],
    )
    again = make_features(
        subset(storage, table, rows, cols), kernels[0], moved,
        gram_error=1e-10, least_observed=features.least_observed,
    )  # fmt: skip
    b, G = results(features, y, measure)
    assert_close(results(again, y[rows], measure), (b[cols], G[np.ix_(cols, cols)]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@drawn
def test_cutting_into_blocks(monkeypatch, storage, kernels, measure, weights, covariates, seed):
    features, y, _ = build(storage, kernels, weights, covariates, seed, joint=True)
    expected = results(features, y, measure)
    with monkeypatch.context() as patch:
        for module, name, value in (
            (relevance, "_BLOCK", 2 * N), (relevance, "_INTEGER_BLOCK", 5 * N),
            (columns, "_PIECE", 1), (columns, "_RUN", 7), (atoms, "_GATHERED", 1),
            (atoms, "_LEAST_PER_LEVEL", 0),
            (products, "_STACK", 16 * N), (products, "_LEAST_RUN", 8),
        ):  # fmt: skip
            patch.setattr(module, name, value)
        assert_close(results(features, y, measure), expected)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@drawn
def test_threads_change_not_a_bit(
    monkeypatch, storage, kernels, measure, weights, covariates, seed
):
    features, y, _ = build(storage, kernels, weights, covariates, seed, joint=True)
    with monkeypatch.context() as patch:
        patch.setattr(relevance, "_BLOCK", 2 * N)
        patch.setattr(relevance, "_INTEGER_BLOCK", 2 * N)
        patch.setattr(products, "_STACK", 16 * N)
        one, two = (results(features, y, measure, n_threads=k) for k in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


@drawn
def test_duplicates_are_alike(storage, kernels, measure, weights, covariates, seed):
    rng = np.random.default_rng(seed)
    table, samples = STORAGES[storage](rng, N, 4), make_samples(rng, N, weights, covariates)
    if storage == "categories":
        table = table.astype(str).apply(lambda c: c.astype("category"))
        pair = table.join(table.add_prefix("again "))
    else:
        pair = sparse.hstack([table, table]) if sparse.issparse(table) else np.hstack([table] * 2)
    b, G = results(make_features(pair, kernels[0], samples), rng.standard_normal(N), measure)
    np.testing.assert_allclose(b[4:], b[:4], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diag(G[4:, :4]), np.diag(G)[:4], rtol=1e-9, atol=1e-12)


@settings(max_examples=60)
@given(
    storage=st.sampled_from(sorted(STORAGES)), kernel=st.sampled_from(KERNELS),
    measure=st.sampled_from(MEASURES), covariates=st.booleans(), joint=st.booleans(),
    seed=st.integers(0, 10_000),
)  # fmt: skip
def test_a_whole_number_weight_repeats_a_sample(storage, kernel, measure, covariates, joint, seed):
    rng = np.random.default_rng(seed)
    table, samples = STORAGES[storage](rng, N, 4), make_samples(rng, N, "whole", covariates)
    y, again = rng.standard_normal(N), np.repeat(np.arange(N), samples.weights.astype(int))
    functions = None if samples.covariates is None else samples.covariates[:, again]
    options = {"joint": joint and kernel.joins_columns, "gram_error": 1e-10}
    features = make_features(table, kernel, samples, **options)
    options["least_observed"] = features.least_observed
    repeated = make_features(
        subset(storage, table, again, np.arange(4)), kernel, Samples(again.size, None, functions),
        **options,
    )  # fmt: skip
    assert_close(results(features, y, measure), results(repeated, y[again], measure))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_storage_of_small_numbers(kernel, rng):
    """Genotypes and counts as float64, float32, int8, uint8 and compressed."""
    X, y = np.abs(whole_numbers(rng, N, 5)), rng.standard_normal(N)
    samples = make_samples(rng, N, "real", True)
    expected = results(make_features(X.astype(float), kernel, samples), y, "nocco")
    small = [X.astype(kind) for kind in (np.float32, np.int8, np.uint8)]
    for table in (*small, sparse.csc_array(X), sparse.coo_array(X), sparse.csc_array(1.0 * X)):
        assert_close(results(make_features(table, kernel, samples), y, "nocco"), expected, 2e-6)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace("median"), Polynomial(3)], ids=str)
def test_units(kernel, rng):
    X, y = rng.standard_normal((N, 5)), rng.standard_normal(N)
    samples = make_samples(rng, N, "real", True)
    # a reversed column has the same kernel, except that odd powers change sign in pairs
    moved = X * [1e-200, 3.0, -1.0, 1e3, 1e280] + [0.0, 5.0, -3.0, 1e4, 0.0]
    one, other = (make_features(table, kernel, samples, gram_error=1e-10) for table in (X, moved))
    assert_close(results(other, 7 - 2 * y, "nhsic"), results(one, y, "nhsic"))


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta(by_count=False)], ids=str)
def test_the_unit_of_weights(kernel, rng):
    """Normalised measures do not see it; weights of one are none."""
    X, y, w = real_numbers(rng, N, 5), rng.standard_normal(N), rng.uniform(0.1, 2, N)

    def with_weights(weights, measure):
        return results(make_features(X, kernel, Samples(N, weights)), y, measure)

    for measure in MEASURES[1:]:
        assert_close(with_weights(1e-4 * w, measure), with_weights(w, measure), 2e-6)
    assert_close(with_weights(np.ones(N), "hsic"), with_weights(None, "hsic"), 2e-6)


@pytest.mark.parametrize("form", ["npy", "npz", "csv", "parquet"])
def test_a_file_or_an_array(form, rng, tmp_path):
    X, y = np.round(real_numbers(rng, N, 5), 3), rng.standard_normal(N)
    file = tmp_path / f"table.{form}"
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
    if form == "npy":
        np.save(file, X)
        source = np.load(file, mmap_mode="r")
    else:
        if form == "npz":
            np.savez(file, X=X, y=y)
        elif form == "csv":
            frame.to_csv(file, index=False)
        else:
            pytest.importorskip("pyarrow")
            frame.to_parquet(file)
        source = read_table(file, "y").source
    one, other = (results(make_features(table), y, "nhsic") for table in (source, X))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


def test_joint_features_do_not_move_the_others(rng, monkeypatch):
    """Features after a joint one have other numbers than their columns, and the same results."""
    monkeypatch.setattr(relevance, "_BLOCK", N)  # one feature to a block
    X, y = real_numbers(rng, N, 6), rng.standard_normal(N)
    plain = make_features(X, (Gaussian(), Delta()))
    first = np.array([0, 2, 4, 5])
    joint = replace(
        plain, first=first, which=np.array([0, 1, 0, 1]),
        joint={1: ("pair", np.array([2, 1])), 2: ("alone", np.array([4]))},
    )  # fmt: skip
    assert [joint.name(k) for k in range(4)] == ["x0", "pair", "alone", "x5"]
    b, G = results(plain, y, "nhsic")
    b_joint, G_joint = results(joint, y, "nhsic")
    same = [0, 2, 3]
    np.testing.assert_allclose(b_joint[same], b[[0, 4, 5]], rtol=2e-6)
    np.testing.assert_allclose(
        G_joint[np.ix_(same, same)], G[np.ix_([0, 4, 5], [0, 4, 5])], rtol=4e-6
    )
    spread = joint.on_columns(b_joint, 0.0)
    np.testing.assert_array_equal(spread, b_joint[[0, 1, 1, 0, 2, 3]] * [1, 1, 1, 0, 1, 1])
    assert joint.n_features < joint.source.n_features
    assert plain.n_features == plain.source.n_features
