"""Every solver on every penalty against optimality, each other, and independent solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.linear_model import Lasso, lars_path_gram

from hsiclasso import InvalidInputError
from hsiclasso.solvers import (
    SOLVERS,
    ExplicitProblem,
    Penalty,
    Ridged,
    Status,
    Stop,
    choose_solver,
    largest_alpha,
    solve_path,
)
from tests.solvers.conic import conic_solution
from tests.solvers.problems import design, designs, explicit

KINDS = ["lasso", "weighted", "elastic net", "group", "sparse group", "none", "signed"]
PAIRS = [
    (solver, kind)
    for solver, serves in SOLVERS.items()
    for kind in KINDS
    if kind in ("lasso", "weighted", "elastic net", "none") or "group lasso" in serves
]

cases = st.tuples(designs, st.integers(0, 1000), st.floats(0.02, 0.9))


def penalised(A, t, kind, seed):
    """A problem and a penalty of a kind, with everything unequal."""
    rng = np.random.default_rng(seed)
    d = A.shape[1]
    problem = explicit(A, t)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], d, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    labels = rng.choice(["x", "b", "gene", "a", "z"], d)
    ridge = 0.3 * np.diag(problem.gram).mean()
    return {
        "lasso": lambda: (problem, Penalty.lasso(d)),
        "weighted": lambda: (problem, Penalty.lasso(weights)),
        "elastic net": lambda: (
            ExplicitProblem(problem.gram + ridge * np.eye(d), problem.linear, problem.target_norm2),
            Penalty.lasso(d),
        ),
        "group": lambda: (problem, Penalty.group(labels)),
        "sparse group": lambda: (problem, Penalty.group(labels, l1_ratio=0.4, weights=weights)),
        "none": lambda: (problem, Penalty.none(d)),
        "signed": lambda: (problem, Penalty.lasso(d, signed=True)),
    }[kind]()


def objective(problem, penalty, a, alpha):
    used = a != 0
    cost = penalty.weights[used] @ np.abs(a[used])
    for g in np.unique(penalty.groups):
        cost += penalty.group_weights[g] * np.linalg.norm(a[penalty.groups == g])
    return 0.5 * a @ problem.gram @ a - problem.linear @ a + alpha * cost


def stop_at(problem, penalty, ratio):
    top = largest_alpha(problem, penalty)
    return Stop(alpha=ratio * top) if top > 0 else Stop(alpha=1.0 if penalty.signed else 0.0)


@pytest.mark.parametrize("kind", KINDS)
@given(case=cases)
def test_solvers_are_certified_and_agree_with_each_other_and_with_a_conic_solver(kind, case):
    (A, t), seed, ratio = case
    problem, penalty = penalised(A, t, kind, seed)
    stop = stop_at(problem, penalty, ratio)
    found = []
    for solver in [solver for solver, name in PAIRS if name == kind]:
        path = solve_path(problem, penalty, stop, solver=solver)
        assert path.certificate.duality_gap <= 1e-10, solver
        assert path.certificate.kkt_residual <= 1e-7, solver
        assert path.status is not Status.STALLED, solver
        weights = path.coefficients()
        assert (weights[np.isinf(penalty.weights)] == 0).all(), solver
        assert penalty.signed or (weights >= 0).all(), solver
        found.append(weights)
    found.append(conic_solution(problem, penalty, stop.alpha))
    scale = max(float(t @ t), 1e-300)
    values = np.array([objective(problem, penalty, a, stop.alpha) for a in found]) / scale
    assert np.ptp(values[:-1]) <= 1e-10
    assert values[:-1].max() <= values[-1] + 1e-8
    # what is fitted is unique, the weights need not be
    fits = [A @ a for a in found[:-1]]
    for fit in fits[1:]:
        assert np.linalg.norm(fit - fits[0]) <= 1e-8 * np.linalg.norm(t) + 1e-300


@pytest.mark.parametrize("solver", ["homotopy", "cd", "dal"])
@given(case=cases)
def test_no_penalty_is_nonnegative_least_squares(solver, case):
    (A, t), _, _ = case
    path = solve_path(explicit(A, t), Penalty.none(A.shape[1]), Stop(), solver=solver)
    best = nnls(A, t, maxiter=10_000)[1]
    assert np.linalg.norm(A @ path.coefficients() - t) <= best + 1e-8 * np.linalg.norm(t)


@pytest.mark.parametrize("solver", ["homotopy", "cd", "dal"])
def test_scikit_learn_agrees(solver, rng):
    A = np.abs(rng.standard_normal((60, 30)))
    t = A[:, :4].sum(axis=1) + rng.standard_normal(60)
    problem = explicit(A, t)
    alpha = 0.2 * problem.linear.max()
    found = solve_path(problem, Penalty.lasso(30), Stop(alpha=alpha), solver=solver).coefficients()
    model = Lasso(alpha / 60, positive=True, fit_intercept=False, tol=1e-14, max_iter=100_000)
    np.testing.assert_allclose(found, model.fit(A, t).coef_, atol=1e-8)
    _, _, path = lars_path_gram(
        problem.linear, problem.gram, n_samples=60, alpha_min=alpha / 60, method="lasso",
        positive=True,
    )  # fmt: skip
    np.testing.assert_allclose(found, path[:, -1], atol=1e-8)


@pytest.mark.parametrize("solver", ["cd", "dal"])
def test_signed_weights_agree_with_scikit_learn(solver, rng):
    A = rng.standard_normal((60, 30))
    t = A[:, 0] - A[:, 1] + rng.standard_normal(60)
    problem = explicit(A, t)
    alpha = 0.2 * np.abs(problem.linear).max()
    penalty = Penalty.lasso(30, signed=True)
    found = solve_path(problem, penalty, Stop(alpha=alpha), solver=solver).coefficients()
    model = Lasso(alpha / 60, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(A, t)
    np.testing.assert_allclose(found, model.coef_, atol=1e-8)
    assert (found < 0).any()


@pytest.mark.parametrize("solver", ["cd", "dal"])
@pytest.mark.parametrize("kind", KINDS)
def test_warm_and_cold_starts_agree(solver, kind, rng):
    A, t = design(5, rounded=False, duplicates=False)
    problem, penalty = penalised(A, t, kind, 1)
    top = largest_alpha(problem, penalty) or 1.0
    alphas = top * np.geomspace(1, 0.05, 8)
    warm = solve_path(problem, penalty, Stop(alpha=alphas[-1]), solver=solver, alphas=alphas)
    assert warm.alphas.tolist() == alphas.tolist()
    for step, alpha in enumerate(alphas):
        cold = solve_path(problem, penalty, Stop(alpha=alpha), solver=solver)
        found = [
            objective(problem, penalty, p, alpha)
            for p in (warm.coefficients(step), cold.coefficients())
        ]
        assert abs(found[0] - found[1]) <= 1e-10 * problem.target_norm2


@pytest.mark.parametrize("solver", ["cd", "dal"])
@pytest.mark.parametrize("stop", [{"alpha": 0.1}, {"max_features": 5}], ids=["alpha", "count"])
def test_the_path_begins_where_everything_is_zero(solver, stop, rng):
    A = np.abs(rng.standard_normal((80, 20)))
    problem, penalty = explicit(A, A @ rng.uniform(0, 1, 20)), Penalty.lasso(20)
    top = largest_alpha(problem, penalty)
    if "alpha" in stop:
        stop = {"alpha": stop["alpha"] * top}
    path = solve_path(problem, penalty, Stop(**stop), solver=solver)
    assert path.breakpoints[0].alpha == pytest.approx(top)
    assert path.breakpoints[0].indices.size == 0
    assert (np.diff(path.alphas) < 0).all()
    for step, alpha in enumerate(path.alphas):
        alone = solve_path(problem, penalty, Stop(alpha=alpha)).coefficients()
        np.testing.assert_allclose(path.coefficients(step), alone, atol=1e-8)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@given(seed=st.integers(0, 1000))
def test_labels_and_order_of_groups_do_not_matter(l1_ratio, seed):
    rng = np.random.default_rng(seed)
    A, t = design(seed, rounded=False, duplicates=False)
    d = A.shape[1]
    labels = rng.integers(0, 5, d)
    renamed = np.array(["q", "a", "zz", "m", "c"])[labels]
    shuffle = rng.permutation(d)
    problem = explicit(A, t)
    alpha = 0.3 * max(largest_alpha(problem, Penalty.group(labels, l1_ratio=l1_ratio)), 1e-9)

    def fit(A, labels):
        penalty = Penalty.group(labels, l1_ratio=l1_ratio)
        return solve_path(explicit(A, t), penalty, Stop(alpha=alpha)).coefficients()

    plain = fit(A, labels)
    for other in (fit(A, renamed), fit(A[:, shuffle], labels[shuffle])[np.argsort(shuffle)]):
        assert np.linalg.norm(A @ other - A @ plain) <= 1e-8 * np.linalg.norm(t)


@given(case=cases)
def test_groups_of_one_are_the_lasso(case):
    (A, t), _, ratio = case
    problem, d = explicit(A, t), A.shape[1]
    stop = stop_at(problem, Penalty.lasso(d), ratio)
    one = solve_path(problem, Penalty.group(np.arange(d)), stop).coefficients()
    other = solve_path(problem, Penalty.lasso(d), stop).coefficients()
    assert np.linalg.norm(A @ one - A @ other) <= 1e-8 * np.linalg.norm(t) + 1e-300


@pytest.mark.parametrize("solver", ["homotopy", "cd", "dal"])
def test_features_without_penalty_are_there_from_the_start(solver, rng):
    A = np.abs(rng.standard_normal((50, 12)))
    t = A[:, 3] + 0.2 * A[:, 7] + 0.1 * rng.standard_normal(50)
    weights = np.ones(12)
    weights[7] = 0
    problem, penalty = explicit(A, t), Penalty.lasso(weights)
    top = largest_alpha(problem, penalty)
    path = solve_path(problem, penalty, Stop(alpha=1.0001 * top), solver=solver)
    alone = nnls(A[:, [7]], t)[0]
    np.testing.assert_allclose(path.coefficients()[7], alone[0], rtol=1e-9)
    assert np.flatnonzero(path.coefficients()).tolist() == [7]
    below = solve_path(problem, penalty, Stop(alpha=0.99 * top), solver=solver)
    assert np.flatnonzero(below.coefficients()).size == 2


@pytest.mark.parametrize("solver", ["homotopy", "cd", "dal"])
@pytest.mark.parametrize("count", [1, 3, 6])
def test_number_of_features(solver, count, rng):
    A = np.abs(rng.standard_normal((80, 20)))
    t = A @ rng.uniform(0, 1, 20)
    path = solve_path(explicit(A, t), Penalty.lasso(20), Stop(max_features=count), solver=solver)
    assert path.status is Status.N_FEATURES
    assert path.breakpoints[-1].indices.size == count


@pytest.mark.parametrize("solver", ["cd", "dal"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_number_of_groups(solver, count, rng):
    A = np.abs(rng.standard_normal((80, 20)))
    t = A @ rng.uniform(0, 1, 20)
    penalty = Penalty.group(np.repeat(np.arange(5), 4))
    path = solve_path(explicit(A, t), penalty, Stop(max_groups=count), solver=solver)
    assert np.unique(path.breakpoints[-1].indices // 4).size == count
    assert path.certificate.duality_gap <= 1e-10


def test_more_than_there_can_be(rng):
    A = np.abs(rng.standard_normal((5, 20)))
    path = solve_path(explicit(A, A[:, 0]), Penalty.group(np.arange(20) // 2), Stop(max_groups=10))
    assert path.status is Status.PATH_END
    assert path.alpha == 0


@pytest.mark.parametrize(("solver", "kind"), PAIRS)
def test_nothing_relevant(solver, kind):
    problem = ExplicitProblem(np.eye(4), np.zeros(4), 1.0)
    _, penalty = penalised(np.eye(4), np.ones(4), kind, 0)
    path = solve_path(problem, penalty, Stop(alpha=float(kind == "signed")), solver=solver)
    assert (path.coefficients() == 0).all()
    assert path.certificate.duality_gap <= 1e-10


@given(case=cases)
def test_screened_units_are_zero(case):
    from hsiclasso.solvers.coordinate import coordinate_descent
    from hsiclasso.solvers.working import WorkingSet

    (A, t), seed, ratio = case
    problem, penalty = penalised(A, t, "group", seed)
    stop = stop_at(problem, penalty, ratio)
    solution = solve_path(problem, penalty, stop, solver="dal").coefficients()
    working = WorkingSet(problem, penalty, coordinate_descent)
    screen, dead = working._screen, []

    def watched(small):
        dead.append(screen(small))
        return dead[-1]

    working._screen = watched
    working.solve(stop.alpha)
    units = working.candidates.penalty.unit_of
    for certain in dead:
        features = working.candidates.pulled[certain[units]]
        assert np.abs(solution[features]).max(initial=0) <= 1e-6


def test_a_pair_that_does_not_exist():
    with pytest.raises(
        InvalidInputError, match="solve the group lasso: choose 'cd', 'dal' or 'auto'"
    ):
        choose_solver("homotopy", Penalty.group([0, 0, 1]))
    with pytest.raises(InvalidInputError, match="cannot solve the signed lasso"):
        choose_solver("homotopy", Penalty.lasso(3, signed=True))
    with pytest.raises(InvalidInputError, match="solver='sgd' is unknown"):
        choose_solver("sgd", Penalty.lasso(3))


def test_signed_weights_without_penalty():
    problem = ExplicitProblem(np.eye(3), np.ones(3), 3.0)
    with pytest.raises(InvalidInputError, match="alpha > 0"):
        solve_path(problem, Penalty.lasso(3, signed=True), Stop())


@pytest.mark.parametrize("weights", [[1, -1], [1, np.nan]])
def test_bad_weights(weights):
    with pytest.raises(InvalidInputError, match=r"weights\[1\]"):
        Penalty.lasso(np.array(weights, dtype=float))


def test_bad_share_of_the_l1_part():
    with pytest.raises(InvalidInputError, match=r"l1_ratio=1\.5"):
        Penalty.group([0, 1], l1_ratio=1.5)


def test_ridged_problem():
    problem = Ridged(ExplicitProblem(np.ones((3, 3)), np.ones(3), 3.0), 2.0)
    every = np.arange(3)
    np.testing.assert_array_equal(problem.block(every, every), np.ones((3, 3)) + 2 * np.eye(3))
    np.testing.assert_array_equal(problem.diagonal(every[1:]), [3, 3])


@pytest.mark.parametrize("solver", ["cd", "dal"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_features_that_join_together_join_a_little_below_their_penalty(solver, scale):
    """No penalty has one of the two; right below theirs, weights would be rounding errors."""
    problem = explicit(np.eye(3), scale * np.array([1.0, 1.0, 0.5]))
    path = solve_path(problem, Penalty.lasso(3), Stop(max_features=1), solver=solver)
    assert np.flatnonzero(path.coefficients()).tolist() == [0, 1]
    assert 0.95 < path.alpha / scale < 0.999
