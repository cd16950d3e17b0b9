"""Scans against dense matrices, and the same answer through every door."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import hsiclasso
from hsiclasso import (
    Classes,
    Delta,
    Ignore,
    InvalidInputError,
    Laplace,
    Matern,
    Real,
    Resources,
    hsic_scan,
    hsic_test,
)
from hsiclasso.inference import Spectrum, adjust, permutation_p_value
from tests import oracles
from tests.genotypes import as_genotypes, as_numbers, draw_calls

N = 60


def dense_spectrum(K):
    """The spectrum of a centred matrix, from the whole matrix."""
    d = np.diag(K)
    third = [(d**3).sum(), (K**3).sum(), d @ np.diag(K @ K), d @ K @ d]
    values = np.linalg.eigvalsh(K)[::-1]
    return Spectrum(values, d.sum(), (K**2).sum(), (d**2).sum(), np.array(third))


def expected(K, L):
    """Statistic and p-value from two Gram matrices."""
    K, L = oracles.centre(K), oracles.centre(L)
    statistic = oracles.hsic(K, L)
    return statistic, permutation_p_value(statistic, dense_spectrum(K), dense_spectrum(L), len(K))


def same(x):
    """The plain delta kernel."""
    x = np.asarray(x)
    return (x[:, None] == x[None]).astype(float)


def normal_target(y):
    return oracles.gaussian_gram(oracles.normal_scores(y))


@pytest.fixture
def y(rng):
    return rng.exponential(size=N)


@pytest.fixture(name="X")
def table(rng, y):
    X = rng.normal(size=(N, 8))
    X[:, 1] = np.exp(2 * X[:, 1])
    X[:, 2] = rng.standard_t(2, N)
    X[:, 3] += y
    X[:, 4] = 3.0
    X[:, 5] = np.round(X[:, 5])
    return X


def check(scan, grams, L, rtol=1e-4):
    for k, K in enumerate(grams):
        statistic, p = expected(K, L)
        assert scan.statistic[k] == pytest.approx(statistic, rel=1e-5)
        assert scan.p_value[k] == pytest.approx(p, rel=rtol)


def test_numbers_are_as_with_dense_matrices(X, y):
    scan = hsic_scan(X, y)
    varying = [0, 1, 2, 3, 5, 6, 7]
    assert scan.varies.tolist() == [k != 4 for k in range(8)]
    assert (scan.statistic[4], scan.p_value[4], scan.q_value[4]) == (0.0, 1.0, 1.0)
    for k in varying:
        statistic, p = expected(oracles.gaussian_gram(X[:, k]), normal_target(y))
        assert scan.statistic[k] == pytest.approx(statistic, rel=1e-5)
        assert scan.p_value[k] == pytest.approx(p, rel=1e-4)
    np.testing.assert_allclose(scan.q_value[varying], adjust(scan.p_value[varying]))
    assert scan.n_samples == N
    assert scan.target == "real"


def test_raw_target_is_one_word_away(X, y):
    scan = hsic_scan(X[:, :4], y, target=Real(transform=None))
    check(scan, [oracles.gaussian_gram(x) for x in X[:, :4].T], oracles.gaussian_gram(y))


@pytest.mark.parametrize(
    ("kernel", "gram"),
    [
        (Matern(), None),
        (Laplace(), lambda x: np.exp(-np.abs(x[:, None] - x[None]))),
        (hsiclasso.Linear(), lambda x: np.outer(x, x)),
    ],
    ids=["matern", "laplace", "linear"],
)
def test_other_kernels(X, y, kernel, gram):
    columns = [0, 1, 3, 5]
    scan = hsic_scan(X[:, columns], y, kernel=kernel)
    for k, column in enumerate(columns):
        z = oracles.standardise(X[:, column])
        K = kernel.between(z[None], z[None]) if gram is None else gram(z)
        statistic, p = expected(K, normal_target(y))
        assert scan.statistic[k] == pytest.approx(statistic, rel=1e-4)
        assert scan.p_value[k] == pytest.approx(p, rel=1e-3)


@pytest.mark.parametrize("kind", ["int8", "sparse", "sparse of many values", "counts"])
def test_columns_of_few_values(rng, kind):
    n = 300 if kind == "counts" else 120
    y = rng.integers(0, 3, n)
    X = rng.binomial(2, 0.1, size=(n, 6)) + (y == 1)[:, None] * rng.binomial(1, 0.2, size=(n, 6))
    table = X.astype(np.int8)
    if kind == "counts":
        X = table = np.minimum(rng.poisson(3.0, size=(n, 6)), 9).astype(np.int8)
    elif kind != "int8":
        X = X * (rng.normal(size=X.shape) if "many" in kind else 1.0)
        table = sparse.csc_array(X)
    scan = hsic_scan(table, y)
    check(scan, [oracles.gaussian_gram(x) for x in X.T], oracles.delta_gram(y))


def test_labels_and_joint_features(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "site": rng.choice(list("abc"), N),
            "east": rng.normal(size=N),
            "north": rng.normal(size=N),
            "ill": rng.random(N) < 0.3,
        }
    )
    y = rng.choice(["low", "high"], N)
    scan = hsic_scan(frame, y, joint={"place": ["east", "north"]})
    assert scan.names == ("site", "place", "ill")
    assert scan.index.tolist() == [0, 1, 3]
    z = np.array([oracles.standardise(frame[c].to_numpy()) for c in ("east", "north")]) / np.sqrt(2)
    place = np.exp(-0.5 * np.square(z[:, :, None] - z[:, None]).sum(axis=0))
    check(scan, [same(frame["site"]), place, same(frame["ill"])], oracles.delta_gram(y))


@pytest.mark.parametrize("target", ["real", "classes"])
def test_missing_values_leave_the_observed_samples(rng, X, y, target):
    X, gaps = X[:, [0, 1, 3, 5]], rng.random((N, 4)) < 0.2
    gaps[:, 0] = False
    y = np.digitize(y, [0.5, 1.5]) if target == "classes" else y
    scan = hsic_scan(np.where(gaps, np.nan, X), y, missing="ignore", target=target)
    assert scan.n_observed.tolist() == (~gaps).sum(axis=0).tolist()
    L = oracles.delta_gram(y) if target == "classes" else normal_target(y)
    for k in range(4):
        seen = ~gaps[:, k]
        statistic, p = expected(oracles.gaussian_gram(X[seen, k]), L[np.ix_(seen, seen)])
        assert scan.statistic[k] == pytest.approx(statistic * N / seen.sum(), rel=1e-5)
        assert scan.p_value[k] == pytest.approx(p, rel=1e-4)
    kernel = hsic_scan(np.where(gaps, np.nan, np.round(X)), y, missing="ignore", kernel=Delta())
    for k in range(4):
        seen = ~gaps[:, k]
        _, p = expected(oracles.delta_gram(np.round(X[seen, k])), L[np.ix_(seen, seen)])
        assert kernel.p_value[k] == pytest.approx(p, rel=1e-4)


def test_rarely_observed_features_are_not_tested(X, y):
    X = X[:, :3].copy()
    X[3:, 0] = np.nan
    X[20:, 1] = np.nan
    scan = hsic_scan(X, y, missing=Ignore(3))
    assert scan.varies.tolist() == [False, True, True]  # moments need four samples
    assert scan.p_value[0] == 1.0
    assert hsic_scan(X, y, missing="ignore").varies.tolist() == [False, False, True]
    assert not set(scan.selected("n_features", 3)) & {0}


def test_missing_calls(rng):
    calls, y = draw_calls(rng, N, 5), rng.normal(size=N)
    scan = hsic_scan(as_genotypes(calls), y, missing="ignore")
    again = hsic_scan(as_numbers(calls), y, missing="ignore")
    assert (scan.n_observed < N).sum() == 4
    np.testing.assert_allclose(scan.p_value, again.p_value, rtol=1e-6)
    np.testing.assert_allclose(scan.statistic, again.statistic, rtol=1e-6)


def test_every_way_of_running_gives_the_same(tmp_path, rng):
    n, d = 300, 700
    X = rng.normal(size=(n, d))
    y = rng.normal(size=n) + X[:, 5]
    scan = hsic_scan(X, y, n_jobs=1)
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    stored = np.load(tmp_path / "X.npy", mmap_mode="r")
    small = Resources(memory_limit="150MB", checkpoint=tmp_path / "kept")
    order = rng.permutation(n)
    for other in (
        hsic_scan(X, y, n_jobs=2),
        hsic_scan(stored, y),
        hsic_scan(stored, y, resources=small),
        hsic_scan(stored, y, resources=small),  # from the checkpoint
    ):
        np.testing.assert_array_equal(other.p_value, scan.p_value)
    np.testing.assert_allclose(hsic_scan(X[order], y[order]).p_value, scan.p_value, rtol=1e-5)
    np.testing.assert_allclose(hsic_scan(3 * X - 7, y).p_value, scan.p_value, rtol=1e-5)
    np.testing.assert_allclose(hsic_scan(X, np.exp(y)).p_value, scan.p_value, rtol=1e-5)


def test_many_samples(rng):
    """A target on a grid has rows too."""
    n = 260_000
    x = rng.normal(size=n)
    y = 0.01 * np.abs(x) + rng.normal(size=n)
    scan = hsic_scan(np.column_stack([x, rng.normal(size=n)]), y)
    assert scan.p_value[0] < 0.1
    half = hsic_scan(np.column_stack([x, x])[: n // 2], y[: n // 2])
    assert half.p_value[0] == half.p_value[1]


# ------------------------------------------------------------------------------ Permutations


def test_family_p_values_are_those_of_the_same_orders(rng):
    n, d, number = 50, 12, 130
    X = np.column_stack([rng.normal(size=(n, 6)), rng.binomial(2, 0.2, (n, 6))])
    y = rng.normal(size=n) + 0.5 * X[:, 0]
    scan = hsic_scan(X, y, n_permutations=number, random_state=3)
    orders = np.random.default_rng(3)
    smallest = np.array(
        [hsic_scan(X, y[orders.permutation(n)]).p_value.min() for _ in range(number)]
    )
    reached = (smallest[:, None] <= scan.p_value * (1 + 1e-6)).sum(axis=0)
    np.testing.assert_array_equal(scan.family_p_value, (1 + reached) / (1 + number))
    found = scan.selected("fwe_permutation", 0.2)
    assert found.tolist() == [k for k in np.argsort(scan.p_value) if scan.family_p_value[k] <= 0.2]
    again = hsic_scan(X, y, n_permutations=number, random_state=3, n_jobs=2)
    np.testing.assert_array_equal(again.family_p_value, scan.family_p_value)
    other = hsic_scan(X, y, n_permutations=number, random_state=4)
    assert (other.family_p_value != scan.family_p_value).any()
    assert d == scan.family_p_value.size


def test_permutations_of_a_stored_table(tmp_path, rng):
    X, y = rng.normal(size=(80, 300)), rng.normal(size=80)
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    stored = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"n_permutations": 20, "random_state": 0}
    here = hsic_scan(X, y, **options)
    there = hsic_scan(stored, y, **options, resources=Resources(checkpoint=tmp_path / "kept"))
    np.testing.assert_array_equal(here.family_p_value, there.family_p_value)


# ------------------------------------------------------------------------------------ One test


def test_one_test_is_a_scan_of_one_feature(rng, y):
    x = rng.normal(size=(N, 2)) + y[:, None]
    scan = hsic_scan(x[:, :1], y)
    found = hsic_test(x[:, 0], y)
    assert (found.statistic, found.p_value) == (scan.statistic[0], scan.p_value[0])
    assert found.to_dict() == {
        "statistic": found.statistic, "p_value": found.p_value, "n_samples": N, "target": "real",
    }  # fmt: skip
    joint = hsic_scan(x, y, joint={"both": [0, 1]})
    assert hsic_test(x, y).p_value == joint.p_value[0]
    assert hsic_test(x[:, 0].tolist(), y.tolist()).p_value == found.p_value
    pd = pytest.importorskip("pandas")
    assert hsic_test(pd.Series(x[:, 0]), pd.Series(y)).p_value == found.p_value
    labels = np.where(x[:, 0] > 1, "high", "low")
    _, p = expected(same(labels), normal_target(y))
    assert hsic_test(labels, y).p_value == pytest.approx(p, rel=1e-5)
    raw = hsic_test(x[:, 0], y, target=Real(transform=None), kernel=hsiclasso.Linear())
    K = np.outer(*[oracles.standardise(x[:, 0])] * 2)
    assert raw.p_value == pytest.approx(expected(K, oracles.gaussian_gram(y))[1], rel=1e-4)


# -------------------------------------------------------------------------------- The result


def test_modes(rng):
    X = rng.normal(size=(100, 40))
    y = X[:, 3] + X[:, 7] + 0.3 * X[:, 9] + rng.normal(size=100)
    X[:, 0] = 1.0
    scan = hsic_scan(X, y)
    order = np.argsort(scan.p_value)
    varies = np.arange(40) > 0
    by = {
        "fdr": adjust(scan.p_value[varies]),
        "fdr_by": adjust(scan.p_value[varies], "by"),
        "fwe": adjust(scan.p_value[varies], "holm"),
        "fpr": scan.p_value[varies],
    }
    for mode, values in by.items():
        for level in (0.01, 0.1, 0.4):
            expected = [k for k in order if k > 0 and values[k - 1] <= level]
            assert scan.selected(mode, level).tolist() == expected
    assert scan.selected("n_features", 5).tolist() == order[:5].tolist()
    assert scan.selected("n_features", 50).size == 39
    assert scan.selected("percentile", 0.1).tolist() == order[:4].tolist()
    assert {3, 7} <= set(scan.selected())


def test_result_as_records(X, y):
    scan = hsic_scan(X, y)
    found = scan.found("fpr", 0.5)
    rows = found.to_rows()
    assert [row["index"] for row in rows] == scan.selected("fpr", 0.5).tolist()
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert json.loads(found.to_json())["features"] == rows
    assert json.loads(scan.to_json())["p_value"] == scan.p_value.tolist()
    pytest.importorskip("pandas")
    frame = scan.to_frame()
    assert frame["p_value"].tolist() == scan.p_value.tolist()
    assert found.to_frame()["name"].tolist() == [row["name"] for row in rows]
    assert "family_p_value" in hsic_scan(X, y, n_permutations=5).to_frame()
    assert "x3 (p = " in repr(scan)


def test_nothing_found(rng):
    scan = hsic_scan(rng.normal(size=(50, 5)), rng.normal(size=50))
    found = scan.found("fwe", 1e-6)
    assert found.features == ()
    assert json.loads(found.to_json())["features"] == []
    assert len(found.to_frame()) == 0
    assert "Nothing found at a false discovery rate of 0.1" in repr(scan)


# ------------------------------------------------------------------------------------ Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": -1}, "n_permutations=-1 must be a whole number >= 0"),
        ({"random_state": "seed"}, "random_state='seed' is no source"),
        ({"kernel": "gauss"}, "kernel='gauss' is unknown"),
        ({"missing": "drop"}, "missing='drop' is unknown"),
    ],
)
def test_wrong_options_are_refused(X, y, options, message):
    with pytest.raises(InvalidInputError, match=message):
        hsic_scan(X, y, **options)


def test_what_has_no_p_value_is_refused(tmp_path, X, y):
    with pytest.raises(InvalidInputError, match="n_samples=3, but p-values need 4"):
        hsic_scan(X[:3], y[:3])
    file = tmp_path / "weighted.csv"
    lines = ["a,b,w,y", *(f"{a},{b},1,{v}" for (a, b), v in zip(X[:, :2], y, strict=True))]
    file.write_text("\n".join(lines))
    with pytest.raises(InvalidInputError, match="sample weights"):
        hsic_scan(hsiclasso.read_table(file, target="y", weights="w"))
    with pytest.raises(InvalidInputError, match="without a factor"):
        hsic_scan(X, y, target=Real(kernel=Laplace()))
    gaps = np.where(np.arange(N)[:, None] == 0, np.nan, X)
    with pytest.raises(InvalidInputError, match="n_permutations needs complete features"):
        hsic_scan(gaps, y, missing="ignore", n_permutations=9)
    with pytest.raises(InvalidInputError, match=r"x has shape \(2, 2, 2\)"):
        hsic_test(np.zeros((2, 2, 2)), y)
    with pytest.raises(InvalidInputError, match="kernel='gaussian' cannot compare labels"):
        hsic_test(["a", "b"] * 30, y, kernel="gaussian")
    with pytest.raises(InvalidInputError, match="Laplace kernels have no factor"):
        hsic_scan(np.tile(X[:, :1], (70, 1)), np.tile(y, 70), kernel="laplace")
    scan = hsic_scan(X, y)
    with pytest.raises(InvalidInputError, match="needs permutations"):
        scan.selected("fwe_permutation")
    with pytest.raises(InvalidInputError, match="mode='best' is unknown"):
        scan.selected("best")
    with pytest.raises(InvalidInputError, match=r"level=0\.1 must be a whole number"):
        scan.selected("n_features")
    with pytest.raises(InvalidInputError, match="level=2, but mode='fdr'"):
        scan.selected("fdr", 2)


def test_samples_without_a_target_are_dropped(X, y):
    y = y.copy()
    y[:5] = np.nan
    scan = hsic_scan(X, y, target=Real(missing="drop"))
    rest = hsic_scan(X[5:], y[5:])
    np.testing.assert_array_equal(scan.p_value, rest.p_value)
    assert (scan.n_samples, scan.n_dropped) == (N - 5, 5)
    assert hsic_scan(X, y > 1, target=Classes()).target == "classes"
