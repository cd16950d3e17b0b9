"""Mutual information with Parzen windows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso import Auto, Graph, InvalidInputError, Objects, Real
from hsiclasso.baselines._parzen_loops import log_masses
from hsiclasso.baselines.dependency import dependency_matrix
from hsiclasso.baselines.parzen import silverman_width
from hsiclasso.kernels import Delta, Gaussian, Laplace
from hsiclasso.targets.matrix import DENSE
from tests import oracles
from tests.baselines import conftest
from tests.baselines import oracle_measures as oracle
from tests.baselines.conftest import all_pairs
from tests.columns import KINDS, make

#: What single precision may cost.
CLOSE = {"rtol": 0, "atol": 1e-6}
PLAIN = Delta(by_count=False)


def relate(X, y, target="auto", **options):
    return conftest.relate(X, y, "parzen", target=target, **options)


def window(x, width=None, kernel=None):
    """Windows of one column, or of vectors (q, n), as a matrix."""
    x = np.asarray(x, dtype=float)
    return oracles.kernel_gram(x, kernel or Gaussian(width or x.shape[-1] ** (-1 / 6)))


def information(K, L):
    return max(oracles.parzen_information(K, L), 0.0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    X[:, 4] = rng.standard_t(1.5, 90)
    return X, X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.standard_normal(90)


@pytest.mark.parametrize("n", [1, 7, 64, 4200])
def test_loop_is_its_numpy_twin(n, rng):
    few = slice(None) if n < 100 else slice(0, 1)
    features = (2 * rng.standard_normal((3, n)))[few].astype(np.float32)
    others = (2 * rng.standard_normal((2, 3, n)))[few].astype(np.float32)
    matrices = rng.uniform(size=(1, n, n)).astype(np.float32)
    out = np.empty((len(features), len(others) + 1))
    log_masses(features, others, matrices, out)
    masses = []
    for x in features.astype(float):
        K = 2.0 ** -((x[:, None] - x) ** 2)
        beside = [
            2.0 ** -np.sum((z[:, :, None] - z[:, None]) ** 2, axis=0) for z in others.astype(float)
        ]
        masses.append([np.mean(np.log(np.sum(K * L, axis=1))) for L in [*beside, *matrices]])
    np.testing.assert_allclose(out, masses, rtol=0, atol=2e-7)


@given(
    kinds=st.tuples(*[st.sampled_from(sorted(KINDS))] * 3),
    n=st.integers(5, 90),
    seed=st.integers(0, 999),
)
def test_columns_of_every_kind_against_the_formula(kinds, n, seed):
    first, second, target = (make(kind, n, seed + i) for i, kind in enumerate(kinds))
    related = relate(np.column_stack([first, second]), target, "real")
    K, L, M = window(first), window(second), window(target)
    np.testing.assert_allclose(related.relevance, [information(K, M), information(L, M)], **CLOSE)
    expected = [[information(A, B) for B in (K, L)] for A in (K, L)]
    np.testing.assert_allclose(all_pairs(related), expected, **CLOSE)


@pytest.mark.parametrize(
    ("options", "width", "kernel"),
    [
        ({}, None, None),
        ({"kernel": Gaussian(0.3)}, 0.3, None),
        ({"target": Auto(Gaussian(0.7))}, None, Gaussian(0.7)),
        ({"target": Auto(Gaussian("median"))}, None, Gaussian("median")),
        ({"target": Auto(Gaussian((0.2, 0.8)))}, None, Gaussian((0.2, 0.8))),
        ({"target": Auto(Gaussian(0.4))}, None, Gaussian(0.4)),
        ({"target": Auto("laplace")}, None, Laplace()),
        ({"target": Auto(Laplace(2.0))}, None, Laplace(2.0)),
    ],
)  # fmt: skip
def test_windows_of_a_real_target(table, options, width, kernel):
    X, y = table
    related = relate(X, y, **options)
    L = window(y, kernel=kernel)
    expected = [information(window(x, width), L) for x in X.T]
    np.testing.assert_allclose(related.relevance, expected, **CLOSE)
    pair = related.block(np.array([3]), np.array([1]))[0, 0]
    assert pair == pytest.approx(information(*(window(X[:, k], width) for k in (3, 1))), abs=1e-6)


@pytest.mark.parametrize("kernel", ["auto", "delta", "plain_delta"])
def test_classes_are_the_class_conditional_estimate(table, kernel):
    X, y = table
    classes = np.digitize(y, [-0.5, 0.7])
    related = relate(X, classes, Auto(kernel))
    expected = [oracle.class_conditional_information(window(x), classes) for x in X.T]
    assert min(expected) > 0
    np.testing.assert_allclose(related.relevance, expected, **CLOSE)


def test_several_outputs_are_averaged_or_taken_together(table, rng):
    X, y = table
    Y = np.column_stack([y, X[:, 2] + rng.standard_normal(90), rng.standard_normal(90)])
    windows = [window(x) for x in X.T]
    averaged = relate(X, Y, target=Auto(outputs="average"))
    expected = [np.mean([oracles.parzen_information(K, window(z)) for z in Y.T]) for K in windows]
    np.testing.assert_allclose(averaged.relevance, expected, **CLOSE)
    for options, kernel in (
        ({}, Gaussian(90 ** (-1 / 6))),
        ({"target": Auto(Gaussian("median"))}, Gaussian("median")),
        ({"target": Auto(Gaussian((0.3, 1.0)))}, Gaussian((0.3, 1.0))),
    ):
        joint = relate(X, Y, **options)
        L = window(Y.T, kernel=kernel)
        expected = [information(K, L) for K in windows]
        np.testing.assert_allclose(joint.relevance, expected, **CLOSE)
    by_laplace = relate(X, Y, target=Auto("laplace", outputs="average"))
    grams = [window(z, kernel=Laplace(1.0)) for z in Y.T]
    expected = [np.mean([oracles.parzen_information(K, L) for L in grams]) for K in windows]
    np.testing.assert_allclose(by_laplace.relevance, expected, **CLOSE)


def test_labels_are_averaged_or_taken_together(table, rng):
    X, y = table
    Y = np.column_stack([y > 0, X[:, 2] > 0.5, rng.uniform(size=90) > 0.5]).astype(int)
    each = [np.mean([oracle.class_conditional_information(window(x), z) for z in Y.T]) for x in X.T]
    related = relate(X, Y)
    np.testing.assert_allclose(related.relevance, each, **CLOSE)
    words = Y @ [1, 2, 4]
    joint = [oracle.class_conditional_information(window(x), words) for x in X.T]
    np.testing.assert_allclose(relate(X, Y, target=Auto(outputs="joint")).relevance, joint, **CLOSE)


def test_an_output_that_does_not_vary_adds_nothing(table):
    X, y = table
    flat = np.column_stack([y, np.ones(90)])
    for kernel in ("auto", Gaussian((0.3, 1.0))):
        both = relate(X, flat, Real(kernel, outputs="average"))
        alone = relate(X, y, Real(kernel))
        np.testing.assert_allclose(both.relevance, alone.relevance / 2, **CLOSE)


def test_affinities_graphs_and_functions_are_windows(table):
    X, y = table
    distances = np.abs(y[:, None] - y)
    affinity = np.exp(-distances) + 0.5 * (distances < 0.2)
    windows = [window(x) for x in X.T]
    expected = [information(K, affinity) for K in windows]
    for L in (affinity, 1e9 * affinity, sparse.csr_array(affinity)):
        related = relate(X, L, target="affinity")
        np.testing.assert_allclose(related.relevance, expected, **CLOSE)

    def compare(a, b):
        return np.exp(-abs(a - b)) + 0.5 * (abs(a - b) < 0.2)

    np.testing.assert_allclose(relate(X, y, target=Objects(compare)).relevance, expected, **CLOSE)

    links = (distances < 0.3).astype(float)
    eigenvalues, vectors = np.linalg.eigh(oracles.normalised_laplacian(links))
    for kernel, response in (
        ("diffusion", np.exp(-eigenvalues)),
        ("regularised_laplacian", 1 / (1 + eigenvalues)),
    ):
        gram = (vectors * response) @ vectors.T
        expected = [information(K, gram) for K in windows]
        for graph in (links, sparse.csr_array(links)):
            related = relate(X, graph, Graph(kernel))
            np.testing.assert_allclose(related.relevance, expected, **CLOSE)


def test_labels_and_booleans_have_windows_of_equality(table, rng):
    X, y = table
    words = np.array(["b", "a", "c"])[np.digitize(y, [-0.5, 1.0])]
    frame = pd.DataFrame(
        {"word": words, "number": X[:, 0], "flag": X[:, 1] > 0, "kind": pd.Categorical(words)}
    )
    related = relate(frame, y)
    codes = np.unique(words, return_inverse=True)[1]
    grams = [
        window(codes, kernel=PLAIN), window(X[:, 0]), window(X[:, 1] > 0, kernel=PLAIN),
        window(codes, kernel=PLAIN),
    ]  # fmt: skip
    np.testing.assert_allclose(
        related.relevance, [information(K, window(y)) for K in grams], **CLOSE
    )
    expected = [[information(A, B) for B in grams] for A in grams]
    np.testing.assert_allclose(all_pairs(related), expected, **CLOSE)
    # of a label, everything is known from itself: its entropy
    shares = np.bincount(codes) / 90
    assert all_pairs(related)[0, 3] == pytest.approx(-shares @ np.log(shares), abs=1e-6)
    flags = relate((X > 0), y)  # a table of booleans only
    assert flags.relevance[1] == pytest.approx(related.relevance[2], abs=1e-7)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_near_the_truth_for_normal_data(rho, rng):
    x, e = rng.standard_normal((2, 3000))
    y = rho * x + np.sqrt(1 - rho**2) * e
    found = relate(np.column_stack([x, rng.permutation(x)]), y).relevance
    # the mean, over normal samples, of the log of normal densities that windows have blurred
    h2 = silverman_width(3000) ** 2
    spread = np.array([[1.0, rho], [rho, 1.0]])
    blurred = spread + h2 * np.eye(2)
    expected = np.log(1 + h2) - 0.5 * np.log(np.linalg.det(blurred))
    expected += 1 / (1 + h2) - 0.5 * np.trace(np.linalg.solve(blurred, spread))
    assert found[0] == pytest.approx(expected, abs=0.02)
    assert found[0] == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.02 + 0.1 * rho)
    assert found[1] < 0.02


def test_non_linear_dependence_is_found(rng):
    x, z = rng.uniform(-1, 1, (2, 500))
    found = relate(np.column_stack([x, z]), x**2 + 0.05 * rng.standard_normal(500)).relevance
    assert found[0] > 10 * found[1]


def test_estimates_below_zero_count_as_zero():
    angle = np.arange(16) * np.pi / 8
    first, second = np.cos(angle), np.sin(angle)
    assert oracles.parzen_information(window(first, 2.0), window(second, 2.0)) < -1e-3
    wide = Gaussian(2.0)
    related = relate(np.column_stack([first, second]), second, Auto(wide), kernel=wide)
    assert related.relevance[0] == 0
    assert all_pairs(related)[0, 1] == 0
    assert all_pairs(related)[0, 0] > 0


def test_invariances(table, rng):
    X, y = table
    related = relate(X, y)
    redundancy = all_pairs(related)
    order, samples = rng.permutation(5), rng.permutation(90)
    moved = relate(X[samples][:, order], y[samples])
    np.testing.assert_allclose(moved.relevance, related.relevance[order], **CLOSE)
    np.testing.assert_allclose(all_pairs(moved), redundancy[np.ix_(order, order)], **CLOSE)
    scaled = relate(X * [1e3, -1e-3, 7, 1, 1] + [5, 1e3, 0, -9, 1e5], 3 - 2 * y)
    np.testing.assert_allclose(scaled.relevance, related.relevance, **CLOSE)
    np.testing.assert_allclose(all_pairs(scaled), redundancy, **CLOSE)


def test_copies_and_constants(table):
    X, y = table
    related = relate(np.column_stack([X, X[:, 0], np.ones(90)]), y)
    assert related.relevance[5] == related.relevance[0]
    redundancy = all_pairs(related)
    assert (redundancy[5] == redundancy[0]).all()
    assert related.relevance[6] == 0
    np.testing.assert_allclose(redundancy[6], 0.0, atol=1e-7)


def test_blocks_are_symmetric_and_the_same_however_they_are_cut(table):
    X, y = table
    wide = np.column_stack([X + k * np.sin(X) for k in range(9)])
    related = relate(wide, y)
    whole = all_pairs(related)
    assert (whole == whole.T).all()
    assert (whole >= 0).all()
    rows, cols = np.array([40, 3, 7]), np.array([44, 3])
    assert (related.block(rows, cols) == whole[np.ix_(rows, cols)]).all()
    threaded = relate(wide, y, n_threads=3)
    assert (threaded.relevance == related.relevance).all()
    assert (dependency_matrix(threaded, lambda *_: None) == whole).all()


def test_more_windows_than_are_held_at_once(monkeypatch, table):
    X, y = table
    whole = all_pairs(relate(X, y))
    monkeypatch.setattr("hsiclasso.baselines.parzen._HELD", 200)
    assert (all_pairs(relate(X, y)) == whole).all()


def test_sparse_tables(table):
    X, y = table
    holes = np.where(X > 0.5, X, 0.0)
    dense, stored = relate(holes, y), relate(sparse.csc_array(holes), y)
    assert (dense.relevance == stored.relevance).all()


def test_progress_is_reported(table):
    X, y = table
    seen = []
    relate(np.tile(X, 10), y, report=lambda *now: seen.append(now))
    assert seen[0] == ("relevance", 32, 50)
    assert seen[-1] == ("relevance", 50, 50)


def affinity_of(y):
    return np.exp(-np.abs(y[:, None] - y))


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (lambda y: y, {"target": Auto("linear")}, "Linear.*is no window"),
        (lambda y: y, {"target": Auto("polynomial")}, "is no window.*Take 'gaussian'"),
        (lambda y: (np.exp(y), y > 0), {"target": "survival"}, "censored times.*measure='hsic'"),
        (lambda y: affinity_of(y) - 0.5, {"target": "affinity"}, "affinity of -0.49.*never"),
        (lambda y: y, {"target": Objects(lambda a, b: a * b)}, "a window is never negative"),
        (
            lambda y: affinity_of(y) - np.diag(np.arange(90.0) == 7), {"target": "affinity"},
            "affinity of 0 between sample 7 and itself",
        ),
    ],
)  # fmt: skip
def test_targets_without_windows(table, target, options, message):
    X, y = table
    with pytest.raises(InvalidInputError, match=message):
        relate(X, target(y), **options)


def test_matrices_of_too_many_samples():
    n = DENSE + 1
    y = np.linspace(0, 1, n)
    with pytest.raises(InvalidInputError, match=rf"{n} x {n} pairs of samples here: take at most"):
        relate(y[:, None], y, target=Auto("laplace"))
    ring = sparse.csr_array(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]))
    with pytest.raises(InvalidInputError, match="a sparse matrix between samples needs"):
        relate(y[:, None], ring, target="graph")
