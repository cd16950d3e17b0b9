"""The scan of all pairs: its scores, bounds and what it claims, against dense matrices."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso import InvalidInputError
from hsiclasso.data.stored import StoredArray
from hsiclasso.dependence import Threads, pair_scan
from hsiclasso.dependence.checkpoint import Checkpoint
from hsiclasso.dependence.pairs import (
    Coverage,
    Found,
    PairOptions,
    Pairs,
    certify,
    rank_of_scan,
    scan_pairs,
)
from hsiclasso.kernels import Delta, Gaussian, Laplace, Matern, as_measure
from tests import oracles
from tests.dependence.cases import (
    FORMS,
    KERNELS,
    MEASURES,
    STORAGES,
    make_features,
    make_samples,
    make_target,
    punched,
    real_numbers,
)


def exact(features, measure, T, which=None):
    """Relevance of pairs, by the oracle: a dictionary."""
    X, samples = features.source.block(slice(None)), features.samples
    made = {}
    for pair in which or combinations(range(features.n_features), 2):
        A = oracles.interaction_matrix(
            [X[:, features.columns_of(k)].T for k in pair],
            [features.kernel(k) for k in pair], measure, samples.weights, samples.covariates,
        )  # fmt: skip
        made[pair] = float(np.sum(A * T))
    return made


def make(rng, n, d, measure, form="real", y=None, **options):
    """Features, their target, and its dense matrix."""
    X = options.pop("X", None)
    features = make_features(real_numbers(rng, n, d) if X is None else X, **options)
    x = np.nan_to_num(features.source.block(slice(None))[:, 0]) if y is None else y
    return features, *make_target(form, x / np.abs(x).max(), measure, features.samples, rng)


def everything(rank=None, **options):
    return PairOptions(10**6, rank, **options)


@settings(max_examples=60)
@given(
    storage=st.sampled_from(sorted(STORAGES)),
    kernels=st.one_of(*[st.tuples(*[st.sampled_from(KERNELS)] * k) for k in (1, 2)]),
    measure=st.sampled_from(MEASURES), form=st.sampled_from(FORMS),
    weights=st.sampled_from(["none", "real", "whole"]), covariates=st.booleans(),
    joint=st.booleans(), rank=st.sampled_from([1, 2, 3, 6, 20]), seed=st.integers(0, 10_000),
)  # fmt: skip
def test_bounds_are_bounds(storage, kernels, measure, form, weights, covariates, joint, rank, seed):
    rng = np.random.default_rng(seed)
    table = STORAGES[storage](rng, 40, 5 + joint)
    kernels = tuple(Delta() if storage == "categories" else kernel for kernel in kernels)
    joint = joint and all(kernel.joins_columns for kernel in kernels)
    samples = make_samples(rng, 40, weights, covariates)
    features, target, T = make(
        rng, 40, 5, measure, form, X=table, kernels=kernels, samples=samples, joint=joint
    )
    wanted = exact(features, measure, T)
    size = max(map(abs, wanted.values()))
    rounding = 1e-9 * size + 1e-12 * np.linalg.norm(T)
    found = scan_pairs(features, target, as_measure(measure), options=everything(rank))
    assert found.n_pairs == len(wanted)
    for pair, upper in zip(map(tuple, found.pairs.tolist()), found.upper, strict=True):
        assert wanted.pop(pair) <= upper + rounding
    assert all(value <= found.others + rounding for value in wanted.values())


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("weights", ["none", "real"])
@pytest.mark.parametrize("form", ["real", "classes", "Laplace"])
def test_scores_at_a_high_rank_are_the_relevance(measure, weights, form, rng):
    features, target, T = make(
        rng, 60, 6, measure, form, samples=make_samples(rng, 60, weights, measure == "hsic")
    )
    found = scan_pairs(features, target, as_measure(measure), options=everything(30))
    wanted = exact(features, measure, T)
    expected = [wanted[pair] for pair in map(tuple, found.pairs.tolist())]
    # of the norm, what centring removes is estimated
    error = 0.03 if measure == "hsic" else 0.35
    np.testing.assert_allclose(found.score, expected, rtol=error)
    if form != "Laplace":
        slack = 0.1 if measure == "hsic" else 0.5
        assert (found.upper <= (1 + slack) * np.array(expected) + 0.01 * max(expected)).all()


def test_more_rows_give_tighter_bounds(rng):
    features, target, _ = make(rng, 80, 6, "hsic")
    slack = [
        float((found.upper - found.score).sum())
        for rank in (1, 2, 4, 8)
        for found in [scan_pairs(features, target, as_measure("hsic"), options=everything(rank))]
    ]
    assert (np.diff(slack) < 0).all()
    assert slack[-1] < 0.05 * slack[0]


@pytest.mark.parametrize("measure", MEASURES)
def test_missing_values(measure, rng):
    """Scores are nearly the relevance; bounds hold whatever the pattern of missing values."""
    X = punched(rng, rng.standard_normal((150, 6)), 0.1)
    y = np.sign(np.nan_to_num(X[:, 1] * X[:, 2])) + 0.1 * rng.standard_normal(150)
    features, target, T = make(rng, 150, 6, measure, X=X, y=y)
    found = scan_pairs(features, target, as_measure(measure), options=everything(8))
    wanted = exact(features, measure, T)
    assert tuple(found.pairs[0]) == (1, 2) == max(wanted, key=wanted.get)
    expected = np.array([wanted[pair] for pair in map(tuple, found.pairs.tolist())])
    assert (expected <= found.upper).all()
    if measure == "hsic":
        np.testing.assert_allclose(found.score, expected, rtol=0.2)


def test_values_that_are_missing_where_the_target_is_large(rng):
    """That values are missing says nothing: the bound holds, and covers the centring."""
    x = rng.standard_normal(100)
    X = np.column_stack([x, x, rng.standard_normal(100)])
    y = rng.standard_normal(100)
    X[y > 0.5, 0] = np.nan
    for samples in (make_samples(rng, 100, "none"), make_samples(rng, 100, "real")):
        features, target, T = make(rng, 100, 3, "hsic", X=X, y=y, samples=samples)
        found = scan_pairs(features, target, as_measure("hsic"), options=everything(8))
        wanted = exact(features, "hsic", T)
        expected = np.array([wanted[pair] for pair in map(tuple, found.pairs.tolist())])
        assert (expected <= found.upper).all()


def test_constant_features_have_no_pairs(rng):
    X = rng.standard_normal((40, 4))
    X[:, 2] = 1.0
    features, target, _ = make(rng, 40, 4, "nhsic", X=X)
    found = scan_pairs(features, target, as_measure("nhsic"), options=everything())
    assert sorted(map(tuple, found.pairs.tolist())) == [(0, 1), (0, 3), (1, 3)]
    assert found.n_pairs == 6
    assert found.others == 0


def test_genotypes_have_two_rows(rng):
    X = rng.binomial(2, 0.4, (90, 5)).astype(np.int8)
    features, target, T = make(rng, 90, 5, "hsic", X=X)
    found = scan_pairs(features, target, as_measure("hsic"), options=everything())
    wanted = exact(features, "hsic", T)
    expected = [wanted[pair] for pair in map(tuple, found.pairs.tolist())]
    np.testing.assert_allclose(found.score, expected, rtol=2e-3)
    assert (found.upper <= np.multiply(expected, 1.05) + 0.3).all()
    work = pair_scan.PairScan(
        features, np.ones((1, 90)), as_measure("hsic"), Pairs.of(5), PairOptions(rank=10)
    )
    assert work.prepared().heights.tolist() == [2] * 5


# ------------------------------------------------------------------------------- Which pairs


def test_which_pairs():
    assert pairs_of(Pairs.of(4)) == set(combinations(range(4), 2))
    assert pairs_of(Pairs.of([5, 2, 9])) == {(2, 5), (2, 9), (5, 9)}
    assert pairs_of(Pairs.of(4, first=[2, 0])) == {(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)}
    assert pairs_of(Pairs.between([3, 4, 5], [1, 0])) == {
        (k, l)
        for k in (0, 1)
        for l in (3, 4, 5)  # noqa: E741
    }


def pairs_of(chosen):
    rng = np.random.default_rng(0)
    features, target, _ = make(rng, 30, 10, "hsic", kernels=Gaussian())
    found = scan_pairs(features, target, as_measure("hsic"), chosen, everything(3))
    assert len(found.pairs) == found.n_pairs == chosen.number
    assert chosen.before(chosen.n_first) == chosen.number
    return set(map(tuple, found.pairs.tolist()))


@pytest.mark.parametrize("chosen", [Pairs.of(9), Pairs.of(9, first=[4, 7, 1, 0]),
                                    Pairs.between([0, 2, 4, 6], [1, 3, 5, 7, 8])])  # fmt: skip
@pytest.mark.parametrize("width", [1, 3, 50])
def test_pieces_change_nothing(chosen, width, rng, monkeypatch):
    features, target, _ = make(rng, 30, 9, "nhsic")
    whole = scan_pairs(features, target, as_measure("nhsic"), chosen, PairOptions(5, 3))
    monkeypatch.setattr(pair_scan, "_WIDTH", width)
    monkeypatch.setattr(pair_scan, "_CHUNK", width + 1)
    monkeypatch.setattr(pair_scan, "_READ", width + 2)
    told = []
    cut = scan_pairs(
        features, target, as_measure("nhsic"), chosen, PairOptions(5, 3), runner=Threads(2),
        progress=lambda *args: told.append(args),
    )  # fmt: skip
    assert_same(cut, whole)
    assert [stage for stage, _, _ in told] == ["pairs"] * len(told)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1][1:] == (chosen.number, chosen.number)


def assert_same(one, two, rtol=1e-5):
    assert one.pairs.tolist() == two.pairs.tolist()
    for name in ("score", "upper", "others"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=rtol)
    for name in ("n_pairs", "n_above", "rank"):
        assert getattr(one, name) == getattr(two, name)


@pytest.mark.parametrize("number", [1, 2, 4, 9])
def test_only_the_best_are_kept(number, rng):
    """Of many pairs: sorting few entries sorts more of them than it must."""
    features, target, _ = make(rng, 40, 50, "hsic", kernels=Gaussian())
    every = scan_pairs(features, target, as_measure("hsic"), options=everything(3))
    best = scan_pairs(features, target, as_measure("hsic"), options=PairOptions(number, 3))
    assert best.pairs.tolist() == every.pairs[:number].tolist()
    assert best.others == pytest.approx(every.upper[number:].max(), rel=1e-6)


@pytest.mark.parametrize("covariates", [False, True])
def test_missing_values_elsewhere_change_no_bound(covariates, rng, monkeypatch):
    """Only pairs with a gap pay for the target that is not centred there."""
    # what the rows leave out is the same share, whatever all features have on average
    monkeypatch.setattr(pair_scan, "_PART", 0.0)
    X = rng.standard_normal((80, 6))
    X[rng.random(80) < 0.2, 5] = np.nan
    samples = make_samples(rng, 80, "none", covariates)
    features, target, _ = make(
        rng, 80, 6, "hsic", X=X, y=X[:, 1], samples=samples, kernels=Gaussian()
    )
    bounds = []
    for some in (make_features(X[:, :5], Gaussian(), samples), features):
        found = scan_pairs(some, target, as_measure("hsic"), options=everything(4))
        bounds.append(dict(zip(map(tuple, found.pairs.tolist()), found.upper, strict=True)))
    whole, beside = bounds
    assert len(whole) == 10
    for pair, upper in whole.items():
        assert beside[pair] == pytest.approx(upper, rel=1e-5)


def test_joint_features_and_other_numbers(rng):
    """Interactions are left out; a joint feature is a member like any other."""
    features, target, T = make(rng, 50, 5, "hsic", joint=True)
    found = scan_pairs(
        features.with_interactions([(0, 1)]), target, as_measure("hsic"), options=everything(12)
    )
    wanted = exact(features, "hsic", T)
    assert set(map(tuple, found.pairs.tolist())) == set(wanted)
    best = max(wanted, key=wanted.get)
    assert tuple(found.pairs[0]) == best
    assert found.score[0] == pytest.approx(wanted[best], rel=1e-3)


# ------------------------------------------------------------------------- Files and runners


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("kernels", [Gaussian(), (Gaussian(), Matern(), Laplace())], ids=str)
def test_tables_in_files(joint, kernels, rng, tmp_path):
    X = punched(rng, real_numbers(rng, 40, 9), 0.1)
    np.save(tmp_path / "X.npy", X)
    features, target, _ = make(rng, 40, 9, "nhsic", X=X, kernels=kernels, joint=joint)
    table = StoredArray(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert not table.in_memory
    stored = make_features(table, kernels, joint=joint)
    chosen = Pairs.of([1, 3, 4, 7], first=[4])
    measure = as_measure("nhsic")
    assert_same(
        *(scan_pairs(f, target, measure, chosen, everything(3)) for f in (features, stored))
    )


def test_a_scan_that_was_interrupted_continues(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(pair_scan, "_WIDTH", 2)
    features, target, _ = make(rng, 40, 9, "hsic")
    whole = scan_pairs(features, target, as_measure("hsic"), options=PairOptions(5, 3))
    runner = Checkpoint(Path(tmp_path), Threads(), {"table": "t"})
    calls, fresh = [], pair_scan.PairScan.__call__

    def until(self, piece):
        calls.append(piece)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fresh(self, piece)

    with monkeypatch.context() as patch:
        patch.setattr(pair_scan.PairScan, "__call__", until)
        with pytest.raises(KeyboardInterrupt):
            scan_pairs(
                features, target, as_measure("hsic"), options=PairOptions(5, 3), runner=runner
            )

    def note(self, piece):
        calls.append(piece)
        return fresh(self, piece)

    calls.clear()
    monkeypatch.setattr(pair_scan.PairScan, "__call__", note)
    again = scan_pairs(
        features, target, as_measure("hsic"), options=PairOptions(5, 3), runner=runner
    )
    assert_same(again, whole)
    assert [piece.start for piece in calls] == [4, 6]
    # other pairs of the same table have other files
    scan_pairs(features, target, as_measure("hsic"), Pairs.of(4), everything(3), runner=runner)
    with pytest.raises(InvalidInputError, match="made for another table"):
        scan_pairs(
            features, target, as_measure("hsic"), options=PairOptions(5, 3),
            runner=Checkpoint(Path(tmp_path), Threads(), {"table": "u"}),
        )  # fmt: skip


def test_results_become_arrays_and_back(rng):
    features, target, _ = make(rng, 30, 4, "hsic")
    found = scan_pairs(features, target, as_measure("hsic"), options=PairOptions(2, 3))
    again = Found.from_arrays(found.to_arrays())
    assert_same(again, found, rtol=0)
    assert isinstance(again.others, float)


# ------------------------------------------------------------------------------ Certification


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rank", [1, 3, 8])
@pytest.mark.parametrize("most", [0, 3, 1000])
def test_never_claims_more_than_is_true(measure, rank, most, rng):
    """Whatever the penalty: what is neither kept nor a candidate nor counted is below it."""
    features, target, T = make(rng, 60, 8, measure)
    wanted = exact(features, measure, T)
    measure = as_measure(measure)
    found = scan_pairs(features, target, measure, options=PairOptions(4, rank))
    kept = set(map(tuple, found.pairs.tolist()))
    for alpha in np.quantile(list(wanted.values()), [0, 0.3, 0.6, 0.9, 1.0]) + 1e-12:
        coverage = certify(features, target, measure, found, alpha, most=most)
        beyond = {p for p, value in wanted.items() if value > alpha * (1 + 1e-9)} - kept
        assert len(beyond) <= coverage.n_open
        assert coverage.n_pairs == len(wanted)
        if coverage.complete:
            assert not beyond
        if coverage.candidates is not None:
            more = set(map(tuple, coverage.candidates.pairs.tolist()))
            assert beyond <= more
            assert not more & kept
            assert len(more) == coverage.n_open <= most
            assert coverage.candidates.others <= alpha
        else:
            assert coverage.complete or coverage.n_open > most


def test_strong_pairs_are_certified(rng):
    """At a sufficient rank nothing else can reach the relevance of a strong pair."""
    X = rng.standard_normal((300, 12))
    y = np.sign(X[:, 2] * X[:, 5])
    features, target, _ = make(rng, 300, 12, "hsic", "classes", X=X, y=y)
    found = scan_pairs(features, target, as_measure("hsic"), options=PairOptions(1, 8))
    assert found.pairs.tolist() == [[2, 5]]
    coverage = certify(features, target, as_measure("hsic"), found, 0.5 * found.score[0])
    assert coverage.complete
    assert coverage.message == "complete over all 66 pairs"


def test_words():
    assert Coverage(10, 3, 4).message == ("complete at rank 3: 4 of 10 pairs could not be excluded")


# ------------------------------------------------------------------------------ Rank, memory


def test_rank_is_what_the_time_allows():
    smooth = np.full(5, 12)
    ranks = [rank_of_scan(500, m, smooth, 30, normalised=False) for m in (1e4, 1e7, 3e7, 1e9)]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == 10
    assert ranks[-1] == 3
    assert rank_of_scan(500, 1e7, smooth, 30, normalised=True) < ranks[1]
    assert rank_of_scan(500, 1e8, np.full(5, 2), 10, normalised=False) == 10


def test_too_little_memory_is_refused(rng):
    features, target, _ = make(rng, 100, 20, "hsic")
    with pytest.raises(InvalidInputError, match=r"all pairs of 20 features need .*among=\d+"):
        scan_pairs(features, target, as_measure("hsic"), limit=10_000)


def test_rough_targets_of_many_samples_are_refused(rng, monkeypatch):
    features, target, _ = make(rng, 40, 4, "hsic", "Laplace")
    monkeypatch.setattr("hsiclasso.dependence.pair_rows.DENSE", 30)
    with pytest.raises(InvalidInputError, match="at most 30 samples, not 40"):
        scan_pairs(features, target, as_measure("hsic"))
