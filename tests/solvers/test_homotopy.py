"""The path against its optimality conditions, scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.linear_model import lars_path_gram

from hsiclasso.solvers import ExplicitProblem, Status, homotopy, nonnegative_lasso_path
from tests.solvers.problems import design, designs, explicit


def assert_optimal(problem, weights, alpha, tol=1e-9):
    correlation = problem.linear - problem.gram @ weights
    scale = max(problem.linear.max(), 1e-300)
    assert (weights >= 0).all()
    assert (correlation - alpha).max() <= tol * scale
    assert np.abs((correlation - alpha)[weights > 0]).max(initial=0) <= tol * scale


@given(designs)
def test_every_breakpoint_is_optimal(case):
    problem = explicit(*case)
    path = nonnegative_lasso_path(problem)
    assert path.status in (Status.PATH_END, Status.NOTHING_RELEVANT)
    for step, point in enumerate(path.breakpoints):
        assert_optimal(problem, path.coefficients(step), max(point.alpha, 0.0))
    assert (np.diff(path.alphas) <= 0).all()


@given(designs)
def test_end_of_the_path_is_nonnegative_least_squares(case):
    A, t = case
    weights = nonnegative_lasso_path(explicit(A, t)).coefficients()
    best = nnls(A, t, maxiter=10_000)[1]
    assert np.linalg.norm(A @ weights - t) <= best + 1e-9 * np.linalg.norm(t)


@given(designs)
def test_certificate(case):
    path = nonnegative_lasso_path(explicit(*case))
    assert path.certificate.kkt_residual <= 1e-9
    assert 0 <= path.certificate.duality_gap <= 1e-9


@given(designs, st.floats(0.01, 0.99))
def test_any_penalty(case, ratio):
    problem = explicit(*case)
    alpha = ratio * problem.linear.max()
    if alpha <= 0:
        return
    path = nonnegative_lasso_path(problem, alpha_min=alpha)
    assert path.alpha == pytest.approx(alpha)
    assert path.status is Status.ALPHA
    assert_optimal(problem, path.coefficients(), alpha)
    assert path.certificate.duality_gap <= 1e-10


@given(designs, st.integers(1, 8))
def test_number_of_features(case, m):
    problem = explicit(*case)
    path = nonnegative_lasso_path(problem, max_features=m)
    count = int(np.sum(path.coefficients() > 0))
    if path.status is Status.N_FEATURES:
        assert count >= m  # more only where several join at one penalty
        assert_optimal(problem, path.coefficients(), path.alpha)
    else:
        assert count < m


@pytest.mark.parametrize("seed", range(20))
def test_scikit_learn(seed):
    problem = explicit(*design(seed, rounded=False, duplicates=False))
    if problem.linear.max() <= 0:
        pytest.skip("nothing is positively correlated")
    alphas, _, coefficients = lars_path_gram(
        problem.linear, problem.gram, n_samples=1, positive=True, method="lasso"
    )
    # scikit-learn's last point, at penalty zero, is not reliable for positive weights
    for alpha, expected in zip(alphas[1:-1], coefficients.T[1:-1], strict=True):
        found = nonnegative_lasso_path(problem, alpha_min=alpha).coefficients()
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * expected.max())


@given(designs, st.randoms(use_true_random=False))
def test_order_of_features_does_not_matter(case, random):
    A, t = case
    order = list(range(A.shape[1]))
    random.shuffle(order)
    one = nonnegative_lasso_path(explicit(A, t))
    other = nonnegative_lasso_path(explicit(A[:, order], t))
    # with equal columns the weights are not unique, but what they add up to is
    np.testing.assert_allclose(
        A @ one.coefficients(), A[:, order] @ other.coefficients(), atol=1e-7 * np.abs(t).max()
    )


def test_duplicates_take_the_first_index():
    column = np.array([3.0, 1.0, 2.0])
    A = np.column_stack([np.array([0.1, 1.0, 0.0]), column, column])
    path = nonnegative_lasso_path(explicit(A, column + 0.5))
    assert path.coefficients()[2] == 0
    assert path.entered[0] == 1


def test_a_duplicate_takes_over_when_its_twin_is_of_no_use():
    """Dependent columns are passed over only as long as what they depend on is active."""
    rng = np.random.default_rng(3)
    base = np.abs(rng.standard_normal((30, 4)))
    A = np.column_stack([base, base @ np.array([0.5, 0.5, 0.0, 0.0]), base[:, 2]])
    for seed in range(10):
        t = np.abs(np.random.default_rng(seed).standard_normal(30))
        problem = explicit(A, t)
        assert_optimal(problem, nonnegative_lasso_path(problem).coefficients(), 0.0)


def test_all_tied_at_once():
    problem = ExplicitProblem(np.eye(5), np.ones(5), 5.0)
    path = nonnegative_lasso_path(problem, max_features=2)
    assert path.status is Status.N_FEATURES
    assert len(path.breakpoints[0].joined) == 5
    np.testing.assert_allclose(nonnegative_lasso_path(problem).coefficients(), 1)


def test_a_tied_feature_gives_way_to_two_others():
    """The first of three tied features would get a negative weight beside the other two."""
    gram = np.array([[1.0, 0.6, 0.6], [0.6, 1.0, 0.0], [0.6, 0.0, 1.0]])
    problem = ExplicitProblem(gram, np.ones(3), 3.0)
    path = nonnegative_lasso_path(problem)
    assert set(path.breakpoints[0].joined) == {1, 2}
    np.testing.assert_allclose(path.coefficients(), [0, 1, 1], atol=1e-12)
    assert np.sum(nonnegative_lasso_path(problem, max_features=2).coefficients() > 0) == 2


def test_of_tied_features_only_those_that_must_give_way_do():
    """Several get a negative direction when one joins; without the first, others need not leave."""
    A = np.array(
        [
            [2, 3, 3, 3, 1, 2], [2, 1, 1, 1, 0, 2], [0, 0, 2, 2, 2, 2], [1, 2, 1, 2, 2, 0],
            [2, 2, 0, 0, 2, 1], [2, 0, 1, 0, 2, 2], [2, 1, 1, 1, 1, 2], [1, 1, 1, 2, 2, 0],
        ]
    )  # fmt: skip
    problem = ExplicitProblem((A.T @ A).astype(float), np.ones(6), 1e3)
    path = nonnegative_lasso_path(problem)
    assert path.status is Status.PATH_END
    assert_optimal(problem, path.coefficients(), 0.0)


@given(st.integers(0, 100_000))
def test_everything_tied_at_the_start(seed):
    rng = np.random.default_rng(seed)
    n, d = 30, int(rng.integers(2, 12))
    A = np.abs(rng.standard_normal((n, d)))
    t = A @ np.linalg.solve(A.T @ A, np.ones(d))  # every column has the same relevance
    problem = explicit(A, t)
    path = nonnegative_lasso_path(problem)
    assert path.status is Status.PATH_END
    for step, point in enumerate(path.breakpoints):
        assert_optimal(problem, path.coefficients(step), point.alpha)


def test_a_path_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(homotopy, "_MAX_STEPS", 2)
    problem = ExplicitProblem(np.eye(4), np.arange(1.0, 5.0), 30.0)
    path = nonnegative_lasso_path(problem)
    assert path.status is Status.STALLED
    assert_optimal(problem, path.coefficients(), path.alpha)


def test_nothing_relevant():
    path = nonnegative_lasso_path(ExplicitProblem(np.eye(3), np.zeros(3), 1.0), max_features=2)
    assert path.status is Status.NOTHING_RELEVANT
    assert not path.coefficients().any()
    assert path.certificate.duality_gap == 0


def test_penalty_above_the_largest_relevance():
    path = nonnegative_lasso_path(ExplicitProblem(np.eye(3), np.ones(3), 1.0), alpha_min=2.0)
    assert path.status is Status.ALPHA
    assert not path.coefficients().any()


def test_paths_with_drops():
    """A segment that ends with a drop is left in its middle, where all weights are positive."""
    n_drops = 0
    for seed in range(40):
        problem = explicit(*design(seed, rounded=False, duplicates=False))
        path = nonnegative_lasso_path(problem)
        for point in path.breakpoints:
            if point.dropped:
                n_drops += 1
                m = len(point.indices)
                one = nonnegative_lasso_path(problem, max_features=m)
                assert np.sum(one.coefficients() > 0) == m
                assert_optimal(problem, one.coefficients(), one.alpha)
    assert n_drops > 20


class Counting:
    """A problem that notes which entries are asked for."""

    def __init__(self, problem):
        self.problem, self.asked = problem, set()
        self.linear, self.target_norm2 = problem.linear, problem.target_norm2

    def diagonal(self, rows):
        return self.problem.diagonal(rows)

    def block(self, rows, cols):
        self.asked |= set(rows.tolist())
        return self.problem.block(rows, cols)


def test_only_near_candidates_are_touched(rng):
    """Features whose relevance is below the last penalty cannot join: they cost nothing."""
    A = np.abs(rng.standard_normal((400, 300))) * (rng.random((400, 300)) < 0.03)
    problem = explicit(A, A[:, :5] @ np.arange(5.0, 10.0))
    counting = Counting(problem)
    path = nonnegative_lasso_path(counting, max_features=5)
    assert len(counting.asked) <= 60
    assert path.certificate.n_candidates == path.candidates.size <= 60
    assert_optimal(problem, path.coefficients(), path.alpha)


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_rows_asked_for_together_do_not_matter(at_once, rng):
    A = np.abs(rng.standard_normal((60, 200)))
    problem = explicit(A, A[:, :5] @ np.arange(5.0, 10.0))
    expected = nonnegative_lasso_path(problem, max_features=20)
    path = nonnegative_lasso_path(problem, max_features=20, at_once=at_once)
    assert path.entered.tolist() == expected.entered.tolist()
    np.testing.assert_allclose(path.alphas, expected.alphas, rtol=1e-12)
    largest = expected.coefficients().max()
    np.testing.assert_allclose(path.coefficients(), expected.coefficients(), atol=1e-12 * largest)


def test_report_follows_the_active_set():
    sizes = []
    problem = ExplicitProblem(np.eye(4), np.arange(1.0, 5.0), 30.0)
    nonnegative_lasso_path(problem, report=sizes.append)
    assert sizes == [1, 2, 3, 4]
