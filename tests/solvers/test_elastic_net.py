"""The elastic net whose ridge part follows the penalty, as in scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.linear_model import ElasticNet, enet_path

from hsiclasso import InvalidInputError
from hsiclasso.solvers import (
    ExplicitProblem,
    Penalty,
    Ridged,
    Status,
    Stop,
    choose_solver,
    largest_alpha,
    nonnegative_lasso_path,
    solve_path,
)
from hsiclasso.solvers.candidates import Candidates
from hsiclasso.solvers.certificate import certify
from tests.solvers.problems import designs, explicit

SOLVERS = pytest.mark.parametrize("solver", ["cd", "dal"])
ratios = st.floats(0.05, 0.95)

cases = st.tuples(designs, st.integers(0, 1000), ratios, ratios)


def weighted(d, seed, l1_ratio, scale=1.0, *, signed=False):
    """An elastic net with weights of all kinds; where signs are free, all are positive."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], d, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    if signed:
        weights = np.where(np.isfinite(weights) & (weights > 0), weights, 1.0)
    return weights, Penalty.elastic_net(weights, l1_ratio=l1_ratio, scale=scale, signed=signed)


def assert_optimal(problem, weights, found, alpha, l1_ratio, scale, *, signed, tol=1e-8):
    """The optimality conditions, written out from the definition."""
    used = np.isfinite(weights)
    assert (found[~used] == 0).all()
    w, a = weights[used], found[used]
    residual = (problem.linear - problem.gram @ found)[used]
    slope = residual - alpha * (1 - l1_ratio) * scale * w * a
    cut = alpha * l1_ratio * w
    size = max(np.abs(problem.linear).max(), 1e-300)
    assert np.abs(slope - cut * np.sign(a))[a != 0].max(initial=0) <= tol * size
    at_zero = np.abs(slope) if signed else slope
    assert (at_zero - cut)[a == 0].max(initial=-1) <= tol * size
    assert signed or (a >= 0).all()


@SOLVERS
@pytest.mark.parametrize("signed", [False, True])
@given(case=cases)
def test_optimality_conditions_and_certificate(solver, signed, case):
    (A, t), seed, l1_ratio, share = case
    problem = explicit(A, t)
    scale = float(np.diag(problem.gram).mean()) or 1.0
    weights, penalty = weighted(A.shape[1], seed, l1_ratio, scale, signed=signed)
    alpha = share * largest_alpha(problem, penalty) or 1.0
    path = solve_path(problem, penalty, Stop(alpha=alpha), solver=solver)
    assert path.status is not Status.STALLED
    assert path.certificate.duality_gap <= 1e-10
    assert path.certificate.kkt_residual <= 1e-7
    found = path.coefficients()
    assert_optimal(problem, weights, found, alpha, l1_ratio, scale, signed=signed)


@SOLVERS
@given(case=cases)
def test_at_one_penalty_it_is_the_lasso_of_a_ridged_problem(solver, case):
    (A, t), _, l1_ratio, share = case
    problem, d = explicit(A, t), A.shape[1]
    penalty = Penalty.elastic_net(d, l1_ratio=l1_ratio, scale=2.0)
    alpha = share * largest_alpha(problem, penalty) or 1.0
    found = solve_path(problem, penalty, Stop(alpha=alpha), solver=solver)
    ridged = Ridged(problem, alpha * (1 - l1_ratio) * 2.0)
    lasso = Penalty.lasso(np.full(d, l1_ratio))
    expected = solve_path(ridged, lasso, Stop(alpha=alpha), solver="homotopy")
    top = max(expected.coefficients().max(), 1e-300)
    # a gap of g leaves a weight off by the root of g over the curvature
    np.testing.assert_allclose(found.coefficients(), expected.coefficients(), atol=1e-4 * top)
    fits = [A @ path.coefficients() for path in (found, expected)]
    assert np.linalg.norm(fits[0] - fits[1]) <= 1e-6 * np.linalg.norm(t) + 1e-300


def table(rng, n=60, d=30):
    A = np.abs(rng.standard_normal((n, d)))
    return A, A[:, :4].sum(axis=1) + rng.standard_normal(n)


@SOLVERS
@pytest.mark.parametrize("l1_ratio", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.001])
def test_scikit_learn_agrees(solver, l1_ratio, share, rng):
    A, t = table(rng)
    problem, penalty = explicit(A, t), Penalty.elastic_net(30, l1_ratio=l1_ratio)
    alpha = share * largest_alpha(problem, penalty)
    assert alpha == pytest.approx(share * problem.linear.max() / l1_ratio)
    found = solve_path(problem, penalty, Stop(alpha=alpha), solver=solver).coefficients()
    # scikit-learn divides the squared errors by the number of samples
    model = ElasticNet(
        alpha / 60, l1_ratio=l1_ratio, positive=True, fit_intercept=False, tol=1e-14,
        max_iter=100_000,
    )  # fmt: skip
    np.testing.assert_allclose(found, model.fit(A, t).coef_, atol=1e-8)


@SOLVERS
def test_signed_weights_agree_with_scikit_learn(solver, rng):
    A = rng.standard_normal((60, 30))
    t = A[:, 0] - A[:, 1] + rng.standard_normal(60)
    problem, penalty = explicit(A, t), Penalty.elastic_net(30, l1_ratio=0.4, signed=True)
    alpha = 0.2 * largest_alpha(problem, penalty)
    found = solve_path(problem, penalty, Stop(alpha=alpha), solver=solver).coefficients()
    model = ElasticNet(alpha / 60, l1_ratio=0.4, fit_intercept=False, tol=1e-14, max_iter=100_000)
    np.testing.assert_allclose(found, model.fit(A, t).coef_, atol=1e-8)
    assert (found < 0).any()


@SOLVERS
def test_a_grid_agrees_with_scikit_learn(solver, rng):
    A, t = table(rng)
    problem, penalty = explicit(A, t), Penalty.elastic_net(30, l1_ratio=0.3)
    alphas = largest_alpha(problem, penalty) * np.geomspace(1, 0.01, 15)
    path = solve_path(problem, penalty, Stop(alpha=alphas[-1]), solver=solver, alphas=alphas)
    assert path.alphas.tolist() == alphas.tolist()
    assert not path.exact
    _, expected, _ = enet_path(
        A, t, l1_ratio=0.3, alphas=alphas / 60, positive=True, tol=1e-14, max_iter=100_000
    )
    for step in range(alphas.size):
        np.testing.assert_allclose(path.coefficients(step), expected[:, step], atol=1e-7)


@SOLVERS
@pytest.mark.parametrize("count", [1, 3, 8])
def test_number_of_features(solver, count, rng):
    A, t = table(rng)
    problem, penalty = explicit(A, t), Penalty.elastic_net(30, l1_ratio=0.5)
    path = solve_path(problem, penalty, Stop(max_features=count), solver=solver)
    assert path.status is Status.N_FEATURES
    assert path.breakpoints[-1].indices.size == count
    found = path.coefficients()
    assert_optimal(problem, np.ones(30), found, path.alpha, 0.5, 1.0, signed=False)


@SOLVERS
def test_without_penalty_it_is_nonnegative_least_squares(solver, rng):
    A, t = table(rng)
    penalty = Penalty.elastic_net(30, l1_ratio=0.5, scale=10.0)
    path = solve_path(explicit(A, t), penalty, Stop(), solver=solver)
    assert path.status is Status.PATH_END
    assert np.linalg.norm(A @ path.coefficients() - t) <= nnls(A, t)[1] + 1e-8


@SOLVERS
def test_a_feature_without_weight_has_no_ridge_part_either(solver, rng):
    A, t = table(rng)
    weights = np.ones(30)
    weights[7] = 0
    problem, penalty = explicit(A, t), Penalty.elastic_net(weights, l1_ratio=0.5, scale=100.0)
    top = largest_alpha(problem, penalty)
    path = solve_path(problem, penalty, Stop(alpha=1.0001 * top), solver=solver)
    assert path.breakpoints[-1].indices.tolist() == [7]
    np.testing.assert_allclose(path.coefficients()[7], nnls(A[:, [7]], t)[0][0], rtol=1e-9)


@given(case=cases, noise=st.floats(1e-6, 1.0))
def test_the_gap_bounds_what_a_wrong_solution_costs(case, noise):
    """The certificate of any weights is right, not only that of the best ones."""
    (A, t), seed, l1_ratio, share = case
    problem, d = explicit(A, t), A.shape[1]
    penalty = Penalty.elastic_net(d, l1_ratio=l1_ratio, scale=3.0)
    alpha = share * largest_alpha(problem, penalty) or 1.0
    best = solve_path(problem, penalty, Stop(alpha=alpha), solver="cd").coefficients()

    def cost(a):
        ridge = 0.5 * (1 - l1_ratio) * 3.0 * a @ a
        return 0.5 * np.sum((t - A @ a) ** 2) + alpha * (l1_ratio * a.sum() + ridge)

    candidates = Candidates(problem, penalty)
    candidates.pull(d)
    candidates.join(np.arange(d))
    rng = np.random.default_rng(seed)
    wrong = best * (1 + noise * rng.random(d))
    certificate = certify(problem, candidates, wrong[candidates.order], alpha)
    half = 0.5 * problem.target_norm2 or 1.0
    assert certificate.duality_gap >= (cost(wrong) - cost(best)) / half - 1e-12
    if wrong.any():
        assert certificate.kkt_residual > 0


def test_kinds_and_solvers():
    net = Penalty.elastic_net(3, l1_ratio=0.5)
    assert net.kind == "elastic net"
    assert choose_solver("auto", net) == "cd"
    signed = Penalty.elastic_net(3, l1_ratio=0.5, signed=True)
    assert signed.kind == "signed elastic net"
    assert choose_solver("auto", signed) == "cd"
    lasso = Penalty.elastic_net(3, l1_ratio=1.0)
    assert lasso.kind == "lasso"
    assert choose_solver("auto", lasso) == "homotopy"


def test_the_homotopy_does_not_serve_it():
    net = Penalty.elastic_net(3, l1_ratio=0.5)
    with pytest.raises(InvalidInputError, match="cannot solve the elastic net: choose"):
        choose_solver("homotopy", net)
    with pytest.raises(InvalidInputError, match="not of the elastic net"):
        nonnegative_lasso_path(ExplicitProblem(np.eye(3), np.ones(3), 3.0), net)


@pytest.mark.parametrize("l1_ratio", [0.0, -0.1, 1.5, np.nan])
def test_bad_share_of_the_l1_part(l1_ratio):
    with pytest.raises(InvalidInputError, match="l1_ratio="):
        Penalty.elastic_net(3, l1_ratio=l1_ratio)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_bad_scale(scale):
    with pytest.raises(InvalidInputError, match="scale="):
        Penalty.elastic_net(3, l1_ratio=0.5, scale=scale)
