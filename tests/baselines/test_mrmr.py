"""Minimum redundancy, maximum relevance: the greedy search, and each measure that it takes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif, f_regression

from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    Gaussian,
    InvalidInputError,
    make_data1,
    make_data2,
)
from hsiclasso.baselines.dependency import MeasureOptions
from hsiclasso.baselines.mrmr import MRMR
from tests import oracles
from tests.baselines import oracle_binned
from tests.baselines.conftest import make_table

SCHEMES = ("difference", "quotient")
KERNELS = ("hsic", "nhsic", "nocco")
FLOOR = 0.001


def criterion(relevance, redundancy, chosen, scheme):
    """Relevance less, or over, the mean redundancy with what is chosen, in a double loop."""
    values = np.array(relevance, dtype=float)
    for j in range(len(values)):
        total = 0.0
        for s in chosen:
            total += redundancy[j, s]
        if len(chosen):
            mean = total / len(chosen)
            values[j] = values[j] - mean if scheme == "difference" else values[j] / max(mean, FLOOR)
    return values


def greedy(relevance, redundancy, m, scheme):
    """Choose the best m times; returns the choices, and scores as `scores_` has them."""
    chosen, scores = [], np.zeros(len(relevance))
    for _ in range(m):
        values = criterion(relevance, redundancy, chosen, scheme)
        values[chosen] = -np.inf
        best = int(np.argmax(values))
        scores[best] = values[best]
        chosen.append(best)
    others = np.setdiff1d(np.arange(len(relevance)), chosen)
    scores[others] = criterion(relevance, redundancy, chosen, scheme)[others]
    return chosen, scores


def as_in_mrmr_selection(f, correlation, m):
    """The rule of the package mrmr_selection 0.2.8, as its main.py has it."""
    left = [j for j in range(len(f)) if f[j] > 0]
    chosen = []
    for _ in range(min(m, len(left))):
        values = []
        for j in left:
            shares = [max(abs(correlation[j, s]), FLOOR) for s in chosen]
            mean = sum(shares) / len(shares) if shares else 1.0
            values.append(0.0 if shares and mean > 1 - 1e-12 else f[j] / mean)
        chosen.append(left.pop(int(np.argmax(values))))
    return chosen


def parzen_information(u, v):
    """Mutual information with Gaussian windows of n^(-1/6), never less than 0."""
    width = len(u) ** (-1 / 6)
    K, L = oracles.gaussian_gram(u, width), oracles.gaussian_gram(v, width)
    return max(oracles.parzen_information(K, L), 0.0)


def dependences(X, y, measure):
    """Relevance and redundancy by plain formulas."""
    if measure == "mi":
        return oracle_binned.relevance(X, oracle_binned.states(y)), oracle_binned.redundancy(X)
    if measure in ("correlation", "f"):
        both = np.abs(np.corrcoef(np.column_stack([X, y]), rowvar=False))
        relevance = both[-1, :-1] if measure == "correlation" else f_regression(X, y)[0]
        return relevance, both[:-1, :-1]
    every = [*X.T, y]
    if measure == "parzen":
        both = np.array([[parzen_information(u, v) for v in every] for u in every])
    else:
        matrices = [oracles.measure_matrix(oracles.gaussian_gram(x), measure) for x in every]
        both = np.array([[np.sum(A * B) for B in matrices] for A in matrices])
    return both[-1, :-1], both[:-1, :-1]


def table(seed, n=60, d=9):
    return make_table(seed, n, d)


#: y and x0 agree on 6 of 8 samples, x1 is x0 again, x2 agrees with y on 6 others and is
#: independent of x0, x3 is independent of everything.
HAND_Y = np.array(list("aaaabbbb"))
HAND_X = np.array(
    [
        [0, 0, 0, 1, 1, 1, 1, 0],
        [0, 0, 0, 1, 1, 1, 1, 0],
        [0, 1, 0, 0, 1, 0, 1, 1],
        [0, 1, 0, 1, 0, 1, 0, 1],
    ]
).T


class TestByHand:
    """Counts 3 1 / 1 3 of both x0 and x2 with y: I = 3/4 log(3/2) - 1/4 log 2 = 0.131."""

    information = 3 / 4 * np.log(3 / 2) - 1 / 4 * np.log(2)

    def test_difference(self):
        # 1. x0, x1 and x2 have I, x3 nothing: x0, the first.
        # 2. x1: I - log 2 < 0; x2: I - 0; x3: 0: x2.
        # 3. x1: I - (log 2 + 0) / 2 = -0.216; x3: 0: x3.
        # 4. x1: I - (log 2 + 0 + 0) / 3 = -0.100.
        selector = MRMR(4, n_jobs=1).fit(HAND_X, HAND_Y)
        assert selector.selected_.tolist() == [0, 2, 3, 1]
        last = self.information - np.log(2) / 3
        np.testing.assert_allclose(
            selector.scores_, [self.information, last, self.information, 0], atol=1e-14
        )

    def test_quotient(self):
        # 1. x0. 2. x1: I / log 2 = 0.189; x2: I / 0.001; x3: 0: x2.
        # 3. x1: I / (log 2 / 2) = 0.377; x3: 0 / 0.001: x1.
        selector = MRMR(4, scheme="quotient", n_jobs=1).fit(HAND_X, HAND_Y)
        assert selector.selected_.tolist() == [0, 2, 1, 3]
        expected = [self.information, 2 * self.information / np.log(2), 1000 * self.information, 0]
        np.testing.assert_allclose(selector.scores_, expected, atol=1e-10)

    def test_relevance(self):
        selector = MRMR(1, n_jobs=1).fit(HAND_X, HAND_Y)
        expected = [self.information] * 3 + [0]
        np.testing.assert_allclose(selector.relevance_, expected, atol=1e-14)


class TestGreedySearch:
    @pytest.mark.parametrize(
        ("measure", "scheme"),
        [
            ("mi", "difference"), ("mi", "quotient"), ("parzen", "quotient"),
            ("hsic", "difference"), ("nhsic", "quotient"), ("nocco", "difference"),
        ],
    )  # fmt: skip
    def test_double_loop(self, measure, scheme):
        X, y = table(3)
        relevance, redundancy = dependences(X, y, measure)
        chosen, scores = greedy(relevance, redundancy, 5, scheme)
        selector = MRMR(5, measure=measure, scheme=scheme).fit(X, y)
        tight = {"rtol": 1e-4, "atol": 1e-4 * np.abs(scores).max()}
        np.testing.assert_allclose(selector.relevance_, relevance, **tight)
        assert selector.selected_.tolist() == chosen
        np.testing.assert_allclose(selector.scores_, scores, **tight)

    @pytest.mark.parametrize("measure", ["mi", "hsic"])
    def test_scores_add_up_to_the_criterion(self, measure):
        """A score is relevance less the mean redundancy with what was chosen before."""
        X, y = table(3)
        relevance, redundancy = dependences(X, y, measure)
        selector = MRMR(5, measure=measure).fit(X, y)
        chosen = selector.selected_
        gains, scores = selector.relevance_[chosen], selector.scores_[chosen]
        before = np.arange(5) * (gains - scores)
        own = redundancy[chosen, chosen]
        found = gains.mean() - (own.sum() + 2 * before.sum()) / 5**2
        assert found == pytest.approx(oracles.mrmr(relevance, redundancy, chosen), rel=1e-4)

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("measure", ["correlation", "f"])
    def test_double_loop_with_correlations(self, measure, scheme):
        X, y = table(3, n=400)
        relevance, redundancy = dependences(X, y, measure)
        # correlations this small are not rare among many columns
        assert (redundancy[np.triu_indices(9, 1)] < FLOOR).any()
        if scheme == "quotient":
            redundancy = np.maximum(redundancy, FLOOR)
        chosen, scores = greedy(relevance, redundancy, 5, scheme)
        selector = MRMR(5, measure=measure, scheme=scheme).fit(X, y)
        assert selector.selected_.tolist() == chosen
        np.testing.assert_allclose(selector.scores_, scores, rtol=1e-9)

    @given(
        st.integers(0, 9999), st.sampled_from(SCHEMES),
        st.sampled_from([{}, {"bins": "quantile", "n_bins": 4}, {"threshold": 0.5}]),
    )  # fmt: skip
    def test_double_loop_on_any_table(self, seed, scheme, cuts):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(8, 40)), int(rng.integers(1, 8))
        X = rng.standard_normal((n, d))
        y = rng.integers(0, 3, n)
        y[:3] = 0, 1, 2
        m = int(rng.integers(1, d + 1))
        relevance = oracle_binned.relevance(X, y, **cuts)
        redundancy = oracle_binned.redundancy(X, **cuts)
        selector = MRMR(m, scheme=scheme, target="classes", n_jobs=1, **cuts).fit(X, y)
        # counts that are equal but for the names of states are equal only up to rounding, so
        # that each choice is held against the best that could follow those before it
        for step, j in enumerate(selector.selected_):
            before = selector.selected_[:step]
            values = criterion(relevance, redundancy, before, scheme)
            assert values[j] >= np.delete(values, before).max() - 1e-9 * np.abs(values).max()
            assert selector.scores_[j] == pytest.approx(values[j], rel=1e-7, abs=1e-9)
        values = criterion(relevance, redundancy, selector.selected_, scheme)
        others = np.setdiff1d(np.arange(d), selector.selected_)
        np.testing.assert_allclose(selector.scores_[others], values[others], rtol=1e-7, atol=1e-9)

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_choices_are_nested_and_the_ranking_goes_on(self, scheme):
        X, y = table(7)
        whole = MRMR(9, scheme=scheme).fit(X, y)
        assert sorted(whole.selected_) == list(range(9))
        for m in range(1, 9):
            some = MRMR(m, scheme=scheme).fit(X, y)
            assert some.selected_.tolist() == whole.selected_[:m].tolist()
            # first of those that are left is what would be chosen next
            assert np.argsort(some.ranking_)[m] == whole.selected_[m]

    def test_a_copy_of_a_chosen_column_comes_late(self):
        X, y = table(2)
        best = MRMR(1).fit(X, y).selected_[0]
        twice = np.column_stack([X, X[:, best]])
        selector = MRMR(10).fit(twice, y)
        assert selector.selected_[0] == best
        assert selector.selected_.tolist().index(9) > 3

    def test_finds_the_causal_features(self):
        X, y, causal = make_data1(500, 100, random_state=1)
        assert set(MRMR(4, bins="quantile").fit(X, y).selected_) == set(causal)
        X, y, causal = make_data2(500, 50, random_state=1)
        found = MRMR(3, measure="hsic", target=Auto(transform="rank")).fit(X, y).selected_
        assert len(set(found) & set(causal)) >= 2


class TestInvariances:
    @pytest.mark.parametrize("measure", ["mi", "parzen", "f", "hsic"])
    def test_features_and_samples_permuted(self, measure, rng):
        X, y = table(11)
        base = MRMR(5, measure=measure).fit(X, y)
        order = rng.permutation(9)
        moved = MRMR(5, measure=measure).fit(X[:, order], y)
        assert order[moved.selected_].tolist() == base.selected_.tolist()
        rows = rng.permutation(len(y))
        moved = MRMR(5, measure=measure).fit(X[rows], y[rows])
        assert moved.selected_.tolist() == base.selected_.tolist()
        np.testing.assert_allclose(moved.scores_, base.scores_, rtol=1e-5, atol=1e-7)

    @pytest.mark.parametrize("measure", ["mi", "parzen", "f", "correlation", "hsic", "nocco"])
    def test_columns_shifted_and_scaled(self, measure, rng):
        X, y = table(11)
        base = MRMR(5, measure=measure).fit(X, y)
        moved = MRMR(5, measure=measure).fit(X * rng.uniform(0.5, 9, 9) + 3, 5 * y - 1)
        assert moved.selected_.tolist() == base.selected_.tolist()
        np.testing.assert_allclose(moved.scores_, base.scores_, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize(
        "options",
        [
            {"scheme": "quotient"}, {"measure": "correlation"}, {"measure": "parzen"},
            {"bins": "quantile"}, {"threshold": 0.5}, {"pool": 5},
            {"kernel": Gaussian(0.4)}, {"target": Auto(transform="rank")},
            {"target": Auto(Gaussian(0.4))}, {"target": Auto("laplace")},
        ],
        ids=str,
    )  # fmt: skip
    def test_every_option_changes_the_answer(self, options):
        X, y = table(13)
        y = np.exp(y)
        # options of kernels need a measure with kernels
        of_kernels = (
            "kernel" in options or getattr(options.get("target"), "kernel", "auto") != "auto"
        )
        for plain in ({"measure": "hsic"}, {"measure": "parzen"}) if of_kernels else ({},):
            base, other = (MRMR(5, **kind).fit(X, y).scores_ for kind in (plain, plain | options))
            assert np.abs(base - other).max() > 1e-3 * (np.abs(base).max() if of_kernels else 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "ratio"}, "scheme='ratio' is unknown: choose 'difference'"),
        ({"pool": 0}, "pool=0 must be a whole number >= 1"),
        ({"pool": 2.5}, "pool=2.5 must be a whole number"),
        ({"measure": "gini"}, "'f'"),
        ({"measure": "f", "bins": "levels"}, "measure='f'"),
    ],
    ids=str,
)
def test_parameters_that_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        MRMR(**options).fit("no table", None)


class TestPool:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_double_loop_among_the_most_relevant(self, scheme):
        X, y = table(17, d=14)
        relevance, redundancy = dependences(X, y, "mi")
        pool = np.sort(np.argsort(-relevance)[:6])
        chosen, scores = greedy(relevance[pool], redundancy[np.ix_(pool, pool)], 4, scheme)
        selector = MRMR(4, pool=6, scheme=scheme).fit(X, y)
        assert selector.selected_.tolist() == pool[chosen].tolist()
        np.testing.assert_allclose(selector.scores_[pool], scores, rtol=1e-9, atol=1e-12)
        # the others come last, by their relevance
        outside = np.argsort(selector.ranking_)[6:]
        assert not set(outside) & set(pool)
        assert (np.diff(relevance[outside]) <= 0).all()
        assert selector.scores_[outside].max() < selector.scores_[pool].min()

    def test_as_large_as_the_table(self):
        X, y = table(17)
        for pool in (9, 100):
            same = MRMR(4, pool=pool).fit(X, y)
            np.testing.assert_array_equal(same.scores_, MRMR(4).fit(X, y).scores_)

    def test_of_one(self):
        X, y = table(17)
        selector = MRMR(1, pool=1).fit(X, y)
        assert np.argsort(selector.ranking_).tolist() == np.argsort(-selector.relevance_).tolist()

    def test_smaller_than_what_is_wanted(self):
        with pytest.raises(InvalidInputError, match="pool=3 is less than n_features_to_select=4"):
            MRMR(4, pool=3).fit(*table(17))

    def test_smaller_than_the_default(self):
        X, y = table(17)
        assert MRMR(pool=3).fit(X, y).selected_.size == 3


class Spy:
    """A dependency that notes what it is asked for."""

    def __init__(self, dependency):
        self.dependency = dependency
        self.asked = []

    def __getattr__(self, name):
        return getattr(self.dependency, name)

    def block(self, rows, cols):
        self.asked.append((rows.copy(), cols.copy()))
        return self.dependency.block(rows, cols)


@pytest.fixture
def spies(monkeypatch):
    made = []
    plain = MeasureOptions.relate

    def relate(self, job):
        made.append(Spy(plain(self, job)))
        return made[-1]

    monkeypatch.setattr(MeasureOptions, "relate", relate)
    return made


class TestPasses:
    @pytest.mark.parametrize("measure", ["mi", "f", "hsic"])
    def test_one_column_with_those_that_are_left(self, measure, spies):
        X, y = table(19)
        selector = MRMR(4, measure=measure).fit(X, y)
        (spy,) = spies
        assert len(spy.asked) <= 4
        for step, (rows, cols) in enumerate(spy.asked):
            assert cols.tolist() == [selector.selected_[step]]
            assert set(rows) == set(range(9)) - set(selector.selected_[: step + 1])

    @pytest.mark.parametrize("m", [1, 4])
    def test_as_many_as_documented(self, m, spies):
        """The last is for the scores of the features that are not selected."""
        MRMR(m).fit(*table(19))
        assert len(spies[0].asked) == m

    def test_only_candidates(self, spies):
        X, y = table(19)
        X[:, 2] = 1.0
        with pytest.warns(ConstantFeatureWarning):
            selector = MRMR(3, pool=5).fit(X, y)
        looked_at = set(np.concatenate([rows for rows, _ in spies[0].asked]))
        assert len(looked_at | set(selector.selected_)) == 5
        assert 2 not in looked_at


class TestConstantColumns:
    @pytest.mark.parametrize(
        ("measure", "scheme"),
        [
            ("mi", "difference"), ("mi", "quotient"), ("parzen", "difference"), ("f", "quotient"),
            ("correlation", "difference"), ("hsic", "quotient"),
        ],
    )  # fmt: skip
    def test_the_same_as_without_them(self, measure, scheme):
        X, y = table(23)
        wide = np.insert(X, [0, 4], 7.5, axis=1)
        with pytest.warns(ConstantFeatureWarning, match="x0, x5"):
            selector = MRMR(9, measure=measure, scheme=scheme).fit(wide, y)
        base = MRMR(9, measure=measure, scheme=scheme).fit(X, y)
        kept = np.delete(np.arange(11), [0, 5])
        assert selector.selected_.tolist() == kept[base.selected_].tolist()
        np.testing.assert_allclose(selector.scores_[kept], base.scores_, rtol=1e-9)
        assert np.isfinite(selector.scores_).all()
        assert set(np.argsort(selector.ranking_)[-2:]) == {0, 5}


class TestTables:
    @pytest.mark.parametrize("measure", ["mi", "f", "correlation", "parzen"])
    def test_survival(self, measure):
        X, _ = table(29)
        y = np.array(
            [(t, t % 3 > 0) for t in range(1, 61)], dtype=[("time", float), ("event", bool)]
        )
        with pytest.raises(InvalidInputError, match=r"surviv|censored"):
            MRMR(measure=measure).fit(X, y)
        assert MRMR(3, measure="hsic").fit(X, y).selected_.size == 3

    @pytest.mark.parametrize("measure", ["hsic", "nhsic", "nocco", "parzen"])
    def test_affinities(self, measure):
        X, _ = table(29)
        L = oracles.gaussian_gram(X[:, 3], width=0.7)
        selector = MRMR(2, measure=measure, target="affinity").fit(X, L)
        assert selector.selected_[0] == 3
        assert selector.result_.target == "affinity"

    @pytest.mark.parametrize("measure", ["f", "correlation"])
    def test_labels_need_a_measure_that_knows_them(self, measure):
        X, y = table(29)
        frame = pd.DataFrame({"x": X[:, 0], "town": np.array(list("abc"))[np.arange(60) % 3]})
        with pytest.raises(InvalidInputError, match="column 'town' holds labels"):
            MRMR(measure=measure).fit(frame, y)
        for other in ("mi", "parzen", "hsic"):
            assert MRMR(measure=other).fit(frame, y).selected_.size == 2


def tables_for_peers():
    """Tables on which mrmr_selection and MRMR must choose alike: name, X, classes, reals."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 15))
        yield f"random{seed}", X, rng.integers(0, 2 + seed, 80), X @ rng.standard_normal(15)
        groups = rng.standard_normal((80, 4))[:, np.arange(16) % 4]
        X = groups + 0.5 * rng.standard_normal((80, 16))
        signal = X[:, 0] - X[:, 1] + X[:, 2] ** 2 + rng.standard_normal(80)
        yield f"groups{seed}", X, np.digitize(signal, [-0.5, 0.5]), signal
        X = rng.standard_normal((80, 8))
        X = np.column_stack([X, X[:, :5], -2 * X[:, 5] + 3])
        signal = X[:, 0] + 0.7 * X[:, 5] + 0.5 * X[:, 6] + 0.5 * rng.standard_normal(80)
        yield f"copies{seed}", X, (signal > 0).astype(int), signal


def originals(X, order):
    """The first copy of each column: which copy comes first is a matter of rounding."""
    same = np.abs(np.corrcoef(X, rowvar=False)) > 1 - 1e-12
    return [int(np.argmax(same[j])) for j in order]


PEER_TABLES = [pytest.param(*rest, id=name) for name, *rest in tables_for_peers()]


class TestFTest:
    """The F statistic over the mean absolute correlation, as in mrmr_selection."""

    @pytest.mark.parametrize(("X", "classes", "reals"), PEER_TABLES)
    def test_rule(self, X, classes, reals):
        correlation = np.corrcoef(X, rowvar=False)
        for y, test, kind in (
            (classes, f_classif, "classes"),
            (reals, f_regression, "real"),
        ):
            f = test(X, y)[0]
            selector = MRMR(X.shape[1], measure="f", scheme="quotient", target=kind).fit(X, y)
            np.testing.assert_allclose(selector.relevance_, f, rtol=1e-9, atol=1e-12)
            expected = as_in_mrmr_selection(f, correlation, X.shape[1])
            assert originals(X, selector.selected_) == originals(X, expected)

    @pytest.mark.parametrize(("X", "classes", "reals"), PEER_TABLES)
    def test_package(self, X, classes, reals):
        mrmr = pytest.importorskip("mrmr")
        frame = pd.DataFrame(X, columns=np.arange(X.shape[1]))
        for y, peer in ((classes, mrmr.mrmr_classif), (reals, mrmr.mrmr_regression)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = peer(frame, pd.Series(y), 10, show_progress=False, n_jobs=1)
            kind = "classes" if y is classes else "real"
            selector = MRMR(10, measure="f", scheme="quotient", target=kind).fit(X, y)
            assert originals(X, selector.selected_) == originals(X, expected)

    def test_a_copy_of_all_chosen_is_worth_nothing(self):
        X, y = table(31)
        X = np.column_stack([X, -3 * X[:, 0] + 1])
        selector = MRMR(1, measure="f", scheme="quotient").fit(X[:, [0, 9, 6]], y)
        assert selector.selected_.tolist() == [0]
        assert selector.scores_[1] == 0
        assert selector.ranking_.tolist() == [1, 3, 2]

    def test_perfect_predictors(self, rng):
        """A column that is the target: its F statistic is beyond all numbers."""
        X = rng.standard_normal((40, 5))
        selector = MRMR(5, measure="f", scheme="quotient").fit(X, 2 * X[:, 3] - 1)
        assert selector.selected_[0] == 3
        assert not np.isnan(selector.scores_).any()
        selector.result_.to_json()

    @pytest.fixture
    def separated(self, rng):
        """Two classes, and a table whose columns 1 and 4 separate them perfectly."""
        X = rng.standard_normal((40, 5))
        y = rng.integers(0, 2, 40)
        X[:, 1] = y
        X[:, 4] = 3 - y
        return X, y

    def test_perfectly_separated_classes(self, separated):
        X, y = separated
        for scheme in SCHEMES:
            selector = MRMR(5, measure="f", scheme=scheme).fit(X, y)
            assert selector.selected_[0] in (1, 4)
            assert not np.isnan(selector.scores_).any()
            selector.result_.to_json()

    def test_perfect_predictors_outside_the_pool(self, separated):
        selector = MRMR(1, measure="f", pool=1).fit(*separated)
        assert not np.isnan(selector.scores_).any()
        assert set(np.argsort(selector.ranking_)[:2]) == {1, 4}


class TestTargets:
    def test_classes_and_several_outputs(self):
        X, _ = table(37)
        Y = np.column_stack([X[:, 3] > 0, X[:, 6] > 0.3]).astype(int)
        assert set(MRMR(2).fit(X, Y).selected_) == {3, 6}
        assert set(MRMR(2, target=Auto(outputs="joint")).fit(X, Y).selected_) == {3, 6}
        assert MRMR(1).fit(X, np.where(X[:, 7] > 0, "yes", "no")).selected_.tolist() == [7]

    def test_ordered_category(self):
        X, _ = table(37)
        grades = pd.Series(pd.cut(X[:, 7], [-9, -1, 0, 1, 9], labels=list("abcd")))
        selector = MRMR(1).fit(X, grades)
        assert selector.result_.target == "ordinal"
        assert selector.selected_.tolist() == [7]


def test_fewer_features_warning_is_not_raised_for_constants():
    X, y = table(43)
    X[:, :7] = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MRMR(5).fit(X, y)
    assert FewerFeaturesWarning not in {w.category for w in caught}
