"""EmbeddingLasso: against dense matrices, its optimality conditions, invariances, predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Lasso as PeerLasso
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hsiclasso import (
    AlphaRatio,
    Covariates,
    EmbeddingLasso,
    FewerFeaturesWarning,
    Gaussian,
    GroupLasso,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    Lasso,
    Objects,
    Real,
    Resources,
    make_data1,
    plan,
)
from hsiclasso.data import as_source
from hsiclasso.dependence.functions import FeatureFunctions
from hsiclasso.selectors.additive import rank_functions
from hsiclasso.selectors.embedding import noise_level
from hsiclasso.selectors.pipeline import select
from hsiclasso.targets.embedded import LINEAR
from tests import oracles

N, D = 90, 25


@pytest.fixture(scope="module")
def data():
    return make_data1(N, D, random_state=3)


def test_relevance_path_and_certificate_against_dense_matrices(data):
    X, y, _ = data
    selector = EmbeddingLasso(alpha=0.2, epsilon=0.01, gram_error=1e-9).fit(X, y)
    F = oracles.embedded_rows(y, LINEAR)
    rows = [oracles.function_rows(x, 0.01) for x in X.T]
    relevance = [np.sum((Q @ F.T) ** 2) for Q in rows]
    np.testing.assert_allclose(selector.relevance_, relevance, rtol=1e-6)
    sizes = oracles.block_descent(rows, F, 0.2)
    np.testing.assert_allclose(selector.path_.coefficients(), sizes, atol=1e-5)
    assert set(selector.selected_) == set(np.flatnonzero(sizes > 0))
    assert selector.result_.certificate.duality_gap <= 1e-8
    assert selector.result_.certificate.kkt_residual <= 1e-6


def test_the_usual_smoothness(data):
    X, y, _ = data
    assert EmbeddingLasso(2).fit(X, y).epsilon_ == 0.02
    assert EmbeddingLasso(2).fit(X, y > 0).epsilon_ == 0.1
    assert EmbeddingLasso(2, epsilon=0.3).fit(X, y > 0).epsilon_ == 0.3


def test_classes_have_the_rows_of_the_delta_kernel(data):
    X, y, _ = data
    labels = np.where(y > 0, "b", "a")
    selector = EmbeddingLasso(3, epsilon=0.02).fit(X, labels)
    F = oracles.embedded_rows(labels, 0, classes=True)
    relevance = [np.sum((oracles.function_rows(x, 0.02) @ F.T) ** 2) for x in X.T]
    np.testing.assert_allclose(selector.relevance_, relevance, rtol=1e-5)


def test_the_first_feature_is_the_most_relevant(data):
    X, y, _ = data
    selector = EmbeddingLasso(6).fit(X, y)
    assert selector.path_.entered[0] == np.argmax(selector.relevance_)


def test_a_linear_kernel_and_the_numbers_alone_are_the_lasso(data):
    # with a linear kernel each feature has one row, and y as its own kernel one row, too
    X, y, _ = data
    selector = EmbeddingLasso(
        alpha=0.15, epsilon=1e-6, kernel="linear", target=Real(kernel="linear", transform=None)
    ).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(N)
    response = (y - y.mean()) / (y.std() * np.sqrt(N))
    # two equal rows of norm 1 and LINEAR are one row of norm sqrt(1 + LINEAR^2)
    size = np.sqrt(1 + LINEAR**2)
    peer = PeerLasso(alpha=0.15 / N, fit_intercept=False, tol=1e-14, max_iter=100_000)
    coefficients = peer.fit(Z, size * response).coef_
    assert 0 < np.count_nonzero(coefficients) < D
    np.testing.assert_allclose(selector.path_.coefficients(), np.abs(coefficients), atol=2e-6)


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 300))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(60), [-0.5, 0.5])
    return X, y


class TestNoiseLevel:
    """Where the path of labels ends, and what makes up the number."""

    def level(self, X, y):
        chosen = select(EmbeddingLasso(alpha=AlphaRatio(0.9)), as_source(X), y)
        functions = FeatureFunctions(chosen.problem, chosen.target.whole[0])
        return noise_level(chosen.problem, functions), functions.target

    def test_is_that_of_dense_matrices(self, classes):
        X, y = classes
        X = np.repeat(X[:, :1], 5, axis=1)  # all are typical
        Q = oracles.function_rows(X[:, 0], 0.1)
        found, F = self.level(X, y)
        assert found == pytest.approx(oracles.noise_level(Q.T @ Q, F.T @ F, 5), rel=1e-4)

    def test_is_the_largest_correlation_with_permuted_labels(self, classes):
        X, y = classes
        rng = np.random.default_rng(0)
        largest = [
            np.sqrt(
                EmbeddingLasso(alpha=AlphaRatio(0.99)).fit(X, rng.permutation(y)).relevance_.max()
            )
            for _ in range(20)
        ]
        assert self.level(X, y)[0] == pytest.approx(np.mean(largest), rel=0.1)

    def test_the_path_of_labels_ends_there_and_relevant_features_make_up_the_number(self, classes):
        X, y = classes
        level, _ = self.level(X, y)
        with pytest.warns(FewerFeaturesWarning, match="follow the noise"):
            selector = EmbeddingLasso(40).fit(X, y)
        result = selector.result_
        assert selector.path_.alpha == pytest.approx(0.7 * level, rel=1e-6)
        assert 2 <= result.n_on_path < 40 == len(result.features)
        on_path = [f.index for f in result.features if f.origin == "path"]
        filled = [f for f in result.features if f.origin == "filled"]
        assert {f.index for f in filled}.isdisjoint(on_path)
        assert all(f.weight == 0 for f in filled)
        assert result.certificate.duality_gap <= 1e-8
        assert len(selector.functions_) == 40
        assert len(selector.predict(X)) == 60

    def test_without_filling_it_goes_on(self, classes):
        longer = EmbeddingLasso(40, fill=False).fit(*classes)
        assert longer.result_.n_on_path == 40

    def test_where_nothing_is_relevant_one_step_is_made(self, classes):
        X, y = classes
        y = np.random.default_rng(8).permutation(y)
        with pytest.warns(FewerFeaturesWarning):
            selector = EmbeddingLasso(5).fit(X[:, :8], y)
        assert selector.selected_.size == 5

    def test_the_order_of_samples_does_not_matter(self, classes):
        X, y = classes
        order = np.random.default_rng(1).permutation(60)
        with pytest.warns(FewerFeaturesWarning):
            one, other = EmbeddingLasso(30).fit(X, y), EmbeddingLasso(30).fit(X[order], y[order])
        np.testing.assert_array_equal(one.selected_, other.selected_)


def test_dropping_is_what_refitting_says(data):
    """Importance of a feature: how much the ridge objective grows without it."""
    X, y, _ = data
    F = oracles.embedded_rows(y, 0.7)

    class Rows:
        def __init__(self, x):
            self.rows = oracles.function_rows(x, 0.01)

    def objective(features):
        rows = np.concatenate([Rows(X[:, k]).rows for k in features])
        ridge = 1 - np.sum(rows**2, axis=1)
        weights = np.linalg.solve(rows @ rows.T + np.diag(ridge), rows @ F.T)
        return 0.5 * np.sum((F - weights.T @ rows) ** 2) + 0.5 * ridge @ np.sum(weights**2, axis=1)

    features = np.arange(8)
    factors = [Rows(X[:, k]) for k in features]
    left = features.tolist()
    for wanted in range(7, 2, -1):
        left.remove(min(left, key=lambda k: objective([j for j in left if j != k])))
        ranking = rank_functions(features, factors, F, np.zeros(0, dtype=int), wanted)
        assert set(ranking.features) == set(left)
    # those that are left are ranked by dropping them further
    for place in (2, 1):
        left.remove(min(left, key=lambda k: objective([j for j in left if j != k])))
        assert set(ranking.features[:place]) == set(left)
    kept = np.array([7])
    assert 7 in rank_functions(features, factors, F, kept, 2).features


class TestInvariances:
    @settings(max_examples=8)
    @given(seed=st.integers(0, 1000))
    def test_permuting_shifting_and_scaling(self, data, seed):
        X, y, _ = data
        rng = np.random.default_rng(seed)
        columns, rows = rng.permutation(D), rng.permutation(N)
        scale = rng.uniform(0.1, 10, D)
        other = (X * scale + rng.normal(size=D))[rows][:, columns]
        here = EmbeddingLasso(4).fit(X, y)
        there = EmbeddingLasso(4).fit(other, y[rows])
        assert columns[there.selected_].tolist() == here.selected_.tolist()
        np.testing.assert_allclose(there.coef_, here.coef_[columns], atol=1e-7)
        np.testing.assert_allclose(there.predict(other), here.predict(X)[rows], atol=1e-5)

    def test_a_monotone_change_of_the_target(self, data):
        X, y, _ = data
        here, there = EmbeddingLasso(4).fit(X, y), EmbeddingLasso(4).fit(X, np.exp(y / 5))
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-12)

    def test_a_copy_of_a_column_is_not_selected_twice(self, data):
        X, y, causal = data
        both = np.concatenate([X, X[:, causal]], axis=1)
        selected = EmbeddingLasso(4).fit(both, y).selected_
        originals = {int(k) if k < D else int(causal[k - D]) for k in selected}
        assert originals == set(causal.tolist())

    def test_weights_are_repeated_rows(self, data):
        X, y, _ = data
        weights = np.random.default_rng(0).integers(0, 3, N)
        repeated = np.repeat(np.arange(N), weights)
        here = EmbeddingLasso(4).fit(X, y, sample_weight=weights.astype(float))
        there = EmbeddingLasso(4).fit(X[repeated], y[repeated])
        assert here.selected_.tolist() == there.selected_.tolist()
        np.testing.assert_allclose(here.coef_, there.coef_, rtol=1e-8)
        np.testing.assert_allclose(here.predict(X), there.predict(X), rtol=1e-6, atol=1e-6)

    def test_threads_and_chunks_and_files(self, data, tmp_path):
        X, y, _ = data
        one = EmbeddingLasso(4, n_jobs=1).fit(X, y)
        np.save(tmp_path / "X.npy", X)
        stored = np.load(tmp_path / "X.npy", mmap_mode="r")
        limited = Resources(memory_limit="200MB", checkpoint=tmp_path / "kept")
        others = [
            EmbeddingLasso(4, n_jobs=2).fit(X, y),
            EmbeddingLasso(4).fit(stored, y),
            EmbeddingLasso(4, resources=limited).fit(stored, y),
            EmbeddingLasso(4, resources=limited).fit(stored, y),  # from the checkpoint
            EmbeddingLasso(4).fit(sparse.csc_array(X), y),
        ]
        for other in others:
            assert other.selected_.tolist() == one.selected_.tolist()
            np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9)

    @pytest.mark.parametrize("options", [{}, {"missing": "ignore"}, {"joint": {"pair": [0, 1]}}])
    def test_long_rows_are_not_needed(self, data, options, monkeypatch):
        X, y, _ = data
        X = X.copy()
        if "missing" in options:
            X[::7, ::3] = np.nan
        expected = EmbeddingLasso(4, **options).fit(X, y)
        monkeypatch.setattr("hsiclasso.dependence.functions._LONG", 10)
        found = EmbeddingLasso(4, **options).fit(X, y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)

    def test_another_goal_in_the_same_checkpoint(self, data, tmp_path):
        # the residual differs, and so do the passes after the first one
        X, y, _ = data
        for size in (2, 6):
            resources = Resources(checkpoint=tmp_path)
            found = EmbeddingLasso(size, resources=resources).fit(X, y)
            np.testing.assert_allclose(found.coef_, EmbeddingLasso(size).fit(X, y).coef_)


class TestOptions:
    def test_keep_exclude_and_weights(self, data):
        X, y, causal = data
        others = [k for k in range(D) if k not in causal]
        best = int(EmbeddingLasso(1).fit(X, y).selected_[0])
        selector = EmbeddingLasso(3, keep=others[:1], exclude=[best]).fit(X, y)
        assert others[0] in selector.selected_
        assert best not in selector.selected_
        assert selector.selected_.size == 3
        dear = EmbeddingLasso(3, penalty=Lasso({best: 100.0})).fit(X, y)
        assert best not in dear.selected_

    def test_groups_enter_together(self, data):
        X, y, _ = data
        groups = np.arange(D) // 5
        selector = EmbeddingLasso(penalty=GroupLasso(groups, n_groups=2)).fit(X, y)
        assert sorted(np.unique(groups[selector.selected_], return_counts=True)[1]) == [5, 5]
        assert selector.result_.solution.status == "N_GROUPS"

    def test_a_penalty_and_its_share(self, data):
        X, y, _ = data
        by_share = EmbeddingLasso(alpha=AlphaRatio(0.4)).fit(X, y)
        alpha = 0.4 * np.sqrt(by_share.relevance_.max())
        assert by_share.path_.alpha == pytest.approx(alpha)
        np.testing.assert_allclose(EmbeddingLasso(alpha=alpha).fit(X, y).coef_, by_share.coef_)

    def test_covariates_are_projected_out(self, data):
        X, y, causal = data
        given_ = X[:, causal[:1]]
        selector = EmbeddingLasso(3, covariates=causal[:1].tolist()).fit(X, y)
        assert set(selector.selected_) <= set(range(D)) - {causal[0]}
        other = EmbeddingLasso(3).fit(np.delete(X, causal[0], axis=1), y, covariates=given_)
        np.testing.assert_allclose(np.sort(other.coef_[other.coef_ > 0]),
                                   np.sort(selector.coef_[selector.coef_ > 0]))  # fmt: skip
        with pytest.raises(InvalidInputError, match="covariates were removed"):
            selector.predict(X)

    def test_fewer_features_than_asked_for(self):
        rng = np.random.default_rng(0)
        x = rng.standard_normal(60)
        X = np.column_stack([x, np.ones(60), x])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.warns(FewerFeaturesWarning):
                found = EmbeddingLasso(3).fit(X, np.sin(3 * x))
        assert found.selected_.size < 3

    def test_neighbours_and_joint_features(self, data):
        X, y, causal = data
        pair = {"pair": causal[:2].tolist()}
        selector = EmbeddingLasso(3, joint=pair, n_neighbors=2).fit(X, y)
        names = [feature.name for feature in selector.result_.features]
        assert "pair" in names
        assert all(len(feature.neighbours) == 2 for feature in selector.result_.features)
        joint = next(f for f in selector.functions_ if f.name == "pair")
        assert joint.grid.size == 0
        assert joint.spread[0] > 0
        assert selector.score(X, y) > 0.5

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"epsilon": 0},
                "epsilon=0, but functions need a finite regularisation of 1e-07 or more",
            ),
            ({"epsilon": 1e-12}, "epsilon=1e-12"),
            ({"epsilon": "much"}, "epsilon='much'"),
            ({"penalty": "elastic_net"}, "EmbeddingLasso has no elastic net"),
            ({"penalty": GroupLasso(np.arange(D) // 2, l1_ratio=0.5)}, "no sparse group lasso"),
            ({"penalty": Lasso(positive=False)}, "no signed lasso"),
            ({"alpha": "bic"}, "no information criterion"),
            ({"covariates": Covariates([0], "subtract")}, "method='project'"),
            ({"n_features_to_select": 0}, "n_features_to_select=0"),
        ],
    )
    def test_what_it_has_not_is_refused(self, data, options, message):
        X, y, _ = data
        with pytest.raises(InvalidInputError, match=message):
            EmbeddingLasso(**options).fit(X, y)

    def test_few_spare_features_at_small_penalties(self):
        # a target without noise: beyond its features, only tiny penalties let others in
        X, _, _ = make_data1(80, 6, random_state=0)
        selector = EmbeddingLasso(2).fit(X, X[:, 0] + X[:, 1])
        assert selector.path_.alpha > 0.02 * selector.path_.breakpoints[0].alpha
        assert set(selector.selected_) == {0, 1}

    def test_a_plan_counts_the_passes(self, data):
        X, y, _ = data
        assert plan(EmbeddingLasso(4), X, y).n_passes >= 2


class TestTargets:
    @pytest.mark.parametrize(
        ("target", "make"),
        [
            ("survival", lambda y: (np.exp(y / 3), np.arange(N) % 4 > 0)),
            ("affinity", lambda y: np.exp(-((y[:, None] - y) ** 2) / 8)),
            ("affinity", lambda y: sparse.csr_array(np.outer(y, y) + np.eye(N))),
            ("graph", lambda y: (np.abs(y[:, None] - y) < 2).astype(float)),
            (Objects(lambda a, b: float(np.exp(-((a - b) ** 2) / 8))), list),
            (Real(kernel="laplace"), np.asarray),
        ],
        ids=["survival", "affinity", "sparse affinity", "graph", "objects", "laplace"],
    )  # fmt: skip
    def test_targets_with_a_factor(self, data, target, make):
        X, y, causal = data
        selector = EmbeddingLasso(4, target=target).fit(X, make(y))
        assert len(set(selector.selected_) & set(causal)) >= 2
        assert selector.result_.certificate.duality_gap <= 1e-7
        assert len(selector.functions_) == 4
        assert hasattr(selector, "predict") == (selector.result_.method.target == "real")

    def test_negative_eigenvalues_are_refused(self, data):
        X, y, _ = data
        with pytest.raises(InvalidInputError, match="negative eigenvalues"):
            EmbeddingLasso(2, target="affinity").fit(X, -np.outer(y, y))
        few = X[:, :2]  # so that the matrix is not factored
        with pytest.raises(InvalidInputError, match="negative eigenvalues"):
            EmbeddingLasso(2, target="affinity").fit(few, sparse.csr_array(-np.outer(y, y)))

    def test_no_factor_of_many_samples(self, monkeypatch, data):
        X, y, _ = data
        selector = EmbeddingLasso(2, target=Real(kernel="laplace"))
        monkeypatch.setattr("hsiclasso.targets.embedded.DENSE", N)
        assert selector.fit(X, y).selected_.size == 2
        monkeypatch.setattr("hsiclasso.targets.embedded.DENSE", N - 1)
        with pytest.raises(InvalidInputError, match=r"n_samples=90.*take a Gaussian kernel"):
            selector.fit(X, y)


class TestPredictions:
    def test_functions_are_additive_ridge_regression(self, data):
        X, y, _ = data
        selector = EmbeddingLasso(3, gram_error=1e-10).fit(X, y)
        grams = [oracles.centre(oracles.gaussian_gram(X[:, k])) for k in selector.selected_]
        ridge = selector._fitted.model.ridge
        parts = oracles.additive_ridge(grams, y[:, None], ridge)
        np.testing.assert_allclose(
            selector.predict(X), y.mean() + sum(parts)[:, 0], atol=1e-5 * np.ptp(y)
        )
        for function, part in zip(selector.functions_, parts, strict=True):
            assert function.spread[0] == pytest.approx(part.std(), rel=1e-4)
            order = np.argsort(X[:, function.index])
            near = np.interp(X[order, function.index], function.grid, function.values[0])
            np.testing.assert_allclose(near, part[order, 0], atol=0.02 * np.ptp(part))

    def test_new_samples(self):
        X, y, causal = make_data1(400, 40, random_state=1)
        selector = EmbeddingLasso(4).fit(X[:200], y[:200])
        assert set(selector.selected_) == set(causal)
        assert selector.score(X[200:], y[200:]) > 0.75
        shares = [function.share for function in selector.functions_]
        assert sum(shares) == pytest.approx(1.0)
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
        named = EmbeddingLasso(4).fit(table[:200], y[:200])
        np.testing.assert_allclose(named.predict(table[200:]), selector.predict(X[200:]))

    def test_predictions_do_not_depend_on_the_run(self, data, monkeypatch):
        X, y, _ = data
        selector = EmbeddingLasso(3).fit(X, y)
        expected = selector.predict(X)
        monkeypatch.setattr("hsiclasso.selectors.additive._AT_ONCE", 7 * N)
        np.testing.assert_allclose(selector.predict(X), expected, rtol=1e-12)
        copy = pickle.loads(pickle.dumps(selector))
        np.testing.assert_allclose(copy.predict(X), expected, rtol=1e-12)

    def test_classes(self, data):
        X, y, _ = data
        labels = np.digitize(y, np.quantile(y, [0.33, 0.66]))
        names = np.array(["low", "middle", "high"])[labels]
        selector = EmbeddingLasso(4).fit(X, names)
        assert selector.classes_.tolist() == ["high", "low", "middle"]
        assert selector.score(X, names) > 0.7
        assert selector.score(X, names.astype(object)) == selector.score(X, names)
        numbers = labels.astype(object)
        assert EmbeddingLasso(4, target="classes").fit(X, numbers).score(X, numbers) > 0.7
        proba = selector.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert (proba >= 0).all()
        assert selector.decision_function(X).shape == (N, 3)
        assert selector.functions_[0].outputs == ("high", "low", "middle")
        two = EmbeddingLasso(4).fit(X, y > 0)
        assert two.decision_function(X).shape == (N,)
        np.testing.assert_array_equal(two.predict(X), two.decision_function(X) > 0)
        assert not hasattr(EmbeddingLasso(4).fit(X, y), "predict_proba")
        assert not hasattr(EmbeddingLasso(4).fit(X, y), "classes_")

    def test_labels_outputs_levels_and_counts(self, data):
        X, y, _ = data
        labels = np.column_stack([y > 0, X[:, 0] > 0]).astype(int)
        by_label = EmbeddingLasso(5).fit(X, labels)
        assert by_label.predict(X).shape == (N, 2)
        assert [part.shape for part in by_label.predict_proba(X)] == [(N, 2), (N, 2)]
        assert by_label.score(X, labels) > 0.5
        outputs = np.column_stack([y, X[:, 0]])
        assert EmbeddingLasso(5).fit(X, outputs).score(X, outputs) > 0.6
        levels = np.digitize(y, [-2, 1, 4]) * 10
        graded = EmbeddingLasso(4, target="ordinal").fit(X, levels)
        assert set(graded.predict(X)) <= {0, 10, 20, 30}
        assert graded.score(X, levels) > 0.5
        counts = np.floor(np.exp(y / 4)).clip(0, 40)
        counted = EmbeddingLasso(4, target="counts").fit(X, counts)
        assert (counted.predict(X) >= 0).all()
        assert counted.score(X, counts) > 0.5

    def test_missing_values_and_categories(self, data):
        X, y, _ = data
        rng = np.random.default_rng(0)
        gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        selector = EmbeddingLasso(4, missing="ignore").fit(gaps, y)
        assert selector.score(gaps, y) > 0.4
        nothing = np.full((1, D), np.nan)
        assert selector.predict(nothing) == pytest.approx(y.mean())
        with pytest.raises(InvalidInputError, match="missing"):
            EmbeddingLasso(4).fit(X, y).predict(gaps)
        table = pd.DataFrame(X).rename(columns=str)
        table["kind"] = np.where(y > 1, "good", np.where(y > -1, "fair", "bad"))
        by_kind = EmbeddingLasso(2).fit(table, y)
        function = next(f for f in by_kind.functions_ if f.name == "kind")
        assert list(function.grid) == ["bad", "fair", "good"]
        assert (np.diff(function.values[0]) > 0).all()
        other = table[:2].assign(kind=["unheard of", "good"])
        assert np.isfinite(by_kind.predict(other)).all()

    def test_genotypes_have_curves_at_their_values(self):
        rng = np.random.default_rng(1)
        X = rng.integers(0, 3, (100, 30)).astype(np.int8)
        y = X[:, 4] + 0.3 * rng.standard_normal(100)
        selector = EmbeddingLasso(1).fit(X, y)
        assert selector.selected_.tolist() == [4]
        np.testing.assert_allclose(selector.functions_[0].grid, [0, 1, 2], atol=0)
        np.testing.assert_allclose(np.diff(selector.functions_[0].values[0]), 1, atol=0.3)

    def test_files_are_found_by_name(self, data, tmp_path):
        X, y, _ = data
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(D)])
        file = tmp_path / "table.csv"
        table.assign(y=y).to_csv(file, index=False)
        selector = EmbeddingLasso(3).fit(file, "y")
        expected = EmbeddingLasso(3).fit(table, y)
        np.testing.assert_allclose(selector.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(selector.predict(file), expected.predict(table), rtol=1e-6)
        with pytest.raises(InvalidInputError, match="X has 2 features, but EmbeddingLasso"):
            selector.predict(np.load(_saved(tmp_path / "few.npy", X[:, :2]), mmap_mode="r"))


def _saved(file, array):
    np.save(file, array)
    return file


class TestScikitLearn:
    def test_pipelines_grids_and_folds(self, data):
        X, y, _ = data
        model = make_pipeline(StandardScaler(), EmbeddingLasso(3)).fit(X, y)
        assert model.score(X, y) > 0.5
        search = GridSearchCV(
            EmbeddingLasso(target=Real()),
            {"n_features_to_select": [1, 4], "target__transform": [None, "normal"]}, cv=3,
        ).fit(X, y)  # fmt: skip
        assert search.best_params_["n_features_to_select"] == 4
        chosen = HSICLassoCV(EmbeddingLasso(), sizes=[1, 4], cv=3).fit(X, y)
        assert chosen.n_features_ == 4

    def test_sizes_are_refused_unless_fitted(self, data):
        X, y, _ = data
        selector = EmbeddingLasso(4).fit(X, y)
        np.testing.assert_array_equal(selector.selected_of_size(4), selector.selected_)
        with pytest.raises(InvalidInputError, match="fit again with n_features_to_select=2"):
            selector.selected_of_size(2)

    def test_parameters_are_those_of_hsic_lasso(self):
        ours, theirs = EmbeddingLasso().get_params(), HSICLasso().get_params()
        assert ours.keys() - theirs.keys() == {"epsilon"}
        assert theirs.keys() - ours.keys() == {"measure", "solver"}
        assert clone(EmbeddingLasso(epsilon=0.3)).epsilon == 0.3

    def test_kernels_of_width(self, data):
        X, y, _ = data
        narrow = EmbeddingLasso(4, kernel=Gaussian(0.5)).fit(X, y)
        assert narrow.result_.certificate.duality_gap <= 1e-8
