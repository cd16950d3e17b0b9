"""The additive problem: against a conic solver, scikit-learn and its own optimality conditions."""

from dataclasses import dataclass, replace

import clarabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Lasso, MultiTaskLasso

from hsiclasso.solvers import Penalty, Status, Stop, additive
from hsiclasso.solvers._additive_loops import descend_functions
from hsiclasso.solvers.additive import solve_additive
from tests.oracles import additive_objective


@dataclass
class Explicit:
    """An additive problem given by its rows; counts the passes."""

    target: np.ndarray
    rows: list[np.ndarray]
    passes: int = 0

    @property
    def n_features(self) -> int:
        return len(self.rows)

    def factors(self, features):
        return [self.rows[k] for k in features]

    def correlations(self, residual, some=None):
        self.passes += some is None
        which = range(len(self.rows)) if some is None else some
        return np.array([np.linalg.norm(self.rows[k] @ residual.T) for k in which])


def problem(seed=0, n=40, d=12, rank=3, p=2, causal=3) -> Explicit:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(d):
        basis = np.linalg.qr(rng.standard_normal((n, rank)))[0].T
        rows.append(basis * np.sqrt(rng.uniform(0.05, 0.95, (rank, 1))))
    target = 0.3 * rng.standard_normal((p, n))
    for k in range(min(causal, d)):
        target += rng.standard_normal((p, rank)) @ rows[k] * 2
    return Explicit(target, rows)


def weights_of(solution, rows, p):
    made = [np.zeros((len(r), p)) for r in rows]
    for k, weights in zip(solution.features, solution.weights, strict=True):
        made[k] = weights
    return made


def conic_optimum(target, rows, alpha, groups):
    """Optimal value by clarabel: a quadratic objective with a second-order cone for each group."""
    p, starts = len(target), np.cumsum([0] + [len(r) for r in rows])
    stacked, labels = np.concatenate(rows), np.unique(groups)
    size = p * len(stacked)
    hessian = sparse.block_diag(
        [*[sparse.csc_matrix(stacked @ stacked.T)] * p, sparse.csc_matrix((labels.size,) * 2)]
    )
    linear = np.concatenate([*(-stacked @ row for row in target), np.full(labels.size, alpha)])
    blocks, cones = [], []
    for i, g in enumerate(labels):
        members = [
            q * len(stacked) + r
            for k in np.flatnonzero(groups == g)
            for r in range(starts[k], starts[k + 1])
            for q in range(p)
        ]
        columns = [size + i, *members]
        entries = (-np.ones(len(columns)), (np.arange(len(columns)), columns))
        blocks.append(sparse.csc_matrix(entries, shape=(len(columns), size + labels.size)))
        cones.append(clarabel.SecondOrderConeT(len(columns)))
    constraints = sparse.vstack(blocks).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sparse.triu(hessian).tocsc(), linear, constraints, np.zeros(constraints.shape[0]), cones,
        settings,
    )  # fmt: skip
    return solver.solve().obj_val + 0.5 * np.sum(target**2)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("grouped", [False, True])
def test_agrees_with_a_conic_solver(share, grouped):
    given_ = problem(1)
    groups = np.arange(12) % 5 if grouped else np.arange(12)
    ones = np.ones(np.unique(groups).size)
    penalty = Penalty.group(groups, group_weights=ones) if grouped else Penalty.lasso(12)
    top = max(
        np.linalg.norm(
            np.concatenate(given_.factors(np.flatnonzero(groups == g))) @ given_.target.T
        )
        for g in np.unique(groups)
    )
    solution = solve_additive(given_, penalty, Stop(alpha=share * top))
    weights = weights_of(solution, given_.rows, 2)
    value = additive_objective(given_.target, given_.rows, weights, share * top, groups)
    best = conic_optimum(given_.target, given_.rows, share * top, groups)
    assert value == pytest.approx(best, rel=1e-8)
    assert solution.path.certificate.duality_gap <= 1e-8
    assert solution.path.certificate.kkt_residual <= 1e-5
    assert solution.path.status is Status.ALPHA


@pytest.mark.parametrize("p", [1, 3])
def test_agrees_with_scikit_learn(p):
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((60, 20)), rng.standard_normal((60, p))
    Y += X[:, :p] * 2
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    given_ = Explicit(Y.T, [column[None] for column in X.T])
    alpha = 0.2 * np.linalg.norm(X.T @ Y, axis=1).max()
    solution = solve_additive(given_, Penalty.lasso(20), Stop(alpha=alpha))
    model = Lasso if p == 1 else MultiTaskLasso
    target = Y[:, 0] if p == 1 else Y
    peer = model(alpha=alpha / 60, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, target)
    ours = np.concatenate(weights_of(solution, given_.rows, p))
    np.testing.assert_allclose(ours, np.atleast_2d(peer.coef_).T, atol=1e-8)


@given(
    seed=st.integers(0, 10_000), n=st.integers(5, 30), d=st.integers(1, 40),
    p=st.integers(1, 4), share=st.floats(0.02, 0.99),
)  # fmt: skip
def test_every_solution_is_certified(seed, n, d, p, share):
    given_ = problem(seed, n, d, 2, p)
    top = given_.correlations(given_.target).max()
    solution = solve_additive(given_, Penalty.lasso(d), Stop(alpha=share * top))
    weights = weights_of(solution, given_.rows, p)
    residual = given_.target - sum(w.T @ r for w, r in zip(weights, given_.rows, strict=True))
    c = given_.correlations(residual)
    assert solution.path.certificate.duality_gap <= 1e-8
    assert (c <= share * top * (1 + 1e-4)).all()
    for k, w in zip(solution.features, solution.weights, strict=True):
        # an active feature: Q R = alpha W / |W|
        expected = share * top * w / np.linalg.norm(w)
        np.testing.assert_allclose(given_.rows[k] @ residual.T, expected, atol=1e-4 * top)
    sizes = [
        np.linalg.norm(w.T @ given_.rows[k])
        for k, w in zip(solution.features, solution.weights, strict=True)
    ]
    last = solution.path.breakpoints[-1]
    order = np.argsort(last.indices)
    np.testing.assert_array_equal(last.indices[order], solution.features)
    np.testing.assert_allclose(last.weights[order], sizes, rtol=1e-9)


def test_the_first_feature_has_the_largest_correlation():
    given_ = problem(3, d=50)
    solution = solve_additive(given_, Penalty.lasso(50), Stop(max_features=1))
    assert solution.features.tolist() == [np.argmax(given_.correlations(given_.target))]
    assert solution.path.status is Status.N_FEATURES


def test_few_passes_serve_many_features():
    given_ = problem(4, n=60, d=600, causal=5)
    solution = solve_additive(given_, Penalty.lasso(600), Stop(max_features=10))
    assert solution.features.size >= 10
    assert given_.passes <= 5
    assert solution.path.certificate.n_candidates < 300
    assert solution.path.certificate.duality_gap <= 1e-8


@pytest.mark.parametrize("number", [8, 12])
def test_near_copies_that_leave_at_full_precision(number, monkeypatch):
    """A penalty may seem to have enough features until it is solved precisely: the path goes on."""
    rng, made = np.random.default_rng(0), problem(0, n=60, d=15, causal=5)
    rows = []
    for row in made.rows:
        for _ in range(4):
            _, sizes, v = np.linalg.svd(row + 0.0025 * rng.standard_normal(row.shape), False)
            rows.append(np.minimum(sizes, 0.97)[:, None] * v)
    near = Explicit(made.target, rows)
    finish, tried = additive._Follower.finish, []

    def finish_once(self, alpha):
        assert alpha not in tried
        tried.append(alpha)
        return finish(self, alpha)

    monkeypatch.setattr(additive, "_GAP_BEFORE", 0.05)
    monkeypatch.setattr(additive._Follower, "finish", finish_once)
    solution = solve_additive(near, Penalty.lasso(60), Stop(max_features=number), spare=(5, 0.03))
    assert len(tried) > 1
    assert solution.features.size >= number
    assert solution.path.certificate.duality_gap <= 1e-8


def test_spare_features_above_a_penalty():
    given_ = problem(4, n=60, d=100, causal=5)
    path = solve_additive(given_, Penalty.lasso(100), Stop(max_features=6), spare=(4, 0.0)).path
    assert path.breakpoints[-1].indices.size == 10
    floor = 0.9 * path.breakpoints[0].alpha
    at_floor = solve_additive(given_, Penalty.lasso(100), Stop(max_features=6), spare=(4, 0.9)).path
    assert at_floor.alpha < floor
    assert 6 <= at_floor.breakpoints[-1].indices.size < 10


def test_near_copies_do_not_stall_the_descent():
    # features that are alike are what Newton steps are for; more rows than samples
    rng = np.random.default_rng(0)
    base = np.cumsum(rng.standard_normal((60, 30)), axis=0).T
    rows = []
    for k in range(60):
        own = np.stack([base[:, k], base[:, k] ** 2, np.sin(base[:, k])])
        own = np.linalg.qr((own - own.mean(axis=1, keepdims=True)).T)[0].T
        rows.append(own * np.sqrt([[0.9], [0.5], [0.1]]))
    target = rng.standard_normal((2, 30)) + rows[5][:2] * 3
    given_ = Explicit(target, rows)
    alpha = 0.02 * given_.correlations(target).max()
    solution = solve_additive(given_, Penalty.lasso(60), Stop(alpha=alpha))
    assert sum(len(w) for w in solution.weights) > 30
    assert solution.path.certificate.duality_gap <= 1e-8
    weights = weights_of(solution, rows, 2)
    value = additive_objective(target, rows, weights, alpha, np.arange(60))
    assert value == pytest.approx(conic_optimum(target, rows, alpha, np.arange(60)), rel=1e-7)


def test_a_feature_that_becomes_relevant_late_is_found():
    # its correlation with the target is tiny, and large with what another feature leaves
    n = 30
    u, v = np.eye(n)[0], np.eye(n)[1]
    rng = np.random.default_rng(0)
    others = [0.9 * np.eye(n)[[i]] for i in range(2, n)] * 5
    target = (u + 0.02 * rng.standard_normal(n))[None]
    target[0, 1] = -0.4
    strong, late = ((u + 0.5 * v) / 1.2)[None], (0.4 * u + 0.9 * v)[None]
    late -= (late @ target.T) / (target @ target.T) * target * 0.999
    given_ = Explicit(target, [*others, strong, late])
    d = given_.n_features
    solution = solve_additive(given_, Penalty.lasso(d), Stop(alpha=0.05))
    assert {d - 2, d - 1} <= set(solution.features.tolist())
    assert solution.path.certificate.duality_gap <= 1e-8


def test_weights_change_the_price():
    given_ = problem(5)
    weights = np.ones(12)
    weights[0] = 3.0
    alpha = 0.3
    rows = [r / w for r, w in zip(given_.rows, weights, strict=True)]
    weighted = solve_additive(given_, Penalty.lasso(weights), Stop(alpha=alpha))
    scaled = solve_additive(replace(given_, rows=rows), Penalty.lasso(12), Stop(alpha=alpha))
    np.testing.assert_array_equal(weighted.features, scaled.features)
    for k, ours, theirs in zip(weighted.features, weighted.weights, scaled.weights, strict=True):
        np.testing.assert_allclose(ours, theirs / weights[k], atol=1e-5)


def test_excluded_features_stay_out_and_free_ones_are_smoothed():
    given_ = problem(6)
    weights = np.ones(12)
    weights[0], weights[5] = np.inf, 0.0
    solution = solve_additive(given_, Penalty.lasso(weights), Stop(alpha=0.5))
    assert 0 not in solution.features
    assert 5 in solution.features
    made = weights_of(solution, given_.rows, 2)
    residual = given_.target - sum(w.T @ r for w, r in zip(made, given_.rows, strict=True))
    # (1 - e) W = Q R: kernel ridge regression on what the others leave
    rest = 1 - np.sum(given_.rows[5] ** 2, axis=1)
    np.testing.assert_allclose(given_.rows[5] @ residual.T, rest[:, None] * made[5], atol=1e-5)
    assert solution.path.certificate.duality_gap <= 1e-8


def test_nothing_relevant():
    given_ = problem(7)
    given_.target = np.zeros_like(given_.target)
    solution = solve_additive(given_, Penalty.lasso(12), Stop(max_features=3))
    assert solution.path.status is Status.NOTHING_RELEVANT
    assert not solution.features.size


def test_a_penalty_above_the_largest_selects_nothing():
    solution = solve_additive(problem(8), Penalty.lasso(12), Stop(alpha=1e3))
    assert solution.path.status is Status.ALPHA
    assert not solution.features.size
    assert solution.path.alpha == 1e3


def test_the_path_ends_at_a_hundredth_of_the_largest_penalty():
    given_ = problem(9, d=4)
    given_.rows[3] = np.zeros((2, 40))
    solution = solve_additive(given_, Penalty.lasso(4), Stop(max_features=4))
    assert solution.path.status is Status.LEAST_ALPHA
    assert solution.features.tolist() == [0, 1, 2]


def test_copies_share_nothing_but_the_optimum():
    given_ = problem(10)
    double = replace(given_, rows=[*given_.rows, *given_.rows])
    once = solve_additive(given_, Penalty.lasso(12), Stop(alpha=0.4))
    twice = solve_additive(double, Penalty.lasso(24), Stop(alpha=0.4))
    fitted = [
        sum(w.T @ r.rows[k] for k, w in zip(s.features, s.weights, strict=True))
        for s, r in ((once, given_), (twice, double))
    ]
    np.testing.assert_allclose(fitted[0], fitted[1], atol=1e-4)


def test_groups_stop_at_their_number_and_report():
    given_ = problem(11)
    sizes = []
    solution = solve_additive(
        given_, Penalty.group(np.arange(12) % 4), Stop(max_groups=2), report=sizes.append
    )
    assert solution.path.status is Status.N_GROUPS
    assert len({k % 4 for k in solution.features.tolist()}) >= 2
    assert solution.features.size % 3 == 0
    assert sizes[-1] == solution.features.size


def test_loop_agrees_with_numpy():
    rng = np.random.default_rng(12)
    given_ = problem(12, d=4)
    stacked = np.concatenate(given_.rows)
    gram, cross = stacked @ stacked.T, stacked @ given_.target.T
    curvature, cuts = np.diag(gram).copy(), np.array([0.3, 0.0, 100.0, 1.0])
    starts = np.array([0, 3, 6, 9, 12])
    weights = 0.1 * rng.standard_normal(cross.shape)
    expected = weights.copy()
    for u, cut in enumerate(cuts):
        own = slice(starts[u], starts[u + 1])
        s = cross[own] - gram[own] @ expected + curvature[own, None] * expected[own]
        if np.linalg.norm(s) <= cut:
            expected[own] = 0
            continue
        low, high = 1e-12, 1e6
        for _ in range(200):  # bisection for the norm
            t = 0.5 * (low + high)
            norm = np.linalg.norm(s / (curvature[own, None] + cut / t))
            low, high = (t, high) if norm > t else (low, t)
        expected[own] = s / (curvature[own, None] + cut / t)
    c = cross - gram @ weights
    descend_functions(gram, curvature, cuts, starts, weights, c, 1)
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(c, cross - gram @ weights, atol=1e-12)
