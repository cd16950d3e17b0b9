"""Forward selection: every step against all its candidates, where it stops, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso import Auto, ConstantFeatureWarning, Gaussian, InvalidInputError, Real
from hsiclasso.baselines import ForwardSelection, HSICRanking, forward
from tests import oracles
from tests.baselines import oracle_joint
from tests.baselines.r_random import R

CRITERIA = ["kpc", "kpc-rkhs", "foci", "hsic-conditional"]


def data(seed=0, n=40, d=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.standard_normal(d)
    Z = oracles.standardised(X)
    return X, np.sin(2 * Z[:, 1]) + Z[:, 3] * Z[:, 4] + 0.2 * rng.uniform(-1, 1, n)


def partial(criterion, Z, y, chosen, feature):
    """The plain formula of a criterion."""
    L = oracles.gaussian_gram(y)
    if criterion == "kpc":
        return oracles.partial_correlation(Z, L, chosen, feature, 2)
    if criterion == "foci":
        known = oracles.codec(Z[:, chosen], y) if chosen else 0.0
        return (oracles.codec(Z[:, [*chosen, feature]], y) - known) / (1 - known)

    def gram(columns):
        if not columns:
            return np.zeros((len(Z), len(Z)))
        return oracles.joint_gram(Z[:, columns], np.sqrt(len(columns)))

    if criterion == "kpc-rkhs":
        with_it = gram([*chosen, feature])
        return oracles.rkhs_partial_correlation(gram(chosen), with_it, L, 1e-3)
    return oracles.conditional_hsic(gram([feature]), gram(chosen), L, 1e-3)


class TestSteps:
    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_every_step_is_the_best_of_its_candidates(self, criterion):
        X, y = data(3)
        selector = ForwardSelection(3, criterion=criterion, n_jobs=1).fit(X, y)
        Z, chosen, expected = oracles.standardised(X), [], np.empty(8)
        for _ in range(3):
            left = [j for j in range(8) if j not in chosen]
            gains = [partial(criterion, Z, y, chosen, j) for j in left]
            chosen.append(left[int(np.argmax(gains))])
            expected[chosen[-1]] = max(gains)
        for j in set(range(8)) - set(chosen):
            expected[j] = partial(criterion, Z, y, chosen, j)
        assert selector.selected_.tolist() == chosen
        np.testing.assert_allclose(selector.scores_, expected, rtol=1e-6, atol=1e-9)
        rest = sorted(set(range(8)) - set(chosen), key=lambda j: -expected[j])
        assert np.argsort(selector.ranking_).tolist() == [*chosen, *rest]
        assert selector.explained_.shape == (3,)
        assert selector.result_.n_requested == 3

    def test_all_features(self):
        X, y = data()
        selector = ForwardSelection(8, n_jobs=1).fit(X, y)
        assert sorted(selector.selected_) == list(range(8))

    def test_the_share_explained_is_that_of_the_whole_set(self):
        X, y = data()
        selector = ForwardSelection(3, n_neighbors=4).fit(X, y)
        L, n = oracles.gaussian_gram(y), len(y)
        least = (L.sum() - n) / (n * (n - 1))
        for size in (1, 2, 3):
            Z = oracles.standardised(X)[:, selector.selected_[:size]]
            expected = (oracles.mean_of_nearest(Z, L, 4) - least) / (1 - least)
            assert selector.explained_[size - 1] == pytest.approx(expected, rel=1e-9)


class TestStops:
    @pytest.mark.parametrize("n_features", [100, 1000])
    def test_printed_example(self, n_features):
        """README and manual of the R package KPC: `KFOCI` with one neighbour selects 1, 2, 3."""
        X = R(1).rnorm(200 * n_features).reshape(n_features, 200).T
        y = X[:, 0] * X[:, 1] + np.sin(X[:, 0] * X[:, 2])
        # the kernel is exp(-(y - y')^2), and a real target is standardised
        target = Real(Gaussian(float(np.sqrt(0.5) / np.std(y))), transform=None)
        selector = ForwardSelection(n_neighbors=1, target=target).fit(X, y)
        assert selector.selected_.tolist() == [0, 1, 2]

    @pytest.mark.parametrize("criterion", ["kpc", "kpc-rkhs", "hsic-conditional"])
    def test_finds_three_that_matter_together(self, criterion):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((150, 30))
        y = X[:, 0] * X[:, 1] + np.sin(X[:, 0] * X[:, 2])
        selector = ForwardSelection(criterion=criterion, random_state=0).fit(X, y)
        assert set(selector.selected_) == {0, 1, 2}
        assert selector.result_.n_requested is None
        assert "of the target" in selector.result_.message

    def test_of_two_stops_the_share_no_longer_rises(self):
        X, y = data(2, n=80)
        selector = ForwardSelection().fit(X, y)
        longer = ForwardSelection(selector.selected_.size + 1).fit(X, y)
        assert longer.selected_[:-1].tolist() == selector.selected_.tolist()
        assert longer.explained_[-1] <= selector.explained_[-1]
        assert (np.diff(selector.explained_) > 0).all()

    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_nothing_is_selected_if_nothing_matters(self, criterion):
        """Of one column of noise, in at least one draw."""
        sizes = set()
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X, y = rng.standard_normal((40, 1)), rng.standard_normal(40)
            selector = ForwardSelection(criterion=criterion, random_state=0).fit(X, y)
            sizes.add(selector.selected_.size)
            assert selector.explained_.size == selector.selected_.size
        assert 0 in sizes


class TestTargets:
    @pytest.mark.parametrize("name", oracle_joint.TARGETS)
    def test_of_every_kind(self, name, rng):
        X = rng.standard_normal((30, 4))
        options, target, gram = oracle_joint.TARGETS[name]
        if "outputs" in name:  # one has heavy tails
            average = "average" if "average" in name else "auto"
            options = {"target": Auto(outputs=average, transform=None)}
        selector = ForwardSelection(1, n_neighbors=2, **options).fit(X, target(X))
        L = gram(X)
        expected = [oracles.partial_correlation(X, L, [], j, 2) for j in range(4)]
        best = int(np.argmax(expected))
        assert selector.selected_.tolist() == [best]
        assert selector.scores_[best] == pytest.approx(expected[best], rel=1e-6)

    @pytest.mark.parametrize("kind", ["real", "ordinal", "counts"])
    def test_ranks_of_numbers(self, kind, rng):
        X = rng.standard_normal((40, 3))
        y = np.digitize(X[:, 1] + X[:, 2], [-1, 0, 1])
        selector = ForwardSelection(2, criterion="foci", target=kind).fit(X, y)
        expected = oracles.codec(X[:, selector.selected_], y)
        assert selector.explained_[-1] == pytest.approx(expected, rel=1e-9)

    def test_heavy_tails_are_compared_by_normal_scores(self):
        X, y = data(0)
        tails = np.sign(y) * np.abs(y - np.median(y)) ** 7
        default = ForwardSelection(4).fit(X, tails)
        scores = ForwardSelection(4, target=Real(transform="normal")).fit(X, tails)
        raw = ForwardSelection(4, target=Real(transform=None)).fit(X, tails)
        np.testing.assert_array_equal(default.scores_, scores.scores_)
        assert (raw.scores_ != scores.scores_).any()


class TestInvariances:
    @pytest.mark.parametrize("criterion", ["kpc", "foci", "hsic-conditional"])
    @given(seed=st.integers(0, 500))
    @settings(max_examples=8)
    def test_order_of_features_and_samples_shifts_and_scales(self, criterion, seed):
        X, y = data(seed, n=25, d=6)
        rng = np.random.default_rng(seed)
        plain = ForwardSelection(3, criterion=criterion).fit(X, y)
        columns, rows = rng.permutation(6), rng.permutation(25)
        scale = rng.choice([-3.0, 0.1, 1e5], 6)
        changed = (X * scale + 10 * scale)[rows][:, columns]
        other = ForwardSelection(3, criterion=criterion).fit(changed, 5 + 2 * y[rows])
        assert columns[other.selected_].tolist() == plain.selected_.tolist()
        np.testing.assert_allclose(other.explained_, plain.explained_, rtol=1e-7)

    def test_threads_and_seeds(self):
        X, y = data(0, d=40)
        options = {"criterion": "hsic-conditional", "random_state": 3}
        one, two = (ForwardSelection(**options, n_jobs=n).fit(X, y) for n in (1, 2))
        assert one.selected_.tolist() == two.selected_.tolist()
        np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-10)


class TestTables:
    def test_pool_holds_the_features_of_the_largest_hsic(self):
        X, y = data(1, n=60, d=20)
        best = HSICRanking(20).fit(X, y)
        selector = ForwardSelection(4, pool=6).fit(X, y)
        assert set(selector.selected_) <= set(best.selected_[:6])
        assert np.argsort(selector.ranking_)[6:].tolist() == best.selected_[6:].tolist()
        assert "Only the 6 features of the largest HSIC" in selector.result_.message
        alone = ForwardSelection(4).fit(X[:, np.sort(best.selected_[:6])], y)
        expected = np.sort(best.selected_[:6])[alone.selected_]
        assert selector.selected_.tolist() == expected.tolist()

    def test_constant_columns(self):
        X, y = data()
        wide = np.insert(X, [0, 3], 1.0, axis=1)
        with pytest.warns(ConstantFeatureWarning):
            selector = ForwardSelection(3).fit(wide, y)
        kept = np.delete(np.arange(10), [0, 4])
        plain = ForwardSelection(3).fit(X, y)
        assert selector.selected_.tolist() == kept[plain.selected_].tolist()
        with pytest.warns(ConstantFeatureWarning):
            assert ForwardSelection().fit(np.ones((9, 3)), np.arange(9.0)).selected_.size == 0

    def test_progress(self):
        X, y = data()
        told = []
        ForwardSelection(2).fit_reporting(X, y, lambda *step: told.append(step))
        assert told == [("features", 1, 2), ("features", 2, 2)]
        told.clear()
        ForwardSelection().fit_reporting(X, y, lambda *step: told.append(step))
        assert told[0] == ("features", 1, 0)

    def test_default_neighbours(self):
        for n, k in ((3, 1), (20, 1), (21, 2), (200, 10), (1000, 20)):
            assert ForwardSelection()._neighbors(n) == k
        assert ForwardSelection(criterion="foci")._neighbors(200) == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"criterion": "kfoci"}, "criterion='kfoci' is unknown: choose 'kpc', "),
            ({"n_neighbors": 0}, "n_neighbors=0 must be a whole number >= 1"),
            ({"n_neighbors": 40}, "n_neighbors=40, but a sample has only 39 others"),
            ({"n_neighbors": 3, "criterion": "kpc-rkhs"}, "n_neighbors=3 has no meaning with"),
            ({"width": 0.0}, "width=0.0 must be a finite number > 0"),
            ({"width": 2.0}, "width=2.0 has no meaning with criterion='kpc'"),
            ({"ridge": -1.0}, "ridge=-1.0 must be a finite number > 0"),
            ({"ridge": 0.1, "criterion": "foci"}, "ridge=0.1 has no meaning with"),
            ({"level": 1.0, "criterion": "hsic-conditional"}, "level=1.0, but a level lies"),
            ({"level": "low"}, "level='low', but a level lies"),
            ({"level": 0.1}, "level=0.1 has no meaning with criterion='kpc'"),
            ({"pool": 0}, "pool=0 must be a whole number >= 1"),
            ({"pool": 2, "n_features_to_select": 3}, "pool=2 is less than n_features_to_select=3"),
            ({"random_state": -1}, "random_state=-1 is no source of randomness"),
            ({"criterion": "foci", "target": "classes"}, "criterion='foci' needs one number"),
            ({"criterion": "foci", "target": Auto("linear")}, "no meaning with criterion='foci'"),
            ({"n_features_to_select": 9}, "n_features_to_select=9 is greater than n_features=8"),
        ],
    )
    def test_parameters(self, options, words):
        X, y = data()
        y = (y > 0).astype(int) if options.get("target") == "classes" else y
        with pytest.raises(InvalidInputError, match=words):
            ForwardSelection(**options).fit(X, y)

    def test_too_many_samples(self, monkeypatch):
        monkeypatch.setattr(forward, "_MOST_SAMPLES", 30)
        with pytest.raises(InvalidInputError, match="n_samples=40, but Forward selection holds"):
            ForwardSelection().fit(*data())

    def test_additive_affinity(self):
        X, y = data()
        with pytest.raises(InvalidInputError, match="Nothing of the target is left"):
            ForwardSelection(1, target="affinity").fit(X, y[:, None] + y)

    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_constant_target(self, criterion):
        X, _ = data()
        with pytest.raises(InvalidInputError, match="nothing can depend on a constant"):
            ForwardSelection(criterion=criterion).fit(X, np.zeros(40))
