"""What FVM and QPFS have in common: the shift, odd columns, targets, limits, parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso import Auto, ConstantFeatureWarning, Gaussian, InvalidInputError, make_data1
from hsiclasso.baselines import FVM, QPFS, quadratic
from hsiclasso.baselines.dependency import MeasureOptions
from tests import oracles
from tests.baselines import oracle_binned
from tests.baselines import oracle_quadratic as oracle
from tests.baselines.conftest import make_table, quiet_fit


def conditions(selector, D, d):
    """Violation of the optimality conditions for redundancy D and relevance d."""
    D = D + selector.shift_ * np.eye(len(d))
    if isinstance(selector, FVM):  # those of a lasso at half the penalty
        a, half = selector.coef_, 0.5 * selector.alpha_
        slope = d - D @ a
        within = np.abs(slope - half * np.sign(a))[a != 0].max(initial=0.0)
        return max(within, (np.abs(slope) - half).max())
    g = selector.gamma_
    return oracle.simplex_violation((1 - g) * D, g * d, selector.coef_)


@pytest.fixture(params=[FVM, QPFS], ids=["FVM", "QPFS"])
def method(request):
    return request.param


@pytest.mark.parametrize("classes", [True, False])
def test_dependences_in_plain_numpy(method, table, classes):
    X, y = table
    states = np.digitize(y, [-1, 1.5]) if classes else oracle_binned.states(y)
    selector = quiet_fit(method(4), X, states if classes else y)
    D, d = oracle_binned.redundancy(X), oracle_binned.relevance(X, states)
    np.testing.assert_allclose(selector.relevance_, d, rtol=1e-9, atol=1e-12)
    assert conditions(selector, D, d) < 1e-9


@pytest.mark.parametrize("selector", [FVM(10, alpha=0.1), QPFS(6, gamma=0.8)], ids=str)
def test_ranked_by_weight_then_relevance(selector):
    selector = quiet_fit(selector, *make_table(3))
    scores, d, m = selector.scores_, selector.relevance_, selector.n_features_to_select
    found = np.flatnonzero(scores)
    assert 0 < found.size < 10
    order = np.argsort(selector.ranking_)
    assert order[: found.size].tolist() == sorted(found, key=lambda k: -scores[k])
    assert (np.diff(d[order[found.size :]]) <= 0).all()
    np.testing.assert_array_equal(scores, np.abs(selector.coef_))
    assert selector.selected_.tolist() == order[:m].tolist()


def test_finds_the_causal_features(method):
    X, y, causal = make_data1(500, 100, random_state=1)
    assert set(method(4, bins="quantile").fit(X, y).selected_) == set(causal)


class TestShift:
    def test_lowest_eigenvalue(self, method, indefinite):
        X, y, D, d = indefinite
        selector = method(5).fit(X, y)
        lowest = np.linalg.eigvalsh(D)[0]
        assert selector.min_eigenvalue_ == pytest.approx(lowest, rel=1e-10)
        assert selector.shift_ == pytest.approx(-lowest, rel=1e-6)
        assert selector.shift_ > -lowest
        assert f"{selector.shift_:.3g} added to the diagonal" in selector.result_.message
        assert conditions(selector, D, d) < 1e-9

    def test_given(self, method, indefinite):
        X, y, D, d = indefinite
        selector = method(5, shift=2.0).fit(X, y)
        assert selector.shift_ == 2.0
        assert conditions(selector, D, d) < 1e-9
        assert np.abs(selector.coef_ - method(5).fit(X, y).coef_).max() > 1e-3

    def test_none_where_it_is_not_needed(self, method, table):
        selector = method(4, measure="hsic").fit(*table)
        assert selector.min_eigenvalue_ > 0
        assert selector.shift_ == 0
        assert "diagonal" not in selector.result_.message

    def test_too_small(self, method, indefinite):
        X, y, _, _ = indefinite
        with pytest.raises(InvalidInputError, match=r"shift=0\.01, but .*eigenvalue -0\..*'auto'"):
            method(5, shift=0.01).fit(X, y)

    def test_a_column_twice(self, table):
        """The matrix is singular, which QPFS accepts and FVM does not."""
        X, y = table
        twice = np.column_stack([X, X[:, 0]])
        quiet_fit(QPFS(4, shift=0.0, measure="hsic"), twice, y)
        with pytest.raises(InvalidInputError, match=r"shift=0\.0, but .*positive definite"):
            FVM(4, shift=0.0, measure="hsic").fit(twice, y)
        assert FVM(4, measure="hsic").fit(twice, y).shift_ > 0

    def test_large_matrices_take_another_way(self, method, indefinite, monkeypatch):
        X, y, _, _ = indefinite
        base = method(5).fit(X, y)
        monkeypatch.setattr(quadratic, "_DIRECT", 45)
        other = method(5).fit(X, y)
        assert other.min_eigenvalue_ == pytest.approx(base.min_eigenvalue_, rel=1e-9)
        np.testing.assert_allclose(other.coef_, base.coef_, atol=1e-7)


class TestColumns:
    def test_constant_ones_get_no_weight(self, method, table):
        """They would be redundant with nothing."""
        X, y = table
        without = quiet_fit(method(4), X, y)
        with pytest.warns(ConstantFeatureWarning):
            selector = quiet_fit(method(4), np.insert(X, 2, 7.0, axis=1), y)
        assert selector.coef_[2] == 0
        np.testing.assert_allclose(np.delete(selector.coef_, 2), without.coef_, atol=1e-9)
        assert selector.ranking_[2] == 13

    @pytest.mark.parametrize("options", [{}, {"gamma": "auto"}, {"n_landmarks": 2}], ids=str)
    def test_nothing_varies(self, method, options):
        if method is FVM and options:
            options = {"alpha": 0.1}
        with pytest.warns(ConstantFeatureWarning):
            selector = method(2, **options).fit(np.ones((20, 4)), np.arange(20.0))
        assert selector.selected_.size == 0
        assert not selector.coef_.any()
        assert np.isnan(selector.min_eigenvalue_)

    @pytest.mark.parametrize("measure", ["mi", "correlation"])
    def test_what_does_not_matter(self, method, table, measure, rng):
        """The order of features and samples, their origin and scale, the number of threads."""
        X, y = table
        base = quiet_fit(method(4, measure=measure, n_jobs=1), X, y)
        order, rows = rng.permutation(12), rng.permutation(80)
        moved = (X * rng.uniform(0.5, 9, 12) + 3)[rows][:, order], (5 * y - 1)[rows]
        other = quiet_fit(method(4, measure=measure, n_jobs=2), *moved)
        np.testing.assert_allclose(other.coef_, base.coef_[order], atol=1e-7)

    def test_labels(self, method, table):
        X, y = table
        frame = pd.DataFrame(X).add_prefix("x")
        frame["kind"] = np.where(y > np.median(y), "high", "low")
        assert quiet_fit(method(3), frame, y > np.median(y)).result_.names[0] == "kind"

    @pytest.mark.parametrize(
        "options",
        [
            {"measure": "correlation"}, {"measure": "parzen"}, {"bins": "quantile"},
            {"threshold": 0.5}, {"shift": 1.5}, {"target": Auto(transform="rank")},
            {"target": "counts"}, {"gamma": 0.2}, {"gamma": "auto"},
            {"n_landmarks": 3, "random_state": 0}, {"alpha": 0.1},
        ],
        ids=str,
    )  # fmt: skip
    def test_every_option_changes_the_answer(self, method, options):
        if not options.keys() <= method().get_params().keys():
            pytest.skip("not an option of this method")
        X, y = make_table(13)
        y = np.round(np.exp(y))
        base, other = (quiet_fit(method(5, **kind), X, y) for kind in ({}, options))
        assert np.abs(base.coef_ - other.coef_).max() > 1e-3


class TestTargets:
    def test_affinities(self, method, table):
        X, y = table
        base = method(4, measure="hsic").fit(X, y)
        L = oracles.gaussian_gram(y)
        matrix = method(4, measure="hsic", target="affinity").fit(X, L)
        tolerance = 1e-4 if method is QPFS else 1e-3 * base.scores_.max()
        np.testing.assert_allclose(matrix.coef_, base.coef_, atol=tolerance)
        assert matrix.result_.target == "affinity"

    def test_survival(self, method, table, rng):
        X, y = table
        censored = np.array(
            list(zip(rng.random(80) < 0.8, np.exp(y), strict=True)),
            dtype=[("e", bool), ("t", float)],
        )
        selector = method(4, measure="hsic").fit(X, censored)
        assert selector.result_.target == "survival"
        found = np.count_nonzero(selector.coef_)
        assert found == 4 if method is FVM else selector.coef_.sum() == pytest.approx(1)


class TestLimits:
    def test_too_many_features(self, method, table, monkeypatch):
        monkeypatch.setattr(quadratic, "_MAX_FEATURES", 11)
        X, y = table
        words = f"X has 12 columns that vary, but {method.__name__} .* at most 11 are taken. .*MRMR"
        with monkeypatch.context() as patch:
            patch.setattr(MeasureOptions, "relate", None)  # it is not reached
            with pytest.raises(InvalidInputError, match=words):
                method(4).fit(X, y)
        X[:, 11] = 1  # constant columns do not count
        with pytest.warns(ConstantFeatureWarning):
            quiet_fit(method(4), X, y)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"shift": -1.0}, r"shift=-1\.0, but the constant added to the diagonal must be >= 0"),
            ({"shift": "none"}, "shift='none', but it must be a number or 'auto'"),
            ({"shift": None}, "shift=None, but it must be a number or 'auto'"),
            ({"measure": "f"}, "measure='f' .* take measure='correlation'"),
            ({"measure": "entropy"}, "measure='entropy' is unknown"),
            ({"measure": "hsic", "bins": "quantile"}, "bins='quantile' has no meaning"),
            (
                {"kernel": Gaussian(2.0)},
                r"kernel=Gaussian\(width=2\.0\) has no meaning with measure='mi'",
            ),
            ({"target": Auto("laplace")}, "the target's kernel='laplace' has no meaning"),
            ({"alpha": 0.0}, r"alpha=0\.0 must be a finite number > 0"),
            ({"alpha": -1}, "alpha=-1 must be a finite number > 0"),
            ({"alpha": np.nan}, "alpha=nan must be a finite number > 0"),
            ({"alpha": "auto"}, "alpha='auto' must be a finite number > 0"),
            ({"gamma": 1.5}, r"gamma=1\.5, but the weight of relevance must lie between 0"),
            ({"gamma": -0.1}, r"gamma=-0\.1"),
            ({"gamma": "best"}, "gamma='best', but it must be a number or 'auto'"),
            ({"gamma": np.nan}, "gamma=nan"),
            ({"n_landmarks": 0}, "n_landmarks=0 must be a whole number >= 1"),
            ({"n_landmarks": 2.5}, r"n_landmarks=2\.5 must be a whole number"),
            ({"random_state": "seed"}, "random_state='seed' is no source of randomness"),
        ],
        ids=str,
    )
    def test_parameters_that_are_refused(self, options, words):
        """Before the data is looked at."""
        for method in (FVM, QPFS):
            if options.keys() <= method().get_params().keys():
                with pytest.raises(InvalidInputError, match=words):
                    method(**options).fit("no table", None)


def test_progress(method, table):
    stages = []
    method(1).fit_reporting(*table, lambda *now: stages.append(now))
    assert {("redundancy", 12, 12), ("shift", 1, 1)} <= set(stages)
    assert stages[-1][0] == "weights"
    assert method is QPFS or stages[-1] == ("weights", 1, 12)
