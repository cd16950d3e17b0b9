"""Features that are left out of a path because they are too similar to one that joined before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import HSICLasso
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers import ExplicitProblem, Penalty, Status, Stop, homotopy, solve_path
from hsiclasso.solvers.additive import solve_additive
from hsiclasso.solvers.additive_units import Units
from hsiclasso.solvers.distinct import Distinct, similarity_in
from tests import oracles
from tests.solvers.problems import designs, explicit
from tests.solvers.test_additive import problem as additive_problem

caps = st.floats(0.3, 0.98)
SOLVERS = ["homotopy", "cd", "dal"]


def similarity(problem):
    scale = np.sqrt(np.diag(problem.gram))
    scale[scale == 0] = np.inf
    return problem.gram / np.outer(scale, scale)


def near_copies(seed):
    """A design in which a third of the columns are noisy copies of another third."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 60)), int(rng.integers(6, 40))
    A = np.abs(rng.standard_normal((n, d)))
    m = d // 3
    noise = rng.uniform(0.05, 0.5) * rng.standard_normal((n, m))
    A[:, m : 2 * m] = np.abs(A[:, :m] + noise)
    t = A @ np.maximum(rng.standard_normal(d), 0) + 0.5 * rng.standard_normal(n)
    return explicit(A, t)


def penalty_of(seed, d):
    """A lasso: plain, with weights, or with features that are kept and excluded."""
    rng = np.random.default_rng(seed)
    weights = np.ones(d)
    if seed % 3 == 1:
        weights = rng.uniform(0.5, 2.0, d)
    if seed % 3 == 2:
        weights[rng.integers(0, d, 2)] = 0.0
        weights[rng.integers(0, d, 2)] = np.inf
    return Penalty.lasso(weights)


class TestThreeFeatures:
    #: the second is like the first, the third like neither
    gram = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    problem = ExplicitProblem(gram, np.array([1.0, 0.99, 0.5]), 4.0)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_the_later_one_of_two_is_closed(self, solver):
        penalty = Penalty.lasso(3)
        plain = solve_path(self.problem, penalty, Stop(alpha=0.01), solver=solver)
        assert (plain.coefficients() > 0).all()
        assert plain.closed == ()
        path = solve_path(self.problem, penalty, Stop(alpha=0.01), solver=solver, cap=0.8)
        (closed,) = path.closed
        assert (closed.feature, closed.representative) == (1, 0)
        assert closed.similarity == pytest.approx(0.9)
        expected = np.linalg.solve(self.gram[::2, ::2], [0.99, 0.49])
        np.testing.assert_allclose(path.coefficients()[[0, 2]], expected)
        assert path.coefficients()[1] == 0
        assert path.certificate.duality_gap < 1e-12
        assert path.certificate.kkt_residual < 1e-9

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("cap", [0.9001, 1.0])
    def test_a_cap_that_nothing_exceeds_changes_nothing(self, solver, cap):
        plain = solve_path(self.problem, Penalty.lasso(3), Stop(alpha=0.01), solver=solver)
        path = solve_path(self.problem, Penalty.lasso(3), Stop(alpha=0.01), solver=solver, cap=cap)
        assert path.coefficients().tolist() == plain.coefficients().tolist()
        assert path.closed == ()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_kept_features_are_never_closed_and_close_others(self, solver):
        kept = Penalty.lasso(np.array([1.0, 0.0, 1.0]))
        path = solve_path(self.problem, kept, Stop(alpha=0.01), solver=solver, cap=0.8)
        assert [(one.feature, one.representative) for one in path.closed] == [(0, 1)]
        assert path.coefficients()[1] > 0
        # also if they have no weight
        useless = replace(self.problem, linear=np.array([1.0, -0.5, 0.5]))
        path = solve_path(useless, kept, Stop(alpha=0.01), solver=solver, cap=0.8)
        assert [(one.feature, one.representative) for one in path.closed] == [(0, 1)]
        assert path.coefficients()[:2].tolist() == [0, 0]
        # two that are kept may be as similar as they like
        both = Penalty.lasso(np.array([0.0, 0.0, 1.0]))
        path = solve_path(self.problem, both, Stop(alpha=0.01), solver=solver, cap=0.05)
        assert [one.feature for one in path.closed] == [2]
        assert (path.coefficients()[:2] > 0).all()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_excluded_features_close_nothing(self, solver):
        penalty = Penalty.lasso(np.array([np.inf, 1.0, 1.0]))
        path = solve_path(self.problem, penalty, Stop(alpha=0.01), solver=solver, cap=0.8)
        assert path.closed == ()
        assert np.flatnonzero(path.coefficients()).tolist() == [1, 2]

    def test_groups_have_no_cap(self):
        groups = Penalty.group([0, 0, 1])
        with pytest.raises(InvalidInputError, match=r"cap=0\.5, but groups enter as a whole"):
            solve_path(self.problem, groups, Stop(alpha=0.1), cap=0.5)
        with pytest.raises(InvalidInputError, match=r"cap=0\.5, but groups enter as a whole"):
            solve_additive(additive_problem(), Penalty.group(np.arange(12) // 2), Stop(), cap=0.5)
        assert solve_path(self.problem, groups, Stop(alpha=0.1)).closed == ()


def by_restarts(problem, penalty, cap):
    """The features that are closed, in order: the path is followed anew without each of them."""
    closed, S = [], similarity(problem)
    while True:
        path = solve_path(problem, penalty.without(closed), Stop())
        order = [k for point in path.breakpoints for k in point.joined]
        found = oracles.too_similar(order, S, cap, penalty.free.tolist())
        if found is None:
            return closed
        closed.append(found)


@given(st.integers(0, 100_000), caps)
def test_each_feature_is_judged_when_it_would_join(seed, cap):
    problem = near_copies(seed)
    penalty = penalty_of(seed, problem.linear.size)
    path = solve_path(problem, penalty, Stop(), cap=cap)
    assert [one.feature for one in path.closed] == by_restarts(problem, penalty, cap)
    assert path.status is Status.PATH_END or not problem.linear.max() > 0


@pytest.mark.parametrize("solver", SOLVERS)
@given(designs, caps, st.integers(1, 8), st.booleans())
def test_the_solution_is_that_of_the_features_that_remain(solver, case, cap, count, by_count):
    """Also with ties, equal and linearly dependent columns."""
    problem = explicit(*case)
    top = problem.linear.max()
    if top <= 0:
        return
    penalty, S = Penalty.lasso(problem.linear.size), similarity(problem)
    stop = Stop(max_features=count) if by_count else Stop(alpha=0.05 * top)
    path = solve_path(problem, penalty, stop, solver=solver, cap=cap)
    left_out = [one.feature for one in path.closed]
    assert not np.intersect1d(left_out, path.entered).size
    for one in path.closed:
        assert one.similarity == pytest.approx(S[one.feature, one.representative])
        assert one.similarity > cap
    ever = path.entered
    if solver == "homotopy":
        assert {one.representative for one in path.closed} <= set(ever.tolist())
    assert (S[np.ix_(ever, ever)] - np.eye(ever.size) <= cap + 1e-12).all()
    rest = solve_path(problem, penalty.without(left_out), stop, solver=solver)
    assert rest.alpha == pytest.approx(path.alpha, rel=1e-6, abs=1e-9 * top)
    fits = [case[0] @ one.coefficients() for one in (path, rest)]
    np.testing.assert_allclose(*fits, atol=1e-6 * np.linalg.norm(case[1]))
    assert path.certificate.duality_gap <= 1e-9
    assert path.certificate.kkt_residual <= 1e-7


@given(st.integers(0, 100_000), caps)
def test_all_solvers_leave_out_the_same(seed, cap):
    problem = near_copies(seed)
    if problem.linear.max() <= 0:
        return
    penalty, stop = penalty_of(seed, problem.linear.size), Stop(alpha=0.02 * problem.linear.max())
    one, *others = (solve_path(problem, penalty, stop, solver=s, cap=cap) for s in SOLVERS)
    for other in others:
        assert [k.feature for k in other.closed] == [k.feature for k in one.closed]
        size = one.coefficients().max(initial=1e-300)
        np.testing.assert_allclose(other.coefficients(), one.coefficients(), atol=1e-5 * size)


@given(st.integers(0, 100_000), caps)
def test_a_number_on_the_way_is_that_of_a_path_to_it(seed, cap):
    """A candidate that is closed ends no segment: it leaves no trace in the path."""
    problem = near_copies(seed)
    penalty = Penalty.lasso(problem.linear.size)
    path = solve_path(problem, penalty, Stop(), cap=cap)
    nothing = np.zeros(0, dtype=np.int64)
    most = max((point.indices.size for point in path.breakpoints), default=0)
    for size in range(1, most + 2):
        found = path.selected_of_size(size, nothing)
        direct = solve_path(problem, penalty, Stop(max_features=size), cap=cap)
        if direct.status is not Status.N_FEATURES:
            assert found is None
        else:
            features = direct.breakpoints[-1].indices
            assert found is not None
            assert sorted(found) == sorted(features)


PENALTIES = {
    "elastic net": lambda d: Penalty.elastic_net(d, l1_ratio=0.6, scale=5.0),
    "signed lasso": lambda d: Penalty.lasso(d, signed=True),
    "signed elastic net": lambda d: Penalty.elastic_net(d, l1_ratio=0.6, scale=5.0, signed=True),
}


@pytest.mark.parametrize("solver", ["cd", "dal"])
@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("seed", range(6))
def test_penalties_without_an_exact_path(solver, kind, seed):
    problem, cap = near_copies(seed), 0.6 + 0.06 * seed
    penalty, S = PENALTIES[kind](problem.linear.size), similarity(problem)
    alpha = 0.02 * float(np.abs(problem.linear).max())
    stop = Stop(max_features=1 + seed // 2, alpha=alpha) if seed % 2 else Stop(alpha=alpha)
    path = solve_path(problem, penalty, stop, solver=solver, cap=cap)
    left_out = [one.feature for one in path.closed]
    ever = path.entered
    assert (S[np.ix_(ever, ever)] - np.eye(ever.size) <= cap + 1e-12).all()
    assert {one.representative for one in path.closed} <= set(range(S.shape[0])) - set(left_out)
    rest = solve_path(problem, penalty.without(left_out), Stop(alpha=path.alpha), solver=solver)
    size = np.abs(rest.coefficients()).max()
    np.testing.assert_allclose(path.coefficients(), rest.coefficients(), atol=1e-6 * size)
    assert path.certificate.duality_gap <= 1e-10


def test_some_features_are_left_out_for_every_penalty():
    """The tests above do not pass because nothing happens."""
    for kind in PENALTIES:
        closed = [
            len(solve_path(p, PENALTIES[kind](p.linear.size), Stop(alpha=0.1), cap=0.7).closed)
            for p in map(near_copies, range(6))
        ]
        assert sum(closed) > 10


@pytest.mark.parametrize(("ratio", "least"), [(1 - 1e-9, 17), (1.0, 20)])
def test_an_elastic_net_that_is_a_lasso_closes_what_the_exact_path_closes(ratio, least):
    """Between two penalties that it visits, a feature may come and go unseen: that is rare."""
    same = 0
    for seed in range(20):
        problem = near_copies(seed)
        penalty = Penalty.elastic_net(problem.linear.size, l1_ratio=ratio)
        stop = Stop(alpha=0.05 * float(problem.linear.max()))
        path = solve_path(problem, penalty, stop, solver="cd", cap=0.8)
        exact = solve_path(problem, Penalty.lasso(problem.linear.size), stop, cap=0.8)
        same += {k.feature for k in path.closed} == {k.feature for k in exact.closed}
    assert same >= least


class TestAdditive:
    def with_copies(self, seed):
        """Every second feature is nearly the one before it."""
        given_ = additive_problem(seed, d=16, causal=6)
        rng = np.random.default_rng(seed)
        rows = list(given_.rows)
        for k in range(1, 16, 2):
            noisy = rows[k - 1] + 0.02 * rng.standard_normal(rows[k - 1].shape)
            _, sizes, basis = np.linalg.svd(noisy, full_matrices=False)
            rows[k] = np.minimum(sizes, 1.0)[:, None] * basis
        return replace(given_, rows=rows)

    def test_similarity_is_that_of_the_matrices(self):
        given_ = self.with_copies(0)
        S = oracles.similarity(np.array([rows.T @ rows for rows in given_.rows]))
        units = Units(given_, Penalty.lasso(16))
        units.enter(np.array([3, 8, 0]))  # the others are compared by their rows
        found = [units.similarity(k, np.arange(16)) for k in (0, 3, 8)]
        np.testing.assert_allclose(found, S[[0, 3, 8]], atol=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize(
        "stop", [Stop(max_features=7), Stop(alpha=0.1)], ids=["count", "alpha"]
    )
    def test_the_solution_is_that_of_the_features_that_remain(self, seed, stop):
        given_, penalty, cap = self.with_copies(seed), Penalty.lasso(16), 0.7
        S = oracles.similarity(np.array([rows.T @ rows for rows in given_.rows]))
        solution = solve_additive(given_, penalty, stop, cap=cap)
        left_out = [one.feature for one in solution.path.closed]
        assert left_out or stop.max_features
        assert not np.intersect1d(left_out, solution.features).size
        chosen = solution.features
        assert (S[np.ix_(chosen, chosen)] - np.eye(chosen.size) <= cap).all()
        for one in solution.path.closed:
            assert one.similarity == pytest.approx(S[one.feature, one.representative])
            assert one.similarity > cap
        alpha = solution.path.alpha
        rest = solve_additive(given_, penalty.without(left_out), Stop(alpha=alpha))
        assert rest.features.tolist() == chosen.tolist()
        for one, other in zip(solution.weights, rest.weights, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)
        assert solution.path.certificate.duality_gap <= 1e-9
        assert solution.path.certificate.kkt_residual <= 1e-4
        plain = solve_additive(given_, penalty, stop)
        assert plain.path.closed == ()
        if stop.alpha:
            assert plain.features.tolist() != chosen.tolist()

    def test_kept_features_are_never_closed_and_close_others(self):
        given_, weights = self.with_copies(1), np.ones(16)
        weights[[0, 1, 3]] = 0.0
        solution = solve_additive(given_, Penalty.lasso(weights), Stop(alpha=0.2), cap=0.7)
        closed = {one.feature: one.representative for one in solution.path.closed}
        assert closed[2] == 3
        assert {0, 1, 3} <= set(solution.features.tolist())


def test_a_state_can_be_returned_to():
    problem = TestThreeFeatures.problem
    distinct = Distinct(similarity_in(problem), 0.8, [0])
    before = distinct.copy()
    assert not distinct.admit(1)
    assert distinct.admit(2)
    distinct.join(2)
    assert (before.joined, before.closed) == ([0], {})
    assert (distinct.joined, list(distinct.closed)) == ([0, 2], [1])


def test_a_feature_without_a_matrix_is_similar_to_none():
    problem = ExplicitProblem(np.diag([1.0, 0.0]), np.ones(2), 1.0)
    assert similarity_in(problem)(0, np.array([1, 0])).tolist() == [0.0, 1.0]


def test_many_features_that_are_alike_are_refused_together(monkeypatch):
    """Three samples make nearly all features alike: looking anew after each would be quadratic."""
    rounds = []
    look = homotopy._Homotopy._doubtful

    def counted(self, *args):
        rounds.append(args)
        return look(self, *args)

    monkeypatch.setattr(homotopy._Homotopy, "_doubtful", counted)
    X = np.random.default_rng(0).standard_normal((3, 5000))
    fitted = HSICLasso(2, n_jobs=1, solver="homotopy").fit(X, [0.0, 1.0, 5.0])
    assert len(fitted.result_.features) == 2
    assert len(rounds) < 100
