"""The whole selection against dense matrices, what must not change it, and bad tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from hsiclasso import (
    NOCCO,
    ConstantFeatureWarning,
    Delta,
    FewerFeaturesWarning,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    Laplace,
    Linear,
    NOCCOLasso,
    Polynomial,
    Real,
    make_data1,
    make_data2,
)
from hsiclasso.solvers import homotopy
from tests import oracles
from tests.selectors.dense import (
    MEASURES,
    assert_differs,
    assert_same,
    assert_solves,
    feature_matrices,
    selector_of,
    target_matrix,
)
from tests.selectors.tables import PLAIN_DELTA, N, mixed

# ------------------------------------------------------------------------ against dense matrices


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("make", [make_data1, make_data2])
def test_same_features_in_the_same_order_as_the_dense_problem(measure, make):
    X, y, _ = make(80, 50, random_state=3)
    plain = {"max_redundancy": 1.0, "target": Real(transform=None)}
    selector = HSICLasso(15, measure=measure, **plain).fit(X, y)
    active, weights, alpha = oracles.dense_path(*oracles.explicit_problem(X, y, measure), 15)
    assert selector.selected_.tolist() == active[np.argsort(-weights)].tolist()
    np.testing.assert_allclose(
        selector.coef_[active], weights, rtol=1e-3, atol=1e-5 * weights.max()
    )
    assert selector.path_.alpha == pytest.approx(alpha, rel=1e-4)


@pytest.mark.parametrize("measure", MEASURES)
def test_path_on_the_explicit_problem_with_n_squared_rows(measure):
    """Section 2.4: the same lasso with vectorised matrices, solved by SciPy and scikit-learn."""
    X, y, _ = make_data1(40, 12, random_state=5)
    design, target = oracles.explicit_problem(X, y, measure)
    end = selector_of(measure, None, alpha=0.0).fit(X, y).coef_
    np.testing.assert_allclose(end, nnls(design, target)[0], rtol=1e-6, atol=1e-8 * end.max())
    alphas, _, path = lars_path_gram(
        design.T @ target, design.T @ design, n_samples=1, positive=True, method="lasso"
    )
    for alpha, expected in zip(alphas[1:-1:2], path.T[1:-1:2], strict=True):
        found = selector_of(measure, None, alpha=alpha).fit(X, y).coef_
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * expected.max())


@pytest.mark.parametrize("measure", MEASURES)
def test_solution_is_optimal_for_the_paper_s_objective(measure, X, y, rng):
    """No feasible step from the solution lowers the objective written with n x n matrices."""
    selector = selector_of(measure, 4).fit(X, y)
    A, T = feature_matrices(X.T, measure=measure), target_matrix(y, measure)
    alpha, coef = selector.path_.alpha, selector.coef_
    best = oracles.objective(A, T, coef, alpha)
    for scale in np.repeat([1e-3, 1e-1, 1.0], 20):
        other = np.maximum(coef + scale * rng.standard_normal(7) * coef.max(), 0)
        assert oracles.objective(A, T, other, alpha) >= best - 1e-9 * abs(best)
    smooth = best - alpha * coef.sum()
    assert smooth == pytest.approx(oracles.expanded_objective(A, T, coef), rel=1e-9)


COLUMNS = {
    "normal": lambda rng: rng.standard_normal(N),
    "long tail": lambda rng: np.exp(1.5 * rng.standard_normal(N)),
    "tied": lambda rng: np.round(rng.standard_normal(N), 1),
    "genotype": lambda rng: rng.binomial(2, 0.35, N).astype(float),
    "two values": lambda rng: rng.integers(0, 2, N).astype(float),
    "outlier": lambda rng: np.where(np.arange(N) == 1, 1e6, rng.standard_normal(N)),
}
KERNELS = [
    Gaussian(), Gaussian(0.4), Gaussian("median"), Gaussian((0.5, "median", 4.0)), Laplace(),
    Laplace("median"), Linear(), Polynomial(3, 0.2), Delta(), PLAIN_DELTA,
]  # fmt: skip


@st.composite
def problems(draw):
    """A table of columns of any kind, with gaps, weights and a covariate or without them."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=2, max_size=5))
    X = np.array([COLUMNS[kind](rng) for kind in kinds]).T
    y = X[:, 0] / X[:, 0].std() + 0.5 * np.abs(rng.standard_normal(N))
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.uniform(0.1, 3, N) if draw(st.booleans()) else None
    age = rng.standard_normal(N) if draw(st.booleans()) else None
    return X, y, weights, age


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=80)
@given(
    problem=problems(),
    kernels=st.lists(st.sampled_from(KERNELS), min_size=5, max_size=5),
    measure=st.sampled_from(MEASURES),
)
def test_any_selection_solves_the_dense_problem(problem, kernels, measure):
    X, y, weights, age = problem
    kernels = kernels[: X.shape[1]]
    functions = None if age is None else oracles.covariate_functions(age, weights)
    selector = selector_of(
        measure, None, alpha=0.0, kernel=dict(enumerate(kernels)), missing="ignore"
    ).fit(X, y, sample_weight=weights, covariates=age)
    A = feature_matrices(X.T, kernels, measure, weights, functions)
    assume(np.linalg.norm(A, axis=(1, 2)).min() > 1e-6 * np.linalg.norm(A))
    assert_solves(selector, X.T, y, kernels, weights=weights, functions=functions, tol=1e-6)
    assert selector.n_observed_.tolist() == (~np.isnan(X)).sum(axis=0).tolist()


def test_finds_the_causal_features():
    X, y, causal = make_data1(500, 256, random_state=0)
    assert set(HSICLasso(4).fit(X, y).selected_) == set(causal)
    assert set(NOCCOLasso(4).fit(X, y).selected_) == set(causal)
    X, y, causal = make_data2(300, 500, random_state=0)
    assert set(HSICLasso(3, target=Real(transform="rank")).fit(X, y).selected_) == set(causal)


# ----------------------------------------------------------------- what must not change the answer


@pytest.fixture(scope="module")
def data():
    return make_data1(100, 30, random_state=1)[:2]


@pytest.mark.parametrize("measure", ["hsic", "nocco"])
class TestInvariances:
    @pytest.fixture
    def base(self, measure, data):
        return HSICLasso(6, measure=measure).fit(*data)

    def fit(self, measure, X, y, **options):
        return HSICLasso(6, measure=measure, **options).fit(X, y)

    def test_order_of_features_and_samples(self, measure, base, data, rng):
        X, y = data
        order, rows = rng.permutation(30), rng.permutation(100)
        moved = self.fit(measure, X[:, order], y)
        np.testing.assert_allclose(moved.coef_, base.coef_[order], rtol=1e-8)
        assert_same(self.fit(measure, X[rows], y[rows]), base, rtol=1e-8)

    def test_columns_shifted_and_scaled(self, measure, base, data, rng):
        X, y = data
        moved = X * rng.uniform(-9, 9, 30) + rng.standard_normal(30)
        assert_same(self.fit(measure, moved, 5 - 3 * y), base, rtol=1e-4)

    def test_columns_duplicated(self, measure, base, data):
        X, y = data
        twice = self.fit(measure, np.hstack([X, X]), y, n_neighbors=1)
        np.testing.assert_allclose(twice.coef_[:30], base.coef_, rtol=1e-8)
        for feature in twice.result_.features:
            (near,) = feature.neighbours
            assert near.index == feature.index + 30
            assert near.similarity == pytest.approx(1, abs=1e-3)

    def test_threads_and_expansions_and_accuracy(self, measure, base, data):
        one, two = (self.fit(measure, *data, n_jobs=n) for n in (1, 2))
        np.testing.assert_array_equal(one.coef_, two.coef_)
        for expansion in ("table", "cholesky"):
            other = self.fit(measure, *data, kernel=Gaussian(expansion=expansion))
            assert_same(other, base, rtol=1e-3)
        tight = self.fit(measure, *data, gram_error=1e-10)
        assert_same(tight, base, rtol=1e-3)
        assert tight.result_.solution.gram_error <= 1e-10 < base.result_.solution.gram_error

    def test_extreme_magnitudes(self, measure, base, data):
        X, y = data
        X = X * np.resize([1e300, 5e-310, 1.0, 1e-300, 1e-30], 30)
        extreme = self.fit(measure, X, 1e300 * y / np.abs(y).max())
        assert np.isfinite(extreme.relevance_).all()
        assert set(extreme.selected_) == set(base.selected_)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_arrays_of_any_kind(dtype, X, y):
    base = np.clip(np.round(3 * X + 12), 0, 255)
    table = np.array(base > 12 if dtype is bool else base, dtype=dtype, order="F")
    kernel = "plain_delta" if dtype is bool else "gaussian"
    expected = HSICLasso(5, kernel=kernel).fit(table.astype(float), y)
    assert_same(HSICLasso(5).fit(table, y), expected, rtol=1e-5)


def test_strided_arrays_lists_and_sparse_matrices(X, y):
    base = HSICLasso(4).fit(X, y)
    wide = np.repeat(X, 2, axis=1)
    wide.flags.writeable = False
    assert_same(HSICLasso(4).fit(wide[:, ::2], y), base, rtol=1e-10)
    assert_same(HSICLasso(4).fit(X.tolist(), y.tolist()), base, rtol=1e-10)
    table = np.maximum(np.round(X), 0)
    dense = selector_of().fit(table, y)
    for convert in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        assert_same(selector_of().fit(convert(table), y), dense)


def test_frames_of_mixed_numbers(X, y):
    frame = pd.DataFrame(X[:, :4]).rename(columns=str)
    frame["count"] = np.arange(N, dtype=np.int8) % 7
    frame["nullable"] = pd.array(np.arange(N) % 5, dtype="Int64")
    frame["object"] = pd.Series(list(X[:, 6]), dtype=object)
    plain = HSICLasso(4).fit(frame.to_numpy(dtype=float), y)
    assert_same(HSICLasso(4).fit(frame, y), plain, rtol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": Gaussian(0.3)}, {"kernel": Gaussian("median")}, {"kernel": "delta"},
        {"target": Real(Gaussian(0.3))}, {"target": Real("linear")},
        {"target": Real(transform="rank")}, {"measure": "nhsic"}, {"measure": NOCCO(0.1)},
        {"target": "classes"}, {"penalty": "elastic_net"},
    ],
    ids=str,
)  # fmt: skip
def test_every_option_changes_the_answer(options, X, y):
    table, target = np.round(2 * X), np.round(y)
    base = HSICLasso(4, target="real").fit(table, target)
    assert_differs(base, HSICLasso(4, **({"target": "real"} | options)).fit(table, target))


# ------------------------------------------------------------------------------ what is reported


def test_constant_columns_are_named(X, y):
    frame = pd.DataFrame(X).rename(columns=lambda j: f"g{j}").assign(batch=1.0, site=0)
    with pytest.warns(ConstantFeatureWarning, match="2 of 9 columns do not vary.*: batch, site$"):
        selector = HSICLasso(5).fit(frame, y)
    assert selector.result_.data.constant == ("batch", "site")
    assert selector.coef_[7:].tolist() == [0, 0]


def test_only_constant_columns():
    with (
        pytest.warns(ConstantFeatureWarning, match=r"x0, x1, x2, x3, x4, \.\.\."),
        pytest.warns(FewerFeaturesWarning, match="every relevance is zero"),
    ):
        selector = HSICLasso(2).fit(np.ones((10, 7)), np.arange(10.0))
    assert selector.selected_.size == 0
    assert selector.result_.features == ()


def test_neighbours_are_the_nearest_of_all_features(data):
    X, y = data
    options = {"gram_error": 1e-10, "measure": "nhsic"}
    result = HSICLasso(4, n_neighbors=5, **options).fit(X, y).result_
    flat = feature_matrices(X.T, measure="nhsic").reshape(30, -1)
    similarity = flat @ flat.T - 2 * np.eye(30)
    for feature in result.features:
        nearest = np.argsort(-similarity[feature.index])[:5]
        assert [other.index for other in feature.neighbours] == nearest.tolist()
        assert [other.name for other in feature.neighbours] == [f"x{j}" for j in nearest]
        np.testing.assert_allclose(
            [other.similarity for other in feature.neighbours],
            similarity[feature.index, nearest],
            atol=1e-3,
        )
    assert all(not f.neighbours for f in HSICLasso(2).fit(X, y).result_.features)


def test_similarity_of_nocco_lies_between_0_and_1(X, y):
    for feature in NOCCOLasso(3, n_neighbors=9).fit(X, y).result_.features:
        values = [other.similarity for other in feature.neighbours]
        assert len(values) == 6
        assert values == sorted(values, reverse=True)
        assert all(0 <= value <= 1 for value in values)


def test_a_stalled_path_warns_with_its_gap(data, monkeypatch):
    monkeypatch.setattr(homotopy, "_MAX_STEPS", 3)
    with pytest.warns(ConvergenceWarning, match="rounding errors.*duality gap reached is"):
        selector = HSICLasso(20).fit(*data)
    assert selector.result_.status == "STALLED"
    assert "Stopped before the optimum" in repr(selector.result_)


def test_progress_and_interruption(data):
    stages = []
    HSICLasso(5, n_neighbors=1).fit(*data, progress=lambda *call: stages.append(call))
    assert ("relevance", 30, 30) in stages
    assert ("path", 5, 5) in stages
    assert stages[-1] == ("neighbours", 30, 30)

    def stop(*call):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HSICLasso(5).fit(*data, progress=stop)


# -------------------------------------------------------------------------------------- bad tables


def spoilt(X, value):
    X = X.copy()
    X[5, 2] = value
    return X


def frame(X, **columns):
    return pd.DataFrame(X).rename(columns=str).assign(**columns)


BAD = {
    "nan": (lambda X: spoilt(X, np.nan), "NaN in column 'x2'"),
    "inf": (lambda X: spoilt(X, np.inf), "infinity in column 'x2'"),
    "missing in frame": (lambda X: frame(spoilt(X, np.nan)), "NaN in column '2'"),
    "complex": (lambda X: X + 1j, "Complex data not supported"),
    "no rows": (lambda X: X[:0], "n_samples=0"),
    "two rows": (lambda X: X[:2], "n_samples=2.*3 samples or more"),
    "no columns": (lambda X: X[:, :0], r"0 feature\(s\)"),
    "one-dimensional": (lambda X: X[:, 0], "Expected 2D array, got 1D array"),
    "text": (lambda X: X.astype(str) + "a", "not numbers"),
    "text objects": (lambda X: X.astype(str).astype(object) + "a", "not numbers"),
    "mixed objects": (lambda X: mixed(X)[0].to_numpy(), "pass a pandas or polars frame"),
    "dates": (lambda X: frame(X, day=pd.Timestamp("2020")), "column 'day'.*datetime64.*encode"),
    "complex column": (lambda X: frame(X, z=1j), "Complex data not supported: column 'z'"),
    "names twice": (lambda X: frame(X[:, :2]).set_axis(["a", "a"], axis=1), "'a'.* more than once"),
    "identifiers": (
        lambda X: pd.DataFrame({"id": [f"p{i}" for i in range(2500)]}),
        "column 'id' has 2,500 different values .*leave it out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_tables(kind, X, y):
    spoil, message = BAD[kind]
    table = spoil(X)
    with pytest.raises(ValueError, match=message):
        HSICLasso(1).fit(table, np.resize(y, len(table)))


def test_a_target_that_nothing_can_depend_on(X):
    for target, message in [(None, "y is None"), (np.ones(N), "only one"), (["a"] * N, "only one")]:
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso(2).fit(X, target)
