"""The bounds of screening hold, and what is selected with them is what is selected without."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import AlphaRatio, ElasticNet, GroupLasso, HSICLasso, Lasso, make_data1, make_data2
from hsiclasso.data import as_source
from hsiclasso.dependence import Features, relate
from hsiclasso.dependence.relevance import RelevancePass
from hsiclasso.dependence.screening import ScreeningPass, can_be_screened
from hsiclasso.kernels import HSIC, Gaussian, Samples, as_measure
from hsiclasso.targets import Classes, Real
from tests.dependence.cases import real_numbers

N = 300
TARGETS = {
    "normal": lambda rng, x: x + rng.standard_normal(N),
    "heavy": lambda rng, x: np.exp(2 * x) * rng.standard_normal(N),
    "classes": lambda rng, x: np.digitize(x, [-1.0, 0.0, 1.0]),
}


def draw(seed, target, kernel=None, weighted=False, covariates=0, n=N):
    rng = np.random.default_rng(seed)
    X = real_numbers(rng, n, 11)
    X[:, 5] = 7.0  # constant
    X[:, 6] = np.where(np.arange(n) == 3, 1e6, 0.0)  # one value far away from all others
    X[:, 7] *= 1e200  # its variance is beyond the range of doubles
    X[:, 8] += 1e9
    y = TARGETS[target](rng, X[:, 0])
    kind = Classes() if target == "classes" else Real()
    samples = Samples(
        n,
        rng.uniform(0.2, 3.0, n) if weighted else None,
        rng.standard_normal((covariates, n)) if covariates else None,
    )
    features = Features(as_source(X), (kernel or Gaussian(),), samples, np.arange(X.shape[1]))
    matrix = kind.prepare(y, n).data.matrix(HSIC(), samples, error=1e-6, n_features=X.shape[1])
    return features, matrix


@pytest.mark.parametrize("target", TARGETS)
@given(
    seed=st.integers(0, 10_000), width=st.sampled_from([0.3, 1.0, 2.5]), weighted=st.booleans(),
    covariates=st.sampled_from([0, 3]),
)  # fmt: skip
def test_bounds_hold(target, seed, width, weighted, covariates):
    features, matrix = draw(seed, target, Gaussian(width), weighted, covariates)
    exact = relate(features, matrix, HSIC()).linear
    screening = ScreeningPass(RelevancePass(features, matrix, HSIC()))
    screened = screening(slice(0, features.n_features))
    assert (screened.upper >= exact * (1 - 1e-6)).all()
    # tight enough to tell relevant features from others
    assert (screened.upper - exact).max() <= 0.05 * exact.max()
    estimate = screened.result.relevance[:, 0]
    np.testing.assert_allclose(estimate, exact, atol=2e-3 * exact.max())
    np.testing.assert_allclose(estimate[screened.exact], exact[screened.exact], rtol=1e-6)
    assert screened.result.varies.tolist() == (np.arange(11) != 5).tolist()


def test_blocks_do_not_matter():
    """A column is added up by itself: other columns of a block do not change a digit."""
    features, matrix = draw(0, "heavy")
    screening = ScreeningPass(RelevancePass(features, matrix, HSIC()))
    whole = screening(slice(0, 11))
    for part in (slice(0, 4), slice(4, 5), slice(5, 11)):
        alone = screening(part)
        assert alone.upper.tolist() == whole.upper[part].tolist()
        assert alone.result.relevance.tolist() == whole.result.relevance[part].tolist()


def test_many_samples_are_added_up_in_runs():
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.standard_normal((n, 3))
    samples = Samples(n)
    features = Features(as_source(X), (Gaussian(),), samples, np.arange(3))
    y = X[:, 0] ** 2 + rng.standard_normal(n)
    matrix = Real().prepare(y, n).data.matrix(HSIC(), samples, error=1e-6, n_features=3)
    exact = relate(features, matrix, HSIC()).linear
    screened = ScreeningPass(RelevancePass(features, matrix, HSIC()))(slice(0, 3))
    assert (screened.upper >= exact).all()
    np.testing.assert_allclose(screened.result.relevance[:, 0], exact, rtol=0, atol=1e-4 * exact[0])


@pytest.fixture
def without_screening(monkeypatch):
    """A switch that turns screening off."""

    def off():
        module = sys.modules["hsiclasso.dependence.relate"]
        monkeypatch.setattr(module, "can_be_screened", lambda *_: False)

    return off


OPTIONS = {
    "number": {"n_features_to_select": 15},
    "one": {"n_features_to_select": 1},
    "alpha": {"alpha": AlphaRatio(0.02)},
    "bic": {"alpha": "bic"},
    "elastic net": {"n_features_to_select": 10, "penalty": ElasticNet(0.5)},
    "descent": {"n_features_to_select": 10, "solver": "cd"},
    "excluded": {"n_features_to_select": 10, "exclude": [0, 3, 17]},
    "filled": {"n_features_to_select": 60},
    "kept": {"n_features_to_select": 10, "keep": [5]},
    "weights": {"n_features_to_select": 10, "penalty": Lasso(np.linspace(0.5, 2.0, 60))},
    "groups": {"n_features_to_select": 10, "penalty": GroupLasso(np.arange(60) // 4)},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("make", [make_data1, make_data2])
@pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
def test_selections_are_the_same(make, name, without_screening):
    X, y, _ = make(N, 60, random_state=1)
    X[:, 41] = X[:, 40]  # copies
    screened = HSICLasso(**OPTIONS[name]).fit(X, y)
    without_screening()
    plain = HSICLasso(**OPTIONS[name]).fit(X, y)
    assert screened.selected_.tolist() == plain.selected_.tolist()
    np.testing.assert_allclose(screened.coef_, plain.coef_, rtol=1e-12, atol=1e-15)
    assert screened.path_.alpha == pytest.approx(plain.path_.alpha, rel=1e-12)
    assert screened.result_.certificate.duality_gap <= 1e-9
    exact = screened.selected_
    np.testing.assert_allclose(screened.relevance_[exact], plain.relevance_[exact], rtol=1e-12)
    np.testing.assert_allclose(
        screened.relevance_, plain.relevance_, atol=1e-3 * plain.relevance_.max()
    )


@pytest.mark.parametrize("penalty", [Lasso(np.linspace(0.5, 2.0, 60)), Lasso(positive=False)])
def test_other_penalties_need_every_relevance(penalty, without_screening):
    """Where the most relevant feature need not join first, nothing is screened."""
    X, y, _ = make_data1(N, 60, random_state=1)
    chosen = HSICLasso(5, penalty=penalty).fit(X, y)
    without_screening()
    assert chosen.relevance_.tolist() == HSICLasso(5, penalty=penalty).fit(X, y).relevance_.tolist()


def test_a_path_that_goes_further_is_solved_again(monkeypatch, without_screening):
    """The first guess of how many exact relevances are needed may be too low."""
    pipeline = sys.modules["hsiclasso.selectors.pipeline"]
    monkeypatch.setattr(pipeline, "_EXACT_EACH", 0)
    monkeypatch.setattr(pipeline, "_EXACT_MORE", 1)
    X, y, _ = make_data1(N, 200, random_state=2)
    screened = HSICLasso(20).fit(X, y)
    without_screening()
    plain = HSICLasso(20).fit(X, y)
    assert screened.selected_.tolist() == plain.selected_.tolist()
    np.testing.assert_allclose(screened.coef_, plain.coef_, rtol=1e-12)


def test_sharpening_makes_relevances_exact():
    features, matrix = draw(3, "normal")
    exact = relate(features, matrix, HSIC())
    problem = relate(features, matrix, HSIC(), screen=1)
    assert not problem.exact.all()
    assert exact.exact.all()
    assert not exact.sharpen(np.arange(11))
    assert problem.sharpen(np.arange(11))
    assert not problem.sharpen(np.arange(11))
    assert problem.exact.all()
    np.testing.assert_allclose(problem.linear, exact.linear, rtol=1e-12)


@pytest.mark.parametrize(
    "change", ["few samples", "small error", "measure", "integers", "missing", "kernel"]
)
def test_what_is_not_screened(change):
    rng = np.random.default_rng(0)
    n = 100 if change == "few samples" else N
    X = rng.standard_normal((n, 4))
    if change == "integers":
        X = (X > 0).astype(np.int8)
    measure = as_measure("nhsic" if change == "measure" else "hsic")
    samples = Samples(n)
    kernel = Gaussian("median") if change == "kernel" else Gaussian()
    features = Features(
        as_source(X), (kernel,), samples, np.arange(4),
        least_observed=10 if change == "missing" else 0,
        gram_error=1e-8 if change == "small error" else 1e-6,
    )  # fmt: skip
    y = rng.standard_normal(n)
    matrix = Real().prepare(y, n).data.matrix(measure, samples, error=1e-6, n_features=4)
    assert not can_be_screened(features, matrix, measure)
