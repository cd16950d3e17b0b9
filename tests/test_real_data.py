"""The engine on real tables, against dense matrices. Skipped where the data is absent."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat

from hsiclasso import Auto, Gaussian, HSICLasso, NOCCOLasso, Real
from hsiclasso.solvers import (
    SOLVERS,
    ExplicitProblem,
    Penalty,
    Stop,
    largest_alpha,
    solve_path,
)
from tests import oracles

#: The problem of the paper: nothing leaves the path, and a real target is compared as it is.
PAPER = {"max_redundancy": 1.0, "target": Auto(transform=None)}
#: Tables whose dense problem is small enough: name, and whether the target is classes.
SETS = {
    "warpAR10P": True, "GLIOMA": True, "colon": True, "colon_raw": True, "leukemia": True,
    "lung_discrete": True, "rat_eye_flare200": False, "cookie_nir_fat": False, "blood_brain": False,
}  # fmt: skip


def compare(data, estimator, measure, classes, n_features=15):
    X, y = data["X"], data["y"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns
        estimator.set_params(n_features_to_select=n_features).fit(X, y)
    assert estimator.result_.method.target == ("classes" if classes else "real")
    assert estimator.result_.certificate.kkt_residual < 1e-10
    assert estimator.result_.certificate.duality_gap < 1e-10
    design, target = oracles.explicit_problem(X, y, measure, classes=classes)
    active, weights, alpha = oracles.dense_path(design, target, n_features)
    on_path = estimator.selected_[: estimator.result_.n_on_path]
    assert on_path.tolist() == active[np.lexsort((active, -weights))].tolist()
    np.testing.assert_allclose(
        estimator.coef_[active], weights, rtol=2e-2, atol=1e-4 * weights.max()
    )
    assert estimator.path_.alpha == pytest.approx(alpha, rel=1e-3)


@pytest.mark.parametrize("name", SETS)
def test_hsic_lasso_selects_what_dense_matrices_select(name, load_real):
    compare(load_real(name), HSICLasso(**PAPER), "hsic", SETS[name])


@pytest.mark.parametrize("name", ["lung_discrete", "colon", "blood_brain"])
def test_normalised_hsic_lasso(name, load_real):
    compare(load_real(name), HSICLasso(measure="nhsic", **PAPER), "nhsic", SETS[name])


@pytest.mark.parametrize("name", ["lung_discrete", "colon", "blood_brain"])
def test_nocco_lasso(name, load_real):
    compare(load_real(name), NOCCOLasso(**PAPER), "nocco", SETS[name])


def test_weights_of_the_authors_own_program(data_folder):
    """HSIC Lasso with deviations that divide by n - 1 meets the path stored beside the data."""
    stored = loadmat(data_folder / "formats" / "pyhsiclasso" / "matlab_data.mat")
    X, y, beta = stored["X"].T, stored["Y"].ravel(), stored["beta"].ravel()
    kernel = Gaussian(float(np.sqrt(len(y) / (len(y) - 1))))  # in deviations that divide by n
    target = Real(kernel, transform=None)
    selector = HSICLasso(
        3, kernel=kernel, target=target, max_redundancy=1.0, gram_error=1e-10
    ).fit(X, y)  # fmt: skip
    assert selector.selected_.tolist() == [1099, 99, 199]
    np.testing.assert_allclose(selector.coef_, beta, atol=2e-6)
    for step, weights in enumerate(stored["path"].T[: len(selector.path_.breakpoints)]):
        np.testing.assert_allclose(selector.path_.coefficients(step), weights, atol=2e-6)


@pytest.mark.parametrize("name", ["hiv_nrti_azt", "BASEHOCK", "lung_discrete"])
@pytest.mark.parametrize("kernel", ["gaussian", "delta", "plain_delta"])
def test_storage_does_not_matter(name, kernel, load_real):
    """Mutations, words and levels: as small integers, as numbers and sparse."""
    data = load_real(name)
    X, y = data["X"][:, :600].astype(np.int8), data["y"]
    tables = (X, X.astype(float), sparse.csc_array(X.astype(float)))
    options = {"kernel": kernel, "gram_error": 1e-8}
    first, *others = (HSICLasso(10, **options).fit(table, y) for table in tables)
    for other in others:
        assert other.selected_.tolist() == first.selected_.tolist()
        largest = first.relevance_.max()
        np.testing.assert_allclose(other.relevance_, first.relevance_, atol=1e-7 * largest)


def test_mutations_at_selected_positions(load_real):
    """Most of the first mutations lie where treatment selects them: 22% of all do."""
    data = load_real("hiv_nrti_azt")
    selected = HSICLasso(20, kernel="delta").fit(data["X"], data["y"]).selected_
    assert data["truth"][selected].mean() > 0.7


@pytest.mark.parametrize("name", ["colon", "lung_discrete", "blood_brain", "warpAR10P"])
def test_solvers_agree(name, load_real):
    """All penalties, each by every solver that serves it, on 300 columns of a real table."""
    data = load_real(name)
    X, y = data["X"][:, :300].astype(float), data["y"]
    X = X[:, X.std(axis=0) > 0]
    design, target = oracles.explicit_problem(X, y, "hsic", classes=SETS[name])
    problem = ExplicitProblem(design.T @ design, design.T @ target, float(target @ target))
    d = problem.linear.size
    weights = np.where(np.arange(d) % 7 == 0, 0.5, 1.0)
    weights[:2], weights[2:4] = 0.0, np.inf
    groups = np.arange(d) // 5
    for penalty in [
        Penalty.lasso(d),
        Penalty.lasso(weights),
        Penalty.elastic_net(d, l1_ratio=0.5),
        Penalty.lasso(d, signed=True),
        Penalty.group(groups),
        Penalty.group(groups, l1_ratio=0.5, weights=weights),
    ]:
        stop = Stop(alpha=0.1 * largest_alpha(problem, penalty))
        fits = []
        for solver, kinds in SOLVERS.items():
            if penalty.kind in kinds:
                path = solve_path(problem, penalty, stop, solver=solver)
                assert path.certificate.duality_gap <= 1e-10
                fits.append(design @ path.coefficients())
        for fit in fits[1:]:
            assert np.linalg.norm(fit - fits[0]) <= 1e-8 * np.linalg.norm(target)
